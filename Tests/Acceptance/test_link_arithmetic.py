"""Applies the same hundred thousand random operations to our session state and the official one, bit for bit."""

import random
import subprocess

import pytest

from rig.gateway import LINK_PROBE
from rig.peer import Peer
from rig.wait import until

pytestmark = pytest.mark.real("peer")

QUANTA = [0, 0.25, 0.5, 1, 2, 3, 4, 4, 5, 7.5, 8, 16]
GREAT = 1_000_000.0  # a quantum so large that shown beats are distances from the session's beat 0


def opened(state, connected):
    """The line of input that tells the probe the timeline of a captured state."""
    at = state.timeAtBeat(0, GREAT)
    origin = state.beatAtTime(at, 0) - state.beatAtTime(at, GREAT)
    return f"new {state.tempo()!r} {origin!r} {at} {int(connected)}"


class Script:
    """Records random operations on an official state, with their results."""

    def __init__(self, generator):
        self.random = generator
        self.lines = []

    def record(self, state, connected, operations):
        self.lines.append(opened(state, connected))
        near = state.timeAtBeat(0, GREAT)
        for _ in range(operations):
            self.random.choice([self.read, self.read, self.change])(state, near)

    def time(self, near):
        return near + self.random.randint(-10**7, 10**self.random.randint(4, 10))

    def beat(self):
        """A random beat in whole microbeats, which is our unit; the official library rounds to it."""
        return self.random.choice([
            float(self.random.randint(-64, 64)), round(self.random.uniform(-64, 64), 6),
            round(self.random.uniform(0, 1e5), 6)])

    def read(self, state, near):
        at, beat, quantum = self.time(near), self.beat(), self.random.choice(QUANTA)
        self.lines += [
            f"beat {at} {quantum} {state.beatAtTime(at, quantum)!r}",
            f"phase {at} {quantum} {state.phaseAtTime(at, quantum)!r}",
            f"time {beat!r} {quantum} {state.timeAtBeat(beat, quantum)}"]

    def change(self, state, near):
        at, beat, quantum = self.time(near), self.beat(), self.random.choice(QUANTA)
        tempo = self.random.choice([self.random.uniform(20, 999), float(self.random.randint(1, 1500))])
        match self.random.randrange(4):
            case 0:
                state.setTempo(tempo, at)
                self.lines += [f"setTempo {tempo!r} {at}", f"tempo {state.tempo()!r}"]
            case 1:
                state.requestBeatAtTime(beat, at, quantum)
                self.lines.append(f"requestBeat {beat!r} {at} {quantum}")
            case 2:
                state.forceBeatAtTime(beat, at, quantum)
                self.lines.append(f"forceBeat {beat!r} {at} {quantum}")
            case 3:
                playing = self.random.random() < 0.5
                state.setIsPlayingAndRequestBeatAtTime(playing, at, beat, quantum)
                self.lines += [
                    f"setIsPlaying {int(playing)} {at} {beat!r} {quantum}",
                    f"timeForIsPlaying {state.timeForIsPlaying()}"]


def test_a_hundred_thousand_random_operations_give_what_the_official_library_gives():
    for connected in (False, True):
        fifty_thousand(connected)


def fifty_thousand(connected):
    script = Script(random.Random(20808 + connected))
    with Peer(120) as peer, Peer(120) as other:
        if connected:
            until(lambda: peer.peers == 1 and other.peers == 1, "two official peers meet")
        else:
            other.close()
            until(lambda: peer.peers == 0, "it is alone")
        for _ in range(500):
            state = peer.link.captureAppSessionState()
            script.record(state, connected, 100)
    done = subprocess.run(
        [LINK_PROBE], input="\n".join(script.lines), capture_output=True, text=True, timeout=120)
    *differences, count = done.stdout.splitlines()
    assert done.returncode == 0 and not differences, f"{count}, the first: {differences[:5]}"
    assert int(count.split()[0]) >= 50_000
