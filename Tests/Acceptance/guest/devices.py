"""In the lab: plugs, unplugs and configures devices while a gateway runs, and records what each of them receives.

    devices.py RESULT.json SCENE...

`plugging:50` has fifty rounds, `machines:6` one machine in six. The record is judged on the host, by test_devices.py. All times are microseconds of Link's
host time. The devices are USB gadgets; ports without a cable stand for them where the kernel's stamps are to be exact.
"""

import errno
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import PortCaps, PortType, SequencerClient  # noqa: E402
from alsa_midi._ffi import alsa, ffi  # noqa: E402

from rig.cable import Cable  # noqa: E402
from rig.cards import make_cards, sequencer  # noqa: E402
from rig.clocks import raw_microseconds  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import TACTUS, Gateway, environment  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.sequencer import NAMES, Observer  # noqa: E402
from rig.usb import Gadget, make_sockets  # noqa: E402
from rig.wait import until  # noqa: E402

TEMPO = 120
# At this tempo a bar lasts a second.
FAST = 240
CARDS = pathlib.Path("/proc/asound/cards")


class Scene:
    """A gateway in its own folder, with the given profiles."""

    def __init__(self, *arguments, profiles=None, tempo=TEMPO):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        words = ["--no-link", "--tempo", tempo, "--profiles", self.write_profiles(profiles or {})]
        self.gateway = Gateway(*words, *arguments, folder=self.path / "gateway")

    def write_profiles(self, profiles):
        folder = self.path / "profiles"
        folder.mkdir()
        for name, lines in profiles.items():
            (folder / f"{name}.yaml").write_text(f"version: 1\nname: {name}\n{lines}")
        return folder

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


# Scene 1: each machine that a profile recognises.


def machines(one_in=1):
    """The gateway has run for long without any; then each is plugged in for a while, with its name, number and ports.

    Or only one in so many, in the order of their profiles.
    """
    if not make_sockets():
        return None
    record = {}
    with Scene() as gateway:
        time.sleep(30)
        profiles = [one for one in json.loads(gateway_less("profiles", "list", "--json")) if one["match"]]
        for profile in profiles[::one_in]:
            record[profile["id"]] = recognised(gateway, profile)
        gateway.stop()
    return record


def recognised(gateway, profile):
    """What happens to the machine that one profile recognises, from being plugged in to being pulled."""
    (name,) = profile["match"]
    machine = Gadget(name.removesuffix(" MIDI 1"), 0)
    found = {"plugged": raw_microseconds()}
    machine.plug()
    line = FramedLine(0, card=machine.card)

    def ports():
        """Its ports, each with the ports of the gateway that it hears."""
        every = sequencer()
        own = [(address, port["name"]) for address, port in every.items() if port["client"] == machine.name]
        heard = {name: [other["name"] for other in every.values() if address in other["to"]] for address, name in own}
        if heard:
            found.setdefault("seen", raw_microseconds())
        return heard

    until(lambda: any(ports().values()), f"{name} is connected")
    found["connected"] = raw_microseconds()
    line.hear(24)
    status = gateway.wait_status(lambda status: any(list(connected(status).values())[1:]), f"{name} is told")
    found["outputs"] = [[output["name"], output["profile"]] for output in status["outputs"][1:] if output["connected"]]
    found["ports"], found["first"] = ports(), line.events[0][1]
    line.close()
    machine.pull()
    gateway.wait_status(lambda status: not any(list(connected(status).values())[1:]), f"{name} is gone")
    machine.remove()
    return found


def gateway_less(*words):
    """What a command prints that needs no gateway."""
    return subprocess.run([TACTUS, *words], check=True, capture_output=True, text=True).stdout


# Scene 2: machines are unplugged and plugged in again while the song plays, and another plays on.


def plugging(rounds=5):
    """Each round has two returns.

    The other has no cable, because a USB driver that is looking at one machine may hold up what it carries to another.
    """
    if not make_sockets():
        return None
    chance = random.Random(1)
    machines = [Gadget(name, socket) for socket, name in enumerate(("TR-8S", "Deluge"))]
    for machine in machines:
        machine.plug()
    lines, steady = [FramedLine(0, card=machine.card) for machine in machines], FramedLine(0)
    returns, samples = [], []
    with Scene(profiles={"steady": matching("VirMIDI 0-0")}, tempo=FAST) as gateway:
        gateway.wait_status(lambda status: sum(connected(status).values()) == 3, "all are connected")
        gateway.post("transport", {"playing": True})
        for line in (*lines, steady):
            until(lambda: line.read() or ["start"] == words(line), "it plays")
        for _ in range(rounds):
            for machine, line in zip(machines, lines):
                line.close()
                machine.pull()
                time.sleep(chance.uniform(0.002, 0.1))
            for number, machine in enumerate(machines):
                machine.plug()
                lines[number] = FramedLine(0, card=machine.card)
            for line in lines:
                until(lambda: line.read() or words(line)[-1:] == ["continue"], "it plays again")
            # The next time they are unplugged anywhere in a bar.
            time.sleep(chance.uniform(0.7, 1.7) * 4 * 60 / FAST)
            steady.read()
            for machine, line in zip(machines, lines):
                line.read()
                returns.append({"name": machine.name, "events": line.events, "positions": line.positions})
            samples.append([resident(gateway.process.pid), sequencer()])
        machine = machines[0]
        lines[0].close()
        before = gateway.status()
        machine.pull()
        away = gateway.wait_status(lambda status: warned(status, "output-away"), "the warning")
        record = {
            "before": before, "away": away, "text": gateway.command("status").stdout,
            "realign": ended(gateway.command("realign", machine.name)), "log": gateway.stderr}
        machine.plug()
        lines[0] = FramedLine(0, card=machine.card)
        record["back"] = gateway.wait_status(lambda status: not warned(status, "output-away"), "it is back")
        gateway.stop()
    steady.read()
    for line in (*lines, steady):
        line.close()
    for machine in machines:
        machine.pull()
        machine.remove()
    return {
        **record, "returns": returns, "steady": steady.events, "samples": samples, "rounds": rounds,
        "interval": 60e6 / FAST / 24}


def words(line):
    """What a line has received, except the clock."""
    return [name for name, _ in line.events if name != "clock"]


def equal():
    """Two machines of one kind, one with its output disabled; then they are plugged in in the opposite order."""
    if not make_sockets():
        return None
    machines = [Gadget("TR-8S", socket) for socket in range(2)]

    def plug_in(order):
        for machine in order:
            before = sequencer()
            machine.plug()
            until(lambda: len(sequencer()) > len(before) + machine.ports, "both sides are there")

    def heard():
        """How many bytes each machine receives in a second."""
        lines = [FramedLine(0, card=machine.card) for machine in machines]
        time.sleep(1)
        for line in lines:
            line.read()
            line.close()
        return [len(line.events) for line in lines]

    plug_in(machines)
    with Scene() as gateway:
        status = gateway.wait_status(lambda status: sum(connected(status).values()) == 2, "both are connected")
        gateway.request("PATCH", f"/api/v1/outputs/{status['outputs'][-1]['id']}", {"enabled": False})
        record = {"first": status, "heard first": heard()}
        for machine in machines:
            machine.pull()
        record["away"] = gateway.wait_status(lambda status: not any(connected(status).values()), "both are away")
        plug_in(reversed(machines))
        record["swapped"] = gateway.wait_status(
            lambda status: all(list(connected(status).values())[1:]), "both are back")
        record["heard swapped"] = heard()
        gateway.stop()
    for machine in machines:
        machine.pull()
        machine.remove()
    return record


def ended(process):
    return [process.returncode, process.stdout, process.stderr]


# Scene 3: measuring the delay to a device.


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


# Scene 4: devices that are connected but receive nothing.


def silent():
    """One machine is first in use by another program and later accepts nothing; another loses its subscription.

    A gadget always accepts what it is sent. So a file is mounted over the kernel's account of its driver, which shows
    a full buffer.
    """
    if not make_sockets():
        return None
    box, drums, steady = machines = [Gadget(name, socket) for socket, name in enumerate(("Box", "Drums", "Steady"))]
    for machine in machines:
        machine.plug()
    until(lambda: all(f"USB-Audio - {machine.name}" in CARDS.read_text() for machine in machines), "the drivers are there")
    lines, record, marks = [FramedLine(0, card=machine.card) for machine in machines], {}, {}
    patchbay = SequencerClient("Patchbay")

    def port(client, name):
        return next(port for port in patchbay.list_ports() if (port.client_name, port.name.strip()) == (client, name))

    def mark(name, condition):
        since = raw_microseconds()
        record[name] = gateway.wait_status(condition, name)
        marks[name] = [since, raw_microseconds()]

    account = pathlib.Path(f"/proc/asound/card{box.driver}/midi0")
    other = os.open(f"/dev/snd/midiC{box.driver}D0", os.O_WRONLY)
    with Scene(profiles={name.lower(): matching(f"{name} MIDI 1") for name in ("Box", "Drums", "Steady")}) as gateway:
        gateway.post("transport", {"playing": True})
        mark("taken", lambda status: warned(status, "output-away"))
        os.close(other)
        mark("free", lambda status: connected(status)["Box"])
        time.sleep(7)
        record["well"], record["account"] = gateway.status(), account.read_text()
        patchbay.unsubscribe_port(port("Tactus", "Drums"), port("Drums", "Drums MIDI 1"))
        stuck = pathlib.Path("/tmp/stuck")
        stuck.write_text(re.sub(r"(Avail +: )\d+", r"\g<1>4000", record["account"]))
        subprocess.run(["mount", "--bind", stuck, account], check=True)
        mark("stuck", lambda status: warned(status, "device-stuck"))
        subprocess.run(["umount", account], check=True)
        mark("again", lambda status: not warned(status, "device-stuck"))
        time.sleep(5)
        record["last"], record["ports"], record["log"] = gateway.status(), sequencer(), gateway.stderr
        gateway.stop()
    patchbay.close()
    for machine, line in zip(machines, lines):
        line.read()
        line.close()
        machine.pull()
        machine.remove()
    return {
        **record, "marks": marks, "positions": lines[0].positions, "lines": [line.events for line in lines]}


# Scene 5: a program that does not read its messages for a while.


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


SCENES = {
    scene.__name__: scene
    for scene in (machines, plugging, equal, calibrating, silent, refusing)}


def main(result, *scenes):
    record = {}
    for scene in scenes:
        name, *rounds = scene.split(":")
        record[name] = SCENES[name](*map(int, rounds))
    pathlib.Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main(*sys.argv[1:])
