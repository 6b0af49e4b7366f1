"""One unmodified official peer and one gateway in a network of their own."""

import random
import statistics
import time

import pytest

from rig.figures import quantile, steady
from rig.peer import Peer
from rig.rawline import CLOCK, START, STOP
from rig.wait import until

SOON = 0.3  # seconds within which every change must have reached the other side


@pytest.fixture
def peer():
    """A peer at 130 BPM, alone long enough to be the senior one."""
    with Peer(130, start_stop_sync=True) as opened:
        time.sleep(1)  # half a second of seniority decides whose session it becomes
        yield opened


def close_to(tempo):
    """Whether a tempo is this one, as far as whole microseconds a beat can tell it."""
    return pytest.approx(tempo, rel=2e-6 * tempo / 60)


def joined(gateway, tempo=130, within=2.0):
    return gateway.wait_status(
        lambda status: status["link"]["peers"] == 1 and status["tempo"] == close_to(tempo), within,
        f"one peer and {tempo} BPM")


def test_the_gateway_joins_within_two_seconds_and_brings_no_tempo(peer, start, figure):
    gateway = start("--tempo", 100)
    status = joined(gateway, within=2.0 - (time.monotonic() - gateway.started))
    figure("joined after", f"{time.monotonic() - gateway.started:.2f} s", "2 s")
    assert peer.tempo == close_to(130)
    until(lambda: peer.peers == 1, 1, "the peer counts the gateway")
    assert status["mode"] == "link"
    assert status["link"]["enabled"] and status["link"]["connected"] and status["link"]["active"]
    assert status["playing"] is False
    assert int(status["link"]["sessionId"], 16) >= 0 and len(status["link"]["sessionId"]) == 16


def test_ticks_agree_with_the_peers_beats_within_a_millisecond(peer, start, line, figure):
    gateway = start("--tempo", 100, "--output", f"raw:{line.path}")
    joined(gateway)
    ticks = line.wait_ticks(250, within=10)[50:]
    distances = [peer.distance_from_grid(at, 24) for at in ticks]
    # Reading a FIFO on a busy machine can only be late: the early readings are the true ones.
    true = quantile(distances, 0.1)
    figure("tick phase, tenth percentile", f"{true:.0f} us", "1000 us")
    figure("tick phase, median", f"{statistics.median(distances):.0f} us", "1000 us")
    assert abs(true) < 1000
    assert abs(statistics.median(distances)) < 1000


def test_the_shown_phase_agrees_with_the_peers_within_a_millisecond(peer, start, figure):
    gateway = start()
    joined(gateway)
    # Each status was true at some instant between asking and answering, so each bounds the difference from both sides.
    lowest, highest = [], []
    for _ in range(150):
        before = peer.now()
        status = gateway.status()
        after = peer.now()
        beat = 60e6 / status["tempo"]
        ahead = (status["phase"] - peer.phase(before) + 2) % 4 - 2
        highest.append(ahead * beat)
        lowest.append(ahead * beat - (after - before))
    low, high = max(lowest), min(highest)
    figure("shown phase minus the peer's", f"{low:.0f} to {high:.0f} us", "touches -1000 to 1000")
    assert low < 1000 and high > -1000
    assert low < high + 1000, "shown phases contradict each other: some are stale"


def test_tempo_changes_go_both_ways_fifty_times_in_a_row(peer, start, line, figure):
    gateway = start("--output", f"raw:{line.path}")
    joined(gateway)
    generator = random.Random(20808)
    slowest = {"to the gateway": 0.0, "to the peer": 0.0}
    for _ in range(50):
        tempo = round(generator.uniform(60, 200), 2)
        began = time.monotonic()
        peer.set_tempo(tempo)
        gateway.wait_status(lambda status: status["tempo"] == close_to(tempo), SOON, f"the gateway follows to {tempo}")
        slowest["to the gateway"] = max(slowest["to the gateway"], time.monotonic() - began)

        tempo = round(generator.uniform(60, 200), 2)
        began = time.monotonic()
        gateway.post("tempo", {"bpm": tempo})
        until(lambda: peer.tempo == close_to(tempo), SOON, f"the peer follows to {tempo}")
        slowest["to the peer"] = max(slowest["to the peer"], time.monotonic() - began)
    for direction, seconds in slowest.items():
        figure(f"slowest change {direction}", f"{seconds * 1000:.0f} ms", "300 ms")
    ticks = line.wait_ticks(150, within=10)[20:]
    true = quantile([peer.distance_from_grid(at, 24) for at in ticks], 0.1)
    figure("tick phase afterwards", f"{true:.0f} us", "1000 us")
    assert abs(true) < 1000


def test_the_peers_play_and_stop_reach_the_gateway(peer, start, line, figure):
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(gateway)
    line.wait_ticks(24, within=3)
    downbeat = peer.play()
    gateway.wait_status(lambda status: status["playing"], SOON, "the gateway is told to play")
    started = line.wait_for(START, within=3)
    first = until(lambda: line.times(CLOCK, started), 1, "a tick after Start")[0]
    late = (first - downbeat + 2 * 60e6 / 130) % (4 * 60e6 / 130) - 2 * 60e6 / 130
    figure("first tick after Start, from the peer's downbeat", f"{late:.0f} us")
    # One single reading of a FIFO may be late; which tick it is it cannot get wrong.
    assert -1000 < late < 8000, "Start is not followed by the tick on the peer's downbeat"
    gateway.wait_status(lambda status: status["transport"] == "playing", SOON, "the transport is playing")

    stopped = peer.stop()
    heard = line.wait_for(STOP, within=SOON, since=stopped)
    figure("Stop after the peer's", f"{(heard - stopped) / 1000:.0f} ms", "300 ms")
    gateway.wait_status(lambda status: status["transport"] == "stopped" and not status["playing"], SOON, "stopped")
    line.wait_ticks(24, within=3)
    assert len(line.times(START)) == 1 and len(line.times(STOP, since=downbeat)) == 1


def test_the_gateways_play_and_stop_reach_the_peer(peer, start, line):
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(gateway)
    for _ in range(3):
        asked = peer.now()
        gateway.post("transport", {"playing": True})
        until(lambda: peer.playing, SOON, "the peer plays")
        started = line.wait_for(START, within=3, since=asked)
        first = until(lambda: line.times(CLOCK, started), 1, "a tick after Start")[0]
        # Whoever hears of a start takes its beat 0 from the next bar: the machine must start there too.
        late = peer.distance_from_grid(first, 0.25, quantum=4.0)
        assert -1000 < late < 8000, f"Start fell {late:.0f} us from the bar"
        gateway.post("transport", {"playing": False})
        until(lambda: not peer.playing, SOON, "the peer stops")


def test_without_start_stop_sync_both_play_alone(peer, start):
    gateway = start("--no-start-stop-sync")
    joined(gateway)
    peer.play()
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        assert gateway.status()["playing"] is False
        time.sleep(0.02)
    peer.stop()
    gateway.post("transport", {"playing": True})
    gateway.wait_status(lambda status: status["playing"], SOON, "the gateway plays")
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        assert not peer.playing
        time.sleep(0.02)


def test_joining_a_playing_session_does_not_start_the_gateway(peer, start, line):
    peer.play()
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(gateway)
    line.wait_ticks(100, within=5)
    assert gateway.status()["playing"] is False
    assert not line.times(START)
    assert peer.playing, "nor does it stop the peer"
    # Started here, it falls in on the quantum; stopped here, both stop.
    gateway.post("transport", {"playing": True})
    started = line.wait_for(START, within=3)
    first = until(lambda: line.times(CLOCK, started), 1, "a tick after Start")[0]
    phase = peer.distance_from_grid(first, 0.25, quantum=4.0)
    assert -1000 < phase < 8000, f"Start fell {phase:.0f} us from the bar"
    gateway.post("transport", {"playing": False})
    until(lambda: not peer.playing, SOON, "the peer stops too")


def test_a_gateway_that_was_first_keeps_its_tempo(start):
    gateway = start("--tempo", 100)
    gateway.wait_status(lambda status: status["link"]["peers"] == 0 and status["tempo"] == close_to(100), 1, "100 BPM")
    time.sleep(1)  # the senior session is the older one; half a second decides
    with Peer(130) as late:
        until(lambda: late.peers == 1, 2, "the late peer joins")
        until(lambda: late.tempo == close_to(100), SOON, "the late peer takes the session's tempo")
        assert gateway.status()["tempo"] == close_to(100)


def test_a_tempo_remembered_from_an_earlier_run_is_not_brought_along(start):
    gateway = start("--tempo", 100, name="same")
    gateway.post("tempo", {"bpm": 101})
    gateway.stop()
    with Peer(130) as peer:
        time.sleep(1)
        joined(start(name="same"))
        assert peer.tempo == close_to(130)


def test_the_clock_goes_on_unbroken_when_the_peer_leaves(peer, start, line, figure):
    gateway = start("--output", f"raw:{line.path}")
    joined(gateway)
    line.wait_ticks(110, within=5)  # half a tick at most is glided to the session's beats, at half a percent
    before = line.wait_ticks(100, within=5)
    peer.close()
    gateway.wait_status(lambda status: status["link"]["peers"] == 0, SOON, "the bye-bye is heard")
    line.wait_ticks(200, within=10)
    ticks = line.times(CLOCK, before[0])
    numbered, (interval, origin) = steady(ticks)
    tempo = 60e6 / 24 / interval
    late = quantile([at - origin - interval * number for number, at in numbered[100:]], 0.5) - quantile(
        [at - origin - interval * number for number, at in numbered[:100]], 0.5)
    figure("tempo across the leave", f"{tempo:.3f} BPM", "130 +- 0.13")
    figure("shift across the leave", f"{late:.0f} us", "1000 us")
    assert tempo == pytest.approx(130, rel=0.001)
    assert abs(late) < 1000
    assert gateway.status()["tempo"] == close_to(130)


def test_ctrl_c_says_bye_bye_and_leaves_a_stopped_machine(peer, start, line, figure):
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(gateway)
    gateway.post("transport", {"playing": True})
    line.wait_for(START, within=3)
    line.wait_ticks(24, within=2)
    until(lambda: peer.peers == 1, 1, "the peer counts the gateway")
    took = gateway.stop()
    until(lambda: peer.peers == 0, SOON, "the peer saw the bye-bye")
    figure("ended after", f"{took:.2f} s", "1 s")
    until(lambda: line.arrivals and line.arrivals[-1][0] == STOP, SOON, "Stop is the last byte")


def test_switching_link_off_and_on_leaves_and_joins_the_session(peer, start):
    gateway = start("--tempo", 100)
    joined(gateway)
    until(lambda: peer.peers == 1, 1, "the peer counts the gateway")
    gateway.post("link", {"enabled": False})
    until(lambda: peer.peers == 0, SOON, "the peer saw the bye-bye")
    status = gateway.status()
    assert status["mode"] == "internal" and status["link"]["enabled"] is False
    assert status["tempo"] == close_to(130), "leaving keeps the tempo"
    peer.set_tempo(90)
    time.sleep(1)  # left alone, the peer has founded a new session; it must be the senior one again
    gateway.post("link", {"enabled": True})
    joined(gateway, tempo=90)
