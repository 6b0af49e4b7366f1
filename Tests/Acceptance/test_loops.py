"""Loops that return the gateway's own clock are detected, reported, and forgotten once they are gone; in the lab."""

import pytest

from rig.labs import Boot

BEAT = 0.5  # seconds, at the tempo of guest/loops.py
NOTICE = 0.5  # seconds that are allowed for noticing subscriptions, for the first ticks and for the next status
# In beats. An echo is detected by the times of its ticks, a subscription to our own port is seen directly.
FOUND_WITHIN = {"echo": 4, "soft thru": 4, "patch": 1}
BOOTS = [Boot({"loops": ("loops.py", *FOUND_WITHIN)})]


@pytest.mark.real("sequencer")
@pytest.mark.parametrize("scene", FOUND_WITHIN)
def test_a_loop_is_found_out_refused_and_let_go_once_it_is_gone(recordings, scene, figure):
    record, bound = recordings["loops"][scene], FOUND_WITHIN[scene]
    figure(f"{scene}: found after", f"{(record['found'] or 99) / BEAT:.1f} beats", f"{bound} beats")
    assert record["found"] is not None and record["found"] < bound * BEAT + NOTICE
    assert record["after"]["mode"] == "internal" and record["after"]["tempo"] == 120
    assert [clock["reason"] for clock in record["after"]["follower"]["refused"]] == [
        "it is this gateway's own clock coming back"]
    assert record["released"] is not None
    assert "loop" not in [warning["code"] for warning in record["last"]["warnings"]]
