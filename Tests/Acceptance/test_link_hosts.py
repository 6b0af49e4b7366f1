"""Our Link peer and official ones on several hosts, which are network namespaces connected to one bridge."""

import pytest

from rig.hosts import Network
from rig.joining import become_senior
from rig.tracer import apart, metronome, official, together
from rig.wait import until

pytestmark = pytest.mark.real("network")


@pytest.fixture
def network():
    opened = Network()
    yield opened
    opened.close()


@pytest.fixture
def programs():
    """Starts programs on hosts; all of them end with the test."""
    running = []

    def start(program, tempo, host):
        tracer = program(tempo, host.enter)
        running.append(tracer)
        return tracer

    yield start
    for tracer in running:
        tracer.kill()


def founded(programs, program, tempo, host):
    """Starts a program, and waits until its session is older than any founded later."""
    founder = programs(program, tempo, host)
    founder.enable()
    become_senior()
    return founder


def in_one_session(network, programs):
    """Starts an official founder and our peer, each on its own host; returns our host and both programs."""
    host, other = network.cable(), network.cable()
    founder = founded(programs, official, 130, other)
    ours = programs(metronome, 100, host)
    ours.enable()
    until(lambda: together(founder, ours), "one session")
    return host, founder, ours


def test_eight_peers_of_both_kinds_on_eight_hosts_agree(network, programs):
    founder = founded(programs, official, 130, network.cable())
    others = [programs(metronome if number % 2 else official, 100 + number, network.cable()) for number in range(7)]
    for other in others:
        other.press("a")
    everyone = [founder, *others]
    until(lambda: together(*everyone), "eight peers in one session")
    assert founder.now.tempo == pytest.approx(130, rel=1e-5), "a joiner never brings its tempo"
    for changer in (others[1], others[2], founder):
        wanted = changer.now.tempo + 1
        changer.press("e")
        until(lambda: all(abs(one.now.tempo - wanted) < 0.01 for one in everyone), f"all follow to {wanted}")
    for kind, members in (("official", others[0::2]), ("ours", others[1::2])):

        def worst(members=members):
            return max(abs(apart(founder.now, member.now)) for member in members)

        # Peers get closer to each other the longer they measure.
        until(lambda worst=worst: worst() < 1000, f"{kind}: within a millisecond of the founder's bar")


def test_a_host_with_two_interfaces_is_one_peer_and_survives_the_loss_of_either(network, programs):
    second = Network(2)
    try:
        host, other = network.cable(), network.cable()
        second.cable(host, "eth1")
        second.cable(other, "eth1")
        founder = founded(programs, official, 130, other)
        ours = programs(metronome, 100, host)
        ours.enable()
        until(lambda: together(founder, ours), "one peer each, though there are two ways")

        def is_used(address):
            """Whether our peer has sockets at an address of its host, as the kernel writes it."""
            return f" {address}:" in host.run("cat", "/proc/net/udp")

        for tempo, interface, address in ((131, "eth0", "0100010A"), (132, "eth1", "0100020A")):
            until(lambda: is_used(address), "both ways are used")
            host.run("ip", "link", "set", interface, "down")
            founder.press("e")
            until(lambda: together(founder, ours) and abs(ours.now.tempo - tempo) < 0.01, "the other way carries it")
            host.run("ip", "link", "set", interface, "up")
            until(lambda: is_used(address), "both ways are used")
        until(lambda: together(founder, ours), "still in one session")
    finally:
        second.close()


def test_a_cable_that_is_pulled_and_put_back_or_made_anew_is_noticed_at_once(network, programs):
    host, founder, ours = in_one_session(network, programs)
    host.run("ip", "link", "set", "eth0", "down")
    until(lambda: ours.now.peers == 0, "the peer is gone with its interface")
    assert ours.now.tempo == pytest.approx(130, rel=1e-5), "and the tempo stays"
    host.run("ip", "link", "set", "eth0", "up")
    until(lambda: ours.now.peers == 1, "the peer is back long before the next look at the interfaces")
    # An interface made anew under its old name and address is another.
    host.run("ip", "link", "delete", "eth0")
    until(lambda: ours.now.peers == 0, "the peer is gone with its interface")
    network.cable(host, address=1)
    until(lambda: ours.now.peers == 1, "the peer is back long before the next look at the interfaces")
    ours.press("e")
    until(lambda: abs(founder.now.tempo - 131) < 0.01, "the tempo travels")


def test_two_peers_meet_over_ipv6_alone(network, programs):
    # Peers use IPv6 only on interfaces that also have an IPv4 address, so each host has one in a different network.
    hosts = [network.cable(), network.cable(ipv4=False)]
    hosts[1].run("ip", "address", "add", "192.168.77.1/32", "dev", "eth0")
    for host in hosts:
        # IPv4 multicast does not get through.
        host.run("ip", "link", "set", "eth0", "multicast", "on")
    network.bridge.run("sysctl", "-q", "net.ipv4.ip_forward=0")
    hosts[0].run("ip", "address", "flush", "dev", "eth0", "scope", "global")
    hosts[0].run("ip", "address", "add", "172.16.9.1/32", "dev", "eth0")
    founder = founded(programs, official, 130, hosts[0])
    ours = programs(metronome, 100, hosts[1])
    ours.enable()
    until(lambda: together(founder, ours), "one session over IPv6")
    assert ours.now.tempo == pytest.approx(130, rel=1e-5)
    founder.press("e")
    until(lambda: abs(ours.now.tempo - 131) < 0.01, "the tempo travels")
