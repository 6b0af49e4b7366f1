"""The subscriber of a candidate: a virtual MIDI port whose bytes the kernel stamps, whatever load there is.

A sequencer queue that runs only to stamp would lend the candidates its timer's beat, or be late with its own.
"""

import pathlib
import re

from alsa_midi import SequencerClient
from rig.framed import FramedLine

CARDS = pathlib.Path("/proc/asound/cards")


def virtual_card():
    """The number of the card that the module snd-virmidi makes; None without one."""
    found = re.search(r"^ *(\d+) \[.*VirMIDI", CARDS.read_text() if CARDS.exists() else "", re.M)
    return int(found[1]) if found else None


class FramedObserver:
    def __init__(self):
        card = virtual_card()
        self.name = f"VirMIDI {card}-0"
        self.line = FramedLine(0, card)
        self.client = SequencerClient("Bench")
        (self.port,) = [port for port in self.client.list_ports() if self.name in port.name]

    def subscribe(self, address):
        self.client.subscribe_port(address, self.port)

    def read(self):
        self.line.read()

    @property
    def stamps(self):
        return self.line.events

    def events(self):
        """(kind, microseconds of Link's host time) of everything that has arrived."""
        self.read()
        return self.line.events

    def close(self):
        self.line.close()
        self.client.close()
