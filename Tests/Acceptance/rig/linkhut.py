"""Runs LinkHut 3.0.6, the demo program in Debian's ableton-link-utils, by its keys and its status line."""

import contextlib
import os
import pty
import re
import select
import subprocess
import threading
from dataclasses import dataclass

from rig.clocks import raw_microseconds
from rig.wait import PATIENCE, until

# The kernel kills it when its parent ends; otherwise it would keep using Link after a killed test.
WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]
LINE = re.compile(
    rb"(yes|no) +\| (\d+) +\| (\d+) +\| (yes|no) +\[(playing|stopped)\] +\| ([\d.]+) +\| (-?[\d.]+) +\|[^\r\n]*\r")


@dataclass(frozen=True)
class Reading:
    """One status line and when it was read, in microseconds of RAW."""

    at: int
    enabled: bool
    peers: int
    quantum: int
    start_stop_sync: bool
    playing: bool
    tempo: float
    beat: float


class LinkHut:
    """LinkHut with the JACK server it needs, without sound output."""

    def __init__(self):
        self.server = f"tactus-{os.getpid()}"
        environment = {
            **os.environ, "JACK_DEFAULT_SERVER": self.server, "JACK_NO_AUDIO_RESERVATION": "1",
            "JACK_NO_START_SERVER": "1",
        }
        self.jack = subprocess.Popen(
            # On a busy machine, a client may need longer to answer than the usual half second.
            [*WITH_PARENT, "jackd", "--name", self.server, "-R", "-P", "70", "--timeout", f"{1000 * PATIENCE:.0f}",
             "-d", "dummy", "-r", "48000", "-p", "256"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.readings = []
        self.hut = None
        self.ending = False
        try:
            waiting = subprocess.run(
                ["jack_wait", "--wait", "--timeout", f"{PATIENCE:.0f}"], env=environment, capture_output=True)
            assert waiting.returncode == 0, f"no JACK server: {waiting.stdout!r}"
            self.terminal, inner = pty.openpty()
            self.hut = subprocess.Popen(
                [*WITH_PARENT, "LinkHut"], env=environment, stdin=inner, stdout=inner, stderr=inner,
                start_new_session=True)
            os.close(inner)
            self.thread = threading.Thread(target=self.read, daemon=True)
            self.thread.start()
            until(lambda: self.readings, "LinkHut shows its status line")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends LinkHut, unless that has happened, and its JACK server."""
        if self.hut and self.hut.poll() is None:
            # JACK waits several seconds for a client that ends without disconnecting.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.quit()
        self.ending = True
        for process in (self.hut, self.jack):
            if process and process.poll() is None:
                process.terminate()
            if process:
                process.wait(timeout=2 * PATIENCE)

    def read(self):
        rest = b""
        while not self.ending:
            ready, _, _ = select.select([self.terminal], [], [], 0.1)
            if not ready:
                continue
            try:
                rest += os.read(self.terminal, 65536)
            except OSError:  # the terminal closed with the program
                return
            # Not before reading: on a busy machine, newer lines may come in between.
            at = raw_microseconds()
            read_to = 0
            for match in LINE.finditer(rest):
                enabled, peers, quantum, sync, transport, tempo, beat = match.groups()
                self.readings.append(Reading(
                    at, enabled == b"yes", int(peers), int(quantum), sync == b"yes", transport == b"playing",
                    float(tempo), float(beat)))
                read_to = match.end()
            rest = rest[read_to:]

    @property
    def now(self):
        return self.readings[-1]

    def press(self, key):
        os.write(self.terminal, key.encode())

    def wait(self, condition, what):
        """Waits for a reading that meets `condition`, and returns it."""
        first = len(self.readings)

        def met():
            return next((reading for reading in self.readings[first:] if condition(reading)), None)

        try:
            return until(met, what)
        except AssertionError as error:
            raise AssertionError(f"{error}; LinkHut shows {self.now}") from None

    def enable(self):
        self.press("a")
        self.wait(lambda reading: reading.enabled, "LinkHut's Link is on")

    def play(self):
        """Starts the transport, early enough before the bar that a Start can be sent in time."""
        self.wait(lambda reading: 0.1 < reading.beat % reading.quantum < reading.quantum - 0.5, "the bar is young")
        self.press(" ")

    def set_tempo(self, bpm):
        """Sets a whole tempo by LinkHut's keys, which change it by 1 BPM; waits for each step.

        LinkHut once ignored a key on a busy machine. One without effect for 5 s is pressed again.
        """
        def is_set():
            before = self.now.tempo
            if round(before) == bpm:
                return True
            self.press("e" if before < bpm else "w")
            with contextlib.suppress(AssertionError):
                until(lambda: self.now.tempo != before, "LinkHut's tempo moves", within=5)
            return False

        until(is_set, f"LinkHut's tempo is {bpm}")

    def quit(self):
        """Leaves the session with a bye-bye."""
        self.press("q")
        self.hut.wait(timeout=60)
