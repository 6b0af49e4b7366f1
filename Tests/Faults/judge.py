"""Judges a clock from outside, by the stamped bytes of its outputs. All times are microseconds of Link's host time."""

import bisect
import statistics
from dataclasses import dataclass

from rig.rawline import CLOCK, CONTINUE, POSITION, START, STOP

PER_BEAT = 24
# An output that a fault does not touch is at most so far from an even clock, in microseconds of instruction-time.
ON_TIME = 1000
NAMES = {CLOCK: "clock", START: "start", CONTINUE: "continue", STOP: "stop", POSITION: "position"}


@dataclass(frozen=True)
class Tick:
    """A Timing Clock, and the state in which it finds the machine; `place` counts the ticks of the song."""

    at: float
    plays: bool
    place: int | None = None


@dataclass(frozen=True)
class Evenness:
    """Ticks beside an even clock: those missing, those too many, and the largest distance in microseconds."""

    ticks: int
    lost: int
    doubled: int
    worst: float


@dataclass(frozen=True)
class Likeness:
    """An output beside one that had no fault; `wrong` are pairs of ticks, as it should be and as it was, None if lost."""

    lost: int
    doubled: int
    wrong: list


def machine(events):
    """What a machine makes of its events, which are (name, time, song position or None), in order."""
    ticks, plays, place = [], False, None
    for name, at, value in events:
        if name == "clock":
            ticks.append(Tick(at, plays, place if plays else None))
            place = place + 1 if plays and place is not None else place
        elif name == "position":
            place = None if value is None else 6 * value
        else:
            plays = name != "stop"
            place = 0 if name == "start" else place
    return ticks


def parsed(arrivals):
    """Events from (byte, time) pairs."""
    events, data = [], None
    for byte, at in arrivals:
        if byte >= 0xF8:
            if byte in NAMES:
                events.append((NAMES[byte], at, None))
        elif byte == POSITION:
            data = []
        elif data is not None:
            data.append(byte)
            if len(data) == 2:
                events.append(("position", at, data[0] | data[1] << 7))
                data = None
    return events


def evenness(times, interval, begin, end):
    """Compares tick times between `begin` and `end` with the even clock of this interval that fits them best.

    A clock that begins later, ends earlier or is silent throughout has lost ticks, too.
    """

    def missing(since, until):
        return int(max(0, (until - since - ON_TIME) / interval))

    if not times:
        return Evenness(0, missing(begin, end), 0, 0.0)
    steps = [round((at - times[0]) / interval) for at in times]
    start = statistics.median(at - step * interval for at, step in zip(times, steps))
    # Once more from there, in case that the first tick was far off.
    steps = [round((at - start) / interval) for at in times]
    distinct = len(set(steps))
    worst = max(abs(at - start - step * interval) for at, step in zip(times, steps))
    lost = missing(begin, times[0]) + max(steps) - min(steps) + 1 - distinct + missing(times[-1], end)
    return Evenness(len(times), lost, len(times) - distinct, worst)


def likeness(output, model, interval):
    """Compares the ticks of an output with those of one without a fault.

    A tick belongs to the model's tick nearest to it, within half an interval. Ticks whose place is unknown are judged by
    whether the machine plays.
    """
    times = [tick.at for tick in output]
    taken, lost, wrong = set(), 0, []
    for tick in model:
        index = bisect.bisect_left(times, tick.at - interval / 2)
        if index == len(times) or times[index] > tick.at + interval / 2:
            lost += 1
            wrong.append((tick, None))
            continue
        taken.add(index)
        found = output[index]
        if found.plays != tick.plays or None not in (found.place, tick.place) and found.place != tick.place:
            wrong.append((tick, found))
    if not model:
        return Likeness(0, 0, [])
    inside = [at for at in times if model[0].at - interval / 2 <= at <= model[-1].at + interval / 2]
    return Likeness(lost, len(inside) - len(taken), wrong)


def fastest(times):
    """The highest tempo that any two successive ticks have, in BPM."""
    return max((60e6 / PER_BEAT / max(1, later - earlier) for earlier, later in zip(times, times[1:])), default=0.0)
