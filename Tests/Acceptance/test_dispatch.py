"""How ticks leave, on kernels that pre-empt fully and on those that do not; in the lab.

The figures are instruction-times, stamped by the kernel where the bytes come out of the sequencer.
"""

import statistics

import pytest

from rig.figures import quantile
from rig.labs import KERNELS, Recordings

# The kernel's command line, and what is played on it. Gathering pages into huge ones is left on under load: it is one of
# the things that hold a thread up.
BOOTS = {
    "voluntary": ("preempt=voluntary", ["auto", "not real-time under load"]),
    "full": ("preempt=full", ["auto"]),
    "idle": ("preempt=voluntary transparent_hugepage=never", ["direct", "queue", "not real-time", "beside a slow queue"]),
}
# The promise is 200 us; what is usual lies below 10, but how long the load shuts interrupts out differs by boot.
MOST_LATE = {"voluntary": 200, "full": 40}


@pytest.fixture(scope="module")
def recordings():
    made = Recordings()
    for boot, (arguments, scenes) in BOOTS.items():
        for kernel in KERNELS:
            made.prepare((kernel, boot), "dispatch.py", ["--kernel", kernel, "--kernel-args", arguments], scenes, timeout=900)
    yield made
    made.close()


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param


class Ticks:
    """The ticks of one scene between two marks, numbered by the time they should have left."""

    def __init__(self, record, since, to):
        interval = record["interval"]
        times = [at for name, at in record["events"] if name == "clock"]
        places = [0]
        for before, after in zip(times, times[1:]):
            places.append(places[-1] + round((after - before) / interval))
        self.lost_or_doubled = [
            (places[index], at) for index, at in enumerate(times[1:]) if places[index + 1] != places[index] + 1]
        chosen = [
            at - place * interval for place, at in zip(places, times)
            if record["marks"][since] <= at < record["marks"][to]]
        start = statistics.median(chosen)
        self.lateness = [at - start for at in chosen]


def show(figure, ticks, bound=None):
    figure("ticks", len(ticks.lateness))
    figure("TIE, standard deviation", f"{statistics.pstdev(ticks.lateness):.2f} us instruction-time")
    figure("lateness, 99 %", f"{quantile(ticks.lateness, 0.99):.1f} us instruction-time")
    figure("lateness, most", f"{max(ticks.lateness):.1f} us instruction-time", bound and f"{bound} us")


@pytest.mark.parametrize("boot, scene", [
    ("voluntary", "auto"), ("full", "auto"), ("idle", "direct"), ("idle", "queue"), ("idle", "not real-time")])
def test_an_idle_machines_ticks_scatter_by_no_more_than_a_microsecond(recordings, kernel, boot, scene, figure):
    ticks = Ticks(recordings[kernel, boot][scene], "idle from", "idle to")
    show(figure, ticks)
    assert len(ticks.lateness) > 90 and not ticks.lost_or_doubled
    # In the first boot the kernel may gather pages meanwhile; what it does to single ticks is the load's test.
    middle = sorted(ticks.lateness, key=abs)[:int(0.98 * len(ticks.lateness))]
    assert statistics.pstdev(middle) <= 1


@pytest.mark.parametrize("boot", ["voluntary", "full"])
def test_under_the_heaviest_load_every_tick_leaves_once_and_nearly_on_time(recordings, kernel, boot, figure):
    ticks = Ticks(recordings[kernel, boot]["auto"], "load from", "load to")
    show(figure, ticks, MOST_LATE[boot])
    assert len(ticks.lateness) > 250
    assert not ticks.lost_or_doubled
    assert max(ticks.lateness) <= MOST_LATE[boot]
    assert min(ticks.lateness) >= -5, "a tick left early"


def test_without_the_thread_the_queue_sends_through_the_heaviest_load(recordings, kernel, figure):
    ticks = Ticks(recordings[kernel, "voluntary"]["not real-time under load"], "load from", "load to")
    show(figure, ticks, 200)
    assert len(ticks.lateness) > 100 and not ticks.lost_or_doubled
    assert max(ticks.lateness) <= 200


def test_beside_another_programs_slow_queue_ticks_of_the_queue_are_a_period_late_at_most(recordings, kernel, figure):
    ticks = Ticks(recordings[kernel, "idle"]["beside a slow queue"], "idle from", "idle to")
    earliest = min(ticks.lateness)
    ticks.lateness = [late - earliest for late in ticks.lateness]
    show(figure, ticks, 200)
    assert not ticks.lost_or_doubled
    assert quantile(ticks.lateness, 0.98) <= 200


@pytest.mark.parametrize("boot", ["voluntary", "full"])
def test_play_and_stop_under_load_keep_their_order(recordings, kernel, boot):
    record = recordings[kernel, boot]["auto"]
    transport = [name for name, _ in record["events"] if name in ("start", "stop", "continue")]
    # The last Stop is the program's end.
    assert transport == ["start", "stop", "start", "stop"]
    names = [name for name, _ in record["events"]]
    for index, name in enumerate(names):
        if name == "start":
            (before, started, after) = (record["events"][place][1] for place in (index - 1, index, index + 1))
            assert names[index + 1] == "clock" and before < started < after
    assert names[-1] == "stop", "nothing may follow the last Stop"


@pytest.mark.parametrize("boot, scene, dispatch, scheduling", [
    ("voluntary", "auto", {"backstop"}, "fifo"), ("full", "auto", {"backstop"}, "fifo"),
    ("idle", "direct", {"direct"}, "fifo"), ("idle", "queue", {"queue"}, "fifo"),
    ("idle", "not real-time", {"queue"}, "other")])
def test_the_status_tells_how_ticks_leave(recordings, kernel, boot, scene, dispatch, scheduling):
    realtime = recordings[kernel, boot][scene]["status"]["realtime"]
    assert realtime["dispatch"] in dispatch and realtime["scheduling"] == scheduling
    latency = realtime["wakeUpLatencyMicroseconds"]
    assert 0 <= latency["p50"] <= latency["p99"] <= latency["max"]


def test_the_witness_is_nobodys_device(recordings, kernel):
    """The general port has no subscriber but our own witness, which must not show."""
    for record in (recordings[kernel, "voluntary"]["auto"], recordings[kernel, "idle"]["queue"]):
        (clock,) = [output for output in record["status"]["outputs"] if output["name"] == "Clock"]
        assert clock["connected"] is False
