"""Two gateways on one machine, without any other peer."""

import random
import time

import pytest

from rig.figures import quantile
from rig.rawline import CLOCK, START, STOP, RawLine
from rig.wait import until

SOON = 0.3


@pytest.fixture
def pair(tmp_path, start):
    """Two gateways that have joined one session, each with its line; the first founded it at 97 BPM."""
    with RawLine(tmp_path / "one") as line_one, RawLine(tmp_path / "two") as line_two:
        one = start("--tempo", 97, "--start-stop-sync", "--output", f"raw:{line_one.path}", name="first")
        one.wait_status(lambda status: time.monotonic() - one.started > 1.5, 3, "the first is senior")
        two = start(
            "--tempo", 151, "--start-stop-sync", "--output", f"raw:{line_two.path}", name="second", port=8809)
        two.wait_status(lambda status: status["link"]["peers"] == 1, 2, "the second sees the first")
        one.wait_status(lambda status: status["link"]["peers"] == 1, 2, "the first sees the second")
        yield (one, line_one), (two, line_two)
        two.stop()
        one.wait_status(lambda status: status["link"]["peers"] == 0, SOON, "the bye-bye is heard")


def same(tempo):
    return pytest.approx(tempo, abs=0.001)


def test_the_newcomer_takes_the_founders_session_and_tempo(pair):
    (one, _), (two, _) = pair
    two.wait_status(lambda status: status["tempo"] == same(97), 2, "the second takes the tempo")
    assert one.status()["tempo"] == same(97)
    assert one.status()["link"]["sessionId"] == two.status()["link"]["sessionId"]


def test_their_ticks_fall_together_within_a_millisecond(pair, figure):
    (one, line_one), (two, line_two) = pair
    two.wait_status(lambda status: status["tempo"] == same(97), 2, "the second takes the tempo")
    two.post("tempo", {"bpm": 140})
    one.wait_status(lambda status: status["tempo"] == same(140), SOON, "the first follows")
    one.post("transport", {"playing": True})
    starts = [line.wait_for(START, within=4) for line in (line_one, line_two)]
    for line, started in zip((line_one, line_two), starts):
        until(lambda line=line, started=started: len(line.times(CLOCK, started)) >= 250, 10, "ticks after Start")
    # Counted from their Starts, so that a whole tick or beat of difference would show.
    pairs = zip(line_one.times(CLOCK, starts[0])[50:], line_two.times(CLOCK, starts[1])[50:])
    differences = [b - a for a, b in pairs]
    middle = quantile(differences, 0.5)
    figure("second's ticks minus first's, median", f"{middle:.0f} us", "1000 us")
    assert abs(middle) < 1000


def test_tempo_changes_go_both_ways_fifty_times_between_gateways(pair, figure):
    (one, _), (two, _) = pair
    generator = random.Random(4)
    slowest = 0.0
    for turn in range(100):
        sender, receiver = (one, two) if turn % 2 else (two, one)
        tempo = round(generator.uniform(60, 200), 2)
        began = time.monotonic()
        sender.post("tempo", {"bpm": tempo})
        receiver.wait_status(lambda status: status["tempo"] == same(tempo), SOON, f"the other follows to {tempo}")
        slowest = max(slowest, time.monotonic() - began)
    figure("slowest change", f"{slowest * 1000:.0f} ms", "300 ms")


def test_play_and_stop_go_both_ways_between_gateways(pair):
    (one, line_one), (two, line_two) = pair
    for sender, receiver, line in ((one, two, line_two), (two, one, line_one)):
        heard = len(line.times(START)), len(line.times(STOP))
        sender.post("transport", {"playing": True})
        receiver.wait_status(lambda status: status["playing"], SOON, "the other plays")
        until(lambda: len(line.times(START)) == heard[0] + 1, 4, "Start on the other's line")
        sender.post("transport", {"playing": False})
        receiver.wait_status(lambda status: not status["playing"], SOON, "the other stops")
        until(lambda: len(line.times(STOP)) == heard[1] + 1, SOON, "Stop on the other's line")
