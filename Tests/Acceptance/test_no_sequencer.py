"""Gateways on machines without the ALSA sequencer, such as containers, virtual machines and some small boards."""

import os
import re
import signal
import subprocess
import sys

import pytest

from rig.gateway import PROJECT, TACTUS, Gateway, environment, request
from rig.rawline import STOP
from rig.screen import Screen
from rig.wait import until

pytestmark = pytest.mark.real("process")


def test_it_says_so_in_one_line_with_the_fix_and_shows_the_session(start):
    gateway = start("--tempo", 100)
    status = gateway.status()
    assert status["mode"] == "link" and status["tempo"] == pytest.approx(100, abs=0.001)
    assert any("sequencer" in warning["message"] and warning["fix"] for warning in status["warnings"])
    gateway.stop()
    said = [text for text in gateway.stderr.splitlines() if "sequencer" in text.lower()]
    assert len(said) == 1, f"one line about the sequencer, not: {gateway.stderr!r}"
    assert re.search("tactus doctor", said[0]), f"the line names the fix: {said[0]!r}"
    assert "ALSA lib" not in gateway.stderr


def test_sequencer_outputs_are_shown_as_away_and_what_is_impossible_is_told(start):
    names = ["TR-8S", "Drums", "128:7"]
    gateway = start("--no-link", "--dispatch", "queue", "--output", "TR-8S", "--output", "virtual:Drums", "--output", "128:7")
    shown = {output["name"]: output["connected"] for output in gateway.status()["outputs"]}
    for name in names:
        assert [connected for other, connected in shown.items() if name in other] == [False], shown
    status = gateway.wait_status(lambda status: status["realtime"]["wakeUpLatencyMicroseconds"], "the clock runs all the same")
    assert status["realtime"]["dispatch"] == "direct"
    (warning,) = [warning for warning in status["warnings"] if warning["code"] == "dispatch"]
    assert "direct" in warning["message"] and warning["fix"]


@pytest.mark.real("terminal")
def test_on_a_terminal_one_live_line_shows_the_session(tmp_path):
    """Uses a real terminal and ends the gateway by Ctrl-C."""
    with Screen([*Gateway.COMMAND, "run", "--tempo", "100"], environment(tmp_path), columns=100, has_errors=True) as screen:
        screen.wait("link", "100.00 BPM", "0 peers", "stopped")
        until(lambda: screen.read() or screen.raw.count("BPM") > 1, "the line is drawn again")
        screen.press("\x03")
        assert screen.end() == 0
        # What comes first has lines of its own; the live line is redrawn in place, below what is logged meanwhile.
        assert "Panel: http://127.0.0.1:8808" in screen.raw[:screen.raw.index("BPM")]
        assert not re.search(r"BPM[^\r\n]*\r?\n", screen.raw), screen.raw


@pytest.mark.real("installation")
def test_make_run_is_all_it_takes(line):
    """Runs the README's command without a network, except for the build.

    The programs were built before the tests, and nothing of them is newer than itself. Another build would wait until the
    Swift tests, which are built and run at the same time as these, are done.
    """
    steps = subprocess.run(
        ["make", "-n", "run", "MADE=/not/made"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    assert re.search(r"install-packages build$.* build .*--product tactus$.*^exec ", steps, re.S | re.M), steps
    process = subprocess.Popen(
        ["make", "run", f"RELEASE={TACTUS}", "MADE=/dev/null", "MADE_OF=/dev/null",
         f"ARGS=--tempo 100 --play --output raw:{line.path}"], cwd=PROJECT,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sys.stderr, start_new_session=True)
    try:
        until(lambda: line.plays or process.poll() is not None, "it plays")
        assert process.poll() is None, f"make run ended with {process.returncode}"
        line.wait_ticks(24)
        code, status = request("GET", "/api/v1/status")
        assert code == 200 and status["tempo"] == pytest.approx(100, abs=0.001)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(timeout=60)
        until(lambda: line.arrivals[-1][0] == STOP, "Stop is the last byte")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
