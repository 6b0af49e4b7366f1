"""Runs that end abruptly, by whatever signal: no machine plays on without a clock, nor out of step with the next run."""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import pytest

from rig.gateway import PORT, Gateway, environment, request, run_tactus
from rig.peer import Peer
from rig.rawline import CLOCK, CONTINUE, POSITION, START, STOP
from rig.wait import until

SOON = 0.5
LIBC = ctypes.CDLL(None, use_errno=True)
BETWEEN = signal.SIGRTMIN + 7


@pytest.fixture
def state(tmp_path):
    return tmp_path / "kept"


@pytest.fixture(autouse=True)
def no_backtrace(monkeypatch):
    """Swift's own report of a crash comes after ours, and takes its time."""
    monkeypatch.setenv("SWIFT_BACKTRACE", "enable=no")


def kept(folder):
    return json.loads((folder / "state.json").read_text()).get("playing")


def play(start, line, *options, **more):
    """A gateway whose machine plays."""
    gateway = start("--output", f"raw:{line.path}", *options, passing=("SWIFT_BACKTRACE",), **more)
    line.wait_ticks(2, within=3)
    gateway.post("transport", {"playing": True})
    line.wait_for(START, within=3)
    return gateway


def ended_by(gateway):
    """The signal that ended a gateway; 0 after a proper exit."""
    return -gateway.process.wait(timeout=10)


def last(line):
    return line.arrivals[-1][0]


# By signals.

@pytest.mark.parametrize("number", [
    signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU,
    signal.SIGIO, signal.SIGPWR, BETWEEN])
def test_whatever_ends_a_program_ends_it_in_order(start, line, state, number):
    gateway = play(start, line, "--no-link", "--state", state)
    until(lambda: (state / "state.json").exists() and kept(state), 3, "what plays is kept")
    gateway.stop(number)
    until(lambda: last(line) == STOP, SOON, "Stop is the last byte")
    assert kept(state) == [], "nothing is left to be stopped"


@pytest.mark.parametrize("number", [
    signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGTRAP, signal.SIGBUS, signal.SIGFPE, signal.SIGSYS])
def test_a_crash_stops_the_machines_and_is_a_crash_all_the_same(start, line, number):
    gateway = play(start, line, "--no-link")
    gateway.process.send_signal(number)
    assert ended_by(gateway) == number
    until(lambda: last(line) == STOP, SOON, "Stop is the last byte")


@pytest.mark.parametrize("thread", ["tactus-gateway", "tactus-link", "tactus-state"])
def test_a_crash_of_any_other_thread_than_the_clocks_stops_the_machines(start, line, thread):
    gateway = play(start, line, "--no-link")
    (task,) = [
        int(task.name) for task in pathlib.Path(f"/proc/{gateway.process.pid}/task").iterdir()
        if (task / "comm").read_text().strip() == thread]
    assert LIBC.tgkill(gateway.process.pid, task, signal.SIGSEGV) == 0
    assert ended_by(gateway) == signal.SIGSEGV
    until(lambda: last(line) == STOP, SOON, "Stop is the last byte")


def test_sighup_finds_a_run_ready_as_soon_as_it_reads_its_configuration(tmp_path):
    """Before that the program is being loaded, and nobody could answer for it."""
    config = tmp_path / "config.yaml"
    config.write_text("version: 1\n")
    news = LIBC.inotify_init1(os.O_CLOEXEC)
    assert LIBC.inotify_add_watch(news, bytes(config), 0x20) > 0  # IN_OPEN
    gateway = Gateway("--no-link", "--config", config, folder=tmp_path / "gateway")
    try:
        os.read(news, 4096)
        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_ready()
        until(lambda: "read again" in gateway.stderr, 3, "the configuration is read again")
        gateway.stop()
    finally:
        os.close(news)
        gateway.kill()


# By a terminal.

@contextlib.contextmanager
def on_a_terminal(tmp_path, line, *before):
    """A run that plays, started by hand; gives its process and the terminal's other end."""
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
        line.wait_for(START, within=5)
        yield process, close
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def test_a_terminal_that_closes_ends_its_run_in_order(tmp_path, line):
    with on_a_terminal(tmp_path, line) as (process, close):
        close()
        assert process.wait(timeout=5) == 0
        until(lambda: last(line) == STOP, SOON, "Stop is the last byte")


def test_under_nohup_a_run_outlives_its_terminal(tmp_path, line):
    with on_a_terminal(tmp_path, line, "nohup") as (process, close):
        close()
        line.wait_ticks(48, within=5)
        assert process.poll() is None and line.times(STOP) == []
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=5) == 0
        until(lambda: last(line) == STOP, SOON, "Stop is the last byte")


def test_without_a_terminal_sighup_reads_the_configuration_again(start, line):
    gateway = play(start, line, "--no-link")
    gateway.process.send_signal(signal.SIGHUP)
    until(lambda: "read again" in gateway.stderr, 3, "the configuration is read again")
    assert gateway.process.poll() is None and line.times(STOP) == []


# By SIGKILL, as when the plug is pulled.

def killed(start, line, state, *options):
    """A run that is killed while its machine plays; returns when the next one was begun."""
    gateway = play(start, line, "--state", state, *options, name="killed")
    until(lambda: (state / "state.json").exists() and kept(state), 3, "what plays is kept")
    gateway.kill()
    until(lambda: gateway.is_over, 3, "it has ended")
    time.sleep(0.1)  # the reader has taken the last byte
    return len(line.arrivals)


def test_the_next_run_stops_what_a_killed_one_has_left_playing(start, line, state):
    before = killed(start, line, state, "--no-link")
    gateway = start("--no-link", "--output", f"raw:{line.path}", "--state", state, name="next")
    line.wait_for(STOP, within=2)
    line.wait_ticks(24, within=2)
    after = [value for value, _ in line.arrivals[before:]]
    assert after[0] == STOP and set(after[1:]) == {CLOCK}
    assert gateway.status()["playing"] is False
    until(lambda: kept(state) == [], 3, "nothing plays any more, and that is kept")
    gateway.stop()
    # It was left in order, so that the third run has nothing to say.
    before = len(line.arrivals)
    start("--no-link", "--output", f"raw:{line.path}", "--state", state, name="next")
    line.wait_ticks(24, within=2)
    assert {value for value, _ in line.arrivals[before:]} == {CLOCK}


def test_where_no_session_is_found_the_stop_comes_all_the_same(start, line, state):
    before = killed(start, line, state)
    start("--output", f"raw:{line.path}", "--state", state, name="next")
    line.wait_for(STOP, within=3)
    line.wait_ticks(24, within=2)
    after = [value for value, _ in line.arrivals[before:]]
    assert after[0] == STOP and set(after[1:]) == {CLOCK}


def test_the_next_run_enters_a_session_that_plays_on_at_a_bar(start, line, state):
    with Peer(120, start_stop_sync=True) as peer:
        gateway = start(
            "--start-stop-sync", "--output", f"raw:{line.path}", "--state", state, name="killed")
        gateway.wait_status(lambda status: status["link"]["peers"] == 1, 5, "the peer is seen")
        top = peer.play()
        gateway.wait_status(lambda status: status["transport"] == "playing", 5, "the song plays")
        until(lambda: (state / "state.json").exists() and kept(state), 3, "what plays is kept")
        gateway.kill()
        time.sleep(0.5)
        before = len(line.arrivals)
        gateway = start("--start-stop-sync", "--output", f"raw:{line.path}", "--state", state, name="next")
        moved = line.wait_for(CONTINUE, within=5)
        line.wait_ticks(24, within=3, since=moved)
        assert peer.playing and peer.tempo == pytest.approx(120, abs=0.01), "the session is left alone"
        assert gateway.status()["playing"] is True
        after = [value for value, _ in line.arrivals[before:]]
        words = [value for value in after if value >= 0x80 and value != CLOCK]
        assert after[0] == STOP and words == [STOP, POSITION, CONTINUE]
        place = after.index(POSITION)
        sixteenths = after[place + 1] | after[place + 2] << 7
        assert sixteenths > 0 and sixteenths % 16 == 0, "it enters at a bar"
        entered = line.times(CLOCK, moved)[0]
        bar = top + sixteenths * 125_000
        assert abs(entered - bar) < 30_000, f"{entered - bar:.0f} us from the session's bar"


# A second one, and what a run needs.

def test_a_second_run_says_that_there_is_one_and_which(start):
    gateway = start("--no-link")
    second = run_tactus("run")
    assert second.returncode == 71
    assert second.stderr == (
        f"tactus: Tactus is already running (pid {gateway.process.pid}) at 127.0.0.1:{PORT}; see 'tactus status'\n")


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"])
def test_another_program_on_the_port_is_not_taken_for_tactus(answer):
    with socket.create_server(("127.0.0.1", PORT)) as server:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(4096)
                        connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        second = run_tactus("run")
        assert second.returncode == 71
        assert f"127.0.0.1:{PORT} is taken by another program" in second.stderr and "pid" not in second.stderr
        server.shutdown(socket.SHUT_RDWR)  # the thread that accepts keeps it open otherwise


def test_closed_standard_streams_become_no_sockets(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *Gateway.COMMAND, "run", "--no-link", "--output", "raw:/none"],
        env=environment(folder))
    try:
        until(lambda: is_served(process), 5, "it answers")
        assert [os.readlink(f"/proc/{process.pid}/fd/{stream}") for stream in range(3)] == ["/dev/null"] * 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=5) == 0
    finally:
        process.kill()
        process.wait()


def is_served(process):
    assert process.poll() is None, f"it ended with {process.returncode}"
    with contextlib.suppress(OSError):
        return request("GET", "/api/v1/status")[0] == 200


@contextlib.contextmanager
def limited(limit, *options, folder):
    """A run that may have so many descriptors; gives its process and where it says what is wrong."""
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
    assert line.startswith("tactus: this run needs up to ") and "ulimit -n" in line, line
    return int(line.split()[6])


def test_with_any_limit_of_descriptors_a_run_works_wholly_or_says_what_it_needs(tmp_path, line, figure):
    wants = set()
    for limit in range(5, 65):
        before = len(line.arrivals)
        run = limited(f"{limit}:{limit}", "--no-http", "--output", f"raw:{line.path}", folder=tmp_path / "limited")
        with run as (process, told):
            until(lambda: process.poll() is not None or len(line.arrivals) > before and "Link enabled" in told(), 5,
                  f"the clock runs, or there is an error, with {limit} descriptors")
            process.terminate()
            code = process.wait(timeout=5)
            assert code in (0, 71), f"{limit}: {code}, {told()}"
            if code == 0:
                assert wants and limit >= max(wants)
                assert "cannot" not in told(), told()
            else:
                wants.add(needed(told()))
    figure("descriptors that a run without HTTP asks for", wants)
    (enough,) = wants
    assert enough < 64


def test_the_number_that_is_told_is_enough_for_every_connection(tmp_path, figure):
    folder = tmp_path / "limited"
    with limited("64:64", folder=folder) as (process, told):
        assert process.wait(timeout=5) == 71
        enough = needed(told())
    figure("descriptors that a run asks for", enough)
    with limited(f"{enough - 1}:{enough - 1}", folder=folder) as (process, told):
        assert process.wait(timeout=5) == 71 and needed(told()) == enough
    # The lower limit is raised as far as it may be.
    with limited(f"20:{enough}", folder=folder) as (process, told), contextlib.ExitStack() as stack:
        until(lambda: is_served(process), 5, "it answers")
        for _ in range(200):
            stack.enter_context(socket.create_connection(("127.0.0.1", PORT)))
        assert is_served(process)
        process.terminate()
        assert process.wait(timeout=5) == 0, told()
