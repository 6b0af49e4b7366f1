"""Compares timestamps at `Clock In` and at a raw device with the kernel's own at a third port; in the lab."""

import os
import re
import statistics

import pytest

from rig.figures import usual
from rig.gateway import PROGRAMS
from rig.labs import Boot

pytestmark = pytest.mark.real("sequencer")

PROBE = os.environ.get("PROBE", str(PROGRAMS / "clock-probe"))
AUDIBLE = 1000  # microseconds
# Link's clock and the kernel's other one run at different speeds, two seconds apart.
BOOTS = [Boot(
    {"scenes": ("clock_in.py", "idle", "held", "overflow", "noise", "no stamps"), "ports": ("follow_ports.py",)},
    ("--env", f"PROBE={PROBE}", "--ppm", "-500", "--apart", "2"), {"NO_FRAMES": "no_frames.c"})]


def messages(events):
    """The messages as name and time, without overflow reports and song positions' values."""
    return [(words[2].split()[0], int(words[0])) for words in events if len(words) == 3]


def errors(scene, wire):
    """How much later than at the third port each message was stamped; fails if the messages differ."""
    reference = scene["reference"]
    heard = messages(scene[wire])
    assert [name for name, _ in heard] == [name for name, _ in reference]
    return [at - true for (_, at), (_, true) in zip(heard, reference)]


@pytest.fixture
def scenes(recordings):
    return recordings["scenes"]


def test_what_comes_is_stamped_with_links_clock_or_where_the_kernel_cannot_as_it_is_read(scenes):
    for moment in ("idle", "held"):
        scene = scenes[moment]
        assert scene["stamped"] == ["true", "true"]
        for wire in ("port", "device"):
            late = errors(scene, wire)
            assert len(late) > 50
            assert usual(late) <= AUDIBLE
    scene = scenes["no stamps"]
    assert scene["stamped"] == ["false", "false"]
    for wire in ("port", "device"):
        late = errors(scene, wire)
        assert abs(statistics.median(late)) < AUDIBLE


def test_messages_have_source_and_position_and_what_the_kernel_could_not_keep_is_an_overflow(scenes):
    for wire in ("port", "device"):
        nothing_else_is_heard(scenes, wire)
        lost_ones_are_told(scenes["overflow"], wire)


def nothing_else_is_heard(scenes, wire):
    """Among notes, controllers, System Exclusive, positions beyond 14 bits, and ticks inside other messages."""
    scene = scenes["idle"]
    assert {words[1] for words in scene[wire]} == {scene["source"] if wire == "port" else "clock-in"}
    kinds = {words[2] for words in scene[wire]}
    assert kinds == {"clock", "start", "continue", "stop", "position 136"}
    scene = scenes["noise"]
    own = [words for words in scene[wire] if words[1] in (scene["source"], "clock-in")]
    assert [words[2] for words in own] == ["clock", "clock", "position 4", "clock"]
    strangers = [words[2] for words in scene[wire] if words not in own]
    assert strangers == (["position 0", "position 16383"] if wire == "port" else [])


def lost_ones_are_told(scene, wire):
    heard = scene[wire]
    assert ["overflow"] in heard, "messages were lost without a report"
    assert len(messages(heard)) < len(scene["reference"])
    last = len(heard) - 1 - heard[::-1].index(["overflow"])
    after = [name for name, at in messages(heard[last:]) if at > scene["resumed"]]
    assert len(after) > 10
    assert after == [name for name, at in scene["reference"] if at > scene["resumed"]]


def told(log):
    """What each line of the log says about the clock to follow, without the reason."""
    lines = [re.fullmatch(r".* the clock to follow,? (.*?)(?:: .*)?(?: fix=.*)?", line) for line in log.splitlines()]
    assert all(lines), log
    return [line[1] for line in lines]


def test_the_chosen_port_or_device_is_opened_whenever_it_comes_and_the_users_own_subscriptions_stay(recordings):
    followed = recordings["ports"]
    # guest/follow_ports.py has waited for each subscription; this checks the messages.
    assert followed["said"].strip() == "while Link is off, VirMIDI 0-2 is followed"
    assert [code for code, _ in followed["refused"]] == [400, 400, 400]
    assert all(answer["error"]["message"].startswith("source: ") for _, answer in followed["refused"])
    assert told(followed["stderr"]) == ["VirMIDI 0-3, is away", "is there"]
    there = ["/dev/snd/midiC0D1"]
    assert followed["device"] == [[], there, [], there]
    assert told(followed["device stderr"]) == 2 * ["hw:VirMIDI,1, is away", "is there"]
