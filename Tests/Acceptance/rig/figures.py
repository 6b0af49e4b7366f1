"""Computes figures from recorded ticks: their places on the peer's grid, and their errors."""

import statistics
from dataclasses import dataclass

from rig.clocks import Line

PER_BEAT = 24


def quantile(values, share):
    """The value below which this share of the values lies; `share` is 0 to 1."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def usual(errors):
    """How far nine in ten errors are from 0, at most.

    Single ticks that the kernel itself holds up, as it does now and then under load, are for `make bench` to show.
    """
    return quantile([abs(error) for error in errors], 0.9)


def unevenness(times, interval):
    """How far nine ticks in ten are from their places in an even clock; fails if one was lost or doubled."""
    assert round((times[-1] - times[0]) / interval) == len(times) - 1, "a tick was lost or doubled"
    start = statistics.median(at - number * interval for number, at in enumerate(times))
    return usual(at - start - number * interval for number, at in enumerate(times))


def straight(points):
    """Slope and intercept of the least-squares line through (x, y) points."""
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return slope, mean_y - slope * mean_x


@dataclass(frozen=True)
class Placed:
    """One tick on the peer's grid: the nearest step, and the distance from it, positive if late."""

    at: float
    step: int
    error: float  # microseconds


def place(ticks, grid):
    """Places ticks on a grid of (time, beat) points; all times are in microseconds."""
    to_beat = Line(grid)
    to_time = Line([(beat, at) for at, beat in grid])
    placed = []
    for at in ticks:
        step = round(to_beat(at) * PER_BEAT)
        placed.append(Placed(at, step, at - to_time(step / PER_BEAT)))
    return placed


def gaps(placed):
    """Pairs of successive ticks that are not one step apart: a tick was lost, doubled or displaced."""
    return [(a, b) for a, b in zip(placed, placed[1:]) if b.step != a.step + 1]


def time_interval_error(placed):
    """The tempo in BPM, and each tick's distance from an even clock at that tempo, in microseconds."""
    slope, intercept = straight([(tick.step, tick.at) for tick in placed])
    deviations = [tick.at - (intercept + slope * tick.step) for tick in placed]
    return 60e6 / (slope * PER_BEAT), deviations
