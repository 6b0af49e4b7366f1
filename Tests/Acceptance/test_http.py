"""The control server's manners towards strangers: refusals are JSON with a fitting status, and change nothing."""

import json
import socket
import threading
import time

import pytest

from rig.gateway import PORT, Gateway, complaint, request, run_tactus
from rig.peer import Peer
from rig.wait import until

PATHS = {
    "link": ("enabled", True), "start-stop-sync": ("enabled", True), "transport": ("playing", True),
    "tempo": ("bpm", 128.5),
}


@pytest.fixture
def gateway(start):
    return start("--no-link", "--tempo", 111)


def refused(answer, *codes):
    """The answer is an error object with one of these statuses; returns its code word."""
    code, body = answer
    assert code in codes, f"answered {code}: {body}"
    assert set(body) == {"error"} and set(body["error"]) == {"code", "message"}, body
    assert body["error"]["message"] and body["error"]["code"]
    return body["error"]["code"]


def untouched(gateway):
    status = gateway.status()
    return (
        status["tempo"] == pytest.approx(111, abs=0.001) and not status["playing"]
        and not status["link"]["enabled"] and not status["link"]["startStopSync"])


def test_the_status_has_every_key_of_the_contract(gateway):
    status = gateway.status()
    assert {
        "version", "mode", "reason", "tempo", "beat", "phase", "quantum", "playing", "transport", "startsInBeats",
        "link", "follower", "outputs", "realtime", "warnings",
    } <= set(status)
    assert {
        "enabled", "active", "connected", "peers", "sessionId", "startStopSync", "interfaces",
        "measurementErrorMicroseconds",
    } <= set(status["link"])
    assert {
        "state", "choice", "source", "tempo", "jitterMicroseconds", "refusedTicks", "refusedTransport", "refused",
    } <= set(status["follower"])
    assert {"scheduling", "priority", "memoryLocked", "dispatch", "wakeUpLatencyMicroseconds"} <= set(status["realtime"])
    for warning in status["warnings"]:
        assert {"code", "message", "fix"} <= set(warning)


def test_every_output_has_every_key_of_the_contract(start, line):
    gateway = start("--no-link", "--output", f"raw:{line.path}")
    line.wait_ticks(24, within=3)
    for output in gateway.status()["outputs"]:
        assert {
            "id", "name", "profile", "port", "connected", "enabled", "ticks", "lateTicks", "offsetMilliseconds",
            "latenessMicroseconds",
        } <= set(output)
    (output,) = [output for output in gateway.status()["outputs"] if "line" in output["name"]]
    assert output["connected"] and output["ticks"] >= 24
    assert {"multiply", "divide", "swing"} <= set(output)
    assert len({output["id"] for output in gateway.status()["outputs"]}) == len(gateway.status()["outputs"])


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b"1", b'"on"', b"{}", b"\xff\xfe", b"{" * 5000, b'{"other":1}', b"enabled=true"])
def test_malformed_bodies(gateway, path, body):
    refused(gateway.request("POST", f"/api/v1/{path}", body), 400)
    assert untouched(gateway)


@pytest.mark.parametrize("path, value", [
    ("link", 1), ("link", "yes"), ("link", None), ("start-stop-sync", 0), ("transport", "play"), ("tempo", "120"),
    ("tempo", True), ("tempo", None), ("tempo", 5), ("tempo", 1000), ("tempo", -120), ("tempo", 1e300),
    ("tempo", [120])])
def test_wrong_values(gateway, path, value):
    refused(gateway.request("POST", f"/api/v1/{path}", {PATHS[path][0]: value}), 400, 422)
    assert untouched(gateway)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "0120", "+120"])
def test_numbers_json_does_not_have(gateway, text):
    refused(gateway.request("POST", "/api/v1/tempo", f'{{"bpm":{text}}}'), 400)
    assert untouched(gateway)


def test_bodies_beyond_the_limit(gateway):
    body = json.dumps({"bpm": 130, "padding": "x" * 65_536})
    assert refused(gateway.request("POST", "/api/v1/tempo", body), 413) == "too-large"
    assert untouched(gateway)
    body = json.dumps({"bpm": 130, "padding": "x" * 60_000})
    code, _ = gateway.request("POST", "/api/v1/tempo", body)
    assert code in (200, 400), "within the limit it is read"


@pytest.mark.parametrize("method, path, code", [
    ("GET", "/api/v1/nothing", 404), ("GET", "/api/v2/status", 404), ("GET", "/../../etc/passwd", 404),
    ("POST", "/api/v1/status", 405), ("GET", "/api/v1/tempo", 405), ("PUT", "/api/v1/tempo", 405),
    ("DELETE", "/api/v1/link", 405), ("GET", "/api/v1/transport?playing=true", 405)])
def test_paths_and_methods_that_are_not_served(gateway, method, path, code):
    refused(gateway.request(method, path), code)
    assert untouched(gateway)


@pytest.mark.parametrize("headers", [
    {"Host": "evil.example"}, {"Host": f"evil.example:{PORT}"}, {"Host": "127.0.0.1:9999"}, {"Host": "127.0.0.1"},
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://127.0.0.1:8808"},
    {"Origin": f"http://127.0.0.1:{PORT}.evil.example"}, {"Origin": "http://127.0.0.1:9999"}])
def test_foreign_hosts_and_origins(gateway, headers):
    assert refused(gateway.request("GET", "/api/v1/status", headers=headers), 403) == "foreign"
    refused(gateway.request("POST", "/api/v1/tempo", {"bpm": 130}, headers=headers), 403)
    assert untouched(gateway)


@pytest.mark.parametrize("headers", [
    {"Host": f"127.0.0.1:{PORT}"}, {"Host": f"localhost:{PORT}"}, {"Origin": f"http://127.0.0.1:{PORT}"},
    {"Origin": f"http://localhost:{PORT}", "Host": f"localhost:{PORT}"}])
def test_own_hosts_and_origins(gateway, headers):
    code, _ = gateway.request("POST", "/api/v1/tempo", {"bpm": 130}, headers=headers)
    assert code == 200


@pytest.mark.parametrize("sent", [
    b"\r\n\r\n", b"\x00" * 200, b"GET\r\n\r\n", b"GET /api/v1/status HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00",
    b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
    b"POST /api/v1/tempo HTTP/1.1\r\nHost: 127.0.0.1:8808\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /api/v1/tempo HTTP/1.1\r\nHost: 127.0.0.1:8808\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"])
def test_bytes_that_are_no_request(gateway, sent):
    with socket.create_connection(("127.0.0.1", PORT), timeout=3) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
        except (ConnectionError, TimeoutError):
            pass
    assert untouched(gateway)


def test_idle_connections_shut_nobody_out_and_delay_no_exit(start):
    gateway = start("--no-link")
    idle = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(50)]
    for connection in idle[:25]:
        connection.sendall(b"POST /api/v1/tempo HTTP/1.1\r\nHost: 127.0.0.1:8808\r\nContent-Length: 10\r\n\r\n{")
    assert gateway.status()["mode"] == "internal"
    gateway.stop()
    for connection in idle:
        connection.close()


def test_many_requests_at_once_disturb_no_tick(start, line):
    gateway = start("--no-link", "--tempo", 120, "--output", f"raw:{line.path}")
    line.wait_ticks(12, within=3)
    failures = []

    def ask():
        try:
            for _ in range(100):
                gateway.status()
        except Exception as error:  # whatever it is, the test tells it
            failures.append(error)

    askers = [threading.Thread(target=ask) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert not failures
    line.wait_ticks(48, within=5)
    ticks = line.times(0xF8)
    assert len(ticks) == pytest.approx((ticks[-1] - ticks[0]) / 20_833.3 + 1, abs=2)


def test_the_secret_guards_everything(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("Zm9vYmFyYmF6cXV4\n")
    running = Gateway("--no-link", "--http-token-file", secret, folder=tmp_path / "guarded")
    try:
        def answers():
            try:
                return request("GET", "/api/v1/status")
            except OSError:
                return None

        code, body = until(answers, 5, "the guarded gateway answers")
        assert code == 401 and body["error"]["code"] == "unauthorized"
        for token, expected in (("wrong", 401), ("", 401), ("Zm9vYmFyYmF6cXV4", 200)):
            code, _ = request("GET", "/api/v1/status", headers={"Authorization": f"Bearer {token}"})
            assert code == expected
        code, _ = request("POST", "/api/v1/tempo", {"bpm": 130})
        assert code == 401
        assert run_tactus("status", "--token-file", secret).returncode == 0
        without = run_tactus("status")
        assert without.returncode == 77, without.stderr
        complaint(without.stderr)
    finally:
        running.stop()


def test_switches_over_http_reach_a_peer(start):
    with Peer(130, start_stop_sync=True) as peer:
        gateway = start("--no-link")
        assert peer.peers == 0
        gateway.post("link", {"enabled": True})
        until(lambda: peer.peers == 1, 2, "the peer counts the gateway")
        peer.play()
        time.sleep(0.3)
        assert gateway.status()["playing"] is False
        answer = gateway.post("start-stop-sync", {"enabled": True})
        assert answer["link"]["startStopSync"] is True
        peer.stop()
        peer.play()
        gateway.wait_status(lambda status: status["playing"], 0.5, "the gateway plays along")
