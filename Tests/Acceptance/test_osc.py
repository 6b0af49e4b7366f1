"""Open Sound Control: commands over UDP, as a controller sends them."""

import socket

import pytest
from pythonosc.osc_message_builder import OscMessageBuilder

from rig.gateway import Gateway, complaint

pytestmark = pytest.mark.real("network")

PORT = 8809


class Controller:
    """Sends OSC messages to a port of this machine."""

    def __init__(self, port=PORT):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.place = ("127.0.0.1", port)

    @staticmethod
    def message(address, *values):
        builder = OscMessageBuilder(address)
        for value in values:
            builder.add_arg(value)
        return builder.build()

    def send(self, address, *values):
        self.raw(self.message(address, *values).dgram)

    def raw(self, data):
        self.socket.sendto(data, self.place)


@pytest.fixture
def controller():
    made = Controller()
    yield made
    made.socket.close()


@pytest.fixture
def configured(start, tmp_path):
    """Starts a gateway with OSC enabled."""

    def run(*options, osc="{ enabled: true }", name="gateway"):
        config = tmp_path / "config.yaml"
        config.write_text(f"version: 1\nosc: {osc}\noutputs: [{{ port: 'virtual:Drums' }}]\n")
        return start("--config", config, *options, name=name)

    return run


def settled(gateway, condition, what):
    return gateway.wait_status(condition, what)


def test_every_command_has_its_address(configured, controller):
    gateway = configured("--no-link")
    controller.send("/tactus/tempo", 97.5)
    settled(gateway, lambda status: status["tempo"] == pytest.approx(97.5, abs=0.001), "97.5 BPM")
    controller.send("/tactus/quantum", 3)
    settled(gateway, lambda status: status["quantum"] == 3, "quantum 3")
    controller.send("/tactus/play", 1.0)
    controller.send("/tactus/stop", 0.0)  # a button's release
    settled(gateway, lambda status: status["playing"], "playing")
    controller.send("/tactus/quantum", 5)
    settled(gateway, lambda status: status["quantum"] == 5, "quantum 5, which came after the release")
    assert gateway.status()["playing"]
    controller.send("/tactus/stop")
    settled(gateway, lambda status: not status["playing"], "stopped")
    controller.send("/tactus/toggle-play")
    settled(gateway, lambda status: status["playing"], "playing again")
    controller.send("/tactus/nudge", -2.5, "drums")
    settled(
        gateway, lambda status: [output["offsetMilliseconds"] for output in status["outputs"]] == [0, -2.5], "nudged")
    controller.send("/tactus/nudge", 1.5, "rum")
    settled(
        gateway, lambda status: [output["offsetMilliseconds"] for output in status["outputs"]] == [0, -1], "a part will do")
    controller.send("/tactus/realign", "drums")
    controller.send("/tactus/follow", "MPC")
    settled(gateway, lambda status: any("MPC" in warning["message"] for warning in status["warnings"]), "follows")
    controller.send("/tactus/start-stop-sync", True)
    settled(gateway, lambda status: status["link"]["startStopSync"], "start/stop sync")
    controller.send("/tactus/link", 1)
    settled(gateway, lambda status: status["link"]["enabled"], "Link")
    controller.send("/tactus/toggle-link")
    settled(gateway, lambda status: not status["link"]["enabled"], "no Link")
    (refused,) = [line for line in gateway.logged("OSC message refused").splitlines() if "OSC message refused" in line]
    assert "Drums is not connected" in refused, "without a sequencer, no device can be realigned"


def test_an_address_that_is_taken_or_is_none_ends_the_run_with_one_line(tmp_path):
    def ends(osc):
        config = tmp_path / "config.yaml"
        config.write_text(f"version: 1\nosc: {osc}\n")
        gateway = Gateway("--no-link", "--config", config, folder=tmp_path / "taken")
        code = gateway.process.wait(timeout=60)
        return code, complaint(gateway.stderr.splitlines()[-1])

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", PORT))
        code, line = ends("{ enabled: true }")
        assert code == 71 and f"127.0.0.1:{PORT} is taken" in line and "osc" in line
    code, line = ends("{ enabled: true, address: everywhere }")
    assert code == 65 and "config.yaml:2" in line and "everywhere" in line
