"""What guest/pulses.py has recorded from a sound card: where its channels rise, fall and begin to sound."""

import array
import base64
import re
import zlib

CROSSING = re.compile(b"(?<=\0)\1|(?<=\1)\0")
SILENCE = 960  # frames
ONSET = re.compile(b"(?<=%s)\1" % (SILENCE * b"\0"))


class Recorded:
    """Levels are shares of full scale, and places are frames."""

    def __init__(self, sound):
        samples = array.array(sound["letter"], zlib.decompress(base64.b64decode(sound["packed"])))
        self.channels = [samples[number::sound["channels"]] for number in range(sound["channels"])]
        self.full = sound["full"]

    def crossings(self, channel):
        """Where a channel crosses half of full scale: the first frame behind, and the levels before it and there."""
        samples = self.channels[channel]
        is_over = bytes(map((self.full / 2).__le__, samples))
        return [
            (place, samples[place - 1] / self.full, samples[place] / self.full)
            for place in (match.start() for match in CROSSING.finditer(is_over))]

    def onsets(self, channel):
        """The frames at which a channel is no longer silent."""
        is_heard = bytes(map(bool, self.channels[channel]))
        return [match.start() for match in ONSET.finditer(is_heard)]

    def levels(self, channel):
        """The lowest and the highest one."""
        return min(self.channels[channel]) / self.full, max(self.channels[channel]) / self.full
