"""`tactus calibrate --listen`, `monitor pcm:…`, `report --loop pcm:…`: what is heard through a loop of sound.

The loop's own clock is coarse, so delays are measured against a second machine on the other channel.
"""

import json
import signal
import statistics

import pytest

from guest import listening as stage
from rig.gateway import TACTUS, environment, run_tactus
from rig.labs import Boot
from rig.screen import Screen
from rig.wait import until

sequencer, process = pytest.mark.real("sequencer"), pytest.mark.real("process")
MEASURED = 48
OFFSET = stage.OFFSET
AUDIBLE = 1_000  # microseconds
DRIFT = 500  # by millionths; a clock taken for true would be 3 ms off after six seconds
DRIFTING = f"drifting:{DRIFT}:6"
SCENES = "click", "monitored", "overrun", "reported", "crashed", DRIFTING
BOOTS = [Boot({"results": ("listening.py", *SCENES)}, takes_long=True)]


@pytest.fixture
def heard(recordings):
    return lambda scene: recordings["results"][scene]


def offset(record):
    """That of the first machine's output afterwards, in milliseconds."""
    return next(
        output["offsetMilliseconds"] for output in record["status"]["outputs"] if output["id"] == stage.IDS[0])


def truth(record):
    """By how much the first machine is later than the second, beat by beat; the clock's offset comes on top."""
    first, second = (delays[:MEASURED] for delays in record["delays"])
    return [own - other + 1_000 * OFFSET for own, other in zip(first, second)]


def deviation(times):
    """That of even beats; on a busy machine a tick may reach the simulated one late, which then plays late."""
    slope, start = statistics.linear_regression(range(len(times)), times)
    return statistics.stdev(time - start - slope * beat for beat, time in enumerate(times))


@sequencer
def test_the_delay_beside_another_machine_and_the_spread_are_found(heard, figure):
    """To a millisecond, which is heard; SoundCalibrationTests show how exactly, and with other sounds."""
    record = heard("click")
    assert (record["code"], record["stderr"]) == (0, "")
    said = json.loads(record["stdout"])
    wanted, spread = statistics.median(truth(record)), deviation(record["times"][:MEASURED])
    figure("delay", f"{said['delayMicroseconds']:.0f} us", f"{wanted:.0f} us, within {AUDIBLE}")
    figure("spread", f"{said['spreadMicroseconds']:.0f} us, where {spread:.0f} us were made")
    assert said["reference"] == "machine"
    assert abs(said["delayMicroseconds"] - wanted) < AUDIBLE
    assert said["offsetMilliseconds"] == pytest.approx(OFFSET - said["delayMicroseconds"] / 1000, abs=0.011)
    assert 0 < said["spreadMicroseconds"] < spread + AUDIBLE
    assert said["response"] == pytest.approx(1, abs=0.2) and said["used"] > MEASURED / 2
    assert not record["status"]["playing"]


@sequencer
def test_at_a_card_that_drifts_the_result_is_the_same_at_once_and_later(heard, figure):
    record = heard(DRIFTING)
    reports = record["reports"]
    assert [report["state"] for report in reports] == ["done"] * 2 and record["gaps"] == 0, reports
    first, last = (report["result"]["delayMicroseconds"] for report in reports)
    wrong = last - first + record["earlier"]
    figure(
        f"a card {record['drift']:+.1f} ppm fast: at once, and later",
        f"{first:.0f} us, {last:.0f} us, wrong by {wrong:.0f} us", f"{AUDIBLE} us")
    assert record["drift"] == pytest.approx(DRIFT, rel=0.1) and abs(wrong) < AUDIBLE


@sequencer
def test_a_gateway_that_is_killed_comes_back_with_the_clock_as_it_was(heard):
    record = heard("crashed")
    # As the offset wants it, beside that of the other machine; and the song is stopped.
    assert abs(record["apart"] - OFFSET) < AUDIBLE / 1000 and offset(record) == OFFSET and not record["status"]["playing"]


@sequencer
def test_sound_that_is_lost_is_told_and_measuring_goes_on(heard):
    code, text, error = heard("overrun")
    assert (code, error) == (0, "")
    said = json.loads(text)
    assert said["ticks"]["overflows"] >= 1 and said["ticks"]["received"] > 15
    assert said["tempo"]["beatsPerMinute"] == pytest.approx(stage.TEMPO, abs=1)


@sequencer
def test_only_with_save_the_offset_is_set_and_kept_in_a_profile_where_the_gateway_reads_them(heard):
    found = json.loads(heard("click")["stdout"])["offsetMilliseconds"]
    assert offset(heard("click")) == found
    # In the folder that the gateway was given, and not at home, neither the gateway's nor the caller's.
    name = f"profiles/{stage.IDS[0]}.yaml"
    assert list(heard("click")["profiles"]) == [name] and f"offset: {found}" in heard("click")["profiles"][name]
    assert json.loads(heard("click")["stdout"])["saved"] == {
        "offsetMilliseconds": found, "profile": f"{heard('click')['folder']}/{name}"}


@sequencer
def test_monitor_measures_what_a_card_hears_that_has_no_sample_rate_we_know(heard):
    code, text, error = heard("monitored")
    assert (code, error) == (0, "")
    said = json.loads(text)
    assert said["recording"]["sampleRate"] == 48_000
    assert said["stamps"] == "sound-card" and said["tempo"]["beatsPerMinute"] == pytest.approx(stage.TEMPO, abs=0.5)
    difference = said["recording"]["against"]["difference"]
    assert difference["medianMicroseconds"] == pytest.approx(3_000 - 1_000 * OFFSET, abs=AUDIBLE)


@sequencer
def test_a_report_has_the_figures_of_a_midi_cable_that_ends_at_a_card(heard):
    code, text, error = heard("reported")
    assert (code, error) == (0, "")
    loop = json.loads(text)["loop"]
    assert loop["kind"] == loop["clock"]["stamps"] == "sound-card" and loop["sound"]["as"] == "midi"
    assert loop["clock"]["tempo"]["beatsPerMinute"] == pytest.approx(120, abs=0.01)
    ticks = loop["clock"]["ticks"]
    assert ticks["received"] > 100 and ticks["lost"] == ticks["doubled"] == loop["sound"]["unreadable"] == 0


@process
def test_a_person_at_a_terminal_sees_the_level_first_and_begins_by_enter(start):
    gateway = start("--no-link", "--output", "virtual:Drums")
    with Screen([TACTUS, "calibrate", "drums", "--listen", "null"], environment(gateway.folder)) as screen:
        until(lambda: screen.read() or "press Enter" in screen.text() and "silence" in screen.text(), "the level is shown")
        assert not gateway.status()["playing"] and "waiting for the start" not in screen.text()
        screen.press("\n")
        until(lambda: screen.process.poll() is not None, "it goes on, and there is no sequencer here")
        assert screen.process.returncode == 71 and b"tactus doctor" in screen.process.stderr.read()


@process
def test_a_terminal_that_closes_ends_it_in_order(start):
    gateway = start("--no-link", "--output", "virtual:Drums")
    with Screen([TACTUS, "calibrate", "drums", "--listen", "null"], environment(gateway.folder)) as screen:
        until(lambda: screen.read() or "press Enter" in screen.text(), "the level is shown")
        screen.process.send_signal(signal.SIGHUP)
        until(lambda: screen.process.poll() is not None, "it ends")
        assert screen.process.returncode == 69 and b"stopped before there was a result" in screen.process.stderr.read()


UNFIT = [
    (["calibrate", "tr-8s"], "either --listen with a sound card, or --input with a port"),
    (["calibrate", "tr-8s", "--listen", "hw:1", "--input", "x"], "either --listen with a sound card"),
    (["calibrate", "tr-8s", "--listen", "hw:1", "--seconds", "9"], "--seconds goes with --input"),
    (["calibrate", "tr-8s", "--input", "x", "--against", "2"], "go with --listen"),
    (["calibrate", "tr-8s", "--listen", "hw:1", "--against", "1"], "two different channels"),
    (["calibrate", "tr-8s", "--listen", "hw:1", "--channel", "0"], "from 1 to 256"),
    (["calibrate", "tr-8s", "--listen", "hw:1", "--input-latency", "501"], "milliseconds from 0 to 500"),
    (["calibrate", "tr-8s", "--listen", "hw:1", "--against", "2", "--input-latency", "3"], "latency cancels"),
    (["calibrate", "tr-8s", "--listen", "hw:1", "--plot", "x.png"], "ends in .svg"),
    (["monitor", "pcm:", "--as", "clicks"], "name a sound card"),
    (["monitor", "pcm:hw:1"], "say what hw:1 hears"),
    (["monitor", "pcm:null", "--as", "clicks", "--channel", "257"], "from 1 to 256"),
    (["monitor", "pcm:null", "--as", "clicks", "--channel", "5000000000"], "from 1 to 256"),
]


@process
def test_what_cannot_be_meant_is_told():
    for words, told in UNFIT:
        done = run_tactus(*words)
        assert (done.returncode, done.stdout) == (64, "") and told in done.stderr and done.stderr.count("\n") == 1


@process
def test_a_machine_without_a_card_or_a_gateway_is_told_so():
    done = run_tactus("monitor", "pcm:hw:9", "--as", "clicks")
    assert (done.returncode, done.stdout) == (69, "") and "'arecord -l' lists inputs" in done.stderr
    done = run_tactus("calibrate", "tr-8s", "--listen", "hw:9")
    assert (done.returncode, done.stdout) == (69, "") and "no gateway answers" in done.stderr
