"""Faults of devices, lines, receivers and the sequencer."""

import contextlib
import os
import time

from alsa_midi import ClockEvent, NoteOnEvent, PortCaps, PortType, SequencerClient
from alsa_midi._ffi import alsa, ffi
from alsa_midi.event import EventType
from alsa_midi.exceptions import ALSAError

from judge import ON_TIME, Tick
from rig.clocks import raw_microseconds
from rig.framed import FramedLine
from rig.rawline import RawLine
from rig.sequencer import Observer
from rig.usb import Gadget, make_sockets
from rig.wait import until
from stage import AT_A_BAR, BAR, INTERVAL, Output, Unavailable, fault, heard

ASLEEP = 15  # seconds
SOON = 0.1  # seconds, until an output has what it was refused


def has(status, code):
    return [warning["message"] for warning in status["warnings"] if warning["code"] == code]


def client(stage, name):
    """Another program at the sequencer, until the fault ends."""
    made = SequencerClient(name)
    stage.stack.callback(made.close)
    return made


def connected(status, part):
    return all(output["connected"] for output in status["outputs"] if part in output["name"])


@fault("the reader of a raw line sleeps for 15 s; the song is stopped meanwhile", within=SOON)
def reader_asleep_at_stop(stage):
    line = stage.fifo()
    gateway = stage.start("--output", f"raw:{line.line.path}")
    for round in stage.rounds():
        stage.play(gateway)
        round.hit = line
        with line.line.full():
            gateway.post("transport", {"playing": False})
            time.sleep(ASLEEP)
            round.expect(has(gateway.status(), "out-of-step"), "no warning")
        round.over()
        time.sleep(2)
        round.expect(not has(gateway.status(), "out-of-step"), "the warning stays")


@fault("the reader of a raw line sleeps for 15 s while the song plays", within=AT_A_BAR)
def reader_asleep(stage):
    line = stage.fifo()
    gateway = stage.start("--output", f"raw:{line.line.path}")
    stage.play(gateway)
    for round in stage.rounds():
        round.hit = line
        with line.line.full():
            time.sleep(ASLEEP + 0.37 * round.number)
        round.over()
        time.sleep(2 * BAR)


class Receiver(Observer):
    """A program that receives at the sequencer; while it sleeps, the kernel has room for a second of clock."""

    def __init__(self):
        super().__init__("Sleeper", pool=60, forgiving=True)

    def messages(self, since):
        return [name for name, at, _ in self.events() if name != "clock" and at >= since]

    @property
    def ticks(self):
        plays, ticks = False, []
        for name, at, _ in self.events():
            if name == "clock":
                ticks.append(Tick(at, plays))
            elif name != "position":
                plays = name != "stop"
        return ticks


@fault("a receiving program sleeps for 15 s; the song is stopped meanwhile", within=SOON)
def receiver_asleep_at_stop(stage):
    receiver = Receiver()
    stage.stack.callback(receiver.client.close)
    gateway = stage.start("--output", "Sleeper")
    for round in stage.rounds():
        stage.play(gateway, seconds=0)
        receiver.watch(1, every=0.2)
        round.hit = receiver
        time.sleep(2)
        gateway.post("transport", {"playing": False})
        time.sleep(ASLEEP - 2)
        receiver.read()
        round.over()
        receiver.watch(2, every=0.2)


@fault("a receiving program sleeps for 15 s while the song plays", within=AT_A_BAR)
def receiver_asleep(stage):
    receiver = Receiver()
    stage.stack.callback(receiver.client.close)
    gateway = stage.start("--output", "Sleeper")
    stage.play(gateway, seconds=0)
    receiver.watch(1, every=0.2)
    for round in stage.rounds():
        round.hit = receiver
        time.sleep(ASLEEP + 0.37 * round.number)
        receiver.read()
        round.over()
        receiver.watch(2 * BAR, every=0.2)


@fault("a receiving program is killed, and started again after a second", within=AT_A_BAR)
def receiver_killed(stage):
    gateway = stage.start("--output", "Box")
    stage.play(gateway)
    output = Output()
    for round in stage.rounds():
        box = Observer("Box")
        round.over()
        box.watch(2 * BAR, every=0.2)
        box.client.close()  # the kernel does the same for a program that is killed
        output.before = [(name, at, None) for name, at, _ in box.events() if name != "position"]
        round.hit, round.until = output, raw_microseconds()
        gateway.wait_status(lambda status: not connected(status, "Box"), "it is seen to be gone")
        time.sleep(1)


@fault("another program takes away a device's subscription", within=7 + AT_A_BAR)
def subscription_removed(stage):
    device = stage.card()
    gateway = stage.start("--output", "VirMIDI 1-0")
    stage.play(gateway)
    other = client(stage, "Patch bay")
    for round in stage.rounds():
        ports = [port for port in other.list_ports() if port.name.strip() == "VirMIDI 1-0"]
        source = next(port for port in ports if port.client_name == "Tactus")
        target = next(port for port in ports if port.client_name != "Tactus")
        round.hit = device
        round.over()
        other.unsubscribe_port(source, target)
        time.sleep(10)


@fault("a device is pulled for some milliseconds or seconds and plugged in again", within=AT_A_BAR, times=12)
def cable_pulled(stage):
    device = stage.card()
    gateway = stage.start("--output", "VirMIDI 1-0")
    stage.play(gateway)
    for round in stage.rounds():
        round.hit = device
        stage.pull(device)
        time.sleep(0.005 * 1.35**round.number)
        stage.plug(device)
        round.over()
        time.sleep(2 * BAR)


@fault("the reader of a FIFO ends, and another comes after 2 s", within=AT_A_BAR + 1)
def fifo_reader_leaves(stage):
    path = stage.folder / "leaving"
    gateway = stage.start("--output", f"raw:{path}")
    stage.play(gateway)
    output = Output()
    for round in stage.rounds():
        time.sleep(2)
        with RawLine(path) as line:
            round.over()
            time.sleep(3 * BAR)
            output.before = output.heard(line)
            round.hit, round.until = output, raw_microseconds()
        os.unlink(path)


@fault("a USB device is reset while its Start is pending until the next bar", within=AT_A_BAR)
def usb_reset_before_start(stage):
    if not make_sockets():
        raise Unavailable("this kernel's package has no USB gadgets")
    device = Gadget("Box", 2)
    device.plug()
    stage.stack.callback(device.pull)
    time.sleep(1)
    stage.official()
    gateway = stage.start("--output", "Box MIDI 1", link=True)
    output = Output(FramedLine(0, card=device.card))
    for round in stage.rounds():
        round.hit = output
        until(lambda: 0.5 < stage.peer.phase(stage.peer.now()) < 1, "the bar is young")
        gateway.post("transport", {"playing": True})
        time.sleep(0.2)
        round.expect(gateway.status()["transport"] != "playing", "the Start was not pending")
        output.line.close()
        output.change(None)
        device.pull()
        time.sleep(0.1)
        device.plug()
        until(lambda: os.path.exists(f"/proc/asound/far{device.socket}"), "the device is back")
        output.line = FramedLine(0, card=device.card)
        round.over()
        time.sleep(3 * BAR)
        gateway.post("transport", {"playing": False})
        time.sleep(0.5)
    output.line.close()


@fault("all sequencer queues are taken before the start")
def queues_taken(stage):
    for round in stage.rounds():
        other = SequencerClient("Greedy")
        queues = taken(other.create_queue)
        gateway = stage.start(name=f"gateway {round.number}")
        dispatch = gateway.status()["realtime"]["dispatch"]
        round.expect(dispatch == "direct", f"{len(queues)} queues taken, and yet dispatch is {dispatch}")
        stage.play(gateway, seconds=3)
        stage.end(gateway, round)
        other.close()


def taken(take):
    """Calls `take` until it is refused, and returns what it gave."""
    found = []
    with contextlib.suppress(Exception):
        while len(found) < 500:
            found.append(take())
    return found


@fault("all sequencer clients are taken before the start")
def clients_taken(stage):
    """Raw lines have their clock. The sequencer is used only after a restart, and a warning says so."""
    line = stage.fifo()
    for round in stage.rounds():
        clients = taken(lambda: SequencerClient("Greedy"))
        gateway = stage.start("--output", f"raw:{line.line.path}", name=f"gateway {round.number}")
        stage.judged = float("inf")
        since = raw_microseconds()
        time.sleep(3)
        found = heard(line, since, INTERVAL)
        round.expect(not found.lost and not found.doubled and found.worst < ON_TIME, f"the raw line's clock: {found}")
        warnings = [warning for warning in gateway.status()["warnings"] if warning["code"] == "no-sequencer"]
        round.expect(warnings and "close other MIDI programs" in warnings[0]["fix"], f"it warns of {warnings}")
        for client in clients:
            client.close()
        gateway.stop()


@fault("another program sends 50 000 messages to the gateway's input port")
def port_flooded(stage):
    gateway = stage.start()
    stage.play(gateway)
    other = client(stage, "Chatty")
    port = next(port for port in other.list_ports() if port.client_name == "Tactus In")
    out = other.create_port("Out", caps=PortCaps.READ, type=PortType.MIDI_GENERIC)
    for round in stage.rounds():
        for number in range(50_000):
            event = ClockEvent() if number % 3 == 0 else NoteOnEvent(number % 128, 0, 100)
            other.event_output_direct(event, port=out, dest=port)
        round.over()
        time.sleep(1)


@fault("another program stops and speeds up every queue that it may")
def queues_stopped(stage):
    gateway = stage.start()
    stage.play(gateway)
    other = client(stage, "Meddler")
    for round in stage.rounds():
        refused = 0
        for queue in range(8):
            for kind, value in ((EventType.TEMPO, 30_000), (EventType.STOP, 0)):
                alsa.snd_seq_control_queue(other.handle, queue, kind, value, ffi.NULL)
                try:
                    other.drain_output()
                except ALSAError:
                    other.drop_output()
                    refused += 1
        round.note(f"the kernel refuses {refused} of 16 attempts")
        time.sleep(3)
