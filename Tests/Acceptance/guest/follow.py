"""In the lab: records two outputs of a gateway that follows a MIDI clock leader.

    follow.py RESULT.json

The record is judged on the host, by test_follow.py. All times are microseconds of Link's host time.
"""

import json
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.clocks import raw_microseconds  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.leader import CONTINUE, START, STOP, Leader  # noqa: E402

TEMPO = 123.4
EARLY = -5.0  # milliseconds; the leader's Start comes only 3 ms before its tick


class Scene:
    """One gateway that follows a port, and a record of its outputs on ports 0 and 2."""

    def __init__(self):
        self.lines = [FramedLine(0), FramedLine(2)]
        self.folder = tempfile.TemporaryDirectory()
        self.gateway = Gateway(
            "--no-link", "--follow", "VirMIDI 0-1", "--tempo", 90, "--output", "VirMIDI 0-0", "--output", "VirMIDI 0-2",
            folder=self.folder.name)
        self.gateway.wait_ready()
        early = self.gateway.status()["outputs"][2]["id"]
        self.gateway.request("PATCH", f"/api/v1/outputs/{early}", {"offsetMilliseconds": EARLY})
        self.marks = {}

    def mark(self, name):
        self.marks[name] = raw_microseconds()

    def wait_mode(self, mode):
        return self.gateway.wait_status(lambda status: status["mode"] == mode, mode)

    def read(self):
        for line in self.lines:
            line.read()

    def end(self, leader):
        status = self.gateway.status()
        self.gateway.stop()
        leader.stop()
        self.read()
        for line in self.lines:
            line.close()
        self.folder.cleanup()
        return {
            "events": self.lines[0].events, "early": self.lines[1].events, "marks": self.marks, "ended": status,
        }


def record():
    """Start, Stop and Continue, with ticks that are up to a few milliseconds late."""
    scene = Scene()
    chance = random.Random(1)
    deviations = []

    def late(_):
        deviations.append(abs(chance.gauss(0, 0.001)))
        return deviations[-1]

    leader = Leader(TEMPO, late=late)
    try:
        preload(scene.gateway.process.pid, "self")
        locked = scene.wait_mode("follow")
        time.sleep(10)
        scene.mark("steady")
        started = leader.soon(START)
        time.sleep(10)
        playing = scene.gateway.status()
        stopped = leader.soon(STOP)
        time.sleep(2)
        continued = leader.soon(CONTINUE)
        time.sleep(3)
    finally:
        recorded = scene.end(leader)
    return {
        **recorded, "locked": locked, "playing": playing, "started": started, "stopped": stopped, "continued": continued,
        "truth": leader.truth, "deviations": deviations[:len(leader.truth)],
    }


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(json.dumps(record()))
