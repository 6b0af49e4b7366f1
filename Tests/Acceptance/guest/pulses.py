"""In the lab: records the pulses that an output plays into a loop of sound, beside a MIDI clock.

    pulses.py RESULT.json DRIFT SECONDS

The sound card is DRIFT millionths too fast, and the song lasts so many seconds. The record is judged on the host, by
test_pulses.py. All times are microseconds of Link's host time.
"""

import array
import base64
import ctypes
import json
import pathlib
import sys
import tempfile
import threading
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.cards import make_loop, set_drift  # noqa: E402
from rig.clocks import raw_microseconds  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import Gateway  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.wait import until  # noqa: E402

TEMPO = 120
PLAYBACK, CAPTURE = "hw:CARD=Loopback,DEV=0", "hw:CARD=Loopback,DEV=1"
PLAYED = pathlib.Path("/proc/asound/Loopback/pcm0p/sub0/hw_params")
# By ALSA's names: its number, Python's letter, and full scale.
FORMATS = {"S16_LE": (2, "h", 1 << 15), "S32_LE": (10, "i", 1 << 31), "FLOAT_LE": (14, "f", 1)}


class Recorder(threading.Thread):
    """Keeps what is played into the loop, in its own format, until it is stopped or fails."""

    def __init__(self):
        super().__init__(daemon=True)  # so that a scene which fails ends
        until(lambda: "rate:" in PLAYED.read_text(), "the gateway plays into the loop")
        found = dict(line.split(": ", 1) for line in PLAYED.read_text().splitlines())
        number, self.letter, self.full = FORMATS[found["format"]]
        self.channels, self.rate = int(found["channels"]), int(found["rate"].split()[0])
        self.pieces, self.stamps, self.error = [], [], None
        self.stopping = threading.Event()
        self.alsa = ctypes.CDLL("libasound.so.2")
        self.alsa.snd_pcm_readi.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong]
        self.alsa.snd_pcm_readi.restype = self.alsa.snd_pcm_avail.restype = ctypes.c_long
        self.pcm = ctypes.c_void_p()
        assert self.alsa.snd_pcm_open(ctypes.byref(self.pcm), CAPTURE.encode(), 1, 0) == 0
        # Interleaved, no conversion, half a second of memory.
        assert self.alsa.snd_pcm_set_params(self.pcm, number, 3, self.channels, self.rate, 0, 500_000) == 0

    def run(self):
        frames = self.rate // 20
        count = 0
        self.alsa.snd_pcm_start(self.pcm)
        while not self.stopping.is_set():
            piece = array.array(self.letter, bytes(array.array(self.letter).itemsize * self.channels * frames))
            got = self.alsa.snd_pcm_readi(self.pcm, piece.buffer_info()[0], frames)
            if got != frames:
                self.error = got
                break
            self.pieces.append(piece)
            count += frames
            self.stamps.append((raw_microseconds(), count + self.alsa.snd_pcm_avail(self.pcm)))
        self.alsa.snd_pcm_close(self.pcm)

    def stop(self):
        self.stopping.set()
        self.join()

    def sound(self):
        """All of it for rig/recorded.py, as bytes of text; looking at it here would take ten times as long as there."""
        packer = zlib.compressobj(1)
        packed = b"".join(map(packer.compress, self.pieces)) + packer.flush()
        return {
            "letter": self.letter, "channels": self.channels, "full": self.full,
            "packed": base64.b64encode(packed).decode()}


def alone(seconds):
    """The ticks of a gateway that plays on no sound card."""
    midi = FramedLine(0)
    with tempfile.TemporaryDirectory() as folder, Gateway(
            "--no-link", "--tempo", TEMPO, "--output", "VirMIDI 0-0", folder=folder) as gateway:
        preload(gateway.process.pid, "self")
        midi.hear(seconds * TEMPO * 24 // 60)
    midi.close()
    return midi.events


def play(seconds):
    """Plays a song, with a second of stopped clock before and two after it; returns what all outputs sent.

    Then the click is calibrated by listening, faster, as that needs eighty beats.
    """
    per_second = TEMPO * 24 // 60
    midi = FramedLine(0)
    with tempfile.TemporaryDirectory() as folder, Gateway(
            "--no-link", "--tempo", TEMPO, "--output", f"audio:{PLAYBACK}/1+2=din-sync-24",
            "--output", f"audio:{PLAYBACK}/3=click", "--output", "VirMIDI 0-0", folder=folder) as gateway:
        recorder = Recorder()
        preload(gateway.process.pid, "self")
        recorder.start()
        midi.hear(per_second)
        gateway.post("transport", {"playing": True})
        midi.hear(seconds * per_second)
        gateway.post("transport", {"playing": False})
        midi.hear(2 * per_second)
        recorder.stop()
        midi.close()
        gateway.command("tempo", 2 * TEMPO).check_returncode()
        calibrated = gateway.command("calibrate", "click", "--listen", CAPTURE, "--channel", 3, "--json")
    return {
        "rate": recorder.rate, "error": recorder.error, "stamps": recorder.stamps, "midi": midi.events,
        "sound": recorder.sound(),
        "calibrated": [calibrated.returncode, calibrated.stdout, calibrated.stderr]}


def main(result, drift, seconds):
    make_loop()
    set_drift(int(drift))
    pathlib.Path(result).write_text(json.dumps({"alone": alone(8)} | play(int(seconds))))


if __name__ == "__main__":
    main(*sys.argv[1:])
