"""The older reference: LinkHut 3.0.6, unmodified, and one gateway."""

import time

import pytest

from rig.clocks import Line
from rig.figures import quantile, steady
from rig.linkhut import LinkHut
from rig.rawline import CLOCK, START, STOP
from rig.sound import Ear
from rig.wait import until

SOON = 0.3


@pytest.fixture
def hut():
    """LinkHut with Link on at 130 BPM, alone for a second."""
    with LinkHut() as opened:
        opened.set_tempo(130)
        opened.enable()
        time.sleep(1)  # half a second of seniority decides whose session it becomes
        yield opened


def whole(tempo):
    """LinkHut shows hundredths; its steps are whole."""
    return pytest.approx(tempo, abs=0.01)


def joined(hut, gateway, within=2.0):
    """Both count the other; LinkHut quantises its own play only once it does."""
    gateway.wait_status(
        lambda status: status["link"]["peers"] == 1 and status["tempo"] == whole(130), within, "one peer and 130 BPM")
    until(lambda: hut.now.peers == 1, 1, "LinkHut counts the gateway")


def played_together(hut, start, line):
    """Has LinkHut play, and a gateway with it; returns when the gateway's Start came."""
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(hut, gateway)
    hut.press("s")
    hut.play()
    return line.wait_for(START, within=4)


def test_the_gateway_joins_linkhut_and_brings_no_tempo(hut, start, figure):
    gateway = start("--tempo", 100)
    joined(hut, gateway, within=2.0 - (time.monotonic() - gateway.started))
    figure("joined after", f"{time.monotonic() - gateway.started:.2f} s", "2 s")
    assert hut.now.tempo == whole(130)


@pytest.mark.case("AUDIOENGINE-1", "LinkHut 3.0.6, by the beats it shows")
def test_linkhut_and_the_gateway_agree_on_the_beat_within_a_millisecond(hut, start, line, figure):
    started = played_together(hut, start, line)
    until(lambda: len(line.times(CLOCK, started)) >= 250, 10, "five seconds of playing")
    readings = hut.collect(400)
    ticks = line.times(CLOCK, started)
    # The tick after Start is beat 0; LinkHut's own beats count from the same downbeat, a bar more or less.
    numbered, (interval, origin) = steady(ticks)
    origin += quantile([at - origin - interval * number for number, at in numbered], 0.1)
    to_beat = Line([(origin, 0.0), (origin + 24 * interval, 1.0)])
    distance = hut.distance_from(lambda at: to_beat(at) % 4, readings)
    figure("LinkHut's beat minus ours, median of 400 lines", f"{distance:.0f} us", "1000 us")
    assert abs(distance) < 1000


@pytest.mark.case("AUDIOENGINE-1", "LinkHut 3.0.6, by its sound")
def test_linkhuts_sound_and_our_beats_come_together(hut, start, line, figure):
    started = played_together(hut, start, line)
    with Ear(hut.server, "LinkHut") as ear:
        until(lambda: len(ear.calm_times()) >= 16, 60, "sixteen sounds while JACK's samples came evenly")
        sounds = ear.calm_times()
    ticks = line.times(CLOCK, started)
    beats = ticks[::24]
    assert len(beats) >= len(sounds)
    late = [sound - min(beats, key=lambda beat: abs(sound - beat)) for sound in sounds]
    median = quantile(late, 0.5)
    figure(f"LinkHut's sound after our beat, median of {len(late)}, of {ear.latency} samples of latency",
           f"{median:.0f} us", "1000 us")
    assert abs(median) < 1000


def test_tempo_changes_go_both_ways_fifty_times_with_linkhut(hut, start, figure):
    gateway = start()
    joined(hut, gateway)
    slowest = {"to the gateway": 0.0, "to LinkHut": 0.0}
    for turn in range(50):
        before = gateway.status()["tempo"]
        began = time.monotonic()
        up = turn % 4 < 2
        hut.press("e" if up else "w")
        gateway.wait_status(
            lambda status: status["tempo"] == whole(before + (1 if up else -1)), SOON, "the gateway follows LinkHut")
        slowest["to the gateway"] = max(slowest["to the gateway"], time.monotonic() - began)

        tempo = 90 + turn
        began = time.monotonic()
        gateway.post("tempo", {"bpm": tempo})
        hut.wait(lambda reading: reading.tempo == whole(tempo), SOON, f"LinkHut follows to {tempo}")
        slowest["to LinkHut"] = max(slowest["to LinkHut"], time.monotonic() - began)
    for direction, seconds in slowest.items():
        figure(f"slowest change {direction}", f"{seconds * 1000:.0f} ms", "300 ms")


def test_play_and_stop_go_both_ways_with_linkhut(hut, start, line):
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(hut, gateway)
    hut.press("s")
    hut.wait(lambda reading: reading.start_stop_sync, 1, "LinkHut shares play and stop")

    hut.play()
    gateway.wait_status(lambda status: status["playing"], SOON, "the gateway is told to play")
    line.wait_for(START, within=4)
    hut.press(" ")
    gateway.wait_status(lambda status: not status["playing"], SOON, "the gateway stops")
    line.wait_for(STOP, within=SOON)

    gateway.post("transport", {"playing": True})
    hut.wait(lambda reading: reading.playing, SOON, "LinkHut plays")
    gateway.post("transport", {"playing": False})
    hut.wait(lambda reading: not reading.playing, SOON, "LinkHut stops")


def test_the_clock_goes_on_when_linkhut_leaves(hut, start, line, figure):
    gateway = start("--output", f"raw:{line.path}")
    joined(hut, gateway)
    line.wait_ticks(110, within=5)  # half a tick at most is glided to the session's beats, at half a percent
    before = line.wait_ticks(100, within=5)
    hut.quit()
    gateway.wait_status(lambda status: status["link"]["peers"] == 0, SOON, "the bye-bye is heard")
    line.wait_ticks(200, within=10)
    ticks = line.times(CLOCK, before[0])
    numbered, (interval, _) = steady(ticks)
    figure("tempo across the leave", f"{60e6 / 24 / interval:.3f} BPM", "130 +- 0.13")
    assert 60e6 / 24 / interval == pytest.approx(130, rel=0.001)


def test_linkhut_sees_the_gateway_leave(hut, start):
    gateway = start()
    joined(hut, gateway)
    gateway.stop()
    hut.wait(lambda reading: reading.peers == 0, SOON, "LinkHut saw the bye-bye")
