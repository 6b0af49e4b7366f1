"""A short selection of the faults that `make faults` provokes, each once; in the lab."""

import pytest

from rig.gateway import PROJECT
from rig.labs import Boot

pytestmark = pytest.mark.real("sequencer")

SHORT = ["reader-asleep-at-stop", "reader-asleep", "killed", "disk-read-only", "starved-briefly"]
BOOTS = [Boot({"faults": (PROJECT / "Tests/Faults/provoke.py", *(f"{name}=1" for name in SHORT))})]


@pytest.mark.parametrize("name", SHORT)
def test_nothing_is_lost_that_the_fault_does_not_force(recordings, figure, name):
    rounds = [record for record in recordings["faults"] if record["fault"] == name]
    assert not [problem for record in rounds for problem in record["problems"]]
    (record,) = rounds
    figure("ticks, and the farthest from its time", f"{record['ticks']}, {record['worst']:.1f} us instruction-time", "1000 us")
    if "recovery" in record:
        figure("recovered after", f"{record['recovery']:.3f} s instruction-time")
