"""An output whose line accepts no bytes for a while."""

import pytest

from rig.rawline import CLOCK, CONTINUE, POSITION, SENSING, STOP
from rig.wait import until

pytestmark = pytest.mark.real("line")


def out_of_step(status):
    return [warning for warning in status["warnings"] if warning["code"] == "out-of-step"]


def since_full(line):
    """What the line got after it was full, except ticks; before that, a busy machine may send more than Start."""
    values = [value for value, _ in list(line.arrivals)]
    last = len(values) - values[::-1].index(SENSING) if SENSING in values else len(values)
    return [value for value in values[last:] if value != CLOCK]


def test_a_line_that_refused_a_stop_is_sent_it_as_soon_as_it_takes_bytes_again(start, line):
    gateway = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24)
    gateway.post("transport", {"playing": True})
    line.wait_playing()
    with line.full():
        gateway.post("transport", {"playing": False})
        status = gateway.wait_status(out_of_step, "a warning")
        (warning,) = out_of_step(status)
        assert "line" in warning["message"] and "play on" in warning["message"] and "reads" in warning["fix"]
    until(lambda: since_full(line), "a Stop")
    gateway.wait_status(lambda status: not out_of_step(status), "in step again")
    assert since_full(line) == [STOP]


def test_a_line_that_missed_ticks_is_stopped_and_placed_at_a_bar(start, line):
    gateway = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24)
    gateway.post("transport", {"playing": True})
    line.wait_playing()
    with line.full():
        gateway.wait_status(out_of_step, "a warning")
    until(lambda: CONTINUE in since_full(line), "it plays again")
    gateway.wait_status(lambda status: not out_of_step(status), "in step again")
    words = since_full(line)
    # On a busy machine a first position may be too late, and be followed by that of a later bar.
    stop, *_, position, low, high = words[:words.index(CONTINUE)]
    assert (stop, position) == (STOP, POSITION) and (low | high << 7) % 16 == 0, words
