"""The gateway's own clock coming back, by every way there is in the lab: found out, named, and let go when it is gone."""

import pytest

from rig.labs import Recordings

BEAT = 0.5  # seconds, at the tempo of guest/loops.py
NOTICE = 0.5  # seconds until subscriptions are seen, ticks come and somebody asks
ECHOES = ["echo", "second cable", "soft thru"]


@pytest.fixture(scope="module")
def recordings():
    made = Recordings()
    for name, scenes in {"echoes": [*ECHOES, "patch"], "others": ["two gateways", "genuine"]}.items():
        made.prepare(name, "loops.py", [], scenes, timeout=900)
    yield lambda scene: made["others" if scene in ("two gateways", "genuine") else "echoes"][scene]
    made.close()


def warned(status):
    return [warning["code"] for warning in status["warnings"]]


@pytest.mark.parametrize("scene", ECHOES)
def test_an_echo_is_fenced_within_two_beats_of_being_steady(recordings, scene, figure):
    record = recordings(scene)
    figure(f"{scene}: found after", f"{(record['found'] or 99) / BEAT:.1f} beats", "4 beats")
    assert record["found"] is not None and record["found"] < 4 * BEAT + NOTICE
    assert record["after"]["mode"] == "internal" and record["after"]["tempo"] == 120
    assert [clock["reason"] for clock in record["after"]["follower"]["refused"]] == [
        "it is this gateway's own clock coming back"]


def test_a_patch_cable_from_the_gateway_to_itself_is_seen_at_once(recordings, figure):
    record = recordings("patch")
    figure("patch: found after", f"{(record['found'] or 99) / BEAT:.1f} beats", "1 beat")
    assert record["found"] is not None and record["found"] < BEAT + NOTICE
    assert record["after"]["mode"] == "internal"


@pytest.mark.parametrize("scene", [*ECHOES, "patch"])
def test_a_loop_that_is_gone_is_let_go(recordings, scene):
    record = recordings(scene)
    assert record["released"] is not None
    assert "loop" not in warned(record["last"])


def test_gateways_that_follow_each_other_are_found_out(recordings, figure):
    record = recordings("two gateways")
    figure("two gateways: found after", f"{(record['found'] or 99) / BEAT:.1f} beats", "128 beats")
    # Four in ten are found by the first look, within 32 beats; each look after it is another toss.
    assert record["found"] is not None and record["found"] < 128 * BEAT + NOTICE
    assert all(119 < tempo < 122 for tempo in record["tempos"])


def test_a_genuine_leader_at_our_own_tempo_is_followed_and_never_fenced(recordings, figure):
    record = recordings("genuine")
    figure("genuine leader in step: followed after", f"{(record['followed'] or 99) / BEAT:.1f} beats", "8 beats")
    assert record["followed"] is not None and record["followed"] < 8 * BEAT
    assert record["fenced"] is None
    assert record["status"]["mode"] == "follow"
