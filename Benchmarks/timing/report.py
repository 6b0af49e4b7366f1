"""From recorded blocks to Benchmarks/timing.md and its two drawings."""

import json
import pathlib
from collections import defaultdict

import goals
import plan
import plot
from candidates import CANDIDATES
from loads import LOADS, MEANING
from measures import measure, pooled
from plan import MODELS, TEMPOS

METHOD = pathlib.Path(__file__).with_name("method.md")
OUTPUT_NOTE = """The output thread's processor time per tick, at 120 BPM. *Planned*: on a machine without a sequencer,
where every tick is planned, waited for and counted, but not sent. *Delivered*: sent to one subscriber of all outputs.
Everything due at one time is written to the queue by one `write`, taken back by an `ioctl`, and sent directly by another
`write`. A `read` asks the witness what was sent, a `pread` sometimes checks whether the machine is busy, and `futex`
sleeps."""
LOADED = [name for name in LOADS if name != "idle"]


class Results:
    """Everything one run of the bench recorded, read back from its folder."""

    def __init__(self, folder):
        self.run = json.loads((folder / "run.json").read_text())
        self.blocks = defaultdict(list)  # (model, candidate, load) -> blocks
        self.failures = []
        for model in MODELS:
            path = folder / f"{model}.jsonl"
            for line in path.read_text().splitlines() if path.exists() else ():
                self.take(json.loads(line))
        self.drift = self.optional(folder / "drift.json")
        self.outputs = self.optional(folder / "outputs.json")

    def take(self, record):
        if "failed" in record:
            self.failures.append(record)
        elif len(record["ticks"]) < 48:
            self.failures.append({**record, "failed": f"only {len(record['ticks'])} ticks under {record['load']}"})
        else:
            self.blocks[record["model"], record["candidate"], record["load"]].append(measure(record))

    @staticmethod
    def optional(path):
        return json.loads(path.read_text()) if path.exists() else None

    def figures(self, model, candidate, *loads):
        """Figures of one candidate, of several loads taken together; None if there are none."""
        blocks = [block for load in loads for block in self.blocks.get((model, candidate, load), ())]
        return pooled(blocks) if blocks else None

    def worst(self, model, candidate):
        """The largest deviation of one candidate under any load."""
        found = [figures.max for load in LOADED if (figures := self.figures(model, candidate, load))]
        return max(found, default=None)

    @property
    def present(self):
        """Candidates that gave figures, in the order they are listed."""
        return [name for name in CANDIDATES if any(key[1] == name for key in self.blocks)]


def number(value):
    """Three significant digits at most, without exponents."""
    if value is None:
        return "–"
    size = abs(value)
    digits = 0 if size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{value:,.{digits}f}".replace(",", " ")


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" + "---:|" * (len(heads) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def headline(results, model):
    """One row a candidate, one column a load: TIE p99, maximum, and cycle-to-cycle."""
    rows = []
    for name in results.present:
        cells = []
        for load in LOADS:
            found = results.figures(model, name, load)
            cells.append(f"{number(found.p99)} / {number(found.max)} / {number(found.cycle_to_cycle)} "
                         f"({found.count})" if found else "–")
        rows.append([CANDIDATES[name].LABEL, *cells])
    return table(["", *LOADS], rows)


def details(results, model, load):
    """Every figure of every candidate under one load."""
    rows = []
    null = results.figures(model, "null", load)
    for name in results.present:
        found = results.figures(model, name, load)
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
    """The drawings' names, written into `folder`."""
    panels = []
    for model in MODELS:
        rows = []
        for name in results.present:
            if found := results.figures(model, name, *LOADED):
                rows.append((CANDIDATES[name].LABEL, name == "tactus", found.p50, found.p99, found.max))
        if rows:
            panels.append((f"preempt={model}", rows))
    if not panels:
        return
    title = "How far ticks are off under load (instruction-time in the lab): median to 99 %, and the worst"
    (folder / "timing-load.svg").write_text(plot.bars(panels, title))
    curves = [
        (CANDIDATES[name].LABEL, name == "tactus",
         [abs(value) for load in LOADED for block in results.blocks.get(("voluntary", name, load), ())
          for value in block.deviations])
        for name in results.present if name != "null"]
    title = "Share of ticks further off than …, all loads, preempt=voluntary (instruction-time in the lab)"
    if curves := [curve for curve in curves if curve[2]]:
        (folder / "timing-share.svg").write_text(plot.exceedance(curves, title))


def outputs_table(results):
    rows = []
    for record in results.outputs:
        found = goals.output_cost(record)
        calls = ", ".join(f"{count:.2f} {name}" for name, count in sorted(found.calls.items()) if count >= 0.05)
        rows.append([
            str(record["count"]), number(found.planning), number(found.thread), calls,
            number(found.skew_median), number(found.skew_max), f"{found.share:.2f} %",
            f"{record['resident'] / 1024:.1f}"])
    heads = ["outputs", "planned, µs a tick", "delivered", "system calls a tick",
             "first to last port, median µs", "max µs", "one core at 120 BPM", "resident MiB"]
    return table(heads, rows)


def written(results):
    """The whole report as Markdown."""
    run = results.run
    parts = [
        "# How steady is the clock?",
        f"Written by `make {run['target']}`: {run['minutes']:.0f} minutes, blocks of {run['seconds']:g} s "
        f"({plan.LONGER['idle'] * run['seconds']:g} s idle), Tactus's {run['stay']} times as long, "
        f"seed {run['seed']}, {2 ** run['shift']} ns for an "
        f"instruction. {run['version']}, kernel {run['kernel']}. Do not edit; run it again.",
        "All figures are microseconds of **instruction-time in the lab**, not of real hardware; see Limits, below.",
        "![How far ticks are off under load](timing-load.svg)",
        "## Goals", goals.table(results),
    ]
    for model in MODELS:
        parts += [f"## preempt={model}", "TIE p99 / max / cycle-to-cycle rms (N):", headline(results, model)]
    parts += ["![Share of ticks further off](timing-share.svg)", "## One more output"]
    parts += [outputs_table(results) if results.outputs else "Not measured in this run."]
    parts += [OUTPUT_NOTE]
    candidates = [[candidate.LABEL, candidate.ABOUT] for candidate in CANDIDATES.values()]
    tables = {
        "candidates": table(["candidate", "set up as"], candidates),
        "loads": table(["load", "is"], [[name, meaning] for name, meaning in MEANING.items()]),
    }
    tempos = ", ".join(f"{tempo:g}" for tempo in TEMPOS)
    parts += [METHOD.read_text().strip().format(tempos=tempos, **tables), "## All figures"]
    for model in MODELS:
        for load in LOADS:
            parts += [f"### {load}, preempt={model}", details(results, model, load)]
    if results.failures:
        parts += ["## What failed", "\n".join(
            f"* {record['candidate']} at {record['tempo']:g} BPM, {record.get('model', '?')}: "
            f"{record['failed'].splitlines()[0][:200]}" for record in results.failures)]
    return "\n\n".join(parts) + "\n"


def write(records, target):
    """Reads `records` and writes the report and drawings into `target`; returns the goals' table to print."""
    results = Results(records)
    target.mkdir(exist_ok=True)
    (target / "timing.md").write_text(written(results))
    drawings(results, target)
    return "\n\n".join([headline(results, model) for model in MODELS] + [goals.table(results)])
