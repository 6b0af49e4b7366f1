"""In the lab: seven hosts on one bridge, with an official founder, three official joiners and three of ours.

    link_hosts.py RESULT.json METRONOME

For a wired network and several bad ones, records when each joiner joined, how far its bars were from the founder's
later, and how soon all had a new tempo.
"""

import json
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig import tracer  # noqa: E402
from rig.guest import awake, preload  # noqa: E402
from rig.hosts import Network  # noqa: E402

# The netem conditions that every outgoing datagram meets.
NETWORKS = {
    "wired": [],
    "3 ms +- 2 ms, 1 % loss": ["delay", "3ms", "2ms", "loss", "1%"],
    "8 ms +- 5 ms, 5 % loss": ["delay", "8ms", "5ms", "loss", "5%"],
}
JOINERS = 3


def errors(founder, member, since):
    """Distances from the founder's bars in microseconds, for the readings from `since` on."""
    last = founder.readings[-1]
    return [tracer.apart(last, reading) for reading in list(member.readings) if reading.at >= since]


def agreement(everyone, changer):
    """Changes the tempo at `changer`; returns the seconds until each program has it, or None where it does not."""
    began, wanted = changer.now.at, changer.now.tempo + 1
    changer.press("e")
    time.sleep(2)
    return [
        next(((one.at - began) / 1e6 for one in member.readings
              if one.at > began and abs(one.tempo - wanted) < 0.01), None) for member in everyone]


def read_in():
    """Loads the programs into memory; otherwise the guest's clock would skip ahead while it waits for the host."""
    for tool in ("ip", "tc", "sysctl", "nsenter", "setpriv", "unshare"):
        subprocess.run([tool, "-V"], capture_output=True, check=True)
    for command in ([tracer.METRONOME, "--trace"], [sys.executable, tracer.OFFICIAL, "120"]):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            program.stdout.readline()
            preload(program.pid, "self")
            program.kill()


def built(conditions):
    """Makes a network with hosts and a program on each; returns the network and the programs, the founder first."""
    network = Network()
    hosts = [network.cable() for _ in range(1 + 2 * JOINERS)]
    for host in hosts:
        if conditions:
            host.run("tc", "qdisc", "add", "dev", "eth0", "root", "netem", *conditions)
    programs = [tracer.official(130, hosts[0].enter)]
    for number, host in enumerate(hosts[1:]):
        programs.append((tracer.official, tracer.metronome)[number % 2](100, host.enter))
    return network, programs


def session(conditions):
    with awake():
        network, programs = built(conditions)
    founder, *joiners = programs
    founder.enable()
    time.sleep(2)
    pressed = []
    for joiner in joiners:
        pressed.append(founder.readings[-1].at)
        joiner.press("a")
        time.sleep(2)
    began = founder.readings[-1].at
    time.sleep(32)
    figures = {"official": [], "ours": []}
    for number, joiner in enumerate(joiners):
        joined = next((one.at for one in joiner.readings if one.peers and abs(one.tempo - 130) < 0.1), None)
        after = errors(founder, joiner, began + 30_000_000)
        figures[("official", "ours")[number % 2]].append({
            "joined": joined and (joined - pressed[number]) / 1e6, "peers": joiner.readings[-1].peers,
            "tempo": joiner.readings[-1].tempo, "error": statistics.median(after)})
    figures["agreed"] = [seconds for changer in programs[:3] for seconds in agreement(programs, changer)]
    for program in programs:
        program.kill()
    network.close()
    return figures


def main(result, metronome):
    tracer.METRONOME = metronome
    with awake():
        read_in()
    pathlib.Path(result).write_text(json.dumps({name: session(words) for name, words in NETWORKS.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
