"""In the lab: gateways with different quanta join one peer's session, one after another.

    quanta.py RESULT.json QUANTUM…
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
from rig.sequencer import Observer  # noqa: E402

TEMPO = 133.7


def join(peer, quantum):
    """Runs one gateway with this quantum: ticks while stopped, then it starts, then ticks while playing."""
    # After the last gateway left, the peer founds a new session. Wait until it is clearly older than the gateway's.
    time.sleep(1.5)
    observer = Observer()
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway("--quantum", quantum, "--start-stop-sync", folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            observer.subscribe(observer.find("Tactus", "Clock"))
            gateway.wait_status(
                lambda status: status["link"]["peers"] == 1 and abs(status["tempo"] - TEMPO) < 0.001, "joined")
            # A program that has just started still loads pages from the guest's disk, which may take any time.
            observer.watch(2)
            joined = peer.now()
            observer.watch(2.3)
            played = peer.now()
            gateway.post("transport", {"playing": True})
            observer.watch(5)
            status = gateway.status()
            gateway.post("transport", {"playing": False})
            observer.watch(0.5)
            # Asked for once: each further reading of both clocks moves all of their times a little.
            events = observer.events()
            state = peer.link.captureAppSessionState()
            span = range(int(state.beatAtTime(joined, 1)) - 1, int(state.beatAtTime(peer.now(), 1)) + 2)
            grid = [(state.timeAtBeat(beat, 1), beat) for beat in span]
            phases = {
                str(int(at)): state.phaseAtTime(int(at), quantum)
                for kind, at, _ in events if kind == "clock" and at > played}
            gateway.stop()
        finally:
            gateway.kill()
            observer.client.close()
    return {
        "joined": joined, "played": played, "grid": grid, "phases": phases, "events": events, "status": status}


def main(result, *quanta):
    with Peer(TEMPO, start_stop_sync=True) as peer:
        record = {quantum: join(peer, float(quantum)) for quantum in quanta}
    pathlib.Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main(*sys.argv[1:])
