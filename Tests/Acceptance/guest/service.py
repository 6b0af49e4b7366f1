"""In the lab, as root: runs the unit under systemd, which is process 1 of a namespace, and hangs its clock.

    service.py RESULT.json

The root file system is read-only, as the lab has it.
"""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.clocks import raw_microseconds  # noqa: E402
from rig.gateway import PROJECT, TACTUS, request  # noqa: E402
from rig.rawline import STOP, RawLine  # noqa: E402
from rig.wait import until  # noqa: E402

UNITS = pathlib.Path("/run/systemd/system")
PROGRAM = "/run/prefix/bin/tactus"
LOG = pathlib.Path("/run/tactus.log")
FOLDER = pathlib.Path("/tmp/midi")
found = {}

# In the initial root, which is not the guest's. A user namespace cannot be made in another root than the namespace's.
BOOT = """
cd /host && /bin/busybox mount --move . / && exec /bin/busybox chroot . \\
    unshare --pid --fork --mount-proc env -i container=lab PATH=/usr/sbin:/usr/bin:/sbin:/bin \\
    /lib/systemd/systemd --unit=lab.target --show-status=no
"""


def shell(command):
    return subprocess.run(
        ["sh", "-ec", command], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout


class Systemd:
    """systemd as process 1 of a namespace, with nothing to run at first."""

    def __init__(self):
        shell("mount -t tmpfs none /var/lib; mount -t cgroup2 none /sys/fs/cgroup")
        UNITS.mkdir(parents=True)
        (UNITS / "lab.target").write_text("[Unit]\nDefaultDependencies=no\n")
        pathlib.Path("/tmp/boot").write_text(BOOT)
        self.launcher = subprocess.Popen(
            ["chroot", "/proc/1/root", "/bin/busybox", "unshare", "-m", "/bin/busybox", "sh", "/host/tmp/boot"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: pathlib.Path("/run/systemd/private").exists(), "systemd runs", every=0.1)
        children = f"/proc/{self.launcher.pid}/task/{self.launcher.pid}/children"
        self.number = int(pathlib.Path(children).read_text())
        self.inside = ["nsenter", f"--target={self.number}", "--mount", "--pid", "--root", "--"]

    def control(self, *words):
        done = subprocess.run(
            [*self.inside, "systemctl", "--no-ask-password", *words], stdin=subprocess.DEVNULL, capture_output=True,
            text=True)
        if done.returncode != 0:
            log = LOG.read_text(errors="replace") if LOG.exists() else ""
            raise SystemExit(f"{words}: {done.stdout} {done.stderr}\n{self.state()}\n{log}")
        return done.stdout

    def shown(self, name):
        return self.control("show", "--value", f"--property={name}", "tactus").strip()

    def process(self):
        """The run's number outside of systemd's namespace."""
        path = pathlib.Path("/sys/fs/cgroup") / self.shown("ControlGroup").lstrip("/") / "cgroup.procs"
        return int(path.read_text())

    def state(self):
        """What systemd says of the unit, for an error."""
        words = [*self.inside, "systemctl", "status", "--no-pager", "tactus"]
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout


def install():
    """Makes the unit known, with what the README says to add for a FIFO in /tmp, and with what the lab needs."""
    unit = (PROJECT / "Packaging/tactus.service").read_text().replace("@PREFIX@/bin/tactus", PROGRAM)
    unit = unit.replace("tactus run", "tactus run --no-link --output raw:/tmp/midi/clock")
    (UNITS / "tactus.service").write_text(unit)
    (UNITS / "tactus.service.d").mkdir()
    # A first start waits for files of the host, which may take minutes of the lab's time.
    (UNITS / "tactus.service.d/lab.conf").write_text(
        "[Unit]\nDefaultDependencies=no\n"
        f"[Service]\nBindPaths=/tmp/midi\nTimeoutStartSec=infinity\nStandardError=append:{LOG}\n")


def threads(process):
    """The numbers of a process's threads by name."""
    tasks = pathlib.Path(f"/proc/{process}/task").iterdir()
    return {(task / "comm").read_text().strip(): int(task.name) for task in tasks}


def rights(process):
    """What the kernel says that a run may do."""
    lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    clock = threads(process)["tactus-output"]
    return {
        "user": int(fields["Uid"].split()[0]), "capabilities": [int(fields[name], 16) for name in ("CapEff", "CapBnd")],
        "filter": int(fields["Seccomp"]), "no new privileges": int(fields["NoNewPrivs"]),
        "locked": int(fields["VmLck"].split()[0]),
        "clock": [os.sched_getscheduler(clock), os.sched_getparam(clock).sched_priority],
        "status": request("GET", "/api/v1/status")[1]["realtime"],
    }


def play(line):
    since = raw_microseconds()
    code, answer = request("POST", "/api/v1/transport", {"playing": True})
    assert code < 300, answer
    line.wait_playing(since)


def restarted(manager, line, hang):
    """Plays, hangs the run, and returns how long its machine then waits for its Stop, and for its clock again."""
    play(line)
    before = manager.shown("NRestarts")
    line.wait_ticks(48)  # so that what plays is kept
    at = raw_microseconds()
    hang(manager.process())
    stop = line.wait_for(STOP, at)
    ticks = line.wait_ticks(1, stop)
    until(lambda: manager.shown("ActiveState") == "active", "it is active again")
    return {
        "stop": (stop - at) / 1e6, "ticks": (ticks[0] - at) / 1e6,
        "restarts": int(manager.shown("NRestarts")) - int(before),
    }


def freeze(process):
    """Stops all of a run's threads, the watchdog's among them."""
    group = pathlib.Path(f"/proc/{process}/cgroup").read_text().strip().split(":")[2]
    pathlib.Path(f"/sys/fs/cgroup{group}/cgroup.freeze").write_text("1")


def starve(systemd):
    """Returns a function that keeps the output thread, and no other thread that matters, from the processor."""

    def hang(process):
        found = threads(process)
        for thread in (systemd.number, os.getpid(), found["tactus-watchdog"]):
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(10))
        busy = subprocess.Popen(["chrt", "--fifo", "5", "sh", "-c", "while :; do :; done"])
        os.sched_setscheduler(found["tactus-output"], os.SCHED_OTHER, os.sched_param(0))
        # The output thread itself cannot even end while it is kept from the processor.
        task = pathlib.Path(f"/proc/{process}/task/{found['tactus-watchdog']}")
        until(lambda: not task.exists(), "systemd ends the run")
        busy.kill()
        busy.wait()
        for thread in (systemd.number, os.getpid()):
            os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))

    return hang


def examine(manager, line):
    install()
    manager.control("daemon-reload")
    manager.control("start", "tactus")
    started = raw_microseconds()
    scene = {"first tick": (line.wait_ticks(1, 0)[0] - started) / 1e6, "status": manager.shown("StatusText")}
    scene["rights"] = rights(manager.process())
    profiles = pathlib.Path("/var/lib/tactus-profiles").stat()
    scene["profiles"] = [profiles.st_uid, stat.S_IMODE(profiles.st_mode)]
    manager.control("reload", "tactus")
    until(lambda: "configuration and profiles read again" in LOG.read_text(), "the reload")
    scene["reloaded"] = manager.shown("ActiveState")
    scene["frozen"] = restarted(manager, line, freeze)
    # Real-time threads may use the whole processor.
    pathlib.Path("/proc/sys/kernel/sched_rt_runtime_us").write_text("-1")
    scene["starved"] = restarted(manager, line, starve(manager))
    manager.control("stop", "tactus")
    scene["end"] = [manager.shown("ActiveState"), manager.shown("Result")]
    scene["log"] = LOG.read_text()
    found.update(scene)


def main():
    pathlib.Path(PROGRAM).parent.mkdir(parents=True)
    shutil.copy(TACTUS, PROGRAM)
    FOLDER.mkdir()
    shell("chgrp audio /dev/snd/*; chmod 660 /dev/snd/*")
    with RawLine(FOLDER / "clock") as line:
        shell(f"chgrp audio {line.path}; chmod 660 {line.path}")
        systemd = Systemd()
        try:
            examine(systemd, line)
        finally:
            systemd.launcher.kill()
            pathlib.Path(sys.argv[1]).write_text(json.dumps(found))


main()
