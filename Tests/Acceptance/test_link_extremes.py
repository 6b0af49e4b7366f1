"""Well-formed extreme values, thrown at official peers beside a gateway: it stays with them, whatever they make of it."""

import json
import os

import pytest

from rig.extremes import HIGHEST, run
from rig.joining import become_senior
from rig.peer import Peer
from rig.wait import until

pytestmark = pytest.mark.real("peer")

DRAWS = 20
# Each runner has a network, two official peers and a gateway of its own, which mostly wait.
RUNNERS = 4


def test_whatever_a_stranger_announces_the_gateway_stays_with_the_official_peers():
    first = int(os.environ.get("SEED", "1"))
    share = DRAWS // RUNNERS
    runners = [run(first + share * number, share) for number in range(RUNNERS)]
    found = [json.loads(line) for runner in runners for line in runner.communicate()[0].splitlines()]
    assert [runner.returncode for runner in runners] == [0] * RUNNERS
    assert len(found) == DRAWS
    parted = [one for one in found if not one["agrees"]]
    assert not parted, "\n".join(map(json.dumps, parted))


def test_a_tempo_that_no_peer_would_follow_is_refused_aloud(raw, start):
    gateway = start("--start-stop-sync")
    alive = raw.alive()
    raw.session, (raw.tempo, raw.beat_origin, raw.time_origin) = alive.session, alive.timeline
    raw.announce()
    gateway.wait_status(lambda status: status["link"]["peers"] == 1, "it counts the peer")
    gateway.post("transport", {"playing": True})
    raw.beat_origin = HIGHEST
    raw.announce()
    status = gateway.wait_status(
        lambda status: "link-numbers" in [warning["code"] for warning in status["warnings"]], "it warns")
    code, answer = gateway.request("POST", "/api/v1/tempo", {"bpm": 99})
    assert (code, answer["error"]["code"]) == (409, "edit-refused")
    done = gateway.command("tempo", 99)
    assert done.returncode != 0 and "the session was not changed" in done.stderr
    assert gateway.status()["tempo"] == status["tempo"]
    gateway.post("transport", {"playing": False})
    assert not gateway.status()["playing"]


def test_coming_back_at_once_moves_no_official_peer_that_was_left_alone(start):
    with Peer(130, start_stop_sync=True) as peer:
        become_senior()
        gateway = start("--tempo", 77, name="first")
        farthest = 0.0
        for way in ("off and on", "restart", "crash"):
            gateway.wait_status(lambda status: status["link"]["peers"] == 1, "it counts the peer")
            until(lambda: peer.peers == 1, "the peer counts it")
            at = peer.now()
            tempo, beat, slope = peer.tempo, peer.beat(at), peer.tempo / 60e6
            if way == "off and on":
                gateway.post("link", {"enabled": False})
            elif way == "crash":
                gateway.kill()
            else:
                gateway.stop()
            if way != "crash":
                until(lambda: peer.peers == 0, "the peer has begun a session of its own")
            if way == "off and on":
                gateway.post("link", {"enabled": True})
            else:
                gateway = start("--tempo", 77, name=f"after {way}")
            gateway.wait_status(
                lambda status: status["link"]["peers"] >= 1 and abs(status["tempo"] - tempo) < 0.01, "it is back")
            now = peer.now()
            moved = (peer.beat(now) - beat - (now - at) * slope) / slope
            farthest = max(farthest, abs(moved))
            assert peer.tempo == tempo
        assert farthest < 2000
