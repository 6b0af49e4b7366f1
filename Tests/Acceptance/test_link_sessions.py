"""Which session to be in, its timeline and its transport, asked with packets made by hand; numbered as in our list."""

import struct
import time

import pytest

from rig.rawpeer import ALIVE, MEASUREMENT, PING, RawPeer, joined
from rig.wait import until


@pytest.mark.parametrize("older, name, joins", [
    (0.7, b"~~~~~~~~", True), (0.3, b"!!!!!!!!", True), (0.3, b"~~~~~~~~", False), (-0.3, b"!!!!!!!!", True),
    (-0.3, b"~~~~~~~~", False), (-0.7, b"!!!!!!!!", False)])
def test_18_the_older_session_wins_and_within_half_a_second_the_smaller_name(ours, older, name, joins):
    with RawPeer(node=name, session=name) as raw:
        alive = raw.alive()
        # The age of its session is what its clock shows.
        raw.send(MEASUREMENT + bytes([PING]), alive.measurement_endpoint)
        pong = until(lambda: next((one for one in raw.heard if one.data.startswith(MEASUREMENT)), None), 1, "a pong")
        raw.began = pong.at - struct.unpack(">q", pong.body[b"__gt"])[0] - int(older * 1e6)
        raw.keep_announcing(0.4)
        assert raw.alive().session == (name if joins else alive.session)


def test_19_to_21_timelines_are_adopted_by_their_beat_origin(raw, ours, figure):
    raw.tempo, raw.beat_origin = 600_000, 40_000_000
    alive = joined(raw, ours)
    assert alive.timeline == (600_000, 40_000_000, 0)
    assert ours.now.tempo == pytest.approx(100, rel=1e-6)
    # Its bars are those of the session: 40 beats at ghost time zero.
    reading = ours.now
    phase = (40 + (reading.at - raw.began) / 600_000) % 4
    away = ((reading.phase - phase + 2) % 4 - 2) * 600_000
    figure("distance from the session's bar", f"{away:.0f} us", "500 us")
    assert abs(away) < 500
    for origin, tempo, adopted in [
            (39_000_000, 700_000, False), (40_000_000, 700_000, False), (40_000_001, 700_000, True),
            (50_000_000, 60_060, True)]:
        raw.beat_origin, raw.tempo = origin, tempo
        raw.announce()
        raw.alive()  # it may have been on its way already
        told = raw.alive()
        assert (told.timeline[:2] == (tempo, origin)) == adopted, f"{tempo} us a beat from {origin}"
    assert ours.wait(lambda reading: reading.tempo > 990, 1, "999 BPM").tempo == 999.0
    first = len(raw.heard)
    raw.tempo = 60_060
    ours.press("w")
    changed = until(
        lambda: next((one for one in raw.heard_since(first, "group", ALIVE) if one.timeline[0] != 60_060), None), 1,
        "its own edit is told")
    assert changed.timeline[0] == round(60e6 / 998)
    # Its priority is the beat, by the old timeline, at which it was made.
    made = 50_000_000 + (changed.at - raw.began) / 60_060 * 1e6
    assert abs(changed.timeline[1] - made) < 1e6


def test_22_a_requested_beat_falls_on_the_sessions_next_bar_and_moves_nobody_elses(raw, ours):
    before = joined(raw, ours).timeline
    asked = raw.ghost_now / 500_000
    ours.press(" ")
    reading = ours.wait(lambda reading: reading.playing, 0.5, "it plays")
    # Where in the session's beats its own beat 0 lies.
    zero = (reading.at - raw.began) / 500_000 - reading.beat
    assert abs((zero + 2) % 4 - 2) < 0.01 and 0 <= zero - asked < 4.5
    assert raw.alive().timeline == before


def test_24_a_session_outlives_its_founder(raw, ours):
    joined(raw, ours)
    with RawPeer(node=b"SECOND__", session=raw.session) as second:
        second.announce()
        ours.wait(lambda reading: reading.peers == 2, 0.5, "two peers")
        raw.bye()
        ours.wait(lambda reading: reading.peers == 1, 0.5, "one is left")
        assert second.alive().session == raw.session


def test_25_when_everyone_moves_on_it_founds_its_own(raw, ours):
    alive = joined(raw, ours)
    raw.session, raw.age = b"ANOTHER_", 0
    raw.answers_pings = False
    raw.announce()
    ours.wait(lambda reading: reading.peers == 0, 0.5, "nobody is left")
    assert raw.alive(lambda one: one.node != alive.node, 1, "a new name").session != b"RAWPEER1"


def test_30_and_31_play_is_shared_only_when_sync_is_on(raw, ours):
    joined(raw, ours)
    ours.press(" ")
    ours.wait(lambda reading: reading.playing, 0.5, "it plays")
    assert raw.alive().start_stop == (False, 0, 0)
    ours.press("s")
    ours.press(" ")
    ours.wait(lambda reading: not reading.playing, 0.5, "it stops")
    ours.press(" ")
    alive = raw.alive(lambda one: one.start_stop[0], 1, "play is shared")
    playing, beats, stamp = alive.start_stop
    assert abs(stamp - (alive.at - raw.began)) < 300_000
    # Without beats before, it starts where it was asked to.
    tempo, beat_origin, time_origin = alive.timeline
    assert abs(beats - (beat_origin + (stamp - time_origin) / tempo * 1e6)) < 1e6


def test_32_and_33_a_later_start_or_stop_wins_and_is_passed_on_even_with_sync_off(raw, ours):
    joined(raw, ours)
    now = raw.ghost_now
    for stamp, playing, adopted in [(now, True, True), (now, False, False), (now - 1, False, False),
                                    (now + 1, False, True)]:
        raw.start_stop = (playing, 8_000_000, stamp)
        raw.announce()
        raw.alive()  # it may have been on its way already
        told = raw.alive()
        assert (told.start_stop == raw.start_stop) == adopted
    assert not ours.now.playing, "sync is off"
    ours.press("s")
    ours.wait(lambda reading: reading.start_stop_sync, 0.5, "sync is on")
    raw.start_stop = (True, 8_000_000, raw.ghost_now)
    raw.announce()
    ours.wait(lambda reading: reading.playing, 0.5, "the next change is followed")


def test_34_joining_a_playing_session_starts_nothing(raw, ours):
    ours.press("s")
    raw.start_stop = (True, 4_000_000, 50_000_000)
    assert joined(raw, ours).start_stop == (False, 0, 0)
    time.sleep(0.3)
    assert not ours.now.playing
    raw.start_stop = (True, 4_000_000, raw.ghost_now)
    raw.announce()
    ours.wait(lambda reading: reading.playing, 0.5, "but the next change is followed")


def test_35_sync_switched_on_later_starts_nothing_with_a_change_of_tempo_either(raw, ours):
    joined(raw, ours)
    raw.start_stop = (True, 8_000_000, raw.ghost_now)
    raw.announce()
    raw.alive(lambda one: one.start_stop[0], 0.5, "play is passed on")
    ours.press("s")
    ours.wait(lambda reading: reading.start_stop_sync, 0.5, "sync is on")
    raw.tempo, raw.beat_origin = 600_000, raw.beat_origin + 400_000_000
    raw.announce()
    ours.wait(lambda reading: reading.tempo == pytest.approx(100, rel=1e-6), 0.5, "the tempo changes")
    time.sleep(0.3)
    assert not ours.now.playing
