"""Whether the machine gave its programs their time: a process of its own sleeps again and again, and tells how late it
has woken at the most.

It runs before every ordinary program, so what a test loads the machine with is no excuse; what a busy host takes away
from a virtual machine is.
"""

import contextlib
import os
import select
import subprocess
import sys
import time

LONG = 0.003  # seconds: held up for so long, a gateway cannot send a Start with its lead
NAP = 0.002


class Stalls:
    """The witness of one test at a time."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True)
        self.longest = 0.0
        self.begin()

    def ask(self):
        self.process.stdin.write(b"?")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def begin(self):
        """Forgets what was."""
        self.ask()
        self.longest = 0.0

    def happened(self):
        """Whether the machine has stalled since `begin`."""
        self.longest = max(self.longest, self.ask())
        return self.longest > LONG

    def close(self):
        self.process.kill()
        self.process.wait()


def watch():
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    longest = 0.0
    while True:
        before = time.monotonic()
        if not select.select([0], [], [], NAP)[0]:
            longest = max(longest, time.monotonic() - before - NAP)
            continue
        if not os.read(0, 1):
            return
        print(longest, flush=True)
        longest = 0.0


if __name__ == "__main__":
    watch()
