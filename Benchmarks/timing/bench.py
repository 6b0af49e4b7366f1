"""Measures how steady the clock is on twelve simulated machines, and writes Benchmarks/timing.md.

    bench.py [--only WORD]

A machine is a kernel, how long an instruction takes, and what other program's queue runs. On each, Tactus is measured
beside itself with `--dispatch direct`, a plain real-time thread, which also says what the machine allows. TACTUS in the
environment names the executable.
"""

import argparse
import concurrent.futures
import itertools
import pathlib
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "Tests/Acceptance"))

from rig.figures import PER_BEAT, quantile  # noqa: E402
from rig.gateway import PROJECT, TACTUS  # noqa: E402
from rig.labs import KERNELS, Boot, record  # noqa: E402

PAGE = PROJECT / "Benchmarks/timing.md"
# Merging memory into huge pages stops the kernel for two milliseconds, whatever a program does.
KERNEL = ("--kernel-args", "preempt=voluntary transparent_hugepage=never")
# What is wanted of 99 % of ticks, in microseconds; under load a third of plain direct dispatch, if that is more.
ALONE, BESIDE, LOADED = 20, 200, 300


@dataclass(frozen=True)
class Machine:
    kernel: str
    nanoseconds: int  # for one instruction
    hertz: int  # of the other program's queue; 0 is none

    @property
    def name(self):
        company = f"beside {self.hertz} Hz" if self.hertz else "alone"
        return f"{self.kernel}, {self.nanoseconds} ns, {company}"

    def recorded(self):
        options = ("--kernel", self.kernel, "--nanoseconds", self.nanoseconds, *KERNEL)
        boot = Boot({"ticks": (HERE / "steadiness.py", self.hertz)}, options, programs={"ANOTHER_QUEUE": "another_queue.c"})
        return record(boot)["ticks"]


MACHINES = [Machine(*row) for row in itertools.product(KERNELS, (1, 4), (0, 1000, 6250))]


@dataclass(frozen=True)
class Figures:
    """How far ticks are from their places, in microseconds, and how many are missing or there twice."""

    most: float  # of 99 in 100
    farthest: float
    bias: float
    wrong: int


def figures(ticks, beat, tempo):
    """The figures of ticks that follow one another, by a beat of the session and its tempo."""
    interval = 60e6 / tempo / PER_BEAT
    places = [(at - beat) / interval for at in ticks]
    # A tick that is late by more than half an interval is still the one that follows.
    first = round(statistics.median(place - number for number, place in enumerate(places)))
    errors = [(place - number - first) * interval for number, place in enumerate(places)]
    wrong = abs(round(places[-1] - places[0]) - (len(ticks) - 1))
    return Figures(
        quantile([abs(error) for error in errors], 0.99), max(abs(error) for error in errors),
        statistics.fmean(errors), wrong)


def wanted(machine, state, direct):
    """The most that 99 % of ticks may be off, with plain direct dispatch's figures."""
    if state == "load":
        return max(LOADED, direct.most / 3)
    return BESIDE if machine.hertz else ALONE


def row(machine, records):
    """A row of the table, and whether all that is wanted is kept."""
    cells, isKept = [], True
    for state, tempo in itertools.product(("idle", "load"), sorted({each["tempo"] for each in records})):
        ours, direct = (
            figures(each[state], each["beat"], tempo) for way in ("auto", "direct") for each in records
            if (each["tempo"], each["way"]) == (tempo, way))
        most = wanted(machine, state, direct)
        isGood = ours.most <= most and ours.wrong == 0
        isKept = isKept and isGood
        lost = f", **{ours.wrong} lost or doubled**" if ours.wrong else ""
        cells.append(f"{'' if isGood else '**'}{ours.most:.0f}{'' if isGood else '**'} of {most:.0f} / {ours.farthest:.0f}"
                     f" / {ours.bias:+.0f} ({direct.most:.0f}){lost}")
    return f"| {machine.name} | {' | '.join(cells)} |", isKept


def page(rows, minutes):
    version = subprocess.run([TACTUS, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    text = "\n".join(rows)
    return f"""# How steady the clock is

Written by `make bench` in {minutes:.0f} minutes, by Tactus {version}. Twelve simulated machines: two kernels of Debian's
(`stock` of 12, `trixie` of 13), an instruction of 1 or 4 ns, and no other program with a sequencer queue, or one whose
timer has 1000 or 6250 Hz. An official Link peer founds a session; ticks are stamped by the kernel where they leave the
sequencer, and compared with the session's beats.

Each cell says, in microseconds: **how far 99 % of ticks are off, of what is wanted** / the farthest / how late they are on
average (99 % of plain direct dispatch, `--dispatch direct`). Bold is what is missed. Idle: 400 ticks after 30 s. Under
load: 400 ticks beside `find` over /usr/share twice, `head` into `sha1sum`, a Python that writes 60 MB again and again, `dd`
of 8 MB blocks and a loop of `/bin/true`.

| machine | idle, 97.3 BPM | idle, 133.7 BPM | load, 97.3 BPM | load, 133.7 BPM |
|---|---:|---:|---:|---:|
{text}

All times are **instruction-time in the lab**: the guest's clock counts instructions and skips idle time. That shows how
programs and kernel are built: timer grids, priorities, the number of instructions between waking and delivery. It is not
the latency of a real device: there are no caches, no sleeping processor cores, no second processor and no USB.

Wanted is what can be heard, with a margin: 20 us alone, 0.2 ms beside another queue, 0.3 ms under load or a third of plain
direct dispatch, whichever is more. A byte on a DIN cable takes 320 us. The farthest tick is not judged: single ticks of 1
to 4 ms are the kernel's own timer, held up, which no program can help.
"""


def main():
    parser = argparse.ArgumentParser(prog="bench", description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--only", default="", metavar="WORD", help="machines whose names contain this; writes no page")
    chosen = [machine for machine in MACHINES if parser.parse_args().only in machine.name]
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = []
        for machine, records in zip(chosen, pool.map(Machine.recorded, chosen)):
            rows.append(row(machine, records))
            print(rows[-1][0], flush=True)
    if chosen == MACHINES:
        PAGE.write_text(page([text for text, _ in rows], (time.monotonic() - began) / 60))
    sys.exit(not all(isKept for _, isKept in rows))


if __name__ == "__main__":
    main()
