"""USB MIDI machines in the lab: gadgets of its own kernel, which the kernel's USB MIDI driver takes for real ones.

Each has two ends. On the computer's side is the card that this driver makes. The machine's side is a card of the gadget's,
whose raw ports receive what came over the cable and send over it.
"""

import os
import pathlib
import subprocess

from rig.gateway import PROJECT

GADGETS = pathlib.Path("/sys/kernel/config/usb_gadget")
SOCKETS = 3
# The list of USB numbers has these makers; a machine that it does not have gets a number that nobody uses.
ROLAND, NOVATION, WALDORF, BEHRINGER, MCS, ELEKTRON, ARTURIA, TEENAGE_ENGINEERING = (
    0x0582, 0x1235, 0x12E6, 0x1397, 0x16D0, 0x1935, 0x1C75, 0x2367)
UNKNOWN = 0xFFFF
NUMBERS = {
    "Arturia BeatStep Pro": (ARTURIA, UNKNOWN), "Arturia KeyStep 32": (ARTURIA, 0x0288), "KeyStep 37": (ARTURIA, UNKNOWN),
    "RD-8": (BEHRINGER, UNKNOWN), "TD-3": (BEHRINGER, UNKNOWN), "Circuit Tracks MIDI": (NOVATION, UNKNOWN),
    "Elektron Digitakt": (ELEKTRON, 0x000D), "Elektron": (ELEKTRON, UNKNOWN), "MC-101": (ROLAND, UNKNOWN),
    "TR-6S": (ROLAND, UNKNOWN), "TR-8S": (ROLAND, 0x020A), "Deluge": (MCS, UNKNOWN), "Blofeld": (WALDORF, 0x0013),
    "EP-133": (TEENAGE_ENGINEERING, UNKNOWN), "OP-1": (TEENAGE_ENGINEERING, 0x0002), "OP-Z": (TEENAGE_ENGINEERING, 0x000C),
}
NOBODY = (0x1D6B, 0x0104)  # the kernel's own, for gadgets
PORTS = {"Arturia BeatStep Pro": 2, "TR-6S": 2, "TR-8S": 2, "Deluge": 3}


def modules():
    """The folder with the modules of the kernel that runs."""
    roots = [root for kernel in (PROJECT / ".lab").glob("kernel*") for root in (kernel, kernel / "usr")]
    return next(root for root in roots if (root / "lib/modules" / os.uname().release).exists())


def make_sockets():
    """Loads the modules that gadgets need; returns whether the lab's kernel package has them."""
    for words in (["dummy_hcd", f"num={SOCKETS}"], ["usb_f_midi"], ["snd-usb-audio"]):
        command = ["modprobe", "-d", modules(), "-S", os.uname().release, *words]
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
            return False
    if not GADGETS.exists():
        subprocess.run(["mount", "-t", "configfs", "none", GADGETS.parent], check=True)
    return True


class Gadget:
    """One machine at one of the sockets; `name` is its USB product name, from which its numbers and ports follow."""

    def __init__(self, name, socket):
        self.name, self.socket = name, socket
        self.ports = PORTS.get(name, 1)
        self.root = GADGETS / f"device{socket}"
        vendor, product = NUMBERS.get(name) or NUMBERS.get(name.split()[0], NOBODY)
        for folder in ("strings/0x409", "configs/c.1", "functions/midi.0"):
            (self.root / folder).mkdir(parents=True)
        for path, value in {
                "idVendor": f"{vendor:#x}", "idProduct": f"{product:#x}", "strings/0x409/manufacturer": "Tests",
                "strings/0x409/product": name, "functions/midi.0/id": f"far{socket}",
                "functions/midi.0/in_ports": self.ports, "functions/midi.0/out_ports": self.ports}.items():
            (self.root / path).write_text(str(value))
        (self.root / "configs/c.1/midi.0").symlink_to(self.root / "functions/midi.0")

    def plug(self):
        """Afterwards the machine's side is there. The computer's comes a moment later, when the driver has looked at it."""
        (self.root / "UDC").write_text(f"dummy_udc.{self.socket}\n")

    def pull(self):
        (self.root / "UDC").write_text("\n")

    def remove(self):
        """Takes it away for good, so that another one can have its socket; it must have been pulled."""
        (self.root / "configs/c.1/midi.0").unlink()
        for folder in ("configs/c.1", "functions/midi.0", "strings/0x409", "."):
            (self.root / folder).rmdir()

    @property
    def card(self):
        """The number of the card on the machine's side; its raw port receives what is sent over the cable."""
        return int(os.readlink(f"/proc/asound/far{self.socket}").removeprefix("card"))

    @property
    def driver(self):
        """The number of the card on the computer's side, which the USB driver creates."""
        cards = pathlib.Path("/proc/asound/cards").read_text().splitlines()
        return next(int(line.split()[0]) for line in cards if line.endswith(f"USB-Audio - {self.name}"))
