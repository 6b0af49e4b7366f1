"""Refused requests to the control server: they get JSON with a fitting status, and change nothing."""

import contextlib
import json
import os
import socket
import subprocess

import pytest

from rig.gateway import PORT, TACTUS, Gateway, complaint, environment, request, run_tactus
from rig.wait import until

pytestmark = pytest.mark.real("network")


@pytest.fixture
def gateway(start):
    return start("--no-link", "--tempo", 111)


def untouched(gateway):
    status = gateway.status()
    return (
        status["tempo"] == pytest.approx(111, abs=0.001) and not status["playing"]
        and not status["link"]["enabled"] and not status["link"]["startStopSync"])


def test_a_refusal_is_json_with_a_fitting_status_and_changes_nothing(gateway):
    """Tries one of each kind; RouteTests and GuardTests try all of them."""
    for method, path, body, headers, code in (
            ("POST", "tempo", b"{", {}, 400), ("POST", "tempo", {"bpm": 5}, {}, 400), ("POST", "link", {"enabled": 1}, {}, 400),
            ("POST", "tempo", b'{"bpm":1e999}', {}, 400),
            ("POST", "tempo", json.dumps({"bpm": 130, "padding": "x" * 65_536}), {}, 413),
            ("GET", "nothing", None, {}, 404), ("POST", "status", None, {}, 405),
            ("POST", "tempo", {"bpm": 130}, {"Host": "evil.example"}, 403),
            ("POST", "tempo", {"bpm": 130}, {"Origin": "http://evil.example"}, 403)):
        answered, answer = gateway.request(method, f"/api/v1/{path}", body, headers)
        assert answered == code, f"{method} {path} {body!r:.60}: {answered}, {answer}"
        assert set(answer) == {"error"} and set(answer["error"]) == {"code", "message"}
        assert answer["error"]["message"] and answer["error"]["code"]
        assert untouched(gateway)
    for headers in ({"Host": f"localhost:{PORT}"}, {"Origin": f"http://127.0.0.1:{PORT}"}):
        assert gateway.request("POST", "/api/v1/tempo", {"bpm": 130}, headers)[0] == 200


def test_bytes_that_are_no_request(gateway):
    for sent in (
            b"\r\n\r\n", b"\x00" * 200, b"GET\r\n\r\n", b"GET /api/v1/status HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00",
            b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n",
            b"POST /api/v1/tempo HTTP/1.1\r\nHost: 127.0.0.1:8808\r\nContent-Length: 99999999999999999999\r\n\r\n",
            b"POST /api/v1/tempo HTTP/1.1\r\nHost: 127.0.0.1:8808\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
        with socket.create_connection(("127.0.0.1", PORT), timeout=60) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
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


def test_the_secret_guards_everything(start, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("Zm9vYmFyYmF6cXV4\n")
    secret.chmod(0o644)
    running = Gateway("--no-link", "--http-token-file", secret, folder=tmp_path / "guarded")
    try:
        def answers():
            try:
                return request("GET", "/api/v1/status")
            except OSError:
                return None

        code, body = until(answers, "the guarded gateway answers")
        assert code == 401 and body["error"]["code"] == "unauthorized"

        def code_for(token):
            return request("GET", "/api/v1/status", headers={"Authorization": f"Bearer {token}"})[0]

        assert code_for("wrong") == code_for("") == 401
        until(lambda: code_for("Zm9vYmFyYmF6cXV4") == 200, "the guarded gateway has started")
        code, _ = request("POST", "/api/v1/tempo", {"bpm": 130})
        assert code == 401
        assert run_tactus("status", "--token-file", secret).returncode == 0
        home = environment(running.folder)
        own = subprocess.run([TACTUS, "status"], env=home, capture_output=True, text=True)
        assert (own.returncode, own.stderr) == (0, ""), "its own user needs no token"
        elsewhere = subprocess.run(
            [TACTUS, "tempo", "--url", "http://127.0.0.1:8808", "99"], env=home, capture_output=True, text=True)
        assert (elsewhere.returncode, elsewhere.stdout) == (0, "99 BPM\n")
        without = run_tactus("status")
        assert without.returncode == 77, without.stderr
        assert "wants a token; name its file with --token-file" in complaint(without.stderr)
        other = tmp_path / "other"
        other.write_text("cXV4YmF6YmFyZm9v\n")
        wrong = run_tactus("status", "--token-file", other)
        assert wrong.returncode == 77 and "does not accept this token" in complaint(wrong.stderr), wrong.stderr
        # The file that the test wrote can be read by everybody, which is told in log and status.
        _, status = request("GET", "/api/v1/status", headers={"Authorization": "Bearer Zm9vYmFyYmF6cXV4"})
        assert [warning["fix"] for warning in status["warnings"] if warning["code"] == "weak-token"] == [
            f"'chmod 640 {secret}', 'chgrp audio {secret}' (or another group that Tactus is in), then 'tactus reload'"]
        running.logged(f"read the token in {secret}")
        until(lambda: code_for(os.urandom(8).hex()) == 429, "who guesses is refused", every=0)
        running.logged("wrong token")
    finally:
        running.stop()
