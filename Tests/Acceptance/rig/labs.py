"""Runs the scripts of `guest/` in the lab's kernel and hands back what they wrote down."""

import concurrent.futures
import json
import pathlib
import subprocess
import tempfile

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


def record(script, options=(), arguments=(), timeout=420):
    """Boots the lab once, runs one script there, and returns the JSON it wrote."""
    # Under the project, because the guest has a /tmp of its own.
    (PROJECT / ".lab").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PROJECT / ".lab") as folder:
        pathlib.Path(folder).chmod(0o777)
        result = pathlib.Path(folder) / "result.json"
        command = [
            LAB, "--timeout", str(timeout), "--writable", folder, "--env", f"TACTUS={TACTUS}", *options, "--", PYTHON,
            GUEST / script, result, *arguments]
        done = subprocess.run(
            [str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=timeout + 60)
        assert done.returncode == 0, f"{script} in the lab, exit {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return json.loads(result.read_text())


class Recordings:
    """Recordings made ahead of the tests that want them, two at a time; each is made once."""

    def __init__(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(max_workers=2)
        self.running = {}

    def prepare(self, name, *arguments, **options):
        if name not in self.running:
            self.running[name] = self.pool.submit(record, *arguments, **options)

    def __getitem__(self, name):
        return self.running[name].result()

    def close(self):
        self.pool.shutdown(wait=True, cancel_futures=True)
