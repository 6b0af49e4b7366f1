"""Saved settings: they survive Ctrl-C and SIGKILL, and a bad disk is reported."""

import contextlib
import json
import random
import signal
import subprocess
import threading
import time

import pytest

from rig.wait import until

pytestmark = pytest.mark.real("disk")


def switches(gateway):
    link = gateway.status()["link"]
    return link["enabled"], link["startStopSync"]


def warnings(gateway):
    return {warning["code"]: warning["message"] for warning in gateway.status()["warnings"]}


def kept(folder):
    return json.loads((folder / "state.json").read_text())


@pytest.fixture
def state(tmp_path):
    return tmp_path / "kept"


def test_the_next_run_finds_the_switches_as_they_were_left_and_a_flag_is_for_one_run(start):
    gateway = start(name="kept")
    assert switches(gateway) == (True, False)
    gateway.command("link", "off")
    gateway.command("start-stop-sync", "on")
    gateway.stop()
    gateway = start(name="kept")
    assert switches(gateway) == (False, True)
    gateway.stop()
    # A command-line option applies to one run and does not change the saved state.
    gateway = start("--link", name="kept")
    assert switches(gateway) == (True, True)
    gateway.stop()
    assert switches(start(name="kept")) == (False, True)


def test_a_run_that_is_killed_at_any_moment_leaves_a_whole_file(start, state):
    chance, changes, kills = random.Random(1), 0, 0
    while changes < 60 or kills < 8:
        gateway = start("--no-link", "--state", state, name="killed")
        made = []

        def switch():
            with contextlib.suppress(OSError, AssertionError):  # killed
                while True:
                    gateway.post("start-stop-sync", {"enabled": len(made) % 2 == 0})
                    made.append(1)

        thread = threading.Thread(target=switch)
        thread.start()
        # The first write begins with the first change.
        until(lambda: made, "a change", every=0.0005)
        time.sleep(chance.uniform(0, 0.03))
        gateway.kill()
        thread.join()
        changes, kills = changes + len(made), kills + 1
        if (state / "state.json").exists():
            assert kept(state)["startStopSync"] in (True, False)
    assert not list(state.glob("*unreadable*"))


@contextlib.contextmanager
def mounted(folder, *options):
    """Mounts a small memory disk for the test; skips the test if mounting is not allowed."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "none", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_read_only_disk_gives_what_it_has_and_is_a_warning(start, tmp_path):
    with mounted(tmp_path / "disk", "size=64k") as disk:
        gateway = start("--no-link", "--state", disk / "kept")
        gateway.command("start-stop-sync", "on")
        gateway.stop()
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        gateway = start("--state", disk / "kept")
        assert switches(gateway) == (True, True)
        gateway.command("start-stop-sync", "off")
        until(lambda: "state-not-kept" in warnings(gateway), "the warning")
        gateway.stop(signal.SIGTERM)
        assert kept(disk / "kept")["startStopSync"] is True
