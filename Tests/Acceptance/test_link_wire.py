"""Our Link peer's datagrams, byte by byte, in answer to hand-made ones.

Its decisions are tested in virtual time, in LinkSessionTests; this is about its sockets.
"""

import pytest

from rig.rawpeer import ALIVE, BYE_BYE, DISCOVERY, RESPONSE
from rig.wait import until

pytestmark = pytest.mark.real("peer")


def test_it_announces_itself_to_the_group_answers_and_says_bye_bye(raw, ours):
    until(lambda: len(raw.heard_since(0, "group", ALIVE)) >= 8, "it announces itself again and again")
    alives = raw.heard_since(0, "group", ALIVE)
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
