"""Fifty streams and two hundred requests a second while sixteen outputs run at 999 BPM; in the lab.

The figures are instruction-times of one slow core, stamped by the kernel where the bytes come out of the sequencer.
"""

import statistics

import pytest

from rig.figures import usual
from rig.labs import Boot


pytestmark = pytest.mark.real("sequencer")
AUDIBLE = 1000  # microseconds
BOOTS = [Boot({"load": ("control_load.py",)})]


@pytest.fixture
def scene(recordings):
    return recordings["load"]


def errors(scene, kind, device):
    """The distance of each tick from an even clock through all ticks, for the blocks of one kind."""
    interval = scene["interval"]
    found = []
    for name, since, to in scene["blocks"]:
        if name != kind:
            continue
        times = [at for at in scene["ticks"][device] if since <= at < to]
        places = [round((at - times[0]) / interval) for at in times]
        assert places == list(range(len(times))), f"a tick was lost or doubled in a {kind} block"
        distances = [at - place * interval for at, place in zip(times, places)]
        middle = statistics.median(distances)
        found += [distance - middle for distance in distances]
    return found


def test_who_watches_and_asks_moves_no_tick_and_costs_no_memory(scene, figure):
    for device in (0, 3):
        moved_by_nothing(scene, figure, device)
    first, last = scene["memory"]
    figure("memory under load", f"{first / 1e6:.1f}, then {last / 1e6:.1f} MB", "1 MB more")
    assert last <= first + 1_000_000
    assert scene["status"]["realtime"]["scheduling"] == "fifo" and len(scene["status"]["outputs"]) == 16


def moved_by_nothing(scene, figure, device):
    for kind in ("quiet", "loaded"):
        found = errors(scene, kind, device)
        distances = [abs(error) for error in found]
        figure(
            kind, f"{len(found)} ticks, TIE of nine in ten within {usual(distances):.2f} us, "
            f"sd {statistics.pstdev(found):.3f} us, most {max(distances):.1f} us instruction-time", f"{AUDIBLE} us")
        assert usual(distances) <= AUDIBLE


def test_everybody_is_answered_meanwhile(scene, figure):
    for crowd in scene["crowds"]:
        figure("requests answered a second", f"{crowd['answered'] / crowd['seconds']:.0f}")
        figure("events of the slowest stream", f"{min(crowd['events']) / crowd['seconds']:.1f} a second", "1")
        assert crowd["answered"] == crowd["asked"] > 0 and len(crowd["events"]) == 50
        # A panel counts a stream as lost that is silent for a second and a half.
        assert min(crowd["events"]) >= crowd["seconds"]
