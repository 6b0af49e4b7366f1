"""What the bench makes of ticks."""

from bench import MACHINES, Figures, figures, wanted

INTERVAL = 60e6 / 120 / 24
EVEN = [1_000_000 + INTERVAL * number for number in range(200)]


def test_an_even_clock_on_the_beat_is_off_by_nothing():
    found = figures(EVEN, 1_000_000 - 7 * 500_000, 120)
    assert found.most < 0.01 and found.wrong == 0


def test_a_clock_that_is_late_is_off_by_that():
    found = figures([at + 150 for at in EVEN], 1_000_000, 120)
    assert (round(found.most), round(found.farthest), round(found.bias), found.wrong) == (150, 150, 150, 0)


def test_one_tick_in_two_hundred_is_not_judged_but_told():
    found = figures([*EVEN[:50], EVEN[50] + 3_000, *EVEN[51:]], 1_000_000, 120)
    assert found.most < 0.01 and round(found.farthest) == 3000


def test_lost_and_doubled_ticks_are_counted():
    assert figures([*EVEN[:50], *EVEN[52:]], 1_000_000, 120).wrong == 2
    assert figures([*EVEN[:50], EVEN[49] + 900, *EVEN[50:]], 1_000_000, 120).wrong == 1


def test_under_load_a_third_of_plain_direct_dispatch_is_wanted_if_that_is_more():
    alone, beside = MACHINES[0], MACHINES[1]
    slow = Figures(1800, 0, 0, 0)
    assert [wanted(alone, "idle", slow), wanted(beside, "idle", slow), wanted(alone, "load", slow)] == [20, 200, 600]
    assert wanted(alone, "load", Figures(90, 0, 0, 0)) == 300
