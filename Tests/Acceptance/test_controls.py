"""Feet and controllers: pedals at a virtual port of the lab's kernel, and `tactus learn`."""

import pytest

from rig.gateway import complaint, run_tactus
from rig.labs import record


@pytest.fixture(scope="module")
def seen():
    return record("controls.py")


def codes(warnings):
    return [warning["code"] for warning in warnings]


def test_a_pedal_taps_the_tempo(seen, figure):
    for bpm in (97.3, 171):
        figure(f"tempo after five taps at {bpm}", f"{seen[f'tapped {bpm}']:.3f} BPM", "1 %")
        assert seen[f"tapped {bpm}"] == pytest.approx(bpm, rel=0.01)


def test_notes_programs_and_controllers_play_and_stop(seen):
    assert "control-away" not in codes(seen["warnings before"])
    presses = [(name, seen[name]) for name in (
        "play", "stop", "toggle", "held", "release", "toggle again", "another program", "another channel",
        "clock and start")]
    assert presses == [
        ("play", True), ("stop", False), ("toggle", True), ("held", True), ("release", True), ("toggle again", False),
        ("another program", False), ("another channel", False), ("clock and start", False)]


def test_notes_nudge_and_switch_link(seen):
    assert seen["later"] == [1] * len(seen["later"]) and seen["earlier"] == [0] * len(seen["earlier"])
    assert (seen["link"], seen["link again"]) == (False, True)


def test_a_reload_changes_controls_and_a_board_that_returns_is_heard_again(seen):
    assert seen["old control after reload"] is False
    assert seen["new control after reload"] is True
    assert seen["after its return"] is True


def test_what_is_refused_is_told_once_and_shown(seen):
    assert codes(seen["refused"]).count("control-refused") == 1
    (message,) = [warning["message"] for warning in seen["refused"] if warning["code"] == "control-refused"]
    assert "tap" in message and "VirMIDI 0-2" in message and "leads" in message
    assert seen["refused in the log"] == 1


def test_learn_prints_the_line_and_writes_it_into_the_file(seen):
    printed, saved, twice = seen["learnt"]
    item = '- { port: "VirMIDI 0-1", message: { controller: 21, channel: 4 }, do: tap }'
    assert printed[0] == saved[0] == 0
    assert item in printed[1] and item in saved[1] and "config.yaml" in saved[2]
    assert seen["configuration"].count(item) == 1 and "do: play" in seen["configuration"]
    before, after = seen["tempo before and after taps at a learnt pedal"]
    assert before != after
    # A button that is bound already is not bound to something else beside it.
    assert twice[0] == 65 and "tap" in twice[2] and "config.yaml:" in twice[2]
    assert seen["silence"][0] == 69 and "nothing was pressed in 1 s" in seen["silence"][1]


def test_learn_says_what_is_missing_on_a_machine_without_a_sequencer():
    done = run_tactus("learn", "tap")
    assert done.returncode == 71 and done.stdout == ""
    assert "modprobe" in complaint(done.stderr)


@pytest.mark.parametrize("words", [["dance"], [], ["tap", "--seconds", "0"]])
def test_learn_refuses_what_it_does_not_know(words):
    done = run_tactus("learn", *words)
    assert done.returncode == 64 and done.stdout == ""
