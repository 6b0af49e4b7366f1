"""Unknown senders that flood our Link peer or send it nonsense."""

import contextlib
import pathlib
import random
import subprocess
import sys
import time

import pytest

from rig.nonsense import broken, senseless
from rig.rawpeer import ALIVE, BYE_BYE, GROUP, MEASUREMENT, PING, PONG, RESPONSE, RawPeer, entry
from rig.tracer import official
from rig.wait import until

pytestmark = pytest.mark.real("network")


def test_nonsense_of_all_kinds_stops_nothing(raw, ours):
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
    with RawPeer(node=b"NEWCOMER", session=alive.session, tempo=500_000) as newcomer:
        newcomer.announce()
        until(lambda: newcomer.heard_since(0, "unicast", RESPONSE), "it still answers")
        endpoint = newcomer.alive(what="it still announces itself").measurement_endpoint
        newcomer.send(MEASUREMENT + bytes([PING]), endpoint)
        until(lambda: [one for one in newcomer.heard if one.data.startswith(MEASUREMENT)], "its clock can be asked")
    assert ours.process.poll() is None and ours.now.tempo == 120


def resident(process):
    """Resident memory of a process, in bytes."""
    with open(f"/proc/{process.pid}/statm") as numbers:
        return int(numbers.read().split()[1]) * 4096


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


@pytest.mark.real("peer")
def test_an_official_peer_and_ours_are_in_one_session_beside_a_crowd_that_answers(raw, ours):
    """More kinds of crowds are in ImpostorTests, in virtual time."""
    with crowd_around(raw.alive(), "answering"):
        peer = official(90)
        try:
            peer.enable()
            peer.wait(lambda reading: reading.peers == 1 and reading.tempo == 120, "it joins ours")
            peer.press("e")
            ours.wait(lambda reading: reading.tempo == pytest.approx(121, rel=1e-4), "its new tempo arrives")
            assert resident(ours.process) < 64 << 20
        finally:
            peer.kill()
