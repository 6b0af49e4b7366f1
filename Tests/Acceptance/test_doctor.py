"""`tactus doctor` in faulty networks, and in the lab, where one thing after another is missing."""

import ast
import contextlib
import json
import subprocess
import sys

import pytest

from rig.gateway import PROJECT
from rig.labs import Boot
from rig.place import Place
from rig.wait import until

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
        source = '.'.join(map(str, frame[26:30]))
        seen.add((source, frame[42:51] if source == '10.9.0.1' else b''))
"""


BOOTS = [Boot({"scenes": ("doctor.py",)}, ("--nanoseconds", 16))]
network = pytest.mark.real("network")
sequencer = pytest.mark.real("sequencer")
permission = pytest.mark.real("permission")


@pytest.fixture
def scenes(recordings):
    """The findings of each scene of guest/doctor.py."""
    return recordings["scenes"]


def examine(place, hears=(), peers=""):
    """All findings by code and subject, once it has heard itself on these interfaces, and peers as these words tell.

    It listens for a second and a half, in which a busy machine may bring it nothing.
    """

    def heard():
        findings = examined(place)
        has_heard = all(findings.get(("multicast", name), {}).get("level") == "ok" for name in hears)
        return findings if has_heard and peers in findings["link-peers", None]["found"] else None

    return until(heard, f"it hears itself on {hears}, and of peers {peers!r}")


def examined(place):
    """All findings of one examination by code and subject."""
    done = place.tactus("doctor", "--json")
    assert done.stderr == ""
    report = json.loads(done.stdout)
    findings = {(finding["code"], finding["subject"]): finding for finding in report["findings"]}
    assert len(findings) == len(report["findings"])
    levels = {finding["level"] for finding in report["findings"]}
    assert report["level"] == ("problem" if "problem" in levels else "warning" if "warning" in levels else "ok")
    assert done.returncode == (1 if "problem" in levels else 0)
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


@network
def test_several_networks_at_once_one_of_them_without_multicast():
    with Place(CABLE, UP, SECOND_UP, "ip link set wire1 multicast off") as place:
        findings = examine(place, ["wire0"])
        assert findings["networks", None]["level"] == "warning"
        assert "wire0 (10.9.0.0/24), wire1 (10.8.0.0/24)" in findings["networks", None]["found"]
        assert findings["networks", None]["fix"] == "start the gateway with --interface wire0"
        assert findings["multicast", "wire1"]["level"] == "problem"
        place.run(findings["multicast", "wire1"]["fix"].removeprefix("sudo "))
        examine(place, ["wire1"])


@network
def test_a_firewall_that_keeps_link_out_is_a_problem_and_the_fix_mends_it():
    rules = "nft 'table inet filter { chain input { type filter hook input priority 0; iifname wire0 drop; }; }'"
    with Place(CABLE, UP, rules) as place:
        findings = examine(place, ["lo"])
        assert findings["multicast", "wire0"]["level"] == "problem"
        assert "firewall" in findings["multicast", "wire0"]["found"]
        place.run(findings["multicast", "wire0"]["fix"].removeprefix("sudo "))
        examine(place, ["wire0"])


@network
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
            assert findings["link-peers", None]["level"] == "warning"
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@network
def test_official_peers_on_another_computer_are_heard_and_get_nothing_but_pings():
    with Place(CABLE, "ip addr add 10.9.0.1/24 dev wire0") as place, Place() as other:
        place.run(f"ip link set wire1 netns {other.holder.pid}", "ip link set wire0 up")
        other.run("ip addr add 10.9.0.2/24 dev wire1", "ip link set wire1 up")
        sniffer = other.start(sys.executable, "-c", SNIFFER, stdout=subprocess.PIPE)
        sniffer.stdout.readline()
        try:
            with peer(other, 90), peer(other, 90):
                findings = examine(place, peers="2 Link programs")
        finally:
            sniffer.terminate()
            heard = sniffer.communicate(timeout=60)[0]
        assert "2 Link programs are heard (2 on other computers)" in findings["link-peers", None]["found"]
        assert findings["link-peers", None]["level"] == "ok"
        heard = ast.literal_eval(heard.decode())
        assert ("10.9.0.2", b"") in heard, "the cable carries what the peers say"
        assert [kind for source, kind in heard if source == "10.9.0.1"] == [b"_link_v\x01\x01"], "pings, and no more"


@pytest.mark.real("process")
def test_a_governor_that_saves_power_is_a_warning_with_the_command_that_mends_it():
    folder = "/sys/devices/system/cpu"
    with Place(f"mount -t tmpfs none {folder}", f"mkdir -p {folder}/cpu0/cpufreq",
               f"echo schedutil >{folder}/cpu0/cpufreq/scaling_governor") as place:
        finding = examine(place)["governor", None]
        assert finding["level"] == "warning" and "schedutil" in finding["found"]
        place.run(finding["fix"].replace("sudo ", ""))
        assert examine(place)["governor", None]["level"] == "ok"


# In the lab


@sequencer
def test_the_lab_itself_is_fine(scenes):
    found = scenes["as it is"]
    for code in ("sequencer", "midi-devices", "queue-timer", "realtime", "locked-memory", "audio-group", "preemption",
                 "governor", "wake-up", "service"):
        assert found[code]["level"] == "ok", found[code]
    assert "all have sequencer ports" in found["midi-devices"]["found"]
    assert found["preemption"]["found"].startswith("voluntary")
    assert scenes["member"]["preemption"] == found["preemption"], "ordinary users are told as well"
    assert "a real-time thread" in found["wake-up"]["found"]
    assert found["exit"] == 0, "warnings are no problem"


@permission
def test_a_user_is_told_of_the_group_and_of_the_limits_and_a_member_only_of_what_is_missing(scenes):
    found = scenes["stranger"]
    assert found["exit"] == 1
    assert found["sequencer"]["level"] == "problem"
    assert found["sequencer"]["fix"].startswith("sudo usermod -aG audio $USER")
    assert found["audio-group"]["level"] == "warning"
    assert found["realtime"]["level"] == "warning" and "the limit is 0" in found["realtime"]["found"]
    assert "@audio - rtprio 95" in found["realtime"]["fix"] and "usermod" in found["realtime"]["fix"]
    assert found["locked-memory"]["level"] == "warning" and "64 KiB" in found["locked-memory"]["found"]
    found = scenes["member without limits"]
    assert found["sequencer"]["level"] == found["audio-group"]["level"] == "ok"
    assert found["realtime"]["level"] == "warning" and "usermod" not in found["realtime"]["fix"]
    assert all(scenes["member"][code]["level"] == "ok" for code in ("realtime", "locked-memory"))
    assert scenes["limit from the next login"]["realtime"]["fix"].endswith("log out and in again")
    assert scenes["stranger with a limit"]["realtime"]["fix"].startswith("sudo usermod -aG audio $USER #")


@sequencer
def test_a_wifi_that_naps_and_a_queue_a_timer_or_a_sequencer_that_is_missing_are_told(scenes):
    found = scenes["wireless"]
    assert found["networks"]["level"] == "warning"
    assert found["wifi-power-save wlan0"]["level"] == "warning"
    assert found["wifi-power-save wlan0"]["fix"].startswith("sudo iw dev wlan0 set power_save off")
    assert found["wifi-power-save wlan1"]["level"] == "ok"
    found = scenes["no queue left"]["queue-timer"]
    assert found["level"] == "warning" and "cat /proc/asound/seq/queues" in found["fix"]
    assert "allocating a queue failed, snd_seq_alloc_queue: " in found["found"]
    found = scenes["no timer"]
    assert found["queue-timer"]["level"] == "warning" and "modprobe snd-hrtimer" in found["queue-timer"]["fix"]
    assert found["preemption"]["level"] == "warning" and "preempt=full" in found["preemption"]["fix"]
    found = scenes["no sequencer"]
    assert found["exit"] == 1
    assert found["sequencer"]["level"] == "problem" and "snd-seq" in found["sequencer"]["fix"]
    assert "queue-timer" not in found
