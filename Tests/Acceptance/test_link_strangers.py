"""Unknown senders that flood our Link peer or send it nonsense."""

import contextlib
import os
import pathlib
import random
import resource
import subprocess
import sys
import time

import pytest

from rig.clocks import raw_microseconds
from rig.nonsense import broken, senseless
from rig.rawpeer import ALIVE, BYE_BYE, GROUP, MEASUREMENT, PING, PONG, RESPONSE, RawPeer, entry, joined
from rig.tracer import official
from rig.wait import until

pytestmark = pytest.mark.real("network")


def test_nonsense_of_all_kinds_stops_nothing(raw, ours, figure):
    raw.answers_pings = False
    alive = raw.alive()
    generator = random.Random(11)
    times = entry(b"__ht", bytes(8)) + entry(b"_pgt", bytes(8))
    sound = [raw.message(kind) for kind in (ALIVE, RESPONSE, BYE_BYE)] + [
        MEASUREMENT + bytes([PING]) + times,
        MEASUREMENT + bytes([PONG]) + entry(b"sess", alive.session) + entry(b"__gt", bytes(8)) + times]
    nonsense = [
        *(broken(generator, generator.choice(sound)) for _ in range(3000)), *senseless(raw, alive.node),
        *(MEASUREMENT + bytes([PING]) + bytes(size) for size in range(0, 513, 8))]
    for number, data in enumerate(nonsense):
        for target in (GROUP, alive.source, alive.measurement_endpoint):
            raw.send(data, target)
        if number % 10 == 9:
            time.sleep(0.002)
    figure("pieces of nonsense", len(nonsense) * 3)
    with RawPeer(node=b"NEWCOMER", session=alive.session, tempo=500_000) as newcomer:
        newcomer.announce()
        until(lambda: newcomer.heard_since(0, "unicast", RESPONSE), "it still answers")
        endpoint = newcomer.alive(what="it still announces itself").measurement_endpoint
        newcomer.send(MEASUREMENT + bytes([PING]), endpoint)
        until(lambda: [one for one in newcomer.heard if one.data.startswith(MEASUREMENT)], "its clock can be asked")
    assert ours.process.poll() is None and ours.now.tempo == 120


def changes_to_read(process):
    """The bytes in which the kernel tells a process of changed addresses, and which it has not read yet."""
    folder = f"/proc/{process.pid}/fd"
    sockets = {os.readlink(f"{folder}/{number}") for number in os.listdir(folder)}
    rows = [line.split() for line in pathlib.Path("/proc/net/netlink").read_text().splitlines()[1:]]
    return max(int(row[4]) for row in rows if f"socket:[{row[9]}]" in sockets)


@contextlib.contextmanager
def another_address(address):
    """Gives this network namespace another address inside a `with` block."""
    subprocess.run(["ip", "address", "add", f"{address}/8", "dev", "lo"], check=True)
    try:
        yield
    finally:
        subprocess.run(["ip", "address", "del", f"{address}/8", "dev", "lo"], check=True)


@pytest.mark.real("process")
def test_without_a_descriptor_left_it_keeps_what_it_has(raw, ours):
    joined(raw, ours)
    before = raw.alive()
    limit = len(os.listdir(f"/proc/{ours.process.pid}/fd"))
    _, hard = resource.prlimit(ours.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(ours.process.pid, resource.RLIMIT_NOFILE, (limit, hard))

    with another_address("127.0.0.2"):
        until(lambda: not changes_to_read(ours.process), "it reads that there is another address")
        # In the same turn it lists the addresses, which takes a descriptor. A second answer comes from a later turn.
        for _ in range(2):
            first = len(raw.heard)
            raw.send(MEASUREMENT + bytes([PING]), before.measurement_endpoint)
            until(lambda first=first: [one for one in raw.heard[first:] if one.data.startswith(MEASUREMENT)], "a pong")
        assert raw.alive().measurement_endpoint == before.measurement_endpoint
        first = len(ours.readings)
        until(lambda: raw.announce() or len(ours.readings) > first and ours.now.peers == 1, "it counts the peer", every=0.1)
        resource.prlimit(ours.process.pid, resource.RLIMIT_NOFILE, (hard, hard))
        raw.alive(lambda one: one.source[0] == "127.0.0.2", "an announcement from the other address")


def resident(process):
    """Resident memory of a process, in bytes."""
    with open(f"/proc/{process.pid}/statm") as numbers:
        return int(numbers.read().split()[1]) * 4096


def test_a_flood_of_strangers_keeps_no_honest_ping_from_its_answer_and_grows_no_memory(raw, ours, figure):
    alive = raw.alive()
    raw.answers_pings = False

    def ping():
        first, sent = len(raw.heard), raw_microseconds()
        raw.send(MEASUREMENT + bytes([PING]), alive.measurement_endpoint)
        pong = until(
            lambda: next((one for one in raw.heard[first:] if one.data.startswith(MEASUREMENT)), None), "a pong")
        return pong.at - sent

    def flood(seconds):
        """Runs the flood and sends normal pings meanwhile; returns their answer times and the number of datagrams."""
        process = subprocess.Popen(
            [sys.executable, "-m", "rig.flood", str(seconds)], cwd=pathlib.Path(__file__).parent, stdout=subprocess.PIPE,
            text=True)
        taken = []
        while process.poll() is None:
            taken.append(ping())
            time.sleep(0.01)  # a normal peer sends one ping at a time
        return taken, int(process.communicate()[0])

    flood(1)  # fills the peer's tables, so that only further growth is measured
    before = resident(ours.process)
    taken, sent = flood(2)
    grown = resident(ours.process) - before
    figure("datagrams", sent)
    figure("pings, and the slowest", f"{len(taken)}, {max(taken)} us")
    figure("memory grown", f"{grown // 1024} KiB", "1024 KiB")
    assert taken and grown < 1 << 20


@contextlib.contextmanager
def crowd_around(alive, kind):
    """Runs rig/crowd.py against the peer of `alive` inside a `with` block, once its tables are full."""
    process = subprocess.Popen(
        [sys.executable, "-m", "rig.crowd", kind, str(alive.source[1]), alive.session.hex()],
        cwd=pathlib.Path(__file__).parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
        assert process.poll() is None, "the crowd ended too early"
    finally:
        process.stdin.close()
        process.wait()


CROWDS = ["forged", "fillers", "answering"]


@pytest.mark.parametrize("kind", CROWDS)
def test_an_older_session_is_joined_beside_a_crowd_of_strangers(raw, ours, figure, kind):
    raw.tempo = 400_000
    with crowd_around(raw.alive(), kind):
        before, began, first = resident(ours.process), raw_microseconds(), len(raw.heard)

        def first_there():
            raw.announce()
            return next((one for one in raw.heard_since(first, "group", ALIVE) if one.session == raw.session), None)

        there = until(first_there, "it joins", every=0.25)
        ours.wait(lambda reading: reading.tempo == 150, "it plays the session's tempo")
        figure("joined after", f"{(there.at - began) / 1000:.0f} ms")
        figure("memory", f"{resident(ours.process) >> 10} KiB, grown {(resident(ours.process) - before) >> 10} KiB")
    assert resident(ours.process) < 64 << 20


@pytest.mark.real("peer")
@pytest.mark.parametrize("kind", CROWDS)
def test_an_official_peer_and_ours_are_in_one_session_beside_a_crowd_of_strangers(raw, ours, kind, figure):
    with crowd_around(raw.alive(), kind):
        peer = official(90)
        try:
            began = raw_microseconds()
            peer.enable()
            met = peer.wait(lambda reading: reading.peers == 1 and reading.tempo == 120, "it joins ours")
            figure("in one session after", f"{(met.at - began) // 1000} ms")
            peer.press("e")
            ours.wait(lambda reading: reading.tempo == pytest.approx(121, rel=1e-4), "its new tempo arrives")
        finally:
            peer.kill()
