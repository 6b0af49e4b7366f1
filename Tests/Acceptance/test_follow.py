"""A gateway that follows a MIDI clock leader; in the lab.

The leader sends to the raw side of a virtual port. The kernel has stamped all messages. In the lab, times count
executed instructions. More kinds of leaders are in Tests/Field and FollowSceneTests, in virtual time.
"""

import bisect
import statistics

import pytest

from rig.figures import PER_BEAT, place
from rig.labs import Boot

TEMPO = 123.4
INTERVAL = 2.5e6 / TEMPO
pytestmark = pytest.mark.real("sequencer")
BOOTS = [Boot({"leader": ("follow.py",)}, ("--kernel-args", "transparent_hugepage=never"))]


def ticks(events, since=0, to=float("inf")):
    return [at for name, at in events if name == "clock" and since <= at < to]


def moves(events):
    return [name for name, _ in events if name not in ("clock", "position")]


def first_tick_after(events, kind):
    at = next(at for name, at in events if name == kind)
    return next(tick for name, tick in events if name == "clock" and tick > at)


def test_a_leader_is_followed_tick_for_tick_from_start_to_stop_with_far_less_jitter(recordings):
    jitter = recordings["leader"]
    evenly(jitter)
    from_start_to_stop(jitter)
    said(jitter["playing"])


def evenly(jitter):
    truth = jitter["truth"]
    since, to = jitter["marks"]["steady"], truth[-30]
    sent = [at for at in truth if since <= at + INTERVAL / 2 < to]
    came = ticks(jitter["events"], since, to)
    assert abs(len(came) - len(sent)) <= 1
    placed = place(came, [(at, number / PER_BEAT) for number, at in enumerate(truth)])
    assert all(b.step == a.step + 1 for a, b in zip(placed, placed[1:]))

    stopped = truth[jitter["stopped"]]
    first = bisect.bisect(truth, since)
    went_in = statistics.pstdev(jitter["deviations"][first:jitter["stopped"]]) * 1e6
    # From a start that had to wait for the slowest output, ticks glide back to the leader's.
    started = truth[jitter["started"]]
    came_out = statistics.pstdev(
        tick.error for tick in placed if tick.at < started - 1e5 or started + 5e6 < tick.at < stopped)
    assert came_out <= went_in / 2


def from_start_to_stop(jitter):
    truth, events = jitter["truth"], jitter["events"]
    assert moves(events) == ["start", "stop", "continue", "stop"]
    late = first_tick_after(events, "start") - truth[jitter["started"]]
    # Start comes 3 ms before its tick, and one output must send 5 ms early: all wait for that one.
    assert 0 < late < INTERVAL
    stop = next(at for name, at in events if name == "stop")
    # The leader sends Stop 3 ms before its tick; the gateway passes it on before the next one.
    assert 0 < stop - truth[jitter["stopped"]] + 3_000 < INTERVAL
    assert jitter["playing"]["transport"] == "playing"
    assert jitter["playing"]["beat"] > 9 * TEMPO / 60, "the song has played for at least 9 s"
    assert moves(jitter["early"])[:2] == ["start", "stop"]
    apart = first_tick_after(jitter["early"], "start") + 5_000 - first_tick_after(events, "start")
    assert abs(apart) < 1_000


def said(status):
    assert status["mode"] == "follow"
    assert "VirMIDI 0-1" in status["reason"]
    follower = status["follower"]
    assert follower["state"] == "locked"
    assert abs(follower["tempo"] - TEMPO) < 0.3
    assert 300 < follower["jitterMicroseconds"] < 2_000
