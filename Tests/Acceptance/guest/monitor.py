"""In the lab: records what `tactus monitor` reports about a clock with known faults.

    monitor.py RESULT.json

Bytes written to the raw side of virtual port 0 leave its sequencer port and go to three receivers: a monitor at that
port, virtual port 1, whose raw side a second monitor reads, and virtual port 2, where the kernel's timestamps are
recorded. The record is judged on the host, by test_monitor.py.
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

from alsa_midi import SequencerClient  # noqa: E402

from rig.framed import FramedLine  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.sequencer import port_named  # noqa: E402

TACTUS = os.environ.get("TACTUS", "tactus")
TICK, START, CONTINUE, STOP, POSITION = b"\xF8", b"\xFA", b"\xFB", b"\xFC", b"\xF2\x10\x00"
TICKS = 1_200
TEMPO = 173.3
DISPLACEMENT = 400  # microseconds, early or late at random
LOST = {300, 301, 555, 800}
DOUBLED = {250, 640, 641, 900, 1000}
TRANSPORT = {96: START, 480: STOP, 576: POSITION, 577: CONTINUE}
STALLED, STALL = 720, 12_000  # the number of one late tick, and its delay in microseconds, less than a tick


class Monitor:
    """`tactus monitor` on one port; `end` returns its result."""

    def __init__(self, port, is_ready, *arguments):
        self.process = subprocess.Popen(
            [TACTUS, "monitor", *port, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not is_ready():
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < deadline, f"monitor {port} does not listen"
            time.sleep(0.05)
        preload(self.process.pid)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        output, complaint = self.process.communicate()
        return {"code": self.process.returncode, "stdout": output, "stderr": complaint}


def play(line, chance):
    """Sends the clock and the transport messages."""
    period = 2.5 / TEMPO
    start = time.monotonic() + 0.1
    for number in range(TICKS):
        error = DISPLACEMENT * chance.choice((-1, 1))
        due = start + number * period + (STALL if number == STALLED else error) / 1e6
        time.sleep(max(0, due - time.monotonic() - 0.0004))
        while time.monotonic() < due:  # a busy-wait, because sleeping is less exact
            pass
        if number in TRANSPORT:
            os.write(line, TRANSPORT[number])
        if number not in LOST:
            os.write(line, TICK * (2 if number in DOUBLED else 1))


def main(result):
    client = SequencerClient("Stage")
    source = port_named(client, "VirMIDI 0-0")
    reference = FramedLine(2)
    line = os.open("/dev/snd/midiC0D0", os.O_WRONLY)
    for number in (1, 2):
        client.subscribe_port(source, port_named(client, f"VirMIDI 0-{number}"))
    preload("self")

    def listens(name, more):
        return lambda: any(port.client_name == name for port in client.list_ports()) and more()

    def is_open(number):
        state = pathlib.Path(f"/proc/asound/card0/midi{number}").read_text(encoding="utf-8")
        return "Owner PID" in state[state.index("Input"):]

    folder = pathlib.Path(result).parent
    heard = Monitor(["VirMIDI 0-0"], listens("Tactus Monitor", lambda: time.sleep(1) or True), "--json", "--report", folder)
    device = Monitor(["hw:0,1"], lambda: is_open(1), "--json")
    missing = subprocess.run([TACTUS, "monitor", "Nobody"], capture_output=True, text=True)
    gone = subprocess.run([TACTUS, "monitor", "hw:7,0"], capture_output=True, text=True)
    # The clock must be sent as intended, so the sender has priority over all listeners.
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))
    play(line, random.Random(4))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    time.sleep(0.1)
    reference.read()
    record = {
        "port": heard.end(), "device": device.end(), "reference": reference.events,
        "source": f"{source.client_id}:{source.port_id}",
        "report": {path.name: path.read_text() for path in folder.glob("monitor.*") if path.suffix != ".py"},
        "missing": [missing.returncode, missing.stderr], "gone": [gone.returncode, gone.stderr],
    }

    # A monitor without a port argument creates a port, to which the clock is then connected.
    own = Monitor([], listens("Tactus Monitor", lambda: True), "--json")
    port = next(port for port in client.list_ports() if port.client_name == "Tactus Monitor")
    client.subscribe_port(source, port)
    for _ in range(100):
        os.write(line, TICK)
        time.sleep(0.02)
    pathlib.Path(result).write_text(json.dumps({**record, "own": own.end(), "own port": port.name}))


if __name__ == "__main__":
    main(sys.argv[1])
