"""The judge: what it counts as lost, doubled, late and wrong."""

import pytest

from judge import Evenness, Tick, evenness, fastest, likeness, machine, parsed

INTERVAL = 20_000


def even(count, start=1_000_000):
    return [start + number * INTERVAL for number in range(count)]


def playing(times, place=0):
    return [Tick(at, True, place + number) for number, at in enumerate(times)]


def test_an_even_clock_has_no_fault():
    assert evenness(even(100), INTERVAL, 1_000_000, 3_000_000) == Evenness(100, 0, 0, 0)


@pytest.mark.parametrize("first", [0, 700])
def test_each_lost_doubled_and_late_tick_is_counted(first):
    times = even(100)
    times[0] += first
    del times[50:53]
    times.insert(20, times[20] + 300)
    assert evenness(times, INTERVAL, 1_000_000, 3_000_000) == Evenness(98, 3, 1, max(first, 300))


@pytest.mark.parametrize("heard, lost", [(slice(0), 99), (slice(10, 100), 10), (slice(0, 90), 10)])
def test_a_clock_that_is_silent_begins_late_or_ends_early_has_lost_ticks(heard, lost):
    times = even(100)[heard]
    assert evenness(times, INTERVAL, 990_000, 2_990_000).lost == lost


def test_a_machine_counts_its_song_from_start_position_and_continue():
    arrivals = [(0xF8, 1), (0xFA, 2), (0xF8, 3), (0xF8, 4), (0xFC, 5), (0xF8, 6), (0xF2, 7), (0x10, 7), (0x01, 7),
                (0xFE, 8), (0xFB, 8), (0xF8, 9), (0xF8, 10)]
    assert machine(parsed(arrivals)) == [
        Tick(1, False), Tick(3, True, 0), Tick(4, True, 1), Tick(6, False), Tick(9, True, 864), Tick(10, True, 865)]


def test_an_output_is_wrong_while_it_is_silent_stopped_or_elsewhere_in_the_song():
    model = playing(even(100))
    output = [*model[:10], *playing(even(100)[20:30], place=10), *(Tick(tick.at, False) for tick in model[30:40]), *model[40:]]
    found = likeness(output, model, INTERVAL)
    assert (found.lost, found.doubled) == (10, 0)
    assert [tick for tick, _ in found.wrong] == model[10:40]
    assert [was for _, was in found.wrong] == [*(10 * [None]), *output[10:30]]


def test_a_tick_too_many_is_doubled_and_a_place_that_nobody_knows_is_not_wrong():
    model = playing(even(20))
    output = [*(Tick(tick.at + 50, True) for tick in model[:10]), Tick(model[9].at + 100, True), *model[10:]]
    assert likeness(output, model, INTERVAL).doubled == 1
    assert likeness(output, model, INTERVAL).wrong == []


def test_the_fastest_pair_of_ticks_gives_the_tempo():
    assert fastest([0, 20_000, 22_500, 42_500]) == pytest.approx(1000)
    assert fastest([]) == fastest([1]) == 0
