"""In the lab: records the bytes of an output of time code at each rate, beside a clock.

    timecode.py RESULT.json RATE...

The record is judged on the host, by test_timecode.py. All times are microseconds of Link's host time.
"""

import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.framed import FramedLine  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402


class Bytes(FramedLine):
    """Everything that arrives, byte by byte."""

    def take(self, byte, at):
        self.events.append([byte, at])


def play(rate):
    """Plays for five seconds; returns what both outputs sent."""
    clock, code = FramedLine(0), Bytes(1)
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(
            "--no-link", "--tempo", 97.3, "--output", "VirMIDI 0-0", "--output", f"VirMIDI 0-1=mtc-{rate}", folder=folder)
        try:
            gateway.wait_ready()
            preload(gateway.process.pid, "self")
            clock.hear(40)
            gateway.post("transport", {"playing": True})
            time.sleep(5)
            gateway.post("transport", {"playing": False})
            clock.hear(10)
            code.read()
            gateway.stop()
        finally:
            gateway.kill()
    record = {"clock": clock.events, "bytes": code.events}
    clock.close()
    code.close()
    return record


if __name__ == "__main__":
    result, *rates = sys.argv[1:]
    pathlib.Path(result).write_text(json.dumps({rate: play(rate) for rate in rates}))
