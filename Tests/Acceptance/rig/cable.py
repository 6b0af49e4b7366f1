"""A cable with a known delay: sends back what a port's raw side receives, after that delay."""

import itertools
import os
import select
import threading
import time

from rig.clocks import raw_microseconds
from rig.framed import FramedLine


class Cable:
    """Sends back Timing Clocks until `pull`, using `delays` in turn, in microseconds."""

    def __init__(self, delays, number=0):
        self.line = FramedLine(number)
        self.end = os.open(f"/dev/snd/midiC0D{number}", os.O_WRONLY)
        self.delays = itertools.cycle(delays)
        self.pulling = False
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()

    def carry(self):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))
        poll = select.poll()
        poll.register(self.line.descriptor, select.POLLIN)
        while not self.pulling:
            poll.poll(100)
            self.line.read()
            ticks = [at for name, at in self.line.events if name == "clock"]
            self.line.events.clear()
            for at in ticks:
                left = at + next(self.delays) - raw_microseconds()
                time.sleep(max(0, left) / 1e6)
                os.write(self.end, b"\xF8")

    def pull(self):
        self.pulling = True
        self.thread.join()
        self.line.close()
        os.close(self.end)
