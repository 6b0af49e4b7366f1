"""Whoever misbehaves at the control server is refused, keeps nobody else out, and costs the clock nothing."""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from rig.events import EventStream
from rig.figures import quantile, steady
from rig.gateway import PORT, Gateway, request
from rig.wait import until

INTERVAL = 60e6 / 240 / 24  # of the ticks of `gateway`, in microseconds
HEAD = f"Host: 127.0.0.1:{PORT}\r\n"


@pytest.fixture
def gateway(start, line):
    """One at 240 BPM whose ticks come over a FIFO; afterwards nothing has changed and no tick is missing."""
    running = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    before = longest_stall(running.status()), line.times(0xF8)[-1]
    yield running
    line.wait_ticks(24, within=3)
    status = running.status()
    assert status["tempo"] == pytest.approx(240, abs=0.001) and not status["playing"]
    assert not status["link"]["enabled"] and not status["link"]["startStopSync"]
    sent = max(output["ticks"] for output in status["outputs"])
    until(lambda: len(line.times(0xF8)) >= sent, 1, "every tick that was sent has arrived")
    no_tick_lost(line, before, status)


def longest_stall(status):
    """For how many microseconds the machine kept the output thread from running at the most."""
    return status["realtime"]["wakeUpLatencyMicroseconds"]["max"]


def no_tick_lost(line, before, status):
    """Fails if one is missing at 240 BPM that the machine gave the gateway the time to send.

    `before` is the longest stall until some time, and a tick of that time: what came earlier is not looked at. A stall
    shorter than that one excuses nothing.
    """
    (earlier, since), stall = before, longest_stall(status)
    steady(line.times(0xF8, since), INTERVAL, stall=stall if stall > earlier else 0)


def connect():
    return socket.create_connection(("127.0.0.1", PORT), timeout=5)


def answer_to(connection):
    """All that comes until the other side ends it."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            data += part
    return data


def test_a_body_of_ten_megabytes(gateway):
    began = time.monotonic()
    code, answer = gateway.request("POST", "/api/v1/tempo", b'{"bpm":130,"padding":"' + b"x" * 10_000_000 + b'"}')
    assert code == 413 and answer["error"]["code"] == "too-large"
    assert time.monotonic() - began < 5


def test_a_header_of_a_hundred_kilobytes(gateway):
    with connect() as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(f"GET /api/v1/status HTTP/1.1\r\n{HEAD}X: {'y' * 100_000}\r\n\r\n".encode())
        assert not answer_to(connection).startswith(b"HTTP/1.1 200")


def test_a_thousand_half_open_connections_keep_nobody_out(gateway, figure):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    asked = []
    try:
        with contextlib.ExitStack() as stack:
            for number in range(1000):
                connection = stack.enter_context(connect())
                with contextlib.suppress(ConnectionError):
                    connection.sendall((b"", b"GET /api", f"POST /api/v1/tempo HTTP/1.1\r\n{HEAD}Content-Length: 9\r\n\r\n{{".encode())[number % 3])
                if number % 100 == 99:
                    began = time.monotonic()
                    assert gateway.status()["mode"] == "internal"
                    asked.append(time.monotonic() - began)
            descriptors = len(os.listdir(f"/proc/{gateway.process.pid}/fd"))
            figure("slowest status among 1,000 half-open connections", f"{max(asked) * 1000:.0f} ms", "1000 ms")
            figure("descriptors of the gateway", descriptors, "200")
            assert max(asked) < 1 and descriptors < 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_request_that_trickles_is_cut_off(gateway, figure):
    with connect() as connection:
        began = time.monotonic()
        connection.sendall(f"POST /api/v1/tempo HTTP/1.1\r\n{HEAD}Content-Length: 12\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):
            for byte in b'{"bpm": 130' * 9:
                connection.sendall(bytes([byte]))
                time.sleep(0.5)
                if time.monotonic() - began > 5.5:  # all but the last byte
                    break
        connection.settimeout(10)
        assert answer_to(connection) == b""
        figure("cut off after", f"{time.monotonic() - began:.1f} s", "10 s")
        assert 9 < time.monotonic() - began < 12


def test_events_tell_the_status_and_what_happens(gateway):
    with EventStream() as stream:
        first = stream.next(within=1)
        assert first.name == "status" and first.status["tempo"] == pytest.approx(240, abs=0.001)
        gateway.post("quantum", {"beats": 3})
        change = stream.wait(lambda event: event.name == "change", within=0.3)
        assert change.status["quantum"] == 3
        gateway.post("quantum", {"beats": 4})
        assert stream.wait(lambda event: event.name == "change", within=0.3).status["quantum"] == 4
        began = time.monotonic()
        events = [stream.next(within=1) for _ in range(6)]
        assert all(event.name == "status" for event in events)
        assert 4 <= len(events) / (time.monotonic() - began) * 1.1 and time.monotonic() - began > 0.9


def test_a_reader_that_pauses_gets_the_newest(gateway):
    with EventStream() as stream:
        stream.next(within=1)
        # More than any buffer on the way may hold, were it kept.
        for number in range(400):
            gateway.post("quantum", {"beats": 5 + number % 50})
        gateway.post("quantum", {"beats": 4})
        began = time.monotonic()
        stream.wait(lambda event: event.status["quantum"] == 4, within=1)
        assert time.monotonic() - began < 1


def test_the_sixty_fifth_stream_is_refused_and_places_come_back(gateway):
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(EventStream()) for _ in range(64)]
        for stream in streams:
            stream.next(within=2)
        code, answer = gateway.request("GET", "/api/v1/events")
        assert code == 503 and answer["error"]["code"] == "too-many-streams"
        assert gateway.status()["mode"] == "internal"
    with contextlib.ExitStack() as stack:
        def comes_back():
            stream = EventStream()
            if stream.code == 200:
                return stack.enter_context(stream)
            stream.close()
            return None

        until(comes_back, 2, "a place is free again").next(within=1)


def test_a_stream_ends_with_the_server_and_delays_no_exit(start):
    gateway = start("--no-link")
    with EventStream() as stream:
        stream.next(within=1)
        gateway.stop()
        stream.wait_end(within=1)


def test_metrics_are_what_prometheus_reads(gateway):
    code, text = request("GET", "/metrics")
    assert code == 200
    families = {family.name: family for family in text_string_to_metric_families(text.decode())}
    assert families["tactus_tempo_beats_per_minute"].samples[0].value == pytest.approx(240, abs=0.001)
    ticks = {sample.labels["output"]: sample.value for sample in families["tactus_ticks"].samples}
    assert max(ticks.values()) >= 24 and families["tactus_ticks"].type == "counter"
    lateness = families["tactus_tick_lateness_seconds"]
    assert lateness.type == "histogram"
    counts = {sample.labels["output"]: sample.value for sample in lateness.samples if sample.name.endswith("_count")}
    assert counts and all(counts[output] >= ticks[output] for output in counts)
    assert {"tactus_link_peers", "tactus_refused_ticks", "tactus_late_ticks", "tactus_output_connected",
            "tactus_dispatch_info"} <= set(families)


def test_health_is_lost_while_the_output_thread_is_kept_from_its_work_and_found_again(start, line):
    gateway = start("--no-link", "--tempo", 999, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    assert gateway.request("GET", "/healthz") == (200, {"status": "ok"})
    (thread,) = [
        int(task) for task in os.listdir(f"/proc/{gateway.process.pid}/task")
        if open(f"/proc/{gateway.process.pid}/task/{task}/comm").read().strip() == "tactus-output"]
    # Without its priority, on a processor that others want all the time.
    scheduling, processors = (os.sched_getscheduler(thread), os.sched_getparam(thread)), os.sched_getaffinity(thread)
    crowded = min(processors)
    os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
    os.sched_setaffinity(thread, {crowded})
    greedy = [
        # In sessions of their own, as the gateway is: the kernel shares a processor out by sessions first.
        subprocess.Popen(
            [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{crowded}}})\nwhile True: pass"],
            start_new_session=True)
        for _ in range(4)]
    try:
        code, answer = until(
            lambda: (got := gateway.request("GET", "/healthz"))[0] == 503 and got, 8, "health is lost", every=0.05)
        assert answer["error"]["code"] == "late" and re.search(r"late|ago", answer["error"]["message"])
    finally:
        for process in greedy:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.sched_setaffinity(thread, processors)
        os.sched_setscheduler(thread, *scheduling)
    until(lambda: gateway.request("GET", "/healthz")[0] == 200, 15, "health is found again", every=0.2)


def memory(process):
    """What a process keeps in RAM, in bytes."""
    with open(f"/proc/{process.pid}/statm", encoding="utf-8") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_streams_that_nobody_reads_and_many_requests_lose_no_tick_and_cost_no_memory(start, line, figure):
    """In real time, on whatever machine this is; the lab compares exactly."""
    gateway = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    before = longest_stall(gateway.status()), line.times(0xF8)[-1]
    ending = threading.Event()

    def ask():
        while not ending.is_set():
            gateway.status()
            ending.wait(0.02)

    askers = [threading.Thread(target=ask) for _ in range(4)]
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(EventStream()) for _ in range(50)]
        for asker in askers:
            asker.start()
        line.wait_ticks(192, within=6)
        used = memory(gateway.process)
        line.wait_ticks(288, within=6)
        used_later = memory(gateway.process)
        ending.set()
        for asker in askers:
            asker.join()
        assert all(stream.next(within=2).status for stream in streams)
    status = gateway.status()
    no_tick_lost(line, before, status)
    lateness = [output["latenessMicroseconds"] for output in status["outputs"] if output["connected"]]
    figure("lateness under load, 99 %", f"{quantile([late['p99'] for late in lateness], 1):.0f} us")
    figure("memory under load", f"{used / 1e6:.1f}, then {used_later / 1e6:.1f} MB", "2 MB more")
    assert used_later < used + 2_000_000
