"""Faults of the network: strangers, forged and senseless messages, and networks that delay, lose and change."""

import contextlib
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import time

from judge import fastest
from rig import extremes
from rig.clocks import raw_microseconds
from rig.hosts import Network
from rig.nonsense import broken, senseless
from rig.rawpeer import ALIVE, BYE_BYE, DISCOVERY, GROUP, MEASUREMENT, PING, RawPeer, entry
from rig.tracer import official
from rig.wait import until
from stage import TEMPO, fault

ACCEPTANCE = pathlib.Path(official.__code__.co_filename).parents[1]
# Seconds until an older session is joined, whatever strangers do.
JOINED = 1.0
BEAT = 60_000_000 // TEMPO  # microseconds


@contextlib.contextmanager
def running(module, *words):
    """Runs a module of the rig inside a `with` block, from its first line on."""
    process = subprocess.Popen(
        [sys.executable, "-m", f"rig.{module}", *map(str, words)], cwd=ACCEPTANCE, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        yield process
    finally:
        process.stdin.close()
        process.wait()


@fault("10 000 datagrams a second for 2 s, garbage and invented peers, beside an official peer")
def flood(stage):
    stage.official()
    stage.start(link=True)
    for _ in stage.rounds():
        subprocess.run([sys.executable, "-m", "rig.flood", "2"], cwd=ACCEPTANCE, check=True, stdout=subprocess.DEVNULL)
        time.sleep(1)


@fault("10 000 damaged and senseless messages at every socket, beside an official peer")
def senseless_messages(stage):
    stage.official()
    gateway = stage.start(link=True)
    with RawPeer(node=b"NONSENSE", answers_pings=False) as raw:
        session = gateway.status()["link"]["sessionId"]
        alive = raw.alive()
        for round in stage.rounds():
            generator = random.Random(round.number)
            sound = [raw.message(kind) for kind in (ALIVE, 2, BYE_BYE)] + [
                MEASUREMENT + bytes([PING]) + entry(b"__ht", bytes(8)) + entry(b"_pgt", bytes(8))]
            messages = [broken(generator, generator.choice(sound)) for _ in range(3000)]
            for number, data in enumerate([*messages, *senseless(raw, b"SENSELES")]):
                for target in (GROUP, alive.source, alive.measurement_endpoint):
                    raw.send(data, target)
                if number % 10 == 9:
                    time.sleep(0.002)
            raw.node = b"NONSENSE"
            round.over()
            time.sleep(2)
            round.expect(gateway.status()["link"]["sessionId"] == session, "it has left the official peer's session")


@fault("up to 10 000 pings a second at each measurement socket for 2 s, beside an official peer")
def pings(stage):
    stage.official()
    stage.start(link=True)
    with RawPeer(node=b"EAR_ONLY", answers_pings=False) as raw:
        endpoints = {raw.alive().measurement_endpoint for _ in range(6)}
        for _ in stage.rounds():
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline:
                for endpoint in endpoints:
                    for _ in range(10):
                        raw.send(MEASUREMENT + bytes([PING]) + entry(b"__ht", bytes(8)), endpoint)
                time.sleep(0.001)
            raw.heard.clear()


@fault("a stranger says good-bye in the official peer's name, 1000 times")
def forged_byes(stage):
    stage.official()
    with RawPeer(node=b"EAR_ONLY", answers_pings=False) as raw:
        time.sleep(1)
        (node,) = {one.node for one in raw.heard_since(0, "group", ALIVE)}
        gateway = stage.start(link=True)
        time.sleep(1)
        sources = {one.source for one in raw.heard_since(0, "group", ALIVE)}
        forger = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        forger.bind(("127.9.9.9", 0))
        forger.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.9.9.9"))
        for round in stage.rounds():
            for _ in range(1000):
                for target in sources:
                    forger.sendto(DISCOVERY + struct.pack(">BBH", BYE_BYE, 0, 0) + node, target)
            round.over()
            round.expect(gateway.status()["link"]["peers"] == 1, "the official peer is no longer counted")
            time.sleep(1)
        forger.close()


def member(raw):
    """Makes a hand-made peer a member of the gateway's session, with its timeline."""
    alive = raw.alive()
    raw.session = alive.session
    raw.tempo, raw.beat_origin, raw.time_origin = alive.timeline


@fault("25 ever older sessions in 4 s")
def older_sessions(stage):
    stage.start(link=True)
    for round in stage.rounds():
        since = raw_microseconds()
        for number in range(25):
            name = struct.pack(">4sHH", b"AGED", round.number, number)
            with RawPeer(node=name, session=name, tempo=BEAT, age=1000.0 * (25 * round.number + number + 1)) as older:
                for _ in range(4):
                    older.announce()
                    time.sleep(0.04)
                older.bye()
        round.over()
        time.sleep(3)
        moving(stage, round, since, TEMPO)


@fault("200 tempo changes from 20 to 999 BPM in 4 s by a peer of the session")
def tempo_outbids(stage):
    gateway = stage.start(link=True)
    with RawPeer(node=b"OUTBIDS!") as raw:
        member(raw)
        raw.began = raw_microseconds() - raw.time_origin
        generator = random.Random(1)
        for round in stage.rounds():
            since = raw_microseconds()
            for number in range(200):
                raw.tempo = round_tempo(generator) if number < 199 else BEAT
                raw.beat_origin += 1000
                raw.announce()
                time.sleep(0.02)
            round.over()
            raw.keep_announcing(3)
            round.expect(abs(gateway.status()["tempo"] - TEMPO) < 0.1, "the last tempo is not in force")
            moving(stage, round, since, 999)


@fault("100 peers announce extreme values to official peers and a second gateway, one after the other", times=5)
def extreme_values(stage):
    stage.start(link=True)
    for round in stage.rounds():
        first = 1000 + 100 * round.number
        runner = extremes.run(first, 100)
        found = [json.loads(line) for line in runner.communicate()[0].splitlines()]
        print(f"extreme values: seeds {first}...{first + 99}", file=sys.stderr)
        round.over()
        round.expect(len(found) == 100 and runner.returncode == 0, f"only {len(found)} of 100 were drawn")
        for one in found:
            round.expect(one["agrees"], f"the gateway is not with the official peers: {json.dumps(one)}")


def round_tempo(generator):
    return round(60e6 / generator.uniform(20, 999))


def moving(stage, round, since, highest):
    """Judges a time in which the beats rightly move, and no tempo was above `highest` BPM.

    A clock that has fallen behind may catch up at 999 BPM, or at 1.25 times the session's tempo if that is more.
    """
    round.moved.append((since, raw_microseconds() - 1_000_000))
    times = [tick.at for tick in stage.untouched.ticks if tick.at >= since]
    fast = fastest(times)
    round.figures["fastest"] = fast
    round.expect(fast <= max(999, 1.25 * highest) + 1, f"two ticks as close as at {fast:.0f} BPM")


# Networks.


class Here:
    """The lab's own network namespace as one of the hosts of a Network, so that the gateway is on it."""

    def __init__(self):
        self.holder = type("Holder", (), {"pid": os.getpid()})
        self.enter = []

    def run(self, *command):
        return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def hosts(count, *conditions):
    """A bridge with the lab itself and `count` more hosts; every outgoing datagram meets netem's conditions."""
    network = Network()
    here = Here()
    try:
        network.cable(here, interface="eth0")
        others = [network.cable() for _ in range(count)]
        for host in (here, *others):
            if conditions:
                host.run("tc", "qdisc", "add", "dev", "eth0", "root", "netem", *conditions)
        yield network, others
    finally:
        subprocess.run(["ip", "link", "del", "eth0"], capture_output=True)
        network.close()


def bad_network(name, title, *conditions):
    def provoke(stage):
        with hosts(2, *conditions) as (_, others):
            peers = [official(TEMPO, host.enter) for host in others]
            for peer in peers:
                stage.stack.callback(peer.kill)
            peers[0].enable()
            time.sleep(2)
            peers[1].enable()
            gateway = stage.start("--interface", "eth0", link=True)
            gateway.wait_status(lambda status: status["link"]["peers"] == 2, "it counts both official peers")
            stage.judged = raw_microseconds()
            time.sleep(20)
            for round in stage.rounds():
                least = min(counted(gateway, peers) for _ in range(50))
                round.expect(least == 2, f"only {least} peers were counted")
                apart = from_beats(stage, peers[0], round.began)
                round.figures["from the founder's beats"] = apart
                round.expect(apart < 1000, f"{apart:.0f} us from the official founder's beats")
            for peer in peers:
                peer.kill()

    provoke.__name__ = name
    fault(title)(provoke)


def counted(gateway, peers):
    time.sleep(0.2)
    return min(gateway.status()["link"]["peers"], *(peer.now.peers for peer in peers))


def from_beats(stage, founder, since):
    """The largest distance of a tick from the official founder's beats, in microseconds."""
    reading = founder.now
    interval = 60e6 / reading.tempo / 24
    start = reading.at - reading.beat * 60e6 / reading.tempo
    off = [(tick.at - start + interval / 2) % interval - interval / 2 for tick in stage.untouched.ticks if tick.at >= since]
    return max(map(abs, off))


for name, title, conditions in (
        ("network_late", "every datagram 8 ms +- 5 ms late, beside two official peers", ["delay", "8ms", "5ms"]),
        ("network_lossy", "10 % of all datagrams lost, beside two official peers", ["delay", "1ms", "loss", "10%"]),
        ("network_doubling", "20 % of all datagrams doubled, beside two official peers", ["delay", "1ms", "duplicate", "20%"]),
        ("network_mixed", "25 % of all datagrams overtake others, beside two official peers",
         ["delay", "10ms", "reorder", "25%", "50%"])):
    bad_network(name, title, *conditions)


@contextlib.contextmanager
def cabled(stage):
    """A gateway and an official peer on another host, which count each other; gives network, peer and gateway."""
    with hosts(1) as (network, (other,)):
        peer = official(TEMPO, other.enter)
        stage.stack.callback(peer.kill)
        peer.enable()
        time.sleep(2)
        gateway = stage.start("--interface", "eth0", link=True)
        gateway.wait_status(lambda status: status["link"]["peers"] == 1, "it counts the official peer")
        yield network, peer, gateway
        peer.kill()


@fault("the network cable is pulled for 10 s, beside an official peer", within=3)
def network_pulled(stage):
    with cabled(stage) as (network, peer, gateway):
        for round in stage.rounds():
            network.unplug(1)
            time.sleep(10)
            network.plug(1)
            round.over()
            peer.wait(lambda reading: reading.peers == 1, "the official peer counts it again")
            gateway.wait_status(lambda status: status["link"]["peers"] == 1, "it counts the official peer again")
            round.recovered = raw_microseconds()
            time.sleep(1)
            apart = from_beats(stage, peer, raw_microseconds() - 1_000_000)
            round.expect(apart < 1000, f"{apart:.0f} us from the official peer's beats")


@fault("the computer gets another address, beside an official peer", within=2)
def address_changed(stage):
    with cabled(stage) as (_, peer, gateway):
        before = "10.1.0.1"
        for round in stage.rounds():
            after = f"10.1.0.{100 + round.number}"
            for words in (["del", f"{before}/24"], ["add", f"{after}/24"]):
                subprocess.run(["ip", "address", *words, "dev", "eth0"], check=True)
            round.over()
            gateway.wait_status(lambda status: status["link"]["peers"] == 1, "it counts the official peer")
            since = raw_microseconds()
            for key, wanted in (("e", TEMPO + 1), ("w", TEMPO)):
                peer.press(key)
                gateway.wait_status(lambda status, wanted=wanted: abs(status["tempo"] - wanted) < 0.1, f"{wanted} BPM")
                round.recovered = round.recovered or raw_microseconds()
            time.sleep(1)
            round.moved.append((since, raw_microseconds() - 500_000))
            # If it took a new node ID meanwhile, the old one is counted until its time to live has ended.
            peer.wait(lambda reading: reading.peers == 1, "the official peer counts it once")
            before = after


# Crowds.


def crowd(kind, title):
    def provoke(stage):
        stage.start(link=True)
        with RawPeer(node=b"EAR_ONLY") as ear:
            alive = ear.alive()
        for round in stage.rounds():
            with running("crowd", kind, alive.source[1], alive.session.hex()):
                time.sleep(2)
                name = f"OLDER{round.number:03}".encode()
                with RawPeer(node=name, session=name, tempo=BEAT, age=1000.0 * round.number) as older:
                    round.over()
                    first = len(older.heard)

                    def first_there():
                        older.announce()
                        found = older.heard_since(first, "group", ALIVE)
                        return next((one.at for one in found if one.session == older.session), None)

                    round.recovered = until(first_there, "it joins the older session", every=0.25)
                    # Members of our own session rightly move it by their timelines.
                    since = round.began if kind == "fillers" else round.ended
                    round.moved.append((since, raw_microseconds() + 500_000))
                    older.keep_announcing(2)
                    alive = older.alive(lambda one: one.session == older.session)
                    older.bye()

    provoke.__name__ = f"crowd_{kind}"
    fault(title, within=JOINED)(provoke)


for kind, title in (
        ("forged", "3000 forged sessions a second from 200 addresses; an older session appears"),
        ("fillers", "1100 forged members of our session, 2200 messages a second; an older session appears"),
        ("answering", "1000 forged sessions that answer pings; an older session appears")):
    crowd(kind, title)
