"""In the lab: runs a session with one official peer, one gateway and one observer, and records what happens.

    clock.py RESULT.json

The record is judged on the host, by test_sequencer.py. All times are microseconds of Link's host time.
"""

import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.peer import Peer  # noqa: E402
from rig.sequencer import Observer, give_way  # noqa: E402
from rig.wait import until  # noqa: E402

TEMPO = 133.7
STEADY = 5.0  # seconds


class Session:
    """Records the peer's view of time while the session runs."""

    def __init__(self, peer, observer):
        self.peer = peer
        self.observer = observer
        self.grid = []  # (time, beat) of every beat and every change of tempo
        self.marks = {}
        self.note_beats()

    def note_beats(self):
        """Records the peer's beats since the last call."""
        now = self.peer.now()
        last = self.grid[-1][1] if self.grid else self.peer.beat(now) - 1
        beat = int(last // 1) + 1
        while (at := self.peer.time(beat)) <= now:
            self.grid.append((at, beat))
            beat += 1

    def mark(self, name, at=None):
        self.marks[name] = self.peer.now() if at is None else at

    def watch(self, seconds, every=0.5):
        self.observer.watch(seconds, every, during=self.note_beats)

    def set_tempo(self, bpm):
        """Changes the tempo at the peer; the grid gets an extra point at the change."""
        self.note_beats()
        self.grid.append(self.peer.set_tempo(bpm))
        self.mark(f"tempo {bpm:g}", self.grid[-1][0])


def play_through(session, gateway):
    """Runs the session: a steady tempo, both ends of the tempo range, stop, then the peer leaves."""
    session.mark("steady from")
    session.watch(STEADY, every=1.0)
    session.mark("steady to")
    for bpm, seconds in ((20, 6), (999, 2), (TEMPO, 2)):
        session.set_tempo(bpm)
        session.watch(seconds)
        session.mark(f"tempo {bpm:g} to")
    session.mark("peer stops", session.peer.stop())
    session.watch(2)
    session.mark("stopped status")
    stopped = gateway.status()
    session.watch(1)
    session.note_beats()
    session.mark("peer leaves")
    session.peer.close()
    until(lambda: gateway.status()["link"]["peers"] == 0, "the bye-bye is heard", every=0.05)
    session.observer.watch(3)
    session.mark("end")
    return stopped


def main(result):
    observer = Observer()
    peer = Peer(TEMPO, start_stop_sync=True)
    time.sleep(1.5)
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway("--tempo", 100, "--start-stop-sync", folder=folder)
        try:
            # How long the program takes to load in the lab depends on the host, so there is no limit here.
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            give_way()
            observer.subscribe(observer.find("Tactus", "Clock"))
            gateway.wait_status(
                lambda status: status["link"]["peers"] == 1 and abs(status["tempo"] - TEMPO) < 0.001, "joined")
            session = Session(peer, observer)
            session.mark("subscribed")
            session.watch(2)
            session.mark("peer plays")
            # Starting may renumber the beats by whole bars, so the grid is begun again.
            downbeat = peer.play()
            session.mark("downbeat", downbeat)
            session.grid = []
            session.note_beats()
            session.watch(4)
            playing = gateway.status()
            stopped = play_through(session, gateway)
            ended = gateway.status()
            session.mark("interrupt")
            gateway.stop()
            observer.read()
        finally:
            gateway.kill()
        record = {
            "events": observer.events(), "grid": session.grid, "marks": session.marks, "playing": playing,
            "stopped": stopped, "ended": ended, "stderr": gateway.stderr,
        }
    pathlib.Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main(sys.argv[1])
