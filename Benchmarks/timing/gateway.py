"""In the lab: what concerns Tactus alone. Drift over minutes; what one more output costs; processor time and memory.

    gateway.py RESULT.json drift SECONDS
    gateway.py RESULT.json outputs SECONDS COUNT…
"""

import json
import os
import pathlib
import sys
import tempfile
import time

import lab_paths  # noqa: F401
from rig.clocks import raw_microseconds
from rig.gateway import Gateway
from rig.guest import preload
from rig.peer import Peer
from rig.sequencer import Observer, give_way
from rig.wait import until

SETTLING = 3.0


def drift(seconds):
    """The clock of a session that another program founded, for minutes."""
    tempo = 133.7
    with Peer(tempo) as peer, tempfile.TemporaryDirectory() as folder:
        time.sleep(1.5)
        observer = Observer()
        gateway = Gateway("--tempo", 100, folder=folder)
        try:
            gateway.wait_ready(within=120)
            preload(gateway.process.pid, "self")
            observer.subscribe(observer.find("Tactus", "Clock"))
            until(lambda: peer.peers == 1, 20, "it joins")
            give_way()
            observer.watch(SETTLING)
            start = raw_microseconds()
            observer.watch(seconds, every=5.0)
            end = raw_microseconds()
            grid = {"beat": peer.time(round(peer.beat(peer.now()))), "interval": round(60e6 / tempo)}
        finally:
            gateway.kill()
    ticks = [round(at, 3) for kind, at, _ in observer.events() if kind == "clock" and start <= at < end]
    return {"tempo": tempo, "grid": grid, "ticks": ticks}


class Usage:
    """What a process has used so far, in all and by its clock thread, the one of highest priority."""

    def __init__(self, process):
        tasks = list(pathlib.Path(f"/proc/{process}/task").iterdir())
        clock = max(tasks, key=lambda task: os.sched_getparam(int(task.name)).sched_priority)
        self.total = sum(self.nanoseconds(task) for task in tasks)
        self.clock = self.nanoseconds(clock)
        counts = dict(line.split(": ") for line in (clock / "io").read_text().splitlines())
        self.writes = int(counts["syscw"])

    @staticmethod
    def nanoseconds(task):
        return int((task / "schedstat").read_text().split()[0])


def resident(process):
    """The resident memory of a process in KiB."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])


def used(process, observer, seconds):
    """What some seconds of clock take, as differences."""
    observer.watch(SETTLING, every=0.2)
    observer.stamps.clear()
    before, start = Usage(process), time.monotonic()
    observer.watch(seconds, every=0.2)
    after, took = Usage(process), time.monotonic() - start
    return {
        "seconds": took, "processor": after.total - before.total, "clock": after.clock - before.clock,
        "writes": after.writes - before.writes}


def outputs(seconds, count):
    """`count` outputs at 120 BPM: first with nobody connected to them, then all heard by one subscriber."""
    others = [f"Out {number}" for number in range(1, count)]  # beside the general port
    options = [word for name in others for word in ("--output", f"virtual:{name}")]
    with tempfile.TemporaryDirectory() as folder:
        observer = Observer()
        gateway = Gateway("--tempo", 120, *options, folder=folder)
        try:
            gateway.wait_ready(within=120)
            process = gateway.process.pid
            preload(process, "self")
            give_way()
            unheard = used(process, observer, seconds)
            for name in ["Clock", *others]:
                observer.subscribe(observer.find("Tactus", name))
            heard = used(process, observer, seconds)
            memory = resident(process)
        finally:
            gateway.kill()
    events = [[round(at, 3), sender] for kind, at, sender in observer.events() if kind == "clock"]
    observer.client.close()
    return {"count": count, "unheard": unheard, "heard": heard, "resident": memory, "events": events}


def main(result, what, seconds, *counts):
    if what == "drift":
        record = drift(float(seconds))
    else:
        record = [outputs(float(seconds), int(count)) for count in counts]
    pathlib.Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main(*sys.argv[1:])
