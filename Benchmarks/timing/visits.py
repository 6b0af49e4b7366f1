"""In the lab: visits candidate after candidate, and writes down when each tick reached a subscriber.

    visits.py FOLDER MACHINE

FOLDER/MACHINE.json has what is to be done. One line of JSON per block goes to FOLDER/MACHINE.jsonl; it ends early,
between two blocks, once FOLDER/enough exists. All times are microseconds of Link's host time. Nothing is judged here.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import random
import sys
import tempfile
import time
from types import SimpleNamespace

import lab_paths  # noqa: F401
from candidates import CANDIDATES, empty
from framed_observer import FramedObserver
from processes import Programs
from rig.clocks import raw_microseconds
from rig.guest import IN_LAB
from rig.loads import LOADS, drawn, running
from rig.sequencer import another_queue
from rig.wait import until

FOUNDING = 1.5  # seconds a new Link peer needs until it has settled for a session of its own
SETTLING = 2.0  # after a candidate's first tick
WARMING = 0.4  # of a load, until the block begins
REHEARSING = 2.0  # of a load, so that none waits for the host's files later
# Debian's default is `always`. Gathering pages into huge ones is work of the kernel's own, so an idle guest has it off.
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
PR_SET_THP_DISABLE = 41


def forgo_huge_pages(forgone):
    """Says whether the kernel must leave this process's pages alone; children would inherit it."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_THP_DISABLE, int(forgone), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_THP_DISABLE) failed")


@contextlib.contextmanager
def busy(scripts):
    """A load, or none, with huge pages as on a machine in use; outside of the lab they stay as they are."""
    if IN_LAB:
        HUGE_PAGES.write_text("always" if scripts else "never")
    with running(scripts):
        # Gathering this process's own pages would hold up interrupts for a millisecond or two, once in a boot, and this
        # process for seconds.
        forgo_huge_pages(True)
        try:
            yield
        finally:
            forgo_huge_pages(False)


@contextlib.contextmanager
def first_in_line():
    """Lets the bench end each block on time, whatever the load; it sleeps all the while. Children do not inherit it."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(99))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class Bench:
    """Everything that is the same for all visits on one machine."""

    def __init__(self, seed, machine, company=0, is_enough=lambda: False):
        self.draw = random.Random(f"{seed} {machine} phases")
        self.loads = {**LOADS, "drawn": drawn(seed)}
        self.company = company
        self.is_enough = is_enough

    def rehearse(self, names):
        for name in names:
            with busy(self.loads[name].scripts):
                time.sleep(REHEARSING)

    def record_blocks(self, visit, observer):
        """One block per load, until it is enough; returns (load, from, to) for each."""
        marks = []
        for load, seconds in visit.seconds.items():
            if self.is_enough():
                break
            with first_in_line(), busy(self.loads[load].scripts):
                time.sleep(WARMING)
                start = raw_microseconds()
                time.sleep(seconds)
                marks.append((load, start, raw_microseconds()))
            observer.read()
            time.sleep(0.3)
        return marks

    def carry_out(self, visit):
        """Starts one candidate, records its blocks, ends it; returns the blocks."""
        candidate = CANDIDATES[visit.candidate]
        observer = FramedObserver()
        try:
            with contextlib.ExitStack() as stack:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                if self.company and candidate is not empty:
                    stack.enter_context(another_queue(self.company))
                peer = stack.enter_context(founder(visit.tempo)) if candidate.LINK else None
                # The phase between this start and the kernel's timers differs from visit to visit.
                time.sleep(self.draw.random() + (FOUNDING if peer else 0))
                with Programs(folder) as programs:
                    asked = candidate.start(programs, visit.tempo, observer)
                    programs.preload()
                    if visit.candidate != "null":
                        until(lambda: observer.read() or observer.stamps, f"a tick; output: {programs.output}", 0.1)
                    if peer:
                        until(lambda: peer.peers >= 1, f"it joins the session; output: {programs.output}", 0.1)
                    time.sleep(SETTLING)
                    marks = self.record_blocks(visit, observer)
                    programs.check()
                    grid = session_grid(peer, visit.tempo) if peer else None
                ticks = ticks_seen(visit, observer, programs)
        finally:
            observer.close()
        return [
            {"load": load, "asked": asked, "grid": grid, "ticks": [round(at, 3) for at in ticks if start <= at < end]}
            for load, start, end in marks]

    def blocks(self, visit):
        """The blocks of a visit; if it fails, what was in the way, since that must not cost the others' figures."""
        begun = time.monotonic()
        try:
            blocks = self.carry_out(visit)
        except Exception as error:  # noqa: BLE001
            blocks = [{"load": next(iter(visit.seconds)), "failed": f"{error}"}]
        ticks = sum(len(block.get("ticks", ())) for block in blocks)
        trouble = "".join(block.get("failed", "") for block in blocks)
        print(f"{visit.candidate} {visit.tempo:g} BPM: {ticks} ticks in {time.monotonic() - begun:.0f} of its seconds "
              f"{trouble}", file=sys.stderr, flush=True)
        return [{"candidate": visit.candidate, "tempo": visit.tempo, **block} for block in blocks]


def founder(tempo):
    """An official Link peer; `make bench-here` has none, and not its module either."""
    from rig.peer import Peer

    return Peer(tempo)


def session_grid(peer, tempo):
    """The founder's own beats: when one of them fell, and how long each lasts; fails if somebody moved the tempo."""
    interval = round(60e6 / tempo)
    if round(60e6 / peer.tempo) != interval:
        raise RuntimeError(f"the session's tempo went from {tempo} to {peer.tempo} BPM")
    return {"beat": peer.time(round(peer.beat(peer.now()))), "interval": interval}


def ticks_seen(visit, observer, programs):
    """All ticks of a visit, in their order; the null instrument wrote down its own."""
    if visit.candidate == "null":
        return [int(line) / 1000 for line in programs.output_lines() if line.isdigit()]
    return [at for kind, at in observer.events() if kind == "clock"]


def main(folder, name):
    folder = pathlib.Path(folder)
    job = json.loads((folder / f"{name}.json").read_text())
    visits = [SimpleNamespace(**words) for words in job["visits"]]
    bench = Bench(job["seed"], name, job["company"], (folder / "enough").exists)
    bench.rehearse(dict.fromkeys(load for visit in visits for load in visit.seconds))
    with (folder / f"{name}.jsonl").open("a", encoding="utf-8") as results:
        for visit in visits:
            if bench.is_enough():
                break
            for block in bench.blocks(visit):
                results.write(json.dumps({**block, "machine": name}) + "\n")
            results.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
