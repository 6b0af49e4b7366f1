"""What a run tells the service manager that started it, seen at the manager's own socket."""

import re
import signal
import socket

import pytest

from rig.wait import PATIENCE

pytestmark = pytest.mark.real("process")

VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")


class Manager:
    """The socket of a service manager."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(PATIENCE)
        self.statuses = []

    def told(self):
        """The next message, as lines; a status by itself is put aside."""
        while True:
            lines = self.socket.recv(4096).decode().split("\n")
            if len(lines) > 1 or not lines[0].startswith("STATUS="):
                return lines
            self.statuses.append(lines[0].removeprefix("STATUS="))

    def told_but(self, *expected):
        """The next message that is none of `expected`."""
        while (lines := self.told()) in expected:
            pass
        return lines


@pytest.fixture
def manager(tmp_path, monkeypatch):
    address = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    manager = Manager(address)
    yield manager
    manager.socket.close()


def test_a_run_is_ready_when_its_clock_runs_and_tells_how_it_goes_on_until_the_end(manager, start, monkeypatch):
    monkeypatch.setenv("WATCHDOG_USEC", "100000")
    gateway = start("--no-link", passing=VARIABLES)
    assert manager.told() == ["READY=1"]
    # It hangs if the machine stalls, which is told, too.
    hangs = ["WATCHDOG=trigger"]
    assert [manager.told_but(hangs) for _ in range(20)] == [["WATCHDOG=1"]] * 20
    gateway.process.send_signal(signal.SIGTERM)
    assert manager.told_but(["WATCHDOG=1"], hangs) == ["STOPPING=1", "STATUS=stopping"]
    assert gateway.process.wait(timeout=PATIENCE) == 0
    manager.socket.settimeout(0)
    with pytest.raises(BlockingIOError):
        manager.told()
    first = r"\w+, 120 BPM, 0 peers, stopped, \d outputs?(, \d warnings?)?"
    assert re.fullmatch(first, manager.statuses[0]), manager.statuses
    assert "service manager" not in gateway.stderr
