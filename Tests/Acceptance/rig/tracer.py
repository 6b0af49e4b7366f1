"""Runs Link programs that print their state ten times a second: our metronome, and an official peer."""

import os
import pathlib
import subprocess
import sys
import threading
from dataclasses import dataclass

from rig.gateway import PROGRAMS
from rig.wait import until

METRONOME = os.environ.get("METRONOME", str(PROGRAMS / "metronome"))
OFFICIAL = pathlib.Path(__file__).with_name("official.py")
WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]


@dataclass(frozen=True)
class Reading:
    """One printed line: the program's state at the time `at`, in microseconds of RAW."""

    at: int
    beat: float
    phase: float
    tempo: float
    quantum: float
    peers: int
    enabled: bool
    playing: bool
    start_stop_sync: bool


class Tracer:
    """A running program; `enter` are the words in front of its command that run it on its host."""

    def __init__(self, command, enter=()):
        self.readings = []
        self.process = subprocess.Popen(
            [*enter, *WITH_PARENT, *map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        until(lambda: self.readings, f"{command} tells something; it has ended with {self.process.poll()}")

    def read(self):
        for line in self.process.stdout:
            words = line.split()
            if len(words) != 9:  # an unfinished last line, because the program was ended
                return
            self.readings.append(Reading(
                int(words[0]), *map(float, words[1:5]), int(words[5]), *(word == b"1" for word in words[6:9])))

    @property
    def now(self):
        return self.readings[-1]

    def press(self, keys):
        self.process.stdin.write(keys.encode())
        self.process.stdin.flush()

    def enable(self):
        self.press("a")
        self.wait(lambda reading: reading.enabled, "Link is on")

    def wait(self, condition, what):
        """Waits for a reading that meets `condition`, and returns it."""
        first = len(self.readings)
        try:
            return until(
                lambda: next((one for one in self.readings[first:] if condition(one)), None), what, every=0.01)
        except AssertionError as error:
            raise AssertionError(f"{error}; last: {self.now}") from None

    def quit(self):
        self.press("q")
        self.process.wait(timeout=60)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def metronome(tempo=120, enter=()):
    return Tracer([METRONOME, "--trace", "--tempo", tempo], enter)


def official(tempo=120, enter=()):
    return Tracer([sys.executable, OFFICIAL, tempo], enter)


def apart(one, other):
    """The distance between the bars of two readings, in microseconds; positive if `other` is ahead."""
    beat = 60e6 / one.tempo
    expected = one.phase + (other.at - one.at) / beat
    ahead = (other.phase - expected + one.quantum / 2) % one.quantum - one.quantum / 2
    return ahead * beat


def together(*tracers):
    """Whether, by their last readings, all programs count each other as peers and have the same tempo."""
    return all(
        tracer.now.peers == len(tracers) - 1 and abs(tracer.now.tempo / tracers[0].now.tempo - 1) < 2e-5
        for tracer in tracers)
