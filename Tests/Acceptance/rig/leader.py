"""Machines whose clock the gateway follows."""

import os
import threading
import time

from rig.clocks import monotonic_and_raw

TICK, START, CONTINUE, STOP = b"\xF8", b"\xFA", b"\xFB", b"\xFC"
LEAD = 0.003  # seconds from a Start to its tick


class Leader:
    """Sends to the raw side of virtual port 1, on its own thread, from its creation until `stop`.

    Tick n is due at `truth[n]`, in microseconds of RAW. It is sent `late(n)` seconds later, or earlier if negative,
    and after the bytes `before[n]`.
    """

    def __init__(self, bpm, late):
        self.line = os.open("/dev/snd/midiC0D1", os.O_WRONLY)
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
