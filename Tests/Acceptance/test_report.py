"""`tactus report` without a sequencer: what it leaves out, and where it cannot be written."""

import json
import re

import pytest

from rig.gateway import Gateway, complaint, run_tactus
from rig.place import Place
from rig.rawline import RawLine
from rig.wait import until

HOST = ("unshare", "--uts", "sh", "-c", 'hostname canaryhost; exec "$@"', "sh")
CABLE = (
    "ip link add enxc0ffeecafe01 address 02:c0:ff:ee:ca:fe type veth peer name wire1",
    "ip addr add 10.97.98.99/24 dev enxc0ffeecafe01", "ip link set enxc0ffeecafe01 up", "ip link set wire1 up")


@pytest.mark.real("network")
def test_a_report_names_nobody_and_nothing_that_belongs_to_one_person(tmp_path):
    home = tmp_path / "canaryhome"
    (home / "config/tactus").mkdir(parents=True)
    (home / "config/tactus/token").write_text("canary-token-of-many-letters\n")
    (home / "config/tactus/token").chmod(0o644)
    (home / "config/tactus/config.yaml").write_text("version: 1\nhttp: { token-file: token }\n")
    with Place(*CABLE) as place, RawLine(tmp_path / "canaryline") as line:
        before = [*place.enter, *HOST]
        # By its socket, which needs neither its token nor to be in its network.
        user = [*before, "env", f"HOME={home}", f"XDG_CONFIG_HOME={home}/config", f"XDG_RUNTIME_DIR={home}",
                "USER=canaryuser", "LOGNAME=canaryuser"]

        def session():
            done = run_tactus("status", "--json", before=user)
            return done.returncode == 0 and json.loads(done.stdout)["link"]["sessionId"]

        gateway = Gateway(
            "--link", "--output", f"raw:{line.path}", "--name", f"raw:{line.path}=canaryname", "--output",
            "virtual:canaryport", folder=home, before=before)
        try:
            secrets = ("canary", "c0ffee", "c0:ff:ee", "10.97.98", str(tmp_path), until(session, "it is in a session"))
            for form in ((), ("--json",)):
                done = run_tactus("report", "--seconds", 1, *form, before=user)
                assert (done.returncode, done.stderr) == (0, "")
                for secret in secrets:
                    assert secret not in done.stdout.lower(), secret
                assert len(done.stdout) < 9_000 and "weak-token" in done.stdout and "multicast" in done.stdout
            gateway.stop()
        finally:
            gateway.kill()
    report = json.loads(done.stdout)
    (sent,) = [output["sent"] for output in report["gateway"]["outputs"] if output.get("kind") == "line"]
    assert sent["ticks"] > 20 and sent["skipped"] == 0
    assert {finding["code"] for finding in report["doctor"]} >= {"networks", "multicast", "wake-up", "token"}


@pytest.mark.real("process")
def test_without_a_gateway_the_rest_is_reported_as_a_file(tmp_path):
    path = tmp_path / "report.md"
    done = run_tactus("report", "--output", path)
    assert done.returncode == 0 and done.stdout == f"{path} is written; read it before you publish it\n"
    assert complaint(done.stderr) == (
        "tactus: no gateway answers, so the report has no clock; start one with 'tactus run'")
    text = path.read_text()
    assert text.startswith("### Tactus report\n") and text.endswith("\n\nNo gateway ran.\n")
    assert re.search(r"^kernel +\d+\.\d+", text, re.M) and re.search(r"^(ok|warning|problem) +sequencer", text, re.M)


@pytest.mark.real("disk")
def test_a_report_that_the_disk_does_not_take_leaves_nothing_behind(tmp_path):
    with Place(f"mount -t tmpfs -o nr_inodes=1 none {tmp_path}") as place:
        done = place.tactus("report", "--output", tmp_path / "report.md")
        assert done.returncode == 71 and done.stdout == ""
        assert done.stderr.splitlines()[-1].startswith(f"tactus: no report at {tmp_path}/report.md: ")
        place.run(f"test -z \"$(ls -A {tmp_path})\"")


@pytest.mark.real("process")
@pytest.mark.parametrize("arguments", [
    ("--url", "http://127.0.0.1:8809"), ("--loop", "raw:/nowhere/line"), ("--loop", "Nobody"), ("--loop", "pcm:hw:9")])
def test_what_is_named_but_not_there_ends_it_before_it_measures(arguments):
    done = run_tactus("report", *arguments)
    assert done.returncode in (69, 71) and done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("tactus: ")
