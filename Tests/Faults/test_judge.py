"""The judge: what it counts as lost, doubled, late and wrong."""

from judge import Evenness, Tick, evenness, likeness, machine, parsed

INTERVAL = 20_000


def even(count, start=1_000_000):
    return [start + number * INTERVAL for number in range(count)]


def playing(times, place=0):
    return [Tick(at, True, place + number) for number, at in enumerate(times)]


def test_each_lost_doubled_and_late_tick_is_counted_also_at_both_ends():
    assert evenness(even(100), INTERVAL, 1_000_000, 3_000_000) == Evenness(100, 0, 0, 0)
    for first in (0, 700):
        times = even(100)
        times[0] += first
        del times[50:53]
        times.insert(20, times[20] + 300)
        assert evenness(times, INTERVAL, 1_000_000, 3_000_000) == Evenness(98, 3, 1, max(first, 300))
    for heard, lost in ((slice(0), 99), (slice(10, 100), 10), (slice(0, 90), 10)):
        assert evenness(even(100)[heard], INTERVAL, 990_000, 2_990_000).lost == lost


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
    # A tick too many is doubled, and a place that nobody knows is not wrong.
    model = playing(even(20))
    output = [*(Tick(tick.at + 50, True) for tick in model[:10]), Tick(model[9].at + 100, True), *model[10:]]
    assert likeness(output, model, INTERVAL).doubled == 1
    assert likeness(output, model, INTERVAL).wrong == []
