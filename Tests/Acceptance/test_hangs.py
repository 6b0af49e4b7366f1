"""What hangs beside a gateway, such as a terminal that nobody reads or a disk, stops neither the clock nor the Stop."""

import contextlib
import os
import select
import signal
import subprocess

import pytest

from rig.gateway import PORT, Gateway, environment, request, run_tactus
from rig.labs import LIBRARY, compiled
from rig.rawline import STOP
from rig.wait import PATIENCE, until

pytestmark = pytest.mark.real("process")


def last(line):
    return line.arrivals[-1][0]


@pytest.fixture
def hang(tmp_path, monkeypatch):
    """A file; while it exists, fsync of any file and stat of any path with `hung` in it do not return."""
    path = tmp_path / "hanging"
    monkeypatch.setenv("LD_PRELOAD", str(compiled("hang.c", tmp_path, *LIBRARY)))
    monkeypatch.setenv("HANG", str(path))
    return path


def wait_hanging(hang, call):
    """Waits until a thread waits in a call: for the disk in fsync, or the gateway's own in stat."""
    until(hang.with_name(f"hanging.{call}").exists, f"a thread waits in {call}")


def play(start, line, *options):
    """Starts a gateway that may be made to hang, and waits until its machine plays."""
    gateway = start("--no-link", "--output", f"raw:{line.path}", *options, passing=("LD_PRELOAD", "HANG"))
    since = line.wait_ticks(2)[0]
    gateway.post("transport", {"playing": True})
    line.wait_playing(since)
    return gateway


# A terminal that nobody reads.

def unread_terminal():
    """A terminal with little room left: the end to read, and the one for a program."""
    outer, inner = os.openpty()
    room = os.open(os.ttyname(inner), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(room, b"-" * 100)
    os.close(room)
    os.read(outer, 2000)
    return outer, inner


def read_until(descriptor, word):
    """Reads until a word comes."""
    told = b""
    while word not in told:
        assert select.select([descriptor], [], [], PATIENCE)[0], f"no {word!r} came after {told[-200:]!r}"
        told += os.read(descriptor, 65536)


def say_much(folder, number):
    """Has the next reload log several thousand bytes: warnings that differ from those of the reload before."""
    for path in folder.iterdir():
        path.unlink()
    for place in range(16):
        (folder / f"{number % 2}-{place}-{'x' * 200}.yml").touch()


def test_where_nobody_reads_what_it_writes_all_goes_on_and_what_is_lost_is_told(tmp_path, line, hang):
    """Everything that it writes to blocks at once, also the disk of its state."""
    outer, inner = unread_terminal()
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    command = [*Gateway.COMMAND, "run", "--no-link", "--output", f"raw:{line.path}", "--profiles", str(profiles)]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=inner, stderr=inner, start_new_session=True,
        env={**environment(tmp_path, ("LD_PRELOAD", "HANG")), "TERM": "xterm"})
    os.close(inner)

    def post(path, body=None):
        code, answer = request("POST", f"/api/v1/{path}", body or {})
        assert 200 <= code < 300, answer

    try:
        line.wait_ticks(2)
        hang.touch()
        post("start-stop-sync", {"enabled": True})
        wait_hanging(hang, "fsync")
        for number in range(50):
            say_much(profiles, number)
            post("reload")
        post("tempo", {"bpm": 240})
        post("transport", {"playing": True})
        line.wait_playing()
        line.wait_ticks(25)
        post("transport", {"playing": False})
        until(lambda: not line.plays, "the machine is stopped")
        hang.unlink()
        # Once somebody reads again, all comes that has waited.
        read_until(outer, b"log lines lost")
        post("reload")
        read_until(outer, b"reloaded")
        # Nobody reads any more.
        hang.touch()
        for number in range(50):
            say_much(profiles, number)
            post("reload")
        post("transport", {"playing": True})
        line.wait_ticks(24)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        until(lambda: last(line) == STOP, "Stop is the last byte")
    finally:
        process.kill()
        process.wait()
        os.close(outer)


# Ends while something hangs.

def hung(start, line, hang):
    """A gateway whose own thread waits for ever, while a machine plays."""
    gateway = play(start, line, "--output", f"raw:{hang.parent}/hung")
    hang.touch()
    wait_hanging(hang, "stat")
    return gateway


def test_one_sigterm_stops_the_machines_and_ends_a_gateway_that_hangs(start, line, hang):
    gateway = hung(start, line, hang)
    gateway.process.send_signal(signal.SIGTERM)
    assert gateway.process.wait(timeout=60) == 128 + signal.SIGTERM
    until(lambda: last(line) == STOP, "Stop is the last byte")


# Two runs on one line.

@pytest.mark.real("line")
def test_a_second_run_on_the_same_line_is_refused_by_name(start, line, tmp_path):
    first = play(start, line)
    link = tmp_path / "link"
    link.symlink_to(line.path)
    for path in (line.path, link):
        second = run_tactus("run", "--http", f"127.0.0.1:{PORT + 2}", "--output", f"raw:{path}")
        assert second.returncode == 71
        assert f"(pid {first.process.pid}) sends to raw:{path}" in second.stderr
    ticks = line.wait_ticks(25)
    assert 60e6 / (ticks[24] - ticks[0]) < 180, "the line has one clock"
