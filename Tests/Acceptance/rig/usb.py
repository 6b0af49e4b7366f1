"""USB MIDI devices in the lab, which are gadgets of its own kernel. Drivers treat them as real devices."""

import os
import pathlib
import subprocess

from rig.gateway import PROJECT

GADGETS = pathlib.Path("/sys/kernel/config/usb_gadget")
VENDOR, PRODUCT = "0x1d6b", "0x0104"
SOCKETS = 3


def make_sockets():
    """Loads the modules that gadgets need; returns whether the lab's kernel package has them."""
    tree = PROJECT / ".lab/kernel"
    root = next(root for root in (tree, tree / "usr") if (root / "lib/modules").exists())
    for words in (["dummy_hcd", f"num={SOCKETS}"], ["usb_f_midi"], ["snd-usb-audio"]):
        if subprocess.run(["modprobe", "-d", root, "-S", os.uname().release, *words], stderr=subprocess.DEVNULL).returncode:
            return False
    if not GADGETS.exists():
        subprocess.run(["mount", "-t", "configfs", "none", GADGETS.parent], check=True)
    return True


class Gadget:
    """One device with one MIDI port each way; `name` is its USB product name."""

    def __init__(self, name, socket):
        self.name, self.socket = name, socket
        self.root = GADGETS / f"device{socket}"
        for folder in ("strings/0x409", "configs/c.1", "functions/midi.0"):
            (self.root / folder).mkdir(parents=True)
        for path, value in {
                "idVendor": VENDOR, "idProduct": PRODUCT, "strings/0x409/manufacturer": "Tests",
                "strings/0x409/product": name, "functions/midi.0/id": f"far{socket}"}.items():
            (self.root / path).write_text(value)
        (self.root / "configs/c.1/midi.0").symlink_to(self.root / "functions/midi.0")

    def plug(self):
        (self.root / "UDC").write_text(f"dummy_udc.{self.socket}\n")

    def pull(self):
        (self.root / "UDC").write_text("\n")

    @property
    def card(self):
        """The number of the card on the device's side; its raw port receives what is sent over the cable."""
        return int(os.readlink(f"/proc/asound/far{self.socket}").removeprefix("card"))

    @property
    def driver(self):
        """The number of the card on the computer's side, which the USB driver creates."""
        cards = pathlib.Path("/proc/asound/cards").read_text().splitlines()
        return next(int(line.split()[0]) for line in cards if line.endswith(f"USB-Audio - {self.name}"))
