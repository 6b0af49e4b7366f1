"""Addresses and networks that are not as they should be: the clock runs, and what is wrong is told with its fix."""

import http.client
import json
import socket
import subprocess

import pytest
from pythonosc.osc_message_builder import OscMessageBuilder

from rig.gateway import Gateway, run_tactus
from rig.hosts import Network, OwnHost
from rig.tracer import official
from rig.wait import until

pytestmark = pytest.mark.real("network")

LATER = "10.77.0.1"


def ip(*words):
    subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL, timeout=60)


def warned(code):
    return lambda status: [warning for warning in status["warnings"] if warning["code"] == code]


@pytest.fixture
def later():
    """Gives this machine the address, and takes it away."""
    yield lambda what="add": ip("address", what, f"{LATER}/32", "dev", "lo")
    subprocess.run(["ip", "address", "delete", f"{LATER}/32", "dev", "lo"], capture_output=True, check=False)


@pytest.mark.real("line")
def test_a_panel_and_osc_whose_address_comes_later_keep_no_machine_from_its_clock(line, later, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text(f"version: 1\nosc: {{ enabled: true, address: {LATER} }}\n")
    token = tmp_path / "token"
    token.write_text("Zm9vYmFyYmF6cXV4\n")
    token.chmod(0o600)
    gateway = Gateway(
        "--no-link", "--config", config, "--output", f"raw:{line.path}", "--http", f"{LATER}:8808", "--http-token-file", token,
        folder=tmp_path / "gateway")
    try:
        line.wait_ticks(24)
        gateway.logged(f"this machine does not have the address {LATER} now")
        later()

        def status():
            connection = http.client.HTTPConnection(LATER, 8808, timeout=60)
            try:
                connection.request("GET", "/api/v1/status", headers={"Authorization": "Bearer Zm9vYmFyYmF6cXV4"})
                return json.loads(connection.getresponse().read())
            except OSError:
                return None
            finally:
                connection.close()

        until(status, "the panel is there once its address is")
        until(lambda: not warned("address-away")(status()), "the warnings go")
        message = OscMessageBuilder("/tactus/tempo")
        message.add_arg(97.5)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as controller:
            controller.sendto(message.build().dgram, (LATER, 8809))
        until(lambda: status()["tempo"] == pytest.approx(97.5, abs=0.001), "97.5 BPM")
        gateway.stop()
    finally:
        gateway.kill()


def test_a_network_that_passes_multicast_only_is_told_by_status_and_doctor(tmp_path):
    network = Network()
    try:
        network.cable(OwnHost())
        there = network.cable()
        there.run(
            "nft", "table inet filter { chain input { type filter hook input priority 0; "
            "iifname eth0 ip daddr != 224.0.0.0/4 meta l4proto udp drop; "
            "iifname eth0 meta nfproto ipv6 drop; }; }")
        peer = official(130, there.enter)
        try:
            peer.enable()
            with Gateway("--link", folder=tmp_path / "gateway") as gateway:
                status = gateway.wait_status(warned("link-unreachable"), "the peer that does not answer is told")
                (warning,) = warned("link-unreachable")(status)
                assert "10.1.0.2" in warning["message"] and "client isolation" in warning["fix"]
                report = json.loads(run_tactus("doctor", "--json").stdout)
                (finding,) = [finding for finding in report["findings"] if finding["code"] == "link-peers"]
                assert "sent to 10.1.0.2 alone is not answered" in finding["found"]
                there.run("nft", "flush ruleset")
                gateway.wait_status(
                    lambda status: status["link"]["peers"] == 1 and not warned("link-unreachable")(status),
                    "they meet once the network passes all")
                assert gateway.logged("is heard but does not answer").count("is heard but does not answer") == 1
        finally:
            peer.kill()
    finally:
        network.close()
