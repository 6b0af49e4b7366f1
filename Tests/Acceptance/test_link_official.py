"""Our Link peer and the official one on one host: who joins whom, and how exactly."""

import time

import pytest

from rig.rawpeer import ALIVE, RawPeer
from rig.tracer import apart, metronome, official, together
from rig.wait import until


@pytest.fixture
def pair():
    """Ours at 90 BPM and the official one at 130, both off."""
    programs = metronome(90), official(130)
    yield programs
    for program in programs:
        program.kill()


def at(tempo):
    """What a peer shows of another's tempo, which travelled as whole microseconds a beat."""
    return pytest.approx(tempo, rel=1e-5)


def test_26_joining_takes_half_a_second_and_leaves_a_ten_thousandth_of_a_beat_between(pair, figure):
    ours, theirs = pair
    theirs.enable()
    time.sleep(1)
    ours.press("a")
    began = time.monotonic()
    # Half a second, what a trace of ten lines a second adds to it, and some for a busy machine.
    until(lambda: together(ours, theirs), 0.8, "both count one peer and have one tempo")
    figure("joined after", f"{(time.monotonic() - began) * 1000:.0f} ms", "500 ms, told every 100 ms")
    assert ours.now.tempo == at(130)
    time.sleep(1)
    away = abs(apart(theirs.now, ours.now))
    figure("bars apart", f"{away:.0f} us", "46 us")
    assert away < 1e-4 * 60e6 / 130


def test_27_a_founder_keeps_its_tempo_and_never_jumps(pair, figure):
    ours, theirs = pair
    ours.enable()
    time.sleep(1)
    first = len(ours.readings)
    theirs.press("a")
    until(lambda: together(ours, theirs), 1, "both count one peer and have one tempo")
    time.sleep(1)
    readings = ours.readings[first:]
    assert {one.tempo for one in readings} == {90.0}
    steps = [abs(b.beat - a.beat - (b.at - a.at) * 90 / 60e6) for a, b in zip(readings, readings[1:])]
    figure("largest jump", f"{max(steps) * 60e6 / 90:.0f} us", "2 us")
    assert max(steps) * 60e6 / 90 <= 2


@pytest.mark.parametrize("turn", range(3))
def test_28_enabled_together_the_smaller_name_wins_on_both_sides(pair, turn):
    ours, theirs = pair
    with RawPeer() as ear:
        for program in pair[::1 if turn % 2 else -1]:
            program.press("a")
        until(lambda: together(ours, theirs), 2, "both count one peer and have one tempo")
        time.sleep(0.3)
        alives = ear.heard_since(0, "group", ALIVE)
    founded = {one.node: one for one in alives if one.session == one.node}
    smaller = min(founded)
    assert len(founded) == 2 and {one.session for one in alives[-2:]} == {smaller}
    assert ours.now.tempo == at(60e6 / founded[smaller].timeline[0])
