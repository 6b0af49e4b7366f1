"""Loops that return the gateway's own clock are detected, reported, and forgotten once they are gone; in the lab."""

import pytest

from rig.labs import Boot

# An echo is detected by the times of its ticks, a subscription to our own port is seen directly.
SCENES = ["echo", "patch"]
BOOTS = [Boot({"loops": ("loops.py", *SCENES)})]


@pytest.mark.real("sequencer")
def test_a_loop_is_found_out_refused_and_let_go_once_it_is_gone(recordings):
    """After how many ticks it is found, LoopGuardTests show in virtual time."""
    for scene in SCENES:
        record = recordings["loops"][scene]
        assert record["found"] is not None, scene
        assert record["after"]["mode"] == "internal" and record["after"]["tempo"] == 120
        assert [clock["reason"] for clock in record["after"]["follower"]["refused"]] == [
            "it is this gateway's own clock coming back"]
        assert record["released"] is not None
        assert "loop" not in [warning["code"] for warning in record["last"]["warnings"]]
