"""Our Link peer and the official one on one host: which one joins the other, and how precisely."""

import time

import pytest

from rig.joining import become_senior
from rig.rawpeer import ALIVE, RawPeer
from rig.tracer import apart, metronome, official, together
from rig.wait import until

pytestmark = pytest.mark.real("peer")


@pytest.fixture
def pair():
    """Ours at 90 BPM and the official one at 130, both off."""
    programs = metronome(90), official(130)
    yield programs
    for program in programs:
        program.kill()


def at(tempo):
    """A tempo as another peer shows it: Link carries it in whole microseconds per beat."""
    return pytest.approx(tempo, rel=1e-5)


def test_26_who_joins_comes_in_step(pair, figure):
    """How exactly, NetworkScenarioTests and MeasurementTests show in virtual time."""
    ours, theirs = pair
    theirs.enable()
    become_senior()
    ours.press("a")
    began = time.monotonic()
    until(lambda: together(ours, theirs), "both count one peer and have one tempo")
    figure("joined after", f"{(time.monotonic() - began) * 1000:.0f} ms")
    assert ours.now.tempo == at(130)
    until(lambda: abs(apart(theirs.now, ours.now)) < 1000, "nobody hears that bars are apart")


def test_27_a_founder_keeps_its_tempo_and_never_jumps(pair, figure):
    ours, theirs = pair
    ours.enable()
    become_senior()
    first = len(ours.readings)
    theirs.press("a")
    until(lambda: together(ours, theirs), "both count one peer and have one tempo")
    until(lambda: len(ours.readings) > first + 20, "two seconds pass")
    readings = ours.readings[first:]
    assert {one.tempo for one in readings} == {90.0}
    steps = [abs(b.beat - a.beat - (b.at - a.at) * 90 / 60e6) for a, b in zip(readings, readings[1:])]
    figure("largest jump", f"{max(steps) * 60e6 / 90:.0f} us", "2 us")
    assert max(steps) * 60e6 / 90 <= 2


# Sessions whose ages differ by so little count as equally old, in microseconds; Link takes half a second.
TOGETHER = 400_000


def test_28_enabled_together_the_smaller_name_wins_on_both_sides(pair):
    ours, theirs = pair
    with RawPeer() as ear:
        for program in pair:
            program.press("a")
        until(lambda: together(ours, theirs), "both count one peer and have one tempo")
        heard = len(ear.heard)
        until(lambda: {one.node for one in ear.heard_since(heard, "group", ALIVE)} >= {one.node for one in ear.heard},
              "both announce themselves once more")
        alives = ear.heard_since(0, "group", ALIVE)
    founded = {one.node: one for one in reversed(alives) if one.session == one.node}  # as first announced
    first, second = founded.values()
    (session,) = {one.session for one in alives[-2:]}
    # On a busy machine one may have been enabled so late that the other's session is the older one.
    if abs(first.at - second.at) < TOGETHER:
        assert session == min(founded)
    assert ours.now.tempo == at(60e6 / founded[session].timeline[0])
