"""Both units under systemd, which is process 1 of a namespace in the lab, on a read-only root."""

import os
import re

import pytest

from rig.figures import usual
from rig.labs import Boot

pytestmark = pytest.mark.real("permission")

BOOTS = [Boot({"service": ("service.py",)}, takes_long=True)]
BEAT = 60 / 120  # seconds


@pytest.fixture
def scene(recordings):
    return recordings["service"]["system"]


@pytest.fixture
def user_scene(recordings):
    return recordings["service"]["user"]


def test_the_unit_is_active_when_its_clock_runs_and_grants_priority_memory_and_commands_of_its_group(scene):
    assert re.match(r"\w+, 120 BPM, 0 peers, ", scene["status"])
    assert scene["reloaded"] == "active"
    rights = scene["rights"]
    assert rights["user"] != 0 and rights["capabilities"] == [0, 0] and rights["no new privileges"] == 1
    assert rights["filter"] == 2, "system calls are filtered"
    assert rights["clock"] == [os.SCHED_FIFO, 80] and rights["locked"] > 0
    assert rights["status"]["scheduling"] == "fifo" and rights["status"]["memoryLocked"]
    assert rights["status"]["dispatch"] == "queue", "the sequencer and its queue are there"
    assert scene["by socket"] == [0, 0, 69], "they need neither a network nor a token"
    user, mode = scene["profiles"]
    assert user == rights["user"] and mode & 0o700 == 0o700
    assert scene["end"] == ["inactive", "success"]


def test_a_run_whose_clock_hangs_is_restarted_and_its_machine_stopped_before_the_clock_is_back(scene):
    """Of a run that is frozen as a whole nobody but systemd can know, by the ten seconds that it is not heard of.

    That a run itself asks for its restart within a second, ServiceTests show in virtual time.
    """
    hung = scene["frozen"]
    assert hung["restarts"] == 1
    assert 0 < hung["stop"] <= hung["ticks"]
    before, after = scene["offsets"]
    assert after == before and 3 in before.values(), "what was nudged is kept"
    assert "not permitted" not in scene["log"], scene["log"]


def apart(entrance):
    """How far a machine's place in its song is from the session's bar, in seconds."""
    return usual(((beat - place / 24 + 2) % 4 - 2) * BEAT for place, beat in entrance)


def test_a_users_unit_is_restarted_enters_the_session_at_a_bar_and_answers_to_a_new_name(user_scene):
    assert re.match(r"\w+, 120 BPM, ", user_scene["status"])
    assert user_scene["reloaded"] == "active"
    assert user_scene["end"] == ["inactive", "success"]
    assert user_scene["restarts"] == 1 and user_scene["stop"] > 0
    for name in ("entered", "entered again"):
        entrance = user_scene[name]
        assert entrance[0][0] % 96 == 0, "the first tick begins a bar of the song"
        assert apart(entrance) < BEAT / 24 / 2
    assert user_scene["renamed"] == 200
    # Where users may make no namespaces, the documentation helps.
    assert user_scene["without namespaces"] in ([217, "active"], [218, "active"])
