"""Runs the scripts of `guest/` in the lab's kernel and returns their results."""

import concurrent.futures
import json
import pathlib
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from rig.compiler import compile_c
from rig.gateway import PROJECT, TACTUS

LAB = PROJECT / "Tests/Lab/lab"
PYTHON = PROJECT / ".venv/bin/python"
GUEST = pathlib.Path(__file__).resolve().parents[1] / "guest"
# Seconds of wall time after which a boot is ended; it may run under `nice`, and only one that hangs takes so long.
LONGEST = 2400
FETCHED = subprocess.run([LAB, "--kernels"], check=True, capture_output=True, text=True).stdout.split()
# The one that is PREEMPT_RT.
REAL_TIME = "rt"
# What the sequencer allows differs from kernel to kernel.
KERNELS = [name for name in FETCHED if name != REAL_TIME]


# The compiler's options for a library to preload.
LIBRARY = ("-shared", "-fPIC")


def compiled(source, folder, *options):
    """Compiles a C file of `guest/` into a program, or with `LIBRARY` into a library."""
    target = (pathlib.Path(folder) / source).with_suffix("")
    compile_c(GUEST / source, target, *options, "-O1")
    target.chmod(0o755)
    return target


@dataclass(frozen=True)
class Boot:
    """One boot of the lab: scripts to run one after another, and options for the lab.

    `libraries` are C files that scripts may preload, `programs` such that they may run; each is found through the
    environment variable that is its key. One that `takes_long`, a minute or two, is booted before others: else it could
    be left over at the end, with one processor idle.
    """

    scripts: dict  # by name: the script and its arguments
    options: tuple = ()
    libraries: dict = field(default_factory=dict)
    programs: dict = field(default_factory=dict)
    takes_long: bool = False


def command(boot, folder):
    """The words that boot the lab and run the scripts, whose results go into `folder`, numbered.

    The folder must be in the project, because the guest has its own /tmp.
    """
    pathlib.Path(folder).chmod(0o777)
    scripts = [
        [PYTHON, GUEST / script, f"{folder}/{number}.json", *arguments]
        for number, (script, *arguments) in enumerate(boot.scripts.values())]
    files = {name: compiled(source, folder, *LIBRARY) for name, source in boot.libraries.items()}
    files |= {name: compiled(source, folder) for name, source in boot.programs.items()}
    variables = [word for name, file in files.items() for word in ("--env", f"{name}={file}")]
    words = [
        LAB, "--timeout", LONGEST, "--writable", folder, "--env", f"TACTUS={TACTUS}", *variables, *boot.options, "--",
        "sh", "-c", " && ".join(shlex.join(map(str, words)) for words in scripts)]
    return [str(word) for word in words]


def record(boot, running=None):
    """Boots the lab once, runs the scripts, and returns each one's result by name."""
    (PROJECT / ".lab").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PROJECT / ".lab") as folder:
        words = command(boot, folder)
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if running is not None:
            running.add(process)
        out, error = process.communicate()  # needs no timeout, because the lab has its own
        assert process.returncode == 0, f"{words[-1]} in the lab, exit {process.returncode}:\n{out}\n{error}"
        return {
            name: json.loads((pathlib.Path(folder) / f"{number}.json").read_text())
            for number, name in enumerate(boot.scripts)}


class Recordings:
    """The lab's results for the tests. Two boots run at a time, each once."""

    def __init__(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(max_workers=2)
        self.made = {}
        self.running = set()
        self.seconds = {}

    def prepare(self, boots):
        """Schedules boots, each with the name of its test module."""
        for module, boot in sorted(boots, key=lambda each: not each[1].takes_long):
            made = self.pool.submit(self.timed, f"{module}: {', '.join(map(str, boot.scripts))}", boot)
            for name in boot.scripts:
                self.made[module, name] = made

    def timed(self, name, boot):
        began = time.monotonic()
        try:
            return record(boot, self.running)
        finally:
            self.seconds[name] = time.monotonic() - began

    def close(self):
        """Ends all boots."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        for process in list(self.running):
            if process.poll() is None:
                process.terminate()
        self.pool.shutdown(wait=True)


@dataclass(frozen=True)
class OfModule:
    """The results of one test module, by the script names in its `BOOTS`."""

    recordings: Recordings
    module: str

    def __getitem__(self, name):
        return self.recordings.made[self.module, name].result()[name]
