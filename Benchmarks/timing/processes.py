"""Programs under measurement: started with real-time rights, preloaded, ended together."""

import os
import pathlib
import re
import subprocess
import time

from rig.guest import preload

CLIENTS = pathlib.Path("/proc/asound/seq/clients")


class Programs:
    """The processes of one candidate, ended in the reverse order of their start."""

    def __init__(self, folder):
        self.folder = folder
        self.running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(timeout=3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def start(self, *command, priority=None, stdin=subprocess.DEVNULL, **environment):
        """Starts one program; `priority` puts all of it under SCHED_FIFO. Its output goes to a file."""
        chrt = ["chrt", "--fifo", str(priority)] if priority else []
        with open(self.log, "ab") as log:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *chrt, *map(str, command)], stdin=stdin, stdout=log, stderr=log,
                cwd=self.folder, env={**os.environ, **environment})
        self.running.append(process)
        return process

    def run(self, *command, within=60, **options):
        """Runs one program to its end and returns what it printed."""
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, timeout=within, check=True, **options)
        return done.stdout

    def until(self, condition, what, within=60):
        """Waits for something that the programs should do."""
        deadline = time.monotonic() + within
        while not (value := condition()):
            self.check()
            if time.monotonic() > deadline:
                raise RuntimeError(f"not within {within} s: {what}; output: {self.output}")
            time.sleep(0.05)
        return value

    def port(self, client, name, within=120):
        """The address of a port, by its client's name and a part of its own; also of ports not marked as MIDI."""
        pattern = re.compile(rf'Client +(\d+) : "{client}".*\n(?: +Port.*\n)*? +Port +(\d+) : "[^"]*{name}[^"]*"')
        found = self.until(lambda: pattern.search(CLIENTS.read_text()), f"a port {client}:{name}", within)
        return int(found.group(1)), int(found.group(2))

    def check(self):
        """Fails if one of the programs has ended by itself."""
        for process in self.running:
            if process.poll() is not None:
                raise RuntimeError(f"{process.args[3:]} ended with {process.returncode}; output: {self.output}")

    def preload(self):
        """Reads in all that the programs have mapped, so that no page is waited for later."""
        preload(*(process.pid for process in self.running), "self")

    @property
    def log(self):
        return os.path.join(self.folder, "output")

    @property
    def output(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-2000:]

    def output_lines(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read().splitlines()
