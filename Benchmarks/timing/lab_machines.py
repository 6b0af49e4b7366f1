"""The machines that the bench simulates, and a choice of them that is small and leaves no two circumstances apart."""

import itertools
from dataclasses import dataclass

from rig.labs import KERNELS

NANOSECONDS = (1, 2, 4, 8)
COUNTED = (1, 4)  # of them, those whose processor time is counted
PREEMPTION = ("voluntary", "full")
# Hz of the timer of another program's queue, which runs all the while; 0 is none. A queue has 1000 Hz unless its
# program asks for more; 6250 Hz, the most, is what PipeWire's bridge and JACK ask for.
COMPANY = (0, 1000, 6250)
# Without this, the kernel may stop for two milliseconds to merge pages, on an idle machine too.
QUIET = "transparent_hugepage=never"


@dataclass(frozen=True, order=True)
class Machine:
    nanoseconds: int = 1  # how long an instruction lasts
    kernel: str = KERNELS[0]
    preemption: str = PREEMPTION[0]
    company: int = 0

    @property
    def name(self):
        company = f"{self.company}Hz" if self.company else "alone"
        return f"{self.nanoseconds}ns-{self.kernel}-{self.preemption}-{company}"

    @property
    def options(self):
        """The lab's options for it."""
        return ("--nanoseconds", self.nanoseconds, "--kernel", self.kernel,
                "--kernel-args", f"preempt={self.preemption} {QUIET}")


AXES = (NANOSECONDS, KERNELS, PREEMPTION, COMPANY)
ALL = {machine.name: machine for machine in itertools.starmap(Machine, itertools.product(*AXES))}


def pairs(row):
    """Every two values of a row, with their places."""
    return set(itertools.combinations(enumerate(row), 2))


def covering(axes, draw):
    """Rows that bring any two values of different axes together at least once, the most telling first.

    Each row is the one with the most new pairs among all rows, in an order drawn anew. Of 30 attempts, the shortest.
    """
    def attempt():
        rows = list(itertools.product(*axes))
        draw.shuffle(rows)
        missing, chosen = set().union(*map(pairs, rows)), []
        while missing:
            chosen.append(max(rows, key=lambda row: len(pairs(row) & missing)))
            missing -= pairs(chosen[-1])
        return chosen

    return min((attempt() for _ in range(30)), key=len)
