"""In the lab: how far ticks are from their places on the beats of a Link session that an official peer has founded.

    steadiness.py RESULT.json HERTZ

HERTZ is the timer of another program's queue that runs all the while; 0 is none. The bytes are stamped by the kernel as
they leave the sequencer.
"""

import contextlib
import json
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "Tests/Acceptance"))

from rig.framed import FramedLine  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.loads import LOADS, running  # noqa: E402
from rig.peer import Peer  # noqa: E402
from rig.sequencer import another_queue  # noqa: E402
from rig.wait import until  # noqa: E402

TEMPOS = 97.3, 133.7
WAYS = "auto", "direct"
SETTLING = 30  # seconds, in which the gateway learns how late it wakes
IDLE, LOADED = 400, 400  # ticks


def heard(line, count):
    """The times of the next ticks, in microseconds."""
    line.read()
    begun = len(line.events)
    line.hear(count)
    return [round(at, 1) for kind, at in line.events[begun:begun + count] if kind == "clock"]


def played(tempo, way):
    """What one gateway sends, idle and under load, and a beat of the session that is near."""
    line = FramedLine()
    with Peer(tempo) as peer, tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(
            "--tempo", 100, "--dispatch", way, "--follow", "off", "--output", "VirMIDI 0-0",
            folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            until(lambda: peer.peers == 1, "it joins")
            time.sleep(SETTLING)
            record = {"idle": heard(line, IDLE)}
            with running(LOADS["mixed"]):
                time.sleep(1)
                record["load"] = heard(line, LOADED)
            record["beat"] = peer.time(round(peer.beat(peer.now())))
        finally:
            gateway.kill()
            line.close()
    return {"tempo": tempo, "way": way, **record}


def main(result, hertz):
    with another_queue(int(hertz)) if int(hertz) else contextlib.nullcontext():
        pathlib.Path(result).write_text(json.dumps([played(tempo, way) for tempo in TEMPOS for way in WAYS]))


if __name__ == "__main__":
    main(*sys.argv[1:])
