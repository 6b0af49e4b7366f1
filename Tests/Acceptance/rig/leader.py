"""Machines whose clock the gateway follows."""

import os
import threading
import time

from alsa_midi import ClockEvent, RealTime, SequencerClient

from rig.clocks import monotonic_and_raw
from rig.sequencer import port_named

TICK, START, CONTINUE, STOP = b"\xF8", b"\xFA", b"\xFB", b"\xFC"
LEAD = 0.003  # seconds from a Start to its tick


class Leader:
    """Sends to the raw side of a virtual port, on its own thread, from its creation until `stop`.

    Tick n is due at `truth[n]`, in microseconds of RAW. It is sent `late(n)` seconds later, or earlier if negative,
    and after the bytes `before[n]`.
    """

    def __init__(self, bpm, number=1, late=lambda tick: 0.0, card=0):
        self.line = os.open(f"/dev/snd/midiC{card}D{number}", os.O_WRONLY)
        self.interval = 2.5 / bpm
        self.late = late
        self.truth = []
        self.before = {}  # by tick: bytes sent LEAD before it
        self.stopping = False
        self.thread = threading.Thread(target=self.play, daemon=True)
        self.thread.start()

    def play(self):
        # Sending must not wait for other programs. If real-time priority is refused, continue without it.
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))
        except PermissionError:
            pass
        monotonic, raw = monotonic_and_raw()
        start, first = monotonic / 1e9 + 0.05, raw / 1000 + 50_000
        number = 0
        while not self.stopping:
            due = start + number * self.interval
            self.truth.append(first + number * self.interval * 1e6)
            if words := self.before.pop(number, None):
                self.wait(due - LEAD)
                os.write(self.line, words)
            self.wait(due + self.late(number))
            os.write(self.line, TICK)
            number += 1

    @staticmethod
    def wait(until):
        if (left := until - time.monotonic()) > 0:
            time.sleep(left)

    def soon(self, words, after=24):
        """Sends the bytes `words` before the tick that is `after` ticks from now; returns the tick's number."""
        number = len(self.truth) + after
        self.before[number] = words
        return number

    def stop(self):
        self.stopping = True
        self.thread.join()
        os.close(self.line)


class QueuedLeader:
    """A port whose ticks the kernel's timer sends, so that, as on a cable, load does not make them late."""

    NAME = "Other Machine"
    INTERVAL = 20_000_000  # nanoseconds: 125 BPM, a whole number of the timer's milliseconds
    AHEAD = 100  # ticks that wait in the queue

    def __init__(self):
        self.client = SequencerClient(self.NAME)
        self.client.set_client_pool_output(2 * self.AHEAD)
        self.queue = self.client.create_queue("clock")
        self.port = self.client.create_port(self.NAME)
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.fill, daemon=True)
        self.queue.start()
        self.client.drain_output()
        self.thread.start()

    def send_to(self, name):
        """Subscribes another port to its clock."""
        self.client.subscribe_port(self.port, port_named(self.client, name))

    def fill(self):
        number = self.AHEAD // 4  # half a second from now, so that the first ones are queued in time
        while True:
            now = self.client.get_queue_status(self.queue.queue_id).real_time
            last = (now.seconds * 1_000_000_000 + now.nanoseconds) // self.INTERVAL + self.AHEAD
            for number in range(number + 1, last + 1):
                due = RealTime(0, number * self.INTERVAL)
                self.client.event_output(ClockEvent(time=due, relative=False), queue=self.queue, port=self.port)
            self.client.drain_output()
            if self.stopping.wait(self.AHEAD * self.INTERVAL / 4e9):
                return

    def stop(self):
        self.stopping.set()
        self.thread.join()
        self.client.close()
