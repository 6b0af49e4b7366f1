"""Several hosts: network namespaces connected to a bridge in its own namespace."""

import contextlib
import os
import subprocess

from rig.wait import until

# The kernel ends it, and its namespace, with the tests.
HOLD = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"]


class Namespace:
    """A network namespace that lives as long as the process that holds it."""

    def __init__(self):
        self.holder = subprocess.Popen(HOLD, stdin=subprocess.DEVNULL)
        own = self._name("self")
        until(lambda: self._name(self.holder.pid) != own, "the namespace is there")
        self.run("ip", "link", "set", "lo", "up")

    @staticmethod
    def _name(process):
        with contextlib.suppress(OSError):
            return os.readlink(f"/proc/{process}/ns/net")

    @property
    def enter(self):
        """The arguments in front of a command to run there."""
        return ["nsenter", "--target", str(self.holder.pid), "--net"]

    def run(self, *command):
        # Without a time limit: the lab's clock would skip to its end while a program is read from the host.
        done = subprocess.run([*self.enter, *map(str, command)], capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}"
        return done.stdout

    def close(self):
        self.holder.kill()
        self.holder.wait()


class Network:
    """A bridge and the hosts at it; `cable` adds a host, or another interface to one."""

    def __init__(self, number=1):
        self.number = number
        self.bridge = Namespace()
        self.cables = 0
        self.hosts = []
        self.bridge.run("ip", "link", "add", "bridge", "type", "bridge")
        self.bridge.run("ip", "link", "set", "bridge", "up")

    def cable(self, host=None, interface="eth0", ipv4=True, address=None):
        """Plugs a host in, a new one unless it is given; returns it."""
        if host is None:
            host = Namespace()
            self.hosts.append(host)
        self.cables += 1
        port = f"port{self.cables}"
        self.bridge.run(
            "ip", "link", "add", port, "type", "veth", "peer", "name", interface, "netns", host.holder.pid)
        self.bridge.run("ip", "link", "set", port, "master", "bridge", "up")
        # Otherwise the kernel checks for a second whether another host has the address.
        host.run("sysctl", "-q", f"net.ipv6.conf.{interface}.accept_dad=0")
        if ipv4:
            last = address or self.cables
            host.run("ip", "address", "add", f"10.{self.number}.0.{last}/24", "dev", interface)
        host.run("ip", "link", "set", interface, "up")
        return host

    def unplug(self, port):
        """Pulls the cable that was the `port`-th to be plugged in."""
        self.bridge.run("ip", "link", "set", f"port{port}", "nomaster")

    def plug(self, port):
        self.bridge.run("ip", "link", "set", f"port{port}", "master", "bridge")

    def close(self):
        for namespace in [*self.hosts, self.bridge]:
            namespace.close()
