"""Well-formed extreme values, thrown at official peers beside a gateway: it stays with them, whatever they make of it."""

import json
import os

import pytest

from rig.extremes import run

pytestmark = pytest.mark.real("peer")

DRAWS = 20
# Each runner has a network, two official peers and a gateway of its own, which mostly wait.
RUNNERS = 4


def test_whatever_a_stranger_announces_the_gateway_stays_with_the_official_peers(figure):
    first = int(os.environ.get("SEED", "1"))
    figure("seeds", f"{first}...{first + DRAWS - 1}", "SEED=… draws others")
    share = DRAWS // RUNNERS
    runners = [run(first + share * number, share) for number in range(RUNNERS)]
    found = [json.loads(line) for runner in runners for line in runner.communicate()[0].splitlines()]
    assert [runner.returncode for runner in runners] == [0] * RUNNERS
    assert len(found) == DRAWS
    parted = [one for one in found if not one["agrees"]]
    figure("together after", f"{max(one['after'] for one in found):.1f} s at the latest")
    assert not parted, "\n".join(map(json.dumps, parted))
