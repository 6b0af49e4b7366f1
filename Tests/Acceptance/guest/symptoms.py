"""In the lab, as root: provokes symptoms that README.md lists, and does what README and the commands say until it is mended.

    symptoms.py RESULT.json

The record has, for each symptom, the commands with their exit codes and outputs, and what the machine or the session was
like before and after. It is judged on the host, by test_documentation.py.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import PortCaps, PortType, SequencerClient  # noqa: E402

from rig import tracer  # noqa: E402
from rig.documents import symptom  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import TACTUS, Gateway, environment  # noqa: E402
from rig.guest import awake, preload  # noqa: E402
from rig.hosts import Network, OwnHost  # noqa: E402
from rig.wait import until  # noqa: E402

STAGE = pathlib.Path("/tmp/symptoms")
MACHINE = "Virtual Raw MIDI 0-{0}", "VirMIDI 0-{0}"
# Takes Link's port for IPv4 and IPv6, and does not share it.
HOG = """
import socket, time
port = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
port.bind(("", 20808))
print(flush=True)
time.sleep(1e6)
"""


def prepare():
    (STAGE / "bin").mkdir(parents=True)
    (STAGE / "bin/tactus").symlink_to(TACTUS)
    # Whoever reads README is an ordinary user; here everything runs as root, who has no sudo.
    (STAGE / "bin/sudo").write_text('#!/bin/sh\nexec "$@"\n')
    (STAGE / "bin/sudo").chmod(0o755)
    # The first use of a program waits for the host, while the guest's clock may skip ahead.
    for command in ("tactus doctor", "aconnect -l"):
        subprocess.run(command, shell=True, env=settings(), stdin=subprocess.DEVNULL, capture_output=True)


def settings():
    return {**environment(STAGE), "PATH": f"{STAGE}/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}


class Steps:
    """Runs commands as a user types them, and records each with its exit code and output."""

    def __init__(self):
        self.taken = []

    def run(self, command):
        done = subprocess.run(
            ["sh", "-c", command], env=settings(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.taken.append([command, done.returncode, done.stdout])
        return done.stdout


def fix(said, words):
    """What is said to help with the warning or finding that contains these words, without quotation marks."""
    lines = said.splitlines()
    first = next(number for number, line in enumerate(lines) if words in line)
    return next(found[1] for line in lines[first:] if (found := re.fullmatch(r" +fix +'?(.*?)'?", line)))


def port(client, owner, name):
    def found():
        return [each for each in client.list_ports() if each.client_name == owner and each.name.strip() == name]

    return until(found, f"{owner}:{name} is there")[0]


def machine(client, number):
    return port(client, *(name.format(number) for name in MACHINE))


def heard(line):
    """What a machine gets in two seconds: the number of ticks, and the tempo that it counts from them."""
    line.read()
    before = len(line.events)
    time.sleep(2)
    line.read()
    ticks = [at for name, at in line.events[before:] if name == "clock"]
    # Two connections bring ticks in pairs. A pause, while the lab waits for a file, does not change the median.
    apart = [(later - earlier) / 2 for earlier, later in zip(ticks, ticks[2:])]
    return {"ticks": len(ticks), "tempo": 60e6 / 24 / statistics.median(apart) if apart else None}


def started(name, *arguments):
    gateway = Gateway(*arguments, folder=STAGE / name)
    gateway.wait_ready()
    preload(gateway.process.pid, "self")
    return gateway


def warned(code):
    return lambda status: any(warning["code"] == code for warning in status["warnings"])


def double_tempo():
    """Somebody has connected a second clock to a machine."""
    steps, line, somebody = Steps(), FramedLine(0), SequencerClient("Somebody")
    with started("double", "--no-link", "--output", "VirMIDI 0-0", "--output", "virtual:Spare") as gateway:
        somebody.subscribe_port(port(somebody, "Tactus", "Spare"), machine(somebody, 0))
        gateway.wait_status(warned("clock-twice"), "the second clock is noticed")
        before = heard(line)
        said = steps.run(symptom("Double tempo")[0])
        steps.run(fix(said, "hears the clock twice"))
        gateway.wait_status(lambda status: not warned("clock-twice")(status), "the warning is gone")
        after = heard(line)
    somebody.close()
    line.close()
    return {"steps": steps.taken, "before": before, "after": after}


def silent():
    """Another program has the machine's port to itself."""
    steps, line, hog = Steps(), FramedLine(1), SequencerClient("Hog")
    out = hog.create_port("Out", caps=PortCaps.READ | PortCaps.SUBS_READ, type=PortType.APPLICATION)
    hog.subscribe_port(out, machine(hog, 1), exclusive=True)
    with started("silent", "--no-link", "--output", "VirMIDI 0-1") as gateway:
        gateway.wait_status(warned("output-away"), "the refusal is noticed")
        before = heard(line)
        said = steps.run(symptom("Silent, or does not start")[0])
        told = fix(said, "VirMIDI 0-1 is away")
        hog.close()  # as told: "close that program"
        gateway.wait_status(lambda status: not warned("output-away")(status), "the machine is connected")
        steps.run(symptom("Silent, or does not start")[0])
        after = heard(line)
    line.close()
    return {"steps": steps.taken, "fix": told, "before": before, "after": after}


def no_peers():
    """A program that is no Link program has Link's port to itself, while an official peer plays on another computer."""
    steps, network = Steps(), Network()
    with awake():
        network.cable(OwnHost())
        peer = tracer.official(133, network.cable().enter)
        peer.enable()
        hog = subprocess.Popen([*tracer.WITH_PARENT, sys.executable, "-c", HOG], stdout=subprocess.PIPE)
        hog.stdout.readline()
        with started("alone", "--tempo", "100", "--output", "VirMIDI 0-2") as gateway:
            gateway.wait_status(warned("link-interface"), "the port is found taken")
            look, examine = symptom("No peers")[:2]
            steps.run(look)
            before = gateway.status()["link"]["peers"]
            said = steps.run(examine)
            steps.run(fix(said, "UDP port 20808 is taken"))
            hog.wait()
            after = gateway.wait_status(lambda status: status["link"]["peers"], "the peer is heard")["link"]["peers"]
            steps.run(look)
        peer.kill()
        network.close()
    return {"steps": steps.taken, "hog": hog.pid, "before": before, "after": after}


def main():
    prepare()
    record = {"Double tempo": double_tempo(), "Silent": silent(), "No peers": no_peers()}
    pathlib.Path(sys.argv[1]).write_text(json.dumps(record))


main()
