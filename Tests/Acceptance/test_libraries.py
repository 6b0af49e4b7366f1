"""The package in `Examples` needs no other package for what it uses; its programs are built with those of the tests."""

import json
import subprocess

import pytest

from rig.gateway import PROGRAMS, PROJECT

pytestmark = pytest.mark.real("installation")


def test_a_package_that_uses_the_libraries_needs_no_other_package():
    graph = json.loads(subprocess.run(
        ["swift", "package", "--package-path", PROJECT / "Examples", "--scratch-path", PROJECT / ".build/examples",
         "show-dependencies", "--format", "json"],
        check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600).stdout)
    (tactus,) = graph["dependencies"]
    assert tactus["path"] == str(PROJECT)
    assert [package["identity"] for package in tactus["dependencies"]] == []


def test_the_example_of_a_clock_starts_a_song_on_the_beat():
    done = subprocess.run(
        [PROGRAMS / "clock-list", "125"], check=True, capture_output=True, text=True, timeout=60)
    *messages, heard = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert messages[:2] == [["0.000", "ms", "timingClock"], ["20.000", "ms", "timingClock"]]
    assert messages[48:50] == [["959.000", "ms", "start"], ["960.000", "ms", "timingClock"]]
    assert [message for *_, message in messages] == ["timingClock"] * 48 + ["start"] + ["timingClock"] * 24
    assert " ".join(heard) == "a follower hears 125.0 BPM"
