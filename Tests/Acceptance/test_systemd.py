"""The system's unit under systemd, which is process 1 of a namespace in the lab, on a read-only root."""

import os
import re

import pytest

from rig.labs import Boot

pytestmark = pytest.mark.real("permission")

BOOTS = [Boot({"service": ("service.py",)})]
TICK = 60 / 120 / 24  # seconds


@pytest.fixture
def scene(recordings):
    return recordings["service"]


def test_the_clock_runs_when_the_unit_is_active(scene):
    assert scene["first tick"] < TICK, "seconds after `systemctl start`"
    assert re.match(r"\w+, 120 BPM, 0 peers, ", scene["status"])
    assert scene["reloaded"] == "active"


def test_without_privileges_the_clock_has_its_priority_and_its_memory(scene):
    rights = scene["rights"]
    assert rights["user"] != 0 and rights["capabilities"] == [0, 0] and rights["no new privileges"] == 1
    assert rights["filter"] == 2, "system calls are filtered"
    assert rights["clock"] == [os.SCHED_FIFO, 80] and rights["locked"] > 0
    assert rights["status"]["scheduling"] == "fifo" and rights["status"]["memoryLocked"]
    assert rights["status"]["dispatch"] == "backstop", "the sequencer and its queue are there"


def test_there_is_a_folder_for_profiles(scene):
    user, mode = scene["profiles"]
    assert user == scene["rights"]["user"] and mode & 0o700 == 0o700


# Of a run that is frozen as a whole nobody but systemd can know, by the ten seconds that it is not heard of.
@pytest.mark.parametrize(("how", "bound"), [("frozen", 13), ("starved", 2)])
def test_a_run_whose_clock_hangs_is_restarted_and_its_machine_in_step_soon(scene, how, bound, figure):
    hung = scene[how]
    assert hung["restarts"] == 1
    assert hung["stop"] < bound and hung["ticks"] < bound
    figure("seconds until Stop, and until the clock is back", f"{hung['stop']:.2f}, {hung['ticks']:.2f}", bound)


def test_the_log_says_that_the_clock_hung(scene):
    assert "the clock hangs" in scene["log"]
    assert "not permitted" not in scene["log"], scene["log"]


def test_a_stopped_unit_has_ended_well(scene):
    assert scene["end"] == ["inactive", "success"]
