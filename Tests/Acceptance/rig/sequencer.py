"""An observer at the ALSA sequencer. The kernel timestamps its events, so it need not wake up on time."""

import contextlib
import errno
import fcntl
import os
import select
import struct
import subprocess
import time

from alsa_midi import PortCaps, PortType, SequencerClient
from alsa_midi._ffi import alsa, ffi
from alsa_midi.event import EventType

from rig.clocks import monotonic_and_raw
from rig.figures import straight
from rig.wait import until

NAMES = {
    EventType.CLOCK: "clock", EventType.START: "start", EventType.CONTINUE: "continue", EventType.STOP: "stop",
    EventType.SONGPOS: "position",
}
POOL = 2000  # events that the kernel buffers for us: five seconds of clock at 999 BPM
SETTLING = 0.05  # seconds; a queue that was just started reports times that are wrong by up to 1 ms

SYSTEM_TIMER = 0
SET_QUEUE_TIMER = 0x40605346  # the ioctl; the Python library has no call for it


def port_named(client, words):
    """The first port of any client whose name has these words."""
    return next(port for port in client.list_ports() if words in port.name)


def choose_timer(client, queue, timer):
    """Makes a queue use one of the kernel's global timers."""
    words = struct.pack("iiiiiiiI64x", queue.queue_id, 0, 1, 0, -1, timer, 0, 0)
    fcntl.ioctl(client._fd, SET_QUEUE_TIMER, words)


@contextlib.contextmanager
def another_queue(hertz):
    """Keeps the queue of another program running inside a `with` block, its timer at this many Hz.

    `ANOTHER_QUEUE` in the environment names the program compiled from guest/another_queue.c.
    """
    with subprocess.Popen([os.environ["ANOTHER_QUEUE"], str(hertz)], stdout=subprocess.PIPE) as process:
        try:
            if not process.stdout.readline():
                raise RuntimeError("the other program's queue did not start")
            yield
        finally:
            process.kill()


def give_way():
    """Gives the calling thread the lowest priority, so that measuring does not disturb what is measured."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


class Observer:
    """Records the events that arrive at one input port, with the kernel's timestamps.

    Reading it twice a second is enough, so that measuring does not disturb the program under test.
    """

    def __init__(self, name="Observer"):
        self.client = SequencerClient(name)
        self.client.set_client_pool_input(POOL)
        self.queue = self.client.create_queue("stamps")
        # The timestamps are exact with any timer, but a fast timer would disturb other programs' queues.
        choose_timer(self.client, self.queue, SYSTEM_TIMER)
        self.port = self.client.create_port(
            "In", caps=PortCaps.WRITE | PortCaps.SUBS_WRITE, type=PortType.MIDI_GENERIC | PortType.APPLICATION,
            timestamping=True, timestamp_real=True, timestamp_queue=self.queue)
        self.queue.start()
        self.client.drain_output()
        time.sleep(SETTLING)
        self.poll = select.poll()
        self.poll.register(self.client._fd, select.POLLIN)  # the library has no public name for the descriptor
        self.stamps = []  # [name, seconds of the queue, sender]
        self.queue_offsets = []  # (bracket, offset) of the queue against MONOTONIC, ns
        self.clock_pairs = []  # (MONOTONIC, RAW), ns
        self.sample_clocks()

    def subscribe(self, address):
        self.client.subscribe_port(address, self.port)

    def find(self, client_name, port_name):
        """Waits for another client's port to appear, and returns its address."""

        def found():
            return [
                (port.client_id, port.port_id) for port in self.client.list_ports()
                if port.client_name == client_name and port.name.strip() == port_name]

        return until(found, f"there is a port {client_name}:{port_name}", every=0.01)[0]

    def sample_clocks(self):
        """Reads the queue's time, CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW together."""
        for _ in range(5):
            before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            at = self.client.get_queue_status(self.queue.queue_id).real_time
            after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            queue = at.seconds * 1_000_000_000 + at.nanoseconds
            self.queue_offsets.append((after - before, (before + after) / 2 - queue))
        self.clock_pairs.append(monotonic_and_raw())

    def read(self):
        """Records the events that have arrived. Fails if the kernel has dropped any."""
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
        """Waits for the given time; reads and calls `during` every `every` seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(every, left))
            self.read()
            during()

    def events(self):
        """All recorded events, as [name, microseconds of RAW, sender]."""
        offset = min(self.queue_offsets)[1]
        # The kernel adjusts CLOCK_MONOTONIC evenly, so a straight line through all readings is the best estimate.
        rate, start = straight(self.clock_pairs)
        return [[kind, (start + rate * (at + offset)) / 1000, sender] for kind, at, sender in self.stamps]
