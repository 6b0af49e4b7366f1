"""A short selection of the faults that `make faults` provokes, each once; in the lab."""

import pytest

from rig.gateway import PROJECT
from rig.labs import Boot

pytestmark = pytest.mark.real("sequencer")

SHORT = ["reader-asleep-at-stop", "reader-asleep", "killed", "disk-read-only", "starved-briefly"]
BOOTS = [Boot({"faults": (PROJECT / "Tests/Faults/provoke.py", *(f"{name}=1" for name in SHORT))})]


def test_nothing_is_lost_that_the_faults_do_not_force(recordings):
    records = recordings["faults"]
    assert not [f"{record['fault']}: {problem}" for record in records for problem in record["problems"]]
    assert [record["fault"] for record in records] == SHORT
