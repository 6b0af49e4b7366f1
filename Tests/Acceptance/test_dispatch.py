"""How ticks leave, idle and under load, alone and beside another program's queue, and on PREEMPT_RT; in the lab.

What is asked here is that none is lost or doubled and that the order is right. How punctual they are, `make bench` says.
The kernel has stamped everything where the bytes leave the sequencer. A session on each kernel is in test_sequencer.py.
"""

import pytest

from rig.labs import FETCHED, KERNELS, REAL_TIME, Boot

pytestmark = pytest.mark.real("sequencer")

# Merging memory into huge pages stays on, because it is one of the things that delay a thread.
SCENES = {KERNELS[0]: ["auto", "beside a queue for a while", "direct", "not real-time"]}
MODELS = {KERNELS[0]: "voluntary"}
# Which has that model only, whatever it is told.
if REAL_TIME in FETCHED:
    SCENES[REAL_TIME], MODELS[REAL_TIME] = ["auto", "beside a greedy thread"], "full"
BOOTS = [
    Boot({kernel: ("dispatch.py", *scenes)}, ("--kernel", kernel, "--kernel-args", f"preempt={MODELS[kernel]}"),
         programs={"ANOTHER_QUEUE": "another_queue.c"})
    for kernel, scenes in SCENES.items()]


def every_tick_once(record, fewest=60):
    times = [at for name, at in record["events"] if name == "clock"]
    assert len(times) >= fewest and times == sorted(times)
    assert round((times[-1] - times[0]) / record["interval"]) == len(times) - 1, "a tick was lost or doubled"


@pytest.mark.parametrize("kernel", SCENES)
def test_every_message_leaves_once_and_in_order(recordings, kernel):
    scenes = recordings[kernel]
    for record in scenes.values():
        every_tick_once(record)
    transport_in_its_place(scenes["auto"])
    told_how_ticks_leave(scenes, kernel)
    if kernel == REAL_TIME:
        assert scenes["beside a greedy thread"]["after"]["realtime"]["dispatch"] == "direct"


def transport_in_its_place(record):
    """Also under the heaviest load."""
    names = [name for name, _ in record["events"]]
    # The gateway sends the last Stop when it ends.
    assert [name for name in names if name != "clock"] == ["start", "stop", "start", "stop"]
    for index, name in enumerate(names):
        if name == "start":
            (before, started, after) = (record["events"][place][1] for place in (index - 1, index, index + 1))
            assert names[index + 1] == "clock" and before < started < after
    assert names[-1] == "stop", "nothing may follow the last Stop"


def told_how_ticks_leave(scenes, kernel):
    auto = ("direct" if kernel == REAL_TIME else "queue", "fifo")
    told = {"auto": auto, "direct": ("direct", "fifo"), "not real-time": ("queue", "other")}
    for scene in told.keys() & scenes.keys():
        status = scenes[scene]["status"]
        realtime = status["realtime"]
        assert (realtime["dispatch"], realtime["scheduling"]) == told[scene]
        latency = realtime["wakeUpLatencyMicroseconds"]
        assert 0 <= latency["p50"] <= latency["p99"] <= latency["max"]
        (clock,) = [output for output in status["outputs"] if output["name"] == "Clock"]
        assert clock["connected"] is False
