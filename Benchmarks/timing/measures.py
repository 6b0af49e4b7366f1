"""What is computed from recorded ticks. Times are microseconds; a deviation is positive where a tick is late.

TIE, the time interval error, is what is left of a tick's time once the block's own offset and slope are taken out.
"""

import bisect
import math
import statistics
from dataclasses import dataclass

from rig.figures import PER_BEAT, quantile, straight


@dataclass(frozen=True)
class Block:
    """One candidate under one load for some seconds, as figures."""

    deviations: list  # TIE of every tick
    second_differences: list  # of one interval from the one before it
    drift: float  # parts per million by which the ticks come too slowly, against the ideal interval
    lost: int
    doubled: int
    phase: float | None  # mean distance of the ticks from their places on the Link session's beats


def number(ticks, interval):
    """Gives every tick its number; returns (numbered, lost, doubled).

    If as many came as should, nothing was lost, however late some of them are. Otherwise each belongs to the nearest
    place of the grid that both ends of the block agree on; a second one at a place is a doubled one, and left out.
    """
    edge = min(PER_BEAT, max(1, len(ticks) // 3))
    first = statistics.median(at - interval * place for place, at in enumerate(ticks[:edge]))
    last = statistics.median(at + interval * place for place, at in enumerate(reversed(ticks[-edge:])))
    expected = round((last - first) / interval) + 1
    if expected == len(ticks):
        return list(enumerate(ticks)), 0, 0
    numbered = {}
    for at in ticks:
        numbered.setdefault(round((at - first) / interval), at)
    doubled = len(ticks) - len(numbered)
    return sorted(numbered.items()), expected - len(numbered), doubled


def distance_from_grid(at, beat, tick):
    """How far `at` lies after (or, negative, before) the nearest place on a grid of ticks through `beat`."""
    return at - beat - round((at - beat) / tick) * tick


def measure(record):
    """The figures of one recorded block."""
    grid, ticks = record["grid"], record["ticks"]
    ideal = grid["interval"] / PER_BEAT if grid else 60e6 / record["asked"] / PER_BEAT
    numbered, lost, doubled = number(ticks, ideal)
    slope, intercept = straight(numbered)
    pairs = [(b - a, at_b - at_a) for (a, at_a), (b, at_b) in zip(numbered, numbered[1:])]
    differences = [second - first for (step, first), (next_step, second) in zip(pairs, pairs[1:])
                   if step == next_step == 1]
    return Block(
        deviations=[at - (intercept + slope * place) for place, at in numbered],
        second_differences=differences, drift=(slope / ideal - 1) * 1e6, lost=lost, doubled=doubled,
        phase=statistics.fmean(distance_from_grid(at, grid["beat"], ideal) for at in ticks) if grid else None)


@dataclass(frozen=True)
class Figures:
    """The figures of all blocks of one candidate under one load and preemption model."""

    count: int
    sd: float
    p50: float
    p99: float
    max: float
    late_p99: float
    late_max: float
    cycle_to_cycle: float
    drift: float
    lost: int
    doubled: int
    phase: float | None


def rms(values):
    return math.sqrt(statistics.fmean(value * value for value in values)) if values else math.nan


def pooled(blocks):
    """One set of figures from several blocks: deviations are taken together, drift and phase averaged."""
    deviations = [abs(value) for block in blocks for value in block.deviations]
    lateness = [value - min(block.deviations) for block in blocks for value in block.deviations]
    weights = [len(block.deviations) for block in blocks]
    with_phase = [block for block in blocks if block.phase is not None]
    return Figures(
        count=sum(weights), sd=rms(deviations), p50=quantile(deviations, 0.5), p99=quantile(deviations, 0.99),
        max=max(deviations), late_p99=quantile(lateness, 0.99), late_max=max(lateness),
        cycle_to_cycle=rms([value for block in blocks for value in block.second_differences]),
        drift=statistics.fmean(block.drift for block in blocks),
        lost=sum(block.lost for block in blocks), doubled=sum(block.doubled for block in blocks),
        phase=statistics.fmean(block.phase for block in with_phase) if with_phase else None)


def share_within(values, limits):
    """For each limit, the share of values not above it."""
    ordered = sorted(values)
    return [bisect.bisect_right(ordered, limit) / len(ordered) for limit in limits]
