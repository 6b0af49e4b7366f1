"""In the lab: outputs by name, by number, virtual and raw; ports that vanish, come back or appear late.

    ports.py RESULT.json
"""

import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.gateway import Gateway, run_tactus  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.rawline import CLOCK  # noqa: E402
from rig.sequencer import Observer, port_named  # noqa: E402
from rig.wait import until  # noqa: E402

DRIVER = pathlib.Path("/sys/bus/platform/drivers/snd_virmidi")


class Device:
    """The device side of one virtual MIDI port, which receives what a drum machine there would receive."""

    def __init__(self, number):
        self.descriptor = os.open(f"/dev/snd/midiC0D{number}", os.O_RDONLY | os.O_NONBLOCK)
        self.received = bytearray()

    def read(self):
        try:
            while data := os.read(self.descriptor, 4096):
                self.received += data
        except OSError:  # nothing to read now, or the device is gone
            pass
        return bytes(self.received)

    def wait_ticks(self, count):
        before = len(self.read())
        until(lambda: self.read()[before:].count(CLOCK) >= count, f"{count} ticks at the device")

    def close(self):
        os.close(self.descriptor)


def plug(action):
    """Unplugs (`unbind`) or plugs in (`bind`) the card with the four virtual ports."""
    (DRIVER / action).write_text("snd_virmidi.0")


def connected(status):
    return {output["name"]: output["connected"] for output in status["outputs"]}


def running(name, *options):
    folder = tempfile.mkdtemp()
    gateway = Gateway("--no-link", *options, folder=f"{folder}/{name}")
    gateway.wait_ready()
    preload(gateway.process.pid, "self")
    return gateway


def kinds_of_output(record):
    """Uses every way to name an output at once, and records each at its receiver."""
    observer, through, drums = Observer(), Observer("Through Observer"), Observer("TR-8S")
    card = port_named(observer.client, "VirMIDI 0-1")
    devices = [Device(number) for number in range(3)]
    gateway = running(
        "kinds", "--output", "virmidi 0-0", "--output", f"{card.client_id}:{card.port_id}", "--output", "Midi Through",
        "--output", "virtual:Drums", "--output", "raw:/dev/snd/midiC0D3")
    try:
        for device in devices[:2]:
            device.wait_ticks(24)
        observer.subscribe(observer.find("Tactus", "Clock"))
        through.subscribe(through.find("Midi Through", "Midi Through Port-0"))
        drums.subscribe(drums.find("Tactus", "Drums"))
        gateway.post("transport", {"playing": True})
        for seen in (observer, through, drums):
            seen.watch(1)
        gateway.post("transport", {"playing": False})
        for seen in (observer, through, drums):
            seen.watch(0.5)
        record["kinds"] = {
            "connected": connected(gateway.status()), "Clock": observer.events(), "Midi Through": through.events(),
            "Drums": drums.events(), "VirMIDI 0-0": list(devices[0].read()), "VirMIDI 0-1": list(devices[1].read()),
            "VirMIDI 0-2": list(devices[2].read()),
        }
        record["clients"] = pathlib.Path("/proc/asound/seq/clients").read_text()
        record["ports"] = run_tactus("ports").stdout
        record["ports json"] = json.loads(run_tactus("ports", "--json").stdout)
        gateway.stop()
        record["stderr"] = gateway.stderr
    finally:
        gateway.kill()
        for device in devices:
            device.close()
        for seen in (observer, through, drums):
            seen.client.close()


def unplugging(record):
    """A port that vanishes and comes back while another plays on, and a port that does not exist at the start."""
    observer = Observer()
    gateway = running("unplugging", "--output", "VirMIDI 0-0", "--output", "VirMIDI")
    try:
        observer.subscribe(observer.find("Tactus", "Clock"))
        device = Device(0)
        device.wait_ticks(24)
        seen = [connected(gateway.status())]
        device.close()
        plug("unbind")
        gateway.wait_status(lambda status: not connected(status)["VirMIDI 0-0"], "the output is away")
        seen.append(connected(gateway.status()))
        observer.watch(2)
        plug("bind")
        gateway.wait_status(lambda status: connected(status)["VirMIDI 0-0"], "the output is back")
        device = Device(0)
        device.wait_ticks(24)
        device.close()
        observer.watch(1)
        seen.append(connected(gateway.status()))
        record["unplugging"] = {"connected": seen, "Clock": observer.events()}
        gateway.stop()
    finally:
        gateway.kill()
        observer.client.close()

    plug("unbind")
    gateway = running("late", "--output", "VirMIDI 0-2")
    try:
        seen = [connected(gateway.status())]
        plug("bind")
        gateway.wait_status(lambda status: connected(status)["VirMIDI 0-2"], "the output has come")
        device = Device(2)
        device.wait_ticks(24)
        device.close()
        seen.append(connected(gateway.status()))
        record["late"] = seen
        gateway.stop()
    finally:
        gateway.kill()


def without_clock_port(record):
    gateway = running("bare", "--no-clock-port")
    try:
        clients = pathlib.Path("/proc/asound/seq/clients").read_text()
        record["bare"] = re.findall(r'"Clock"', clients)
        gateway.stop()
    finally:
        gateway.kill()


def monitored(record):
    """What `tactus monitor` says of our own clock, as the documentation has it, but sooner."""
    gateway = running("monitored")
    try:
        record["monitor"] = run_tactus("monitor", "Clock", "--seconds", 4).stdout
        gateway.stop()
    finally:
        gateway.kill()


def main(result):
    record = {}
    kinds_of_output(record)
    unplugging(record)
    without_clock_port(record)
    monitored(record)
    pathlib.Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main(sys.argv[1])
