"""The package in `Examples` uses the libraries as any other package would, where nothing can be fetched."""

import json
import subprocess

import pytest

from rig.gateway import PROJECT

pytestmark = pytest.mark.real("installation")

BUILD = PROJECT / ".build/examples"


def swift(command, *arguments):
    """Runs a command of SwiftPM for the package of examples, with the options that a user has, and returns its output."""
    done = subprocess.run(
        ["swift", command, "--package-path", PROJECT / "Examples", "--scratch-path", BUILD, *arguments],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2400)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_package_that_uses_the_libraries_needs_no_other_package():
    graph = json.loads(swift("package", "show-dependencies", "--format", "json"))
    (tactus,) = graph["dependencies"]
    assert tactus["path"] == str(PROJECT)
    assert [package["identity"] for package in tactus["dependencies"]] == []


def test_the_example_of_a_clock_starts_a_song_on_the_beat():
    swift("build", "--product", "clock-list")
    done = subprocess.run(
        [BUILD / "debug/clock-list", "125"], check=True, capture_output=True, text=True, timeout=60)
    *messages, heard = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
    assert messages[:2] == [["0.000", "ms", "timingClock"], ["20.000", "ms", "timingClock"]]
    assert messages[48:50] == [["959.000", "ms", "start"], ["960.000", "ms", "timingClock"]]
    assert [message for *_, message in messages] == ["timingClock"] * 48 + ["start"] + ["timingClock"] * 24
    assert " ".join(heard) == "a follower hears 125.0 BPM"
