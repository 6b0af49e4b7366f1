"""Each output's own settings, on a line where every byte is stamped."""

import statistics
import time

from rig.clocks import raw_microseconds
from rig.rawline import CLOCK, CONTINUE, POSITION, START, STOP


def out_of_step(status):
    return [warning for warning in status["warnings"] if warning["code"] == "out-of-step"]


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


def test_a_line_that_refused_a_stop_is_sent_it_as_soon_as_it_takes_bytes_again(start, line):
    gateway = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    gateway.post("transport", {"playing": True})
    line.wait_for(START, within=1)
    with line.full():
        gateway.post("transport", {"playing": False})
        status = gateway.wait_status(out_of_step, 3, "a warning")
        (warning,) = out_of_step(status)
        assert "line" in warning["message"] and "play on" in warning["message"] and "reads" in warning["fix"]
        assert not line.times(STOP)
    line.wait_for(STOP, within=3)
    gateway.wait_status(lambda status: not out_of_step(status), 3, "in step again")
    assert [value for value, _ in line.arrivals if value in (START, STOP, POSITION, CONTINUE)] == [START, STOP]


def test_a_line_that_missed_ticks_is_stopped_and_placed_at_a_bar(start, line):
    gateway = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    gateway.post("transport", {"playing": True})
    line.wait_for(START, within=1)
    with line.full():
        gateway.wait_status(out_of_step, 3, "a warning")
    line.wait_for(CONTINUE, within=5)
    gateway.wait_status(lambda status: not out_of_step(status), 3, "in step again")
    values = [value for value, _ in list(line.arrivals)]
    assert [value for value in values if value in (START, STOP, POSITION, CONTINUE)] == [START, STOP, POSITION, CONTINUE]
    position = values.index(POSITION)
    assert (values[position + 1] | values[position + 2] << 7) % 16 == 0


def test_realigning_what_is_away_or_stopped_says_so(start, line, tmp_path):
    gateway = start("--no-link", "--output", f"raw:{line.path}", "--output", f"raw:{tmp_path}/later")
    line.wait_ticks(1, within=3)
    output = output_id(gateway)
    (away,) = [output["id"] for output in gateway.status()["outputs"] if "later" in output["name"]]

    def realign(*words):
        done = gateway.command("realign", *words)
        return done.returncode, done.stdout + done.stderr

    assert realign(away) == (1, f"tactus: {tmp_path}/later is not connected\n")
    assert realign(output) == realign() == (1, "tactus: nothing is playing\n")
    code, answer = gateway.request("POST", f"/api/v1/outputs/{away}/realign", {})
    assert code == 409 and answer["error"]["code"] == "not-connected"
    gateway.post("transport", {"playing": True})
    line.wait_for(START, within=1)
    assert realign(away)[0] == 1
    assert realign(output)[0] == realign()[0] == 0
    line.wait_for(CONTINUE, within=3)


def test_an_output_that_is_away_shows_no_figures(start, tmp_path):
    gateway = start("--no-link", "--output", f"raw:{tmp_path}/later")
    gateway.post("transport", {"playing": True})
    gateway.wait_status(lambda status: status["beat"] > 1, 3, "a beat")
    (output,) = [output for output in gateway.status()["outputs"] if "later" in output["name"]]
    assert output["ticks"] == 0 and output["latenessMicroseconds"] is None
    (text,) = [text for text in gateway.command("status").stdout.splitlines() if "later" in text and "output" in text[:8]]
    assert "away" in text and "ticks" not in text and "late," not in text
