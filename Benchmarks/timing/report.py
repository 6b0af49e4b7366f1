"""The page about our own clock on many machines, from recorded blocks: Benchmarks/timing.md."""

import pathlib

from bounds import SHARE, cells, most
from candidates import INSTRUMENTS
from plan import CONTROL
from results import Results, number, set_up, table

METHOD = pathlib.Path(__file__).with_name("method.md")
OUTSIDE = pathlib.Path(__file__).with_name("outside.md")
EXPLAINED = """Standard deviation / largest deviation from an even clock; of the empty queue, how late it was at most.
*Wanted* is an upper bound made of what stands beside: idle, 1.2 times plain direct dispatch's figures, or the time of
1000 / 5000 instructions if that is more; loaded, a largest deviation of 1.5 times the empty queue's worst, of a third of
plain direct dispatch's, or of 0.1 ms, whichever is most. Nobody hears 0.1 ms; a byte on a DIN cable takes 0.32 ms.
**N** is the number of Tactus's ticks; a largest deviation of fewer than 500 is not told."""
BESIDE = ("direct", "queue", "null")


def pair(figures, cell_max=None):
    """Standard deviation and largest deviation."""
    return f"{number(figures.sd)} / {number(cell_max)}" if figures else "–"


def columns(cell):
    """What Tactus reached in a cell, and what stands beside it."""
    return [
        pair(cell.figures.get("auto"), cell.max),
        *(pair(figures, most(figures)) for figures in map(cell.figures.get, BESIDE)), number(cell.queue_worst),
        " / ".join(map(number, cell.wanted.values())), cell.verdict]


HEADS = ["Tactus", *(INSTRUMENTS[name].LABEL for name in BESIDE), "empty queue's worst", "wanted", ""]


def worst(found, results):
    """The cells with the worst figures, and how many cells keep their bounds."""
    idle, loaded = ([cell for cell in found if (cell.load == "idle") == is_idle] for is_idle in (True, False))
    rows = []
    for name, among, value in (
            ("idle, the largest sd", idle, lambda cell: cell.sd),
            ("idle, the largest max", idle, lambda cell: cell.max),
            ("loaded, the largest max", loaded, lambda cell: cell.max),
            ("farthest beyond its bound", found, lambda cell: cell.beyond)):
        measured = [cell for cell in among if value(cell) is not None]
        if measured:
            cell = max(measured, key=value)
            rows.append([name, f"{results.label(cell.machine)}, {cell.load}", *columns(cell)])
    control = [cell.multiple(CONTROL) for cell in idle]
    return table(["", "where", *HEADS], rows) + (
        f"\n\nThe bounds are kept in {kept(cell.beyond for cell in idle)} idle cells and "
        f"{kept(cell.beyond for cell in loaded)} loaded cells. Plain direct dispatch itself, measured once more, keeps the "
        f"bounds made of its own figures in {kept(control)} idle cells; what it misses is chance.")


def kept(multiples):
    """How many of the bounds that were measured are kept."""
    measured = [multiple for multiple in multiples if multiple is not None]
    return f"{sum(multiple <= 1 for multiple in measured)} of {len(measured)}"


def by_machine(found, results):
    rows = []
    for cell in found:
        ours = cell.figures.get("auto")
        counts = [str(getattr(ours, name)) if ours else "–" for name in ("count", "lost", "doubled")]
        rows.append([f"{results.label(cell.machine)}", cell.load, *counts, *columns(cell)])
    return table(["machine", "load", "N", "lost", "doubled", *HEADS], rows)


def processor_time(results):
    """What eight outputs cost when each wakes the thread anew; nothing if it was not measured."""
    for nanoseconds, records in results.offsets.items():
        for record in records:
            share = record["heard"]["processor"] / record["heard"]["seconds"] / 1e7
            verdict = "kept" if share <= SHARE else "**missed**"
            yield (f"**Processor time** at {nanoseconds} ns: {record['count']} outputs with {record['count']} offsets "
                   f"at 120 BPM under the mixed load take {share:.1f} % of a core; wanted are {SHARE:g} % at most: "
                   f"{verdict}.")


def written(results, by, unit, *more):
    """The page as Markdown: `by` says how it was made, `unit` what its microseconds are; `more` follows the figures."""
    found = cells(results)
    return "\n\n".join([
        "# How steady is the clock?", by, unit, "## The worst of what was run", worst(found, results),
        *processor_time(results), OUTSIDE.read_text().strip(), "## Every cell", EXPLAINED, by_machine(found, results),
        *more, *results.failed()]) + "\n"


def write(records, target):
    """Reads `records` and writes the page into `target`; returns what is worst, to print."""
    results = Results.of(records)
    run = results.run
    by = (f"Written by `{run['command']}`: {run['version']}, {run['minutes']:.0f} minutes, seed {run['seed']}, "
          f"{len(results.machines)} of {run['machines']} machines; kernels "
          f"{', '.join(run['kernels'].values())}. Do not edit; run it again.")
    unit = "All figures are microseconds of **instruction-time in the lab**, not of real hardware; see Limits, below."
    tables = set_up(INSTRUMENTS, {name: meaning for name, meaning in run["loads"].items() if name in results.loads})
    target.mkdir(exist_ok=True)
    (target / "timing.md").write_text(written(results, by, unit, METHOD.read_text().strip().format(**tables)))
    return worst(cells(results), results)
