"""Presence and measurement on the wire, asked with packets made by hand; numbered as in our list of checks."""

import time

import pytest

from rig.rawpeer import (
    ALIVE, BYE_BYE, DISCOVERY, GROUP, MEASUREMENT, PING, PONG, RESPONSE, entry, joined, member)
from rig.tracer import apart, metronome
from rig.wait import until


def test_01_an_idle_peer_announces_itself_every_250_ms(raw, ours, figure):
    time.sleep(2.2)
    alives = raw.heard_since(0, "group", ALIVE)
    assert len(alives) >= 5
    gaps = sorted(next.at - one.at for one, next in zip(alives, alives[1:]))
    figure("median gap", f"{gaps[len(gaps) // 2]} us", "250000 +- 2000 us")
    assert abs(gaps[len(gaps) // 2] - 250_000) <= 2000
    last = alives[-1]
    assert len(last.data) == 107 and last.data[:12] == DISCOVERY + bytes([ALIVE, 5, 0, 0])
    assert list(last.body) == [b"tmln", b"sess", b"stst", b"mep4"]
    assert last.source[0] == "127.0.0.1" and last.source[1] != 20808
    assert all(33 <= byte <= 126 for byte in last.node) and last.session == last.node
    assert len({one.source for one in alives}) == 1


def test_02_an_alive_is_answered_to_the_port_it_came_from(raw, ours, figure):
    raw.alive()
    sent = len(raw.heard)
    raw.announce()
    answer = until(lambda: next(iter(raw.heard_since(sent, "unicast", RESPONSE)), None), 1, "a response")
    assert len(answer.data) == 107
    time.sleep(0.1)
    assert len(raw.heard_since(sent, "unicast", RESPONSE)) == 1


@pytest.mark.parametrize("options", [{"group": 1}, {"group": 256}, {"kind": 0}, {"kind": 7}])
def test_03_other_groups_and_types_are_ignored(raw, ours, options):
    member(raw)
    sent = len(raw.heard)
    raw.announce(**{"kind": ALIVE, **options})
    time.sleep(0.15)
    assert not raw.heard_since(sent, "unicast") and ours.now.peers == 0


def test_04_a_broken_alive_is_answered_and_counts_for_nothing(raw, ours):
    member(raw)
    sound = raw.payload()
    broken = [
        [*sound, b"\1\2\3"], [sound[0], sound[1], entry(b"stst", bytes(16))], [entry(b"tmln", bytes(25)), sound[1]],
        [*sound, b"junk" + b"\xff\xff\xff\xff"]]
    for number, payload in enumerate(broken):
        sent = len(raw.heard)
        raw.announce(payload=payload)
        until(lambda: raw.heard_since(sent, "unicast", RESPONSE), 1, f"a response to number {number}")
    time.sleep(0.15)
    assert ours.now.peers == 0


def test_05_unknown_entries_any_order_and_repetitions_are_taken(raw, ours):
    member(raw)
    timeline, session, start_stop, endpoint = raw.payload()
    raw.announce(payload=[
        entry(b"zzzz", b"what?"), endpoint, entry(b"sess", b"WRONGONE"), start_stop, entry(b"none", b""), session,
        entry(b"aep4", bytes(6)), timeline])
    ours.wait(lambda reading: reading.peers == 1, 0.5, "the peer is counted")


@pytest.mark.parametrize("ttl, seconds", [(2, 3.0), (0, 1.0)])
def test_06_a_silent_peer_is_gone_a_second_after_its_time_to_live(raw, ours, ttl, seconds):
    member(raw)
    raw.announce(ttl=ttl)
    began = time.monotonic()
    ours.wait(lambda reading: reading.peers == 1, 0.5, "the peer is counted")
    ours.wait(lambda reading: reading.peers == 0, seconds + 0.5, "it is gone")
    assert seconds - 0.05 <= time.monotonic() - began <= seconds + 0.4


def test_07_when_the_last_peer_leaves_a_new_session_is_founded_and_nothing_jumps(raw, ours):
    raw.start_stop = (True, 5_000_000, 1)
    before = joined(raw, ours)
    line = ours.now
    raw.bye()
    after = raw.alive(lambda one: one.node != before.node, 1, "a new name")
    assert after.session == after.node
    assert after.start_stop == (False, 0, 0)
    assert after.timeline[0] == before.timeline[0] == 500_000
    time.sleep(0.3)
    assert not any(one.kind == BYE_BYE for one in raw.heard_since(0, "group"))
    later = ours.now
    assert later.peers == 0
    assert later.beat - line.beat == pytest.approx((later.at - line.at) / 500_000, abs=0.001)


def test_08_disabling_says_bye_bye_once(raw, ours):
    node = raw.alive().node
    ours.press("a")
    time.sleep(0.4)
    byes = raw.heard_since(0, "group", BYE_BYE)
    assert [one.data for one in byes] == [DISCOVERY + bytes([BYE_BYE, 0, 0, 0]) + node]
    assert not [one for one in raw.heard_since(0, "group") if one.at > byes[0].at], "and then nothing more"


def test_09_a_burst_of_edits_is_announced_every_50_ms_at_most(raw, ours, figure):
    raw.alive()
    first = len(raw.heard)
    for _ in range(60):
        ours.press("e")
        time.sleep(0.005)
    time.sleep(0.1)
    alives = raw.heard_since(first, "group", ALIVE)
    assert 5 <= len(alives) <= 10
    gaps = [next.at - one.at for one, next in zip(alives, alives[1:])]
    figure("shortest gap", f"{min(gaps)} us", "50000 us")
    assert min(gaps) > 45_000
    assert alives[-1].timeline[0] == round(60e6 / 180), "the newest is told"


def test_10_what_is_beyond_512_bytes_is_lost(raw, ours):
    member(raw)
    sound = raw.message(RESPONSE)
    raw.send(sound + entry(b"fill", bytes(600 - len(sound) - 8)))
    time.sleep(0.15)
    assert ours.now.peers == 0
    raw.send(sound + entry(b"fill", bytes(512 - len(sound) - 8)))
    ours.wait(lambda reading: reading.peers == 1, 0.5, "512 bytes are fine")


def test_11_empty_datagrams_make_no_socket_deaf(raw, ours):
    member(raw)
    alive = raw.alive()
    for target in (GROUP, ("127.0.0.1", 20808), alive.source, alive.measurement_endpoint):
        for _ in range(3):
            raw.send(b"", target)
    raw.announce()
    ours.wait(lambda reading: reading.peers == 1, 0.5, "it still hears")
    until(lambda: raw.heard_since(0, "unicast", RESPONSE), 0.5, "and answers")


def test_12_two_of_ours_on_one_host_count_each_other_and_whoever_else_there_is(raw, ours):
    joined(raw, ours)
    second = metronome(90)
    try:
        second.enable()
        everyone = (ours, second)
        until(
            lambda: raw.announce() or all(one.now.peers == 2 for one in everyone), 3, "each counts two", every=0.25)
        assert second.now.tempo == pytest.approx(120, rel=1e-6)
        raw.bye()
        until(lambda: all(one.now.peers == 1 for one in everyone), 0.5, "each counts the other")
    finally:
        second.kill()


def test_13_a_foreign_session_is_measured_with_52_pings_back_to_back(raw, ours):
    raw.announce(RESPONSE)
    until(lambda: len(raw.heard_since(0, "measurement")) >= 52, 2, "52 pings")
    time.sleep(0.2)
    pings = raw.heard_since(0, "measurement")[:60]
    assert [len(one.data) for one in pings] == [25] + [41] * 51
    assert all(one.data[:9] == MEASUREMENT + bytes([PING]) for one in pings)
    assert list(pings[0].body) == [b"__ht"] and list(pings[1].body) == [b"__ht", b"_pgt"]
    assert [one.body[b"_pgt"] for one in pings[1:]] == raw.told[:51], "each tells what the pong before it said"
    assert {one.source for one in pings} == {raw.alive().measurement_endpoint}


def test_14_unanswered_it_pings_six_times_and_waits_for_the_next_message(raw, ours):
    raw.answers_pings = False
    raw.announce(BYE_BYE)  # whatever else, no state
    own = raw.alive()
    first = len(raw.heard)
    raw.send(raw.message(RESPONSE), own.source)
    time.sleep(0.7)
    pings = raw.heard_since(first, "measurement")
    gaps = [next.at - one.at for one, next in zip(pings, pings[1:])]
    assert len(pings) == 6 and all(len(one.data) == 25 for one in pings)
    assert all(48_000 < gap < 70_000 for gap in gaps), gaps
    raw.send(raw.message(RESPONSE), own.source)
    until(lambda: len(raw.heard_since(first, "measurement")) >= 12, 1, "six more")


def test_15_a_pong_of_the_wrong_session_ends_the_measurement(raw, ours):
    raw.pong_session = b"OTHERONE"
    raw.announce(RESPONSE)
    time.sleep(0.4)
    assert len(raw.heard_since(0, "measurement")) == 1
    raw.pong_session = None
    joined(raw, ours)


@pytest.mark.parametrize("payload", [b"", entry(b"__ht", bytes(8)), bytes(range(32))])
def test_16_a_ping_is_answered_with_its_own_payload(raw, ours, payload):
    alive = raw.alive()
    raw.send(MEASUREMENT + bytes([PING]) + payload, alive.measurement_endpoint)
    pong = until(lambda: next((one for one in raw.heard if one.data.startswith(MEASUREMENT)), None), 1, "a pong")
    assert pong.where == "unicast" and pong.source == alive.measurement_endpoint
    head = MEASUREMENT + bytes([PONG]) + entry(b"sess", alive.session) + b"__gt\0\0\0\x08"
    assert pong.data[:33] == head and pong.data[41:] == payload and len(pong.data) == 41 + len(payload)


@pytest.mark.parametrize("data", [
    MEASUREMENT + bytes([PING]) + bytes(33), MEASUREMENT + bytes([PONG]), MEASUREMENT + bytes([3]),
    b"_link_v\x02" + bytes([PING]), b"chnnlsv\x01" + bytes([PING])])
def test_16_what_is_no_ping_is_not_answered(raw, ours, data):
    alive = raw.alive()
    raw.send(data, alive.measurement_endpoint)
    time.sleep(0.1)
    assert not raw.heard_since(0, "unicast")


def test_17_the_sessions_clock_is_measured_again_every_second_and_at_full_length_every_30_s(raw, ours, figure):
    joined(raw, ours)
    raw.keep_announcing(4)
    before = ours.now
    raw.began -= 1000  # its clock shows a millisecond more from now on
    raw.keep_announcing(4)
    moved = apart(before, ours.now)
    figure("our bars are earlier by", f"{moved:.0f} us", "1000 +- 300 us")
    assert abs(moved - 1000) < 300
    raw.keep_announcing(24)
    runs = []
    for ping in raw.heard_since(0, "measurement"):
        if not runs or ping.at - runs[-1][-1] > 500_000:
            runs.append([])
        runs[-1].append(ping.at)
    long = [run for run in runs if len(run) > 40]
    assert len(long) == 2, [len(run) for run in runs]
    figure("pings of a run, and seconds between two long ones", f"{[len(run) for run in runs]}, "
           f"{(long[-1][0] - long[0][-1]) / 1e6:.2f} s", "52 and every second 17; 30 s")
    assert long[0] is runs[0] and len(long[0]) == 52
    assert 29.9e6 < long[1][0] - long[0][-1] < 31.1e6
    assert 29 <= len(runs) <= 33 and all(16 <= len(run) <= 25 for run in runs if run not in long)
