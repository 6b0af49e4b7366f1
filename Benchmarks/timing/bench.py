"""Measures how steady the clock is on many machines, in the lab, and writes Benchmarks/timing.md.

    bench.py                 machines so chosen that any two circumstances meet; an hour
    bench.py --what full     all machines under all loads, in parts of 90 minutes
    bench.py --what programs beside other programs on one machine; writes Benchmarks/programs.md
    bench.py --what count    two processors in the host's own time, half an hour; prints what became of every message

The way of the data: candidates/ and Tests/Acceptance/rig/loads.py are what is measured, under what; lab_machines.py and
plan.py say where and when; visits.py records it in the lab, gateway.py what concerns Tactus alone; measures.py makes
figures of records; bounds.py and costs.py hold them against what is asked; report.py and programs_page.py write pages.

Some guests run side by side, one for each machine. Records go to .build/bench. A run that was cut short is continued by
the next one with the same executable; `--report` only writes the page again. TACTUS in the environment names the
executable, which `make` sets to that of the release build.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict

import lab_paths  # first: it makes the shared rig importable
import costs
import lab_machines
import plan
import programs_page
import report
from rig.compiler import compile_c
from rig.gateway import PROJECT, TACTUS
from rig.labs import LAB, PYTHON, Boot, compiled, record
from rig.loads import LOADS, drawn

RECORDS = PROJECT / ".build/bench"
# What concerns Tactus alone, by kind of run: the record's name, the words for gateway.py, and the lab's options.
OFFSETS = {
    f"offsets-{nanoseconds}ns": (["offsets", 20, 8], ["--nanoseconds", nanoseconds])
    for nanoseconds in lab_machines.COUNTED}
ALONE = {
    "few": OFFSETS,
    "full": OFFSETS,
    "programs": {"drift": (["drift", 600], []), "outputs": (["outputs", 60, 1, 8, 64], [])},
    "count": {"count": (["count", 1800], ["--host-time", "--smp", 2])},
}
COMMANDS = {
    "few": "make bench", "full": "make bench-full", "programs": "make bench-programs", "count": "make bench-count"}
LONGEST = {"full": 87}  # minutes in which blocks may begin; 57 for the others


class Run:
    """One run of the bench, with its records on disk."""

    def __init__(self, options):
        self.options = options
        self.folder = RECORDS / options.what
        self.folder.mkdir(parents=True, exist_ok=True)
        self.about = self.continued() or self.begun()
        self.plan = plan.made(options.what, self.about["seed"], self.about["only"], self.about["chosen loads"])
        self.about["machines"] = len(self.plan)
        self.started = time.monotonic()

    def asked(self):
        """What must be the same for a run to be continued."""
        executable = hashlib.sha256(pathlib.Path(TACTUS).read_bytes()).hexdigest()
        return {"executable": executable, "only": self.options.only, "chosen loads": self.options.loads}

    def continued(self):
        """What an earlier run that is to be continued said of itself; None if this one begins anew."""
        path = self.folder / "run.json"
        about = json.loads(path.read_text()) if path.exists() else {}
        if self.options.report:
            return about or sys.exit(f"bench: there are no records in {self.folder}")
        is_other = self.options.fresh or about.get("is whole", True) or self.options.seed not in (None, about["seed"])
        return None if is_other or any(about[name] != value for name, value in self.asked().items()) else about

    def begun(self):
        """Clears the records; returns what is known of a new run."""
        for outdated in self.folder.glob("*.json*"):
            outdated.unlink()
        seed = self.options.seed or str(random.SystemRandom().randrange(10_000))
        version = subprocess.run([TACTUS, "--version"], capture_output=True, text=True).stdout.strip()
        kernels = {
            name: path.name.removeprefix("vmlinuz-") for name in lab_machines.KERNELS
            for path in PROJECT.glob(f".lab/kernel{'' if name == 'stock' else f'-{name}'}/boot/vmlinuz-*")}
        arguments = [f"--{name} {','.join(getattr(self.options, name))}" for name in ("only", "loads")
                     if getattr(self.options, name)]
        command = COMMANDS[self.options.what] + (f" ARGS='{' '.join(arguments)}'" if arguments else "")
        return {
            **self.asked(), "seed": seed, "command": command, "version": f"Tactus {version}", "minutes": 0,
            "kernels": kernels,
            "loads": {name: load.meaning for name, load in {**LOADS, "drawn": drawn(seed)}.items()}}

    def save(self, **changes):
        minutes = self.about["minutes"] + (time.monotonic() - self.started) / 60
        (self.folder / "run.json").write_text(json.dumps({**self.about, "minutes": minutes, **changes}))

    def left(self):
        """The visits that are still to be made, by machine."""
        rest = {}
        for machine, planned in self.plan.items():
            path = self.folder / f"{machine.name}.jsonl"
            recorded = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
            if visits := plan.left(planned, recorded):
                rest[machine] = visits
        return rest

    def alone(self):
        """What concerns Tactus alone and is still to be measured."""
        return {name: how for name, how in ALONE[self.options.what].items()
                if not (self.folder / f"{name}.json").exists()}

    def measure(self):
        """Guests side by side, until the plan is carried out or the time is up."""
        self.save(**{"is whole": False})
        print(f"bench: seed {self.about['seed']}, {len(self.left())} of {len(self.plan)} machines to go", flush=True)
        until = self.started + 60 * self.options.minutes
        # Under the project, because the guest has a /tmp of its own.
        (PROJECT / ".lab").mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=PROJECT / ".lab") as name:
            shared = pathlib.Path(name)
            shared.chmod(0o777)
            compile_c(lab_paths.HERE / "sleeper.c", shared / "sleeper", "-O2")
            compiled("another_queue.c", shared)
            timer = threading.Timer(max(0, until - time.monotonic()), (shared / "enough").touch)
            timer.start()
            try:
                with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
                    work = [pool.submit(self.measure_alone, name, *how, shared)
                            for name, how in self.alone().items()]
                    work += [pool.submit(self.boot, machine, visits, shared, until)
                             for machine, visits in self.left().items()]
                    for each in concurrent.futures.as_completed(work):
                        each.result()
            finally:
                timer.cancel()
        is_whole = not self.left() and not self.alone()
        self.save(**{"is whole": is_whole})
        if not is_whole:
            print(f"bench: {len(self.left())} machines are left; run it again to go on", file=sys.stderr)

    def measure_alone(self, name, words, options, shared):
        if (shared / "enough").exists():
            return
        boot = Boot({name: (lab_paths.HERE / "gateway.py", *words)}, ["--kernel-args", lab_machines.QUIET, *options])
        try:
            (self.folder / f"{name}.json").write_text(json.dumps(record(boot)[name]))
        except AssertionError as error:  # it must not cost the others' figures
            print(f"bench: {error}", file=sys.stderr)

    def boot(self, machine, visits, shared, until):
        """One guest, visiting until it is told that it is enough; its lines are passed on with the host's time."""
        if (shared / "enough").exists():
            return
        (shared / f"{machine.name}.json").write_text(json.dumps({
            "seed": self.about["seed"], "company": machine.company, "visits": [asdict(visit) for visit in visits]}))
        command = [
            "setpriv", "--pdeathsig", "TERM",  # upon which the lab ends its guest
            LAB, "--timeout", until - time.monotonic() + 600, *machine.options, "--writable", shared,
            "--env", f"TACTUS={TACTUS}", "--env", f"SLEEPER={shared}/sleeper", "--env",
            f"ANOTHER_QUEUE={shared}/another_queue", "--", PYTHON, lab_paths.HERE / "visits.py", shared, machine.name]
        guest = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=subprocess.PIPE,
            text=True)
        for line in guest.stderr:
            print(f"[{time.monotonic() - self.started:4.0f} s] {machine.name}: {line}", end="", flush=True)
        if guest.wait():
            print(f"bench: {machine.name} ended with {guest.returncode}", file=sys.stderr)
        recorded = shared / f"{machine.name}.jsonl"
        if recorded.exists():
            with (self.folder / recorded.name).open("a") as kept, recorded.open() as new:
                shutil.copyfileobj(new, kept)


def parsed():
    def names(text):
        return text.split(",")

    parser = argparse.ArgumentParser(prog="bench", description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--what", choices=ALONE, default="few", help="which machines, or beside which programs")
    parser.add_argument("--minutes", type=float, help="of wall time in which blocks may begin (default 57; full: 87)")
    parser.add_argument("--seed", help="of machines, loads, order and phases (default: drawn, and printed)")
    parser.add_argument("--only", type=names, default=[], metavar="MACHINE,…",
                        help="measure these instead, such as 4ns-stock-voluntary-alone or 1ns-trixie-full-6250Hz")
    parser.add_argument("--loads", type=names, default=[], metavar="LOAD,…", help="with --only: under these loads only")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="guests side by side (default 2)")
    parser.add_argument("--fresh", action="store_true", help="do not continue an earlier run")
    parser.add_argument("--report", action="store_true", help="only write the page again, from the last records")
    parser.add_argument("--into", type=pathlib.Path, default=PROJECT / "Benchmarks", help="where the page goes")
    options = parser.parse_args()
    options.minutes = options.minutes or LONGEST.get(options.what, 57)
    if unknown := set(options.only) - set(lab_machines.ALL) | set(options.loads) - {*LOADS, "drawn"}:
        parser.error(f"not known: {', '.join(sorted(unknown))}; machines are {', '.join(lab_machines.ALL)}")
    return options


def main():
    options = parsed()
    run = Run(options)
    if not options.report:
        run.measure()
    if options.what == "count":
        found = costs.counted(json.loads((run.folder / "count.json").read_text()))
        print(*(f"{name}: {value}" for name, value in found.items()), sep="\n")
    else:
        page = programs_page if options.what == "programs" else report
        print(page.write(run.folder, options.into))


if __name__ == "__main__":
    main()
