"""Misbehaving clients of the control server are refused, and affect neither other clients nor the clock."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families

from rig.gateway import PORT, request
from rig.wait import until

pytestmark = pytest.mark.real("network")

HEAD = f"Host: 127.0.0.1:{PORT}\r\n"


@pytest.fixture
def gateway(start, line):
    """A gateway that sends a clock. After the test, checks that nothing has changed and the clock continues."""
    running = start("--no-link", "--tempo", 240, "--output", f"raw:{line.path}")
    line.wait_ticks(24)
    yield running
    line.wait_ticks(24)
    status = running.status()
    assert status["tempo"] == pytest.approx(240, abs=0.001) and not status["playing"]
    assert not status["link"]["enabled"] and not status["link"]["startStopSync"]


def connect():
    return socket.create_connection(("127.0.0.1", PORT), timeout=60)


def answer_to(connection):
    """Everything received until the other side closes the connection."""
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            data += part
    return data


def test_bytes_that_are_no_request_and_requests_that_are_too_large(gateway):
    for sent in (
            b"\r\n\r\n", b"\x00" * 200, b"GET\r\n\r\n", b"GET /api/v1/status HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00",
            f"POST /api/v1/tempo HTTP/1.1\r\n{HEAD}Content-Length: 99999999999999999999\r\n\r\n".encode(),
            f"POST /api/v1/tempo HTTP/1.1\r\n{HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode()):
        with connect() as connection, contextlib.suppress(ConnectionError):
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            answer_to(connection)
    code, answer = gateway.request("POST", "/api/v1/tempo", b'{"bpm":130,"padding":"' + b"x" * 10_000_000 + b'"}')
    assert code == 413 and answer["error"]["code"] == "too-large"
    with connect() as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(f"GET /api/v1/status HTTP/1.1\r\n{HEAD}X: {'y' * 100_000}\r\n\r\n".encode())
        assert not answer_to(connection).startswith(b"HTTP/1.1 200")


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


@pytest.mark.real("process")
def test_health_is_lost_while_the_output_thread_is_kept_from_its_work_and_found_again(start, line):
    gateway = start("--no-link", "--tempo", 999, "--output", f"raw:{line.path}")
    line.wait_ticks(24)
    until(lambda: gateway.request("GET", "/healthz") == (200, {"status": "ok"}), "the machine lets it be on time")
    (thread,) = [
        int(task) for task in os.listdir(f"/proc/{gateway.process.pid}/task")
        if open(f"/proc/{gateway.process.pid}/task/{task}/comm").read().strip() == "tactus-output"]
    # Take away the thread's priority and pin it to one processor, which busy programs then use all the time.
    scheduling, processors = (os.sched_getscheduler(thread), os.sched_getparam(thread)), os.sched_getaffinity(thread)
    crowded = min(processors)
    os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
    os.sched_setaffinity(thread, {crowded})
    greedy = [
        # In their own process sessions, like the gateway, because the kernel divides the processor by session first.
        subprocess.Popen(
            [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{crowded}}})\nwhile True: pass"],
            start_new_session=True)
        for _ in range(4)]
    try:
        _, answer = until(
            lambda: (got := gateway.request("GET", "/healthz"))[0] == 503 and got, "health is lost", every=0.05)
        assert answer["error"]["code"] == "late" and re.search(r"late|ago", answer["error"]["message"])
    finally:
        for process in greedy:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.sched_setaffinity(thread, processors)
        os.sched_setscheduler(thread, *scheduling)
    until(lambda: gateway.request("GET", "/healthz")[0] == 200, "health is found again", every=0.2)
