"""Both units under systemd, which is process 1 of a namespace in the lab, on a read-only root."""

import json
import os
import re

import pytest

from guest import sandbox
from rig.figures import usual
from rig.gateway import PROJECT
from rig.labs import Boot

pytestmark = pytest.mark.real("permission")

BOOTS = [Boot({"service": ("service.py",)}, programs={"FORBIDDEN": "forbidden.c"}, takes_long=True)]
BEAT = 60 / 120  # seconds
UNITS = {kind: (PROJECT / "Packaging" / name).read_text()
         for kind, name in (("system", "tactus.service"), ("user", "tactus.user.service"))}
# What the two units say of a service's life, and what the first one grants.
OTHERS = re.compile(
    "(Type|Exec.*|TimeoutStopSec|Watchdog.*|Restart.*|SupplementaryGroups|StateDirectory|RuntimeDirectory|Limit.*|DeviceAllow)=.*"
    "|SystemCallFilter=prlimit64 .*")


@pytest.fixture
def scene(recordings):
    return recordings["service"]["system"]


@pytest.fixture
def user_scene(recordings):
    return recordings["service"]["user"]


def test_the_clock_runs_when_the_unit_is_active(scene, figure):
    figure("seconds from `systemctl start` to the first tick", f"{scene['first tick']:.3f}")
    assert re.match(r"\w+, 120 BPM, 0 peers, ", scene["status"])
    assert scene["reloaded"] == "active"


def test_without_privileges_the_clock_has_its_priority_and_its_memory(scene):
    rights = scene["rights"]
    assert rights["user"] != 0 and rights["capabilities"] == [0, 0] and rights["no new privileges"] == 1
    assert rights["filter"] == 2, "system calls are filtered"
    assert rights["clock"] == [os.SCHED_FIFO, 80] and rights["locked"] > 0
    assert rights["status"]["scheduling"] == "fifo" and rights["status"]["memoryLocked"]
    assert rights["status"]["dispatch"] == "queue", "the sequencer and its queue are there"


def test_commands_of_its_group_need_neither_a_network_nor_a_token(scene):
    assert scene["by socket"] == [0, 0, 69]


def test_there_is_a_folder_for_profiles(scene):
    user, mode = scene["profiles"]
    assert user == scene["rights"]["user"] and mode & 0o700 == 0o700


# Of a run that is frozen as a whole nobody but systemd can know, by the ten seconds that it is not heard of. That a run
# itself asks for its restart within a second, ServiceTests show in virtual time.
@pytest.mark.parametrize("how", ["frozen", "starved"])
def test_a_run_whose_clock_hangs_is_restarted_and_its_machine_stopped_before_the_clock_is_back(scene, how, figure):
    hung = scene[how]
    assert hung["restarts"] == 1
    assert 0 < hung["stop"] <= hung["ticks"]
    figure("seconds until Stop, and until the clock is back", f"{hung['stop']:.2f}, {hung['ticks']:.2f}")


def test_the_log_says_that_the_clock_hung(scene):
    assert "the clock hangs" in scene["log"]
    assert "not permitted" not in scene["log"], scene["log"]


def test_a_stopped_unit_has_ended_well(scene):
    assert scene["end"] == ["inactive", "success"]


@pytest.mark.parametrize("kind", UNITS)
def test_every_directive_has_something_that_it_forbids(kind):
    section = UNITS[kind].partition("[Service]")[2].partition("[Install]")[0]
    lines = [line for line in section.splitlines() if line and not line.startswith("#")]
    untried = [line for line in lines if not OTHERS.fullmatch(line) and line != sandbox.GENTLE]
    assert set(untried) <= set(sandbox.FORBIDDEN)
    assert sandbox.GENTLE in lines


@pytest.mark.parametrize("directive", sandbox.FORBIDDEN)
def test_a_directive_forbids_what_can_be_done_without_it(scene, directive):
    alone = scene["tried alone"]
    free = alone["nobody" if directive in sandbox.OF_NOBODY else "root"]
    for attempt in sandbox.FORBIDDEN[directive]:
        assert free[attempt] == "done" and alone[directive][attempt] != "done", attempt


def test_a_forbidden_system_call_is_an_error_and_no_end(scene):
    alone = scene["tried alone"]
    assert alone["SystemCallFilter=@system-service"]["mount_disk"] == "killed"
    assert alone["gentle"]["mount_disk"] == "EPERM"


@pytest.mark.parametrize("kind", UNITS)
def test_a_unit_forbids_what_its_directives_do_and_nothing_that_is_needed(recordings, kind):
    tried = recordings["service"][kind]["tried"]
    forbidden = sandbox.forbidden_by(UNITS[kind])
    assert {name: tried[name] for name in forbidden if tried[name] == "done"} == {}
    granted = sandbox.GRANTED[kind]
    assert {name: tried[name] for name in granted} == dict.fromkeys(granted, "done")


def test_the_users_unit_forbids_what_its_user_may_do(user_scene):
    free, tried = user_scene["tried plainly"], user_scene["tried"]
    for attempt in sandbox.ORDINARY:
        assert free[attempt] == "done" and tried[attempt] != "done", attempt


def test_what_is_calibrated_and_nudged_is_kept_over_a_restart(scene):
    calibrated = scene["calibrated"]
    assert (calibrated["code"], calibrated["stderr"]) == (0, "")
    measured = json.loads(calibrated["stdout"])["offsetMilliseconds"]
    (profile,) = calibrated["saved"].values()
    assert f"offset: {measured}" in profile
    before, after = scene["offsets"]
    assert next(iter(before.values())) == 3 and before["virmidi-0-0"] == measured
    assert after == before


def test_a_users_unit_is_active_when_its_clock_runs(user_scene):
    assert re.match(r"\w+, 120 BPM, ", user_scene["status"])
    assert user_scene["reloaded"] == "active"
    assert user_scene["end"] == ["inactive", "success"]


def apart(entrance):
    """How far a machine's place in its song is from the session's bar, in seconds."""
    return usual(((beat - place / 24 + 2) % 4 - 2) * BEAT for place, beat in entrance)


def test_a_users_run_that_hangs_is_restarted_and_enters_the_session_at_a_bar(user_scene, figure):
    assert user_scene["restarts"] == 1 and user_scene["stop"] > 0
    for name in ("entered", "entered again"):
        entrance = user_scene[name]
        assert entrance[0][0] % 96 == 0, "the first tick begins a bar of the song"
        figure("seconds from the session's bar", f"{apart(entrance):.5f}", "half a tick")
        assert apart(entrance) < BEAT / 24 / 2


def test_the_panel_answers_to_a_name_that_the_machine_got_meanwhile(user_scene):
    assert user_scene["renamed"] == 200


def test_where_users_may_make_no_namespaces_the_readme_helps(user_scene):
    assert user_scene["without namespaces"] in ([217, "active"], [218, "active"])
