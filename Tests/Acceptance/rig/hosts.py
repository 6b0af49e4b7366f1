"""Simulates several hosts: network namespaces, connected to a bridge in another namespace."""

import contextlib
import itertools
import os
import subprocess
import types

from rig.wait import until

# The kernel ends this process, and with it the namespace, when the tests end.
HOLD = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"]


class Namespace:
    """A network namespace, which exists as long as the process that holds it."""

    interface = "eth0"

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
        """The words in front of a command that run it in this namespace."""
        return ["nsenter", "--target", str(self.holder.pid), "--net"]

    def run(self, *command):
        done = subprocess.run([*self.enter, *map(str, command)], capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stderr}"
        return done.stdout

    def close(self):
        self.holder.kill()
        self.holder.wait()


class OwnHost:
    """The namespace of the tests, as a host; what is plugged into it is gone when its network is closed."""

    enter = ()
    _numbers = itertools.count(1)

    def __init__(self):
        self.interface = f"own{next(self._numbers)}"
        self.holder = types.SimpleNamespace(pid=os.getpid())

    def run(self, *command):
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout


class Network:
    """A bridge with hosts; `cable` adds a host, or an interface to a host."""

    def __init__(self, number=1):
        self.number = number
        self.bridge = Namespace()
        self.cables = 0
        self.hosts = []
        self.own_ports = []
        self.bridge.run("ip", "link", "add", "bridge", "type", "bridge")
        self.bridge.run("ip", "link", "set", "bridge", "up")

    def cable(self, host=None, interface=None, ipv4=True, address=None):
        """Connects `host`, or a new host, to the bridge; returns the host."""
        if host is None:
            host = Namespace()
            self.hosts.append(host)
        interface = interface or host.interface
        self.cables += 1
        port = f"port{self.cables}"
        if isinstance(host, OwnHost):
            self.own_ports.append(port)
        self.bridge.run(
            "ip", "link", "add", port, "type", "veth", "peer", "name", interface, "netns", host.holder.pid)
        self.bridge.run("ip", "link", "set", port, "master", "bridge", "up")
        # Otherwise the kernel first spends a second checking whether another host has the address.
        host.run("sysctl", "-q", f"net.ipv6.conf.{interface}.accept_dad=0")
        if ipv4:
            last = address or self.cables
            host.run("ip", "address", "add", f"10.{self.number}.0.{last}/24", "dev", interface)
        host.run("ip", "link", "set", interface, "up")
        return host

    def close(self):
        # The kernel removes a namespace's interfaces some time after its last process; a deleted one is gone at once.
        for port in self.own_ports:
            self.bridge.run("ip", "link", "delete", port)
        for namespace in [*self.hosts, self.bridge]:
            namespace.close()
