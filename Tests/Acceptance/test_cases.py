"""The cases of Link's test plan, which every Link program should pass, for the gateway and unmodified partners.

`make plan` runs all tests that are marked with a case, here and elsewhere, and prints a table of results. `make test` runs
those that are not marked with `plan`.
BACKGROUND-4 and -5 are about app hosts that exist only on iOS, and have no counterpart here.
"""

import contextlib
import signal
import statistics

import pytest

from rig.clocks import raw_microseconds
from rig.events import EventStream
from rig.gateway import run_tactus
from rig.joining import become_senior
from rig.partner import PARTNERS, LinkPythonPartner
from rig.rawline import CLOCK, CONTINUE, START, STOP, RawLine
from rig.wait import until

pytestmark = pytest.mark.real("peer")


def case(*names):
    """Marks a test as one or more cases of the plan, for each partner. `make test` runs it with one of them."""

    def marks(one):
        return [*(pytest.mark.case(name, one.name) for name in names), *([] if one is LinkPythonPartner else [pytest.mark.plan])]

    return pytest.mark.parametrize("make", [
        pytest.param(one, id=one.name.split()[0], marks=marks(one)) for one in PARTNERS])


def alone(name):
    """Marks a test without a partner. In `make test`, GatewayTests show the same in virtual time."""

    def mark(test):
        return pytest.mark.plan(pytest.mark.case(name, "alone")(test))

    return mark


@pytest.fixture
def partner(make):
    """A partner at 130 BPM that shares play and stop, and whose session is the older one."""
    opened = make(130)
    become_senior()
    yield opened
    opened.close()


def same(tempo):
    """The tempo, within 0.02 BPM: Link carries whole microseconds per beat, and LinkHut shows hundredths."""
    return pytest.approx(tempo, abs=0.02)


def joined(partner, gateway, tempo=130):
    gateway.wait_status(
        lambda status: status["link"]["peers"] == 1 and status["tempo"] == same(tempo), f"one peer, {tempo} BPM")
    until(lambda: partner.peers == 1, "the partner counts the gateway")


def both_at(tempo, partner, gateway):
    gateway.wait_status(lambda status: status["tempo"] == same(tempo), f"the gateway is at {tempo}")
    until(lambda: partner.tempo == same(tempo), f"the partner is at {tempo}")


def ticks_at(tempo, line):
    """Waits until the line's ticks come at a tempo; takes the median, because a busy machine may skip ticks."""
    since, wanted = raw_microseconds(), 60e6 / 24 / tempo

    def are():
        ticks = line.times(CLOCK, since)[-48:]
        intervals = [(later - earlier) / 12 for earlier, later in zip(ticks, ticks[12:])]
        return len(ticks) == 48 and statistics.median(intervals) == pytest.approx(wanted, rel=0.01)

    until(are, f"ticks at {tempo} BPM")


def plays_on(tempo, line):
    """Waits until a machine is where it must be, by its first 48 ticks, if the song was never moved or started anew.

    After a long stall, on a busy machine, the gateway skips ticks and places the machine again. That it does so only
    then is shown in virtual time.
    """

    def is_in_place():
        starts = [at - place * 60e6 / 24 / tempo for place, at in line.song]
        return line.plays and abs(min(starts[-24:]) - min(starts[:48])) < 60e6 / 24 / tempo / 2

    until(is_in_place, "the machine is in its place")
    assert len(line.times(START)) < 2


@case("TEMPO-1")
def test_tempo_1_whoever_changes_the_tempo_the_other_follows(partner, start):
    partner.play()
    gateway = start("--tempo", 100)
    joined(partner, gateway)
    gateway.post("tempo", {"bpm": 120})
    both_at(120, partner, gateway)
    gateway.post("transport", {"playing": True})
    for turn in range(4):
        partner.nudge_tempo(1)
        both_at(121 + 2 * turn, partner, gateway)
        gateway.post("tempo", {"bpm": 122 + 2 * turn})
        both_at(122 + 2 * turn, partner, gateway)


@case("TEMPO-2")
def test_tempo_2_a_joiner_never_brings_its_tempo(make, start):
    gateway = start("--tempo", 100, name="same")
    gateway.stop()
    partner = make(130)
    try:
        become_senior()
        joined(partner, start("--tempo", 100, name="same"))
        assert partner.tempo == same(130)
    finally:
        partner.close()


@case("TEMPO-3")
@pytest.mark.plan
def test_tempo_3_loading_a_configuration_does_not_change_the_sessions_tempo(partner, start, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("version: 1\n")
    gateway = start("--config", config)
    joined(partner, gateway)
    # A configuration cannot set a tempo. It can set the range of tempos that the gateway follows.
    config.write_text("version: 1\ntempo-range: [50, 100]\nlink: { quantum: 3 }\n")
    gateway.post("reload")
    gateway.wait_status(lambda status: status["quantum"] == 3, "the new configuration is in force")
    both_at(130, partner, gateway)


@case("TEMPO-4")
def test_tempo_4_the_gateway_stays_in_sync_at_20_and_at_999(partner, start, line):
    gateway = start("--output", f"raw:{line.path}")
    joined(partner, gateway)
    for near, step, end in [(23, -1, 20), (996, 1, 999)]:
        gateway.post("tempo", {"bpm": near})
        both_at(near, partner, gateway)
        partner.nudge_tempo(step * 3)
        both_at(end, partner, gateway)
        ticks_at(end, line)


@alone("TEMPO-5")
def test_tempo_5_switching_link_never_changes_the_tempo(start, line):
    gateway = start("--no-link", "--tempo", 101, "--output", f"raw:{line.path}")
    gateway.post("transport", {"playing": True})
    gateway.post("link", {"enabled": True})
    assert gateway.status()["tempo"] == same(101)
    gateway.post("tempo", {"bpm": 111})
    gateway.post("link", {"enabled": False})
    assert gateway.status()["tempo"] == same(111)
    ticks_at(111, line)


@alone("BEATTIME-1")
def test_beattime_1_switching_link_moves_no_tick(start, line):
    gateway = start("--no-link", "--tempo", 120, "--output", f"raw:{line.path}")
    gateway.post("transport", {"playing": True})
    line.wait_playing()
    line.wait_ticks(48)
    for enabled in (True, False, True):
        gateway.post("link", {"enabled": enabled})
        line.wait_ticks(48)
    plays_on(120, line)


@case("BEATTIME-2")
def test_beattime_2_nothing_jumps_here_when_a_peer_joins(make, start, line):
    gateway = start("--tempo", 120, "--output", f"raw:{line.path}")
    gateway.post("transport", {"playing": True})
    line.wait_playing()
    line.wait_ticks(48)
    partner = make(90)
    try:
        joined(partner, gateway, tempo=120)
        line.wait_ticks(48)
        plays_on(120, line)
    finally:
        partner.close()


@case("STARTSTOPSTATE-1")
def test_startstopstate_1_the_partners_play_and_stop_reach_the_gateway(partner, start, line):
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(partner, gateway)
    partner.play()
    line.wait_playing()
    gateway.wait_status(lambda status: status["playing"], "the gateway plays")
    partner.stop()
    line.wait_for(STOP)


@case("STARTSTOPSTATE-2")
def test_startstopstate_2_joining_starts_nothing_and_then_both_start_and_stop(partner, start, line):
    partner.play()
    gateway = start("--start-stop-sync", "--output", f"raw:{line.path}")
    joined(partner, gateway)
    line.wait_ticks(100)
    assert not line.times(START) + line.times(CONTINUE) and partner.playing
    gateway.post("transport", {"playing": True})
    line.wait_playing()
    gateway.post("transport", {"playing": False})
    until(lambda: not partner.playing, "stopped here, both stop")
    gateway.post("transport", {"playing": True})
    until(lambda: partner.playing, "started here, both start")


CONFIGURATION = """\
version: 1
outputs:
  - port: raw:{folder}/edited
    clock: {{ offset: {offset} }}
  - port: raw:{folder}/{second}
  - port: raw:{folder}/untouched
"""
BROKEN = """\
version: 1
outputs:
  - port: raw:/nowhere
    clock: { ofset: -2 }
  - profile: generic
"""


@pytest.mark.real("line")
@pytest.mark.case("AUDIOENGINE-2", "alone")
def test_audioengine_2_a_configuration_is_read_again_without_a_seam_and_a_broken_one_is_refused(start, tmp_path):
    config = tmp_path / "config.yaml"

    def configure(offset, second):
        config.write_text(CONFIGURATION.format(folder=tmp_path, offset=offset, second=second))

    with contextlib.ExitStack() as stack:
        edited, gone, untouched, new = (
            stack.enter_context(RawLine(tmp_path / name)) for name in ("edited", "gone", "untouched", "new"))
        configure(0, "gone")
        gateway = start("--no-link", "--tempo", 120, "--config", config)
        gateway.post("transport", {"playing": True})
        for line in (edited, gone, untouched):
            line.wait_playing()
        edited.wait_ticks(48)

        def is_earlier():
            """Whether the edited output's ticks come 4.5 ms before the other's, by the median, as a busy machine may be late."""
            ours, others = (line.times(CLOCK)[-48:] for line in (edited, untouched))
            apart = [min((at - other for other in others), key=abs) for at in ours]
            return abs(statistics.median(apart) + 4_500) < 1_000

        configure(-4.5, "gone")
        gateway.process.send_signal(signal.SIGHUP)
        until(is_earlier, "an offset is in force after SIGHUP")
        # `tactus reload` stops the output that went, and the new one joins at a bar.
        configure(-4.5, "new")
        done = gateway.command("reload")
        assert (done.returncode, done.stderr) == (0, "")
        gone.wait_for(STOP)
        new.wait_playing()
        new.wait_ticks(24)
        assert new.song[0][0] % 96 == 0
        for line in (edited, untouched):
            plays_on(120, line)
        # A broken one is refused with its places, however it is read, and everything goes on.
        before = gateway.status()
        config.write_text(BROKEN)
        places = [f"{config}:4:14: ", f"{config}:5:5: "]
        done = gateway.command("reload")
        code, body = gateway.request("POST", "/api/v1/reload", {})
        assert (done.returncode, done.stdout, code, body["error"]["code"]) == (65, "", 422, "bad-configuration")
        again = run_tactus("run", "--no-http", "--no-link", "--config", config)
        assert (again.returncode, again.stdout) == (65, "")
        for place in places:
            assert place in done.stderr and place in body["error"]["message"] and place in again.stderr
        told = gateway.stderr.count(places[0])
        gateway.process.send_signal(signal.SIGHUP)
        until(lambda: gateway.stderr.count(places[0]) > told, "the log has it, too")
        after = gateway.status()
        assert [output["connected"] for output in after["outputs"]] == [output["connected"] for output in before["outputs"]]
        assert after["playing"] and all(line.plays for line in (edited, untouched, new)) and not gone.plays


@alone("BACKGROUND-1")
def test_background_1_link_stays_active_while_outputs_run(start, line, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("version: 1\nlink: { deactivate-when-idle: true }\n")
    gateway = start("--config", config, "--output", f"raw:{line.path}")
    line.wait_ticks(240)  # five seconds; without an output Link would leave after three
    assert gateway.status()["link"]["active"] is True


# With one partner: when to leave is decided here, and how each partner counts is shown above.
@pytest.mark.parametrize("make", [LinkPythonPartner])
@pytest.mark.case("BACKGROUND-2", LinkPythonPartner.name)
@pytest.mark.case("BACKGROUND-3", LinkPythonPartner.name)
def test_background_2_and_3_link_leaves_when_there_is_nothing_to_drive_and_comes_back(partner, start, tmp_path):
    config = tmp_path / "config.yaml"
    config.write_text("version: 1\nlink: { deactivate-when-idle: true }\n")
    gateway = start("--config", config, "--output", f"raw:{tmp_path}/line")

    def is_in_session(expected, why):
        gateway.wait_status(lambda status: status["link"]["active"] is expected, why)
        until(lambda: partner.peers == int(expected), f"the partner counts us or not: {why}")
        assert gateway.status()["link"]["enabled"] is True

    is_in_session(False, "no output is connected, nothing plays, nobody watches")
    with RawLine(tmp_path / "line"):
        is_in_session(True, "an output is connected")
    is_in_session(False, "it has gone")
    with EventStream(gateway.port):
        is_in_session(True, "somebody has the panel open")
    is_in_session(False, "the panel is closed")
    for path, key in [("transport", "playing"), ("start-stop-sync", "enabled")]:
        gateway.post(path, {key: True})
        is_in_session(True, path)
        gateway.post(path, {key: False})
        is_in_session(False, f"no more {path}")
