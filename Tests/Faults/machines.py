"""Faults of the computer: its clocks, memory, disks and processor, and other users."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time

from ends import settle
from judge import ON_TIME
from rig.clocks import raw_microseconds
from rig.wait import until
from stage import AT_A_BAR, BAR, INTERVAL, Unavailable, fault, heard

POWER = pathlib.Path("/sys/power")
GROUPS = pathlib.Path("/sys/fs/cgroup")


@fault("the wall clock is set a day ahead and back, beside an official peer")
def wall_clock_stepped(stage):
    stage.official()
    gateway = stage.start(link=True)
    stage.play(gateway)
    for _ in stage.rounds():
        for days in (1, -1):
            time.clock_settime(time.CLOCK_REALTIME, time.time() + 86_400 * days)
            time.sleep(2)


@fault("the kernel suspends all programs for 5 s, as before a sleep, and resumes them", within=AT_A_BAR)
def suspended(stage):
    """The kernel freezes all programs for 5 s, as it does first. Devices it leaves alone, for the lab's do not come back."""
    try:
        level = "freezer" if "freezer" in (POWER / "pm_test").read_text() else None
    except OSError:
        level = None
    if level is None:
        raise Unavailable("this kernel cannot try to suspend (no /sys/power/pm_test)")
    stage.stack.callback((POWER / "pm_test").write_text, "none")
    gateway = stage.start()
    stage.play(gateway)
    first = next(tick for tick in stage.untouched.ticks if tick.place == 0)
    for round in stage.rounds():
        stage.look(round)
        (POWER / "pm_test").write_text(level)
        before = raw_microseconds()
        try:
            (POWER / "state").write_text("freeze")
        except OSError as error:
            raise Unavailable(f"this kernel refused to suspend: {error}") from None
        round.over()
        round.note(f"suspended for {(round.ended - before) / 1e6:.1f} s")
        time.sleep(2 * BAR)
        settle(stage, round, first)


@contextlib.contextmanager
def control_group(*settings):
    """A group with limits; gives its folder."""
    if not (GROUPS / "cgroup.controllers").exists():
        subprocess.run(["mount", "-t", "cgroup2", "none", GROUPS], check=True)
    if "memory" not in (GROUPS / "cgroup.controllers").read_text():
        raise Unavailable("this kernel limits no memory of groups")
    (GROUPS / "cgroup.subtree_control").write_text("+memory")
    folder = GROUPS / "tactus"
    folder.mkdir()
    for name, value in settings:
        (folder / name).write_text(value)
    try:
        yield folder
    finally:
        for process in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(OSError):
                os.kill(int(process), signal.SIGKILL)
        until(lambda: not (folder / "cgroup.procs").read_text(), "the group is empty")
        folder.rmdir()


@fault("a neighbour in the gateway's control group of 64 MB uses all memory, again and again")
def memory_short(stage):
    with control_group(("memory.max", "64M")) as group:
        gateway = stage.start()
        (group / "cgroup.procs").write_text(str(gateway.process.pid))
        # Of two, the kernel is to end the neighbour.
        pathlib.Path(f"/proc/{gateway.process.pid}/oom_score_adj").write_text("-500")
        stage.play(gateway)
        for round in stage.rounds():
            neighbour = stage.program(
                "sh", "-c", f"echo $$ >{group}/cgroup.procs; exec python3 -c 'a=[]\nwhile True: a.append(bytearray(65536))'")
            ended = neighbour.wait()
            round.over()
            round.expect(ended == -signal.SIGKILL, f"the neighbour ended with {ended}, so memory did not run out")
            time.sleep(1)
            round.expect(gateway.process.poll() is None, "it was ended")
        stage.end(gateway, round)


@fault("the state's disk becomes read-only, then full, then well again")
def disk_read_only(stage):
    disk = stage.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], check=True)
    stage.stack.callback(subprocess.run, ["umount", "-l", disk])
    gateway = stage.start("--state", disk / "kept")
    stage.play(gateway)

    def warned():
        return "state-not-kept" in [warning["code"] for warning in gateway.status()["warnings"]]

    def quantum():
        state = disk / "kept/state.json"
        return json.loads(state.read_text()).get("quantum", {}).get("value") if state.exists() else None

    for round in stage.rounds():
        gateway.post("quantum", {"beats": 3})
        until(lambda: quantum() == 3, "the quantum is kept", every=0.05)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        gateway.post("quantum", {"beats": 5})
        until(warned, "it warns of the disk that is read-only", every=0.05)
        subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
        gateway.post("quantum", {"beats": 7})
        until(lambda: quantum() == 7 and not warned(), "the quantum is kept again", every=0.05)
        with contextlib.suppress(OSError), open(disk / "ballast", "wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(4096))
        gateway.post("quantum", {"beats": 6})
        until(warned, "it warns of the full disk", every=0.05)
        round.expect(quantum() == 7, "the old state is not whole")
        (disk / "ballast").unlink()
        gateway.post("quantum", {"beats": 8})
        round.over()
        until(lambda: quantum() == 8 and not warned(), "the quantum is kept at last", every=0.05)
        left = sorted(path.name for path in (disk / "kept").iterdir() if path.suffix != ".lock")
        round.expect(left == ["state.json"], f"the folder holds {left}")


@fault("the state's disk hangs: fsync does not return for 7 s; then once more while the gateway is ended", within=2)
def disk_hangs(stage):
    """Recovery is counted from the signal, up to the Stop."""
    for round in stage.rounds():
        gateway, hang = stage.start_hangable("--state", stage.folder / "kept", name=f"gateway {round.number}")
        stage.play(gateway)

        def warned():
            return "state-not-kept" in [warning["code"] for warning in gateway.status()["warnings"]]

        hang.touch()
        gateway.post("quantum", {"beats": 5 + round.number})
        time.sleep(7)
        round.expect(warned(), "it does not warn of the disk")
        hang.unlink()
        until(lambda: not warned(), "the warning ends", every=0.05)
        hang.touch()
        gateway.post("quantum", {"beats": 13 + round.number})
        time.sleep(1)
        stage.leave(gateway, round)
        round.over()
        gateway.process.send_signal(signal.SIGTERM)
        round.recovered = stage.untouched.wait("stop", round.ended)
        round.expect(gateway.process.wait() == 0, "it did not end in order")
        hang.unlink()


@fault("the state's folder holds nonsense of 6 kinds at the start", times=6)
def state_damaged(stage):
    kinds = (b"", b"\0" * 4096, b'{"version": 99, "link": false}', b'{"version":1,"tempo":1e999}', b"[" * 10_000, None)
    for round in stage.rounds():
        folder = stage.folder / f"state {round.number}"
        folder.mkdir()
        contents = kinds[round.number % len(kinds)]
        if contents is None:
            (folder / "state.json/inside").mkdir(parents=True)
        else:
            (folder / "state.json").write_bytes(contents)
        gateway = stage.start("--state", folder, name=f"gateway {round.number}")
        stage.play(gateway)
        stage.end(gateway, round)
        round.expect((folder / "state.json").is_file(), "the new state is not kept")


def hold(seconds):
    """Keeps the processor for a time, at a higher priority than any thread of the gateway."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(95))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def unlimited(stage):
    """Lets real-time threads use the whole processor, until the fault ends."""
    limit = pathlib.Path("/proc/sys/kernel/sched_rt_runtime_us")
    stage.stack.callback(limit.write_text, limit.read_text())
    limit.write_text("-1")


@fault("a program of higher priority keeps the output thread from the processor for 4 ms, 50 times")
def starved_briefly(stage):
    """The queue steps in, so that nothing is lost and nothing late."""
    unlimited(stage)
    gateway = stage.start()
    stage.play(gateway)
    for _ in stage.rounds():
        for _ in range(50):
            hold(0.004)
            time.sleep(0.0413)


@fault("a program of higher priority keeps the output thread from the processor for 3 s", within=AT_A_BAR)
def starved(stage):
    unlimited(stage)
    gateway = stage.start()
    stage.play(gateway)
    first = next(tick for tick in stage.untouched.ticks if tick.place == 0)
    for round in stage.rounds():
        stage.look(round)
        hold(3 + 0.013 * round.number)
        round.over()
        time.sleep(2 * BAR)
        settle(stage, round, first)


@fault("two gateways of two users in one session; the second is killed and started again")
def two_users(stage):
    device = stage.card()
    for folder in ("one", "two"):
        (stage.folder / folder).mkdir(mode=0o777)
        (stage.folder / folder).chmod(0o777)

    def user(number):
        return ["setpriv", f"--reuid={number}", f"--regid={number}", "--groups", "29"]

    stage.official()
    stage.start("--tempo-range", "20-999", link=True, name="one", before=user(1001))
    for round in stage.rounds():
        second = stage.start(
            link=True, name="two", device="VirMIDI 1-0", beside=True, port=8809, before=user(1002))
        second.wait_status(lambda status: status["link"]["peers"] == 2, "it counts the other two")
        since = raw_microseconds()
        time.sleep(3)
        found = heard(device, since, INTERVAL)
        round.expect(not found.lost and not found.doubled and found.worst < ON_TIME, f"the second user's clock: {found}")
        stage.look(round)
        second.kill()
        time.sleep(1)


@fault("63 outputs, no HOME, and 1 GB of address space", times=1)
def narrow(stage):
    words = [word for number in range(62) for word in ("--output", f"virtual:V{number}")]
    for round in stage.rounds():
        gateway = stage.start(*words, before=["env", "-u", "HOME", "prlimit", f"--as={1 << 30}", "--"])
        stage.play(gateway, seconds=3)
        round.expect(len(gateway.status()["outputs"]) == 63, "not all outputs are there")
