"""Pulses of a sound card, in the lab: recorded through a loop of sound that drifts, and beside a desktop's sound server.

The loop is a digital one, so the record has each sample as it was played. It has 42 s of a card that is 1000 ppm fast;
`MINUTES=10` takes ten minutes, and cards that are 100 ppm fast and slow, too.
"""

import functools
import json
import os

import pytest

from guest.pulses import TEMPO
from guest.reserved import LOST
from rig.figures import PER_BEAT, straight, unevenness
from rig.labs import Boot
from rig.recorded import Recorded

pytestmark = pytest.mark.real("sequencer")

MINUTES = float(os.environ.get("MINUTES", "0.7"))
DRIFTS = (1_000,) if MINUTES < 1 else (-100, 100, 1_000)  # by millionths
SECONDS = round(60 * MINUTES)
BOOTS = [Boot({str(drift): ("pulses.py", drift, SECONDS)}, takes_long=True) for drift in DRIFTS] + [
    Boot({"reserved": ("reserved.py",)}, takes_long=True)]
SETTLED = 20  # seconds after which the card's rate is known
UNEVEN, APART, EVEN = 150, 200, 100  # microseconds
STOPPED = 100  # milliseconds
LINES, CLICK = ("clock", "run"), 2  # by channel
each_drift = pytest.mark.parametrize("drift", DRIFTS)


@pytest.fixture
def record(recordings, drift):
    made = recordings[str(drift)]
    assert made["error"] is None, "the recording itself has lost sound"
    return made | looked_at(recordings, drift)


@functools.cache
def looked_at(recordings, drift):
    sound = Recorded(recordings[str(drift)]["sound"])
    return {
        "crossings": {line: sound.crossings(channel) for channel, line in enumerate(LINES)},
        "levels": {line: sound.levels(channel) for channel, line in enumerate(LINES)},
        "clicks": sound.onsets(CLICK), "loudest click": sound.levels(CLICK)[1]}


def edges(record, line):
    """When a line goes on, and off, in frames: where a straight line from sample to sample is at half level."""
    on, off = [], []
    for frame, before, after in record["crossings"][line]:
        (on if after > before else off).append(frame - 1 + (0.5 - before) / (after - before))
    return on, off


def song(record):
    """The pulses while the song plays: number and frame."""
    (rise,), (fall,) = edges(record, "run")
    return list(enumerate(frame for frame in edges(record, "clock")[0] if rise < frame < fall))


def ticks(record, until=None):
    """The times of MIDI ticks in microseconds, from the start of the song to its Stop or to the end of the record."""
    names = [name for name, _ in record["midi"]]
    end = names.index(until) if until else None
    return [at for name, at in record["midi"][names.index("start"):end] if name == "clock"]


def settled(record, numbered):
    """The pulses after the first seconds of the record."""
    return [(number, frame) for number, frame in numbered if frame >= SETTLED * record["rate"]]


def time_of_frames(record):
    """Microseconds of a frame, and the time of the first one.

    The loop moves on with the kernel's timer only, so its position may be 4 ms old; that of each second counts which is
    the newest.
    """
    rate, newest = record["rate"] / 1e6, {}
    for at, frame in record["stamps"]:
        second = frame // record["rate"]
        if second >= SETTLED:
            newest[second] = max(newest.get(second, (-float("inf"), 0, 0)), (frame - rate * at, frame, at))
    return straight([(frame, at) for _, frame, at in newest.values()])


@each_drift
def test_pulses_are_even(record, drift, figure):
    pulses = settled(record, song(record))
    slope, start = straight(pulses)
    worst = max((frame - start - slope * number for number, frame in pulses), key=abs)
    figure(
        f"a pulse of a card {drift} ppm fast is off by, at most", f"{1e6 * worst / record['rate']:+.1f} us, "
        f"{worst:+.2f} samples", f"{UNEVEN} us")
    assert abs(1e6 * worst / record["rate"]) <= UNEVEN


@each_drift
def test_each_tick_of_the_song_is_one_pulse(record, drift):
    pulses = song(record)
    interval = record["rate"] * 60 / TEMPO / PER_BEAT
    distances = [after - before for (_, before), (_, after) in zip(pulses, pulses[1:])]
    assert all(interval * 0.9 < distance < interval * 1.1 for distance in distances), (min(distances), max(distances))
    sent = len(ticks(record, until="stop"))
    # What has been written to the card is played: a pulse may come between a Stop and the end of `run`.
    assert SETTLED * PER_BEAT < sent <= len(pulses) <= sent + 1


@each_drift
def test_run_rises_before_the_downbeat_with_no_edge_between_and_falls_at_the_stop(record, drift, figure):
    (rise,), (fall,) = edges(record, "run")
    on, off = edges(record, "clock")
    downbeat = min(frame for frame in on if frame > rise)
    lead = 1e3 * (downbeat - rise) / record["rate"]
    figure("from run to the downbeat", f"{lead:.3f} ms", "9 to 11 ms")
    assert 9 <= lead <= 11 and not any(rise <= frame <= downbeat for frame in off)
    microseconds, first = time_of_frames(record)
    (stop,) = (at for name, at in record["midi"] if name == "stop")
    late = (first + microseconds * fall - stop) / 1e3
    figure("run falls after the MIDI clock's Stop by", f"{late:.1f} ms", f"{STOPPED} ms")
    assert abs(late) <= STOPPED
    assert all(record["levels"][line] == (0, pytest.approx(1, abs=0.001)) for line in LINES)


@each_drift
def test_a_click_sounds_with_the_pulse_of_each_beat(record, drift, figure):
    beats = [frame for number, frame in song(record) if number % PER_BEAT == 0]
    farthest = max(abs(click - beat) for click, beat in zip(record["clicks"], beats))
    figure("from a beat's pulse to its click, at most", f"{farthest:.2f} samples", "1.5 samples")
    assert len(record["clicks"]) == len(beats) and farthest <= 1.5
    assert record["loudest click"] == pytest.approx(0.47, abs=0.03)


@each_drift
def test_a_click_is_calibrated_by_listening_though_a_card_sends_no_messages(record, drift, figure):
    status, out, error = record["calibrated"]
    assert status == 0, error
    delay = json.loads(out)["delayMicroseconds"]
    figure("the click is heard later than planned by", f"{delay:.0f} us", "500 us")
    assert abs(delay) < 500


@each_drift
def test_midi_ticks_are_as_even_beside_a_card_as_without(record, drift, figure):
    interval = 60e6 / TEMPO / PER_BEAT
    beside, without = (
        unevenness([at for name, at in events if name == "clock"][PER_BEAT:], interval)
        for events in (record["midi"], record["alone"]))
    figure("nine MIDI ticks in ten beside a card, and without", f"{beside:.1f} and {without:.1f} us from an even clock")
    assert beside < without + EVEN


@each_drift
def test_pulses_keep_with_the_midi_clock(record, drift, figure):
    microseconds, first = time_of_frames(record)
    fast = 1e6 * (1e6 / microseconds / record["rate"] - 1)
    assert fast == pytest.approx(drift, rel=0.2), "the loop drifts about as it was told to"
    sent = ticks(record)
    apart = [(number, first + microseconds * frame - sent[number]) for number, frame in settled(record, song(record))]
    slope, start = straight(apart)
    drifted = slope * (apart[-1][0] - apart[0][0])
    constant = start + slope * (apart[0][0] + apart[-1][0]) / 2
    figure(f"a card {fast:+.1f} ppm fast: pulses drift from ticks by", f"{drifted:+.1f} us", f"{APART} us")
    figure("pulses are later than ticks by", f"{constant:.0f} us")
    assert abs(drifted) <= APART


def test_a_sound_server_lets_go_of_the_card_and_has_it_again_at_the_end(recordings):
    story = recordings["reserved"]
    assert story["first owner"] == story["last owner"] != "Tactus"
    assert story["owner"]["ApplicationName"] == ["s", "Tactus"] and story["owner"]["Priority"] == ["i", 20]
    assert story["lets go for a lower priority"] is False and story["plays on"]
    assert [name.removeprefix("org.freedesktop.DBus.Error.") for name in story["refusals"]] == [
        "UnknownMethod", "InvalidArgs", "UnknownProperty", "LimitsExceeded", "LimitsExceeded"]


def test_a_program_of_higher_priority_gets_the_card_and_is_named(recordings):
    story = recordings["reserved"]
    assert story["lets go for JACK"] is True
    ((message, fix),) = story["asked"]
    assert message.endswith("JACK has asked for the sound card") and fix.endswith("audio:default/1")
    assert story["asks again after"] >= 4.9, "it does not fight"
    ((message, _),) = story["refused"]
    assert message.endswith("JACK does not let go of the sound card")
    # It then ended, and the output played again.
    assert story["log"].count(" output away") == 1


def test_a_bus_that_fails_is_told_of_once_and_used_again_when_it_is_back(recordings):
    story = recordings["reserved"]["bus"]
    assert story["plays without"] and story["plays"]
    assert story["log"].count(LOST) == 1 and " output away" not in story["log"]
