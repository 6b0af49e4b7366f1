"""`tactus monitor`: its report on a clock with known faults, in the lab, and its answers to unusable inputs."""

import contextlib
import fcntl
import json
import os
import signal
import statistics
import subprocess
import termios
import time

import pytest

from guest import monitor as stage
from rig.gateway import TACTUS, environment, run_tactus
from rig.labs import Boot
from rig.wait import until


sequencer = pytest.mark.real("sequencer")
line_of_bytes = pytest.mark.real("line")
BOOTS = [Boot({"monitor": ("monitor.py",)})]


@pytest.fixture
def measured(recordings):
    return recordings["monitor"]


def put_in(reference):
    """Each sent tick's distance from an even clock, by the kernel's timestamps at the reference port."""
    numbers = [
        number for number in range(stage.TICKS) if number not in stage.LOST
        for _ in range(2 if number in stage.DOUBLED else 1)]
    times = [at for name, at in reference if name == "clock"]
    assert len(times) == len(numbers)
    first = dict(reversed(list(zip(numbers, times))))
    slope, start = statistics.linear_regression(list(first), list(first.values()))
    return [at - start - slope * number for number, at in first.items()]


@sequencer
def test_what_was_put_in_is_what_is_said_at_a_port_and_at_a_device(measured):
    for wire in ("port", "device"):
        is_said(measured, wire)
    report = measured["report"]
    assert set(report) == {"monitor.html", "monitor.svg", "monitor.json"}
    assert json.loads(report["monitor.json"]) == json.loads(measured["port"]["stdout"])
    for code, complaint in (measured["missing"], measured["gone"]):
        assert code == 69
        assert complaint.startswith("tactus: no ") and complaint.count("\n") == 1
    # Without a port it has one of its own.
    assert measured["own port"] == "Clock"
    said = json.loads(measured["own"]["stdout"])
    assert said["port"] == f"Virtual Raw MIDI 0-0:VirMIDI 0-0 ({measured['source']})"
    assert said["ticks"]["received"] == 100


def is_said(measured, wire):
    done = measured[wire]
    assert (done["code"], done["stderr"]) == (0, "")
    said = json.loads(done["stdout"])
    assert said["stamps"] == "kernel"
    assert said["port"] == (f"Virtual Raw MIDI 0-0:VirMIDI 0-0 ({measured['source']})" if wire == "port" else "hw:0,1")
    ticks = said["ticks"]
    assert ticks["received"] == stage.TICKS - len(stage.LOST) + len(stage.DOUBLED)
    assert (ticks["refused"], ticks["overflows"]) == (0, 0)
    errors = said["jitter"]["timeIntervalErrorMicroseconds"]
    truth = put_in(measured["reference"])
    deviation = statistics.pstdev(truth)
    # ClockMeterTests show how exactly. What is off by less than this, nobody hears.
    assert errors["deviation"] == pytest.approx(deviation, abs=200)
    assert errors["p50"] == pytest.approx(stage.DISPLACEMENT, abs=200)
    assert said["jitter"]["intervalMicroseconds"]["mean"] == pytest.approx(2.5e6 / stage.TEMPO, rel=0.001)
    # A player that is held up seems to have changed its tempo, so ClockMeterTests judge that.
    assert said["silences"]["count"] == 0
    transport = said["transport"]
    assert transport["motion"] == "playing"
    newest = transport["newest"]
    assert [message["kind"] for message in newest] == ["start", "stop", "song-position", "continue"]
    assert [message.get("position") for message in newest] == [None, None, 16, None]
    heard = [at / 1e6 for name, at in measured["reference"] if name != "clock"]
    apart = [message["second"] - newest[0]["second"] for message in newest]
    assert apart == pytest.approx([at - heard[0] for at in heard], abs=0.01)


@contextlib.contextmanager
def monitor(*arguments, folder):
    process = subprocess.Popen(
        [TACTUS, "monitor", *map(str, arguments)], env=environment(folder), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def taken(line):
    """Waits until the monitor has read everything from a pipe."""
    waiting = bytearray(4)
    until(lambda: fcntl.ioctl(line, termios.FIONREAD, waiting) == 0 and not any(waiting), "the monitor reads")


@line_of_bytes
def test_a_line_is_measured_whoever_writes_to_it_until_the_monitor_is_ended(tmp_path):
    path = tmp_path / "line"
    os.mkfifo(path)
    with monitor(f"raw:{path}", "--json", "--report", tmp_path / "report.svg", folder=tmp_path) as process:
        for _ in range(2):
            # The writer opens the pipe again, like a program that was restarted. Opening waits for the monitor.
            with path.open("wb", buffering=0) as line:
                line.write(b"\xFA")
                for _ in range(40):
                    line.write(b"\xF8\x90\x40")
                    time.sleep(0.02)  # any tempo will do, also a slower one
                taken(line)
        process.send_signal(signal.SIGINT)
        output, complaint = process.communicate(timeout=60)
    said = json.loads(output)
    assert (process.returncode, complaint) == (0, "")
    assert said["stamps"] == "program" and said["port"] == str(path)
    assert said["ticks"]["received"] == 80
    assert said["transport"]["messages"] == 2
    assert (tmp_path / "report.svg").read_text().startswith("<svg")


@pytest.mark.real("process")
def test_what_cannot_be_measured_is_refused_with_what_would_be_right():
    for arguments, code, words in (
            (["raw:/dev/nowhere"], 69, "/dev/nowhere"), (["raw:/etc/passwd"], 64, "ordinary file"),
            (["hw:../../etc"], 64, "hw:CARD,DEVICE"), (["hw:0,0"], 69, "hw:0,0"),
            (["virtual:Drums"], 64, "tactus monitor"), (["--seconds", "0"], 64, "1 to 1000000"),
            (["--tempo", "5"], 64, "20 to 999"), (["--report", "/nowhere/at/all.svg"], 64, "no folder"),
            (["--report", "clock.pdf"], 64, ".svg")):
        done = run_tactus("monitor", *arguments)
        assert done.returncode == code, (arguments, done.stderr)
        assert words in done.stderr and done.stdout == "", arguments
