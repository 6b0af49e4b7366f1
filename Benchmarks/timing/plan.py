"""The balanced sample: who is measured when, under what, at which tempo."""

import random
from dataclasses import dataclass, replace

TEMPOS = (97.3, 120, 133.7, 174)  # one of them, 120, falls into few places of a millisecond's grid; the others do not
MODELS = ("voluntary", "full")
# An idle guest skips its time, so that more of it costs little; a busy one is executed, instruction by instruction.
LONGER = {"idle": 4}
# An hour is too short for 10 000 ticks of every program under every load, so this one stays longer than the others.
OURS = "tactus"


@dataclass(frozen=True)
class Visit:
    """One start of one candidate: it stays for a block under each load."""

    round: int
    candidate: str
    tempo: float
    loads: tuple
    stay: int  # how many times the length of a block it stays under each

    def length(self, load, seconds):
        """How long it is recorded under a load, with blocks of some seconds."""
        return seconds * self.stay * LONGER.get(load, 1)


def rounds(candidates, loads, model, seed, count, stay=1):
    """`count` rounds of visits, ours `stay` times as long as the others; in each, every candidate comes once, in an
    order drawn anew, and meets every load.

    The tempo moves on by one from round to round, and starts elsewhere for each candidate and pre-emption model: after
    four rounds every candidate has met every load at every tempo, and even after two rounds of both models every tempo.
    """
    draw = random.Random(f"{seed} {model}")
    shift = 2 * MODELS.index(model)
    for number in range(count):
        order = list(enumerate(candidates))
        draw.shuffle(order)
        yield [
            Visit(number, name, TEMPOS[(number + place + shift) % len(TEMPOS)],
                  tuple(draw.sample(list(loads), len(loads))), stay if name == OURS else 1)
            for place, name in order]


def left(visit, recorded):
    """What of a visit is not among the blocks that an earlier run recorded; None if that is nothing."""
    done = {block.get("load") for block in recorded
            if (block["round"], block["candidate"]) == (visit.round, visit.candidate) and "failed" not in block}
    loads = tuple(load for load in visit.loads if load not in done)
    return replace(visit, loads=loads) if loads else None
