"""In the lab: records which ports `Clock In` is subscribed to while ports come and go and the user's choice changes.

The same for a raw device.

    follow_ports.py RESULT.json
"""

import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import SequencerClient, SubscriptionQueryType  # noqa: E402

from guest.ports import plug  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.sequencer import port_named  # noqa: E402
from rig.wait import until  # noqa: E402


def running(name, *options):
    gateway = Gateway("--no-link", *options, folder=f"{tempfile.mkdtemp()}/{name}")
    gateway.wait_ready()
    preload(gateway.process.pid, "self")
    return gateway


def names_heard(client):
    """The names of the ports that `Clock In` is subscribed to."""
    ports = {(port.client_id, port.port_id): port.name.strip() for port in client.list_ports()}
    (clock_in,) = [address for address, name in ports.items() if name == "Clock In"]
    heard = client.list_port_subscribers(clock_in, SubscriptionQueryType.WRITE)
    return sorted(ports[subscriber.addr.client_id, subscriber.addr.port_id] for subscriber in heard)


def hears(client, *names):
    until(lambda: names_heard(client) == sorted(names), f"Clock In hears {names} and nobody else")


def at_the_sequencer(record):
    client = SequencerClient("Stage")
    gateway = running("port", "--follow", "virmidi 0-0")
    try:
        hears(client, "VirMIDI 0-0")
        clock_in = next(port for port in client.list_ports() if port.name == "Clock In")
        mine = port_named(client, "VirMIDI 0-1")
        client.subscribe_port(mine, clock_in)
        hears(client, "VirMIDI 0-0", "VirMIDI 0-1")
        record["said"] = gateway.command("follow", "VirMIDI 0-2").stdout
        hears(client, "VirMIDI 0-1", "VirMIDI 0-2")
        gateway.command("follow", "VirMIDI 0-1")
        hears(client, "VirMIDI 0-1")
        gateway.command("follow", "auto")
        hears(client, "VirMIDI 0-1")  # the user's own subscription
        gateway.post("follow", {"source": "VirMIDI 0-3"})
        hears(client, "VirMIDI 0-1", "VirMIDI 0-3")
        plug("unbind")
        hears(client)
        plug("bind")
        hears(client, "VirMIDI 0-3")
        gateway.command("follow", "Midi Through")
        hears(client, "Midi Through Port-0")
        gateway.command("follow", "off")
        hears(client)
        record["refused"] = [
            gateway.request("POST", "/api/v1/follow", {"source": source}) for source in ("", "24:999", 5)]
        gateway.stop()
        record["stderr"] = gateway.stderr
    finally:
        gateway.kill()
        client.close()


def opened(gateway):
    """The raw MIDI devices that the gateway has open."""
    folder = pathlib.Path(f"/proc/{gateway.process.pid}/fd")
    links = [os.readlink(entry) for entry in folder.iterdir() if entry.is_symlink()]
    return [link for link in links if link.startswith("/dev/snd/midi")]


def at_a_device(record):
    plug("unbind")
    gateway = running("device", "--clock-in", "hw:VirMIDI,1")
    try:
        record["device"] = [opened(gateway)]
        for action in ("bind", "unbind", "bind"):
            plug(action)
            there = ["/dev/snd/midiC0D1"] if action == "bind" else []
            until(lambda: opened(gateway) == there, f"after {action} {there} is open")
            record["device"].append(opened(gateway))
        gateway.stop()
        record["device stderr"] = gateway.stderr
    finally:
        gateway.kill()


def main(result):
    record = {}
    at_the_sequencer(record)
    at_a_device(record)
    pathlib.Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main(sys.argv[1])
