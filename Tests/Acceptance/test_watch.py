"""`tactus status --watch` and the live view of `tactus monitor`, on a terminal."""

import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from rig.gateway import TACTUS, Gateway, environment
from rig.screen import SIGNALS, Screen
from rig.wait import until

pytestmark = pytest.mark.real("terminal")


@pytest.fixture
def watch(tmp_path):
    running = []

    def run(*arguments, **options):
        extra = options.pop("env", {})
        screen = Screen([TACTUS, *map(str, arguments)], env={**environment(tmp_path), **extra}, **options)
        running.append(screen)
        return screen

    yield run
    for screen in running:
        screen.__exit__()


def test_keys_play_nudge_and_switch_and_the_screen_says_so(start, watch):
    gateway = start("--tempo", 128, "--output", "virtual:Drums")
    screen = watch("status", "--watch")
    screen.wait("128.00 BPM", "stopped", "Drums", "Link", "q quit", "http://127.0.0.1:8808")
    screen.press(" ")
    screen.wait("playing")
    gateway.wait_status(lambda status: status["playing"], "playing")
    screen.press("l")
    gateway.wait_status(lambda status: not status["link"]["enabled"], "Link is off")
    screen.wait("internal")
    screen.press("s")
    gateway.wait_status(lambda status: status["link"]["startStopSync"], "start/stop sync is on")
    screen.press("+++-")
    gateway.wait_status(lambda status: status["outputs"][0]["offsetMilliseconds"] == 2, "nudged by 2 ms")
    screen.wait("2 ms")
    screen.press("\x1b[A\x1bOs\x00zZ")  # arrows and other keys without a meaning
    screen.press(" ")
    gateway.wait_status(lambda status: not status["playing"], "stopped")
    assert gateway.status()["link"]["startStopSync"]
    screen.press("q")
    assert screen.end() == 0
    assert screen.is_restored()


def test_a_gateway_that_went_away_is_said_to_and_found_again(tmp_path, watch):
    with Gateway("--tempo", 128, folder=tmp_path / "one") as gateway:
        screen = watch("status", "--watch")
        screen.wait("128.00 BPM")
        gateway.stop()
        screen.wait("no gateway answers at http://127.0.0.1:8808", "128.00 BPM")
    with Gateway("--tempo", 99, folder=tmp_path / "two"):
        screen.settle(lambda text: "99.00 BPM" in text and "no gateway answers" not in text, "it is found again")
        screen.press("q")
        assert screen.end() == 0


def test_whatever_ends_it_leaves_the_terminal_as_it_was(start, watch):
    start()
    for sign in SIGNALS:
        screen = watch("status", "--watch")
        screen.wait("120.00 BPM")
        assert not screen.is_restored()
        assert screen.end(sign) == 0
        assert screen.is_restored()


def test_ctrl_z_does_not_stop_it_a_stop_is_survived_and_ctrl_c_ends_it(start, watch):
    start()
    screen = watch("status", "--watch")
    screen.wait("120.00 BPM")
    screen.press("\x1a\x13")
    screen.press(" ")
    screen.wait("playing")
    os.kill(screen.process.pid, signal.SIGSTOP)
    state = pathlib.Path(f"/proc/{screen.process.pid}/stat")
    until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T", "it is stopped")
    screen.read()
    # A shell resets the terminal like this when a program was stopped.
    subprocess.run(["stty", "sane"], stdin=screen.near, check=True)
    screen.cells.clear()
    os.kill(screen.process.pid, signal.SIGCONT)
    screen.wait("120.00 BPM")
    screen.press(" ")
    screen.wait("stopped")
    screen.press("\x03")
    assert screen.end() == 0
    assert screen.is_restored()


def test_it_fits_the_terminal_when_its_size_changes(start, watch):
    start("--output", "virtual:Drums", "--output", "virtual:A name that is much longer than any column is wide")
    screen = watch("status", "--watch")
    screen.wait("120.00 BPM")
    for rows, columns in [(12, 40), (24, 80)]:
        screen.resize(rows, columns)
        os.kill(screen.process.pid, signal.SIGWINCH)
        screen.cells.clear()

        def fits():
            # What was drawn for the old size may still come.
            screen.read()
            drawn = {row for (row, _), cell in screen.cells.items() if cell != " "}
            return len(drawn) > 3 and all(row < rows and column < columns for row, column in screen.cells)

        until(fits, "it is drawn anew, and fits", every=0.02)
    screen.wait("Drums")


def test_where_there_is_no_terminal_it_prints_plain_lines_until_nobody_reads_them(start, watch, tmp_path):
    screen = watch("status", "--watch")  # does not start without a gateway
    assert screen.end() == 69
    assert screen.raw == ""
    start()
    process = subprocess.Popen(
        [TACTUS, "status", "--watch"], env=environment(tmp_path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        text=True)
    line = process.stdout.readline()
    assert "120.00 BPM" in line and "\x1b" not in line
    process.stdout.close()
    assert process.wait(timeout=60) == 0


def test_the_monitor_redraws_in_one_place_and_leaves_its_result(watch, tmp_path):
    path = tmp_path / "line"
    os.mkfifo(path)
    screen = watch("monitor", f"raw:{path}")
    with path.open("wb", buffering=0) as line:
        for _ in range(150):
            line.write(b"\xF8")
            time.sleep(0.01)
            screen.read()
    screen.settle(lambda text: "150 ticks" in text and text.count("transport") == 1, "the view is redrawn in place")
    assert "\x1b[?1049h" not in screen.raw
    assert screen.end(signal.SIGINT) == 0
    # On a busy computer a script sends ticks in bunches, which may look like lost ticks.
    assert re.search(r"150 ticks, \d+ lost, \d+ doubled", screen.text())
