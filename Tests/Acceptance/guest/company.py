"""In the lab: records an output of a gateway beside the bridge between the sequencer and PipeWire.

    company.py RESULT.json

The record is judged on the host, by test_company.py. All times are microseconds of Link's host time.
"""

import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.bridges import PipeWire  # noqa: E402
from rig.cards import sequencer  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import Gateway, run_tactus  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.loads import LOADS, running  # noqa: E402

TEMPO = 133.7
LOADED = 0.7  # seconds


def play(bridge, folder):
    """Plays idle and under load; returns what the output received, and what is said meanwhile."""
    line = FramedLine(0)
    said = {}
    gateway = Gateway("--no-link", "--tempo", TEMPO, "--output", "VirMIDI 0-0", folder=folder / "gateway")
    try:
        gateway.wait_ready()
        preload(gateway.process.pid, "self", *bridge.pids)
        line.hear(48)
        if not bridge.queue_runs:
            bridge.link()
        line.hear(96)
        with running(LOADS["mixed"]):
            time.sleep(LOADED)
        said["after"] = gateway.status()
        said["sequencer"] = sequencer()
        said["ports"] = json.loads(run_tactus("ports", "--json").stdout)
        assert bridge.queue_runs, "the bridge's queue was stopped"
        gateway.stop()
        line.read()
    finally:
        gateway.kill()
        line.close()
    return {"events": line.events, "interval": round(60e6 / TEMPO) / 24, **said}


def record():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        with PipeWire(folder) as bridge:
            return {**play(bridge, folder), "bridge": bridge.port}


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(json.dumps(record()))
