"""In the lab: visits candidate after candidate, and writes down when each tick reached a subscriber.

    visits.py FOLDER MODEL SEED ROUNDS SECONDS STAY CANDIDATE,… LOAD,…

One line of JSON per block goes to FOLDER/MODEL.jsonl; it ends early, between two blocks, once FOLDER/enough exists.
What that file holds already, from a run that was cut short, is not recorded again.
All times are microseconds of Link's host time. Nothing is judged here.
"""

import contextlib
import json
import os
import pathlib
import random
import sys
import tempfile
import time

import lab_paths  # noqa: F401
import loads
import plan
from candidates import CANDIDATES
from framed_observer import FramedObserver
from processes import Programs
from rig.clocks import raw_microseconds
from rig.peer import Peer
from rig.wait import until

FOUNDING = 1.5  # seconds a new Link peer needs until it has settled for a session of its own
SETTLING = 2.0  # after a candidate's first tick
WARMING = 0.4  # of a load, until the block begins


@contextlib.contextmanager
def first_in_line():
    """Lets the bench end each block on time, whatever the load; it sleeps all the while. Children do not inherit it."""
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(99))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def record_blocks(visit, observer, seconds, is_enough):
    """One block per load, until it is enough; returns (load, from, to) for each."""
    marks = []
    for load in visit.loads:
        if is_enough():
            break
        with first_in_line(), loads.running(load):
            time.sleep(WARMING)
            start = raw_microseconds()
            time.sleep(visit.length(load, seconds))
            marks.append((load, start, raw_microseconds()))
        observer.read()
        time.sleep(0.3)
    return marks


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


def carry_out(visit, seconds, draw, is_enough):
    """Starts one candidate, records its blocks, ends it; returns the blocks."""
    candidate = CANDIDATES[visit.candidate]
    observer = FramedObserver()
    try:
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            peer = stack.enter_context(Peer(visit.tempo)) if candidate.LINK else None
            # The phase between this start and the kernel's timers differs from visit to visit.
            time.sleep(FOUNDING + draw.random())
            with Programs(folder) as programs:
                asked = candidate.start(programs, visit.tempo, observer)
                programs.preload()
                if visit.candidate != "null":
                    until(lambda: observer.read() or observer.stamps, 60, f"a tick; output: {programs.output}", 0.1)
                if peer:
                    until(lambda: peer.peers >= 1, 60, f"it joins the session; output: {programs.output}", 0.1)
                time.sleep(SETTLING)
                marks = record_blocks(visit, observer, seconds, is_enough)
                programs.check()
                grid = session_grid(peer, visit.tempo) if peer else None
            ticks = ticks_seen(visit, observer, programs)
    finally:
        observer.close()
    return [
        {"candidate": visit.candidate, "load": load, "tempo": asked, "round": visit.round, "from": start, "to": end,
         "grid": grid, "ticks": [round(at, 3) for at in ticks if start <= at < end]}
        for load, start, end in marks]


def main(folder, model, seed, count, seconds, stay, names, loads_wanted):
    folder = pathlib.Path(folder)
    loads.rehearse()
    draw = random.Random(f"{seed} {model} phases")
    names, wanted = names.split(","), loads_wanted.split(",")
    is_enough, path = (folder / "enough").exists, folder / f"{model}.jsonl"
    recorded = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    with path.open("a", encoding="utf-8") as results:
        for visits in plan.rounds(names, wanted, model, seed, int(count), int(stay)):
            for visit in visits:
                if is_enough():
                    return
                if not (visit := plan.left(visit, recorded)):
                    continue
                begun = time.monotonic()
                try:
                    blocks = carry_out(visit, float(seconds), draw, is_enough)
                except Exception as error:  # noqa: BLE001 - one candidate's trouble must not cost the others' figures
                    blocks = [{"candidate": visit.candidate, "tempo": visit.tempo, "round": visit.round,
                               "failed": f"{error}"}]
                for block in blocks:
                    results.write(json.dumps({**block, "model": model}) + "\n")
                results.flush()
                ticks = sum(len(block.get("ticks", ())) for block in blocks)
                trouble = "".join(block.get("failed", "") for block in blocks)
                print(f"{model} {visit.round} {visit.candidate} {visit.tempo:g} BPM: {ticks} ticks in "
                      f"{time.monotonic() - begun:.0f} guest seconds {trouble}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
