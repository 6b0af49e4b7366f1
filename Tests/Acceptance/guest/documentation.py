"""In the lab: runs the commands of README.md and docs/*.md as they are written, page after page.

    documentation.py RESULT.json

A gateway plays beside them, with an output TR-8S. It ends before a command that starts one. The record has the exit code
and the output of each block, and is judged on the host, by test_documentation.py.
"""

import contextlib
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import SequencerClient  # noqa: E402

from rig.documents import commands  # noqa: E402
from rig.gateway import PROJECT, TACTUS, Gateway, request  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.wait import until  # noqa: E402

STAGE = pathlib.Path("/tmp/stage")
HOME = STAGE / "home"
# Where commands run: as the project's folder, but one may write there.
FOLDER = STAGE / "project"
# The process number of the last `tactus`.
LAST = STAGE / "last"
CONFIGURATION = "version: 1\nosc: { enabled: true, address: 127.0.0.1, port: 8809 }\n"


def prepare():
    FOLDER.mkdir(parents=True)
    HOME.mkdir()
    for path in PROJECT.iterdir():
        (FOLDER / path.name).symlink_to(path)
    (STAGE / "config.yaml").write_text(CONFIGURATION)
    program = STAGE / "bin/tactus"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho $$ >{LAST}\nexec {TACTUS} "$@"\n')
    program.chmod(0o755)


class Pedal:
    """While this block runs, somebody presses a pedal at a virtual port again and again."""

    def __init__(self):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.press)

    def press(self):
        line = os.open("/dev/snd/midiC0D1", os.O_WRONLY)
        while not self.over.wait(0.5):
            os.write(line, b"\xC0\x01")
        os.close(line)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Companion:
    """A gateway that plays, whose output TR-8S is heard."""

    def __init__(self, folder):
        self.gateway = Gateway(
            "--no-link", "--output", "virtual:TR-8S", "--config", STAGE / "config.yaml", folder=folder)
        self.client = SequencerClient("Stage")

    def __enter__(self):
        self.gateway.wait_ready()
        preload(self.gateway.process.pid, "self")
        self.client.subscribe_port(self.port("Tactus", "TR-8S"), self.port("Midi Through", "Midi Through Port-0"))
        self.gateway.wait_status(
            lambda status: all(output["connected"] for output in status["outputs"] if output["name"] == "TR-8S"),
            "TR-8S is heard")
        return self

    def __exit__(self, *_):
        self.gateway.stop()
        self.client.close()

    def port(self, client, name):
        def found():
            return [port for port in self.client.list_ports() if port.client_name == client and port.name.strip() == name]

        return until(found, f"{client}:{name} is there")[0]

    def play(self):
        self.gateway.post("transport", {"playing": True})
        self.gateway.wait_status(lambda status: status["transport"] == "playing", "it plays")


def answers():
    """Whether a gateway runs; one that wants a secret says so."""
    try:
        return request("GET", "/api/v1/status")[0] in (200, 401)
    except OSError:
        return False


def run(block):
    """Runs a block to its end, or until Ctrl-C; returns the exit code and what it said."""
    environment = {
        "HOME": str(HOME), "PATH": f"{STAGE}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
        "XDG_RUNTIME_DIR": str(HOME)}
    said = STAGE / "said"
    with said.open("wb") as output:
        process = subprocess.Popen(
            ["sh", "-ec", block.text], cwd=FOLDER, env=environment, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True)
        if block.is_endless:
            until(
                lambda: answers() or process.poll() is not None, f"a gateway runs after {block.place}", every=0.01,
                within=120)
            if process.poll() is None:
                os.kill(int(LAST.read_text()), signal.SIGINT)
        return [process.wait(), said.read_text(errors="replace")]


def main():
    prepare()
    record = {}
    for number, ((is_endless, _), blocks) in enumerate(
            itertools.groupby(commands(), key=lambda block: (block.is_endless, block.page))):
        if is_endless:
            record |= {block.place: run(block) for block in blocks}
            continue
        with Companion(STAGE / f"companion-{number}") as companion:
            for block in blocks:
                companion.play()
                with Pedal() if "tactus learn" in block.text else contextlib.nullcontext():
                    record[block.place] = run(block)
    pathlib.Path(sys.argv[1]).write_text(json.dumps(record))


main()
