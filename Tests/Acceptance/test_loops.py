"""The gateway's own clock coming back, by every way there is in the lab: found out, named, and let go when it is gone."""

import pytest

from rig.labs import Boot

BEAT = 0.5  # seconds, at the tempo of guest/loops.py
NOTICE = 0.5  # seconds until subscriptions are seen, ticks come and somebody asks
# In beats: an echo is found out by its times, a subscription of our own is seen.
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
