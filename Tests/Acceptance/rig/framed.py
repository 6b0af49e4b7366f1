"""Reads the raw side of a virtual MIDI port, whose bytes the kernel stamps with Link's clock as they arrive.

An observer at the sequencer needs a queue, whose timer may be late or affect other programs' queues. This one does not.
"""

import fcntl
import os
import struct

from rig.wait import until

NAMES = {0xF8: "clock", 0xFA: "start", 0xFB: "continue", 0xFC: "stop", 0xF2: "position"}
USER_VERSION = 0x40045702  # ioctls of the raw MIDI interface
PARAMETERS = 0xC0305710  # this number includes the size of the argument, 48 bytes
FRAMED = 1 << 0
RAW_CLOCK = 3 << 3
FRAME = struct.Struct("<BBxxIQ16s")
BUFFER = 1 << 20  # the largest that the kernel allows: half an hour of clock


class FramedLine:
    """Everything that arrives at one `/dev/snd/midiC0D…`, as [name, microseconds of RAW]."""

    def __init__(self, number=0, card=0):
        self.descriptor = os.open(f"/dev/snd/midiC{card}D{number}", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.ioctl(self.descriptor, USER_VERSION, struct.pack("i", 0x20002))
        fcntl.ioctl(self.descriptor, PARAMETERS, struct.pack("i4xQQII16x", 1, BUFFER, 1, 0, FRAMED | RAW_CLOCK))
        self.events = []
        self.positions = []  # song positions in sixteenths, as [value, microseconds of RAW]
        self.pending = None  # the data bytes so far of an unfinished song position
        self.read()  # the first reading opens the line; earlier bytes are not kept

    def read(self):
        """Records the bytes that have arrived."""
        while True:
            try:
                data = os.read(self.descriptor, 1 << 16)
            except BlockingIOError:
                return
            for _, length, nanoseconds, seconds, payload in FRAME.iter_unpack(data):
                at = seconds * 1e6 + nanoseconds / 1000
                for byte in payload[:length]:
                    self.take(byte, at)

    def hear(self, count):
        """Waits for so many more messages."""
        self.read()
        wanted = len(self.events) + count
        until(lambda: self.read() or len(self.events) >= wanted, f"{count} more messages", every=0.1)

    def take(self, byte, at):
        if byte in NAMES:
            self.events.append([NAMES[byte], at])
        if NAMES.get(byte) == "position":
            self.pending = []
        elif byte < 0x80 and self.pending is not None:
            self.pending.append(byte)
            if len(self.pending) == 2:
                self.positions.append([self.pending[0] | self.pending[1] << 7, at])
                self.pending = None

    def close(self):
        os.close(self.descriptor)
