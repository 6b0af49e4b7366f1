"""The commands, as scripts and people use them, with a running gateway."""

import json
import subprocess

import pytest

from rig.gateway import TACTUS, complaint, environment, run_tactus

pytestmark = pytest.mark.real("process")


def said(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_commands_are_done_and_the_status_shows_it(start):
    gateway = start("--tempo", 100)
    text = said(gateway.command("status"))
    assert "100" in text and "link" in text and "0 peers" in text
    status = json.loads(said(gateway.command("status", "--json")))
    assert status["tempo"] == pytest.approx(100, abs=0.001)
    assert set(status) == set(gateway.status())
    said(gateway.command("tempo", "133.7"))
    assert gateway.status()["tempo"] == pytest.approx(133.7, abs=0.001)
    said(gateway.command("play"))
    assert gateway.status()["playing"]
    gateway.wait_status(lambda status: status["transport"] == "playing" and status["startsInBeats"] is None, "started")
    for command, key in (("link", "enabled"), ("start-stop-sync", "startStopSync")):
        for word in ("off", "on", "on", "off"):
            answer = json.loads(said(gateway.command(command, word, "--json")))
            assert answer["link"][key] is (word == "on")
            assert gateway.status()["link"][key] is (word == "on")
    status = gateway.status()
    assert status["mode"] == "internal" and status["playing"], "switching Link stops nothing"
    assert status["tempo"] == pytest.approx(133.7, abs=0.001)
    said(gateway.command("stop"))
    assert not gateway.status()["playing"]
    text = said(gateway.command("follow", "MPC"))
    assert text.startswith("while Link is off, MPC is followed\nthe clock to follow, MPC, is away: ")


def test_a_configuration_is_checked_as_run_would_read_it(tmp_path):
    def check(text, *words):
        (tmp_path / "config.yaml").write_text(text)
        return run_tactus("config", "check", tmp_path / "config.yaml", *words)

    assert said(check("")) == said(check("# tempo: 120\n")) == f"{tmp_path}/config.yaml: no mistake\n"
    wrong = check("version: 1\noutputs: [{ port: A, name: x }, { port: B, profile: none }]\nhttp: { token-file: none }\n")
    assert (wrong.returncode, wrong.stdout) == (65, "")
    places = [line.removeprefix(f"{tmp_path}/config.yaml:").partition(" ")[0] for line in wrong.stderr.splitlines()]
    assert places[:2] == ["2:53:", "3:21:"] and "cannot be used" in wrong.stderr
    found = json.loads(check("version: 1\ntempo: fast\n", "--json").stdout)
    assert [(mistake["line"], mistake["column"]) for mistake in found["mistakes"]] == [(2, 8)]


def test_an_output_is_named_by_id_name_or_part_and_a_nudge_too_far_moves_nothing(start):
    gateway = start("--no-link", "--play", "--output", "virtual:DIN 1", "--output", "virtual:DIN 2")

    def offsets():
        return {output["id"]: output["offsetMilliseconds"] for output in gateway.status()["outputs"]}

    for number, name in enumerate(("din-1", "DIN 1", "din 1", "n 1"), 1):
        assert said(gateway.command("nudge", "1", name)) == f"din-1: {number} ms\n"
    for command in (("nudge", "1"), ("realign",), ("calibrate", "--input", "nothing")):
        several = gateway.command(*command, "din")
        assert several.returncode == 1
        assert complaint(several.stderr) == "tactus: several outputs match din; write one of: din-1, din-2"
        none = gateway.command(*command, "din1")
        assert none.returncode == 1
        assert complaint(none.stderr) == (
            "tactus: no output is called din1; there are: clock, din-1, din-2; did you mean 'din-1'?")
    away = gateway.command("realign", "din-1")
    assert away.returncode == 1 and "is not connected" in complaint(away.stderr)
    done = gateway.command("nudge", "900")
    assert done.returncode == 64 and done.stdout == "" and "an offset is -500 to 500 ms" in complaint(done.stderr)
    assert offsets() == {"clock": 0, "din-1": 4, "din-2": 0}


def test_ports_says_what_is_missing_on_a_machine_without_a_sequencer():
    done = run_tactus("ports")
    assert done.returncode == 71 and done.stdout == ""
    assert "tactus doctor" in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_every_command_explains_itself_and_the_program_tells_its_version():
    for command in ([], ["run"], ["status"], ["link"], ["start-stop-sync"], ["play"], ["stop"], ["tempo"], ["ports"], ["learn"]):
        text = said(run_tactus(*command, "--help"))
        assert "USAGE" in text or "OVERVIEW" in text
    assert said(run_tactus("--version")).strip().count(".") == 2


@pytest.mark.real("disk")
def test_a_result_that_the_disk_does_not_take_is_no_success(tmp_path):
    with open("/dev/full", "w") as disk:
        done = subprocess.run(
            [TACTUS, "profiles", "list"], env=environment(tmp_path), stdout=disk, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 71 and done.stderr == "tactus: the result cannot be written: No space left on device\n"


@pytest.mark.real("network")
def test_a_stopped_gateway_frees_its_port_for_the_next(start):
    for name in ("one", "two", "three"):
        start("--no-link", name=name).stop()
