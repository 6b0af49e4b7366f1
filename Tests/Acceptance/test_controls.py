"""Pedals and controllers: a pedal board at a virtual port of the lab's kernel, and `tactus learn`."""

import pytest

from rig.labs import Boot

pytestmark = pytest.mark.real("sequencer")
BOOTS = [Boot({"pedals": ("controls.py",)})]


@pytest.fixture
def seen(recordings):
    return recordings["pedals"]


def codes(warnings):
    return [warning["code"] for warning in warnings]


def test_a_board_taps_plays_stops_nudges_and_switches_link_also_after_a_reload_and_a_return(seen):
    for bpm in (97.3, 171):
        assert seen[f"tapped {bpm}"] == pytest.approx(bpm, rel=0.01)
    assert seen["tempo of program 5"] == pytest.approx(131.5, abs=0.001)

    assert "control-away" not in codes(seen["warnings before"])
    presses = [(name, seen[name]) for name in (
        "play", "stop", "toggle", "held", "release", "toggle again", "another program", "another channel",
        "clock and start")]
    assert presses == [
        ("play", True), ("stop", False), ("toggle", True), ("held", True), ("release", True), ("toggle again", False),
        ("another program", False), ("another channel", False), ("clock and start", False)]
    assert seen["later"] == [1] * len(seen["later"]) and seen["earlier"] == [0] * len(seen["earlier"])
    assert (seen["link"], seen["link again"]) == (False, True)

    assert seen["old control after reload"] is False
    assert seen["new control after reload"] is True
    assert seen["after its return"] is True


def test_learn_prints_the_line_and_writes_it_into_the_file_also_of_what_is_connected_meanwhile(seen):
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

    code, out, error = seen["newcomer"]
    assert code == 0
    assert '- { port: "VirMIDI 0-1", message: { controller: 21, channel: 4 }, do: tap }' in out
    lines = error.splitlines()
    assert lines[0].startswith("listening to ") and "VirMIDI" not in lines[0]
    assert [line.startswith("listening to ") and "VirMIDI 0-1" in line for line in lines].count(True) >= 2
    assert "VirMIDI 0-1" in [line for line in lines if line.startswith("listening to ")][-1]
