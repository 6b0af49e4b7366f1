"""The clock beside programs that bridge the sequencer to PipeWire or JACK, with the real daemons; in the lab.

Both keep a sequencer queue running: PipeWire's timer has 6250 Hz, a2jmidid's 1000 Hz. The figures are
instruction-times, stamped by the kernel where the bytes leave the sequencer.
"""

import statistics

import pytest

from rig.figures import usual
from rig.labs import Boot

pytestmark = pytest.mark.real("sequencer")

BRIDGES = {"PipeWire": "PipeWire-RT-Event", "a2jmidid": "a2jmidid"}
# Merging memory into huge pages would delay single ticks of one way of dispatching, and not of the other.
BOOTS = [
    Boot({name: ("company.py", name) for name in BRIDGES},
         ("--kernel-args", "preempt=voluntary transparent_hugepage=never"), takes_long=True)]
# Microseconds that are heard. `make bench` says how much fewer it usually is, beside plain direct dispatch.
AUDIBLE = 1000


@pytest.fixture(params=BRIDGES)
def name(request):
    return request.param


def lateness(record, phase=None):
    """How late ticks were, beside the median; fails if one was lost or doubled."""
    interval = record["interval"]
    times = [at for kind, at in record["events"] if kind == "clock"]
    steps = [(after - before) / interval for before, after in zip(times, times[1:])]
    assert [(place, step) for place, step in enumerate(steps) if round(step) != 1] == []
    begin, end = (record["marks"][f"{phase} {edge}"] for edge in ("from", "to")) if phase else (times[0], times[-1])
    chosen = [at - place * interval for place, at in enumerate(times) if begin <= at <= end]
    middle = statistics.median(chosen)
    return [at - middle for at in chosen]


def show(figure, title, late):
    figure(f"{title}, ticks", len(late))
    figure(f"{title}, standard deviation", f"{statistics.pstdev(late):.2f} us instruction-time")
    figure(f"{title}, nine in ten", f"{usual(late):.1f} us instruction-time", f"{AUDIBLE} us")
    figure(f"{title}, largest", f"{max(map(abs, late)):.1f} us instruction-time")


@pytest.mark.parametrize("phase", ["idle", "load"])
def test_no_tick_is_lost_or_late(recordings, name, phase, figure):
    late = lateness(recordings[name], phase)
    show(figure, phase, late)
    assert len(late) > 30
    assert usual(late) <= AUDIBLE
    assert {kind for kind, _ in recordings[name]["events"]} == {"clock"}


def test_no_tick_is_lost_when_a_queue_starts_while_the_clock_runs(recordings, name, figure):
    record = recordings[name]
    late = lateness(record)
    show(figure, "whole run", late)
    assert usual(late) <= AUDIBLE
    assert record["after"]["realtime"]["dispatch"] == "queue"


def test_the_bridges_port_is_not_taken_for_a_machine(recordings, name):
    record, bridge = recordings[name], recordings[name]["bridge"]
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
    assert ports[bridge]["client"] == BRIDGES[name] and all(
        bridge in port["to"] for port in ours.values() if port["name"] in ("Clock", "VirMIDI 0-0"))
    listed = {port["clientName"] for port in record["ports"]}
    devices = {f"Virtual Raw MIDI 0-{number}" for number in range(4)}
    assert listed == {"Midi Through", "Tactus", "Tactus In"} | devices
