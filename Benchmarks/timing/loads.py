"""What keeps the guest busy while ticks are recorded."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import time

# Debian's default is `always`. Gathering pages into huge ones is work of the kernel's own, so an idle guest has it off.
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")

BUSY = "while :; do :; done"
COPY = "while :; do dd if=/dev/zero of=/dev/null bs=32M count=4 2>/dev/null; done"
# A program in the guest's own memory: starting one of the host's would wait for the host, and waiting is idle time.
FORK = "while :; do (:); /tmp/busybox true; done"

LOADS = {
    "idle": [],
    "cpu": [BUSY, BUSY],
    "copy": [COPY, COPY, COPY],
    "fork": [FORK, FORK],
    "network": [
        "iperf3 --server --port 5202", "iperf3 --server --port 5203",
        "sleep 0.1; iperf3 --client 127.0.0.1 --port 5202 --udp --bitrate 0 --length 256 --time 3600",
        "sleep 0.1; iperf3 --client 127.0.0.1 --port 5203 --time 3600",
    ],
}
MEANING = {
    "idle": "nothing else runs",
    "cpu": "two busy loops",
    "copy": "three times `dd if=/dev/zero of=/dev/null bs=32M`",
    "fork": "two loops that fork, and start a small program",
    "network": "iperf3 over the loopback: one TCP stream, one of 256-byte UDP datagrams, as fast as they go",
}


@contextlib.contextmanager
def running(name):
    """Runs one load's programs, at ordinary priority, for as long as the block lasts."""
    HUGE_PAGES.write_text("never" if name == "idle" else "always")
    processes = [
        subprocess.Popen(
            ["sh", "-c", script], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        for script in LOADS[name]]
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


def rehearse():
    """Runs every load once, so that no later one waits for the host's files."""
    shutil.copy("/bin/busybox", "/tmp/busybox")
    for name in LOADS:
        with running(name):
            time.sleep(0.5)
