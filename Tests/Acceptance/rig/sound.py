"""Records when each sound of a JACK program began, on Link's clock."""

import array
import contextlib
import os
import re
import subprocess
import threading

import jack

from rig.clocks import raw_microseconds
from rig.figures import straight

SILENCE = 0.02  # seconds of silence after which a new sound begins
BEFORE = 4.0  # seconds before a sound in which its samples are judged


class Ear:
    """A JACK client that listens to another's first output, on the server that JACK_DEFAULT_SERVER names."""

    def __init__(self, server, program):
        self.client = jack.Client("ear", no_start_server=True, servername=server)
        self.input = self.client.inports.register("in")
        self.begins = []
        self.heard = None
        self.client.set_process_callback(self.process)
        self.client.activate()
        source = self.client.get_ports(program, is_output=True, is_audio=True)[0]
        self.client.connect(source, self.input)
        # The number of samples after which what is written now leaves the loudspeaker.
        told = subprocess.run(["jack_lsp", "-s", server, "-l", source.name], capture_output=True, text=True, check=True)
        self.latency = int(re.search(r"port playback latency = \[ \d+ (\d+)", told.stdout)[1])
        self.readings = []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.read_clocks, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()
        with contextlib.suppress(jack.JackError):
            self.client.close()

    def process(self, frames):
        samples = array.array("f", bytes(self.input.get_buffer()))
        first = next((index for index, sample in enumerate(samples) if sample), None)
        if first is None:
            return
        at = self.client.last_frame_time
        if self.heard is None or at + first - self.heard > SILENCE * self.client.samplerate:
            self.begins.append(at + first)
        self.heard = at + frames

    def read_clocks(self):
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(85))
        while not self.ending.wait(0.02):
            before = raw_microseconds()
            frame = self.client.frame_time
            after = raw_microseconds()
            if after - before < 100:
                self.readings.append((frame, (before + after) / 2))

    def calmest(self, count):
        """When the sounds left the loudspeaker, in microseconds of RAW, before which samples came most evenly.

        A JACK server without a sound card loses samples when the machine is busy. LinkHut and other programs compute
        times from the last few seconds of samples, so they are wrong for a few seconds after that.
        """
        readings = list(self.readings)
        sounds = []
        for begin in list(self.begins):
            newest = [reading for reading in readings if 0 <= begin - reading[0] < BEFORE * self.client.samplerate]
            if not newest or begin - newest[0][0] < 0.9 * BEFORE * self.client.samplerate:
                continue
            slope, start = straight(newest)
            unevenness = max(abs(at - start - slope * frame) for frame, at in newest)
            sounds.append((unevenness, start + slope * (begin + self.latency)))
        return [at for _, at in sorted(sounds)[:count]]
