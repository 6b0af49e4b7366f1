"""`tactus doctor` in networks that have something wrong with them; the kernel: test_doctor_lab.py."""

import contextlib
import json
import subprocess
import sys
import time

import pytest

from rig.gateway import PROJECT
from rig.place import Place

CABLE = "ip link add wire0 type veth peer name wire1"
UP = "ip addr add 10.9.0.1/24 dev wire0; ip link set wire0 up; ip link set wire1 up"
SECOND_UP = "ip addr add 10.8.0.1/24 dev wire1"
PEER = """
import sys, time
sys.path.insert(0, sys.argv[2])
from rig.peer import Peer
with Peer(float(sys.argv[1])):
    print(flush=True)
    time.sleep(600)
"""
SELFISH = """
import socket, time
holder = socket.socket(type=socket.SOCK_DGRAM)
holder.bind(('', 20808))
print(flush=True)
time.sleep(600)
"""
SNIFFER = """
import socket, signal, sys
seen = set()
def end(*_):
    print(sorted(seen), flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
print(flush=True)
while True:
    frame, (name, *_) = sniffer.recvfrom(2048)
    if frame[12:14] == b'\\x08\\x00' and frame[23] == 17:
        seen.add('.'.join(map(str, frame[26:30])))
"""


def examine(place):
    """All findings by code and subject, and the exit code."""
    began = time.monotonic()
    done = place.tactus("doctor", "--json")
    took = time.monotonic() - began
    assert took < 5, f"tactus doctor took {took:.1f} s"
    assert done.stderr == ""
    report = json.loads(done.stdout)
    findings = {(finding["code"], finding["subject"]): finding for finding in report["findings"]}
    assert len(findings) == len(report["findings"])
    worst = {finding["level"] for finding in report["findings"]}
    assert report["level"] == ("problem" if "problem" in worst else "warning" if "warning" in worst else "ok")
    assert done.returncode == (1 if "problem" in worst else 0)
    for finding in report["findings"]:
        assert set(finding) == {"code", "subject", "level", "found", "why", "fix"}
        assert finding["found"] and finding["why"]
        assert (finding["fix"] is None) == (finding["level"] == "ok")
    return findings


@contextlib.contextmanager
def peer(place, tempo):
    process = place.start(sys.executable, "-c", PEER, tempo, PROJECT / "Tests/Acceptance", stdout=subprocess.PIPE)
    process.stdout.readline()
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_alone_there_is_no_network_and_nobody_is_missed():
    with Place() as place:
        findings = examine(place)
        text = place.tactus("doctor").stdout
    assert findings["networks", None]["level"] == "warning"
    assert findings["multicast", "lo"]["level"] == "ok"
    assert findings["link-port", None]["level"] == "ok"
    assert findings["link-peers", None]["level"] == "ok"
    assert "warning  networks" in text and "why" in text and "fix" in text


def test_one_network_on_which_nobody_speaks_is_a_warning_with_what_to_try():
    with Place(CABLE, UP) as place:
        findings = examine(place)
    assert findings["networks", None]["found"] == "wire0 (10.9.0.0/24)"
    assert findings["networks", None]["level"] == findings["multicast", "wire0"]["level"] == "ok"
    assert findings["link-peers", None]["level"] == "warning"


def test_the_loopback_interface_down_is_a_problem_and_the_fix_mends_it():
    with Place("ip link set lo down") as place:
        broken = examine(place)["networks", None]
        assert broken["level"] == "problem"
        place.run(broken["fix"].removeprefix("sudo "))
        assert examine(place)["networks", None]["level"] == "warning"


def test_several_networks_at_once_one_of_them_without_multicast():
    with Place(CABLE, UP, SECOND_UP, "ip link set wire1 multicast off") as place:
        findings = examine(place)
        assert findings["networks", None]["level"] == "warning"
        assert "wire0 (10.9.0.0/24), wire1 (10.8.0.0/24)" in findings["networks", None]["found"]
        assert findings["networks", None]["fix"] == "tactus run --interface wire0"
        assert findings["multicast", "wire0"]["level"] == "ok"
        assert findings["multicast", "wire1"]["level"] == "problem"
        place.run(findings["multicast", "wire1"]["fix"].removeprefix("sudo "))
        assert examine(place)["multicast", "wire1"]["level"] == "ok"


def test_a_firewall_that_keeps_link_out_is_a_problem_and_the_fix_mends_it():
    rules = "nft 'table inet filter { chain input { type filter hook input priority 0; iifname wire0 drop; }; }'"
    with Place(CABLE, UP, rules) as place:
        findings = examine(place)
        assert findings["multicast", "lo"]["level"] == "ok"
        assert findings["multicast", "wire0"]["level"] == "problem"
        assert "firewall" in findings["multicast", "wire0"]["found"]
        place.run(findings["multicast", "wire0"]["fix"].removeprefix("sudo "))
        assert examine(place)["multicast", "wire0"]["level"] == "ok"


def test_a_port_that_is_not_shared_names_the_program_and_the_fix_ends_it():
    with Place() as place:
        process = place.start(sys.executable, "-c", SELFISH, stdout=subprocess.PIPE)
        process.stdout.readline()
        try:
            findings = examine(place)
            assert findings["link-port", None]["level"] == "problem"
            assert f"(process {process.pid})" in findings["link-port", None]["found"]
            assert findings["link-port", None]["fix"] == f"kill {process.pid}"
            assert findings["multicast", "lo"]["level"] == "warning"
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def test_an_official_peer_on_this_computer_is_heard_with_its_tempo_and_not_disturbed():
    with Place() as place, peer(place, 133.7) as process:
        findings = examine(place)
        assert findings["link-peers", None]["found"] == (
            "one Link program is heard (1 on this computer), one session at 133.7 BPM")
        assert "shared by" in findings["link-port", None]["found"]
        assert f"(process {process.pid})" in findings["link-port", None]["found"]


def test_official_peers_on_another_computer_are_heard_and_it_hears_nothing_of_the_examination():
    with Place(CABLE, "ip link set lo up", "ip addr add 10.9.0.1/24 dev wire0") as place, Place() as other:
        place.run(f"ip link set wire1 netns {other.holder.pid}", "ip link set wire0 up")
        other.run("ip addr add 10.9.0.2/24 dev wire1", "ip link set wire1 up")
        sniffer = other.start(sys.executable, "-c", SNIFFER, stdout=subprocess.PIPE)
        sniffer.stdout.readline()
        try:
            with peer(other, 90), peer(other, 90):
                findings = examine(place)
        finally:
            sniffer.terminate()
            heard = sniffer.communicate(timeout=5)[0]
        assert "2 Link programs are heard (2 on others)" in findings["link-peers", None]["found"]
        assert findings["link-peers", None]["level"] == "ok"
        assert b"10.9.0.2" in heard, "the cable carries what the peers say"
        assert b"10.9.0.1" not in heard, "and nothing of what the examination does"


@pytest.mark.parametrize("governor, level", [("schedutil", "warning"), ("performance", "ok")])
def test_a_governor_that_saves_power_is_a_warning_with_the_command(governor, level):
    folder = "/sys/devices/system/cpu"
    with Place(f"mount -t tmpfs none {folder}", f"mkdir -p {folder}/cpu0/cpufreq",
               f"echo {governor} >{folder}/cpu0/cpufreq/scaling_governor") as place:
        finding = examine(place)["governor", None]
        assert finding["level"] == level and governor in finding["found"]
        if finding["fix"]:
            place.run(finding["fix"].replace("sudo ", ""))
            assert examine(place)["governor", None]["level"] == "ok"


def test_without_a_sequencer_it_is_a_problem_with_the_module_to_load():
    with Place() as place:
        finding = examine(place)["sequencer", None]
    assert finding["level"] == "problem" and "modprobe snd-seq" in finding["fix"]
