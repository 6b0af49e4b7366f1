"""`tactus doctor` on a kernel with the sequencer, while something is taken away each time; networks: test_doctor.py."""

import pytest

from rig.labs import record


@pytest.fixture(scope="module")
def scenes():
    return record("doctor.py", ["--shift", 3], timeout=300)


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


def test_a_stranger_is_told_of_the_group_and_of_the_limits(scenes):
    found = scenes["stranger"]
    assert found["exit"] == 1
    assert found["sequencer"]["level"] == "problem"
    assert found["sequencer"]["fix"].startswith("sudo usermod -aG audio $USER")
    assert found["audio-group"]["level"] == "warning"
    assert found["realtime"]["level"] == "warning" and "the limit is 0" in found["realtime"]["found"]
    assert "@audio - rtprio 95" in found["realtime"]["fix"] and "usermod" in found["realtime"]["fix"]
    assert found["locked-memory"]["level"] == "warning" and "64 KiB" in found["locked-memory"]["found"]


def test_a_member_lacks_only_the_limit(scenes):
    found = scenes["member without limits"]
    assert found["sequencer"]["level"] == found["audio-group"]["level"] == "ok"
    assert found["realtime"]["level"] == "warning" and "usermod" not in found["realtime"]["fix"]
    assert all(scenes["member"][code]["level"] == "ok" for code in ("realtime", "locked-memory", "wake-up"))
    assert scenes["limit from the next login"]["realtime"]["fix"].endswith("log out and in again")
    assert scenes["stranger with a limit"]["realtime"]["fix"].startswith("sudo usermod -aG audio $USER #")


def test_a_thread_without_priority_on_a_busy_computer_wakes_late(scenes):
    found = scenes["busy"]
    assert found["wake-up"]["level"] == "warning" and "without real-time priority" in found["wake-up"]["found"]
    assert found["wake-up"]["fix"] == found["realtime"]["fix"]


def test_a_governor_a_service_without_limits_and_a_device_without_a_port(scenes):
    found = scenes["power saved, service without limits, device without port"]
    assert found["governor"]["level"] == "warning" and found["governor"]["found"] == "powersave on processors 0"
    assert found["service"]["level"] == "warning" and "LimitRTPRIO=95" in found["service"]["fix"]
    assert found["midi-devices"]["level"] == "warning" and "modprobe snd-seq-midi" in found["midi-devices"]["fix"]
    assert found["exit"] == 0, "warnings are no problem"
    mended = scenes["mended"]
    assert [mended[code]["level"] for code in ("governor", "service", "midi-devices", "preemption")] == ["ok"] * 4
    assert mended["preemption"]["found"] == "full"


def test_a_wifi_that_naps_beside_one_that_does_not(scenes):
    found = scenes["wireless"]
    assert found["networks"]["level"] == "warning"
    assert found["wifi-power-save wlan0"]["level"] == "warning"
    assert found["wifi-power-save wlan0"]["fix"].startswith("sudo iw dev wlan0 set power_save off")
    assert found["wifi-power-save wlan1"]["level"] == "ok"


def test_no_queue_left(scenes):
    found = scenes["no queue left"]["queue-timer"]
    assert found["level"] == "warning" and "cat /proc/asound/seq/queues" in found["fix"]


def test_without_the_timer_the_kernels_own_delays_are_not_made_up_for(scenes):
    found = scenes["no timer"]
    assert found["queue-timer"]["level"] == "warning" and "modprobe snd-hrtimer" in found["queue-timer"]["fix"]
    assert found["preemption"]["level"] == "warning" and "preempt=full" in found["preemption"]["fix"]


def test_without_a_sequencer(scenes):
    found = scenes["no sequencer"]
    assert found["exit"] == 1
    assert found["sequencer"]["level"] == "problem" and "snd-seq" in found["sequencer"]["fix"]
    assert "queue-timer" not in found
