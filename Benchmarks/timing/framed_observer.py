"""The subscriber of a candidate: a virtual MIDI port whose bytes the kernel stamps, whatever load there is.

A sequencer queue that runs only to stamp would lend the candidates its timer's beat, or be late with its own.
"""

from alsa_midi import SequencerClient
from rig.framed import FramedLine


class FramedObserver:
    def __init__(self):
        self.line = FramedLine()
        self.client = SequencerClient("Bench")
        (self.port,) = [port for port in self.client.list_ports() if "VirMIDI 0-0" in port.name]

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
