"""The example program metronome on its own terminal, operated by keys, with an unmodified official peer."""

import contextlib
import os
import pty
import re
import subprocess
import threading

import pytest

from rig.joining import become_senior
from rig.peer import Peer
from rig.tracer import METRONOME, WITH_PARENT
from rig.wait import until

pytestmark = pytest.mark.real("terminal")

LINE = re.compile(
    r"Link (on|off) *\| (\d+) peers \| quantum (\d+) \| sync (on|off) *\| (playing|stopped) \| ([\d.]+) BPM "
    r"\| beat (-?[\d.]+) \| ([●·]*)")


class Screen:
    """Runs the metronome on a pseudo-terminal and reads the newest line that it shows."""

    def __init__(self, *arguments):
        self.terminal, inner = pty.openpty()
        self.process = subprocess.Popen(
            [*WITH_PARENT, METRONOME, *arguments], stdin=inner, stdout=inner, stderr=inner, start_new_session=True)
        os.close(inner)
        self.text = ""
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        data = b""
        with contextlib.suppress(OSError):  # the terminal closed with the program
            while True:
                data += os.read(self.terminal, 65536)
                self.text = data.decode(errors="ignore")

    def shows(self, number, wanted):
        """Whether a field of the newest line has the wanted value."""
        lines = LINE.findall(self.text)
        return lines and lines[-1][number] == wanted

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def wait(self, number, wanted):
        until(lambda: self.shows(number, wanted), f"{wanted} on the screen: {self.text[-120:]!r}")


@pytest.fixture
def screen():
    opened = Screen("--tempo", "100")
    yield opened
    if opened.process.poll() is None:
        opened.process.kill()
    opened.process.wait()
    os.close(opened.terminal)


def test_it_plays_with_an_official_peer(screen):
    with Peer(130, start_stop_sync=True) as peer:
        become_senior()
        screen.press("sa")
        screen.wait(1, "1")
        screen.wait(5, "130.00")
        screen.press(" ")
        until(lambda: peer.playing, "the peer plays")
        screen.press("e")
        until(lambda: abs(peer.tempo - 131) < 0.01, "the peer is at 131")
        screen.wait(7, "●●··")
        peer.stop()
        screen.wait(4, "stopped")
        screen.press("q")
        until(lambda: peer.peers == 0, "it says bye-bye")
