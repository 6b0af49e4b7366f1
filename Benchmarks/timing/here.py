"""Measures how steady the clock is on the computer it runs on, and prints a page that can be sent in.

    here.py

Needs the ALSA sequencer and the module snd-virmidi, whose raw port stamps what arrives. Drives no other port, and joins
no Link session. Takes about ten minutes. Says what is missing if it cannot measure.
"""

import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import lab_paths
import plan
from candidates import INSTRUMENTS
from framed_observer import virtual_card
from report import written
from results import Results
from rig.compiler import compile_c
from rig.gateway import TACTUS
from rig.labs import compiled
from rig.loads import LOADS
from visits import Bench

SEQUENCER = "/dev/snd/seq"
LOADED = ("idle", "cpu", "copy", "fork", "mixed")
COMPANY = {"this computer, alone": 0, "this computer, beside a queue of 6250 Hz": 6250}
TEMPO = 133.7


def obstacle():
    """Why this computer cannot be measured, and what helps; None if it can."""
    if not os.path.exists(SEQUENCER):
        return (f"there is no {SEQUENCER}: this kernel, or this container, has no ALSA sequencer, so nothing can be "
                "measured here. On a computer of your own: `sudo modprobe -a snd-seq snd-virmidi`; a container needs "
                "the devices of its host. `make bench` measures simulated machines instead")
    if not os.access(SEQUENCER, os.R_OK | os.W_OK):
        return f"{SEQUENCER} is not for you: `sudo usermod --append --groups audio $USER`, then log in again"
    card = virtual_card()
    if card is None:
        return "there is no virtual MIDI port, whose arrivals the kernel stamps: `sudo modprobe snd-virmidi`"
    if not os.access(f"/dev/snd/midiC{card}D0", os.R_OK):
        return f"/dev/snd/midiC{card}D0 is not for you: `sudo usermod --append --groups audio $USER`, then log in again"
    return None


def line(path, pattern=r"(.*)"):
    """The first match in a file of the system; None without one."""
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(), re.M)
    except OSError:
        return None
    return found and found[1].strip()


def computer():
    """What may matter of this computer, as a list; nothing that names it or its owner."""
    version = subprocess.run([TACTUS, "--version"], capture_output=True, text=True).stdout.strip()
    facts = {
        "Tactus": version, "system": line("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)'),
        "kernel": f"{platform.release()}, {platform.version()}",
        "preemption asked for": line("/proc/cmdline", r"preempt=(\S+)"),
        "board": line("/proc/device-tree/model", r"([^\0]*)"),
        "processor": line("/proc/cpuinfo", r"^model name\s*: (.*)") or platform.machine(),
        "processors": os.cpu_count(),
        "governor": line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "real-time limit": line("/proc/self/limits", r"^Max realtime priority +(\S+)"),
        "user": "root" if os.geteuid() == 0 else "not root",
        "load before": f"{os.getloadavg()[0]:.2f}",
        "queues that others run": line("/proc/asound/seq/queues", r"(?s)(.*\S)") or "none",
    }
    return "\n".join(f"* {name}: {value}" for name, value in facts.items() if value is not None)


def measured():
    """The blocks of all visits."""
    results = Results({"loads": {name: LOADS[name].meaning for name in LOADED}})
    for machine, company in COMPANY.items():
        bench = Bench("here", machine, company)
        # The lab has one processor; here each gets as much to do as that one has.
        bench.loads = {name: replace(load, scripts=load.scripts * os.cpu_count()) for name, load in LOADS.items()}
        for visit in plan.visits(INSTRUMENTS, TEMPO, LOADED, plan.FEWEST + 20, bench.draw):
            for block in bench.blocks(visit):
                results.take({**block, "machine": machine})
    return results


def main():
    if why := obstacle():
        sys.exit(f"bench-here: {why}.")
    facts, begun = computer(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        compile_c(lab_paths.HERE / "sleeper.c", f"{folder}/sleeper", "-O2")
        os.environ["SLEEPER"] = f"{folder}/sleeper"
        os.environ["ANOTHER_QUEUE"] = str(compiled("another_queue.c", folder))
        results = measured()
    by = (f"Written by `make bench-here` in {(time.monotonic() - begun) / 60:.0f} minutes, for the maintainers: what "
          f"is seen on a real computer counts for more than any simulation.\n\n{facts}")
    print(written(results, by, "All figures are microseconds of this computer's own time, up to a virtual port."))


if __name__ == "__main__":
    main()
