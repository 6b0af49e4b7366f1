"""One gateway with an older official program: LinkHut 3.0.6, unmodified."""

import pytest

from rig.clocks import Line
from rig.figures import quantile, steady
from rig.joining import become_senior
from rig.linkhut import LinkHut
from rig.rawline import CLOCK, START
from rig.sound import Ear
from rig.wait import until

pytestmark = pytest.mark.real("peer")


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
    """Starts playing in LinkHut, which the gateway follows; returns when the gateway's Start came."""
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(hut, gateway)
    hut.press("s")
    hut.play()
    return line.wait_for(START)


@pytest.mark.case("AUDIOENGINE-1", "LinkHut 3.0.6, by the beats it shows")
def test_linkhut_and_the_gateway_agree_on_the_beat_within_a_millisecond(hut, start, line, figure):
    started = played_together(hut, start, line)
    until(lambda: len(line.times(CLOCK, started)) >= 250, "five seconds of playing")
    readings = hut.collect(400)
    ticks = line.times(CLOCK, started)
    # The tick after Start is beat 0. LinkHut's own beat 0 is the same downbeat, or one that is whole bars away.
    numbered, (interval, origin) = steady(ticks)
    origin += quantile([at - origin - interval * number for number, at in numbered], 0.1)
    to_beat = Line([(origin, 0.0), (origin + 24 * interval, 1.0)])
    distance = hut.distance_from(lambda at: to_beat(at) % 4, readings)
    figure("LinkHut's beat minus ours, by 400 lines", f"{distance:.0f} us", "1000 us")
    assert abs(distance) < 1000


@pytest.mark.case("AUDIOENGINE-1", "LinkHut 3.0.6, by its sound")
def test_linkhuts_sound_and_our_beats_come_together(hut, start, line, figure):
    started = played_together(hut, start, line)
    with Ear(hut.server, "LinkHut") as ear:
        until(lambda: len(ear.calm_times()) >= 6, "six sounds while JACK's samples came evenly", within=300)
        sounds = ear.calm_times()
    ticks = line.times(CLOCK, started)
    beats = ticks[::24]
    assert len(beats) >= len(sounds)
    late = [sound - min(beats, key=lambda beat: abs(sound - beat)) for sound in sounds]
    median = quantile(late, 0.5)
    figure(f"LinkHut's sound after our beat, median of {len(late)}, of {ear.latency} samples of latency",
           f"{median:.0f} us", "1000 us")
    assert abs(median) < 1000
