"""In the lab: an output of a sound card beside programs that reserve the card on the session's bus.

    reserved.py RESULT.json

A sound server has the card first; later another program of higher priority, JACK, asks for it. What happened is judged
on the host, by test_pulses.py.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from guest.pulses import PLAYBACK, PLAYED  # noqa: E402
from rig.bus import SESSION, Bus  # noqa: E402
from rig.cards import make_loop  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.reservations import INTERFACE, PROPERTIES, Program  # noqa: E402
from rig.wait import until  # noqa: E402

HIGHEST = (1 << 31) - 1
SERVER = -20


def is_connected(status):
    return any(output["connected"] for output in status["outputs"] if "Loopback" in output["name"])


def warnings(gateway, text):
    """The warnings, once one has this text."""

    def has_text(status):
        return any(text in warning["message"] for warning in status["warnings"])

    return gateway.wait_status(has_text, f"a warning has {text!r}")["warnings"]


def play(address, folder):
    card = int((pathlib.Path("/proc/asound") / PLAYED.parts[3]).readlink().name.removeprefix("card"))

    def program(name, priority):
        return Program(address, card, PLAYBACK, name, priority)

    server, result = program("Sound server", SERVER), {}
    server.take()
    server.wait_played(PLAYED)
    server.serve()
    output = f"audio:{PLAYBACK}/1=volca-sync"
    with Gateway("--no-link", "--output", output, folder=folder, passing=(SESSION,)) as gateway:
        gateway.wait_status(is_connected, "the gateway plays on the card")
        result["server was asked"] = server.asked
        server.end()
        visitor = program("Visitor", 20)
        result["properties"] = visitor.of_owner(PROPERTIES, "GetAll", "s", INTERFACE)
        result["name"] = visitor.of_owner(PROPERTIES, "Get", "ss", INTERFACE, "ApplicationName")
        result["let go for as high a priority"] = visitor.ask(20)
        result["played then"] = "rate:" in PLAYED.read_text()
        visitor.end()

        jack = program("JACK", HIGHEST)
        result["let go for JACK"] = jack.ask(HIGHEST)
        result["played after that"] = "rate:" in PLAYED.read_text()
        since = time.monotonic()
        jack.take()
        jack.wait_played(PLAYED)
        jack.serve()
        result["after asking"] = warnings(gateway, "asked for")
        until(lambda: jack.asked, "JACK is asked for the card")
        result["asked again after"] = time.monotonic() - since
        result["JACK was asked"] = jack.asked
        result["after refusal"] = warnings(gateway, "does not let go")
        jack.end()
        gateway.wait_status(is_connected, "the gateway plays on the card again")

        server = program("Sound server", SERVER)
        server.take_back()
    until(lambda: server.is_playing, "the server has the card again")
    server.wait_played(PLAYED)
    server.end()
    return result


def main(result):
    if not PLAYED.exists():
        make_loop()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ[SESSION] = f"unix:path={folder}/bus"
        bus = Bus(folder, SESSION)
        try:
            pathlib.Path(result).write_text(json.dumps(play(os.environ[SESSION], folder / "gateway")))
        finally:
            bus.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
