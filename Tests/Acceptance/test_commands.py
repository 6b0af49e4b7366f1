"""The commands, as scripts and people use them, with a running gateway."""

import json
import subprocess

import pytest

from rig.gateway import TACTUS, environment, run_tactus

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


@pytest.mark.real("disk")
def test_a_result_that_the_disk_does_not_take_is_no_success(tmp_path):
    with open("/dev/full", "w") as disk:
        done = subprocess.run(
            [TACTUS, "profiles", "list"], env=environment(tmp_path), stdout=disk, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 71 and done.stderr == "tactus: the result cannot be written: No space left on device\n"
