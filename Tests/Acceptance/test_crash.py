"""Gateways that end abruptly: no machine plays on without a clock, or out of step with the next gateway."""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading

import pytest

from rig.gateway import PORT, Gateway, environment, is_served, run_tactus
from rig.rawline import CLOCK, STOP
from rig.wait import until

pytestmark = pytest.mark.real("process")

LIBC = ctypes.CDLL(None, use_errno=True)
BETWEEN = signal.SIGRTMIN + 7


@pytest.fixture
def state(tmp_path):
    return tmp_path / "kept"


@pytest.fixture(autouse=True)
def no_backtrace(monkeypatch):
    """Turns off Swift's own crash report, which comes after ours and is slow."""
    monkeypatch.setenv("SWIFT_BACKTRACE", "enable=no")


def kept(folder):
    return json.loads((folder / "state.json").read_text()).get("playing")


def play(start, line, *options, **more):
    """Starts a gateway and waits until its machine plays."""
    gateway = start("--output", f"raw:{line.path}", *options, passing=("SWIFT_BACKTRACE",), **more)
    since = line.wait_ticks(2)[0]
    gateway.post("transport", {"playing": True})
    line.wait_playing(since)
    return gateway


def ended_by(gateway):
    """Waits until a gateway ends; returns the signal that ended it, or 0 after a normal exit."""
    return -gateway.process.wait(timeout=60)


def last(line):
    return line.arrivals[-1][0]


# Signals.

def test_whatever_ends_a_program_ends_it_in_order(start, line, state):
    for number in (
            signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM,
            signal.SIGPROF, signal.SIGXCPU, signal.SIGIO, signal.SIGPWR, BETWEEN):
        gateway = play(start, line, "--no-link", "--state", state)
        until(lambda: (state / "state.json").exists() and kept(state), "what plays is kept")
        gateway.stop(number)
        until(lambda: last(line) == STOP, f"{number}: Stop is the last byte")
        assert kept(state) == [], "nothing is left to be stopped"


def test_a_crash_stops_the_machines_and_is_a_crash_all_the_same(start, line):
    for number in (
            signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGTRAP, signal.SIGBUS, signal.SIGFPE, signal.SIGSYS):
        gateway = play(start, line, "--no-link")
        gateway.process.send_signal(number)
        assert ended_by(gateway) == number
        until(lambda: last(line) == STOP, f"{number}: Stop is the last byte")
    # Also if it is another thread than the clock's.
    for thread in ("tactus-gateway", "tactus-link", "tactus-state"):
        gateway = play(start, line, "--no-link")
        tasks = pathlib.Path(f"/proc/{gateway.process.pid}/task")
        task = until(lambda: next(  # a thread names itself once it runs
            (int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().strip() == thread), None), thread)
        assert LIBC.tgkill(gateway.process.pid, task, signal.SIGSEGV) == 0
        assert ended_by(gateway) == signal.SIGSEGV
        until(lambda: last(line) == STOP, f"{thread}: Stop is the last byte")


def test_a_crash_signal_ends_it_also_where_swift_reports_crashes(start, line, monkeypatch):
    reporter = pathlib.Path(shutil.which("swift")).resolve().parents[1] / "libexec/swift/linux/swift-backtrace"
    assert reporter.exists()
    monkeypatch.setenv("SWIFT_BACKTRACE", f"enable=yes,symbolicate=off,swift-backtrace={reporter}")
    for number in (signal.SIGSEGV, signal.SIGABRT):
        gateway = play(start, line, "--no-link")
        gateway.process.send_signal(number)
        assert ended_by(gateway) == number
        until(lambda: last(line) == STOP, "Stop is the last byte")


def test_sighup_finds_a_run_ready_as_soon_as_it_reads_its_configuration(tmp_path):
    """Before that, while the program is being loaded, SIGHUP still ends it."""
    config = tmp_path / "config.yaml"
    config.write_text("version: 1\n")
    watch = LIBC.inotify_init1(os.O_CLOEXEC)
    assert LIBC.inotify_add_watch(watch, bytes(config), 0x20) > 0  # IN_OPEN
    gateway = Gateway("--no-link", "--config", config, folder=tmp_path / "gateway")
    try:
        os.read(watch, 4096)
        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_ready()
        until(lambda: "reloaded" in gateway.stderr, "the configuration is read again")
        gateway.stop()
    finally:
        os.close(watch)
        gateway.kill()


# Closing terminals.

@contextlib.contextmanager
def on_a_terminal(tmp_path, line, *before):
    """Starts a gateway that plays on a terminal; gives its process and the terminal's other end."""
    outer, inner = os.openpty()
    folder = tmp_path / "terminal"
    folder.mkdir()
    command = [*before, *Gateway.COMMAND, "run", "--no-link", "--play", "--output", f"raw:{line.path}"]
    process = subprocess.Popen(
        ["setsid", "--ctty", *command], cwd=tmp_path, stdin=inner, stdout=inner, stderr=inner,
        env={**environment(folder), "TERM": "xterm"})
    os.close(inner)
    ending = threading.Event()

    def read():
        with contextlib.suppress(OSError):
            while not ending.is_set():
                os.read(outer, 4096)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()

    def close():
        ending.set()
        reader.join()
        os.close(outer)

    try:
        line.wait_playing()
        yield process, close
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.mark.real("terminal")
def test_a_terminal_that_closes_ends_its_run_in_order(tmp_path, line):
    with on_a_terminal(tmp_path, line) as (process, close):
        close()
        assert process.wait(timeout=60) == 0
        until(lambda: last(line) == STOP, "Stop is the last byte")


@pytest.mark.real("terminal")
def test_under_nohup_a_run_outlives_its_terminal(tmp_path, line):
    with on_a_terminal(tmp_path, line, "nohup") as (process, close):
        close()
        line.wait_ticks(48)
        assert process.poll() is None
        until(lambda: line.plays, "the machine plays on")
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        until(lambda: last(line) == STOP, "Stop is the last byte")


# SIGKILL, which is like a power cut for the gateway.

def killed(start, line, state, *options):
    """Starts a gateway and kills it while its machine plays; returns the time."""
    gateway = play(start, line, "--state", state, *options, name="killed")
    until(lambda: (state / "state.json").exists() and kept(state), "what plays is kept")
    gateway.kill()
    line.wait_empty()
    return len(line.arrivals)


def test_the_next_run_stops_what_a_killed_one_has_left_playing(start, line, state):
    # With Link enabled and no session found, the Stop comes as well.
    before = killed(start, line, state)
    gateway = start("--output", f"raw:{line.path}", "--state", state, name="next")
    line.wait_for(STOP)
    line.wait_ticks(24)
    after = [value for value, _ in line.arrivals[before:]]
    assert after[0] == STOP and set(after[1:]) == {CLOCK}
    assert gateway.status()["playing"] is False
    until(lambda: kept(state) == [], "nothing plays any more, and that is kept")
    gateway.stop()
    # The second run ended normally, so the third one has nothing to stop.
    before = len(line.arrivals)
    start("--no-link", "--output", f"raw:{line.path}", "--state", state, name="next")
    line.wait_ticks(24)
    assert {value for value, _ in line.arrivals[before:]} == {CLOCK}


# A second gateway, and what a gateway needs from the system.

def test_a_second_run_says_that_there_is_one_and_which_and_the_first_does_not_notice(start):
    gateway = start("--no-link")
    second = run_tactus("run")
    assert second.returncode == 71
    assert second.stderr == (
        f"tactus: Tactus is already running (pid {gateway.process.pid}) at 127.0.0.1:{PORT}; see 'tactus status'\n")
    assert gateway.status()["link"]["peers"] == 0


def test_closed_standard_streams_become_no_sockets(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *Gateway.COMMAND, "run", "--no-link", "--output", "raw:/none"],
        env=environment(folder))
    try:
        until(lambda: is_served(process), "it answers")
        assert [os.readlink(f"/proc/{process.pid}/fd/{stream}") for stream in range(3)] == ["/dev/null"] * 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def limited(limit, *options, folder):
    """Starts a gateway with a limit of descriptors; gives its process and a function that returns its stderr."""
    folder.mkdir(exist_ok=True)
    told = folder / "stderr"
    with told.open("wb") as stderr:
        process = subprocess.Popen(
            ["prlimit", f"--nofile={limit}", "--", *Gateway.COMMAND, "run", *options], env=environment(folder),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr)
    try:
        yield process, told.read_text
    finally:
        process.kill()
        process.wait()


def needed(text):
    (line,) = text.splitlines()
    assert line.startswith("tactus: this run may need ") and "ulimit -n" in line, line
    return int(re.search(r"may need (\d+) open files", line)[1])


def test_the_number_that_is_told_is_enough_for_every_connection(tmp_path):
    folder = tmp_path / "limited"
    with limited("64:64", folder=folder) as (process, told):
        assert process.wait(timeout=60) == 71
        enough = needed(told())
    with limited(f"{enough - 1}:{enough - 1}", folder=folder) as (process, told):
        assert process.wait(timeout=60) == 71 and needed(told()) == enough
    # The gateway raises the soft limit to the hard limit.
    with limited(f"20:{enough}", folder=folder) as (process, told), contextlib.ExitStack() as stack:
        until(lambda: is_served(process), "it answers")
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", PORT)))
        assert is_served(process)
        process.terminate()
        assert process.wait(timeout=60) == 0, told()
