"""In the lab: runs 64 outputs of all kinds and counts memory allocations with a preloaded library.

    allocations.py RESULT.json

The environment variable COUNTER names the library.
"""

import json
import os
import pathlib
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.peer import Peer  # noqa: E402
from rig.sequencer import Observer, give_way  # noqa: E402

COUNTS = "/tmp/allocations"
OUTPUTS = 64


def counts():
    """Number of allocations on the output thread, and on all others."""
    return struct.unpack("QQ", pathlib.Path(COUNTS).read_bytes())


def adjust(gateway, number):
    code, answer = gateway.request(
        "PATCH", f"/api/v1/outputs/drum-{number}", {
            "offsetMilliseconds": number * 0.731 - 20, "multiply": (1, 1, 2, 1, 4)[number % 5],
            "divide": (1, 1, 1, 3)[number % 4], "swing": (58, 50, 50)[number % 3],
        })
    assert code == 200, answer


def everything(gateway, peer, observer):
    """Play, tempo changes, adjustments, a realignment, Stop, Link off and on."""
    peer.play()
    observer.watch(1)
    for bpm in (97.3, 240, 133.7):
        peer.set_tempo(bpm)
        observer.watch(0.3)
    for number in range(1, OUTPUTS, 7):
        code, _ = gateway.request(
            "PATCH", f"/api/v1/outputs/drum-{number}", {"offsetMilliseconds": number * 0.5 - 16})
        assert code == 200
    gateway.post("realign")
    observer.watch(2)  # which is more than the bar at whose end they start again
    peer.stop()
    observer.watch(0.3)
    for enabled in (False, True):
        gateway.post("link", {"enabled": enabled})
        observer.watch(0.5)


def main(result):
    observer = Observer()
    peer = Peer(120, start_stop_sync=True)
    names = [word for number in range(1, OUTPUTS) for word in ("--output", f"virtual:Drum {number}")]
    counting = {"LD_PRELOAD": os.environ["COUNTER"], "ALLOCATIONS": COUNTS, "COUNTED_THREAD": "tactus-output"}
    os.environ.update(counting)
    gateway = Gateway("--start-stop-sync", *names, folder=tempfile.mkdtemp(), passing=tuple(counting))
    for name in counting:
        del os.environ[name]
    try:
        gateway.wait_ready()
        preload(gateway.process.pid, "self")
        for number in range(1, OUTPUTS, 2):
            adjust(gateway, number)
        give_way()
        for name in ("Clock", "Drum 1", "Drum 33", "Drum 63"):
            observer.subscribe(observer.find("Tactus", name))
        gateway.wait_status(lambda status: status["link"]["peers"] == 1, "joined")
        observer.watch(1)
        before = counts()
        everything(gateway, peer, observer)
        after = counts()
        status = gateway.status()
        gateway.stop()
    finally:
        gateway.kill()
    pathlib.Path(result).write_text(json.dumps({
        "output thread": after[0] - before[0], "elsewhere": after[1] - before[1],
        "ticks": sum(output["ticks"] for output in status["outputs"]), "outputs": len(status["outputs"]),
        "dispatch": status["realtime"]["dispatch"],
        "transport": [name for name, _, sender in observer.stamps if name != "clock"],
    }))


if __name__ == "__main__":
    main(*sys.argv[1:])
