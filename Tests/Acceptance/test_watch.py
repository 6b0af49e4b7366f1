"""`tactus status --watch`, on a terminal."""

import subprocess

import pytest

from rig.gateway import TACTUS, environment
from rig.screen import SIGNALS, Screen

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
    screen.press("\x1b[A\x1bOs\x00zZ\x1a\x13")  # arrows, Ctrl-Z and other keys without a meaning
    screen.press(" ")
    gateway.wait_status(lambda status: not status["playing"], "stopped")
    assert gateway.status()["link"]["startStopSync"]
    screen.press("q")
    assert screen.end() == 0
    assert screen.is_restored()


def test_whatever_ends_it_leaves_the_terminal_as_it_was(start, watch):
    start()
    for sign in SIGNALS:
        screen = watch("status", "--watch")
        screen.wait("120.00 BPM")
        assert not screen.is_restored()
        assert screen.end(sign) == 0
        assert screen.is_restored()


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
