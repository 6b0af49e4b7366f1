"""Two gateways on one machine, without other peers."""

import pytest

from rig.joining import become_senior
from rig.rawline import STOP, RawLine
from rig.wait import until


def same(tempo):
    return pytest.approx(tempo, abs=0.001)


@pytest.mark.real("peer")
def test_two_gateways_share_tempo_play_and_stop_both_ways(tmp_path, start):
    with RawLine(tmp_path / "one") as line_one, RawLine(tmp_path / "two") as line_two:
        one = start("--tempo", 97, "--start-stop-sync", "--output", f"raw:{line_one.path}", name="first")
        become_senior()
        two = start("--tempo", 151, "--start-stop-sync", "--output", f"raw:{line_two.path}", name="second", port=8809)
        for gateway in (one, two):
            gateway.wait_status(
                lambda status: status["link"]["peers"] == 1 and status["tempo"] == same(97), "the founder's session")
        assert one.status()["link"]["sessionId"] == two.status()["link"]["sessionId"]
        ways = [(one, two, line_two), (two, one, line_one)]
        for number, (sender, receiver, line) in enumerate(ways):
            for turn in range(5):
                tempo = 100 + 10 * turn + number
                sender.post("tempo", {"bpm": tempo})
                receiver.wait_status(lambda status: status["tempo"] == same(tempo), f"the other follows to {tempo}")
            since = line.wait_ticks(1)[0]
            sender.post("transport", {"playing": True})
            receiver.wait_status(lambda status: status["playing"], "the other plays")
            line.wait_playing(since)
            sender.post("transport", {"playing": False})
            receiver.wait_status(lambda status: not status["playing"], "the other stops")
            line.wait_for(STOP, since=since)
        two.stop()
        until(lambda: one.status()["link"]["peers"] == 0, "it is no longer counted")
