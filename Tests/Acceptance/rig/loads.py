"""Loads that keep a machine busy while its clock is measured: shell scripts, each of which runs until it is killed."""

import contextlib
import os
import signal
import subprocess

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


# A load's scripts by its name.
LOADS = {
    # Copies, busy loops and a loop of `/bin/true`.
    "heavy": (*(copy(32),) * 3, *(BUSY,) * 2, START),
    # Files, pipes, memory, copies and small programs.
    "mixed": (FIND, FIND, digest(64), touch(60), copy(8), START),
}


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
