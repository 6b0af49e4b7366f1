"""An output whose line accepts no bytes for a while."""

import pytest

from rig.rawline import CONTINUE, POSITION, START, STOP

pytestmark = pytest.mark.real("line")


def out_of_step(status):
    return [warning for warning in status["warnings"] if warning["code"] == "out-of-step"]


def test_a_line_that_refused_a_stop_is_sent_it_as_soon_as_it_takes_bytes_again(start, line):
    gateway = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24)
    gateway.post("transport", {"playing": True})
    line.wait_for(START)
    with line.full():
        gateway.post("transport", {"playing": False})
        status = gateway.wait_status(out_of_step, "a warning")
        (warning,) = out_of_step(status)
        assert "line" in warning["message"] and "play on" in warning["message"] and "reads" in warning["fix"]
        assert not line.times(STOP)
    line.wait_for(STOP)
    gateway.wait_status(lambda status: not out_of_step(status), "in step again")
    assert [value for value, _ in line.arrivals if value in (START, STOP, POSITION, CONTINUE)] == [START, STOP]


def test_a_line_that_missed_ticks_is_stopped_and_placed_at_a_bar(start, line):
    gateway = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24)
    gateway.post("transport", {"playing": True})
    line.wait_for(START)
    with line.full():
        gateway.wait_status(out_of_step, "a warning")
    line.wait_for(CONTINUE)
    gateway.wait_status(lambda status: not out_of_step(status), "in step again")
    values = [value for value, _ in list(line.arrivals)]
    assert [value for value in values if value in (START, STOP, POSITION, CONTINUE)] == [START, STOP, POSITION, CONTINUE]
    position = values.index(POSITION)
    assert (values[position + 1] | values[position + 2] << 7) % 16 == 0
