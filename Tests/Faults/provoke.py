"""In the lab: provokes faults, and prints what came of each round as a line of JSON.

    provoke.py RESULT.json FAULT[=TIMES]...
    provoke.py --list

RESULT.json receives all of them once more, at the end. The second form works everywhere, and lists the faults.
"""

import json
import pathlib
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Acceptance"))

from catalogue import FAULTS  # noqa: E402
from stage import Stage, Unavailable  # noqa: E402


def provoke(name, times, tell):
    """Provokes one fault on a stage of its own. What fails there is told like what a round finds."""
    try:
        with Stage(FAULTS[name], times, tell) as stage:
            FAULTS[name].provoke(stage)
    except Unavailable as error:
        tell({"fault": name, "unavailable": str(error), "problems": []})
    except Exception as error:
        traceback.print_exc()
        tell({"fault": name, "problems": [f"{type(error).__name__}: {error}"[:500]]})


def main(result, *wanted):
    found = []

    def tell(record):
        found.append(record)
        print(json.dumps(record), flush=True)

    for word in wanted:
        name, _, times = word.partition("=")
        provoke(name, int(times or FAULTS[name].times), tell)
        print(json.dumps({"fault": name, "finished": True}), flush=True)
    pathlib.Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(json.dumps([
            {"name": fault.name, "title": fault.title, "times": fault.times, "within": fault.within}
            for fault in FAULTS.values()]))
    else:
        main(*sys.argv[1:])
