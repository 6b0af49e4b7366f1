"""Devices that are plugged in, unplugged, recognised and measured while the gateway runs; in the lab.

They are USB gadgets, which the kernel's USB MIDI driver takes for machines of a known name, and where exact times count,
ports without a cable. The kernel has stamped everything on the machine's side. Figures are instruction-times.
"""

import bisect
import json
import math
import re
import statistics

import pytest

from rig.figures import PER_BEAT, unevenness, usual
from rig.gateway import PROJECT
from rig.labs import KERNELS, Boot

pytestmark = pytest.mark.real("sequencer")

TEMPO = 120
INTERVAL = 60e6 / TEMPO / PER_BEAT
BAR = 4 * PER_BEAT
IDLE = ("--kernel-args", "transparent_hugepage=never")
# What names the USB driver gives differs from kernel to kernel, but by one rule for all machines, so that on a second kernel
# one in so many shows it. A port that vanishes is tried on each in test_sequencer.py.
ONE_IN = {kernel: 6 if number else 1 for number, kernel in enumerate(KERNELS)}
BOOTS = [
    *(Boot({kernel: ("devices.py", f"machines:{ONE_IN[kernel]}")}, (*IDLE, "--kernel", kernel), takes_long=True)
      for kernel in KERNELS),
    Boot({"others": ("devices.py", "plugging", "calibrating", "equal", "silent", "refusing")}, IDLE, takes_long=True)]


@pytest.fixture
def recorded(recordings):
    """The record of a scene of guest/devices.py."""

    def of(scene, boot="others"):
        record = recordings[boot][scene]
        if record is None:
            pytest.skip("this kernel has no USB gadgets")
        return record

    return of


def ticks(events, since=0.0, to=float("inf")):
    return [at for name, at in events if name == "clock" and since <= at < to]


def moves(events):
    return [name for name, _ in events if name not in ("clock", "position")]


def first_tick_after(events, kind):
    at = next(at for name, at in events if name == kind)
    return next(tick for name, tick in events if name == "clock" and tick > at)


def song(events):
    """The ticks of an output from its first Start on; the first one is the song's beat 0."""
    return ticks(events, first_tick_after(events, "start"))


def nearest(times, at):
    """The index of the time nearest to `at`, and how much later `at` is."""
    index = bisect.bisect(times, at)
    number = min(range(max(0, index - 1), min(len(times), index + 1)), key=lambda number: abs(times[number] - at))
    return number, at - times[number]


def connected(status):
    return {output["name"]: output["connected"] for output in status["outputs"]}


def warning(status, code):
    return next(warning for warning in status["warnings"] if warning["code"] == code)


def named(status):
    return [output["name"] for output in status["outputs"]]


def codes(status):
    return [warning["code"] for warning in status["warnings"]]


def heard_by(ports, name):
    """The gateway's ports that the port with this name is subscribed to."""
    (address,) = [
        address for address, port in ports.items() if port["name"] == name and port["client"] != "Tactus"]
    return [port["name"] for port in ports.values() if port["client"] == "Tactus" and address in port["to"]]


# USB machines, with the names, the numbers and the ports of known ones, on each kernel.


def test_every_machine_that_a_profile_recognises_is_driven_as_soon_as_it_is_plugged_in(recorded, figure):
    matches = {
        path.stem: json.loads(found.group(1)) for path in (PROJECT / "Profiles").glob("*.yaml")
        if (found := re.search(r"^match: (.*)$", path.read_text(), re.M))}
    for kernel in KERNELS:
        record = recorded("machines", kernel)
        assert set(record) <= set(matches) and len(record) == math.ceil(len(matches) / ONE_IN[kernel])
        for profile, found in record.items():
            assert [used for _, used in found["outputs"]] == [profile], f"{kernel}: no other output is connected"
            (port,) = [port for port, heard in found["ports"].items() if heard]
            # Where a profile names the client, the clock is for its first port.
            assert port.startswith(matches[profile][0]) and port == list(found["ports"])[0], kernel
            assert found["ports"][port] == [found["outputs"][0][0]], f"{kernel}: the clock comes once"
        assert ONE_IN[kernel] > 1 or max(len(found["ports"]) for found in record.values()) == 3
        for name, since, to in (
                ("the driver's ports until connected", "seen", "connected"),
                ("plugged in until connected", "plugged", "connected"),
                ("plugged in until the first tick", "plugged", "first")):
            longest = max(found[to] - found[since] for found in record.values()) / 1e6
            figure(f"{kernel}, {len(record)} machines: {name}", f"{max(0, longest):.3f} s at most")


def test_machines_unplugged_in_play_return_on_a_bar_and_the_others_miss_nothing(recorded, figure):
    record = recorded("plugging")
    steady, interval = ticks(record["steady"]), record["interval"]
    errors = []
    for back in record["returns"]:
        # What was in the queue for it when it was pulled may come in front; the song's place is told once.
        heard = [name for name, _ in back["events"] if name != "clock"]
        assert heard[-3:] == ["stop", "position", "continue"] and heard[:-3] in ([], ["stop"])
        ((position, _),) = back["positions"]
        assert position % 16 == 0, "it comes in at a bar"
        # Its driver may still be busy with the other one when it comes in. In the end it is where the song is, so
        # that none of its ticks has been lost or doubled.
        own = ticks(back["events"], first_tick_after(back["events"], "continue"))
        place = song(record["steady"])[6 * position:]
        assert len(own) > BAR / 2
        errors += [abs(at - wanted) for at, wanted in list(zip(own, place))[-PER_BEAT:]]
    assert len(record["returns"]) == 2 * record["rounds"]
    farthest, worst = max(errors), unevenness(steady, interval)
    figure(f"{len(record['returns'])} returns: farthest from the song", f"{farthest:.0f} us", "half a tick")
    figure("nine ticks in ten of the other", f"{worst:.0f} us instruction-time from an even clock", "1000 us")
    assert farthest < interval / 2 and worst < 1_000
    assert moves(record["steady"]) == ["start", "stop"]
    nothing_is_left_behind(record["samples"], figure)
    unplugging_is_told(record)


def nothing_is_left_behind(samples, figure):
    counts = [
        (len(own := [port for port in ports.values() if port["client"].startswith("Tactus")]),
         sum(len(port["to"]) for port in own)) for _, ports in samples]
    assert len(set(counts)) == 1, counts
    resident = [size for size, _ in samples]
    # After the first half, all buffers have reached their final sizes.
    growth = resident[-1] - resident[len(resident) // 2]
    figure("growth of resident memory over the second half", f"{growth >> 10} KiB", "1 MiB")
    assert growth < 1 << 20


def unplugging_is_told(record):
    """In the warnings, the table and the refusals, for as long as it is away."""
    before, away = (
        next(output for output in record[when]["outputs"] if output["name"] == "TR-8S") for when in ("before", "away"))
    told = warning(record["away"], "output-away")
    assert told["message"] == "TR-8S was unplugged. It rejoins at the next bar when it is back."
    assert "plug it in" in told["fix"] and "output-away" not in codes(record["back"])
    assert before["ticks"] > 0 and away["latenessMicroseconds"] is None
    (row,) = [row for row in record["text"].splitlines() if row.startswith("TR-8S ")]
    assert row.split()[1:7] == ["absent", "-", "-", "-", "-", "-"]  # ticks, and how late they were
    assert record["realign"] == [1, "", "tactus: TR-8S is not connected\n"]
    assert "snd_seq" not in record["log"] and record["log"].count("device unplugged") == len(record["returns"]) + 1


def test_equal_machines_have_an_output_each_and_keep_it_by_their_sockets(recorded):
    record = recorded("equal")
    for status in (record["first"], record["swapped"]):
        assert [(output["name"], output["profile"]) for output in status["outputs"][1:]] == [
            ("TR-8S", "roland-tr-8s"), ("TR-8S 2", "roland-tr-8s")]
        assert all(output["connected"] for output in status["outputs"][1:])
    ports = [[output["port"] for output in record[when]["outputs"][1:]] for when in ("first", "swapped")]
    assert ports[1] == ports[0][::-1], "they came in another order, so they have each other's numbers"
    for heard, silent in (record["heard first"], record["heard swapped"]):
        assert heard > 24 and silent == 0, "only the first one's output is enabled, as before"


# Measuring the delay to a device.


def test_calibrate_measures_the_delay_of_a_cable_and_keeps_it_or_says_why_not(recorded, figure):
    record = recorded("calibrating")
    code, text, error = record["measured"]
    assert (code, error) == (0, "")
    measured = json.loads(text)
    for name, wanted in (("shortest", 2800), ("median", 3000), ("longest", 3200)):
        found = measured[f"{name}Microseconds"]
        figure(name, f"{found} us instruction-time", f"{wanted} us and more")
        assert wanted <= found
    assert measured["medianMicroseconds"] < 4000
    figure("standard deviation", f"{measured['deviationMicroseconds']:.0f} us, where 163 us were made")
    assert measured["deviationMicroseconds"] > 0
    assert measured["offsetMilliseconds"] == round(-measured["medianMicroseconds"] / 1000, 2)
    assert abs(measured["sent"] - measured["returned"]) <= 1 and measured["sent"] > 180

    # No delay where there is none, and nothing where no clock comes back.
    code, text, error = record["at once"]
    at_once = json.loads(text)
    figure("at once: median", f"{at_once['medianMicroseconds']} us instruction-time", "1000 us")
    assert (code, error) == (0, "") and at_once["medianMicroseconds"] < 1000 and at_once["offsetMilliseconds"] == 0
    code, text, error = record["silent"]
    assert (code, text) == (69, "") and "no clock came back at VirMIDI 0-1" in error

    # Nothing is kept where the spread hides which tick came back.
    code, text, error = record["scattered"]
    assert (code, text) == (69, "") and "the delay is not clear" in error and "--seconds 24" in error
    status, profiles = record["unchanged"]
    assert [output["offsetMilliseconds"] for output in status["outputs"]] == [0] * 4 and profiles == []

    # What is kept is in force at once, and in the next run.
    code, text, error = record["kept"]
    assert (code, error) == (0, "") and f"saved in {record['profile']}" in text
    offset = record["status"]["outputs"][1]["offsetMilliseconds"]
    assert -4 < offset <= -3 and f"with an offset of {offset:.2f} ms" in text
    assert record["checked"][0] == 0
    again = record["again"]["outputs"][1]
    assert again["offsetMilliseconds"] == offset and record["profile"].endswith(f"/{again['profile']}.yaml")
    calibrated, plain = (ticks(events) for events in record["lines"])
    earlier = [nearest(plain, at)[1] for at in calibrated if record["since"] < at < record["since"] + 2.5e6]
    figure("earlier than another output", f"{-statistics.median(earlier):.0f} us instruction-time", f"{-offset:.2f} ms")
    assert len(earlier) > 100 and usual(late - offset * 1000 for late in earlier) < 1000


# Machines that are connected but receive nothing, and programs that stop reading.


def test_a_machine_that_is_taken_stuck_or_cut_off_is_told_and_joins_again_at_a_bar(recorded, figure):
    record = recorded("silent")
    box, drums, steady = record["lines"]
    taken = warning(record["taken"], "output-away")
    assert "Box" in taken["message"] and "another program" in taken["message"] and "close" in taken["fix"]
    took = (record["marks"]["free"][1] - record["marks"]["free"][0]) / 1e6
    figure("free until connected", f"{took:.1f} s")

    assert not codes(record["free"]) and not codes(record["well"]) and connected(record["well"])["Box"]
    assert "Tx bytes" in record["account"] and record["account"].count("4096") >= 2, "as the kernel tells of one that takes"
    stuck = warning(record["stuck"], "device-stuck")
    assert "Box" in stuck["message"] and "plug it in" in stuck["fix"]
    took = (record["marks"]["stuck"][1] - record["marks"]["stuck"][0]) / 1e6
    figure("dead until told", f"{took:.1f} s")
    assert record["log"].count("device accepts nothing") == 1

    # It takes again, and is placed anew.
    back, _ = record["marks"]["again"]
    later = [event for event in box if event[1] > back]
    assert moves(later) == ["stop", "continue", "stop"]
    (position,) = [value for value, at in record["positions"] if at > back]
    assert position % 16 == 0
    assert len(ticks(later, first_tick_after(later, "continue"))) > PER_BEAT
    assert not {"output-away", "device-stuck"} & set(codes(record["last"]))

    # A subscription that somebody undoes is made again.
    assert moves(drums) == ["start", "stop", "continue", "stop"]
    _, late = nearest(song(steady)[::BAR], first_tick_after(drums, "continue"))
    figure("the cut off one's first tick from the bar", f"{late:.0f} us instruction-time", "half a tick")
    assert abs(late) < INTERVAL / 2
    assert heard_by(record["ports"], "Drums MIDI 1") == ["Drums"]
    assert moves(steady) == ["start", "stop"] and unevenness(ticks(steady), INTERVAL) < 1_000


def test_a_program_that_stopped_reading_is_brought_in_step_when_it_reads_again_and_disturbs_no_other(recorded):
    for way in ("direct", "queue"):
        record = recorded("refusing")[way]
        started, stopped, again, replaced = record["told"]
        assert [name for name, _ in started] == ["start"], way
        assert [name for name, _ in stopped] == ["stop"], way
        assert [name for name, _ in again] in (["start"], ["position", "continue"]), way
        assert [name for name, _ in replaced] == ["stop", "position", "continue"] and replaced[1][1] % 16 == 0, way
        out, after, out_again, last = record["statuses"]
        assert out["transport"] == "stopped" and "Sleeper" in warning(out, "out-of-step")["message"]
        assert "may still be playing" in warning(out, "out-of-step")["message"]
        assert "next bar" in warning(out_again, "out-of-step")["fix"]
        assert "out-of-step" not in codes(after) + codes(last)
        other = [name for name in record["other"] if name not in ("clock", "position")]
        assert other in (["start", "stop", "start", "stop"], ["start", "stop", "continue", "stop"]), way
