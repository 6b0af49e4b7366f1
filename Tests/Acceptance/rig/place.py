"""A network namespace for one test, with its own interfaces, firewall rules and programs."""

import subprocess

from rig.gateway import run_tactus


class Place:
    """A network namespace, held by a process that does nothing."""

    def __init__(self, *commands):
        self.holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--mount", "sh", "-c", "echo; exec sleep 600"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.holder.stdout.readline()  # waits until the namespace exists
        self.enter = ["nsenter", f"--target={self.holder.pid}", "--net", "--mount", "--"]
        self.run("ip link set lo up", *commands)

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def run(self, *commands):
        for command in commands:
            subprocess.run([*self.enter, "sh", "-ec", command], check=True, stdin=subprocess.DEVNULL, timeout=60)

    def start(self, *command, **options):
        """Starts a program in this namespace; it ends with the test at the latest."""
        return subprocess.Popen(
            [*self.enter, "setpriv", "--pdeathsig", "KILL", *map(str, command)], stdin=subprocess.DEVNULL, **options)

    def tactus(self, *arguments, **options):
        return run_tactus(*arguments, before=self.enter, **options)
