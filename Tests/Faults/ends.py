"""Faults that end a gateway, freeze it, or keep it from starting."""

import json
import os
import re
import signal
import subprocess
import time

from judge import ON_TIME
from rig.clocks import raw_microseconds
from rig.gateway import Gateway, environment, request, run_tactus
from rig.guest import preload
from rig.wait import until
from stage import AT_A_BAR, BAR, INTERVAL, fault


def kept(folder):
    path = folder / "state.json"
    return path.exists() and json.loads(path.read_text()).get("playing")


@fault("killed by SIGKILL while a session plays, and started again after 1 s", within=BAR + 1)
def killed(stage):
    """Recovery is counted from the second start, up to the Continue on a bar."""
    peer = stage.official(sync=True)
    state = stage.folder / "state"
    for round in stage.rounds():
        options = ("--start-stop-sync", "--state", state)
        gateway = stage.start(*options, link=True, name=f"killed {round.number}")
        top = peer.play()
        until(lambda: kept(state), "what plays is kept", every=0.05)
        time.sleep(1)
        stage.leave(gateway, round)
        gateway.kill()
        time.sleep(1)
        round.over()
        again = stage.start(*options, link=True, name=f"again {round.number}")
        round.recovered = stage.untouched.wait("continue", round.ended)
        time.sleep(1)
        first = next(tick for tick in stage.untouched.ticks if tick.at > round.recovered)
        next_run = [name for name, at, _ in stage.untouched.events if at >= round.ended]
        round.expect(next_run[0] == "stop", "the machine is not stopped before it hears a clock")
        round.expect(peer.playing and abs(peer.tempo - 120) < 0.01, "the session is not left alone")
        interval = 60e6 / peer.tempo / 24
        place = (first.at - top) / interval
        round.expect(
            first.place is not None and first.place % 96 == 0 and abs(first.place - place) * interval < ON_TIME,
            f"it goes on at tick {first.place}, not on the bar at tick {place:.2f}")
        stage.end(again, round)
        peer.stop()
        time.sleep(0.5)


@fault("crashes by SIGSEGV, SIGABRT, SIGILL, SIGTRAP, SIGBUS, SIGFPE and SIGSYS while a machine plays", within=0.25, times=7)
def crashes(stage):
    signals = (
        signal.SIGSEGV, signal.SIGABRT, signal.SIGILL, signal.SIGTRAP, signal.SIGBUS, signal.SIGFPE, signal.SIGSYS)
    os.environ["SWIFT_BACKTRACE"] = "enable=no"
    stage.stack.callback(os.environ.pop, "SWIFT_BACKTRACE")
    for round in stage.rounds():
        number = signals[round.number % len(signals)]
        gateway = stage.start(name=f"gateway {round.number}", passing=("SWIFT_BACKTRACE",))
        stopped_by(stage, round, gateway, number, -number)


@fault("ended by SIGTERM, SIGQUIT, SIGUSR1, SIGALRM, SIGXCPU and a real-time signal while a machine plays", within=0.1, times=6)
def signals(stage):
    numbers = (signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM, signal.SIGXCPU, signal.SIGRTMIN + 7)
    for round in stage.rounds():
        gateway = stage.start(name=f"gateway {round.number}")
        stopped_by(stage, round, gateway, numbers[round.number % len(numbers)], 0)


def stopped_by(stage, round, gateway, number, code):
    """Ends a gateway that plays; its machine must be stopped, and nothing come after that."""
    stage.play(gateway)
    stage.leave(gateway, round)
    round.over()
    gateway.process.send_signal(number)
    ended = gateway.process.wait()
    round.expect(ended == code, f"{number}: it ended with {ended}")
    round.recovered = stage.untouched.wait("stop", round.ended)
    round.expect(stage.untouched.events[-1][0] == "stop", "Stop is not the last byte")


@fault("the terminal is closed on which it was started", within=0.5)
def terminal_closed(stage):
    for round in stage.rounds():
        outer, inner = os.openpty()
        folder = stage.folder / f"terminal {round.number}"
        folder.mkdir()
        since = raw_microseconds()
        process = subprocess.Popen(
            ["setsid", "--ctty", *Gateway.COMMAND, "run", "--no-link", "--play", "--output", "VirMIDI 0-0"],
            stdin=inner, stdout=inner, stderr=inner, env={**environment(folder), "TERM": "xterm"})
        os.close(inner)
        stage.stack.callback(process.kill)
        until(lambda: {"start", "continue"} & set(stage.untouched.messages(since)), "it plays", every=0.05)
        preload(process.pid)
        time.sleep(1)
        round.over()
        os.close(outer)
        round.expect(process.wait() == 0, "it did not end in order")
        round.recovered = stage.untouched.wait("stop", round.ended)
        stage.judged = float("inf")


@fault("the terminal on which it was started is not read, and filled by its log", within=0.5)
def terminal_unread(stage):
    """All commands are obeyed. Recovery is counted from SIGTERM, up to the Stop."""
    for round in stage.rounds():
        outer, inner = os.openpty()
        stage.stack.callback(os.close, outer)
        folder = stage.folder / f"unread {round.number}"
        profiles = folder / "profiles"
        profiles.mkdir(parents=True)
        process = subprocess.Popen(
            [*Gateway.COMMAND, "run", "--no-link", "--no-clock-port", "--output", "VirMIDI 0-0", "--profiles", profiles],
            stdin=inner, stdout=inner, stderr=inner, start_new_session=True, env={**environment(folder), "TERM": "xterm"})
        os.close(inner)
        stage.stack.callback(process.kill)
        until(answers, "it answers", every=0.05)
        preload(process.pid, "self")
        time.sleep(1)
        stage.judged = raw_microseconds()
        for number in range(60):
            # A reload logs warnings that the one before did not have.
            for path in profiles.iterdir():
                path.unlink()
            for place in range(16):
                (profiles / f"{number % 2}-{place}-{'x' * 200}.yml").touch()
            post("reload")
        post("transport", {"playing": True})
        until(lambda: {"start", "continue"} & set(stage.untouched.messages(round.began)), "it plays", every=0.05)
        time.sleep(1)
        stage.look(round)
        stage.judged = float("inf")
        round.over()
        process.terminate()
        round.recovered = stage.untouched.wait("stop", round.ended)
        round.expect(process.wait() == 0, "it did not end in order")


def post(path, body=None):
    code, answer = request("POST", f"/api/v1/{path}", body or {})
    if not 200 <= code < 300:
        raise RuntimeError(f"POST {path} answered {code}: {answer}")


@fault("its own thread hangs while a machine plays; SIGTERM and SIGINT come, or SIGTERM alone", within=2, times=4)
def signals_in_a_hang(stage):
    for round in stage.rounds():
        gateway, hang = stage.start_hangable(
            "--output", f"raw:{stage.folder}/hung", name=f"gateway {round.number}")
        stage.play(gateway)
        hang.touch()
        until(hang.with_name("hang.stat").exists, "a thread waits", every=0.05)
        stage.leave(gateway, round)
        round.over()
        numbers = (signal.SIGTERM, signal.SIGINT)[:1 + round.number % 2]
        for number in numbers:
            gateway.process.send_signal(number)
        round.recovered = stage.untouched.wait("stop", round.ended)
        ended = gateway.process.wait()
        round.expect(ended in [128 + number for number in numbers], f"it ended with {ended}")
        round.expect(stage.untouched.events[-1][0] == "stop", "Stop is not the last byte")
        hang.unlink()
        hang.with_name("hang.stat").unlink()


@fault("frozen by SIGSTOP for 10 s while the song plays", within=AT_A_BAR)
def frozen(stage):
    """The fault takes the clock away, so that the untouched output is compared only with itself afterwards."""
    gateway = stage.start()
    stage.play(gateway)
    first = next(tick for tick in stage.untouched.ticks if tick.place == 0)
    for round in stage.rounds():
        stage.look(round)
        os.kill(gateway.process.pid, signal.SIGSTOP)
        time.sleep(10 + 0.013 * round.number)
        os.kill(gateway.process.pid, signal.SIGCONT)
        round.over()
        time.sleep(2 * BAR)
        settle(stage, round, first)


def settle(stage, round, first):
    """Finds when the machine was in its place again, and has only what comes later judged."""
    after = [tick for tick in stage.untouched.ticks if tick.at > round.ended]
    wrong = [
        tick.at for tick in after
        if not tick.plays or tick.place is None or abs(tick.at - first.at - tick.place * INTERVAL) > 2000]
    round.recovered = wrong[-1] + INTERVAL if wrong else after[0].at
    round.figures["first tick"] = (after[0].at - round.ended) / 1000
    stage.judged = round.recovered + 1


@fault("300 reloads by SIGHUP, most of them of broken files", times=1)
def reloads(stage):
    config = stage.configuration("outputs: [{ port: VirMIDI 0-0 }]\n")
    gateway = stage.start("--config", config, device=None)
    good = config.read_bytes()
    broken = (b"\0" * 100, b"version: 99\n", b"version: 1\noutputs: 7\n", b"[" * 5000, b"\xff\xfe", b"a: &a [*a, *a]\n",
              good + b"clock: { ofset: 1 }\n")
    for round in stage.rounds():
        for number in range(300):
            config.write_bytes(good if number % 10 == 9 else broken[number % len(broken)])
            gateway.process.send_signal(signal.SIGHUP)
            time.sleep(0.05)
        round.over()
        round.expect([output["connected"] for output in gateway.status()["outputs"]] == [True], "the output has gone")


@fault("limits of descriptors from 5 to 61", times=1)
def few_descriptors(stage):
    for round in stage.rounds():
        refused, worked = [], []
        for limit in range(5, 65, 4):
            line = stage.untouched
            since = raw_microseconds()
            folder = stage.folder / "limited"
            folder.mkdir(exist_ok=True)
            process = subprocess.Popen(
                ["prlimit", f"--nofile={limit}:{limit}", "--", *Gateway.COMMAND, "run", "--no-http", "--no-link",
                 "--no-clock-port", "--output", "VirMIDI 0-0"],
                env=environment(folder), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            until(lambda: process.poll() is not None or any(tick.at > since for tick in line.ticks[-2:]), "it ends or runs")
            process.terminate()
            told = process.communicate()[1]
            (refused if process.returncode == 71 else worked).append(limit)
            round.expect(process.returncode in (0, 71), f"with {limit} it ended with {process.returncode}")
            round.expect(process.returncode == 0 or re.search(r"may need \d+ open files", told), f"with {limit} it said {told[:200]!r}")
        round.expect(refused and worked and max(refused) < min(worked), "it works with fewer, but not with more")
        round.note(f"refused up to {max(refused, default=0)}, with the number that it needs")
        stage.judged = float("inf")


def handles(pid, number):
    """Whether a process blocks, ignores or catches a signal, so that the signal cannot end it."""
    status = open(f"/proc/{pid}/status").read()
    masks = re.findall(r"^Sig(?:Blk|Ign|Cgt):\s*(\w+)", status, re.MULTILINE)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


@fault("standard streams are closed; SIGHUP comes as soon as it is handled", times=1)
def early_hangup(stage):
    for round in stage.rounds():
        folder = stage.folder / "closed"
        folder.mkdir()
        process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *Gateway.COMMAND, "run", "--no-link", "--output", "raw:/none"],
            env=environment(folder))
        stage.stack.callback(process.kill)
        until(lambda: handles(process.pid, signal.SIGHUP), "it handles SIGHUP", every=0.001)
        process.send_signal(signal.SIGHUP)
        until(answers, "it answers", every=0.05)
        streams = [os.readlink(f"/proc/{process.pid}/fd/{stream}") for stream in range(3)]
        round.expect(streams == ["/dev/null"] * 3, f"streams are {streams}")
        process.terminate()
        round.expect(process.wait() == 0, "it did not end in order")
        stage.judged = float("inf")


def answers():
    try:
        return request("GET", "/api/v1/status")[0] == 200
    except OSError:
        return False


@fault("as root: a profile that is a link to a private file, and a token that everyone can read", times=1)
def secrets_exposed(stage):
    for round in stage.rounds():
        secret = stage.folder / "secret"
        secret.write_text("PRIVATE LINE\n")
        secret.chmod(0o600)
        profiles = stage.folder / "profiles"
        profiles.mkdir()
        (profiles / "linked.yaml").symlink_to(secret)
        token = stage.folder / "token"
        token.write_text("short\n")
        token.chmod(0o644)
        gateway = stage.start("--profiles", profiles, "--http-token-file", token, token="short")
        status = gateway.status()
        round.expect("PRIVATE" not in json.dumps(status) + gateway.stderr, "a line of the private file is shown")
        round.expect("weak-token" in [warning["code"] for warning in status["warnings"]], "no warning about the token")
        time.sleep(1)
        stage.end(gateway, round)


@fault("a second run is started beside the first")
def second_run(stage):
    gateway = stage.start()
    stage.play(gateway)
    for round in stage.rounds():
        second = run_tactus("run", "--output", "VirMIDI 0-0")
        round.expect(second.returncode == 71 and str(gateway.process.pid) in second.stderr, f"it said {second.stderr!r}")
        time.sleep(1)


@fault("a second run is started that would send to the same raw line")
def two_writers(stage):
    line = stage.fifo()
    gateway = stage.start("--output", f"raw:{line.line.path}")
    stage.play(gateway)
    for round in stage.rounds():
        round.hit = line
        second = run_tactus("run", "--http", "127.0.0.1:8810", "--output", f"raw:{line.line.path}")
        round.expect(second.returncode == 71 and str(gateway.process.pid) in second.stderr, f"it said {second.stderr!r}")
        time.sleep(1)
