"""In the lab: records one output of a gateway for each way of dispatching, idle and under heavy load.

    dispatch.py RESULT.json SCENE...

The record is judged on the host, by test_dispatch.py. All times are microseconds of Link's host time.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import SequencerClient  # noqa: E402

from rig.framed import FramedLine  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.sequencer import HIGH_RESOLUTION_TIMER, choose_timer  # noqa: E402

TEMPO = 133.7
# Three kinds of load: copying blocks so large that a kernel without full preemption runs nothing else for
# milliseconds; programs that only compute; programs that start and end all the time.
LOAD = [
    *["while :; do dd if=/dev/zero of=/dev/null bs=32M count=40; done"] * 3, *["while :; do :; done"] * 2,
    "while :; do /bin/true; done",
]
# By scene: arguments, seconds idle, seconds under load, timer resolution in Hz of another program's queue.
SCENES = {
    "auto": ([], 3, 3, None),
    "direct": (["--dispatch", "direct"], 3, 0, None),
    "queue": (["--dispatch", "queue"], 3, 0, None),
    "not real-time": (["--realtime-priority", "0"], 2, 0, None),
    "beside a slow queue": (["--dispatch", "queue"], 3, 0, 1000),
    "not real-time under load": (["--realtime-priority", "0"], 0, 2, None),
}


def raw_now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) / 1000


class Load:
    """Runs the load inside a `with` block."""

    def __enter__(self):
        self.processes = [
            subprocess.Popen(
                ["sh", "-c", line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            for line in LOAD]

    def __exit__(self, *_):
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def another_queue(resolution):
    """Runs a queue in another client, which sets the kernel's shared timer to the given resolution."""
    client = SequencerClient("Another")
    queue = client.create_queue("another")
    choose_timer(client, queue, HIGH_RESOLUTION_TIMER, resolution)
    queue.start()
    client.drain_output()
    return client, queue


def play(name):
    """Plays one scene; returns what the output received, and the times of what happened."""
    arguments, idle, loaded, resolution = SCENES[name]
    kept = another_queue(resolution) if resolution else None
    line = FramedLine(0)
    marks = {}
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(
            "--no-link", "--tempo", TEMPO, "--output", "VirMIDI 0-0", *arguments, folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            time.sleep(1)
            marks["idle from"] = raw_now()
            time.sleep(idle)
            marks["idle to"] = raw_now()
            status = gateway.status()
            if loaded:
                with Load():
                    marks["load from"] = raw_now()
                    for playing in (True, False, True):
                        gateway.post("transport", {"playing": playing})
                        time.sleep(loaded / 3)
                    marks["load to"] = raw_now()
            after = gateway.status()
            took = gateway.stop()
            line.read()
        finally:
            gateway.kill()
    line.close()
    del kept
    return {
        "events": line.events, "marks": marks, "status": status, "after": after, "took": took,
        "interval": round(60e6 / TEMPO) / 24,
    }


if __name__ == "__main__":
    result, *scenes = sys.argv[1:]
    pathlib.Path(result).write_text(json.dumps({scene: play(scene) for scene in scenes}))
