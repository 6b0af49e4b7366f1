"""From recorded blocks to the page about our clock beside other programs', Benchmarks/programs.md, and its drawings."""

import pathlib

import costs
import plot
from candidates import CANDIDATES, PROGRAMS
from results import Results, number, set_up, table

METHOD = pathlib.Path(__file__).with_name("programs-method.md")
OUTPUT_NOTE = """The output thread's processor time per tick, at 120 BPM. *Planned*: on a machine without a sequencer,
where every tick is planned, waited for and counted, but not sent. *Delivered*: sent to one subscriber of all outputs.
Everything due at one time is written to the queue by one `write`, taken back by an `ioctl`, and sent directly by
another `write`. A `read` asks the witness what was sent, a `pread` sometimes checks whether the machine is busy, and
`futex` sleeps."""


def headline(results, machine):
    """One row a candidate, one column a load: TIE p99, maximum, and cycle-to-cycle."""
    rows = []
    for name in results.present:
        cells = []
        for load in results.loads:
            found = results.figures(machine, name, load)
            cells.append(f"{number(found.p99)} / {number(found.max)} / {number(found.cycle_to_cycle)} "
                         f"({found.count})" if found else "–")
        rows.append([CANDIDATES[name].LABEL, *cells])
    return table(["", *results.loads], rows)


def details(results, machine, load):
    """Every figure of every candidate under one load."""
    rows = []
    null = results.figures(machine, "null", load)
    for name in results.present:
        found = results.figures(machine, name, load)
        if not found:
            continue
        relative = found.p99 / null.p99 if null and null.p99 and name != "null" else None
        rows.append([
            CANDIDATES[name].LABEL, str(found.count), number(found.sd), number(found.p50), number(found.p99),
            number(found.max), number(found.late_p99), number(found.late_max), number(found.cycle_to_cycle),
            number(relative), number(found.drift), str(found.lost), str(found.doubled), number(found.phase)])
    heads = ["", "N", "TIE sd", "p50", "p99", "max", "late p99", "late max", "c2c rms", "p99 : null", "drift ppm",
             "lost", "doubled", "phase"]
    return table(heads, rows)


def drawings(results, folder):
    """Writes the drawings into `folder`."""
    loaded = [load for load in results.loads if load != "idle"]
    panels = []
    for machine in results.machines:
        rows = []
        for name in results.present:
            if found := results.figures(machine, name, *loaded):
                rows.append((CANDIDATES[name].LABEL, name == "tactus", found.p50, found.p99, found.max))
        if rows:
            panels.append((results.label(machine), rows))
    if not panels:
        return
    title = "How far ticks are off under load (instruction-time in the lab): median to 99 %, and the worst"
    (folder / "programs-load.svg").write_text(plot.bars(panels, title))
    curves = [
        (CANDIDATES[name].LABEL, name == "tactus",
         [abs(value) for load in loaded for block in results.blocks.get((results.machines[0], name, load), ())
          for value in block.deviations])
        for name in results.present if name != "null"]
    title = f"Share of ticks further off than …, all loads, {results.label(results.machines[0])} (instruction-time)"
    if curves := [curve for curve in curves if curve[2]]:
        (folder / "programs-share.svg").write_text(plot.exceedance(curves, title))


def outputs_table(results):
    rows = []
    for record in results.outputs:
        found = costs.output_cost(record)
        calls = ", ".join(f"{count:.2f} {name}" for name, count in sorted(found.calls.items()) if count >= 0.05)
        rows.append([
            str(record["count"]), number(found.planning), number(found.thread), calls,
            number(found.skew_median), number(found.skew_max), f"{found.share:.2f} %",
            f"{record['resident'] / 1024:.1f}"])
    heads = ["outputs", "planned, µs a tick", "delivered", "system calls a tick",
             "first to last port, median µs", "max µs", "one core at 120 BPM", "resident MiB"]
    return table(heads, rows)


def written(results):
    """The whole page as Markdown."""
    run = results.run
    parts = [
        "# The clock beside other programs'",
        f"Written by `{run['command']}`: {run['version']}, {run['minutes']:.0f} minutes, seed {run['seed']}; kernel "
        f"{', '.join(run['kernels'].values())}. Do not edit; run it again.",
        "All figures are microseconds of **instruction-time in the lab**, on its fastest machine, not of real "
        "hardware; see [Limits](timing.md#limits). On slower machines, and beside another program's queue, [the clock "
        "is less steady](timing.md).",
        "![How far ticks are off under load](programs-load.svg)",
        "## Goals", costs.table(results),
    ]
    for machine in results.machines:
        parts += [
            f"## {results.label(machine)}", "TIE p99 / max / cycle-to-cycle rms (N):", headline(results, machine)]
    parts += ["![Share of ticks further off](programs-share.svg)", "## One more output"]
    parts += [outputs_table(results) if results.outputs else "Not measured in this run."]
    parts += [OUTPUT_NOTE]
    tables = set_up(PROGRAMS, {name: meaning for name, meaning in run["loads"].items() if name in results.loads})
    parts += [METHOD.read_text().strip().format(**tables), "## All figures"]
    for machine in results.machines:
        for load in results.loads:
            parts += [f"### {load}: {results.label(machine)}", details(results, machine, load)]
    return "\n\n".join([*parts, *results.failed()]) + "\n"


def write(records, target):
    """Reads `records` and writes the page and drawings into `target`; returns the tables to print."""
    results = Results.of(records)
    target.mkdir(exist_ok=True)
    (target / "programs.md").write_text(written(results))
    drawings(results, target)
    return "\n\n".join([*(headline(results, machine) for machine in results.machines), costs.table(results)])
