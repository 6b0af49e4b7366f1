"""The clock beside PipeWire's bridge to the sequencer, with the real daemons; in the lab.

It keeps a sequencer queue running, whose timer has 6250 Hz. The kernel has stamped the bytes where they leave the
sequencer.
"""

import pytest

from rig.labs import Boot

# Merging memory into huge pages would delay single ticks of one way of dispatching, and not of the other.
BOOTS = [
    Boot({"PipeWire": ("company.py",)}, ("--kernel-args", "preempt=voluntary transparent_hugepage=never"), takes_long=True)]


@pytest.mark.real("sequencer")
def test_beside_a_bridge_no_tick_is_lost_and_its_port_is_not_taken_for_a_machine(recordings):
    record = recordings["PipeWire"]
    # How punctual they are, `make bench` says. The bridge's queue starts while the clock runs.
    assert {kind for kind, _ in record["events"]} == {"clock"}
    times = [at for _, at in record["events"]]
    steps = [round((after - before) / record["interval"]) for before, after in zip(times, times[1:])]
    assert len(steps) > 100 and set(steps) == {1}
    assert record["after"]["realtime"]["dispatch"] == "queue"
    not_taken_for_a_machine(record)


def not_taken_for_a_machine(record):
    bridge = record["bridge"]
    status, ports = record["after"], record["sequencer"]
    clock, device = status["outputs"]
    assert (device["name"], device["connected"], device["port"]) == ("VirMIDI 0-0", True, "16:0")
    # `Clock` is for whoever subscribes, as the bridge does for the programs behind it; so it is connected.
    assert (clock["name"], clock["profile"], clock["port"]) == ("Clock", None, bridge)
    assert status["warnings"] == []
    follower = status["follower"]
    assert (follower["source"], follower["refused"], follower["state"]) == (None, [], "waiting")
    ours = {address: port for address, port in ports.items() if port["client"].startswith("Tactus")}
    drives = {port["name"]: [to for to in port["to"] if to not in (*ours, bridge)] for port in ours.values()}
    assert {port: heard for port, heard in drives.items() if heard} == {"VirMIDI 0-0": ["16:0"]}
    assert ports[bridge]["client"] == "PipeWire-RT-Event" and all(
        bridge in port["to"] for port in ours.values() if port["name"] in ("Clock", "VirMIDI 0-0"))
    listed = {port["clientName"] for port in record["ports"]}
    devices = {f"Virtual Raw MIDI 0-{number}" for number in range(4)}
    assert listed == {"Midi Through", "Tactus", "Tactus In"} | devices
