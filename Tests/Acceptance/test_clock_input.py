"""Compares timestamps at `Clock In` and at a raw device with the kernel's own at a third port; in the lab."""

import os
import re
import statistics

import pytest

from rig.figures import quantile, usual
from rig.gateway import PROGRAMS
from rig.labs import Boot

pytestmark = pytest.mark.real("sequencer")

PROBE = os.environ.get("PROBE", str(PROGRAMS / "clock-probe"))
AUDIBLE = 1000  # microseconds
MACHINES = ["clocks alike", "clocks parted by -500 ppm and two seconds apart"]
BOOTS = [
    Boot(scripts, ("--env", f"PROBE={PROBE}", *options), {"NO_FRAMES": "no_frames.c"})
    for scripts, options in (
        ({"clocks alike": ("clock_in.py", "idle", "loaded", "held"),
          "rest": ("clock_in.py", "overflow", "noise", "no stamps"), "ports": ("follow_ports.py",)},
         ["--kernel-args", "preempt=voluntary"]),
        ({"clocks parted by -500 ppm and two seconds apart": ("clock_in.py", "idle", "held")},
         ["--ppm", "-500", "--apart", "2"]))]


def messages(events):
    """The messages as name and time, without overflow reports and song positions' values."""
    return [(words[2].split()[0], int(words[0])) for words in events if len(words) == 3]


def errors(scene, wire):
    """How much later than at the third port each message was stamped; fails if the messages differ."""
    reference = scene["reference"]
    heard = messages(scene[wire])
    assert [name for name, _ in heard] == [name for name, _ in reference]
    return [at - true for (_, at), (_, true) in zip(heard, reference)]


@pytest.mark.parametrize("machine", MACHINES)
def test_what_comes_is_stamped_with_links_clock(recordings, machine, figure):
    for moment, scene in recordings[machine].items():
        assert scene["stamped"] == ["true", "true"]
        for wire in ("port", "device"):
            late = errors(scene, wire)
            figure(
                f"{moment}, {wire}: stamped late", f"{statistics.fmean(late):.1f} us instruction-time, {min(late):.1f} to "
                f"{max(late):.1f}, of {len(late)} messages", f"{AUDIBLE} us")
            assert len(late) > 50
            assert usual(late) <= AUDIBLE


@pytest.mark.parametrize("wire", ["port", "device"])
def test_messages_name_their_source_and_carry_their_position_and_nothing_else_is_heard(recordings, wire):
    """Sends notes, controllers, System Exclusive, positions beyond 14 bits, and ticks inside other messages."""
    scene = recordings["clocks alike"]["idle"]
    assert {words[1] for words in scene[wire]} == {scene["source"] if wire == "port" else "clock-in"}
    kinds = {words[2] for words in scene[wire]}
    assert kinds == {"clock", "start", "continue", "stop", "position 136"}
    scene = recordings["rest"]["noise"]
    own = [words for words in scene[wire] if words[1] in (scene["source"], "clock-in")]
    assert [words[2] for words in own] == ["clock", "clock", "position 4", "clock"]
    strangers = [words[2] for words in scene[wire] if words not in own]
    assert strangers == (["position 0", "position 16383"] if wire == "port" else [])


def test_what_the_kernel_could_not_keep_is_an_overflow_and_what_follows_is_right(recordings):
    scene = recordings["rest"]["overflow"]
    for wire in ("port", "device"):
        heard = scene[wire]
        assert ["overflow"] in heard, "messages were lost without a report"
        assert len(messages(heard)) < len(scene["reference"])
        last = len(heard) - 1 - heard[::-1].index(["overflow"])
        after = [name for name, at in messages(heard[last:]) if at > scene["resumed"]]
        assert len(after) > 10
        assert after == [name for name, at in scene["reference"] if at > scene["resumed"]]


def test_where_the_kernel_cannot_stamp_messages_are_stamped_as_they_are_read(recordings, figure):
    scene = recordings["rest"]["no stamps"]
    assert scene["stamped"] == ["false", "false"]
    for wire in ("port", "device"):
        late = errors(scene, wire)
        figure(f"{wire}: stamped late", f"99 % within {quantile(late, 0.99):.0f} us instruction-time")
        assert abs(statistics.median(late)) < AUDIBLE


@pytest.fixture
def followed(recordings):
    return recordings["ports"]


def told(log):
    """What each line of the log says about the clock to follow, without the reason."""
    lines = [re.fullmatch(r".* the clock to follow,? (.*?)(?:: .*)?(?: fix=.*)?", line) for line in log.splitlines()]
    assert all(lines), log
    return [line[1] for line in lines]


def test_the_chosen_port_is_subscribed_again_whenever_it_comes_and_the_users_own_stay(followed):
    # guest/follow_ports.py has waited for each subscription; this checks the messages.
    assert followed["said"].strip() == "while Link is off, VirMIDI 0-2 is followed"
    assert [code for code, _ in followed["refused"]] == [400, 400, 400]
    assert all(answer["error"]["message"].startswith("source: ") for _, answer in followed["refused"])
    assert told(followed["stderr"]) == ["VirMIDI 0-3, is away", "is there"]


def test_a_raw_device_is_opened_whenever_it_comes(followed):
    there = ["/dev/snd/midiC0D1"]
    assert followed["device"] == [[], there, [], there]
    assert told(followed["device stderr"]) == 2 * ["hw:VirMIDI,1, is away", "is there"]


def test_a_flood_neither_grows_memory_nor_the_log_and_the_gateway_answers(followed, figure):
    sizes = [size for size, _ in followed["flood"]]
    slowest = max(took for _, took in followed["flood"])
    figure("memory after 10 and 20 bursts", f"{sizes[9]} and {sizes[-1]} KiB")
    figure("slowest status", f"{1000 * slowest:.0f} ms instruction-time")
    assert sizes[-1] < sizes[9] + 4096
    assert len(followed["flood stderr"].splitlines()) <= 1
