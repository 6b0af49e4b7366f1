"""A machine without the ALSA sequencer: containers, many virtual machines, small boards with a serial MIDI port."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from rig.figures import quantile, steady
from rig.gateway import PROJECT, Gateway, environment, request
from rig.rawline import CLOCK, CONTINUE, POSITION, START, STOP, RawLine
from rig.wait import until

SOON = 0.3


def test_it_says_so_in_one_line_with_the_fix_and_shows_the_session(start):
    gateway = start("--tempo", 100)
    status = gateway.status()
    assert status["mode"] == "link" and status["tempo"] == pytest.approx(100, abs=0.001)
    assert any("sequencer" in warning["message"] and warning["fix"] for warning in status["warnings"])
    gateway.stop()
    said = [text for text in gateway.stderr.splitlines() if "sequencer" in text.lower()]
    assert len(said) == 1, f"one line about the sequencer, not: {gateway.stderr!r}"
    assert re.search(r"modprobe snd[-_]seq", said[0]), f"the line names the fix: {said[0]!r}"
    assert "ALSA lib" not in gateway.stderr


def test_the_line_carries_a_steady_clock(start, line, figure):
    start("--no-link", "--tempo", 120, "--output", f"raw:{line.path}")
    ticks = line.wait_ticks(480, within=15)
    numbered, (interval, origin) = steady(ticks)
    late = [at - origin - interval * number for number, at in numbered]
    figure("tempo", f"{60e6 / 24 / interval:.4f} BPM", "120 +- 0.06")
    figure("spread of arrivals, 10 to 90 %", f"{quantile(late, 0.9) - quantile(late, 0.1):.0f} us")
    assert 60e6 / 24 / interval == pytest.approx(120, rel=0.0005)
    assert {value for value, _ in line.arrivals} == {CLOCK}, "nothing but clock while stopped"


def test_start_and_stop_fall_between_unbroken_ticks(start, line, figure):
    gateway = start("--no-link", "--tempo", 120, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    asked = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) // 1000
    gateway.post("transport", {"playing": True})
    started = line.wait_for(START, within=SOON)
    # Alone nothing waits for a bar: Start comes with the next tick that can still be reached, at most two away.
    figure("Start after play", f"{(started - asked) / 1000:.1f} ms", "two ticks and the reader's lateness")
    assert started - asked < 2 * 20_833 + 30_000
    line.wait_ticks(48, within=3)
    asked = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) // 1000
    gateway.post("transport", {"playing": False})
    stopped = line.wait_for(STOP, within=SOON)
    figure("Stop after stop", f"{(stopped - asked) / 1000:.1f} ms", "100 ms")
    assert stopped - asked < 100_000
    line.wait_ticks(48, within=3)

    numbered, (interval, _) = steady(line.times(CLOCK))
    assert interval == pytest.approx(20_833.3, rel=0.001)
    order = [value for value, _ in line.arrivals]
    assert order.count(START) == order.count(STOP) == 1
    assert CONTINUE not in order and POSITION not in order
    assert order.index(START) < order.index(STOP)


def test_start_leads_the_tick_that_is_the_beat(start, line, figure):
    gateway = start("--no-link", "--tempo", 120, "--output", f"raw:{line.path}")
    line.wait_ticks(12, within=3)
    leads, gaps = [], []
    for _ in range(15):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) // 1000
        gateway.post("transport", {"playing": True})
        until(lambda: line.times(START, before) or line.times(CONTINUE, before), SOON, "the machine is started")
        if not line.times(START, before):  # this machine stalled just then, so it enters by Song Position and Continue
            gateway.post("transport", {"playing": False})
            line.wait_for(STOP, within=SOON, since=before)
            continue
        started = line.times(START, before)[0]
        following = until(lambda: line.times(CLOCK, started), SOON, "a tick after Start")[0]
        previous = [at for at in line.times(CLOCK) if at <= started][-1]
        leads.append(following - started)
        gaps.append(started - previous)
        gateway.post("transport", {"playing": False})
        line.wait_for(STOP, within=SOON, since=started)
    assert len(leads) >= 5
    figure("Start before its tick, median", f"{quantile(leads, 0.5):.0f} us", "1000 us asked for")
    assert 500 < quantile(leads, 0.5) < 2500
    assert quantile(gaps, 0.5) > 0.4 * 20_833


def test_play_at_start_and_ctrl_c_leave_start_first_and_stop_last(start, line):
    gateway = start("--no-link", "--play", "--output", f"raw:{line.path}")
    line.wait_for(START, within=3)
    line.wait_ticks(24, within=3)
    gateway.stop()
    until(lambda: line.arrivals[-1][0] == STOP, SOON, "Stop is the last byte")
    order = [value for value, _ in line.arrivals]
    assert order.count(START) == order.count(STOP) == 1


def test_sigterm_ends_it_as_ctrl_c_does(start, line):
    gateway = start("--play", "--output", f"raw:{line.path}")
    line.wait_for(START, within=5)
    gateway.stop(signal.SIGTERM)
    until(lambda: line.arrivals[-1][0] == STOP, SOON, "Stop is the last byte")


def test_a_line_that_is_not_there_yet_is_waited_for(start, tmp_path):
    path = tmp_path / "later"
    gateway = start("--no-link", "--output", f"raw:{path}")
    (output,) = [output for output in gateway.status()["outputs"] if "later" in output["name"]]
    assert output["connected"] is False
    with RawLine(path) as line:
        line.wait_ticks(24, within=5)
        gateway.wait_status(
            lambda status: any(output["connected"] and "later" in output["name"] for output in status["outputs"]), 1,
            "the output is shown as connected")


def test_a_reader_that_goes_and_comes_back_stops_nothing(start, tmp_path):
    path = tmp_path / "line"
    with RawLine(path) as line:
        gateway = start("--no-link", "--output", f"raw:{path}")
        line.wait_ticks(24, within=3)
    ended = time.monotonic() + 0.5
    while time.monotonic() < ended:
        assert gateway.process.poll() is None, "no reader must not end the gateway"
        time.sleep(0.02)
    os.unlink(path)
    with RawLine(path) as line:
        line.wait_ticks(24, within=5)


@pytest.mark.parametrize("options, names", [
    (["--output", "TR-8S"], ["TR-8S"]),
    (["--output", "virtual:Drums"], ["Drums"]),
    (["--output", "128:7"], ["128:7"]),
])
def test_sequencer_outputs_are_shown_as_away_or_present_and_end_nothing(start, options, names):
    gateway = start("--no-link", *options)
    shown = [output["name"] for output in gateway.status()["outputs"]]
    for name in names:
        assert any(name in other for other in shown), shown


def test_on_a_terminal_one_live_line_shows_the_session(tmp_path):
    """Through a real terminal, ended by its Ctrl-C."""
    outer, inner = os.openpty()
    folder = tmp_path / "terminal"
    folder.mkdir()
    command = [*Gateway.COMMAND, "run", "--tempo", "100"]
    process = subprocess.Popen(
        ["setsid", "--ctty", "--wait", *command], stdin=inner, stdout=inner, stderr=inner,
        env={**environment(folder), "TERM": "xterm", "COLUMNS": "100"})
    os.close(inner)
    shown = bytearray()

    def read():
        try:
            while data := os.read(outer, 4096):
                shown.extend(data)
        except OSError:
            pass

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        for wanted in (rb"link", rb"100\.00 BPM", rb"0 peers", rb"stopped"):
            until(lambda: re.search(wanted, shown), 5, f"{wanted} on the terminal, which shows {bytes(shown[-400:])!r}")
        until(lambda: shown.count(b"BPM") > 1, 5, "the line is drawn again")
        os.write(outer, b"\x03")
        assert process.wait(timeout=3) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    # One line: it is redrawn in place, and only the line about the sequencer stands above it.
    assert shown.count(b"BPM") > 1
    assert shown.count(b"\n") <= 3, bytes(shown)


def test_make_run_is_all_it_takes(line):
    """As the README says it, without any network: everything is there already, so nothing is fetched."""
    process = subprocess.Popen(
        ["make", "run", f"ARGS=--tempo 100 --play --output raw:{line.path}"], cwd=PROJECT, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=sys.stderr, start_new_session=True)
    try:
        line.wait_for(START, within=240)
        line.wait_ticks(24, within=2)
        code, status = request("GET", "/api/v1/status")
        assert code == 200 and status["tempo"] == pytest.approx(100, abs=0.001)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=5)
        until(lambda: line.arrivals[-1][0] == STOP, SOON, "Stop is the last byte")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_way_of_dispatching_that_is_impossible_here_is_told_and_the_clock_runs_all_the_same(start):
    gateway = start("--no-link", "--dispatch", "backstop")
    status = gateway.wait_status(lambda status: status["realtime"]["wakeUpLatencyMicroseconds"], 2, "the thread runs")
    assert status["realtime"]["dispatch"] == "direct"
    (warning,) = [warning for warning in status["warnings"] if warning["code"] == "dispatch"]
    assert "direct" in warning["message"] and warning["fix"]
