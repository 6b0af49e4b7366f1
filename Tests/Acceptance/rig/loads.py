"""Loads that keep a machine busy while its clock is measured: shell scripts, each of which runs until it is killed."""

import contextlib
import os
import random
import signal
import subprocess
from dataclasses import dataclass

BUSY = "while :; do :; done"
START = "while :; do /bin/true; done"
FIND = "while :; do find /usr/share; done"


def copy(megabytes):
    """Copies blocks; a kernel without full preemption runs nothing else while it copies one."""
    return f"while :; do dd if=/dev/zero of=/dev/null bs={megabytes}M count=40; done"


def digest(megabytes):
    return f"while :; do head -c {megabytes}M /dev/zero | sha1sum; done"


def touch(megabytes):
    """Takes memory, writes all of it and gives it back, again and again."""
    return f"exec python3 -c 'while True: bytearray({megabytes} << 20)'"


@dataclass(frozen=True)
class Load:
    meaning: str
    scripts: tuple = ()


LOADS = {
    "idle": Load("nothing else runs"),
    "cpu": Load("two busy loops", (BUSY,) * 2),
    "copy": Load("three times `dd if=/dev/zero of=/dev/null bs=32M`", (copy(32),) * 3),
    "fork": Load("two loops that fork, and start a small program", ("while :; do (:); /bin/true; done",) * 2),
    "network": Load(
        "iperf3 over the loopback: one TCP stream, one of 256-byte UDP datagrams, as fast as they go",
        ("iperf3 --server --port 5202", "iperf3 --server --port 5203",
         "sleep 0.1; iperf3 --client 127.0.0.1 --port 5202 --udp --bitrate 0 --length 256 --time 3600",
         "sleep 0.1; iperf3 --client 127.0.0.1 --port 5203 --time 3600")),
    "heavy": Load("copy, cpu and a loop of `/bin/true` together", (*(copy(32),) * 3, *(BUSY,) * 2, START)),
    "mixed": Load(
        "`find` over /usr/share twice, `head` into `sha1sum`, a Python that writes 60 MB again and again, `dd` of 8 MB "
        "blocks, and a loop of `/bin/true`",
        (FIND, FIND, digest(64), touch(60), copy(8), START)),
}


def drawn(seed):
    """A load that nobody could fit a program to: two to four scripts, and their sizes, drawn from the seed."""
    draw = random.Random(f"{seed} load")
    scripts = [BUSY, START, FIND, *(make(draw.choice((1, 4, 16, 64))) for make in (copy, digest, touch))]
    chosen = tuple(draw.sample(scripts, draw.randint(2, 4)))
    return Load("drawn from the seed: " + ", ".join(f"`{script}`" for script in chosen), chosen)


@contextlib.contextmanager
def running(scripts):
    """Runs a load's scripts, started at ordinary priority, inside a `with` block. Fails if one ends by itself."""
    processes = [
        subprocess.Popen(
            ["sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        for script in scripts]
    try:
        yield
        ended = [process.args[-1] for process in processes if process.poll() is not None]
        if ended:
            raise RuntimeError(f"the load ended by itself: {ended}")
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)
        for process in processes:
            process.wait()
