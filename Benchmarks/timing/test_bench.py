"""What the bench makes of ticks."""

from bench import figures

INTERVAL = 60e6 / 120 / 24
EVEN = [1_000_000 + INTERVAL * number for number in range(200)]


def test_ticks_are_judged_by_their_distance_from_the_beats_and_counted():
    found = figures(EVEN, 1_000_000 - 7 * 500_000, 120)
    assert found.most < 0.01 and found.wrong == 0
    found = figures([at + 150 for at in EVEN], 1_000_000, 120)
    assert (round(found.most), round(found.farthest), round(found.bias), found.wrong) == (150, 150, 150, 0)
    # One tick in two hundred is not judged, but told.
    found = figures([*EVEN[:50], EVEN[50] + 3_000, *EVEN[51:]], 1_000_000, 120)
    assert found.most < 0.01 and round(found.farthest) == 3000
    assert figures([*EVEN[:50], *EVEN[52:]], 1_000_000, 120).wrong == 2
    assert figures([*EVEN[:50], EVEN[49] + 900, *EVEN[50:]], 1_000_000, 120).wrong == 1
