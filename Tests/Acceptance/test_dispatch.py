"""How punctually ticks are sent, on kernels with full and with voluntary preemption; in the lab.

The figures are instruction-times, stamped by the kernel where the bytes leave the sequencer.
"""

import statistics

import pytest

from rig.figures import quantile
from rig.labs import FETCHED, KERNELS, REAL_TIME, Boot

pytestmark = pytest.mark.real("sequencer")

# The scenes for voluntary preemption; full preemption is the bench's, and that of the kernel for real time.
# Merging memory into huge pages stays on, because it is one of the things that delay a thread.
LOADED = ["auto", "not real-time under load", "beside a queue for a while"]
SCENES = {(kernel, "voluntary"): LOADED for kernel in KERNELS}
SCENES[KERNELS[0], "voluntary"] = [*LOADED, "direct", "queue", "not real-time", "beside a slow queue"]
# Which has that model only, whatever it is told.
if REAL_TIME in FETCHED:
    SCENES[REAL_TIME, "full"] = ["auto", "beside a greedy thread"]
BOOTS = [
    Boot({(kernel, model): ("dispatch.py", *scenes)}, ("--kernel", kernel, "--kernel-args", f"preempt={model}"),
         programs={"ANOTHER_QUEUE": "another_queue.c"})
    for (kernel, model), scenes in SCENES.items()]
# Microseconds that are heard. Usually ticks are less than 10 us late; `make bench` says how many are by how much.
AUDIBLE = 1000
# For so long the greedy thread holds up ours at a time.
GREED = 3000
IDLE = ("auto", "direct", "queue", "not real-time")


def idle(kernel):
    """The scenes that begin without load, for a kernel, each with its preemption model."""
    return [
        (model, scene) for (other, model), scenes in SCENES.items() for scene in scenes
        if other == kernel and scene in IDLE]


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param


@pytest.fixture(params=dict.fromkeys(kernel for kernel, _ in SCENES))
def any_kernel(request):
    return request.param


class Ticks:
    """The ticks of one scene between two marks, with how late each one was."""

    def __init__(self, record, since=None, to=None):
        interval = record["interval"]
        times = [at for name, at in record["events"] if name == "clock"]
        places = [0]
        for before, after in zip(times, times[1:]):
            places.append(places[-1] + round((after - before) / interval))
        self.lost_or_doubled = [
            (places[index], at) for index, at in enumerate(times[1:]) if places[index + 1] != places[index] + 1]
        chosen = [
            at - place * interval for place, at in zip(places, times)
            if since is None or record["marks"][since] <= at < record["marks"][to]]
        start = statistics.median(chosen)
        self.lateness = [at - start for at in chosen]


def show(figure, ticks, bound=None):
    figure("ticks", len(ticks.lateness))
    figure("TIE, standard deviation", f"{statistics.pstdev(ticks.lateness):.2f} us instruction-time")
    figure("lateness, 99 %", f"{quantile(ticks.lateness, 0.99):.1f} us instruction-time")
    figure("lateness, most", f"{max(ticks.lateness):.1f} us instruction-time", bound and f"{bound} us")


def test_an_idle_machines_ticks_are_even(recordings, any_kernel, figure):
    for model, scene in idle(any_kernel):
        ticks = Ticks(recordings[any_kernel, model][scene], "idle from", "idle to")
        figure("preemption and dispatch", f"{model}, {scene}")
        show(figure, ticks, AUDIBLE)
        assert len(ticks.lateness) > 45 and not ticks.lost_or_doubled
        assert max(map(abs, ticks.lateness)) <= AUDIBLE


@pytest.mark.parametrize("kernel, model", SCENES)
def test_under_the_heaviest_load_every_message_leaves_once_in_order_and_nearly_on_time(recordings, kernel, model, figure):
    record = recordings[kernel, model]["auto"]
    ticks = Ticks(record, "load from", "load to")
    show(figure, ticks, AUDIBLE)
    assert len(ticks.lateness) > 50
    assert not ticks.lost_or_doubled
    assert max(map(abs, ticks.lateness)) <= AUDIBLE
    transport = [name for name, _ in record["events"] if name in ("start", "stop", "continue")]
    # The gateway sends the last Stop when it ends.
    assert transport == ["start", "stop", "start", "stop"]
    names = [name for name, _ in record["events"]]
    for index, name in enumerate(names):
        if name == "start":
            (before, started, after) = (record["events"][place][1] for place in (index - 1, index, index + 1))
            assert names[index + 1] == "clock" and before < started < after
    assert names[-1] == "stop", "nothing may follow the last Stop"


def test_the_queue_sends_through_the_heaviest_load(recordings, kernel, figure):
    ticks = Ticks(recordings[kernel, "voluntary"]["not real-time under load"], "load from", "load to")
    show(figure, ticks, AUDIBLE)
    assert len(ticks.lateness) > 45 and not ticks.lost_or_doubled
    assert max(map(abs, ticks.lateness)) <= AUDIBLE


def test_beside_another_programs_slow_queue_no_tick_is_lost_or_late(recordings, figure):
    ticks = Ticks(recordings[KERNELS[0], "voluntary"]["beside a slow queue"], "idle from", "idle to")
    show(figure, ticks, AUDIBLE)
    assert not ticks.lost_or_doubled
    assert max(map(abs, ticks.lateness)) <= AUDIBLE


@pytest.mark.skipif(REAL_TIME not in FETCHED, reason="only Debian's mirrors have a kernel for real time")
def test_on_a_real_time_kernel_a_tick_is_late_by_what_holds_up_the_thread_and_none_leaves_early(recordings, figure):
    record = recordings[REAL_TIME, "full"]["beside a greedy thread"]
    assert record["after"]["realtime"]["dispatch"] == "direct"
    ticks = Ticks(record, "load from", "load to")
    show(figure, ticks, GREED + AUDIBLE)
    assert len(ticks.lateness) > 50 and not ticks.lost_or_doubled
    assert min(ticks.lateness) >= -AUDIBLE
    assert GREED / 2 <= max(ticks.lateness) <= GREED + AUDIBLE, "the thread was not held up, or for too long"


def test_no_tick_is_lost_or_doubled_when_another_programs_queue_comes_and_goes(recordings, kernel, figure):
    record = recordings[kernel, "voluntary"]["beside a queue for a while"]
    assert record["meanwhile"]["realtime"]["dispatch"] == "backstop"
    ticks = Ticks(record)
    # Until another queue is noticed, ticks wait for its timer, and then for ours.
    show(figure, ticks, 2 * AUDIBLE)
    assert len(ticks.lateness) > 50 and not ticks.lost_or_doubled
    assert max(ticks.lateness) <= 2 * AUDIBLE


def test_the_status_tells_how_ticks_leave_and_the_witness_is_nobodys_device(recordings, any_kernel):
    auto = ("direct" if any_kernel == REAL_TIME else "queue", "fifo")
    told = {"auto": auto, "direct": ("direct", "fifo"), "queue": ("queue", "fifo"), "not real-time": ("queue", "other")}
    for model, scene in idle(any_kernel):
        status = recordings[any_kernel, model][scene]["status"]
        realtime = status["realtime"]
        assert (realtime["dispatch"], realtime["scheduling"]) == told[scene]
        latency = realtime["wakeUpLatencyMicroseconds"]
        assert 0 <= latency["p50"] <= latency["p99"] <= latency["max"]
        # Only our own witness is subscribed to the `Clock` port, and it must not be shown.
        (clock,) = [output for output in status["outputs"] if output["name"] == "Clock"]
        assert clock["connected"] is False
