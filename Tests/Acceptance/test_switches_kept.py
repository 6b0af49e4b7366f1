"""The user's switches, from one run to the next, through Ctrl-C and through having the plug pulled."""

import json
import random
import threading
import time


def switches(gateway):
    link = gateway.status()["link"]
    return link["enabled"], link["startStopSync"]


def test_the_next_run_finds_the_switches_as_they_were_left(start):
    gateway = start(name="kept")
    assert switches(gateway) == (True, False)
    gateway.command("link", "off")
    gateway.command("start-stop-sync", "on")
    gateway.stop()
    gateway = start(name="kept")
    assert switches(gateway) == (False, True)
    gateway.stop()
    # A flag is for one run and changes nothing that is kept.
    gateway = start("--link", name="kept")
    assert switches(gateway) == (True, True)
    gateway.stop()
    assert switches(start(name="kept")) == (False, True)


def test_a_run_that_is_killed_at_any_moment_leaves_a_whole_file(start, tmp_path):
    chance, changes = random.Random(1), 0
    while changes < 200:
        gateway = start("--no-link", "--state", tmp_path / "state", name="killed")
        made = []

        def switch():
            try:
                while True:
                    gateway.post("start-stop-sync", {"enabled": len(made) % 2 == 0})
                    made.append(1)
            except (OSError, AssertionError):  # killed
                pass

        thread = threading.Thread(target=switch)
        thread.start()
        time.sleep(chance.uniform(0.02, 0.2))
        gateway.kill()
        thread.join()
        changes += len(made)
        if made:
            kept = json.loads((tmp_path / "state/switches.json").read_text())
            # The last one may have been kept without its answer having come.
            assert kept["startStopSync"] in (True, False)


def test_a_disk_that_takes_nothing_is_a_warning_and_no_more(start):
    gateway = start("--no-link", "--state", "/proc/tactus")
    gateway.command("start-stop-sync", "on")
    assert switches(gateway) == (False, True)
    assert "switch not kept" in gateway.stderr and "/proc/tactus" in gateway.stderr
