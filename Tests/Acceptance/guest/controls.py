"""In the lab: a gateway with a pedal board at a virtual port, and `tactus learn`.

    controls.py RESULT.json

Bytes written to the raw side of virtual port 1 leave its sequencer port, as from a pedal board. The record is judged
on the host, by test_controls.py.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.gateway import TACTUS, Gateway, environment, run_tactus  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.wait import until  # noqa: E402

PORT = "VirMIDI 0-1"
FOLDER = pathlib.Path("/tmp/gateway")
CONFIG = FOLDER / "config.yaml"
DRIVER = pathlib.Path("/sys/bus/platform/drivers/snd_virmidi")
TAP, PLAY, STOP = b"\x90\x3C\x64", b"\xC0\x01", b"\xC0\x02"
TOGGLE, RELEASE = b"\xB0\x40\x7F", b"\xB0\x40\x00"


def configure(*controls):
    lines = [f"  - {{ port: {PORT}, message: {{ {message} }}, do: {verb} }}" for message, verb in controls]
    CONFIG.write_text("version: 1\ncontrols:\n" + "\n".join(lines) + "\n")


class Board:
    """The pedal board."""

    def __init__(self):
        self.line = os.open("/dev/snd/midiC0D1", os.O_WRONLY)

    def press(self, data):
        os.write(self.line, data)
        time.sleep(0.3)

    def tap(self, bpm, times):
        start = time.monotonic() + 3.5  # so long a pause separates these taps from earlier ones
        for number in range(times):
            time.sleep(max(0, start + number * 60 / bpm - time.monotonic()))
            os.write(self.line, TAP + b"\x90\x3C\x00")
        time.sleep(0.3)

    def close(self):
        os.close(self.line)


def plays(gateway, playing):
    """Whether it plays, once that is as expected."""
    return gateway.wait_status(lambda status: status["playing"] == playing, f"playing: {playing}")["playing"]


def presses(gateway, board, record):
    before = gateway.status()
    record["warnings before"] = before["warnings"]
    for bpm in (97.3, 171):
        board.tap(bpm, 5)
        record[f"tapped {bpm}"] = gateway.wait_status(
            lambda status: abs(status["tempo"] - bpm) < 0.01 * bpm, f"about {bpm}")["tempo"]
    board.press(b"\xC0\x05")
    record["tempo of program 5"] = gateway.wait_status(lambda status: round(status["tempo"], 3) == 131.5, "131.5")["tempo"]
    for name, data, playing in (
            ("play", PLAY, True), ("stop", STOP, False), ("toggle", TOGGLE, True), ("held", TOGGLE[:2] + b"\x70", True),
            ("release", RELEASE, True), ("toggle again", TOGGLE, False), ("another program", b"\xC0\x03", False),
            ("another channel", b"\xC1\x01", False), ("clock and start", b"\xFA\xF8\xF8", False)):
        board.press(data)
        record[name] = plays(gateway, playing)
    for name, data, offset in (("later", b"\x90\x3E\x40", 1), ("earlier", b"\x90\x3D\x40", 0)):
        board.press(data)
        status = gateway.wait_status(
            lambda status: {output["offsetMilliseconds"] for output in status["outputs"]} == {offset}, name)
        record[name] = [output["offsetMilliseconds"] for output in status["outputs"]]
    for name, enabled in (("link", not before["link"]["enabled"]), ("link again", before["link"]["enabled"])):
        board.press(b"\x90\x3F\x40")
        record[name] = gateway.wait_status(lambda status: status["link"]["enabled"] == enabled, name)["link"]["enabled"]


def changes(gateway, board, record):
    """Loads another configuration, then unplugs the board and plugs it in again."""
    configure(("program: 7", "play"))
    gateway.post("reload")
    board.press(PLAY)
    record["old control after reload"] = gateway.status()["playing"]
    board.press(b"\xC0\x07")
    record["new control after reload"] = plays(gateway, True)
    gateway.post("transport", {"playing": False})
    board.close()
    (DRIVER / "unbind").write_text("snd_virmidi.0")
    gateway.wait_status(
        lambda status: any(warning["code"] == "control-away" for warning in status["warnings"]), "away")
    (DRIVER / "bind").write_text("snd_virmidi.0")
    gateway.wait_status(
        lambda status: all(warning["code"] != "control-away" for warning in status["warnings"]), "back")
    board = Board()
    board.press(b"\xC0\x07")
    record["after its return"] = plays(gateway, True)
    return board


def learn(board, record, *options):
    errors = FOLDER / f"learn-stderr-{len(record)}"
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            [TACTUS, "learn", *options, "--config", CONFIG, "--seconds", "20"], env=environment(FOLDER),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True)
    until(lambda: "press it now" in errors.read_text(), "it listens")
    for data in (b"\xF8", RELEASE, b"\xE0\x00\x40", b"\xB3\x15\x66"):
        board.press(data)
    out, _ = process.communicate()
    record.append([process.returncode, out, errors.read_text()])


def learn_of_a_newcomer(record):
    """Connects the board, unplugs it and connects it again while `learn` is listening."""
    (DRIVER / "unbind").write_text("snd_virmidi.0")
    errors = FOLDER / "learn-stderr"
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            [TACTUS, "learn", "tap", "--config", CONFIG, "--seconds", "20"], env=environment(FOLDER),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        until(lambda: "press it now" in errors.read_text(), "it listens")
        for action, words in (("bind", "appeared"), ("unbind", "is gone"), ("bind", "appeared")):
            seen = len(errors.read_text())
            (DRIVER / action).write_text("snd_virmidi.0")
            until(lambda: f"{PORT} {words}\n" in errors.read_text()[seen:], f"the board {words}")
        board = Board()
        board.press(b"\xB3\x15\x66")
        board.close()
        out, _ = process.communicate()
        record["newcomer"] = [process.returncode, out, errors.read_text()]
    finally:
        process.kill()


def main():
    FOLDER.mkdir()
    configure(
        ("note: 60", "tap"), ("program: 1, channel: 1", "play"), ("program: 2", "stop"), ("controller: 64", "toggle-play"),
        ("program: 5, channel: 1", "tempo, tempo: 131.5"), ("note: 61", "nudge-earlier"), ("note: 62", "nudge-later"), ("note: 63", "toggle-link"))
    record = {"learnt": []}
    board = Board()
    with Gateway("--config", CONFIG, "--state", FOLDER / "state", folder=FOLDER) as gateway:
        preload(gateway.process.pid, "self")
        presses(gateway, board, record)
        board = changes(gateway, board, record)
        learn(board, record["learnt"], "tap")
        learn(board, record["learnt"], "tap", "--save")
        gateway.post("reload")
        record["configuration"] = CONFIG.read_text()
        tempo = gateway.status()["tempo"]
        for _ in range(4):
            board.press(b"\xB3\x15\x66\xB3\x15\x00")
        after = gateway.wait_status(lambda status: status["tempo"] != tempo, "another tempo")["tempo"]
        record["tempo before and after taps at a learnt pedal"] = [tempo, after]
        learn(board, record["learnt"], "stop", "--save")
    board.close()
    learn_of_a_newcomer(record)
    silent = run_tactus("learn", "tap", "--seconds", "1")
    record["silence"] = [silent.returncode, silent.stderr]
    pathlib.Path(sys.argv[1]).write_text(json.dumps(record))


main()
