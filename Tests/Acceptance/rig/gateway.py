"""Starts `tactus`, the program under test, queries it over HTTP, and stops it as a user would."""

import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from rig.guest import IN_LAB
from rig.wait import PATIENCE, until

PROJECT = pathlib.Path(__file__).resolve().parents[3]
# What `make programs` builds; benches name the executable that is installed.
PROGRAMS = PROJECT / ".build/tests/release"
TACTUS = os.environ.get("TACTUS", str(PROGRAMS / "tactus"))
LINK_PROBE = os.environ.get("LINK_PROBE", str(PROGRAMS / "link-probe"))
PORT = 8808


def environment(folder, passing=()):
    """An environment without the test user's own settings and services, except for the variables in `passing`."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", *passing) if name in os.environ}
    return {
        "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/dev/null/none", **kept, "HOME": str(folder),
        "XDG_CONFIG_HOME": f"{folder}/config", "XDG_STATE_HOME": f"{folder}/state", "XDG_RUNTIME_DIR": str(folder),
    }


def run_tactus(*arguments, before=()):
    """Runs one command, with the words of `before` in front of it, and returns code, stdout and stderr.

    A busy machine may be slow to load the program, so the timeout is long.
    """
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run(
            [*before, TACTUS, *map(str, arguments)], env=environment(folder), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=None if IN_LAB else PATIENCE)


def request(method, path, body=None, headers=None, port=PORT, timeout=PATIENCE):
    """One HTTP request; returns status and body, decoded if it is JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        text = answer.read()
        is_json = "json" in (answer.getheader("Content-Type") or "")
        return answer.status, json.loads(text) if is_json and text else text
    finally:
        connection.close()


def is_served(process):
    """Whether a gateway answers on the usual port; one that wants a secret says so. Fails if `process` has ended."""
    assert process.poll() is None, f"it ended with {process.returncode}"
    with contextlib.suppress(OSError):
        return request("GET", "/api/v1/status")[0] in (200, 401)
    return False


class Gateway:
    """`tactus run` with the given arguments, from its first status to its exit; `before` are words in front of it."""

    # The kernel kills it when its parent ends, so that no Link peer survives a killed test.
    COMMAND = ("setpriv", "--pdeathsig", "KILL", TACTUS)

    def __init__(self, *arguments, folder, port=PORT, passing=(), token=None, before=()):
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = port
        self.stderr_path = self.folder / "stderr"
        self.stdout_path = self.folder / "stdout"
        self.started = time.monotonic()
        command = [*before, *self.COMMAND, "run", "--http", f"127.0.0.1:{port}", *map(str, arguments)]
        with self.stdout_path.open("ab") as stdout, self.stderr_path.open("ab") as stderr:
            # In its own process session, like a service, because the test user may have a terminal.
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, start_new_session=True,
                env=environment(self.folder, passing))

    def __enter__(self):
        try:
            self.wait_ready()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            if kind is None:
                self.stop()
            else:
                self.kill()

    @property
    def stderr(self):
        return self.stderr_path.read_text(errors="replace")

    def logged(self, text):
        """Waits until its log has a text, since a thread of its own writes it; returns the log."""
        until(lambda: text in self.stderr, f"the log has {text!r}")
        return self.stderr

    @property
    def stdout(self):
        return self.stdout_path.read_text(errors="replace")

    def wait_ready(self, within=120.0):
        """Waits for the first status."""

        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"tactus run ended with {self.process.returncode}: {self.stderr}")
            try:
                code, status = self.request("GET", "/api/v1/status")
            except OSError:
                return None
            return status if code == 200 else None  # 503: it is still starting

        return until(answers, f"tactus answers on port {self.port}; stderr: {self.stderr}", every=0.01, within=within)

    def request(self, method, path, body=None, headers=None):
        return request(method, path, body, {**self.headers, **(headers or {})}, port=self.port)

    def status(self):
        code, status = self.request("GET", "/api/v1/status")
        assert code == 200, f"GET /api/v1/status answered {code}: {status}"
        return status

    def post(self, path, body=None):
        """Sends a command that must succeed, and returns the answer."""
        code, answer = self.request("POST", f"/api/v1/{path}", {} if body is None else body)
        assert 200 <= code < 300, f"POST {path} {body} answered {code}: {answer}"
        return answer

    def command(self, *arguments):
        """Runs a `tactus` command for this gateway."""
        return run_tactus(*arguments, "--url", f"http://127.0.0.1:{self.port}")

    def wait_status(self, condition, what):
        """Waits for a status that meets `condition`, and returns it."""
        last = {}

        def met():
            last.update(self.status())
            return last if condition(last) else None

        try:
            return until(met, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; status: {json.dumps(last)}") from None

    def stop(self, sign=signal.SIGINT):
        """Stops it as Ctrl-C does, checks that it exits cleanly, and returns the seconds it took."""
        sent = time.monotonic()
        self.process.send_signal(sign)
        # Stop counting when the main thread has ended. After that, the lab's kernel may still wait for the host.
        while not self.is_over and time.monotonic() - sent < PATIENCE:
            time.sleep(0.002)
        took = time.monotonic() - sent
        try:
            code = self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"tactus run did not end within {PATIENCE:g} s of {sign.name}") from None
        assert code == 0, f"tactus run exited {code} after {sign.name}: {self.stderr}"
        return took

    @property
    def is_over(self):
        """Whether its main thread has ended."""
        try:
            return pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except FileNotFoundError:
            return True

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def complaint(text):
    """The one line of an error message; fails if there is not exactly one."""
    lines = [line for line in text.splitlines() if line.strip()]
    usage = [line for line in lines if not re.match(r"(Usage:|  See |\s*Help:)", line)]
    assert len(usage) == 1, f"expected one clear line, got: {text!r}"
    return usage[0]
