#!/usr/bin/python3
"""Measures what Tactus weighs on this machine: its source, its executable, its memory, and how soon a command is answered.

    Tests/in-namespace Benchmarks/sizes.py   of the executable that TACTUS in the environment names, as `make sizes` has it
    Benchmarks/sizes.py --build              how long a clean clone takes to build; some minutes

The gateway has eight outputs to FIFOs, so it needs no sequencer.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PROJECT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "Tests/Acceptance"))

from rig.gateway import TACTUS, Gateway, environment  # noqa: E402
from rig.rawline import RawLine  # noqa: E402

OUTPUTS = 8
RUNS = 51


def show(what, figure):
    print(f"{what:44}{figure}", flush=True)


def build():
    """Seconds that a release build takes from a clean clone, and the processor time in it."""
    with tempfile.TemporaryDirectory() as folder:
        clone = f"{folder}/tactus"
        subprocess.run(["git", "clone", "--quiet", PROJECT, clone], check=True)
        before, began = os.times(), time.monotonic()
        subprocess.run(["make", "build"], cwd=clone, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        took, after = time.monotonic() - began, os.times()
    return took, after.children_user + after.children_system - before.children_user - before.children_system


def source():
    """Lines of the source by target, the largest first: all, and those that are neither blank nor only a comment."""
    found = []
    for target in sorted((PROJECT / "Sources").iterdir()):
        lines = [line.strip() for path in target.rglob("*") if path.suffix in (".swift", ".c", ".h")
                 for line in path.read_text().splitlines()]
        found.append((len(lines), sum(bool(line) and not line.startswith(("//", "/*", "*")) for line in lines), target.name))
    return sorted(found, reverse=True)


def stripped():
    """The executable's size without symbols, in MB."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(TACTUS, folder)
        subprocess.run(["strip", copy], check=True)
        return os.path.getsize(copy) / 1e6


def resident(gateway):
    """Memory that the gateway occupies now, in MB of 1024 KB."""
    lines = pathlib.Path(f"/proc/{gateway.process.pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields["VmRSS"].split()[0]) / 1024


def status_time(folder):
    """How long one `tactus status` takes, in milliseconds."""
    began = time.perf_counter()
    subprocess.run([TACTUS, "status"], env=environment(folder), stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - began) * 1_000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", action="store_true", help="build a clean clone, and measure nothing else")
    options = parser.parse_args()
    if options.build:
        took, processor = build()
        show("release build of a clean clone", f"{took:.0f} s, {processor:.0f} s of processor time")
        return
    found = source()
    for total, code, target in [*found, (sum(row[0] for row in found), sum(row[1] for row in found), "all targets")]:
        show(f"lines of {target}", f"{total}, {code} of them code")
    show("executable, stripped", f"{stripped():.1f} MB")
    with tempfile.TemporaryDirectory() as folder:
        lines = [RawLine(f"{folder}/line{number}") for number in range(OUTPUTS)]
        with Gateway("--play", *(f"--output=raw:{line.path}" for line in lines), folder=f"{folder}/home") as gateway:
            for line in lines:
                line.wait_for(0xF8)
            times = sorted(status_time(folder) for _ in range(RUNS))
            show(f"resident with {OUTPUTS} outputs", f"{resident(gateway):.1f} MB")
            show("tactus status", f"{statistics.median(times):.1f} ms, the quickest {times[0]:.1f} ms, of {RUNS}")


if __name__ == "__main__":
    main()
