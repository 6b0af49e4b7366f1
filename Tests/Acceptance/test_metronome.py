"""The example program metronome on its own terminal, operated by keys, with an unmodified official peer."""

import os
import re

import pytest

from rig.joining import become_senior
from rig.peer import Peer
from rig.screen import Screen
from rig.tracer import METRONOME, WITH_PARENT
from rig.wait import until

pytestmark = pytest.mark.real("terminal")

LINE = re.compile(
    r"Link (on|off) *\| (\d+) peers \| quantum (\d+) \| sync (on|off) *\| (playing|stopped) \| ([\d.]+) BPM "
    r"\| beat (-?[\d.]+) \| ?([●·]*)")


def test_it_plays_with_an_official_peer():
    with Screen([*WITH_PARENT, METRONOME, "--tempo", "100"], os.environ, columns=160) as screen, \
            Peer(130, start_stop_sync=True) as peer:

        def shows(number, wanted):
            screen.wait_until(lambda text: [line[number] for line in LINE.findall(text)] == [wanted], f"{wanted} on the screen")

        become_senior()
        screen.press("sa")
        shows(1, "1")
        shows(5, "130.00")
        screen.press(" ")
        until(lambda: peer.playing, "the peer plays")
        screen.press("e")
        until(lambda: abs(peer.tempo - 131) < 0.01, "the peer is at 131")
        shows(7, "●●··")
        peer.stop()
        shows(4, "stopped")
        screen.press("q")
        until(lambda: peer.peers == 0, "it says bye-bye")
