"""A gateway at 300 BPM for half an hour, while Link peers, devices and panel clients come and go, in the lab.

It takes too long for the regular tests, so its name keeps pytest from finding it; `make soak-lab` runs it.
"""

import collections
import os
import statistics

import pytest

from rig.labs import Boot

MINUTES = os.environ.get("MINUTES", "30")
BOOTS = [Boot({"soak": ("soak.py", MINUTES)}, options=("--timeout", str(600 + int(float(MINUTES) * 600))))]
pytestmark = pytest.mark.real("sequencer")

# What the use may grow by, from the second quarter of the time to the last: memory in kilobytes.
# The first quarter is for what is allocated once.
GROWTH = {"memory": 1000, "descriptors": 5, "threads": 0}


@pytest.fixture
def scene(recordings):
    return recordings["soak"]


@pytest.mark.parametrize("kind", GROWTH)
def test_what_it_uses_does_not_grow(scene, figure, kind):
    values = [sample[kind] for sample in scene["samples"]]
    quarter = len(values) // 4
    for number in range(4):
        part = values[number * quarter:(number + 1) * quarter]
        figure(f"{kind}, quarter {number + 1}", f"{min(part)} to {max(part)}, median {statistics.median(part):g}")
    second, last = statistics.median(values[quarter:2 * quarter]), statistics.median(values[3 * quarter:])
    figure(f"{kind}, from the second quarter to the last", f"{last - second:+g}", GROWTH[kind])
    assert last - second <= GROWTH[kind]


@pytest.mark.parametrize("kind", ["descriptors", "threads"])
def test_when_all_have_gone_it_uses_what_it_did_at_first(scene, figure, kind):
    began, ended = scene["began"], scene["ended"]
    figure(f"{kind} at rest, before and after", f"{began[kind]}, {ended[kind]}", "no more")
    more = collections.Counter(ended["kinds"]) - collections.Counter(began["kinds"])
    assert ended[kind] <= began[kind], f"descriptors that stay: {dict(more)}"


def test_whoever_comes_and_goes_a_machine_that_stays_gets_every_tick_once(scene, figure):
    figure("changes", ", ".join(f"{count} of {kind}" for kind, count in sorted(scene["counts"].items())))
    ticks, interval = scene["ticks"], scene["interval"]
    gaps = [after - before for before, after in zip(ticks, ticks[1:])]
    figure("ticks", f"{len(ticks)}, {min(gaps):.0f} to {max(gaps):.0f} us apart", f"{interval:.0f}, half of it more or less")
    assert all(interval / 2 < gap < 1.5 * interval for gap in gaps)
    assert len(ticks) >= float(MINUTES) * 60e6 / interval
