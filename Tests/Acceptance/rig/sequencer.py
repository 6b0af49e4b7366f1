"""An observer at the ALSA sequencer whose events the kernel stamps, so that its own waking up does not matter."""

import errno
import fcntl
import os
import select
import struct
import time

from alsa_midi import PortCaps, PortType, SequencerClient
from alsa_midi._ffi import alsa, ffi
from alsa_midi.event import EventType

from rig.clocks import monotonic_and_raw
from rig.figures import straight

NAMES = {
    EventType.CLOCK: "clock", EventType.START: "start", EventType.CONTINUE: "continue", EventType.STOP: "stop",
    EventType.SONGPOS: "position",
}
POOL = 2000  # events the kernel keeps for us: five seconds of clock at 999 BPM
SETTLING = 0.05  # a queue that was just started reports times up to a millisecond wrong

SYSTEM_TIMER = 0
HIGH_RESOLUTION_TIMER = 3
SET_QUEUE_TIMER = 0x40605346  # the ioctl; the library has no call for it


def choose_timer(client, queue, timer, resolution=0):
    """Has a queue beat by one of the kernel's global timers, at a resolution in Hz (0: the default)."""
    words = struct.pack("iiiiiiiI64x", queue.queue_id, 0, 1, 0, -1, timer, 0, resolution)
    fcntl.ioctl(client._fd, SET_QUEUE_TIMER, words)


def give_way():
    """Lets every other thread go before the calling one: whoever measures must not be what is measured."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class Observer:
    """Records what arrives at one input port, stamped by the kernel at delivery.

    Reading it twice a second is enough, so that measuring costs the measured program nothing.
    """

    def __init__(self, name="Observer", timer=SYSTEM_TIMER):
        self.client = SequencerClient(name)
        self.client.set_client_pool_input(POOL)
        self.queue = self.client.create_queue("stamps")
        # Stamps are exact whatever the beat; a fast one would hold up other programs' queues.
        choose_timer(self.client, self.queue, timer)
        self.port = self.client.create_port(
            "In", caps=PortCaps.WRITE | PortCaps.SUBS_WRITE, type=PortType.MIDI_GENERIC | PortType.APPLICATION,
            timestamping=True, timestamp_real=True, timestamp_queue=self.queue)
        self.queue.start()
        self.client.drain_output()
        time.sleep(SETTLING)
        self.poll = select.poll()
        self.poll.register(self.client._fd, select.POLLIN)  # the library has no public name for it
        self.stamps = []  # [name, seconds of the queue, sender]
        self.queue_offsets = []  # (bracket, offset) of the queue against MONOTONIC, ns
        self.clock_pairs = []  # (MONOTONIC, RAW), ns
        self.sample_clocks()

    def subscribe(self, address):
        self.client.subscribe_port(address, self.port)

    def find(self, client_name, port_name, within=5.0):
        """The address of a port that another client is about to create."""
        deadline = time.monotonic() + within
        while True:
            for port in self.client.list_ports():
                if port.client_name == client_name and port.name.strip() == port_name:
                    return port.client_id, port.port_id
            if time.monotonic() > deadline:
                raise AssertionError(f"no port {client_name}:{port_name} within {within} s")
            time.sleep(0.01)

    def sample_clocks(self):
        """Relates queue, MONOTONIC and RAW to one another, now."""
        for _ in range(5):
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            at = self.client.get_queue_status(self.queue.queue_id).real_time
            after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            queue = at.seconds * 1_000_000_000 + at.nanoseconds
            self.queue_offsets.append((after - before, (before + after) / 2 - queue))
        self.clock_pairs.append(monotonic_and_raw())

    def read(self):
        """Takes in what has arrived; fails if the kernel had to throw anything away."""
        event = ffi.new("snd_seq_event_t **")
        while (result := alsa.snd_seq_event_input(self.client.handle, event)) != -errno.EAGAIN:
            if result < 0:
                raise AssertionError(f"the observer lost events: {errno.errorcode.get(-result, result)}")
            kind = NAMES.get(event[0].type)
            if kind:
                at = event[0].time.time
                sender = f"{event[0].source.client}:{event[0].source.port}"
                self.stamps.append([kind, at.tv_sec * 1_000_000_000 + at.tv_nsec, sender])
        self.sample_clocks()

    def watch(self, seconds, every=0.5, during=lambda: None):
        """Lets time pass, reading now and then and calling `during` each time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(every, left))
            self.read()
            during()

    def events(self):
        """Everything seen, as [name, microseconds of RAW, sender]."""
        offset = min(self.queue_offsets)[1]
        # The kernel steers MONOTONIC evenly, so one straight line through all readings is truer than any two of them.
        rate, start = straight(self.clock_pairs)
        return [[kind, (start + rate * (at + offset)) / 1000, sender] for kind, at, sender in self.stamps]
