"""Well-formed extreme values, thrown at official peers beside a gateway: it stays with them, whatever they make of it."""

import json
import os

import pytest

from rig.extremes import HIGHEST, run

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
