"""Compares our Link clock with the official one, on the same bad links in one run, made by the lab kernel's netem.

It takes too long for the regular tests, so its name keeps pytest from finding it; `make bad-links` runs it.
"""

import os
import statistics

import pytest

from rig.gateway import PROGRAMS
from rig.labs import Boot

METRONOME = os.environ.get("METRONOME", str(PROGRAMS / "metronome"))
# Errors of official peers as measured before, in microseconds. Our errors must be at most half of these.
WORST_OFFICIAL = {"wired": 20, "3 ms +- 2 ms, 1 % loss": 220, "8 ms +- 5 ms, 5 % loss": 669}
# How soon official peers join, in seconds. Reading times from two traces of ten lines per second adds up to 0.3.
OFFICIAL_JOINING = {"wired": 0.01, "3 ms +- 2 ms, 1 % loss": 0.4, "8 ms +- 5 ms, 5 % loss": 2.0}
TRACE = 0.3

BOOTS = [Boot({"links": ("link_hosts.py", METRONOME)})]
pytestmark = pytest.mark.real("peer")


@pytest.fixture
def figures(recordings):
    return recordings["links"]


@pytest.mark.parametrize("name", WORST_OFFICIAL)
def test_half_a_minute_in_our_bars_lie_nearer_to_the_founders_than_official_ones(figures, figure, name):
    found = figures[name]
    kinds = {kind: found[kind] for kind in ("official", "ours")}
    for kind in kinds:
        errors = sorted(abs(one["error"]) for one in found[kind])
        joined = sorted(one["joined"] or 99 for one in found[kind])
        figure(f"{kind}: from the founder's bars", " ".join(f"{error:.0f}" for error in errors) + " us")
        figure(f"{kind}: joined after", " ".join(f"{seconds:.1f}" for seconds in joined) + " s")
    ours, official = ([abs(one["error"]) for one in found[kind]] for kind in ("ours", "official"))
    assert all(one["peers"] == 6 for kind in kinds.values() for one in kind), "seven in one session"
    assert max(ours) <= WORST_OFFICIAL[name] / 2
    assert statistics.median(ours) <= max(10, statistics.median(official) / 2)
    assert statistics.median(one["joined"] for one in found["ours"]) <= OFFICIAL_JOINING[name] + TRACE


@pytest.mark.parametrize("name", WORST_OFFICIAL)
def test_whoever_changes_the_tempo_all_have_it_soon(figures, figure, name):
    agreed = [99 if seconds is None else seconds for seconds in figures[name]["agreed"]]
    figure("slowest of three changes and seven peers", f"{max(agreed):.1f} s", f"0.3 s, and {TRACE} s of the trace")
    assert max(agreed) <= 0.3 + TRACE
