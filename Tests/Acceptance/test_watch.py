"""`tactus watch`, on a terminal."""

import contextlib
import pathlib
import subprocess
import tempfile

import pytest

from rig.gateway import TACTUS, environment
from rig.rawline import RawLine
from rig.screen import SIGNALS, Screen

pytestmark = pytest.mark.real("terminal")

NAMES = [
    "TR-8S", "Digitakt", "MC-101", "Volca Bass", "DFAM", "SH-4d", "Lights", "Sub 37 by the window", "Recorder", "Minitaur"]
ABSENT = ["Volca Bass", "Lights"]


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
    gateway = start("--tempo", 128, "--output", "virtual:Drums", "--no-clock-port")
    screen = watch("watch")
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
    screen.wait("2 ms", "u undo: offset of Drums back to 0 ms")
    screen.press("u")
    gateway.wait_status(lambda status: status["outputs"][0]["offsetMilliseconds"] == 0, "the nudges are undone")
    screen.wait("undone: offset of Drums back to 0 ms", "u undo: offset of Drums back to 2 ms")
    screen.press("\x1b[A\x1bOs\x00zZ\x1a\x13")  # arrows, Ctrl-Z and other keys without a meaning
    screen.press(" ")
    gateway.wait_status(lambda status: not status["playing"], "stopped")
    assert gateway.status()["link"]["startStopSync"]
    screen.press("q")
    assert screen.end() == 0
    assert screen.is_restored()


def test_on_80_by_24_characters_ten_outputs_and_three_warnings_are_readable(start, watch):
    # Not tmp_path, since warnings name paths, and that one is long.
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as lines:
        folder = pathlib.Path(folder)
        outputs = []
        for name in NAMES:
            path = folder / name.replace(" ", "-")
            if name not in ABSENT:
                lines.enter_context(RawLine(path))
            outputs += ["--output", f"raw:{path}", "--name", f"raw:{path}={name}"]
        token = folder / "token"
        token.write_text("short")
        token.chmod(0o600)
        gateway = start(
            *outputs, "--no-link", "--no-clock-port", "--realtime-priority", 0, "--play", "--http-token-file", token,
            token="short")
        gateway.wait_status(lambda status: len(status["warnings"]) == 3, "two outputs are away, and the token is short")
        screen = watch("watch", "--token-file", token)
        warnings = gateway.status()["warnings"]
        screen.wait_until(lambda text: is_readable(text, warnings), "all outputs and warnings on the screen")
        assert screen.text().endswith("q quit")


def is_readable(text, warnings):
    """Whether a screen shows mode, tempo and transport at its top, each output by name, and all words of the warnings."""
    rows = text.split("\n")
    outputs = [row for row in rows if row.startswith(tuple(f"  {name}  " for name in NAMES))]
    prose = " ".join(text.split())
    return (
        all(word in rows[0] for word in ("internal", "120.00 BPM", "playing")) and len(outputs) == len(NAMES)
        # Those that are away are on top, and the offset, which is the last column, is not cut.
        and [" absent " in row for row in outputs] == [True] * len(ABSENT) + [False] * (len(NAMES) - len(ABSENT))
        and all(row.endswith(" ms") for row in outputs)
        and all(warning["message"] in prose and warning["fix"] in prose for warning in warnings))


def test_whatever_ends_it_leaves_the_terminal_as_it_was(start, watch):
    start()
    for sign in SIGNALS:
        screen = watch("watch")
        screen.wait("120.00 BPM")
        assert not screen.is_restored()
        assert screen.end(sign) == 0
        assert screen.is_restored()


def test_where_there_is_no_terminal_it_prints_plain_lines_until_nobody_reads_them(start, watch, tmp_path):
    screen = watch("watch")  # does not start without a gateway
    assert screen.end() == 69
    assert screen.raw == ""
    start()
    process = subprocess.Popen(
        [TACTUS, "watch"], env=environment(tmp_path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        text=True)
    line = process.stdout.readline()
    assert "120.00 BPM" in line and "\x1b" not in line
    process.stdout.close()
    assert process.wait(timeout=60) == 0
