"""Our Link peer's datagrams, byte by byte, in answer to hand-made ones.

Its decisions are tested in virtual time, in LinkSessionTests; these tests are about its sockets.
"""

import pytest

from rig.rawpeer import ALIVE, BYE_BYE, DISCOVERY, MEASUREMENT, PING, PONG, RESPONSE, entry, joined
from rig.tracer import metronome
from rig.wait import until

pytestmark = pytest.mark.real("peer")


def test_it_announces_itself_to_the_group_answers_and_says_bye_bye(raw, ours, figure):
    until(lambda: len(raw.heard_since(0, "group", ALIVE)) >= 8, "it announces itself again and again")
    alives = raw.heard_since(0, "group", ALIVE)
    gaps = sorted(next.at - one.at for one, next in zip(alives, alives[1:]))
    figure("median gap", f"{gaps[len(gaps) // 2]} us")
    last = alives[-1]
    assert len(last.data) == 107 and last.data[:12] == DISCOVERY + bytes([ALIVE, 5, 0, 0])
    assert list(last.body) == [b"tmln", b"sess", b"stst", b"mep4"]
    assert last.source[0] == "127.0.0.1" and last.source[1] != 20808
    assert all(33 <= byte <= 126 for byte in last.node) and last.session == last.node
    assert len({one.source for one in alives}) == 1

    sent = len(raw.heard)
    raw.announce()
    answer = until(lambda: next(iter(raw.heard_since(sent, "unicast", RESPONSE)), None), "a response")
    assert len(answer.data) == 107

    node = raw.alive().node
    ours.press("a")
    until(lambda: raw.heard_since(0, "group", BYE_BYE), "a bye-bye")
    ours.wait(lambda reading: not reading.enabled, "Link is off")
    byes = raw.heard_since(0, "group", BYE_BYE)
    assert [one.data for one in byes] == [DISCOVERY + bytes([BYE_BYE, 0, 0, 0]) + node]
    assert not [one for one in raw.heard_since(0, "group") if one.at > byes[0].at], "and then nothing more"

    ours.enable()
    node = raw.alive().node
    ours.quit()
    until(lambda: len(raw.heard_since(0, "group", BYE_BYE)) == 2, "a bye-bye at the end")
    assert raw.heard_since(0, "group", BYE_BYE)[-1].node == node


def test_two_of_ours_on_one_host_count_each_other_and_whoever_else_there_is(raw, ours):
    joined(raw, ours)
    second = metronome(90)
    try:
        second.enable()
        everyone = (ours, second)
        until(lambda: raw.announce() or all(one.now.peers == 2 for one in everyone), "each counts two", every=0.25)
        assert second.now.tempo == pytest.approx(120, rel=1e-6)
        raw.bye()
        until(lambda: all(one.now.peers == 1 for one in everyone), "each counts the other")
    finally:
        second.kill()


def test_a_foreign_session_is_measured_with_pings_that_answer_pongs(raw, ours):
    """How many there are, and when one is sent again, is shown in virtual time."""

    def answers():
        """The pings that answer a pong. Whose pongs come late, on a busy machine, is asked anew, and may be given up."""
        return [one for one in raw.heard_since(0, "measurement") if len(one.data) > 25]

    until(lambda: len(answers()) >= 51 or raw.announce(RESPONSE), "51 pings that answer a pong", every=0.25)
    pings = raw.heard_since(0, "measurement")
    assert all(one.data[:9] == MEASUREMENT + bytes([PING]) for one in pings)
    assert [len(pings[0].data), *{len(one.data) for one in answers()}] == [25, 41]
    assert list(pings[0].body) == [b"__ht"] and list(answers()[0].body) == [b"__ht", b"_pgt"]
    told = iter(list(raw.told))
    assert all(one.body[b"_pgt"] in told for one in answers()), "each repeats its pong's ghost time"
    assert {one.source for one in pings} == {raw.alive().measurement_endpoint}


def test_a_ping_is_answered_with_its_own_payload(raw, ours):
    alive = raw.alive()
    for payload in (b"", entry(b"__ht", bytes(8)), bytes(range(32))):
        heard = len(raw.heard)
        raw.send(MEASUREMENT + bytes([PING]) + payload, alive.measurement_endpoint)
        pong = until(
            lambda: next((one for one in raw.heard[heard:] if one.data.startswith(MEASUREMENT)), None), "a pong")
        assert pong.where == "unicast" and pong.source == alive.measurement_endpoint
        head = MEASUREMENT + bytes([PONG]) + entry(b"sess", alive.session) + b"__gt\0\0\0\x08"
        assert pong.data[:33] == head and pong.data[41:] == payload and len(pong.data) == 41 + len(payload)


def test_a_sessions_timeline_and_its_play_and_stop_are_taken_over_and_passed_on(raw, ours):
    raw.tempo, raw.beat_origin = 600_000, 40_000_000
    alive = joined(raw, ours)
    assert alive.timeline == (600_000, 40_000_000, 0)
    assert ours.now.tempo == pytest.approx(100, rel=1e-6)
    ours.press("s")
    ours.wait(lambda reading: reading.start_stop_sync, "sync is on")
    raw.start_stop = (True, 8_000_000, raw.ghost_now)
    raw.announce()
    ours.wait(lambda reading: reading.playing, "it plays along")
    assert raw.alive(lambda one: one.start_stop[0], "play is passed on").start_stop == raw.start_stop
    ours.press("e")
    changed = raw.alive(lambda one: one.timeline[0] != 600_000, "its own edit is told")
    assert changed.timeline[0] == round(60e6 / 101) and changed.timeline[1] > 40_000_000
