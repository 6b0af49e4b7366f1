"""One gateway with an older official program: LinkHut 3.0.6, unmodified."""

import pytest

from rig.clocks import Line
from rig.figures import quantile
from rig.joining import become_senior
from rig.linkhut import LinkHut
from rig.sound import Ear
from rig.wait import until

pytestmark = pytest.mark.real("peer")

BEAT = round(60e6 / 130)  # microseconds; Link carries whole ones


@pytest.fixture
def hut():
    """LinkHut with Link on at 130 BPM, alone for a second."""
    with LinkHut() as opened:
        opened.set_tempo(130)
        opened.enable()
        become_senior()
        yield opened


def whole(tempo):
    """The tempo, within what LinkHut's display in hundredths can show."""
    return pytest.approx(tempo, abs=0.01)


def joined(hut, gateway):
    """Waits until both count each other, because LinkHut quantises its own play only with a peer."""
    gateway.wait_status(
        lambda status: status["link"]["peers"] == 1 and status["tempo"] == whole(130), "one peer and 130 BPM")
    until(lambda: hut.now.peers == 1, "LinkHut counts the gateway")


def played_together(hut, start, line):
    """Starts playing in LinkHut, and waits until a machine on the line plays, too."""
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(hut, gateway)
    hut.press("s")
    hut.play()
    line.wait_playing()


def beats(line):
    """A function from a time to the beat where a machine on the line is, by the ticks that came with least delay."""
    origin = quantile([at - place * BEAT / 24 for place, at in line.song], 0.1)
    return Line([(origin, 0.0), (origin + BEAT, 1.0)])


@pytest.mark.plan
@pytest.mark.case("AUDIOENGINE-1", "LinkHut 3.0.6, by its sound")
def test_linkhuts_sound_and_our_beats_come_together(hut, start, line):
    played_together(hut, start, line)

    def come_together():
        """Whether the six calmest sounds so far do; on a busy machine none may be calm for a long time."""
        sounds = ear.calmest(6)
        if len(sounds) < 6:
            return False
        to_beat = beats(line)
        return abs(quantile([((to_beat(at) + 0.5) % 1 - 0.5) * BEAT for at in sounds], 0.5)) < 1000

    with Ear(hut.server, "LinkHut") as ear:
        until(come_together, "LinkHut's sounds come with our beats", every=0.5, within=300)
