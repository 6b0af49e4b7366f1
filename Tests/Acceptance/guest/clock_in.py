"""In the lab: compares the timestamps of the clock inputs with those of the kernel.

    clock_in.py RESULT.json SCENE...

Every byte written to the raw side of virtual port 0 leaves its sequencer port and goes to three receivers:

- `Clock In` of a probe
- virtual port 1, whose raw side is read in frames that the kernel stamps with Link's clock; this is the reference
- virtual port 2, which a second probe reads as a raw device

The record is judged on the host, by test_clock_input.py. All times are microseconds of Link's host time.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import (  # noqa: E402
    ALSAError, ControlChangeEvent, NoteOnEvent, SequencerClient, SongPositionPointerEvent, SysExEvent)

from rig.framed import FramedLine  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.sequencer import port_named  # noqa: E402

PROBE = os.environ["PROBE"]
TICK, START, CONTINUE, STOP = b"\xF8", b"\xFA", b"\xFB", b"\xFC"
NO_FRAMES = os.environ.get("NO_FRAMES")


class Probe:
    """A probe program that records what one input receives."""

    def __init__(self, source, passing=()):
        environment = {**os.environ, **dict(passing)}
        self.process = subprocess.Popen(
            [PROBE, source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        word, self.stamped = self.process.stdout.readline().split(maxsplit=1)
        assert word == "ready", f"{word} {self.stamped}"
        self.stamped = self.stamped.strip()
        preload(self.process.pid)

    def send(self, sign):
        self.process.send_signal(sign)

    def end(self):
        """Returns what the probe received, as lists: [microseconds, source, message], or ["overflow"]."""
        output, _ = self.process.communicate()
        return [line.split(maxsplit=2) for line in output.splitlines()]


class Stage:
    """The connections between the virtual ports, with both probes."""

    def __init__(self, passing=()):
        self.client = SequencerClient("Stage")
        self.out = self.client.create_port("Out")
        self.source = port_named(self.client, "VirMIDI 0-0")
        self.reference = FramedLine(1)
        self.port = Probe("port")
        self.device = Probe("hw:0,2", passing)
        self.clock_in = next(port for port in self.client.list_ports() if port.name == "Clock In")
        self.wires = (port_named(self.client, "VirMIDI 0-1"), port_named(self.client, "VirMIDI 0-2"), self.clock_in)
        for port in self.wires:
            self.client.subscribe_port(self.source, port)
        self.line = os.open("/dev/snd/midiC0D0", os.O_WRONLY)
        preload("self")
        time.sleep(0.1)

    def write(self, data):
        os.write(self.line, data)

    def play(self, seconds, seed):
        """Sends ticks with jitter, and occasionally other clock messages."""
        chance = random.Random(seed)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            extra = chance.choice([START, STOP, CONTINUE, b"\xF2\x08\x01"] + [b""] * 20)
            self.write(TICK + extra)
            time.sleep(chance.uniform(0.002, 0.03))

    def end(self):
        time.sleep(0.2)
        self.reference.read()
        record = {
            "reference": self.reference.events, "port": self.port.end(), "device": self.device.end(),
            "stamped": [self.port.stamped, self.device.stamped],
            "source": f"{self.source.client_id}:{self.source.port_id}",
        }
        for port in self.wires[:2]:
            self.client.unsubscribe_port(self.source, port)
        self.reference.close()
        os.close(self.line)
        self.client.close()
        return record


def idle():
    stage = Stage()
    stage.play(3, seed=1)
    return stage.end()


def held():
    """Stops and resumes both probes several times, after they have measured the clocks' relation."""
    stage = Stage()
    stage.play(0.4, seed=6)
    for round in range(6):
        for sign in (signal.SIGSTOP, signal.SIGCONT):
            for probe in (stage.port, stage.device):
                probe.send(sign)
            stage.play(0.4, seed=10 * round + sign)
    return stage.end()


def overflow():
    """Stops both probes until the kernel's buffers overflow, then resumes them."""
    stage = Stage()
    stage.play(0.5, seed=3)
    for probe in (stage.port, stage.device):
        probe.send(signal.SIGSTOP)
    for _ in range(300):
        stage.write(TICK * 10)
        time.sleep(0.002)
        stage.reference.read()
    for probe in (stage.port, stage.device):
        preload(probe.process.pid)
        probe.send(signal.SIGCONT)
    # Wait long enough, because the probes may have to load pages from the host first.
    time.sleep(3)
    resumed = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) // 1000
    stage.write(START)
    stage.play(0.5, seed=4)
    return {**stage.end(), "resumed": resumed}


def noise():
    """Sends other kinds of messages, and song positions that do not fit into 14 bits."""
    stage = Stage()
    stage.client.subscribe_port(stage.out, stage.clock_in)
    for number in range(400):
        stage.client.event_output(NoteOnEvent(number % 128, 0, 100), port=stage.out)
        stage.client.event_output(ControlChangeEvent(0, 1, number % 128), port=stage.out)
        stage.client.drain_output()
    stage.client.event_output(SysExEvent(b"\xF0" + b"\x7A" * 1000 + b"\xF7"), port=stage.out)
    for position in (-1, 0, 16_383, 16_384, 2**31 - 1, -2**31):
        stage.client.event_output(SongPositionPointerEvent(0, position), port=stage.out)
    stage.client.drain_output()
    stage.write(b"\xF0\x01" + TICK + b"\x02\xF7\xF2" + TICK + b"\x04\x00\x90\x40" + TICK + b"\x40")
    return stage.end()


def no_stamps():
    """Takes all sequencer queues and disables framed reading, so that neither input can timestamp."""
    hog = SequencerClient("Hog")
    queues = []
    try:
        while len(queues) < 1000:
            queues.append(hog.create_queue("taken"))
    except ALSAError:
        pass
    stage = Stage(passing={"LD_PRELOAD": NO_FRAMES}.items())
    stage.play(1, seed=5)
    record = stage.end()
    hog.close()
    return record


SCENES = {"idle": idle, "held": held, "overflow": overflow, "noise": noise, "no stamps": no_stamps}

if __name__ == "__main__":
    result, *scenes = sys.argv[1:]
    pathlib.Path(result).write_text(json.dumps({scene: SCENES[scene]() for scene in scenes}))
