"""A system bus (D-Bus) of a test's own, and the programs on it."""

import contextlib
import os
import subprocess

from rig.wait import until

BUS = "DBUS_SYSTEM_BUS_ADDRESS"
CONFIGURATION = """
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type> <listen>{address}</listen> <auth>EXTERNAL</auth> <servicedir>{services}</servicedir>
  <policy context="default">
    <allow user="*"/> <allow own="*"/> <allow send_destination="*"/> <allow eavesdrop="true"/>
  </policy>
</busconfig>
"""


class Bus:
    """A bus at the address that `DBUS_SYSTEM_BUS_ADDRESS` names. It and all programs on it end with the test."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.services = folder / "services"
        self.services.mkdir()
        text = CONFIGURATION.format(address=os.environ[BUS], services=self.services)
        (folder / "bus.conf").write_text(text)
        self.daemon = self.run()
        until((folder / "bus").exists, "the bus is there")

    def run(self):
        return self.start(
            "setpriv", "--pdeathsig", "KILL", "dbus-daemon", "--nofork", f"--config-file={self.folder}/bus.conf")

    @contextlib.contextmanager
    def away(self):
        """The bus fails, and is there again after the `with` block."""
        self.daemon.kill()
        self.daemon.wait()
        try:
            yield
        finally:
            self.daemon = self.run()

    def offer(self, name, *command):
        """Lets the bus start a program when its name is first asked for; the program ends with the bus."""
        words = " ".join(map(str, command))
        (self.services / f"{name}.service").write_text(f"[D-BUS Service]\nName={name}\nExec={words}\n")

    def start(self, *command, **options):
        with (self.folder / "log").open("ab") as log:
            self.processes.append(
                subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options))
        return self.processes[-1]

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
