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
# What the sequencer allows differs from kernel to kernel.
KERNELS = subprocess.run([LAB, "--kernels"], check=True, capture_output=True, text=True).stdout.split()


def compiled(source, folder):
    """A C file of `guest/` as a library to preload."""
    library = (pathlib.Path(folder) / source).with_suffix(".so")
    compile_c(GUEST / source, library, "-shared", "-fPIC", "-O1")
    library.chmod(0o755)
    return library


@dataclass(frozen=True)
class Boot:
    """One boot of the lab: scripts with their arguments, one after another, and the lab's options.

    `libraries` are C files that a script may preload, by the environment names under which it finds them.
    """

    scripts: dict  # by name: the words of each
    options: tuple = ()
    libraries: dict = field(default_factory=dict)
    timeout: float = 900  # seconds of wall time


def record(boot, running=None):
    """Boots the lab once, runs the scripts there, and returns what each has written, by its name."""
    # Under the project, because the guest has a /tmp of its own.
    (PROJECT / ".lab").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PROJECT / ".lab") as folder:
        pathlib.Path(folder).chmod(0o777)
        scripts = [
            [PYTHON, GUEST / script, f"{folder}/{number}.json", *arguments]
            for number, (script, *arguments) in enumerate(boot.scripts.values())]
        line = " && ".join(shlex.join(map(str, words)) for words in scripts)
        libraries = [
            word for name, source in boot.libraries.items() for word in ("--env", f"{name}={compiled(source, folder)}")]
        command = [
            LAB, "--timeout", str(boot.timeout), "--writable", folder, "--env", f"TACTUS={TACTUS}", *libraries,
            *boot.options, "--", "sh", "-c", line]
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        if running is not None:
            running.add(process)
        out, error = process.communicate()  # which the lab ends at its own time limit
        assert process.returncode == 0, f"{line} in the lab, exit {process.returncode}:\n{out}\n{error}"
        return {
            name: json.loads((pathlib.Path(folder) / f"{number}.json").read_text())
            for number, name in enumerate(boot.scripts)}


class Recordings:
    """What the lab recorded for the tests, two boots at a time; each boot is made once and ahead of its tests."""

    def __init__(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(max_workers=2)
        self.made = {}
        self.running = set()
        self.seconds = {}

    def prepare(self, module, boots):
        """Boots the lab for a module of tests as soon as there is room."""
        for boot in boots:
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
        """Ends whatever no test waits for any more."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        for process in list(self.running):
            if process.poll() is None:
                process.terminate()
        self.pool.shutdown(wait=True)


@dataclass(frozen=True)
class OfModule:
    """The recordings of one module, by the names of the scripts in its `BOOTS`."""

    recordings: Recordings
    module: str

    def __getitem__(self, name):
        return self.recordings.made[self.module, name].result()[name]
