"""Feeds well-formed extreme values to two official peers and a gateway, and compares what they make of them.

`python -m rig.extremes FIRST COUNT` draws values for each seed from FIRST on, and prints a line of JSON for each: what
was announced, and what everybody shows two seconds later. It makes a network namespace of its own, and needs the right to.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time

from rig.gateway import Gateway
from rig.peer import Peer
from rig.rawpeer import ALIVE, DISCOVERY, RESPONSE, RawPeer
from rig.wait import PATIENCE, until

HIGHEST, LOWEST = (1 << 63) - 1, -(1 << 63)
NODE = b"EXTREMES"
# How close two tempos must be to be the same; official peers know theirs in whole microseconds per beat.
SAME = 1e-5


def number(generator):
    """Any number of 64 bits: at the edges, at and beside powers of two, or just any."""
    match generator.randrange(4):
        case 0:
            return generator.choice([LOWEST, LOWEST + 1, -1, 0, 1, HIGHEST - 1, HIGHEST])
        case 1 | 2:
            near = generator.choice([1, -1]) * (1 << generator.randrange(31, 63)) + generator.randint(-1, 1)
            return max(LOWEST, min(HIGHEST, near))
        case _:
            return generator.randint(LOWEST, HIGHEST)


FIELDS = {
    "tempo": number,
    "beat_origin": number,
    "time_origin": number,
    "start_stop": lambda generator: (generator.random() < 0.7, number(generator), number(generator)),
    "ttl": lambda generator: generator.choice([0, 1, 254, 255]),
    "kind": lambda _: RESPONSE,
    "ghost": number,
    "session": lambda generator: generator.choice([bytes(8), b"\xff" * 8, generator.randbytes(8)]),
    "answers": lambda _: False,
}


def draw(seed):
    """What one hostile peer announces: some fields of the session that it finds, changed; or a session of its own."""
    generator = random.Random(seed)
    names = generator.sample(sorted(FIELDS), generator.randint(1, 4))
    return {name: FIELDS[name](generator) for name in names}


class Founder(RawPeer):
    """A hand-made peer whose ghost time may be anything; it wraps around like other numbers of 64 bits."""

    ghost = None

    @property
    def ghost_now(self):
        now = super().ghost_now if self.ghost is None else self.ghost + super().ghost_now
        return (now - LOWEST) % (1 << 64) + LOWEST


def announce(raw, values, found):
    """Announces the drawn values for two seconds."""
    own = "session" in values or "ghost" in values
    raw.session = values.get("session", NODE) if own else found.session
    raw.tempo, raw.beat_origin, raw.time_origin = (400_000, 0, 0) if own else found.timeline
    raw.beat_origin += 0 if own else 1_000_000_000
    for name in ("tempo", "beat_origin", "time_origin", "start_stop", "ghost"):
        if name in values:
            setattr(raw, name, values[name])
    raw.answers_pings = values.get("answers", True)
    for _ in range(20):
        raw.announce(values.get("kind", ALIVE), ttl=values.get("ttl", 5))
        if values.get("kind") == RESPONSE:
            # Only peers that were asked expect a response, and at the port from which they asked.
            for target in {one.source for one in raw.heard_since(0, "group", ALIVE)}:
                raw.send(raw.message(RESPONSE, ttl=values.get("ttl", 5)), target)
        time.sleep(0.1)


def shown(raw, peers, gateway):
    """What each official peer and the gateway show: session, tempo, and whether it plays."""
    status = gateway.status()
    first = len(raw.heard)
    nodes = until(
        lambda: {
            one.node: one for one in raw.heard_since(first, "group", ALIVE) if one.data.startswith(DISCOVERY)}
        if len({one.node for one in raw.heard_since(first, "group", ALIVE)}) >= 3 else None, "three announcements")
    sessions = sorted(one.session.hex() for one in nodes.values())
    return {
        "sessions": sessions, "ours": status["link"]["sessionId"],
        "tempos": [peer.tempo for peer in peers] + [status["tempo"]],
        "playing": [peer.playing for peer in peers] + [status["playing"]],
    }


def agrees(found):
    """Whether the gateway is with the official peers; with either, where they differ among themselves."""
    *tempos, tempo = found["tempos"]
    *playing, plays = found["playing"]
    return (
        found["sessions"].count(found["ours"]) > 1
        and any(abs(tempo - other) < SAME * other and plays == theirs for other, theirs in zip(tempos, playing)))


def one(seed, gateway):
    """Draws values, feeds them to everybody, and tells what came of it."""
    values = draw(seed)
    with Peer(130, start_stop_sync=True) as first, Founder(node=NODE) as raw:
        time.sleep(0.6)  # its session is then the older one
        gateway.post("transport", {"playing": False})  # what it plays alone is no session's
        gateway.post("link", {"enabled": True})
        with Peer(90, start_stop_sync=True) as second:
            gateway.wait_status(lambda status: status["link"]["peers"] == 2, "it counts both official peers")
            until(lambda: first.peers == second.peers == 2, "they count it")
            announce(raw, values, raw.alive())
            found = shown(raw, (first, second), gateway)
            began = time.monotonic()
            # A status may be older than an announcement, and peers may still be measuring.
            while not agrees(found) and time.monotonic() - began < PATIENCE:
                time.sleep(0.1)
                found = shown(raw, (first, second), gateway)
            taken = time.monotonic() - began
            raw.bye()
            gateway.post("link", {"enabled": False})
    values = {name: value.hex() if isinstance(value, bytes) else value for name, value in values.items()}
    return {"seed": seed, "values": values, "agrees": agrees(found), "after": 2 + round(taken, 2), **found}


def main(first, count):
    with tempfile.TemporaryDirectory() as folder:
        with Gateway("--start-stop-sync", "--no-link", "--tempo", 111, folder=folder) as gateway:
            for seed in range(first, first + count):
                print(json.dumps(one(seed, gateway)), flush=True)


def run(first, count):
    """Starts the draws of some seeds in a network namespace of their own."""
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", sys.executable, "-m", "rig.extremes", str(first), str(count)],
        cwd=os.path.dirname(os.path.dirname(os.path.abspath(__file__))), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True)


if __name__ == "__main__":
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    main(int(sys.argv[1]), int(sys.argv[2]))
