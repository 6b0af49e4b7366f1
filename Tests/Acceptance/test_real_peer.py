"""One unmodified official peer and one gateway in their own network.

test_cases.py tests more.
"""

import pytest

from rig.joining import become_senior
from rig.peer import Peer
from rig.rawline import STOP
from rig.wait import until

pytestmark = pytest.mark.real("peer")


@pytest.fixture
def peer():
    """A peer at 130 BPM whose session is the older one."""
    with Peer(130, start_stop_sync=True) as opened:
        become_senior()
        yield opened


def close_to(tempo):
    """The tempo, within what Link's whole microseconds per beat can express."""
    return pytest.approx(tempo, rel=2e-6 * tempo / 60)


def joined(gateway, tempo=130):
    return gateway.wait_status(
        lambda status: status["link"]["peers"] == 1 and status["tempo"] == close_to(tempo), f"one peer and {tempo} BPM")


def test_the_shown_phase_agrees_with_the_peers_within_a_millisecond(peer, start):
    gateway = start()
    joined(gateway)
    seen = []

    def agrees():
        """Whether 150 statuses do: each was true at some time between request and answer, as bounds below and above."""
        lowest, highest = [], []
        for _ in range(150):
            before = peer.now()
            status = gateway.status()
            after = peer.now()
            beat = 60e6 / status["tempo"]
            ahead = (status["phase"] - peer.phase(before) + 2) % 4 - 2
            highest.append(ahead * beat)
            lowest.append(ahead * beat - (after - before))
        seen.append((max(lowest), min(highest)))
        low, high = seen[-1]
        # Statuses that contradict each other, so that some are stale, have a lower bound above the upper one.
        return low < 1000 and high > -1000 and low < high + 1000

    # Both get closer to the session's time the longer they measure it.
    until(agrees, "the shown phase is the peer's", every=0.1)


def test_ctrl_c_says_bye_bye_and_leaves_a_stopped_machine(peer, start, line):
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(gateway)
    gateway.post("transport", {"playing": True})
    line.wait_playing()
    line.wait_ticks(24)
    until(lambda: peer.peers == 1, "the peer counts the gateway")
    gateway.stop()
    until(lambda: peer.peers == 0, "the peer saw the bye-bye")
    until(lambda: line.arrivals and line.arrivals[-1][0] == STOP, "Stop is the last byte")
