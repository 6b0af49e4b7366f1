"""In the lab: makes clock loops and records when the gateway detects each, and when its warning ends.

    loops.py RESULT.json SCENE...

The record is judged on the host, by test_loops.py.
"""

import contextlib
import json
import os
import pathlib
import select
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import SequencerClient  # noqa: E402

from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402

TEMPO = 120
WATCHED = 24.0  # seconds: 48 beats
WAY = 0.0008  # seconds that a device takes to forward a byte


def first_in_line():
    """Lets the calling thread forward a tick at once, as a device does, even if other threads of this script run."""
    sys.setswitchinterval(0.0001)  # seconds; by default, a Python thread may keep others waiting for 5 ms
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))


class Thru:
    """A device that forwards everything from the raw side of one virtual port to that of another."""

    def __init__(self, source, destination):
        self.source = os.open(f"/dev/snd/midiC0D{source}", os.O_RDONLY | os.O_NONBLOCK)
        self.destination = os.open(f"/dev/snd/midiC0D{destination}", os.O_WRONLY)
        self.stopping = False
        self.thread = threading.Thread(target=self.pass_on, daemon=True)
        self.thread.start()

    def pass_on(self):
        first_in_line()
        while not self.stopping:
            if select.select([self.source], [], [], 0.1)[0]:
                data = os.read(self.source, 256)
                time.sleep(WAY)
                os.write(self.destination, data)

    def stop(self):
        self.stopping = True
        self.thread.join()
        os.close(self.source)
        os.close(self.destination)


def ports(client, name):
    """All ports with this name, by client number."""
    return sorted((port for port in client.list_ports() if port.name.strip() == name), key=lambda port: port.client_id)


def codes(status):
    return [warning["code"] for warning in status["warnings"]]


def watch(gateway, seconds, wanted=lambda status: "loop" in codes(status)):
    """Asks for the status ten times a second; returns the seconds until it is as wanted, or None, and the status."""
    start = time.monotonic()
    while (passed := time.monotonic() - start) < seconds:
        status = gateway.status()
        if wanted(status):
            return passed, status
        time.sleep(0.1)
    return None, status


def loop(*arguments, connect, disconnect):
    """Runs a gateway, connects a loop and disconnects it again."""
    client = SequencerClient("Patchbay")
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway("--no-link", "--tempo", TEMPO, *arguments, folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            time.sleep(1)
            made = connect(client)
            found, status = watch(gateway, WATCHED)
            time.sleep(2)
            after = gateway.status()
            disconnect(client, made)
            released, last = watch(gateway, 8, lambda status: "loop" not in codes(status))
            gateway.stop()
        finally:
            gateway.kill()
    return {"found": found, "status": status, "after": after, "released": released, "last": last}


def echo():
    """A device that forwards what it receives to its own output."""
    return loop(
        "--output", "VirMIDI 0-0", "--follow", "VirMIDI 0-0", connect=lambda _: Thru(0, 0),
        disconnect=lambda _, thru: thru.stop())


def patch():
    """The gateway's own port subscribed to its own input."""

    def wires(client):
        return ports(client, "Clock")[0], ports(client, "Clock In")[0]

    return loop(
        connect=lambda client: client.subscribe_port(*wires(client)),
        disconnect=lambda client, _: client.unsubscribe_port(*wires(client)))


SCENES = {"echo": echo, "patch": patch}

if __name__ == "__main__":
    result, *scenes = sys.argv[1:]
    pathlib.Path(result).write_text(json.dumps({scene: SCENES[scene]() for scene in scenes}))
