"""Pedals and controllers: a pedal board at a virtual port of the lab's kernel, and `tactus learn`."""

import pytest

from rig.gateway import complaint, run_tactus
from rig.labs import Boot


pytestmark = pytest.mark.real("sequencer")
BOOTS = [Boot({"pedals": ("controls.py",)})]


@pytest.fixture
def seen(recordings):
    return recordings["pedals"]


def codes(warnings):
    return [warning["code"] for warning in warnings]


def test_a_pedal_taps_the_tempo(seen, figure):
    for bpm in (97.3, 171):
        figure(f"tempo after five taps at {bpm}", f"{seen[f'tapped {bpm}']:.3f} BPM", "1 %")
        assert seen[f"tapped {bpm}"] == pytest.approx(bpm, rel=0.01)


def test_notes_programs_and_controllers_play_stop_nudge_and_switch_link(seen):
    assert "control-away" not in codes(seen["warnings before"])
    presses = [(name, seen[name]) for name in (
        "play", "stop", "toggle", "held", "release", "toggle again", "another program", "another channel",
        "clock and start")]
    assert presses == [
        ("play", True), ("stop", False), ("toggle", True), ("held", True), ("release", True), ("toggle again", False),
        ("another program", False), ("another channel", False), ("clock and start", False)]
    assert seen["later"] == [1] * len(seen["later"]) and seen["earlier"] == [0] * len(seen["earlier"])
    assert (seen["link"], seen["link again"]) == (False, True)


def test_a_reload_changes_controls_and_a_board_that_returns_is_heard_again(seen):
    assert seen["old control after reload"] is False
    assert seen["new control after reload"] is True
    assert seen["after its return"] is True


def test_learn_prints_the_line_and_writes_it_into_the_file(seen):
    printed, saved, twice = seen["learnt"]
    item = '- { port: "VirMIDI 0-1", message: { controller: 21, channel: 4 }, do: tap }'
    assert printed[0] == saved[0] == 0
    assert item in printed[1] and item in saved[1] and "config.yaml" in saved[2]
    assert seen["configuration"].count(item) == 1 and "do: play" in seen["configuration"]
    before, after = seen["tempo before and after taps at a learnt pedal"]
    assert before != after
    # A button that already has a command does not get a second one.
    assert twice[0] == 65 and "tap" in twice[2] and "config.yaml:" in twice[2]
    assert seen["silence"][0] == 69 and "nothing was pressed in 1 s" in seen["silence"][1]


def test_learn_hears_what_is_connected_after_it_has_begun(seen):
    code, out, error = seen["newcomer"]
    assert code == 0
    assert '- { port: "VirMIDI 0-1", message: { controller: 21, channel: 4 }, do: tap }' in out
    lines = error.splitlines()
    assert lines[0].startswith("listening to ") and "VirMIDI" not in lines[0]
    assert [line.startswith("listening to ") and "VirMIDI 0-1" in line for line in lines].count(True) >= 2
    assert "VirMIDI 0-1" in [line for line in lines if line.startswith("listening to ")][-1]


def test_an_ambiguous_name_lists_what_to_write_in_every_command(seen):
    names = seen["names"]
    for command in ("follow VirMIDI 0", "monitor virmidi 0", "calibrate clock"):
        code, text = names[command]
        assert code == (1 if command.startswith("follow") else 69), text
        assert "'VirMIDI 0-1' (" in complaint(text) and "write one of: " in text, command
    assert names["follow VirMIDI 0-2"][0] == 0 and seen["followed"] == "VirMIDI 0-2"
    code, text = names["monitor VirMIDI 0-7"]
    assert code == 69 and "no sending port is called VirMIDI 0-7; there are: " in complaint(text)
    assert "did you mean 'VirMIDI 0-0'?" in text


@pytest.mark.real("process")
def test_learn_says_what_is_missing_without_a_sequencer_and_refuses_what_it_does_not_know():
    done = run_tactus("learn", "tap")
    assert done.returncode == 71 and done.stdout == ""
    assert "tactus doctor" in complaint(done.stderr)
    for words in (["dance"], [], ["tap", "--seconds", "0"]):
        done = run_tactus("learn", *words)
        assert done.returncode == 64 and done.stdout == "", words
