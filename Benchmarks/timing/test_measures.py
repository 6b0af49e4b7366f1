"""The bench's arithmetic, on ticks whose figures theory gives."""

import math
import random

import pytest
from measures import distance_from_grid, measure, number, pooled, share_within

TEMPO = 133.7
TICK = 60e6 / TEMPO / 24


def recorded(ticks, **changes):
    return {"asked": TEMPO, "grid": None, "ticks": ticks, **changes}


def test_ticks_held_up_to_a_timers_grid_scatter_by_its_period_over_root_twelve():
    period = 1000.0
    figures = pooled([measure(recorded([math.ceil(place * TICK / period) * period for place in range(20_000)]))])
    assert figures.sd == pytest.approx(period / math.sqrt(12), rel=0.01)
    assert figures.max == pytest.approx(period / 2, rel=0.01)
    assert figures.p50 == pytest.approx(period / 4, rel=0.02)
    assert figures.late_max == pytest.approx(period, rel=0.01)


def test_a_grid_that_meets_the_tempo_in_six_places_gives_the_theory_of_six():
    tempo, period = 120, 1000.0
    ticks = [math.ceil(place * 60e6 / tempo / 24 / period) * period for place in range(6 * 500)]
    figures = pooled([measure(recorded(ticks, asked=tempo))])
    assert figures.sd == pytest.approx(period / 6 * math.sqrt(35 / 12), rel=0.01)


def test_white_noise_keeps_its_spread_and_shows_root_six_of_it_from_cycle_to_cycle():
    draw = random.Random(1)
    figures = pooled([measure(recorded([place * TICK + draw.gauss(0, 50) for place in range(20_000)]))])
    assert figures.sd == pytest.approx(50, rel=0.02)
    assert figures.cycle_to_cycle == pytest.approx(50 * math.sqrt(6), rel=0.03)
    assert figures.p99 == pytest.approx(2.576 * 50, rel=0.05)


def test_offset_and_slope_are_no_jitter_but_drift():
    figures = pooled([measure(recorded([5000 + place * TICK * 1.0001 for place in range(2000)]))])
    assert figures.max == pytest.approx(0, abs=1e-3)
    assert figures.drift == pytest.approx(100, abs=1e-3)


def test_a_stall_whose_ticks_come_in_a_burst_loses_none():
    ticks = [place * TICK for place in range(500)]
    for place in range(200, 204):
        ticks[place] = 204 * TICK - 1
    numbered, lost, doubled = number(ticks, TICK)
    assert (lost, doubled) == (0, 0) and [place for place, _ in numbered] == list(range(500))
    assert pooled([measure(recorded(ticks))]).max > 3.9 * TICK


def test_a_lost_tick_and_a_doubled_one_are_counted_and_disturb_no_other():
    ticks = [place * TICK for place in range(500)]
    assert number(ticks[:300] + ticks[301:], TICK)[1:] == (1, 0)
    assert number(sorted([*ticks, ticks[100] + 50]), TICK)[1:] == (0, 1)
    assert pooled([measure(recorded(ticks[:300] + ticks[301:]))]).max == pytest.approx(0, abs=1e-6)


def test_phase_is_the_mean_distance_from_the_sessions_beats():
    assert distance_from_grid(1_020, 1_000, 100) == 20
    assert distance_from_grid(990, 1_000, 100) == -10
    tick = 448_766 / 24
    ticks = [7_000_000 + 24 * tick + place * tick + 12.5 for place in range(100)]
    figures = pooled([measure(recorded(ticks, grid={"beat": 7_000_000, "interval": 448_766}))])
    assert figures.phase == pytest.approx(12.5, abs=1e-3)
    assert figures.drift == pytest.approx(0, abs=1e-6)


def test_blocks_are_pooled_each_with_its_own_offset():
    one = measure(recorded([place * TICK for place in range(100)]))
    other = measure(recorded([30e6 + place * TICK + (place % 2) * 10 for place in range(300)]))
    figures = pooled([one, other])
    assert figures.count == 400
    assert figures.sd == pytest.approx(5 * math.sqrt(0.75), rel=0.02)
    assert figures.max == pytest.approx(5, rel=0.05)


def test_shares_count_values_up_to_each_limit():
    assert share_within([1, 2, 3, 4], [0.5, 2, 4]) == [0, 0.5, 1]
