"""PipeWire with its bridge to the ALSA sequencer, as a desktop runs it; for the lab."""

import os
import pathlib
import re
import subprocess

from rig.bus import BUS, Bus
from rig.cards import sequencer
from rig.guest import awake
from rig.wait import until

# WirePlumber watches systemd's logins, and ends if these folders are missing.
LOGINS = [pathlib.Path("/run/systemd", name) for name in ("seats", "sessions", "users", "machines")]
# What comes in at the second virtual port is sent to the third.
PIPEWIRE_LINK = [
    "Midi-Bridge:Virtual MIDI Card 1:(capture_0) VirMIDI 0-1",
    "Midi-Bridge:Virtual MIDI Card 1:(playback_0) VirMIDI 0-2",
]


def queue_runs(client):
    """Whether a queue of the client with this number is running."""
    queues = pathlib.Path("/proc/asound/seq/queues").read_text().split("\n\n")
    return any(
        re.search(rf"^owned by client +: {client}$", queue, re.M) and re.search("^timer state +: Running$", queue, re.M)
        for queue in queues)


def printed(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout


class PipeWire:
    """PipeWire, and its session manager, which starts the bridge. Its queue runs while anything is linked to it.

    All of them end with the `with` block.
    """

    CLIENT = "PipeWire-RT-Event"

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        self.bus = None

    def __enter__(self):
        try:
            # Its programs have timeouts, which must not pass while their files are loaded.
            with awake():
                self.open()
            (self.port,) = until(self.ports, f"{self.CLIENT} is at the sequencer")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def open(self):
        for folder in LOGINS:
            folder.mkdir(parents=True, exist_ok=True)
        os.environ |= {
            "XDG_RUNTIME_DIR": str(self.folder), BUS: f"unix:path={self.folder}/bus",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.folder}/bus"}
        self.bus = Bus(self.folder)
        self.start("pipewire")
        until((self.folder / "pipewire-0").exists, "PipeWire is there")
        self.start("wireplumber")
        until(
            lambda: set(PIPEWIRE_LINK) <= set(printed("pw-link", "-io").splitlines()), "its bridge has the ports",
            every=0.1)

    def start(self, *command):
        with (self.folder / "log").open("ab") as log:
            self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        if self.bus:
            self.bus.stop()

    def ports(self):
        return [address for address, port in sequencer().items() if port["client"] == self.CLIENT]

    def link(self):
        subprocess.run(["pw-link", *PIPEWIRE_LINK], check=True)
        until(lambda: self.queue_runs, "the bridge's queue runs")

    @property
    def pids(self):
        return [process.pid for process in self.processes]

    @property
    def queue_runs(self):
        return queue_runs(self.port.split(":")[0])
