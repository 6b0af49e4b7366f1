"""The commands, as scripts and people use them, against a running gateway."""

import json
import subprocess

import pytest

from rig.gateway import TACTUS, complaint, environment, run_tactus
from rig.wait import until


@pytest.fixture
def gateway(start):
    return start("--tempo", 100)


def said(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_status_is_lines_for_people_and_json_for_programs(gateway):
    text = said(gateway.command("status"))
    assert "100" in text and "link" in text and "0 peers" in text
    status = json.loads(said(gateway.command("status", "--json")))
    assert status["tempo"] == pytest.approx(100, abs=0.001)
    assert set(status) == set(gateway.status())


def test_tempo_sets_the_tempo(gateway):
    said(gateway.command("tempo", "133.7"))
    gateway.wait_status(lambda status: status["tempo"] == pytest.approx(133.7, abs=0.001), 0.3, "133.7 BPM")


def test_play_and_stop(gateway):
    said(gateway.command("play"))
    gateway.wait_status(lambda status: status["playing"], 0.3, "playing")
    gateway.wait_status(lambda status: status["transport"] == "playing" and status["startsInBeats"] is None, 1, "started")
    said(gateway.command("stop"))
    gateway.wait_status(lambda status: not status["playing"] and status["transport"] == "stopped", 0.3, "stopped")


@pytest.mark.parametrize("command, key", [("link", "enabled"), ("start-stop-sync", "startStopSync")])
def test_switches(gateway, command, key):
    for word in ("off", "on", "on", "off"):
        answer = json.loads(said(gateway.command(command, word, "--json")))
        assert answer["link"][key] is (word == "on")
        assert gateway.status()["link"][key] is (word == "on")


def test_switching_link_alone_keeps_tempo_and_transport(gateway):
    gateway.post("transport", {"playing": True})
    for word in ("off", "on", "off", "on"):
        said(gateway.command("link", word))
        status = gateway.wait_status(
            lambda status: status["mode"] == ("link" if word == "on" else "internal"), 0.3, f"Link is {word}")
        assert status["tempo"] == pytest.approx(100, abs=0.001) and status["playing"]


@pytest.fixture
def outputs(start):
    """Three outputs: clock, din-1 and din-2."""
    return start("--no-link", "--output", "virtual:DIN 1", "--output", "virtual:DIN 2")


def offsets(gateway):
    return {output["id"]: output["offsetMilliseconds"] for output in gateway.status()["outputs"]}


def test_a_nudge_out_of_range_moves_nothing_and_says_what_is_possible(outputs):
    def refused(*words):
        before = offsets(outputs)
        done = outputs.command("nudge", *words)
        assert done.returncode == 64 and done.stdout == ""
        assert offsets(outputs) == before, "something was moved"
        return complaint(done.stderr)

    line = refused("900")
    assert "an offset is -500 to 500 ms" in line and all(f"{name} is at 0" in line for name in ("Clock", "DIN 1", "DIN 2"))
    assert said(outputs.command("nudge", "499.5", "din-1")) == "din-1: 499.5 ms\n"
    line = refused("1")
    assert "DIN 1 is at 499.5" in line and "DIN 2" not in line and "can be -500 to 0.5 ms" in line
    assert "can be -999.5 to 0.5 ms" in refused("1", "din-1")
    assert "-1000 to 1000" in refused("1001")
    said(outputs.command("nudge", "0.5"))
    assert offsets(outputs) == {"clock": 0.5, "din-1": 500, "din-2": 0.5}


def test_an_output_is_named_by_id_name_or_part_in_every_command(outputs):
    outputs.post("transport", {"playing": True})
    for number, name in enumerate(("din-1", "DIN 1", "din 1", "n 1"), 1):
        assert said(outputs.command("nudge", "1", name)) == f"din-1: {number} ms\n"
    for command in (("nudge", "1"), ("realign",), ("calibrate", "--input", "nothing")):
        several = outputs.command(*command, "din")
        assert several.returncode == 1
        assert complaint(several.stderr) == "tactus: several outputs answer to din; write one of: din-1, din-2"
        none = outputs.command(*command, "din1")
        assert none.returncode == 1
        assert complaint(none.stderr) == (
            "tactus: no output is called din1; there are: clock, din-1, din-2; did you mean 'din-1'?")
    assert offsets(outputs) == {"clock": 0, "din-1": 4, "din-2": 0}


def test_follow_says_so_if_whom_it_names_is_away(gateway):
    text = said(gateway.command("follow", "MPC"))
    assert text.startswith("while Link is off, MPC is followed\nthe clock to follow, MPC, is away: ")


def test_a_word_that_is_no_command_is_told_which_was_meant():
    done = run_tactus("stauts", "--json")
    assert (done.returncode, done.stdout) == (64, "")
    assert complaint(done.stderr) == "tactus: there is no command 'stauts'; did you mean 'status'?"


def test_ports_says_what_is_missing_on_a_machine_without_a_sequencer():
    done = run_tactus("ports")
    assert done.returncode == 71 and done.stdout == ""
    assert "modprobe" in done.stderr and len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("command", [
    [], ["run"], ["status"], ["link"], ["start-stop-sync"], ["play"], ["stop"], ["tempo"], ["ports"],
    ["learn"]])
def test_every_command_explains_itself(command):
    text = said(run_tactus(*command, "--help"))
    assert "USAGE" in text or "OVERVIEW" in text


def test_a_result_that_the_disk_does_not_take_is_no_success(tmp_path):
    with open("/dev/full", "w") as disk:
        done = subprocess.run(
            [TACTUS, "profiles", "list"], env=environment(tmp_path), stdout=disk, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 71 and done.stderr == "tactus: the result cannot be written: No space left on device\n"


def test_version():
    assert said(run_tactus("--version")).strip().count(".") == 2


def test_a_stopped_gateway_frees_its_port_for_the_next(start):
    for name in ("one", "two", "three"):
        gateway = start("--no-link", name=name)
        gateway.stop()
        until(lambda: gateway.process.poll() == 0, 1, "ended")
