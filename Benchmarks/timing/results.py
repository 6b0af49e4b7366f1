"""What one run of the bench recorded, as figures by machine, candidate and load; and how figures are written."""

import json
from collections import defaultdict

import lab_machines
from candidates import CANDIDATES
from measures import measure, pooled

TOO_FEW = 48  # ticks of a block that cannot be numbered


class Results:
    """The blocks of one run, and what it says of itself."""

    drift = outputs = None  # what concerns Tactus alone, if it was measured

    def __init__(self, run):
        self.run = run
        self.offsets = {}  # nanoseconds of an instruction -> records
        self.blocks = defaultdict(list)  # (machine, candidate, load) -> blocks
        self.failures = []

    @classmethod
    def of(cls, folder):
        """Everything in a folder of records."""
        results = cls(json.loads((folder / "run.json").read_text()))
        for path in sorted(folder.glob("*.jsonl")):
            for line in path.read_text().splitlines():
                results.take(json.loads(line))
        for name in ("drift", "outputs"):
            if (path := folder / f"{name}.json").exists():
                setattr(results, name, json.loads(path.read_text()))
        for nanoseconds in lab_machines.COUNTED:
            if (path := folder / f"offsets-{nanoseconds}ns.json").exists():
                results.offsets[nanoseconds] = json.loads(path.read_text())
        return results

    def take(self, record):
        if "failed" in record:
            self.failures.append(record)
        elif len(record["ticks"]) < TOO_FEW:
            self.failures.append({**record, "failed": f"only {len(record['ticks'])} ticks under {record['load']}"})
        else:
            self.blocks[record["machine"], record["candidate"], record["load"]].append(measure(record))

    def figures(self, machine, candidate, *loads):
        """Figures of one candidate, of several loads taken together; None if there are none."""
        blocks = [block for load in loads for block in self.blocks.get((machine, candidate, load), ())]
        return pooled(blocks) if blocks else None

    def worst(self, machine, candidate):
        """The largest deviation of one candidate under any load."""
        found = [figures.max for load in self.loads if load != "idle"
                 if (figures := self.figures(machine, candidate, load))]
        return max(found, default=None)

    @property
    def machines(self):
        """The names of the machines that gave figures; the slower and the rarer come last."""
        order = list(lab_machines.ALL)
        found = {key[0] for key in self.blocks}
        return sorted(found, key=lambda name: (order.index(name) if name in order else -1, name))

    @property
    def loads(self):
        found = {key[2] for key in self.blocks}
        return [load for load in self.run["loads"] if load in found]

    @property
    def present(self):
        """Candidates that gave figures, in the order they are listed."""
        return [name for name in CANDIDATES if any(key[1] == name for key in self.blocks)]

    def label(self, name):
        """A machine in words."""
        machine = lab_machines.ALL.get(name)
        if machine is None:
            return name
        version = self.run["kernels"].get(machine.kernel, machine.kernel)
        company = f"beside a queue of {machine.company} Hz" if machine.company else "alone"
        return f"{machine.nanoseconds} ns, Linux {'.'.join(version.split('.')[:2])}, {machine.preemption}, {company}"

    def failed(self):
        """What failed, and was not measured later, as a list; nothing if all went well."""
        lines = [
            f"* {record['candidate']} at {record['tempo']:g} BPM, {self.label(record['machine'])}, {record['load']}: "
            f"{record['failed'].splitlines()[0][:200]}" for record in self.failures
            if (record["machine"], record["candidate"], record["load"]) not in self.blocks]
        return ["## What failed", "\n".join(lines)] if lines else []


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


def set_up(candidates, loads):
    """Tables of what was measured, under what."""
    return {
        "candidates": table(["candidate", "set up as"], [[each.LABEL, each.ABOUT] for each in candidates.values()]),
        "loads": table(["load", "is"], [[name, meaning] for name, meaning in loads.items()]),
    }
