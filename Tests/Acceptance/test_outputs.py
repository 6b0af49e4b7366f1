"""Each output's own settings, on a line where every byte is stamped."""

import statistics
import time

from rig.clocks import raw_microseconds
from rig.rawline import CLOCK, CONTINUE, POSITION, START, STOP


def adjust(gateway, output, **settings):
    code, status = gateway.request("PATCH", f"/api/v1/outputs/{output}", settings)
    assert code == 200, status
    return status


def output_id(gateway):
    (output,) = [output for output in gateway.status()["outputs"] if "line" in output["name"]]
    return output["id"]


def ticks_of_a_second(line):
    since = raw_microseconds()
    time.sleep(1)
    return [at for at in line.times(CLOCK, since) if at < since + 1_000_000]


def test_multiply_and_divide_change_the_count_at_once(start, line):
    gateway = start("--no-link", "--tempo", 120, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    output = output_id(gateway)
    for settings, expected in (({"divide": 2}, 24), ({"divide": 1, "multiply": 2}, 96), ({"multiply": 1}, 48)):
        adjust(gateway, output, **settings)
        assert abs(len(ticks_of_a_second(line)) - expected) <= 3, settings


def test_an_offset_moves_the_ticks_and_nothing_else(start, line):
    gateway = start("--no-link", "--tempo", 120, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    gateway.post("transport", {"playing": True})
    line.wait_for(START, within=1)

    def place():
        """Where in the tick the line's ticks lie, in microseconds, by the status' own beat."""
        ticks = line.wait_ticks(24, within=2)
        return statistics.median(tick * 24 % 500_000 / 24 for tick in ticks)

    before = place()
    output = output_id(gateway)
    status = adjust(gateway, output, offsetMilliseconds=2.5)
    assert {other["id"]: other["offsetMilliseconds"] for other in status["outputs"]}[output] == 2.5
    time.sleep(3)
    moved = (place() - before) % (500_000 / 24)
    assert abs(moved - 2_500) < 300, f"moved by {moved:.0f} us"
    assert not line.times(STOP)


def test_realigning_enters_anew_at_the_next_bar(start, line):
    gateway = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    gateway.post("transport", {"playing": True})
    line.wait_for(START, within=1)
    gateway.post(f"outputs/{output_id(gateway)}/realign")
    line.wait_for(CONTINUE, within=3)
    order = [value for value, _ in line.arrivals if value in (START, STOP, POSITION, CONTINUE)]
    assert order == [START, STOP, POSITION, CONTINUE]
    values = [value for value, _ in list(line.arrivals)]
    position = values.index(POSITION)
    sixteenths = values[position + 1] | values[position + 2] << 7
    assert sixteenths % 16 == 0
