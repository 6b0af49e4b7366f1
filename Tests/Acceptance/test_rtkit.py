"""Real-time priority for a user without any right to it, from the real rtkit on a bus of its own."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import tempfile

import pytest

from rig.bus import BUS, Bus
from rig.gateway import Gateway, run_tactus
from rig.wait import until

pytestmark = pytest.mark.real("permission")

# Stands for polkit's own rule, which knows who sits at the screen from systemd-logind.
RULE = """
polkit.addRule(function (action, subject) {
    if (action.id.indexOf("org.freedesktop.RealtimeKit1.") == 0 && subject.user == "nobody") return polkit.Result.YES;
});
"""
# Its only rules are the test's and those that come with it.
POLKIT = """#!/bin/sh -e
mount -t tmpfs -o mode=755 tmp /etc/polkit-1/rules.d
cp {folder}/10-test.rules /etc/polkit-1/rules.d
exec /usr/lib/polkit-1/polkitd
"""
# A user whom the rule knows, and one whom it does not.
AT_THE_SCREEN, ELSEWHERE = "nobody", "daemon"


def user(name, *more):
    """The words that run a program as a user, who may read all folders: the program under test may be in any."""
    capabilities = ",".join(f"+{capability}" for capability in ("dac_read_search", *more))
    return [
        "setpriv", f"--reuid={name}", "--regid=nogroup", "--clear-groups", f"--inh-caps=-all,{capabilities}",
        f"--ambient-caps={capabilities}", f"--bounding-set=-all,{capabilities}"]


@pytest.fixture
def folder():
    """A folder that all users can reach, as they cannot pytest's own."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def bus(folder, monkeypatch):
    monkeypatch.setenv(BUS, f"unix:path={folder}/bus")
    bus = Bus(folder)
    yield bus
    bus.stop()


@pytest.fixture
def rtkit(bus, folder):
    (folder / "10-test.rules").write_text(RULE)
    polkit = folder / "polkit"
    polkit.write_text(POLKIT.format(folder=folder))
    polkit.chmod(0o755)
    bus.offer("org.freedesktop.PolicyKit1", "/usr/bin/unshare", "--mount", polkit)
    # Its limits would count the threads of the machine's own rtkit, which has the same user.
    bus.offer("org.freedesktop.RealtimeKit1", "/usr/libexec/rtkit-daemon", "--no-limit-resources")


@pytest.fixture
def run(folder):
    """Starts the gateway of a user, which ends with the test."""
    with contextlib.ExitStack() as stack:

        def run(name, *more, before=()):
            home = folder / name
            home.mkdir()
            shutil.chown(home, name, "nogroup")
            return stack.enter_context(
                Gateway("--no-link", folder=home, before=[*before, *user(name, *more)], passing=(BUS,)))

        yield run


def clock_thread(gateway):
    tasks = pathlib.Path(f"/proc/{gateway.process.pid}/task").iterdir()
    (clock,) = [task for task in tasks if (task / "comm").read_text() == "tactus-output\n"]
    return int(clock.name)


def real_time_warnings(status):
    return [warning for warning in status["warnings"] if warning["code"] == "no-realtime"]


def logged_warnings(gateway):
    return "\n".join(line for line in gateway.stderr.splitlines() if " warning" in line)


def examined(name):
    """What `tactus doctor` says to a user about real-time priority."""
    done = run_tactus("doctor", "--json", before=["env", f"{BUS}={os.environ[BUS]}", *user(name)])
    (finding,) = [finding for finding in json.loads(done.stdout)["findings"] if finding["code"] == "realtime"]
    return finding


def test_the_user_at_the_screen_gets_priority_from_rtkit_until_the_clock_runs_too_long(rtkit, run):
    gateway = run(AT_THE_SCREEN)
    status = gateway.wait_status(lambda status: status["realtime"]["priority"] > 0, "rtkit grants priority")
    assert (status["realtime"]["scheduling"], status["realtime"]["priority"]) == ("rr", 20)
    assert not real_time_warnings(status) and "real-time" not in logged_warnings(gateway)
    assert "rr 20 by rtkit" in gateway.command("status").stdout
    # The doctor waits for five seconds only. Whoever asks first has rtkit started, and polkit.
    found = examined(AT_THE_SCREEN)
    assert found["level"] == "ok" and found["found"].startswith("priority 20 is granted by rtkit")
    thread = clock_thread(gateway)
    assert os.sched_getscheduler(thread) == os.SCHED_RR | os.SCHED_RESET_ON_FORK
    limits = pathlib.Path(f"/proc/{gateway.process.pid}/limits").read_text()
    assert "Max realtime timeout      100000               200000               us" in limits
    # What the kernel sends at the limit.
    gateway.process.send_signal(signal.SIGXCPU)
    status = gateway.wait_status(real_time_warnings, "it says that priority is lost")
    assert (status["realtime"]["scheduling"], status["realtime"]["priority"]) == ("other", 0)
    assert os.sched_getscheduler(thread) == os.SCHED_OTHER | os.SCHED_RESET_ON_FORK
    (warning,) = real_time_warnings(status)
    assert "too long" in warning["message"] and "tactus doctor" in warning["fix"]
    until(lambda: "too long" in logged_warnings(gateway), "the log says it too")


def test_a_user_elsewhere_is_told_why_there_is_no_priority(rtkit, run):
    gateway = run(ELSEWHERE)
    status = gateway.wait_status(real_time_warnings, "rtkit's refusal is told")
    assert (status["realtime"]["scheduling"], status["realtime"]["priority"]) == ("other", 0)
    (warning,) = real_time_warnings(status)
    assert "the user at this computer's screen" in warning["message"] and "tactus doctor" in warning["fix"]
    until(lambda: "real-time" in logged_warnings(gateway), "the log says it")
    found = examined(ELSEWHERE)
    assert found["level"] == "warning" and "the user at this computer's screen" in found["found"] and found["fix"]
    gateway.stop()
    assert logged_warnings(gateway).count("real-time scheduling was refused") == 1


def test_a_system_without_libsystemd_is_told(bus, run, folder):
    # Found first, and no library.
    (folder / "libsystemd.so.0").touch()
    gateway = run(AT_THE_SCREEN, before=["env", f"LD_LIBRARY_PATH={folder}"])
    (warning,) = real_time_warnings(gateway.wait_status(real_time_warnings, "the lack of libsystemd is told"))
    assert "rtkit cannot be asked (libsystemd.so.0: " in warning["message"]
