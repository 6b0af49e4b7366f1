"""Devices that are plugged in, unplugged, recognised, configured and followed while the gateway runs; in the lab.

The kernel has stamped everything at the raw side of ports that stand for devices. Figures are instruction-times.
"""

import bisect
import json
import statistics

import pytest

from rig.figures import PER_BEAT, usual
from rig.labs import Boot

pytestmark = pytest.mark.real("sequencer")

TEMPO, LEADER, RETURNS = 120, 101.3, 12
INTERVAL = 60e6 / TEMPO / PER_BEAT
BAR = 4 * PER_BEAT
SCENES = [
    ["plugging", "calibrating", "recognising", "equal", "configuring", "remote", "leader"],
    ["refusing", "unplugged", "silent", "reporting"],
]
BOOTS = [
    Boot({" ".join(scenes): ("devices.py", *scenes)}, ("--kernel-args", "transparent_hugepage=never"), takes_long=True)
    for scenes in SCENES]


@pytest.fixture
def recorded(recordings):
    """The record of a scene of guest/devices.py."""
    return lambda scene: next(recordings[" ".join(scenes)] for scenes in SCENES if scene in scenes)[scene]


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


def unevenness(times, interval=INTERVAL):
    """How far nine ticks in ten are from their places in an even clock; fails if one was lost or doubled."""
    assert round((times[-1] - times[0]) / interval) == len(times) - 1, "a tick was lost or doubled"
    start = statistics.median(at - number * interval for number, at in enumerate(times))
    return usual(at - start - number * interval for number, at in enumerate(times))


def connected(status):
    return {output["name"]: output["connected"] for output in status["outputs"]}


def named(status):
    return [output["name"] for output in status["outputs"]]


def codes(status):
    return [warning["code"] for warning in status["warnings"]]


def heard_by(ports, name):
    """The gateway's ports that the port with this name is subscribed to."""
    (address,) = [
        address for address, port in ports.items() if port["name"] == name and port["client"] != "Tactus"]
    return [port["name"] for port in ports.values() if port["client"] == "Tactus" and address in port["to"]]


# Devices are unplugged and plugged in again, many times.


def test_a_device_that_returns_is_stopped_placed_and_continued_on_a_bar(recorded, figure):
    record = recorded("plugging")
    bars = song(record["others"][0])[::BAR]
    words = [event for event in record["sent"] if event[0] != "clock"]
    errors = []
    for back in record["returns"]:
        sent = [
            name for name, at, sender in words
            if sender == back["output"] and back["plugged"] < at < back["read"]]
        # A device that is being pulled may refuse its last tick. The observer, which stays, is then sent a Stop, perhaps
        # only after `plugged`; and so is the device, if it has been connected again by then.
        assert sent[-3:] == ["stop", "position", "continue"] and sent[:-3] in ([], ["stop"])
        heard = [name for name, _ in back["events"] if name != "clock"]
        assert heard in (sent[-3:], sent)
        bar, late = nearest(bars, first_tick_after(back["events"], "continue"))
        assert [value for value, _ in back["positions"]] == [16 * bar]
        errors.append(late)
    figure("returns", len(errors), RETURNS)
    figure("farthest from the bar", f"{max(map(abs, errors)):.0f} us instruction-time", "half a tick")
    assert len(errors) == RETURNS and max(map(abs, errors)) < INTERVAL / 2

    others = ticks(record["others"][0])
    for back in record["returns"]:
        since = first_tick_after(back["events"], "continue")
        numbers = [nearest(others, at)[0] for at in ticks(back["events"], since)]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert len(numbers) >= PER_BEAT


def test_while_devices_come_and_go_the_others_miss_nothing_and_nothing_is_left_behind(recorded, figure):
    for number, events in enumerate(recorded("plugging")["others"]):
        assert moves(events) == ["start", "stop"]
        worst = unevenness(ticks(events), recorded("plugging")["interval"])
        figure(f"output {number}: nine ticks in ten from an even clock", f"{worst:.0f} us instruction-time", "1000 us")
        assert worst < 1_000

    record = recorded("plugging")
    counts = [
        (len(own := [port for port in ports.values() if port["client"].startswith("Tactus")]),
         sum(len(port["to"]) for port in own)) for _, ports in record["samples"]]
    assert len(set(counts)) == 1, counts
    resident = [size for size, _ in record["samples"]]
    # After the first half, all buffers have reached their final sizes.
    growth = resident[-1] - resident[len(resident) // 2]
    figure("ports and subscriptions", counts[-1])
    figure("resident memory", f"{resident[0] >> 10} KiB, then {resident[-1] >> 10} KiB")
    figure("growth over the second half", f"{growth >> 10} KiB", "1 MiB")
    assert growth < 1 << 20
    assert all(connected(record["status"])[f"Virtual Raw MIDI {card}-0"] for card in range(2))


# Devices are recognised.


def test_devices_that_a_profile_recognises_are_driven_once_and_no_others(recorded):
    record = recorded("recognising")
    outputs = {output["name"]: output for output in record["alone"]["outputs"]}
    assert set(outputs) == {"Clock", "Virtual Raw MIDI 0-0", "Virtual Raw MIDI 1-2"}
    for name, profile, port in (
            ("Virtual Raw MIDI 0-0", "by-port", "VirMIDI 0-0"), ("Virtual Raw MIDI 1-2", "by-client", "VirMIDI 1-2")):
        assert outputs[name]["connected"] and outputs[name]["profile"] == profile
        assert heard_by(record["ports"], port) == [name]
    assert not any(heard_by(record["ports"], f"VirMIDI {port}") for port in ("0-1", "0-2", "0-3", "1-0", "1-1", "1-3"))
    assert not codes(record["alone"])

    assert named(record["named"]) == ["Clock", "VirMIDI 0-0", "Virtual Raw MIDI 1-2"]
    assert heard_by(record["ports named"], "VirMIDI 0-0") == ["VirMIDI 0-0"]
    assert record["named"]["outputs"][1]["profile"] == "by-port"


def test_a_device_that_is_also_subscribed_to_clock_is_warned_of_until_it_is_not(recorded):
    record = recorded("recognising")
    (warning,) = record["twice"]["warnings"]
    assert warning["code"] == "clock-twice" and "VirMIDI 0-0" in warning["message"]
    clock, device = record["twice"]["outputs"][0]["port"], record["twice"]["outputs"][1]["port"]
    assert clock == device and warning["fix"].endswith(f" {device}'")
    assert not codes(record["once"])


def test_equal_devices_have_an_output_each_and_keep_it_by_their_sockets(recorded):
    record = recorded("equal")
    if record is None:
        pytest.skip("this kernel has no USB gadgets")
    for status in (record["first"], record["swapped"]):
        assert [(output["name"], output["profile"]) for output in status["outputs"][1:]] == [
            ("TR-8S", "roland-tr-8s"), ("TR-8S 2", "roland-tr-8s")]
        assert all(output["connected"] for output in status["outputs"][1:])
    ports = [[output["port"] for output in record[when]["outputs"][1:]] for when in ("first", "swapped")]
    assert ports[1] == ports[0][::-1], "they came in another order, so they have each other's numbers"
    for heard, silent in (record["heard first"], record["heard swapped"]):
        assert heard > 24 and silent == 0, "only the first device's output is enabled, as before"


# A configuration is read again.


@pytest.mark.case("AUDIOENGINE-2", "alone")
def test_sighup_brings_an_edited_offset_into_force_without_a_seam(recorded, figure):
    record = recorded("configuring")
    edited, other, marks = record["lines"][0], ticks(record["lines"][2]), record["marks"]
    assert moves(edited) == ["start", "stop"]
    seam = max(abs(b - a - INTERVAL) for a, b in zip(ticks(edited), ticks(edited)[1:]))
    figure("the edited output, two ticks farthest from their distance", f"{seam:.0f} us instruction-time", "half a tick")
    assert seam < INTERVAL / 2
    untouched = record["lines"][2]
    worst = unevenness(ticks(untouched))
    figure("an output that was not touched, nine ticks in ten from an even clock", f"{worst:.0f} us instruction-time", "1000 us")
    assert moves(untouched) == ["start", "stop"] and worst < 1_000
    for since, to, offset in (("started", "offset", 0), ("exchanged", "broken", -4_500)):
        late = statistics.median(nearest(other, at)[1] for at in ticks(edited, marks[since] + 1e6, marks[to]))
        figure(f"{since}: offset", f"{late:.0f} us instruction-time", offset)
        assert abs(late - offset) < 1_000
    assert record["offset"]["status"]["outputs"][1]["offsetMilliseconds"] == -4.5


def test_reload_stops_the_output_that_went_and_has_the_new_one_join_at_a_bar(recorded, figure):
    record = recorded("configuring")
    code, text, error = record["reload"]
    assert (code, error) == (0, "") and "4 outputs" in text
    _, gone, steady_one, new = record["lines"]
    assert moves(gone) == ["start", "stop"]
    (stop,) = [number for number, event in enumerate(gone) if event[0] == "stop"]
    assert record["marks"]["asked"] < gone[stop][1] < record["marks"]["exchanged"] + 0.5e6
    assert len(gone) - stop <= 2, "a Stop is sent at once, and one tick may still be in the queue then"
    assert moves(new) == ["continue", "stop"]
    bars = song(steady_one)[::BAR]
    _, late = nearest(bars, first_tick_after(new, "continue"))
    figure("the new output's first tick from the bar", f"{late:.0f} us instruction-time", "half a tick")
    assert abs(late) < INTERVAL / 2
    now = ["Clock", "VirMIDI 0-0", "VirMIDI 0-2", "VirMIDI 0-3"]
    assert sorted(named(record["exchanged"]["status"])) == now
    own = sorted(port["name"] for port in record["exchanged"]["ports"].values() if port["client"] == "Tactus")
    assert own == now

    # With `auto-connect: false`, a device that a profile recognises is not connected.
    assert not heard_by(record["offset"]["ports"], "VirMIDI 0-3")
    assert record["offset"]["status"]["outputs"][2]["profile"] == "tempting"


def test_a_broken_configuration_is_refused_with_its_places_and_everything_goes_on(recorded):
    record = recorded("configuring")
    places = [f"{record['path']}:4:14: ", f"{record['path']}:7:5: "]
    code, text, error = record["refused"]
    assert (code, text) == (65, "") and all(place in error for place in places)
    status, body = record["http"]
    assert status == 422 and body["error"]["code"] == "bad-configuration"
    assert all(place in body["error"]["message"] for place in places)
    assert all(place in record["log"] for place in places)
    code, text, error = record["start"]
    assert (code, text) == (65, "") and all(place in error for place in places)
    before, after = record["exchanged"]["status"], record["broken"]["status"]
    assert connected(after) == connected(before) and after["playing"]


# Messages from devices.


def test_a_remote_control_moves_the_other_devices_and_none_of_their_ticks(recorded, figure):
    record = recorded("remote")
    for mode in ("internal", "link"):
        assert [status["playing"] for status in record[mode]] == [False, True, False]
        assert all(status["mode"] == mode and status["tempo"] == TEMPO for status in record[mode])
    assert moves(record["events"]) == ["start", "stop"] * 2
    heard = [at for name, at in record["events"] if name in ("start", "stop")]
    took = [at - (pressed - 3_000) for at, (_, pressed) in zip(heard, record["pressed"])]
    figure("from the button to the other device", f"{max(took) / 1000:.1f} ms instruction-time")
    assert all(0 < delay for delay in took)
    assert unevenness(ticks(record["events"])) < 1_000


def test_a_device_whose_profile_calls_it_a_leader_is_followed_by_itself(recorded):
    record = recorded("leader")
    last = record["statuses"][-1]
    assert last["mode"] == "follow" and "VirMIDI 0-0" in last["reason"]
    assert abs(last["tempo"] - LEADER) < 0.3
    heard = ticks(record["events"])[-100:]
    interval = (heard[-1] - heard[0]) / (len(heard) - 1)
    assert abs(interval - 2.5e6 / LEADER) < 0.003 * interval
    assert not ticks(record["own"], heard[0]), "the leader is sent no clock"
    tempos = [output["sentTempo"] for output in last["outputs"] if output["connected"]]
    assert tempos.count(None) == 1 and all(abs(tempo - LEADER) < 0.3 for tempo in tempos if tempo), last["outputs"]


# Measuring the delay to a device.


def test_calibrate_measures_the_delay_of_a_cable_and_its_spread(recorded, figure):
    code, text, error = recorded("calibrating")["measured"]
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


def test_calibrate_says_so_if_no_clock_comes_back(recorded):
    code, text, error = recorded("calibrating")["silent"]
    assert (code, text) == (69, "") and "no clock came back at VirMIDI 0-1" in error


def test_calibrate_finds_no_delay_where_there_is_none(recorded, figure):
    code, text, error = recorded("calibrating")["at once"]
    assert (code, error) == (0, "")
    measured = json.loads(text)
    figure("median", f"{measured['medianMicroseconds']} us instruction-time", "1000 us")
    assert measured["medianMicroseconds"] < 1000 and measured["offsetMilliseconds"] == 0


def test_calibrate_keeps_nothing_where_the_spread_hides_which_tick_came_back(recorded):
    record = recorded("calibrating")
    code, text, error = record["scattered"]
    assert (code, text) == (69, "") and "the delay is not clear" in error and "--seconds 24" in error
    status, profiles = record["unchanged"]
    assert [output["offsetMilliseconds"] for output in status["outputs"]] == [0] * 4 and profiles == []


def test_the_offset_that_calibrate_keeps_is_in_force_at_once_and_in_the_next_run(recorded, figure):
    record = recorded("calibrating")
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


# Devices that are connected but receive nothing.


@pytest.fixture
def silent(recorded):
    record = recorded("silent")
    if record is None:
        pytest.skip("this kernel has no USB gadgets")
    return record


def warning(status, code):
    return next(warning for warning in status["warnings"] if warning["code"] == code)


def test_a_device_that_another_program_has_is_named_and_connected_once_it_is_free(silent, figure):
    taken = warning(silent["taken"], "output-away")
    assert "Box" in taken["message"] and "another program" in taken["message"] and "close" in taken["fix"]
    assert not codes(silent["free"])
    took = (silent["marks"]["free"][1] - silent["marks"]["free"][0]) / 1e6
    figure("free until connected", f"{took:.1f} s")


def test_a_device_that_is_there_but_takes_nothing_is_noticed_within_seconds(silent, figure):
    assert connected(silent["well"])["Box"] and not codes(silent["well"])
    assert "Tx bytes" in silent["account"] and silent["account"].count("4096") >= 2, "as the kernel tells of one that takes"
    stuck = warning(silent["stuck"], "device-stuck")
    assert "Box" in stuck["message"] and "plug it in" in stuck["fix"]
    took = (silent["marks"]["stuck"][1] - silent["marks"]["stuck"][0]) / 1e6
    figure("dead until told", f"{took:.1f} s")
    assert silent["log"].count("device accepts nothing") == 1


def test_a_device_that_takes_again_is_placed_anew(silent):
    assert not codes(silent["last"])
    back, _ = silent["marks"]["again"]
    later = [event for event in silent["events"] if event[1] > back]
    assert moves(later) == ["stop", "continue", "stop"]
    (position,) = [value for value, at in silent["positions"] if at > back]
    assert position % 16 == 0
    assert len(ticks(later, first_tick_after(later, "continue"))) > PER_BEAT


def test_a_subscription_that_somebody_undoes_is_made_again_and_its_device_joins_at_a_bar(silent, figure):
    drums, steady = silent["lines"]
    assert moves(drums) == ["start", "stop", "continue", "stop"]
    _, late = nearest(song(steady)[::BAR], first_tick_after(drums, "continue"))
    figure("its first tick from the bar", f"{late:.0f} us instruction-time", "half a tick")
    assert abs(late) < INTERVAL / 2
    assert heard_by(silent["ports"], "VirMIDI 0-0") == ["Virtual Raw MIDI 0-0"]

    assert moves(steady) == ["start", "stop"] and unevenness(ticks(steady)) < 1_000


# Programs that stop reading, and machines that are unplugged.


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


def test_a_machine_that_was_unplugged_is_told_with_what_it_will_do(recorded):
    record = recorded("unplugged")
    name = record["before"]["outputs"][-1]["name"]
    assert record["before"]["outputs"][-1]["ticks"] > 0
    away = warning(record["away"], "output-away")
    assert away["message"] == f"{name} was unplugged. It rejoins at the next bar when it is back."
    assert "plug it in" in away["fix"]
    later = record["later"]["outputs"][-1]
    assert later["latenessMicroseconds"] is None
    assert later["ticks"] == record["away"]["outputs"][-1]["ticks"]
    (row,) = [row for row in record["text"].splitlines() if row.startswith("output") and name in row]
    assert "not connected" in row and "ticks" not in row and "late" not in row
    assert record["realign"] == [1, "", f"tactus: {name} is not connected\n"]
    assert "output-away" not in codes(record["back"])
    assert "snd_seq" not in record["log"] and record["log"].count("device unplugged") == 1


# A report for an issue.


def test_a_report_has_the_clock_at_each_machine_and_at_the_end_of_the_cable(recorded):
    record = recorded("reporting")
    if record is None:
        pytest.skip("this kernel has no USB gadgets")
    report = json.loads(record["report"])
    assert {device["name"]: device["kinds"] for device in report["usb"]} == {"TR-8S": ["midi"], "Sampler": ["midi"]}
    places = {device["name"]: device["place"] for device in report["usb"]}
    general, drums, sampler = sorted(report["gateway"]["outputs"], key=lambda output: output.get("usb") or "")
    assert general.get("profile") is None
    assert (drums["profile"], drums["usb"]) == ("roland-tr-8s", places["TR-8S"])
    assert (sampler["profile"], sampler["usb"]) == ("generic", places["Sampler"])
    for clock in (general["clock"], drums["clock"], sampler["clock"], report["loop"]["clock"]):
        assert clock["stamps"] == "kernel" and clock["tempo"]["beatsPerMinute"] == pytest.approx(TEMPO, rel=0.001)
        assert clock["ticks"]["received"] > 240 and clock["ticks"]["lost"] == clock["ticks"]["doubled"] == 0
    assert report["loop"]["kind"] == "raw-device"
    for text in (record["report"], record["text"]):
        assert "TR-8S" in text and len(text) < 9_000
        assert "canary" not in text.lower(), "an output's name, and the devices' serial number"
    assert not codes(record["after"]), "who has listened is not missed"
