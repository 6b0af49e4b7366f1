"""In the lab: an output of a sound card beside a desktop's sound server, and beside a program that wants the card.

    reserved.py RESULT.json

PipeWire plays on the card first. The program asks for it as JACK does. What happened is judged on the host, by
test_pulses.py.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import wave

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from guest.pulses import PLAYBACK, PLAYED  # noqa: E402
from rig.bridges import PipeWire, printed  # noqa: E402
from rig.cards import make_loop  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.reservations import INTERFACE, PROPERTIES, Program  # noqa: E402
from rig.wait import until  # noqa: E402

SESSION = "DBUS_SESSION_BUS_ADDRESS"
LOOP = pathlib.Path("/proc/asound/Loopback")  # a link to card1 or so
# Without a file of udev's, a sound server takes a card for one that is not ready yet.
UDEV = pathlib.Path("/run/udev/data")
JACK_PRIORITY = (1 << 31) - 1
LOST = "sound servers cannot be asked for sound cards any more"
SELDOM = 0.2  # seconds between two looks: waiting is idle time, which the lab skips


def card_number():
    return int(LOOP.readlink().name.removeprefix("card"))


def is_played_on():
    return "rate:" in PLAYED.read_text()


@contextlib.contextmanager
def sound(folder):
    """Plays silence through the sound server."""
    with wave.open(str(folder / "silence.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(48_000)
        file.writeframes(bytes(4 * 48_000 * 600))
    player = subprocess.Popen(["pw-play", folder / "silence.wav"], stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        player.kill()
        player.wait()


def is_connected(status):
    return any(output["connected"] for output in status["outputs"] if "Loopback" in output["name"])


def wait_connected(gateway):
    until(lambda: is_connected(gateway.status()), "the gateway plays on the card", every=SELDOM)


def troubles(gateway, text):
    """What is wrong with outputs, once one has this text: messages and fixes."""

    def found():
        away = [warning for warning in gateway.status()["warnings"] if warning["code"] == "output-away"]
        return [(each["message"], each["fix"]) for each in away] if text in str(away) else None

    return until(found, f"a warning has {text!r}", every=SELDOM)


def play(folder):
    def program(name, priority):
        return Program(os.environ[SESSION], card_number(), name, priority)

    visitor, result = program("Visitor", 0), {}
    until(lambda: "alsa_output" in printed("pw-link", "-i"), "the sound server has the card", every=0.1)
    with sound(folder):
        until(is_played_on, "the sound server plays on the card", every=SELDOM)
        result["first owner"] = visitor.owner()
        with Gateway(
                "--no-link", "--output", f"audio:{PLAYBACK}/1=volca-sync", folder=folder / "gateway",
                passing=(SESSION,)) as gateway:
            wait_connected(gateway)
            result["owner"] = visitor.of_owner(PROPERTIES, "GetAll", "s", INTERFACE)
            result["lets go for a lower priority"] = visitor.ask(20)
            result["refusals"] = [
                visitor.refusal(interface, member, signature, *values) for interface, member, signature, *values in (
                    (INTERFACE, "Nothing", None), (INTERFACE, "RequestRelease", "s", "now"),
                    (PROPERTIES, "Get", "ss", INTERFACE, "Nothing"),
                    (PROPERTIES, "Get", "ss", INTERFACE, "long" * 100_000),
                    (PROPERTIES, "GetAll", "as", ["many"] * 10_000))]
            result["plays on"] = is_played_on() and is_connected(gateway.status())

            jack = program("JACK", JACK_PRIORITY)
            result["lets go for JACK"] = jack.ask(JACK_PRIORITY)
            jack.take()
            since = time.monotonic()
            result["asked"] = troubles(gateway, "asked for")
            # The sound server asks it, too.
            until(lambda: 20 in jack.asked, "JACK is asked for the card", every=SELDOM)
            result["asks again after"] = time.monotonic() - since
            result["refused"] = troubles(gateway, "does not let go")
            jack.end()
            wait_connected(gateway)
            result["log"] = gateway.stderr
        until(is_played_on, "the sound server plays on the card again", every=SELDOM)
        result["last owner"] = visitor.owner()
    return result


def lose_bus(folder, bus):
    """The bus fails while two outputs play on the card, which they call by different names."""
    outputs = [f"audio:{PLAYBACK}/1=volca-sync", f"audio:hw:{card_number()}/2=volca-sync"]
    with Gateway(
            "--no-link", *(word for output in outputs for word in ("--output", output)), folder=folder / "again",
            passing=(SESSION,)) as gateway:

        def play():
            return sum(output["soundCard"] is not None for output in gateway.status()["outputs"]) == len(outputs)

        until(play, "both outputs play on the card", every=SELDOM)
        with bus.away():
            until(lambda: LOST in gateway.stderr, "the log tells of the bus", every=SELDOM)
            time.sleep(1)  # so that the gateway looks at the card
            still = play() and is_played_on()

        def is_ours():
            # The bus may not answer yet.
            with contextlib.suppress(ConnectionError):
                return Program(os.environ[SESSION], card_number(), "Visitor", 0).owner() == "Tactus"

        until(is_ours, "the card's name has its owner again", every=SELDOM)
        return {"plays without": still, "plays": play() and is_played_on(), "log": gateway.stderr}


def main(result):
    make_loop("pcm_substreams=1")  # so that only one program can play on it at a time
    UDEV.mkdir(parents=True)
    (UDEV / f"+sound:card{card_number()}").write_text("I:1000000\nE:SOUND_INITIALIZED=1\n")
    pathlib.Path("/run/udev/control").touch()
    with tempfile.TemporaryDirectory() as name, PipeWire(pathlib.Path(name)) as desktop:
        story = play(pathlib.Path(name))
        story["bus"] = lose_bus(pathlib.Path(name), desktop.bus)
    pathlib.Path(result).write_text(json.dumps(story))


if __name__ == "__main__":
    main(*sys.argv[1:])
