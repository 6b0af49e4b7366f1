"""What outputs cost, and what else Tactus should reach beside other programs, and whether it did."""

import statistics
from dataclasses import dataclass

from measures import measure
from rig.figures import PER_BEAT, gaps, place

TICKS_A_SECOND = 48  # at 120 BPM


@dataclass(frozen=True)
class OutputCost:
    """What some number of outputs cost, each tick and in all."""

    thread: float  # microseconds of the output thread, a tick
    planning: float  # the same without a sequencer: nothing is written
    calls: dict  # system calls of the output thread by name, a tick
    skew_median: float  # microseconds from the first port's event to the last one's
    skew_max: float
    share: float  # per cent of one core, all threads


def output_cost(record):
    """From one record of gateway.py."""
    moments = []
    for at, _ in sorted(record["events"]):
        if not moments or at - moments[-1][0] > 5000:
            moments.append([at, at])
        moments[-1][1] = at
    skews = [last - first for first, last in moments[1:-1]]
    heard, planned = record["heard"], record["planned"]
    return OutputCost(
        thread=heard["clock"] / heard["seconds"] / TICKS_A_SECOND / 1e3,
        planning=planned["clock"] / planned["seconds"] / TICKS_A_SECOND / 1e3,
        calls={name: rate / TICKS_A_SECOND for name, rate in record["calls"].items()},
        skew_median=statistics.median(skews), skew_max=max(skews),
        share=heard["processor"] / heard["seconds"] / 1e7)


# What a machine may be sent in which state, and the state that follows. A place that a stall has outdated is sent anew.
STATES = {
    ("stopped", "start"): "playing", ("stopped", "position"): "placed", ("placed", "position"): "placed",
    ("placed", "start"): "playing", ("placed", "continue"): "playing", ("playing", "stop"): "stopped"}


def out_of_order(names):
    """How many messages a machine could not have been sent in its state."""
    state, wrong = "stopped", 0
    for name in names:
        following = STATES.get((state, name))
        state, wrong = following or state, wrong + (following is None)
    return wrong


def counted(record):
    """What became of every message, by its name."""
    ticks = [at for name, at in record["events"] if name == "clock"]
    transport = [name for name, _ in record["events"] if name != "clock"]
    interval = record["interval"]
    # At both ends there is no load, no tick is early, and one of some is on time.
    first = min(at - interval * place for place, at in enumerate(ticks[:PER_BEAT]))
    last = min(at + interval * place for place, at in enumerate(reversed(ticks[-PER_BEAT:])))
    due = round((last - first) / interval) + 1
    return {
        "ticks due": due, "left out after stalls, by the status": record["skipped"],
        "sent, by the status": record["sent"], "received": len(ticks),
        "lost": max(0, due - record["skipped"] - len(ticks)), "doubled": max(0, len(ticks) + record["skipped"] - due),
        "longest gap, ms": round(max(after - before for before, after in zip(ticks, ticks[1:])) / 1000),
        "Starts, Continues and Stops": sum(name != "position" for name in transport),
        "out of order": out_of_order(transport),
    }


def one_more(costs, few, many, cost):
    """What one more output costs between two numbers of them."""
    return (cost(costs[many][0]) - cost(costs[few][0])) / (many - few) if few in costs and many in costs else None


def beside_others(results):
    for machine in results.machines:
        ours = results.worst(machine, "tactus")
        others = [worst for name in results.present if name not in ("tactus", "null")
                  if (worst := results.worst(machine, name))]
        ratio = min(others) / ours if others and ours else None
        name = f"{results.label(machine)}, worst load: the best other program's TIE max as a multiple of ours"
        yield name, "–", ratio, None, "times"


def in_phase(results):
    phases = [block.phase for (_, name, _), blocks in results.blocks.items() if name == "tactus" for block in blocks]
    mean = max(map(abs, phases), default=None)
    yield "mean distance from the Link session's beats, worst block", "≤ 20 µs", mean, lambda: mean <= 20, "µs"


def no_drift(results):
    record = results.drift
    drift = measure(record).drift if record else None
    minutes = (record["ticks"][-1] - record["ticks"][0]) / 60e6 if record else 0
    yield f"drift over {minutes:.0f} minutes", "0.00 ppm", drift, lambda: abs(drift) < 0.005, "ppm"
    slips = None
    if record:
        beat, interval = record["grid"]["beat"], record["grid"]["interval"]
        slips = len(gaps(place(record["ticks"], [(beat, 0), (beat + interval, 1)])))
    yield f"beats without exactly {PER_BEAT} ticks in that time", "0", slips, lambda: slips == 0, ""


def cheap(results):
    costs = {record["count"]: (output_cost(record), record) for record in results.outputs or ()}
    share = costs[8][0].share if 8 in costs else None
    memory = max((record["resident"] / 1024 for _, record in costs.values()), default=None)
    yield "processor time at 120 BPM, 8 outputs", "≤ 1 % of a core", share, lambda: share <= 1, "%"
    yield "resident memory, up to 64 outputs", "≤ 60 MB", memory, lambda: memory <= 60, "MiB"
    few, many = (one_more(costs, *counts, lambda cost: cost.planning) for counts in ((1, 8), (8, 64)))
    yield "one more output, planning (8 to 64)", "≤ 2 µs a tick", many, lambda: many <= 2, "µs"
    bend = many / few if few and many else None
    linear = "the same as a multiple of one more from 1 to 8: linear"
    yield linear, "0.8 to 1.25", bend, lambda: 0.8 <= bend <= 1.25, "times"
    writing = one_more(costs, 8, 64, lambda cost: cost.thread - cost.planning)
    yield "one more output, writing and delivery (8 to 64)", "–", writing, None, "µs"
    for count in (8, 64):
        found = costs[count][0] if count in costs else None
        calls = sum(found.calls.values()) if found else None
        yield f"{count} outputs: system calls of one delivery", "–", calls, None, ""
        yield f"{count} outputs: first to last port, most", "–", found and found.skew_max, None, "µs"


def shown(found, unit):
    """Four digits, and no exponent for what is next to nothing."""
    if found is None or isinstance(found, int):
        return "–" if found is None else f"{found}"
    return f"{found:.3f} {unit}".strip() if abs(found) < 0.01 else f"{found:.4g} {unit}".strip()


def table(results):
    """The goals as a Markdown table."""
    lines = ["| goal | asked | found | |", "|---|---:|---:|---|"]
    for group in (beside_others, in_phase, no_drift, cheap):
        for name, asked, found, met, unit in group(results):
            if found is None:
                verdict = "not measured"
            else:
                verdict = "" if met is None else "reached" if met() else "**not reached**"
            lines.append(f"| {name} | {asked} | {shown(found, unit)} | {verdict} |")
    return "\n".join(lines)
