"""What is measured: which program, on which machine, under which loads, at which tempo."""

import random
from dataclasses import dataclass, replace

import lab_machines
from candidates import INSTRUMENTS, PROGRAMS
from lab_machines import PREEMPTION, Machine
from rig.loads import LOADS

TEMPOS = (97.3, 120, 133.7, 174)  # one of them, 120, falls into few places of a millisecond's grid; the others do not
LOADED = (*(name for name in LOADS if name != "idle"), "drawn")
# A largest deviation of fewer ticks than this says nothing.
FEWEST = 500
# An idle guest skips its time, so that more of it costs little; a busy one is executed, instruction by instruction.
LONGER = {"idle": 4}
# Measured idle only, where its bounds are made of the same program's figures.
CONTROL = "again"
SHARES = 3  # The loads are dealt out, so that a machine of `make bench` meets one in three.


@dataclass(frozen=True)
class Visit:
    """One start of one candidate on one machine: it stays for a block under each load."""

    candidate: str
    tempo: float
    seconds: dict  # how long it is recorded under each load, in this order


def visits(candidates, tempo, loads, ticks, draw):
    """One visit of every candidate, in an order drawn anew; each block has so many ticks, and an idle one more."""
    seconds = ticks * 60 / 24 / tempo
    return [
        Visit(name, tempo, {
            load: seconds * LONGER.get(load, 1) for load in draw.sample(loads, len(loads))
            if load == "idle" or name != CONTROL})
        for name in draw.sample(list(candidates), len(candidates))]


def few(seed):
    """The machines of `make bench`, with their loads: any two circumstances, a load being one, meet at least once.

    Every machine is measured idle, too.
    """
    draw = random.Random(f"{seed} machines")
    dealt = draw.sample(LOADED, len(LOADED))
    rows = lab_machines.covering((*lab_machines.AXES, range(SHARES)), draw)
    return {Machine(*row[:-1]): ("idle", *dealt[row[-1]::SHARES]) for row in rows}


def instruments(chosen, seed):
    """Tactus, by each of its ways to send, and the null instruments, for machines with their loads."""
    draw = random.Random(f"{seed} visits")
    ticks = FEWEST + 20  # some are cut off at a block's ends
    return {machine: visits(INSTRUMENTS, TEMPOS[place % len(TEMPOS)], loads, ticks, draw)
            for place, (machine, loads) in enumerate(chosen.items())}


def programs(seed):
    """Tactus beside other programs, on the first machine with both models of preemption, at two tempos."""
    draw = random.Random(f"{seed} programs")
    loads = ("idle", "cpu", "copy", "fork", "network")
    return {
        Machine(preemption=model): [
            visit for tempo in (120, 133.7) for visit in visits(PROGRAMS, tempo, loads, FEWEST // 2 + 10, draw)]
        for model in PREEMPTION}


def made(what, seed, only=(), loads=()):
    """The visits of each machine. `only` names machines to visit instead, `loads` their loads."""
    if what == "count":
        return {}
    if what == "programs":
        return programs(seed)
    if what == "few" and not only:
        return instruments(few(seed), seed)
    chosen = [lab_machines.ALL[name] for name in only] or sorted(lab_machines.ALL.values())
    return instruments({machine: tuple(loads) or ("idle", *LOADED) for machine in chosen}, seed)


def left(planned, recorded):
    """What of some visits is not among the blocks that an earlier run recorded."""
    done = {(block["candidate"], block["tempo"], block["load"]) for block in recorded if "failed" not in block}
    rest = [
        replace(visit, seconds={
            load: length for load, length in visit.seconds.items() if (visit.candidate, visit.tempo, load) not in done})
        for visit in planned]
    return [visit for visit in rest if visit.seconds]
