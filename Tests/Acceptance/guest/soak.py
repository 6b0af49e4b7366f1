"""In the lab: a gateway at 300 BPM for a long time, while Link peers, devices and panel clients come and go.

    soak.py RESULT.json MINUTES

The record is judged on the host, by soak.py there.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import re
import select
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.cards import make_cards, plug, pull  # noqa: E402
from rig.events import EventStream  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.peer import Peer  # noqa: E402
from rig.wait import until  # noqa: E402

TEMPO = 300
CARDS = 4  # the last stays plugged in
PEERS, CLIENTS = 4, 12
SAMPLED = 10  # seconds from one sample to the next
PATHS = ["/", "/panel.js", "/panel.css", "/api/v1/status", "/metrics", "/healthz", "/nothing"]


def opened(process):
    """What the descriptors of a process are, without numbers."""
    for number in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):
            yield re.sub(r"[0-9]+", "N", os.readlink(f"/proc/{process}/fd/{number}"))


def sample(process):
    """What the process uses now: kilobytes of memory, descriptors, threads."""
    words = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines())
    kinds = collections.Counter(opened(process))
    return {
        "memory": int(words["VmRSS"].split()[0]), "descriptors": kinds.total(), "threads": int(words["Threads"]),
        "kinds": kinds}


class Churn:
    """Everything that comes and goes; `step` makes one change, drawn at random."""

    def __init__(self, gateway):
        self.gateway = gateway
        self.chance = random.Random(1)
        self.peers, self.streams, self.away = [], [], set()
        self.counts = {}

    def step(self):
        change = self.chance.choice([self.peer, self.device, self.stream, self.stream, self.visit, self.command])
        self.counts[change.__name__] = self.counts.get(change.__name__, 0) + 1
        change()
        self.read()

    def peer(self):
        if len(self.peers) < PEERS and self.chance.random() < 0.6:
            self.peers.append(Peer(self.chance.randrange(60, 180)))
        elif self.peers:
            self.peers.pop(self.chance.randrange(len(self.peers))).close()

    def device(self):
        card = self.chance.randrange(CARDS - 1)
        if card in self.away:
            plug(card)
        else:
            pull(card)
        self.away ^= {card}

    def stream(self):
        """A panel is opened or closed; every third is never read."""
        if len(self.streams) < CLIENTS and self.chance.random() < 0.6:
            self.streams.append((EventStream(), self.chance.random() < 0.67))
        elif self.streams:
            self.streams.pop(self.chance.randrange(len(self.streams)))[0].close()

    def visit(self):
        self.gateway.request("GET", self.chance.choice(PATHS))

    def command(self):
        output = self.chance.choice(self.gateway.status()["outputs"])["id"]
        self.gateway.request("PATCH", f"/api/v1/outputs/{output}", {"offsetMilliseconds": self.chance.choice([-2, 0, 2])})

    def read(self):
        for stream, is_read in self.streams:
            while is_read and select.select([stream.socket], [], [], 0)[0] and stream.socket.recv(65536):
                pass

    def end(self):
        """Everything is as it was at first: all devices are there, no peer and no panel is."""
        while self.peers:
            self.peers.pop().close()
        while self.streams:
            self.streams.pop()[0].close()
        for card in self.away:
            plug(card)
        self.away = set()


def rest(gateway):
    """A sample with all devices connected, no peer and no panel, after the time that connections may idle."""

    def is_whole():
        status = gateway.status()
        connected = [output["connected"] for output in status["outputs"] if output["name"].startswith("VirMIDI")]
        return connected == [True] * CARDS and not status["link"]["peers"]

    until(is_whole, "all devices are connected, and no peer is there", every=0.5)
    time.sleep(30)
    return sample(gateway.process.pid)


def record(minutes):
    make_cards(*[1] * CARDS)
    outputs = [word for card in range(CARDS) for word in ("--output", f"VirMIDI {card}-0")]
    steady = FramedLine(0, card=CARDS - 1)
    samples = []
    with tempfile.TemporaryDirectory() as folder, Gateway("--tempo", TEMPO, *outputs, folder=folder) as gateway:
        preload(gateway.process.pid, "self")
        gateway.post("transport", {"playing": True})
        churn = Churn(gateway)
        # Some things are made at first use and stay.
        for _ in range(40):
            churn.step()
            time.sleep(0.3)
        churn.end()
        began = rest(gateway)
        start = time.monotonic()
        while (now := time.monotonic() - start) < 60 * minutes:
            if now >= len(samples) * SAMPLED:
                steady.read()
                samples.append(sample(gateway.process.pid))
            churn.step()
            time.sleep(churn.chance.expovariate(2))
        churn.end()
        ended = rest(gateway)
        status = gateway.status()
        gateway.stop()
    steady.read()
    return {
        "began": began, "samples": samples, "ended": ended, "counts": churn.counts, "status": status,
        "ticks": [at for name, at in steady.events if name == "clock"], "interval": 60e6 / TEMPO / 24}


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(json.dumps(record(float(sys.argv[2]))))
