"""In the lab, as root: runs both units under systemd, which is process 1 of a namespace, and hangs their clocks.

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
from rig.documents import block  # noqa: E402
from rig.gateway import PROJECT, TACTUS, request  # noqa: E402
from rig.guest import awake, preload  # noqa: E402
from rig.peer import Peer  # noqa: E402
from rig.rawline import STOP, RawLine  # noqa: E402
from rig.wait import until  # noqa: E402

PROGRAM = "/run/prefix/bin/tactus"
FOLDER = pathlib.Path("/tmp/midi")
# Of whom nobody knows but the lab.
USER, NUMBER, HOME = "musician", 1234, pathlib.Path("/run/home")
TOKEN = "a-word-that-nobody-guesses"
NOT_AT_BOOT = "[Unit]\nDefaultDependencies=no\n"
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


class Manager:
    """A systemd with a unit of ours; `control` gives it a command."""

    def __init__(self, folder, log, before):
        self.folder, self.log, self.before = pathlib.Path(folder), pathlib.Path(log), before
        self.folder.mkdir(parents=True)
        (self.folder / "lab.target").write_text(NOT_AT_BOOT)

    def call(self, *words):
        return subprocess.run([*self.before, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def control(self, *words):
        done = self.call(*words)
        if done.returncode != 0:
            log = self.log.read_text(errors="replace") if self.log.exists() else ""
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
        return self.call("status", "--no-pager", "tactus").stdout

    def install(self, unit, arguments, *lines):
        """Makes the unit known, with arguments for its run and lines of its own, and with what the lab needs."""
        text = (PROJECT / "Packaging" / unit).read_text().replace("@PREFIX@/bin/tactus", PROGRAM)
        (self.folder / "tactus.service").write_text(text.replace("tactus run", f"tactus run {arguments}"))
        (self.folder / "tactus.service.d").mkdir()
        # A first start waits for files of the host, which may take minutes of the lab's time.
        lines = "\n".join(["[Service]", "TimeoutStartSec=infinity", f"StandardError=append:{self.log}", *lines])
        (self.folder / "tactus.service.d/lab.conf").write_text(f"{NOT_AT_BOOT}{lines}\n")

    def reloaded(self):
        """Has the run read its files again; returns the unit's state then."""
        self.control("reload", "tactus")
        until(lambda: "configuration and profiles reloaded" in self.log.read_text(), "the reload")
        return self.shown("ActiveState")


class Systemd(Manager):
    """systemd as process 1 of a namespace, with nothing to run at first."""

    def __init__(self):
        shell("mount -t tmpfs none /var/lib; mount -t cgroup2 none /sys/fs/cgroup")
        super().__init__("/run/systemd/system", "/run/tactus.log", ())
        pathlib.Path("/tmp/boot").write_text(BOOT)
        self.launcher = subprocess.Popen(
            ["chroot", "/proc/1/root", "/bin/busybox", "unshare", "-m", "/bin/busybox", "sh", "/host/tmp/boot"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with awake():
            until(lambda: pathlib.Path("/run/systemd/private").exists(), "systemd runs", every=0.1)
        children = f"/proc/{self.launcher.pid}/task/{self.launcher.pid}/children"
        self.number = int(pathlib.Path(children).read_text())
        self.inside = ["nsenter", f"--target={self.number}", "--mount", "--pid", "--root", "--"]
        self.before = [*self.inside, "systemctl", "--no-ask-password"]


class UserManager(Manager):
    """The systemd of a user, as the system's starts it: with the groups and limits that `tactus doctor` asks for."""

    UNIT = f"""{NOT_AT_BOOT}
[Service]
Type=notify
User={USER}
SupplementaryGroups=audio
Environment=XDG_RUNTIME_DIR=/run/user/{NUMBER}
LimitRTPRIO=95
LimitMEMLOCK=64M
Delegate=yes
TimeoutStartSec=infinity
ExecStart=/lib/systemd/systemd --user --unit=lab.target
"""

    def __init__(self, systemd):
        who = ["setpriv", f"--reuid={NUMBER}", f"--regid={NUMBER}", "--clear-groups", "--"]
        super().__init__(
            HOME / ".config/systemd/user", HOME / "tactus.log",
            [*systemd.inside, *who, "env", f"XDG_RUNTIME_DIR=/run/user/{NUMBER}", "systemctl", "--user"])
        self.systemd = systemd
        (systemd.folder / "manager.service").write_text(self.UNIT)

    def start(self):
        pathlib.Path(f"/run/user/{NUMBER}").mkdir(parents=True)
        shell(f"chown -R {NUMBER}:{NUMBER} {HOME} /run/user/{NUMBER}")
        self.systemd.control("daemon-reload")
        self.systemd.control("start", "manager")


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


def restarted(manager, line):
    """Plays, freezes the run, and returns how long its machine then waits for its Stop, and for its clock again."""
    line.forget()
    play(line)
    before = manager.shown("NRestarts")
    line.wait_ticks(48)  # so that what plays is kept
    at = raw_microseconds()
    freeze(manager.process())
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


def offsets():
    """Of the outputs, in milliseconds, by their IDs."""
    return {one["id"]: one["offsetMilliseconds"] for one in request("GET", "/api/v1/status")[1]["outputs"]}


def by_socket():
    """How `tactus status` ends by the service's socket alone, for root, for the group of the socket, and for others."""
    group = pathlib.Path("/run/tactus/control.sock").stat().st_gid
    users = ([], ["setpriv", f"--reuid={NUMBER}", f"--regid={group}", "--clear-groups"],
             ["setpriv", f"--reuid={NUMBER}", f"--regid={NUMBER}", "--clear-groups"])
    return [
        subprocess.run(
            ["unshare", "--net", *words, PROGRAM, "status"], env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL,
            capture_output=True).returncode for words in users]


def examine(manager, line):
    """The system's unit, with what the documentation says to add for a FIFO in /tmp."""
    manager.install("tactus.service", "--no-link --output raw:/tmp/midi/clock", "BindPaths=/tmp/midi")
    with awake():
        manager.control("daemon-reload")
        manager.control("start", "tactus")
    started = raw_microseconds()
    scene = {"first tick": (line.wait_ticks(1, 0)[0] - started) / 1e6, "status": manager.shown("StatusText")}
    # What systemd does when a run hangs may not be loaded yet.
    preload(manager.process(), manager.number, "self")
    scene["rights"] = rights(manager.process())
    profiles = pathlib.Path("/var/lib/tactus-profiles").stat()
    scene["profiles"] = [profiles.st_uid, stat.S_IMODE(profiles.st_mode)]
    scene["reloaded"] = manager.reloaded()
    scene["by socket"] = by_socket()
    request("POST", "/api/v1/nudge", {"milliseconds": 3, "output": next(iter(offsets()))})
    scene["offsets"] = [offsets()]
    scene["frozen"] = restarted(manager, line)
    scene["offsets"].append(offsets())
    manager.control("stop", "tactus")
    scene["end"] = [manager.shown("ActiveState"), manager.shown("Result")]
    scene["log"] = manager.log.read_text()
    found["system"] = scene


def entrance(line, peer, since):
    """Where the machine is in its song, and where the session is, for each of its first ticks from `since` on."""
    line.wait_ticks(96, since)
    return [(place, peer.beat(at)) for place, at in line.song if at >= since]


def examine_user(systemd, line):
    """The user's unit, beside two official Link peers that play.

    Two, since one that is left alone for seconds begins a new session, in which nothing plays.
    """
    manager = UserManager(systemd)
    (HOME / "token").write_text(TOKEN)
    (HOME / "token").chmod(0o600)
    manager.install(
        "tactus.user.service",
        f"--start-stop-sync --output raw:{line.path} --http 0.0.0.0:8808 --http-token-file {HOME}/token")
    with awake():
        manager.start()
    scene = {}
    with Peer(120, start_stop_sync=True) as peer, Peer(120, start_stop_sync=True) as other:
        until(lambda: peer.peers == other.peers == 1, "the peers see each other")
        with awake():
            manager.control("start", "tactus")
        scene["status"] = manager.shown("StatusText")
        until(lambda: peer.peers == 2, "the peer sees the run")
        peer.play()
        began = line.wait_playing(raw_microseconds())
        scene["entered"] = entrance(line, peer, began)
        line.forget()
        before = raw_microseconds()
        freeze(manager.process())
        scene["stop"] = line.wait_for(STOP, before) - before
        scene["entered again"] = entrance(line, peer, line.wait_playing(before))
        until(lambda: manager.shown("ActiveState") == "active", "it is active again")
        scene["restarts"] = int(manager.shown("NRestarts"))
        scene["reloaded"] = manager.reloaded()
        shell("hostname stage")
        scene["renamed"] = request(
            "GET", "/api/v1/status", headers={"Host": "stage:8808", "Authorization": f"Bearer {TOKEN}"})[0]
        manager.control("stop", "tactus")
    scene["end"] = [manager.shown("ActiveState"), manager.shown("Result")]
    scene["log"] = manager.log.read_text()
    scene["without namespaces"] = without_namespaces(manager)
    found["user"] = scene


def without_namespaces(manager):
    """How the user's unit ends where users may make no namespaces, and what the documentation's lines make of it."""
    pathlib.Path("/proc/sys/user/max_user_namespaces").write_text("0")
    manager.call("start", "tactus")
    ended = int(manager.shown("ExecMainStatus"))
    manager.call("stop", "tactus")
    (manager.folder / "tactus.service.d/namespaces.conf").write_text(documented("PrivateUsers=no"))
    manager.control("daemon-reload")
    manager.control("start", "tactus")
    helped = manager.shown("ActiveState")
    manager.control("stop", "tactus")
    return [ended, helped]


def documented(word):
    """The documented drop-in that contains a word."""
    return block("docs/getting-started.md", word).text


def main():
    pathlib.Path(PROGRAM).parent.mkdir(parents=True)
    shutil.copy(TACTUS, PROGRAM)
    FOLDER.mkdir()
    shell("chgrp audio /dev/snd/*; chmod 660 /dev/snd/*")
    # Where the kernel is Ubuntu's, users may otherwise make no namespaces.
    restriction = pathlib.Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if restriction.exists():
        restriction.write_text("0")
    accounts = pathlib.Path("/run/passwd")
    accounts.write_text(f"{pathlib.Path('/etc/passwd').read_text()}{USER}:x:{NUMBER}:{NUMBER}::{HOME}:/bin/sh\n")
    shell(f"mount --bind {accounts} /etc/passwd")
    with RawLine(FOLDER / "clock") as line:
        shell(f"chgrp audio {line.path}; chmod 660 {line.path}")
        systemd = Systemd()
        try:
            examine(systemd, line)
            examine_user(systemd, line)
        finally:
            systemd.launcher.kill()
            pathlib.Path(sys.argv[1]).write_text(json.dumps(found))


main()
