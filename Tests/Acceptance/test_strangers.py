"""Misbehaving clients of the control server are refused, and affect neither other clients nor the clock."""

import contextlib
import os
import re
import resource
import signal
import socket
import subprocess
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families

from rig.events import EventStream
from rig.gateway import PORT, request
from rig.pipelines import Pipelines
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


def test_a_body_of_ten_megabytes_and_a_header_of_a_hundred_kilobytes(gateway):
    code, answer = gateway.request("POST", "/api/v1/tempo", b'{"bpm":130,"padding":"' + b"x" * 10_000_000 + b'"}')
    assert code == 413 and answer["error"]["code"] == "too-large"
    with connect() as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(f"GET /api/v1/status HTTP/1.1\r\n{HEAD}X: {'y' * 100_000}\r\n\r\n".encode())
        assert not answer_to(connection).startswith(b"HTTP/1.1 200")


def test_a_thousand_half_open_connections_keep_nobody_out(gateway, figure):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    try:
        with contextlib.ExitStack() as stack:
            for number in range(1000):
                connection = stack.enter_context(connect())
                with contextlib.suppress(ConnectionError):
                    connection.sendall((b"", b"GET /api", f"POST /api/v1/tempo HTTP/1.1\r\n{HEAD}Content-Length: 9\r\n\r\n{{".encode())[number % 3])
                if number % 100 == 99:
                    assert gateway.status()["mode"] == "internal"
            descriptors = len(os.listdir(f"/proc/{gateway.process.pid}/fd"))
            figure("descriptors of the gateway", descriptors, "200")
            assert descriptors < 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connections_that_pipeline_and_read_nothing_are_bounded_and_closed_and_prevent_no_exit(start, figure):
    """They are closed ten seconds after their answers fit into no buffer any more.

    By how much they delay the exit at most, ExchangeDeadlineTests show in virtual time.
    """
    gateway = start("--no-link")

    def memory(kind):
        return int(re.search(rf"{kind}:\s+(\d+)", open(f"/proc/{gateway.process.pid}/status").read())[1]) / 1000

    with contextlib.ExitStack() as stack:
        flood = Pipelines(stack)
        before = memory("VmRSS")
        flood.open(120)
        until(lambda: flood.send() == 0, "every connection is closed")
        grown = memory("VmHWM") - before
        figure("megabytes more", f"{grown:.1f}", "24")
        assert grown < 24
        flood.open(120)
        for _ in range(20):
            flood.send()
        assert gateway.status()["mode"] == "internal"
        figure("stopped after", f"{gateway.stop(signal.SIGTERM):.2f} s")


def test_events_tell_the_status_and_what_happens_also_to_a_reader_that_pauses(gateway):
    with EventStream() as stream:
        first = stream.next()
        assert first.name == "status" and first.status["tempo"] == pytest.approx(240, abs=0.001)
        gateway.post("quantum", {"beats": 3})
        change = stream.wait(lambda event: event.name == "change")
        assert change.status["quantum"] == 3
        gateway.post("quantum", {"beats": 4})
        assert stream.wait(lambda event: event.name == "change").status["quantum"] == 4
        # Again and again, also without a change; on a busy machine there may be one, such as a warning.
        for _ in range(6):
            stream.wait(lambda event: event.name == "status")
        # If every change were buffered for the reader, this would be more than any buffer holds.
        for number in range(400):
            gateway.post("quantum", {"beats": 5 + number % 50})
        gateway.post("quantum", {"beats": 4})
        stream.wait(lambda event: event.status["quantum"] == 4)


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
        code, answer = until(
            lambda: (got := gateway.request("GET", "/healthz"))[0] == 503 and got, "health is lost", every=0.05)
        assert answer["error"]["code"] == "late" and re.search(r"late|ago", answer["error"]["message"])
    finally:
        for process in greedy:
            process.send_signal(signal.SIGKILL)
            process.wait()
        os.sched_setaffinity(thread, processors)
        os.sched_setscheduler(thread, *scheduling)
    until(lambda: gateway.request("GET", "/healthz")[0] == 200, "health is found again", every=0.2)
