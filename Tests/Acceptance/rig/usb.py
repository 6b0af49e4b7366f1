"""USB MIDI devices in the lab: gadgets of its kernel, plugged into its own ports, that drivers take for real ones."""

import os
import pathlib
import struct
import subprocess
import threading

from rig.clocks import raw_microseconds
from rig.framed import NAMES
from rig.gateway import PROJECT

GADGETS = pathlib.Path("/sys/kernel/config/usb_gadget")
SOCKETS = 3


def make_sockets():
    """Loads what is needed from the lab's kernel package; returns whether that has it."""
    tree = PROJECT / ".lab/kernel"
    root = next(root for root in (tree, tree / "usr") if (root / "lib/modules").exists())
    for words in (["dummy_hcd", f"num={SOCKETS}"], ["usb_f_midi"], ["usb_f_fs"], ["snd-usb-audio"]):
        if subprocess.run(["modprobe", "-d", root, "-S", os.uname().release, *words], stderr=subprocess.DEVNULL).returncode:
            return False
    if not GADGETS.exists():
        subprocess.run(["mount", "-t", "configfs", "none", GADGETS.parent], check=True)
    return True


class Gadget:
    """A device of one function; drivers call it by its product's name, unless they know it by its numbers."""

    def __init__(self, name, socket, function, vendor, product):
        self.socket = socket
        self.root = GADGETS / f"device{socket}"
        self.function = self.root / "functions" / function
        for folder in ("strings/0x409", "configs/c.1", self.function):
            (self.root / folder).mkdir(parents=True)
        for path, value in {
                "idVendor": vendor, "idProduct": product, "strings/0x409/manufacturer": "Tests",
                "strings/0x409/product": name}.items():
            (self.root / path).write_text(value)

    def plug(self):
        if not (link := self.root / "configs/c.1" / self.function.name).exists():
            link.symlink_to(self.function)
        (self.root / "UDC").write_text(f"dummy_udc.{self.socket}\n")

    def pull(self):
        (self.root / "UDC").write_text("\n")


class Instrument(Gadget):
    """A device with one MIDI port each way, whose own side is another card."""

    def __init__(self, name, socket):
        super().__init__(name, socket, "midi.0", "0x1d6b", "0x0104")
        (self.function / "id").write_text(f"far{socket}")

    @property
    def card(self):
        """The number of the card at the device's side, whose raw port hears what arrives over the cable."""
        return int(os.readlink(f"/proc/asound/far{self.socket}").removeprefix("card"))


class Interface(Gadget):
    """A MIDI interface such as drivers know, an EDIROL UM-1, that can cease to take what is sent to it.

    `events` are [name, microseconds of RAW] and `positions` the song's, in sixteenths.
    """

    NAME = "UM-1"

    def __init__(self, socket):
        super().__init__(self.NAME, socket, "ffs.interface", "0x0582", "0x0009")
        folder = pathlib.Path("/tmp/interface")
        folder.mkdir()
        subprocess.run(["mount", "-t", "functionfs", "interface", folder], check=True)
        # Magic numbers, one interface of the maker's own class, and an endpoint each way, for both speeds.
        speeds = [
            struct.pack("<9B", 9, 4, 0, 0, 2, 255, 0, 0, 0) + struct.pack("<4BHB", 7, 5, 0x01, 2, packet, 0)
            + struct.pack("<4BHB", 7, 5, 0x82, 2, packet, 0) for packet in (64, 512)]
        descriptors = struct.pack("<II", 3, 3) + b"".join(speeds)
        self.control = os.open(folder / "ep0", os.O_RDWR)
        os.write(self.control, struct.pack("<III", 3, 12 + len(descriptors), 3) + descriptors)
        os.write(self.control, struct.pack("<IIII", 2, 16, 0, 0))
        self.endpoint = folder / "ep1"
        self.taking = threading.Event()
        self.taking.set()
        self.events, self.positions = [], []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        """Takes packets of four bytes as long as it is to; one is always on its way."""
        while True:
            try:
                with open(self.endpoint, "rb", buffering=0) as endpoint:
                    while self.taking.wait():
                        data, at = endpoint.read(512), raw_microseconds()
                        for packet in struct.iter_unpack("4B", data):
                            self.take(packet, at)
            except OSError:  # not plugged in
                self.taking.wait()

    def take(self, packet, at):
        kind, status, low, high = packet
        if status in NAMES:
            self.events.append([NAMES[status], at])
        if kind & 0xF == 3 and NAMES.get(status) == "position":
            self.positions.append([low | high << 7, at])

    @property
    def card(self):
        """The number of the card that its driver makes for it."""
        cards = pathlib.Path("/proc/asound/cards").read_text().splitlines()
        return next(int(line.split()[0]) for line in cards if line.endswith(f"- {self.NAME}"))
