"""Our Link peer and the official one on one host, enabled together. Who joins whom otherwise, test_cases.py shows."""

import pytest

from rig.rawpeer import ALIVE, RawPeer
from rig.tracer import metronome, official, together
from rig.wait import until

pytestmark = pytest.mark.real("peer")


# Sessions whose ages differ by so little count as equally old, in microseconds; Link takes half a second.
TOGETHER = 400_000


@pytest.fixture
def pair():
    """Ours at 90 BPM and the official one at 130, both off."""
    programs = metronome(90), official(130)
    yield programs
    for program in programs:
        program.kill()


def test_enabled_together_the_smaller_name_wins_on_both_sides(pair):
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
    assert ours.now.tempo == pytest.approx(60e6 / founded[session].timeline[0], rel=1e-5)
