"""What a subscriber of `Tactus:Clock` receives from a real kernel sequencer, stamped by the kernel; in the lab.

The lab's clock counts instructions, so times are instruction-times, and not the latency of any hardware.
"""

import re

import pytest

from rig.figures import PER_BEAT, gaps, place, time_interval_error, usual
from rig.labs import KERNELS, Boot

pytestmark = pytest.mark.real("sequencer")

TEMPO = 133.7
AUDIBLE = 1000  # microseconds within which nine ticks in ten stay; the rest is for `make bench` to show
SETTLED = 200_000  # microseconds after a change that are not counted

# Keep the kernel idle as well. Merging pages into huge ones blocks a kernel with voluntary preemption for a millisecond
# or two, for real-time threads too.
IDLE = ["--kernel-args", "transparent_hugepage=never"]

# The lab options of each run of the same session.
MACHINES = {
    KERNELS[0]: ["--ppm", "500", "--apart", "2"],  # clocks of different speeds, two seconds apart
    "without real-time permission": ["--user", "--memlock", "8192"],
}
# Clock differences and permissions do not depend on the kernel, so the other kernels get one plain run each.
MACHINES.update({kernel: ["--kernel", kernel] for kernel in KERNELS[1:]})
# Without that permission any other thread may delay the output thread by milliseconds, for example a peer's thread that
# answers a measurement. So the limits are wider in this run.
WITHOUT = "without real-time permission"
# The ports need root, so they have the boots of the sessions that run as root.
MORE = {kernel: {f"ports, {kernel}": ("ports.py",)} for kernel in KERNELS}
BOOTS = [
    Boot({name: ("clock.py",), **MORE.get(name, {})}, (*IDLE, *options)) for name, options in MACHINES.items()]


class Heard:
    """One recorded session."""

    def __init__(self, record):
        self.record = record
        self.marks = record["marks"]
        self.grid = [tuple(point) for point in record["grid"]]

    def times(self, kind, since="subscribed", to="interrupt"):
        first, last = self.marks[since], self.marks[to]
        return [at for name, at, _ in self.record["events"] if name == kind and first <= at < last]

    def placed(self, since, to):
        return place(self.times("clock", since, to), self.grid)


def whole_microseconds(bpm):
    """The tempo as sessions carry it, rounded to whole microseconds per beat."""
    return 60e6 / round(60e6 / bpm)


@pytest.mark.parametrize("machine", MACHINES)
def test_a_whole_session_has_every_tick_and_its_start_and_stop_in_their_places(recordings, machine):
    heard = Heard(recordings[machine])
    tells_what_the_machine_allows(heard, machine)
    one_start_and_one_stop(heard, machine)
    every_tick_in_its_place(heard, machine)
    if machine != WITHOUT:
        for bpm in (20, 999):
            exact_at_the_end_of_the_range(heard, bpm)
        nothing_lost_or_doubled(heard)
        unbroken_without_the_peer(heard)


def one_start_and_one_stop(heard, machine):
    """Start comes just before the first beat's tick, Stop comes at once, and the clock continues."""
    (started,) = heard.times("start")
    # An ordinary thread is 40 ms ahead, which is 16 ticks at 999 BPM: too many to wait for once the tempo falls.
    until = "steady to" if machine == WITHOUT else "interrupt"
    assert not heard.times("continue", to=until) and not heard.times("position", to=until)
    following = [tick for tick in heard.placed("peer plays", "steady to") if tick.at > started]
    previous = [at for at in heard.times("clock") if at < started]
    assert following[0].step == 0, "the tick after Start is not the peer's downbeat"
    assert started > previous[-1]
    (stopped,) = heard.times("stop", since="peer stops" if machine == WITHOUT else "subscribed")
    assert 0 < stopped - heard.marks["peer stops"] < 300_000
    assert heard.record["stopped"]["transport"] == "stopped" and heard.record["stopped"]["playing"] is False
    after = heard.placed("peer stops", "peer leaves")
    assert len(after) > 100 and not gaps(after), "the clock goes on"


def every_tick_in_its_place(heard, machine):
    ticks = heard.placed("steady from", "steady to")
    assert not gaps(ticks), f"lost, doubled or displaced: {gaps(ticks)[:3]}"
    tempo, deviations = time_interval_error(ticks)
    worst = usual(tick.error for tick in ticks if tick.step % PER_BEAT == 0)
    bound = 5 * AUDIBLE if machine == WITHOUT else AUDIBLE
    assert tempo == pytest.approx(TEMPO, abs=0.001) and worst < bound
    assert usual(deviations) < bound


def exact_at_the_end_of_the_range(heard, bpm):
    start = heard.marks[f"tempo {bpm}"] + SETTLED
    ticks = [tick for tick in heard.placed(f"tempo {bpm}", f"tempo {bpm} to") if tick.at > start]
    assert not gaps(ticks), f"lost, doubled or displaced: {gaps(ticks)[:3]}"
    tempo, _ = time_interval_error(ticks)
    worst = usual(tick.error for tick in ticks)
    # So many ticks may take more than the thread's share of the processor; then the queue sends some, every 160 us.
    assert tempo == pytest.approx(whole_microseconds(bpm), abs=0.01)
    assert worst < AUDIBLE


def nothing_lost_or_doubled(heard):
    """Checks all ticks across every tempo change, Stop and the end of the peer, except just after tempo changes."""
    ticks = heard.placed("downbeat", "end")
    changes = [at for name, at in heard.marks.items() if name.startswith("tempo ") and not name.endswith(" to")]
    offsets = {
        tick.step - number for number, tick in enumerate(ticks)
        if all(not -SETTLED / 10 < tick.at - change < SETTLED for change in changes)}
    assert len(offsets) == 1, f"the count slipped: {sorted(offsets)}"
    assert all(a.at < b.at for a, b in zip(ticks, ticks[1:]))


def unbroken_without_the_peer(heard):
    after = heard.placed("peer leaves", "end")
    assert len(after) > 150 and not gaps(after)
    worst = usual(tick.error for tick in after)
    assert worst < AUDIBLE
    assert heard.record["ended"]["link"]["peers"] == 0


def tells_what_the_machine_allows(heard, machine):
    status = heard.record["playing"]
    assert status["link"]["peers"] == 1 and status["transport"] == "playing"
    scheduling = status["realtime"]["scheduling"]
    complaints = [line for line in heard.record["stderr"].splitlines() if re.search(r"\b(warning|error)\b", line)]
    if machine == WITHOUT:
        assert scheduling != "fifo" and status["realtime"]["dispatch"] == "queue"
        (warning,) = [warning for warning in status["warnings"] if "real-time" in warning["message"]]
        assert warning["fix"]
        assert len(complaints) == 1 and "real-time" in complaints[0], heard.record["stderr"]
    else:
        assert scheduling == "fifo" and status["realtime"]["priority"] == 80
        assert status["realtime"]["memoryLocked"] is True and status["realtime"]["dispatch"] != "direct"
        assert not complaints
    (clock,) = [output for output in status["outputs"] if output["name"] == "Clock"]
    assert clock["ticks"] > 100


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kind_of_output_has_the_same_clock_and_a_port_that_vanishes_or_comes_later_joins(
        recordings, kernel):
    ports = recordings[f"ports, {kernel}"]
    vanishing(ports)
    kinds = ports["kinds"]
    assert all(kinds["connected"].values()) and len(kinds["connected"]) == 6, kinds["connected"]
    for name in ("Clock", "Midi Through", "Drums"):
        events = [kind for kind, _, _ in kinds[name]]
        assert events.count("clock") > 40, f"{name}: {len(events)} events"
    for name in ("Clock", "Midi Through", "Drums"):
        events = [kind for kind, _, _ in kinds[name]]
        assert events.count("stop") == 1, f"{name}: {events}"
    for name in ("VirMIDI 0-0", "VirMIDI 0-1"):
        assert kinds[name].count(0xF8) > 40 and kinds[name].count(0xFA) == kinds[name].count(0xFC) == 1
        assert set(kinds[name]) == {0xF8, 0xFA, 0xFC}
    assert not kinds["VirMIDI 0-2"], "a port that nobody named gets nothing"
    clock = [at for kind, at, _ in kinds["Clock"] if kind == "clock"]
    for name in ("Midi Through", "Drums"):
        others = [at for kind, at, _ in kinds[name] if kind == "clock"]
        inside = [at for at in others if clock[0] + 20_000 < at < clock[-1] - 20_000]
        distances = [min(abs(at - tick) for tick in clock) for at in inside]
        assert len(distances) > 20
        assert usual(distances) < AUDIBLE
    clients = ports["clients"]
    assert re.search(r'Client +\d+ : "Tactus" ', clients) and re.search(r'Client +\d+ : "Tactus In" ', clients)
    assert re.search(r'Port +\d+ : "Clock" ', clients) and re.search(r'Port +\d+ : "Drums" ', clients)
    assert re.search(r'Port +\d+ : "Clock In" ', clients)
    assert ports["bare"] == [], "--no-clock-port"
    text = ports["ports"]
    for words in ("Midi Through", "VirMIDI 0-0", "14:0"):
        assert words in text, text
    listed = ports["ports json"]
    assert "VirMIDI 0-3" in str(listed)
    assert re.search(r"^ticks +\d{3} ticks, 0 lost, 0 doubled", ports["monitor"], re.M), ports["monitor"]


def vanishing(ports):
    record = ports["unplugging"]
    before, without, after = record["connected"]
    assert (before["VirMIDI 0-0"], without["VirMIDI 0-0"], after["VirMIDI 0-0"]) == (True, False, True)
    # A part of a name that matches four ports connects none of them.
    assert not any(shown["VirMIDI"] for shown in record["connected"])
    clock = [at for kind, at, _ in record["Clock"] if kind == "clock"]
    steps = [round((b - a) / 20_833.3) for a, b in zip(clock, clock[1:])]
    assert set(steps) == {1}, "the other output lost or doubled a tick"
    before, after = ports["late"]
    assert (before["VirMIDI 0-2"], after["VirMIDI 0-2"]) == (False, True)
