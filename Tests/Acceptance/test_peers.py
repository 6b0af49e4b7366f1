"""Who is in the session and who changed it: a gateway, an official peer beside it, and two on another host."""

import json

import pytest

from rig.gateway import Gateway
from rig.hosts import Network, OwnHost
from rig.joining import become_senior
from rig.tracer import official
from rig.wait import until

pytestmark = pytest.mark.real("network")


def answer(gateway, path):
    code, value = gateway.request("GET", f"/api/v1/{path}")
    assert code == 200, f"{path}: {code} {value}"
    return value


class Session:
    """The gateway and three official peers, each with the node that the gateway lists it under."""

    def __init__(self, network, folder):
        self.here, there = network.cable(OwnHost()), network.cable()
        self.gateway = Gateway("--link", "--start-stop-sync", "--tempo", 100, folder=folder)
        self.peers, self.nodes = [], []
        try:
            self.gateway.wait_ready()
            become_senior()
            for number, host in enumerate((self.here, there, there), 1):
                peer = official(100, host.enter)
                self.peers.append(peer)
                peer.press("s")
                peer.enable()
                self.gateway.wait_status(
                    lambda status, number=number: status["link"]["peers"] == number, f"{number} peers")
                new = [one for one in answer(self.gateway, "peers") if one["node"] not in self.nodes]
                assert len(new) == 1, new
                self.nodes.append(new[0]["node"])
            until(lambda: all(peer.now.peers == 3 for peer in self.peers), "one session")
        except BaseException:
            self.close()
            raise

    @property
    def changes(self):
        return answer(self.gateway, "changes")

    def change(self, number, key):
        """Lets a peer change something; returns how the gateway tells of it."""
        last = max([0, *(one["number"] for one in self.changes)])
        self.peers[number].press(key)
        return until(
            lambda: next((one for one in self.changes if one["number"] > last), None), f"the change of peer {number}")

    def close(self):
        for peer in self.peers:
            peer.kill()
        self.gateway.kill()


@pytest.fixture
def session(tmp_path):
    network = Network()
    try:
        opened = Session(network, tmp_path / "gateway")
        yield opened
        opened.close()
    finally:
        network.close()


def test_three_official_peers_are_listed_with_what_they_change_and_gone_after_their_time_to_live(session):
    gateway = session.gateway

    def peers():
        return {one["node"]: one for one in answer(gateway, "peers")}

    # Besides, newer peers are heard over IPv6, and perhaps there first.
    until(lambda: all(peers()[node]["address"] == "10.1.0.2" for node in session.nodes[1:]), "they are heard over IPv4")
    listed = peers()
    beside, *others = (listed[node] for node in session.nodes)
    assert beside["local"] and beside["address"] == "127.0.0.1" and beside["program"].startswith("python")
    assert [one["name"] for one in beside["interfaces"]] == ["lo"]
    for other in others:
        plug = {"name": session.here.interface, "address": "10.1.0.1"}
        assert other["interfaces"][0] == plug
        assert not other["local"] and other["program"] is None
    assert all(one["together"] and one["tempo"] == pytest.approx(100, rel=1e-5) for one in listed.values())
    printed = gateway.command("peers")
    assert printed.returncode == 0 and all(node in printed.stdout for node in session.nodes), printed
    assert {one["node"] for one in json.loads(gateway.command("peers", "--json").stdout)} == set(session.nodes)

    named(session)

    def is_listed(number):
        return session.nodes[number] in peers()

    session.peers[1].press("a")
    until(lambda: not is_listed(1), "a peer that says bye-bye is gone")
    session.peers[2].kill()
    until(lambda: not is_listed(2), "a killed peer is gone")
    until(lambda: is_listed(0), "the other is still there")


def named(session):
    """What each changes."""
    for number, key in enumerate("e w e "):
        peer = session.peers[number % 3]
        playing = peer.now.playing
        change = session.change(number % 3, key)
        assert change["what"] == ("tempo" if key != " " else "stop" if playing else "play"), change
        # Which of three announces it first is decided by the network.
        assert change["probable"] and change["node"] in session.nodes, change
        until(lambda change=change: answer(session.gateway, "changes")[-1] == change, "it is the last change")
        for other in session.peers:
            other.wait(
                lambda reading, change=change, playing=playing:
                    reading.tempo == pytest.approx(change["value"], rel=1e-5) if change["value"]
                    else reading.playing != playing,
                "every peer follows")
    until(lambda: "a peer probably pressed stop address=" in session.gateway.stderr, "the log has it")
