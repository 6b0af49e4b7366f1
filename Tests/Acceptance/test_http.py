"""The token, for the control server, for commands and for whoever guesses."""

import os
import subprocess

import pytest

from rig.gateway import TACTUS, Gateway, complaint, environment, request, run_tactus
from rig.wait import until

pytestmark = pytest.mark.real("network")


def test_the_secret_guards_everything(tmp_path):
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
