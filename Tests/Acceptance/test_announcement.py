"""The panel's announcement by mDNS, with the real Avahi on a bus of its own."""

import signal
import subprocess

import pytest

from rig.bus import BUS, Bus
from rig.wait import PATIENCE, until

pytestmark = pytest.mark.real("network")

AVAHI_CONFIGURATION = "[server]\nhost-name=stage\nallow-interfaces=lo\nuse-ipv6=no\n"
# Its process number goes into /run, where only one Avahi has room; the real one may be there.
AVAHI = """
mount -t tmpfs tmp /run && mkdir /run/avahi-daemon
exec setpriv --pdeathsig KILL avahi-daemon --no-drop-root --no-chroot --no-rlimits -f "$1"
"""


class Network(Bus):
    """A bus and, when wanted, Avahi. Both end with the test."""

    def __init__(self, folder):
        super().__init__(folder)
        self.avahi = None

    def start_avahi(self):
        (self.folder / "avahi.conf").write_text(AVAHI_CONFIGURATION)
        self.avahi = self.start("unshare", "--mount", "sh", "-ec", AVAHI, "sh", str(self.folder / "avahi.conf"))

    def crash_avahi(self):
        self.avahi.kill()
        self.avahi.wait()

    def found(self):
        """What a browser in the network finds: name, host, port and properties of each panel."""
        done = subprocess.run(
            ["avahi-browse", "--parsable", "--terminate", "--resolve", "_http._tcp"], capture_output=True, text=True,
            timeout=PATIENCE)
        lines = [line.split(";") for line in done.stdout.splitlines() if line.startswith("=")]
        return {(line[3].replace("\\032", " ").replace("\\035", "#"), line[6], int(line[8]), line[9]) for line in lines}


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.touch(0o600)
    path.write_text("secret-of-the-test")
    return path


@pytest.fixture
def network(tmp_path, monkeypatch):
    monkeypatch.setenv(BUS, f"unix:path={tmp_path}/bus")
    network = Network(tmp_path)
    yield network
    network.stop()


def panel(name, port):
    return name, "stage.local", port, '"path=/"'


def test_a_panel_open_to_the_network_is_announced_as_long_as_it_runs(network, start, token):
    def gateway(port, *options):
        return start("--no-link", *options, name=f"gateway{port}", port=port, token=token.read_text(), passing=(BUS,))

    def opened(port):
        return gateway(port, "--http", f"0.0.0.0:{port}", "--http-token-file", token)

    gateway(8807)  # for this machine only: never announced
    first = opened(8808)
    network.start_avahi()
    until(lambda: network.found() == {panel("Tactus on stage", 8808)}, "the panel is found once Avahi runs")
    until(lambda: "Tactus on stage" in first.stderr, "the log says so")
    second = opened(8809)
    both = {panel("Tactus on stage", 8808), panel("Tactus on stage #2", 8809)}
    until(lambda: network.found() == both, "the second on this machine has another name")
    network.crash_avahi()
    network.start_avahi()
    # Whichever is quicker has the plain name now.
    until(lambda: {port for _, _, port, _ in network.found()} == {8808, 8809}, "a restarted Avahi is told again")
    first.process.send_signal(signal.SIGTERM)
    assert first.process.wait(timeout=PATIENCE) == 0
    until(lambda: {port for _, _, port, _ in network.found()} == {8809}, "who has ended is announced no more")
    assert second.process.poll() is None
