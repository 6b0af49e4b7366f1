"""What the clock should keep to in every cell, one machine under one load, and whether it did."""

from dataclasses import dataclass

from lab_machines import ALL
from plan import FEWEST

# Beside plain direct dispatch in the same boot, when nothing else runs. The time of so many thousand instructions does
# not matter.
IDLE = 1.2
LEAST = {"sd": 1.0, "max": 5.0}
# Under load: beside the worst lateness of an empty queue, and beside plain direct dispatch; the larger one counts.
OF_QUEUE, OF_DIRECT = 1.5, 1 / 3
UNHEARD = 100.0  # microseconds; a byte on a DIN cable takes 320
SHARE = 4.0  # per cent of a core, for eight outputs with eight offsets under load


def most(figures, figure="max"):
    """The largest deviation, if enough ticks speak for it."""
    return getattr(figures, figure) if figures and figures.count >= FEWEST else None


@dataclass(frozen=True)
class Cell:
    """One machine under one load, with the figures of each candidate that was measured there."""

    machine: str
    load: str
    figures: dict

    @property
    def sd(self):
        return self.figures["auto"].sd if self.figures.get("auto") else None

    @property
    def max(self):
        return most(self.figures.get("auto"))

    @property
    def queue_worst(self):
        """How late the empty queue was at most, counted from its earliest."""
        return most(self.figures.get("empty"), "late_max")

    @property
    def wanted(self):
        """The bounds of this cell, by figure; None where what they are made of was not measured."""
        direct = self.figures.get("direct")
        if self.load != "idle":
            parts = most(direct), self.queue_worst
            return {"max": None if None in parts else max(UNHEARD, OF_DIRECT * parts[0], OF_QUEUE * parts[1])}
        found = {"sd": direct and direct.sd, "max": most(direct)}
        slowness = ALL[self.machine].nanoseconds if self.machine in ALL else 1
        return {
            name: None if value is None else max(slowness * LEAST[name], IDLE * value) for name, value in found.items()}

    @property
    def beyond(self):
        """The largest of Tactus's figures as multiples of their bounds; None if one of them was not measured."""
        return self.multiple("auto")

    def multiple(self, candidate):
        """The largest of a candidate's figures as multiples of their bounds; None if one of them was not measured."""
        figures = self.figures.get(candidate)
        found = {"sd": figures and figures.sd, "max": most(figures)}
        parts = [(found[name], wanted) for name, wanted in self.wanted.items()]
        return None if any(None in part for part in parts) else max(value / wanted for value, wanted in parts)

    @property
    def verdict(self):
        return "not measured" if self.beyond is None else "kept" if self.beyond <= 1 else "**missed**"


def cells(results):
    """All cells that were measured, by machine and load."""
    return [
        Cell(machine, load, {name: results.figures(machine, name, load) for name in results.present})
        for machine in results.machines for load in results.loads
        if any((machine, name, load) in results.blocks for name in results.present)]
