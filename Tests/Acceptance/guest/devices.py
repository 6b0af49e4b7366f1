"""In the lab: plugs, unplugs and configures devices while a gateway runs, and records what each of them receives.

    devices.py RESULT.json SCENE...

The record is judged on the host, by test_devices.py. All times are microseconds of Link's host time.
"""

import errno
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import PortCaps, PortType, SequencerClient  # noqa: E402
from alsa_midi._ffi import alsa, ffi  # noqa: E402

from rig.cable import Cable  # noqa: E402
from rig.cards import ahead_of_everyone, make_cards, plug, pull, sequencer  # noqa: E402
from rig.clocks import raw_microseconds  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import PROJECT, TACTUS, Gateway, environment  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.leader import START, STOP, Leader  # noqa: E402
from rig.sequencer import NAMES, Observer  # noqa: E402
from rig.usb import Gadget, make_sockets  # noqa: E402

TEMPO = 120
# At this tempo a bar lasts 0.39 s, so that many unplugs and returns take only seconds.
FAST, RETURNS = 617, 12
LEADER = 101.3


class Scene:
    """A gateway in its own folder, with the given profiles and configuration."""

    def __init__(self, *arguments, profiles=None, configuration=None, tempo=TEMPO):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        words = ["--no-link", "--tempo", tempo, "--profiles", self.write_profiles(profiles or {})]
        if configuration is not None:
            words += ["--config", self.write(configuration)]
        self.gateway = Gateway(*words, *arguments, folder=self.path / "gateway")

    def write_profiles(self, profiles):
        folder = self.path / "profiles"
        folder.mkdir()
        for name, lines in profiles.items():
            (folder / f"{name}.yaml").write_text(f"version: 1\nname: {name}\n{lines}")
        return folder

    def write(self, configuration):
        path = self.path / "config.yaml"
        path.write_text(configuration)
        return path

    def __enter__(self):
        self.gateway.wait_ready()
        preload(self.gateway.process.pid, "self")
        time.sleep(1)
        return self.gateway

    def __exit__(self, *_):
        self.gateway.kill()
        self.folder.cleanup()


def matching(*names, rest=""):
    return f"match: {json.dumps(names)}\n{rest}"


def connected(status):
    return {output["name"]: output["connected"] for output in status["outputs"]}


def warned(status, code):
    return [warning["message"] for warning in status["warnings"] if warning["code"] == code]


def resident(process):
    """Resident memory of a process, in bytes."""
    return int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# Scene 1: two devices are unplugged and plugged in again while others play on.


def plugging():
    make_cards(1, 1, 2)
    chance = random.Random(1)
    names = ["VirMIDI 0-0", "VirMIDI 1-0"]
    profiles = {"wobbly": matching(*names), "steady": matching("VirMIDI 2-0", "VirMIDI 2-1")}
    bar = 4 * round(60e6 / FAST)
    returns, samples = [], []
    lines = [FramedLine(number, card=2) for number in range(2)]
    # A device's raw side can be opened only after it is plugged in, which may be too late for the first message.
    # This observer at the gateway's ports receives that too.
    observer = Observer()
    with Scene(profiles=profiles, tempo=FAST) as gateway:
        ports = [observer.find("Tactus", f"Virtual Raw MIDI {card}-0") for card in range(2)]
        for port in ports:
            observer.subscribe(port)
        devices = [FramedLine(0, card=card) for card in range(2)]
        gateway.post("transport", {"playing": True})
        time.sleep(1)
        lines[0].read()
        top = next(at for name, at in lines[0].events if name == "start")
        for number in range(RETURNS // 2):
            for card, device in enumerate(devices):
                device.close()
                pull(card)
                time.sleep(chance.uniform(0.002, 0.1))
            # Plug in early in a bar, so that the raw sides are open before the device is placed at the next bar.
            while (raw_microseconds() - top) % bar > 0.7 * bar:
                time.sleep(0.01)
            plugged = raw_microseconds()
            with ahead_of_everyone():
                for card in range(2):
                    plug(card)
                    devices[card] = FramedLine(0, card=card)
            time.sleep(bar / 1e6 + chance.uniform(0.1, 0.3))
            for port, device in zip(ports, devices):
                device.read()
                returns.append({
                    "output": "{}:{}".format(*port), "plugged": plugged, "read": raw_microseconds(),
                    "events": list(device.events), "positions": device.positions})
            for line in (*lines, observer):
                line.read()
            samples.append([resident(gateway.process.pid), sequencer()])
        status = gateway.status()
        gateway.stop()
    for line in (*lines, *devices):
        line.read()
        line.close()
    observer.read()
    return {
        "returns": returns, "others": [line.events for line in lines], "sent": observer.events(), "samples": samples,
        "status": status, "interval": bar / 96,
    }


# Scene 2: devices that are connected although no `--output` names them.


def recognising():
    make_cards(4, 4)
    profiles = {"by-port": matching("VirMIDI 0-0"), "by-client": matching("virtual raw midi 1-2")}
    patchbay = SequencerClient("Patchbay")
    with Scene(profiles=profiles) as gateway:
        record = {"alone": gateway.status(), "ports": sequencer()}
        clock = next(port for port in patchbay.list_ports() if (port.client_name, port.name) == ("Tactus", "Clock"))
        device = next(port for port in patchbay.list_ports() if port.name.strip() == "VirMIDI 0-0")
        patchbay.subscribe_port(clock, device)
        record["twice"] = gateway.wait_status(lambda status: warned(status, "clock-twice"), "the warning")
        patchbay.unsubscribe_port(clock, device)
        record["once"] = gateway.wait_status(lambda status: not warned(status, "clock-twice"), "it has gone")
        gateway.stop()
    with Scene("--output", "VirMIDI 0-0", profiles=profiles, configuration="version: 1\nauto-connect: true\n") as gateway:
        record["named"] = gateway.status()
        record["ports named"] = sequencer()
        gateway.stop()
    patchbay.close()
    return record


def equal():
    """Two devices of one kind, one with its output disabled; then they are plugged in in the opposite order."""
    if not make_sockets():
        return None
    devices = [Gadget("TR-8S", socket) for socket in range(2)]
    for device in devices:
        device.plug()
        time.sleep(1)
    profile = (PROJECT / "Profiles/roland-tr-8s.yaml").read_text().split("\n", 2)[2]

    def heard():
        """How many bytes each device receives in a second."""
        lines = [FramedLine(0, card=device.card) for device in devices]
        time.sleep(1)
        for line in lines:
            line.read()
            line.close()
        return [len(line.events) for line in lines]

    with Scene(profiles={"roland-tr-8s": profile}) as gateway:
        status = gateway.status()
        gateway.request("PATCH", f"/api/v1/outputs/{status['outputs'][-1]['id']}", {"enabled": False})
        record = {"first": status, "heard first": heard()}
        for device in devices:
            device.pull()
        record["away"] = gateway.wait_status(lambda status: not any(connected(status).values()), "both are away")
        for device in reversed(devices):
            device.plug()
            time.sleep(1)
        record["swapped"] = gateway.wait_status(
            lambda status: all(list(connected(status).values())[1:]), "both are back")
        record["heard swapped"] = heard()
        gateway.stop()
    for device in devices:
        device.pull()
    return record


# Scene 3: a configuration that changes while the gateway runs.


CONFIGURATION = """\
version: 1
outputs:
  - port: VirMIDI 0-0
    clock: {{ offset: {offset} }}
  - port: VirMIDI {second}
  - port: VirMIDI 0-2
auto-connect: false
"""
BROKEN = """\
version: 1
outputs:
  - port: VirMIDI 0-0
    clock: { ofset: -2 }
  - port: VirMIDI 0-3
    transport: { stop: true }
  - profile: generic
"""


def configuring():
    make_cards(4)
    lines = [FramedLine(number) for number in range(4)]
    marks, record = {}, {}
    scene = Scene(
        profiles={"tempting": matching("VirMIDI 0-1", "VirMIDI 0-3")},
        configuration=CONFIGURATION.format(offset=0, second="0-1"))

    def mark(name, seconds):
        marks[name] = raw_microseconds()
        time.sleep(seconds)
        record[name] = {"status": gateway.status(), "ports": sequencer()}

    with scene as gateway:
        gateway.post("transport", {"playing": True})
        mark("started", 3)
        scene.write(CONFIGURATION.format(offset=-4.5, second="0-1"))
        gateway.process.send_signal(signal.SIGHUP)
        mark("offset", 4)
        scene.write(CONFIGURATION.format(offset=-4.5, second="0-3"))
        marks["asked"] = raw_microseconds()
        record["reload"] = ended(gateway.command("reload"))
        mark("exchanged", 4)
        path = str(scene.write(BROKEN))
        record["refused"] = ended(gateway.command("reload"))
        record["http"] = gateway.request("POST", "/api/v1/reload", {})
        gateway.process.send_signal(signal.SIGHUP)
        mark("broken", 2)
        record["log"] = gateway.stderr
        gateway.stop()
        record["path"] = path
        record["start"] = ended(subprocess.run(
            [TACTUS, "run", "--no-http", "--no-link", "--config", path], env=environment(scene.path),
            stdin=subprocess.DEVNULL, capture_output=True, text=True))
    for line in lines:
        line.read()
        line.close()
    return {**record, "marks": marks, "lines": [line.events for line in lines]}


def ended(process):
    return [process.returncode, process.stdout, process.stderr]


# Scene 4: messages from devices.


def remote():
    """A device whose Start and Stop control the song, and which also sends its own clock all the time."""
    make_cards(1, 1)
    profiles = {
        "panel": matching("VirMIDI 0-0", rest="input: { transport: true }\n"), "drums": matching("VirMIDI 1-0")}
    line, pressed, record = FramedLine(0, card=1), [], {}
    with Scene(profiles=profiles) as gateway:
        leader = Leader(LEADER, number=0)
        time.sleep(4)
        for mode in ("internal", "link"):
            if mode == "link":
                gateway.post("link", {"enabled": True})
                gateway.wait_status(lambda status: status["mode"] == "link", "Link is on")
                time.sleep(2)
            record[mode] = [gateway.status()]
            for word, playing in ((START, True), (STOP, False)):
                tick = leader.soon(word)
                gateway.wait_status(lambda status: status["playing"] == playing, f"{mode}, playing: {playing}")
                time.sleep(2)
                pressed.append([mode, leader.truth[tick]])
                record[mode].append(gateway.status())
        gateway.stop()
        leader.stop()
    line.read()
    line.close()
    return {**record, "pressed": pressed, "events": line.events}


def leader():
    """A device that a profile recognises as a leader sends its clock; no option names it."""
    make_cards(1, 1)
    line, own, statuses = FramedLine(0, card=1), FramedLine(0), []
    profiles = {
        "box": matching("VirMIDI 0-0", rest="input: { role: leader }\n"), "drums": matching("VirMIDI 1-0")}
    with Scene(profiles=profiles) as gateway:
        leader = Leader(LEADER, number=0)
        for _ in range(10):
            time.sleep(1)
            statuses.append(gateway.status())
        gateway.stop()
        leader.stop()
    for heard in (line, own):
        heard.read()
        heard.close()
    return {"statuses": statuses, "events": line.events, "own": own.events}


# Scene 5: measuring the delay to a device.


DELAYS = (2800, 3000, 3200)
# In microseconds; they spread over nearly one tick, which is 20.8 ms.
SCATTERED = (500, 14_000, 4_500, 9_500, 19_000)


def calibrating():
    make_cards(2)
    cable, lines, record = Cable(DELAYS), [FramedLine(number) for number in range(2)], {}
    outputs = [word for name in ("VirMIDI 0-0", "VirMIDI 0-1", "Midi Through") for word in ("--output", name)]
    with Scene(*outputs) as gateway:

        def tactus(*words):
            return ended(subprocess.run(
                [TACTUS, *words], env=environment(gateway.folder), stdin=subprocess.DEVNULL,
                capture_output=True, text=True))

        def calibrate(output, port, seconds, *words):
            return tactus("calibrate", output, "--input", port, "--seconds", str(seconds), *words)

        record["silent"] = calibrate("virmidi-0-0", "VirMIDI 0-1", 1)
        record["at once"] = calibrate("midi-through", "Midi Through", 3, "--json")
        scattering = Cable(SCATTERED, number=1)
        record["scattered"] = calibrate("virmidi-0-1", "VirMIDI 0-1", 4, "--save")
        scattering.pull()
        record["unchanged"] = gateway.status(), [str(path) for path in gateway.folder.glob("config/tactus/profiles/*")]
        record["measured"] = calibrate("virmidi-0-0", "VirMIDI 0-0", 4, "--json")
        record["kept"] = calibrate("virmidi-0-0", "VirMIDI 0-0", 4, "--save")
        assert record["kept"][0] == 0, record
        record["status"] = gateway.status()
        (path,) = gateway.folder.glob("config/tactus/profiles/*")
        record["profile"] = str(path)
        record["checked"] = tactus("profiles", "check", str(path))
        gateway.stop()
        with Gateway("--no-link", "--tempo", TEMPO, *outputs, folder=gateway.folder) as again:
            preload(again.process.pid)
            time.sleep(1)
            since = raw_microseconds()
            time.sleep(3)
            record["again"] = again.status()
            again.stop()
    cable.pull()
    for line in lines:
        line.read()
        line.close()
    return {**record, "since": since, "lines": [line.events for line in lines]}


# Scene 6: devices that are connected but receive nothing.


def silent():
    """One device is first in use by another program and later accepts nothing; another loses its subscription.

    A gadget always accepts what it is sent. So a file is mounted over the kernel's account of its driver, which shows
    a full buffer.
    """
    if not make_sockets():
        return None
    make_cards(2)
    device = Gadget("Box", 2)
    device.plug()
    time.sleep(1)
    profiles = {
        "box": matching("Box MIDI 1"), "drums": matching("VirMIDI 0-0"), "steady": matching("VirMIDI 0-1")}
    lines, record, marks = [FramedLine(number) for number in range(2)], {}, {}
    patchbay = SequencerClient("Patchbay")

    def port(name):
        return next(port for port in patchbay.list_ports() if port.name.strip() == name)

    def mark(name, condition):
        since = raw_microseconds()
        record[name] = gateway.wait_status(condition, name)
        marks[name] = [since, raw_microseconds()]

    account = pathlib.Path(f"/proc/asound/card{device.driver}/midi0")
    other = os.open(f"/dev/snd/midiC{device.driver}D0", os.O_WRONLY)
    own = FramedLine(0, card=device.card)
    with Scene(profiles=profiles) as gateway:
        gateway.post("transport", {"playing": True})
        mark("taken", lambda status: warned(status, "output-away"))
        os.close(other)
        mark("free", lambda status: connected(status)["Box"])
        time.sleep(7)
        record["well"], record["account"] = gateway.status(), account.read_text()
        patchbay.unsubscribe_port(port("Virtual Raw MIDI 0-0"), port("VirMIDI 0-0"))
        stuck = pathlib.Path("/tmp/stuck")
        stuck.write_text(re.sub(r"(Avail +: )\d+", r"\g<1>4000", record["account"]))
        subprocess.run(["mount", "--bind", stuck, account], check=True)
        mark("stuck", lambda status: warned(status, "device-stuck"))
        subprocess.run(["umount", account], check=True)
        mark("again", lambda status: not warned(status, "device-stuck"))
        time.sleep(5)
        record["last"], record["ports"], record["log"] = gateway.status(), sequencer(), gateway.stderr
        gateway.stop()
    own.read()
    own.close()
    device.pull()
    patchbay.close()
    for line in lines:
        line.read()
        line.close()
    return {
        **record, "marks": marks, "events": own.events, "positions": own.positions,
        "lines": [line.events for line in lines]}


# Scene 7: a program that does not read its messages for a while.


class Sleeper:
    """A sequencer client that reads only when told to. Its buffer holds little more than a second of clock."""

    def __init__(self, name):
        self.client = SequencerClient(name)
        self.client.set_client_pool_input(60)
        # Kept, because the port is deleted together with this object.
        self.port = self.client.create_port(
            "In", caps=PortCaps.WRITE | PortCaps.SUBS_WRITE, type=PortType.MIDI_GENERIC | PortType.APPLICATION)
        self.events = []

    def read(self, seconds):
        """Reads for a while. Messages that the kernel has dropped are missing."""
        event = ffi.new("snd_seq_event_t **")
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(0.05)
            while (result := alsa.snd_seq_event_input(self.client.handle, event)) != -errno.EAGAIN:
                name = NAMES.get(event[0].type) if result >= 0 else None
                if name:
                    self.events.append([name, event[0].data.control.value if name == "position" else None])

    def told(self, seconds):
        """Reads for a while and returns what was received, except the clock."""
        before = len(self.events)
        self.read(seconds)
        return [event for event in self.events[before:] if event[0] != "clock"]


def refusing():
    """For each way of dispatching: one client does not read while the song stops, then while it plays.

    A second client reads all the time.
    """
    record = {}
    for way in ("direct", "queue"):
        sleeper, observer = Sleeper("Sleeper"), Observer()
        with Scene("--dispatch", way, "--no-clock-port", "--output", "Sleeper", "--output", "virtual:Other") as gateway:
            observer.subscribe(observer.find("Tactus", "Other"))
            sleeper.read(0.5)
            gateway.post("transport", {"playing": True})
            told = [sleeper.told(1)]
            time.sleep(2)
            gateway.post("transport", {"playing": False})
            stopped = gateway.wait_status(lambda status: warned(status, "out-of-step"), "out of step")
            told.append(sleeper.told(1))
            after = gateway.status()
            gateway.post("transport", {"playing": True})
            told.append(sleeper.told(1))
            time.sleep(2)
            playing = gateway.wait_status(lambda status: warned(status, "out-of-step"), "out of step again")
            told.append(sleeper.told(4))
            last = gateway.status()
            gateway.stop()
        observer.read()
        observer.client.close()
        sleeper.client.close()
        record[way] = {
            "told": told, "statuses": [stopped, after, playing, last], "other": [name for name, _, _ in observer.events()]}
    return record


# Scene 8: a machine that is unplugged while the song plays.


def unplugged():
    make_cards(1)
    with Scene(profiles={"drums": matching("VirMIDI 0-0")}) as gateway:
        gateway.post("transport", {"playing": True})
        time.sleep(1)
        before = gateway.status()
        pull(0)
        away = gateway.wait_status(lambda status: warned(status, "output-away"), "the warning")
        time.sleep(1)
        record = {
            "before": before, "away": away, "later": gateway.status(), "text": gateway.command("status").stdout,
            "realign": ended(gateway.command("realign", away["outputs"][-1]["id"]))}
        plug(0)
        record["back"] = gateway.wait_status(lambda status: not warned(status, "output-away"), "it is back")
        record["log"] = gateway.stderr
        gateway.stop()
    return record


# Scene 9: a report on two machines, and on what comes out of a USB cable.


def reporting():
    if not make_sockets():
        return None
    devices = [Gadget(name, socket) for socket, name in enumerate(("TR-8S", "Sampler"))]
    for device in devices:
        (device.root / "strings/0x409/serialnumber").write_text("SN-CANARY")
        device.plug()
        time.sleep(1)
    outputs = ["--output", "TR-8S MIDI 1", "--output", "Sampler=generic", "--name", "Sampler=canary's drums"]
    with Scene(*outputs) as gateway:
        gateway.wait_status(lambda status: all(list(connected(status).values())[1:]), "both are connected")
        # The far end of the first machine's cable.
        end = f"hw:{devices[0].card},0"
        report = gateway.command("report", "--seconds", 6, "--loop", end, "--json")
        text = gateway.command("report", "--seconds", 1)
        after = gateway.status()
        gateway.stop()
    for device in devices:
        device.pull()
    return {"report": report.stdout, "said": report.stderr, "text": text.stdout, "after": after}


SCENES = {
    scene.__name__: scene
    for scene in (plugging, recognising, equal, configuring, remote, leader, calibrating, silent, refusing,
                  unplugged, reporting)
}

if __name__ == "__main__":
    result, *scenes = sys.argv[1:]
    pathlib.Path(result).write_text(json.dumps({scene: SCENES[scene]() for scene in scenes}))
