"""Measures Tactus and other programs that send MIDI clock, and writes Benchmarks/timing.md.

The way of the data: candidates/ and loads.py are what is measured, under what; plan.py says who comes when; visits.py
records it in the lab, gateway.py what concerns Tactus alone; measures.py makes figures of records, goals.py holds them
against what is asked, report.py and plot.py write them down.

Two guests run side by side, one for each preemption model of the kernel, after two short ones for what concerns Tactus
alone. Records go to .build/bench, so that `--report` can write the report again without measuring. TACTUS in the
environment names another executable than the release build.
"""

import argparse
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import lab_paths
import loads
import plan
import report
from candidates import CANDIDATES
from rig.compiler import compile_c
from rig.gateway import PROJECT, TACTUS
from rig.labs import LAB, PYTHON, Boot, record

RECORDS = PROJECT / ".build/bench"
SLEEPER = RECORDS / "sleeper"
QUIET = "transparent_hugepage=never"


def measure_gateway(options):
    """Drift in one guest, outputs in the other."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        asked = {
            "drift.json": ["drift", options.drift],
            "outputs.json": ["outputs", options.outputs_for, 1, 8, 64],
        }
        made = {
            name: pool.submit(record, Boot(
                {name: (lab_paths.HERE / "gateway.py", *words)}, ["--kernel-args", QUIET]))
            for name, words in asked.items()}
        for name, future in made.items():
            (RECORDS / name).write_text(json.dumps(future.result()[name]))
            print(f"{name} done", flush=True)


def boot(model, options, folder, seconds_left):
    """One guest, visiting until it is told that it is enough; its lines are passed on with the host's time."""
    command = [
        "setpriv", "--pdeathsig", "TERM",  # upon which the lab ends its guest
        LAB, "--timeout", seconds_left + 600, "--shift", options.shift, "--kernel-args", f"preempt={model} {QUIET}",
        "--writable", folder,
        "--env", f"TACTUS={TACTUS}", "--env", f"SLEEPER={SLEEPER}", "--", PYTHON, lab_paths.HERE / "visits.py", folder,
        model, options.seed, options.rounds, options.seconds, options.stay, ",".join(options.candidates),
        ",".join(options.loads)]
    begun = time.monotonic()
    guest = subprocess.Popen(
        [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    for line in guest.stdout:
        print(f"[{time.monotonic() - begun:4.0f} s] {line}", end="", flush=True)
    return guest.wait()


def measure_all(options, until):
    """Both guests side by side, until the plan is carried out or the time is up."""
    # Under the project, because the guest has a /tmp of its own.
    (PROJECT / ".lab").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PROJECT / ".lab") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        if options.resume:
            for path in RECORDS.glob("*.jsonl"):
                shutil.copy(path, folder)
        left = max(0, until - time.monotonic())
        timer = threading.Timer(left, (folder / "enough").touch)
        timer.start()
        try:
            with concurrent.futures.ThreadPoolExecutor() as pool:
                guests = [pool.submit(boot, model, options, folder, left) for model in options.models]
                codes = [guest.result() for guest in guests]
        finally:
            timer.cancel()
            for path in folder.glob("*.jsonl"):
                shutil.copy(path, RECORDS)
    if any(codes):
        print(f"bench: a guest ended with {codes}; what it had recorded is in the report", file=sys.stderr)


def describe(options, begun, before):
    """What the report says of the run itself."""
    version = subprocess.run([TACTUS, "--version"], capture_output=True, text=True).stdout.strip()
    kernels = sorted((PROJECT / ".lab/kernel").glob("boot/vmlinuz-*"))
    return {
        "target": options.target, "seconds": options.seconds, "stay": options.stay, "seed": options.seed,
        "shift": options.shift, "minutes": before + (time.monotonic() - begun) / 60,
        "version": f"Tactus {version.split()[-1] if version else '?'}",
        "kernel": kernels[0].name.removeprefix("vmlinuz-") if kernels else "?"}


def parsed():
    def names(text):
        return text.split(",")

    parser = argparse.ArgumentParser(prog="bench", description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--target", default="bench", help="the make target to name in the report")
    parser.add_argument("--minutes", type=float, default=57, help="of wall time in which blocks may begin (default 57)")
    parser.add_argument("--seconds", type=float, default=2, help="length of a block; idle ones are longer (default 2)")
    parser.add_argument("--stay", type=int, default=12, metavar="N", help="ours are N times as long (default 12)")
    parser.add_argument("--rounds", type=int, default=4, help="visits of each candidate and model (default 4)")
    parser.add_argument("--seed", default="1", help="of the order and the phases")
    parser.add_argument("--shift", type=int, default=0, metavar="N", help="an instruction lasts 2^N ns (default 0)")
    parser.add_argument("--drift", type=float, default=600, metavar="SECONDS", help="0: neither drift nor outputs")
    parser.add_argument("--outputs-for", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--candidates", type=names, default=list(CANDIDATES))
    parser.add_argument("--loads", type=names, default=list(loads.LOADS))
    parser.add_argument("--models", type=names, default=list(plan.MODELS))
    parser.add_argument("--resume", action="store_true", help="carry out the rest of the last run's plan")
    parser.add_argument("--into", type=pathlib.Path, default=PROJECT / "Benchmarks", help="where the report goes")
    parser.add_argument("--report", action="store_true", help="only write the report again, from the last records")
    return parser.parse_args()


def main():
    options = parsed()
    if not options.report:
        begun = time.monotonic()
        RECORDS.mkdir(parents=True, exist_ok=True)
        before = json.loads((RECORDS / "run.json").read_text())["minutes"] if options.resume else 0
        for outdated in [] if options.resume else [*RECORDS.glob("*.json"), *RECORDS.glob("*.jsonl")]:
            outdated.unlink()
        compile_c(lab_paths.HERE / "sleeper.c", SLEEPER, "-O2")
        if options.drift and not options.resume:
            measure_gateway(options)
        measure_all(options, begun + 60 * options.minutes)
        (RECORDS / "run.json").write_text(json.dumps(describe(options, begun, before)))
    print(report.write(RECORDS, options.into))


if __name__ == "__main__":
    main()
