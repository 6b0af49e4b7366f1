"""In the lab: records one output of a gateway for each way of dispatching, with and without load.

    dispatch.py RESULT.json SCENE...

The record is judged on the host, by test_dispatch.py. All times are microseconds of Link's host time.
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.framed import FramedLine  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.loads import LOADS, running  # noqa: E402
from rig.sequencer import another_queue  # noqa: E402

TEMPO = 133.7
HEAVY = LOADS["heavy"]
# A thread of higher priority that works for 3 ms in 10, as an audio server's may.
GREEDY = ("""exec python3 -c '
import os, time
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))
while True:
    end = time.monotonic() + 0.003
    while time.monotonic() < end: pass
    time.sleep(0.007)'""",)
# By scene: arguments, and the load after 80 ticks without one.
SCENES = {
    "auto": ([], HEAVY),
    "direct": (["--dispatch", "direct"], ()),
    "not real-time": (["--realtime-priority", "0"], ()),
    "beside a greedy thread": ([], GREEDY),
}


def play(name):
    """Plays one scene; returns what the output received, and the status before and after the load."""
    arguments, load = SCENES[name]
    line = FramedLine(0)
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(
            "--no-link", "--tempo", TEMPO, "--output", "VirMIDI 0-0", *arguments, folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            line.hear(80)
            status = gateway.status()
            if load:
                with running(load):
                    for playing in (True, False, True):
                        gateway.post("transport", {"playing": playing})
                        line.hear(24)
            after = gateway.status()
            gateway.stop()
            line.read()
        finally:
            gateway.kill()
    line.close()
    return {"events": line.events, "status": status, "after": after, "interval": round(60e6 / TEMPO) / 24}


def come_and_go():
    """Another program's queue that starts and ends while the clock runs; returns what the output received."""
    line = FramedLine(0)
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway("--no-link", "--tempo", TEMPO, "--output", "VirMIDI 0-0", folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            line.hear(40)
            with another_queue(1000):
                line.hear(160)
            line.hear(40)
            gateway.stop()
            line.read()
        finally:
            gateway.kill()
    line.close()
    return {"events": line.events, "interval": round(60e6 / TEMPO) / 24}


if __name__ == "__main__":
    result, *scenes = sys.argv[1:]
    record = {scene: come_and_go() if scene == "beside a queue for a while" else play(scene) for scene in scenes}
    pathlib.Path(result).write_text(json.dumps(record))
