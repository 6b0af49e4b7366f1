"""Saved settings: they survive Ctrl-C, SIGKILL and power cuts, and bad disks are reported."""

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


def offset(gateway, name):
    return {output["id"]: output["offsetMilliseconds"] for output in gateway.status()["outputs"]}[name]


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


def test_tempo_quantum_follow_and_offsets_are_found_again_until_they_are_configured_otherwise(start, state, tmp_path):
    config = tmp_path / "config.yaml"

    def configure(quantum, milliseconds):
        config.write_text(
            f"version: 1\nlink: {{ quantum: {quantum} }}\n"
            f"outputs: [{{ port: 'virtual:Drums', clock: {{ offset: {milliseconds} }} }}]\n")

    def found(gateway):
        status = gateway.status()
        return round(status["tempo"], 3), status["quantum"], offset(gateway, "drums"), offset(gateway, "clock")

    options = ("--no-link", "--config", config, "--state", state)
    configure(4, -1)
    gateway = start(*options)
    gateway.post("tempo", {"bpm": 97.3})
    gateway.post("quantum", {"beats": 3})
    gateway.post("nudge", {"milliseconds": -2.5, "output": "drums"})
    gateway.post("nudge", {"milliseconds": 4, "output": "clock"})
    gateway.post("follow", {"source": "MPC"})
    gateway.stop()
    gateway = start(*options)
    assert found(gateway) == (97.3, 3, -3.5, 4)
    assert "clock-away" in warnings(gateway) and "MPC" in warnings(gateway)["clock-away"]
    # A reload replaces only the live settings whose values in the configuration have changed.
    gateway.post("reload")
    assert found(gateway) == (97.3, 3, -3.5, 4)
    gateway.stop()
    configure(5, -1.25)
    gateway = start(*options)
    assert found(gateway) == (97.3, 5, -1.25, 4)
    gateway.stop()
    # Options override the saved state, for this run only.
    assert found(start(*options, "--tempo", 140, "--quantum", 7)) == (140, 7, -1.25, 4)


def test_a_run_that_is_killed_at_any_moment_leaves_a_whole_file(start, state, figure):
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
    figure("switch changes, and kills among them", f"{changes}, {kills}")
    assert not list(state.glob("*unreadable*"))


def test_what_was_set_is_on_the_disk_soon_and_found_after_the_plug_was_pulled(start, state):
    gateway = start("--no-link", "--state", state)
    for turn in range(50):
        gateway.post("tempo", {"bpm": 100 + turn / 10})
    until(lambda: (state / "state.json").exists() and kept(state)["tempo"] == pytest.approx(104.9), "the last tempo kept")
    gateway.kill()
    assert start("--no-link", "--state", state).status()["tempo"] == pytest.approx(104.9, abs=0.001)


def test_what_cannot_be_read_is_set_aside_and_the_rest_works(start, state):
    state.mkdir()
    for number, contents in enumerate((b"\0" * 4096, b'{"version": 99, "link": false}'), 1):
        (state / "state.json").write_bytes(contents)
        gateway = start("--no-link", "--state", state, name=f"damaged {number}")
        assert "state-unreadable" in warnings(gateway)
        said = "state of the last run cannot be read"
        assert gateway.logged(said).count(said) == 1
        gateway.command("start-stop-sync", "on")
        gateway.stop()
        assert (state / f"state.json.unreadable-{number}").read_bytes() == contents
    (state / "state.json").unlink()
    (state / "state.json/inside").mkdir(parents=True)
    gateway = start("--no-link", "--state", state, name="folder")
    gateway.command("start-stop-sync", "on")
    gateway.stop()
    assert (state / "state.json.unreadable-3/inside").is_dir()
    gateway = start("--no-link", "--state", state)
    assert switches(gateway) == (False, True) and "state-unreadable" not in warnings(gateway)


def test_a_disk_that_takes_nothing_is_a_warning_and_no_more(start):
    gateway = start("--no-link", "--state", "/proc/tactus")
    for word in ("on", "off", "on"):
        gateway.command("start-stop-sync", word)
    assert switches(gateway) == (False, True)
    until(lambda: "state-not-kept" in warnings(gateway), "the warning")
    assert "/proc/tactus" in warnings(gateway)["state-not-kept"]
    gateway.stop()
    assert gateway.stderr.count("state not kept") == 1


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
