"""In the lab: what concerns Tactus alone. Drift over minutes; what one more output costs; processor time and memory.

    gateway.py RESULT.json drift SECONDS
    gateway.py RESULT.json outputs SECONDS COUNT…
    gateway.py RESULT.json offsets SECONDS COUNT
    gateway.py RESULT.json count SECONDS
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter

import lab_paths  # noqa: F401
from rig.clocks import raw_microseconds
from rig.figures import PER_BEAT
from rig.framed import FramedLine
from rig.gateway import Gateway
from rig.guest import preload
from rig.loads import LOADS, running
from rig.peer import Peer
from rig.sequencer import Observer, give_way
from rig.wait import until

SETTLING = 15.0  # in which the gateway learns how late it wakes
QUIET = 0.2  # load average
COUNTED_TEMPO = 300
APART = 2.5  # milliseconds between the offsets of two outputs
CALLS_FOR = 10.0  # seconds in which system calls are counted, after all else, since that costs time
SEQUENCER = "/dev/snd/seq"
TRACING = pathlib.Path("/sys/kernel/tracing")
CALL_NAMES = {"0": "read", "1": "write", "16": "ioctl", "17": "pread", "202": "futex"}


def drift(seconds):
    """The clock of a session that another program founded, for minutes."""
    tempo = 133.7
    with Peer(tempo) as peer, tempfile.TemporaryDirectory() as folder:
        time.sleep(1.5)
        observer = Observer()
        gateway = Gateway("--tempo", 100, folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            observer.subscribe(observer.find("Tactus", "Clock"))
            until(lambda: peer.peers == 1, "it joins")
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


def tasks(process):
    return list(pathlib.Path(f"/proc/{process}/task").iterdir())


def clock_thread(process):
    """The thread of highest priority."""
    return max(tasks(process), key=lambda task: os.sched_getparam(int(task.name)).sched_priority)


def system_calls(thread, observer, seconds):
    """How often a thread makes each system call, a second, as the kernel's tracing has it."""
    if not (TRACING / "events").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACING], check=True)
    calls = TRACING / "events/raw_syscalls/sys_enter"
    (calls / "filter").write_text(f"common_pid == {thread.name}")
    (TRACING / "trace").write_text("")
    (calls / "enable").write_text("1")
    start = time.monotonic()
    observer.watch(seconds, every=0.2)
    took = time.monotonic() - start
    (calls / "enable").write_text("0")
    found = Counter(re.findall(r"sys_enter: NR (\d+)", (TRACING / "trace").read_text()))
    return {CALL_NAMES.get(number, f"call {number}"): count / took for number, count in found.items()}


class Usage:
    """What a process has used so far, in all and by its output thread."""

    def __init__(self, process):
        self.total = sum(map(self.nanoseconds, tasks(process)))
        self.clock = self.nanoseconds(clock_thread(process))

    @staticmethod
    def nanoseconds(task):
        return int((task / "schedstat").read_text().split()[0])


def resident(process):
    """The resident memory of a process in KiB."""
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS:")).split()[1])


def until_quiet():
    """Lets the load of starting be forgotten: on a busy machine the gateway stays awake for longer."""
    until(lambda: os.getloadavg()[0] < QUIET, "a quiet machine", 1, 300)


def used(process, observer, seconds):
    """What some seconds of clock take, as differences."""
    observer.watch(SETTLING, every=0.2)
    observer.stamps.clear()
    before, start = Usage(process), time.monotonic()
    observer.watch(seconds, every=0.2)
    after, took = Usage(process), time.monotonic() - start
    return {"seconds": took, "processor": after.total - before.total, "clock": after.clock - before.clock}


@contextlib.contextmanager
def no_sequencer():
    """A machine that has none, for programs that look for it meanwhile."""
    subprocess.run(["mount", "--bind", "/dev/null", SEQUENCER], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", SEQUENCER], check=True)


@contextlib.contextmanager
def playing(names):
    """A gateway with the general port and some more outputs at 120 BPM, just preloaded."""
    options = [word for name in names for word in ("--output", f"virtual:{name}")]
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway("--tempo", 120, *options, folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            give_way()
            yield gateway
        finally:
            gateway.kill()


def names_of(count):
    """The names of all ports but the general one, and of all."""
    names = [f"Out {number}" for number in range(1, count)]
    return names, ["Clock", *names]


def listen(observer, ports):
    for name in ports:
        observer.subscribe(observer.find("Tactus", name))
        observer.read()  # the kernel keeps less than a second of so many


def outputs(seconds, count):
    """`count` outputs: on a machine without sequencer, where they are planned and never written; then all heard."""
    names, ports = names_of(count)
    observer = Observer()
    with no_sequencer(), playing(names) as gateway:
        until_quiet()
        planned = used(gateway.process.pid, observer, seconds)
    with playing(names) as gateway:
        until_quiet()
        listen(observer, ports)
        process = gateway.process.pid
        heard = used(process, observer, seconds)
        memory, count_heard = resident(process), len(observer.stamps)
        calls = system_calls(clock_thread(process), observer, CALLS_FOR)
    # Only now, since this takes longer than the kernel keeps them.
    events = [[round(at, 3), sender] for kind, at, sender in observer.events()[:count_heard] if kind == "clock"]
    observer.client.close()
    return {"count": count, "planned": planned, "heard": heard, "resident": memory, "events": events, "calls": calls}


def offsets(seconds, count):
    """`count` outputs on a busy machine, each with an offset of its own, so that the thread wakes for each."""
    names, ports = names_of(count)
    observer = Observer()
    with playing(names) as gateway:
        for place, output in enumerate(gateway.status()["outputs"]):
            gateway.request("PATCH", f"/api/v1/outputs/{output['id']}", {"offsetMilliseconds": place * APART})
        listen(observer, ports)
        with running(LOADS["mixed"].scripts):
            heard = used(gateway.process.pid, observer, seconds)
    observer.client.close()
    return {"count": count, "heard": heard}


def count(seconds):
    """What became of every message under load, with Start and Stop in turn; for several processors, in host time."""
    line = FramedLine()
    with tempfile.TemporaryDirectory() as folder:
        with Gateway("--no-link", "--tempo", COUNTED_TEMPO, "--output", "VirMIDI 0-0", folder=folder) as gateway:
            (output,) = [each["id"] for each in gateway.status()["outputs"] if each["name"] != "Clock"]
            end = time.monotonic() + seconds
            playing = False
            with running(LOADS["mixed"].scripts * os.cpu_count()):
                while time.monotonic() < end:
                    playing = not playing
                    gateway.post("transport", {"playing": playing})
                    time.sleep(5)
                    line.read()
            time.sleep(1)  # in which ticks are on time again
            gateway.post("transport", {"playing": False})
            # Once it is disabled, the count stays.
            gateway.request("PATCH", f"/api/v1/outputs/{output}", {"enabled": False})
            time.sleep(1)
            (counts,) = [each for each in gateway.status()["outputs"] if each["id"] == output]
    line.read()
    return {
        "events": line.events, "sent": counts["ticks"], "skipped": counts["skippedTicks"],
        "interval": 60e6 / COUNTED_TEMPO / PER_BEAT}


def main(result, what, seconds, *counts):
    if what in ("drift", "count"):
        record = {"drift": drift, "count": count}[what](float(seconds))
    else:
        record = [{"outputs": outputs, "offsets": offsets}[what](float(seconds), int(count)) for count in counts]
    pathlib.Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main(*sys.argv[1:])
