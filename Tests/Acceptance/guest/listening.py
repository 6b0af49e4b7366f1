"""In the lab: what `tactus calibrate --listen` says of two simulated machines that it hears through a loop of sound.

    listening.py RESULT.json SCENE...

`drifting:500:6` is a card 500 millionths too fast, open for 6 s.

The machines hear the clocks of two outputs, as the kernel stamps them, and play clicks into a loop of
`snd-aloop`, each on a channel of its own and each hit after a delay that is written down. Nothing is judged here.
"""

import array
import contextlib
import ctypes
import json
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.cards import make_cards, make_loop, set_drift  # noqa: E402
from rig.clocks import raw_microseconds  # noqa: E402
from rig.framed import FramedLine  # noqa: E402
from rig.gateway import TACTUS, Gateway, environment  # noqa: E402
from rig.guest import preload  # noqa: E402
from rig.sounds import midi  # noqa: E402

TEMPO = 200  # so that eighty beats are soon over
RATE = 48_000
PIECE = 960  # frames written at once
LATENCY = 120_000  # microseconds from a tick to its sound, before the machine's own delay: the loop needs some
PLAYBACK, CAPTURE = "hw:Loopback,0", "hw:Loopback,1"
OUTPUTS = ("VirMIDI 0-0", "VirMIDI 0-1")
OUTPUT_WORDS = [word for name in OUTPUTS for word in ("--output", name)]
IDS = ("virmidi-0-0", "virmidi-0-1")
OFFSET = 1.5  # milliseconds, of the first output to begin with


# The samples of one hit, over before the next beat.
CLICK = array.array("h", (
    round(14_000 * math.sin(2 * math.pi * 1_800 * at / RATE) * math.exp(-at / RATE / 0.004)) for at in range(RATE // 40)))


class Machine:
    """Hears one output's clock and plays a hit on each beat."""

    def __init__(self, number, delay, spread, seed):
        self.line = FramedLine(number)
        self.chance = random.Random(seed)
        self.delay, self.spread = delay, spread
        self.seen = self.tick = 0
        self.playing = False
        self.delays, self.times = [], []

    def hits(self):
        """When, in microseconds of RAW, those hits sound whose beats have come since the last call."""
        self.line.read()
        for name, at in self.line.events[self.seen:]:
            if name in ("start", "continue"):
                self.playing, self.tick = True, 0
            elif name == "stop":
                self.playing = False
            elif name == "clock" and self.playing:
                if self.tick % 24 == 0:
                    late = self.delay + self.chance.gauss(0, self.spread)
                    self.delays.append(late)
                    self.times.append(at + LATENCY + late)
                    yield self.times[-1]
                self.tick += 1
        self.seen = len(self.line.events)


class Player(threading.Thread):
    """Writes what machines play into the loop, each on a channel, until it is stopped.

    `drift` is by how many millionths the loop is faster than its rate, as `set_drift` has made it.
    """

    def __init__(self, machines, rate=RATE, drift=0):
        super().__init__(daemon=True)  # so that a scene which fails ends
        self.machines, self.rate, self.stopping = machines, rate * (1 + drift / 1e6), threading.Event()
        self.gaps = 0  # each moves all that follows
        self.played = []  # now and then, microseconds of RAW and how many frames the loop has played
        self.alsa = ctypes.CDLL("libasound.so.2")
        self.pcm = ctypes.c_void_p()
        assert self.alsa.snd_pcm_open(ctypes.byref(self.pcm), PLAYBACK.encode(), 0, 0) == 0
        # 16 bits, interleaved, two channels, no conversion, 80 ms of memory.
        assert self.alsa.snd_pcm_set_params(self.pcm, 2, 3, 2, rate, 0, 80_000) == 0
        self.alsa.snd_pcm_writei.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong]
        self.alsa.snd_pcm_writei.restype = ctypes.c_long

    def run(self):
        # Ahead of the program under test: only the machine's own delays are to vary.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        pieces = {}  # by number, what is to be played in it
        number, start = 0, raw_microseconds()
        while not self.stopping.is_set():
            for channel, machine in enumerate(self.machines):
                for at in machine.hits():
                    self.mix(pieces, number, channel, (at - start) * self.rate / 1e6)
            data = pieces.pop(number, None) or array.array("h", bytes(4 * PIECE))
            written = self.alsa.snd_pcm_writei(self.pcm, data.buffer_info()[0], PIECE)
            if written < 0:
                self.gaps += 1
                self.alsa.snd_pcm_recover(self.pcm, ctypes.c_int(written), 1)
            number += 1
            if number % 10 == 0:
                waiting = ctypes.c_long()
                self.alsa.snd_pcm_delay(self.pcm, ctypes.byref(waiting))
                self.played.append((raw_microseconds(), number * PIECE - waiting.value))
        self.alsa.snd_pcm_close(self.pcm)

    @staticmethod
    def mix(pieces, now, channel, place):
        """Puts a click into its channel, where the one before has ended; its beginning is off by half a sample at most."""
        first = round(place)
        done = 0
        while done < len(CLICK):
            piece, frame = divmod(first + done, PIECE)
            count = min(PIECE - frame, len(CLICK) - done)
            if piece >= now:
                if piece not in pieces:
                    pieces[piece] = array.array("h", bytes(4 * PIECE))
                pieces[piece][2 * frame + channel:2 * (frame + count):2] = CLICK[done:done + count]
            done += count

    def stop(self):
        self.stopping.set()
        self.join()


def apart(lines, count=24):
    """By how much each of the newest ticks of the first line comes after the nearest of the second, in milliseconds."""
    first, second = ([at for name, at in list(line.events) if name == "clock"] for line in lines)
    return [min((at - other for other in second[-2 * count:]), key=abs, default=0) / 1000 for at in first[-count:]]


def is_moved(machines):
    """Whether the first machine's clock has been moved by what a calibration moves it, less what may be late."""
    now = apart([machine.line for machine in machines])
    return bool(now) and statistics.median(now) > OFFSET + 3


def put_back(gateway):
    """The status and the distance of the two clocks, once that is the offset's again and the song has stopped.

    Both clocks go on while the song is stopped. Returns the last if that never comes.
    """
    for _ in range(60):
        lines = [FramedLine(number) for number in range(2)]
        while any(len(line.events) < 26 for line in lines):
            time.sleep(0.05)
            for line in lines:
                line.read()
        distance, status = statistics.median(apart(lines)), gateway.status()
        for line in lines:
            line.close()
        if abs(distance - OFFSET) < 1 and not status["playing"]:
            break
    return {"apart": distance, "status": status}


def calibrate(gateway, machines, *words):
    """Has `tactus calibrate` listen to the first machine; returns what it said, and the machines' true delays."""
    player = Player(machines)
    player.start()
    process = subprocess.Popen(
        [TACTUS, "calibrate", IDS[0], "--listen", CAPTURE, *words], env=environment(caller(gateway)),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    text, complaint = process.communicate()
    player.stop()
    for machine in machines:
        machine.line.close()
    return {
        "code": process.returncode, "stdout": text, "stderr": complaint,
        "delays": [machine.delays for machine in machines], "times": machines[0].times, "status": gateway.status()}


def caller(gateway):
    """The home of who gives commands, which is not that of the gateway's user."""
    return gateway.folder.parent / "caller"


def profiles(gateway):
    """What profiles have been written anywhere, by their paths from the scene's folder."""
    root = gateway.folder.parent
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.yaml")}


def click(gateway):
    """The figures for programs, and saved."""
    machines = [Machine(0, 6_000, 800, 1), Machine(1, -2_000, 100, 2)]
    return {**calibrate(gateway, machines, "--against", "2", "--json", "--save"), "profiles": profiles(gateway),
            "folder": str(gateway.folder.parent)}


def crashed(gateway):
    """The gateway is killed while the clock is moved, and comes back with what it has kept."""
    machines = [Machine(0, 6_000, 300, 7), Machine(1, 0, 100, 8)]
    player = Player(machines)
    player.start()
    session = gateway.request(
        "POST", f"/api/v1/outputs/{IDS[0]}/listening", {"device": CAPTURE, "against": 2})[1]["id"]
    while not is_moved(machines):
        report = gateway.request("GET", f"/api/v1/listening/{session}")[1]
        assert report["state"] not in ("done", "failed"), report
        if report["state"] == "level":
            gateway.request("POST", f"/api/v1/listening/{session}/measure", {})
        time.sleep(0.1)
    gateway.kill()
    player.stop()
    for machine in machines:
        machine.line.close()
    with Gateway("--no-link", *OUTPUT_WORDS, folder=gateway.folder) as again:
        return put_back(again)


def drifting(gateway, drift, seconds):
    """Twice the same machine, at a card that drifts: at once, and when the card has been open for so many seconds.

    The sound goes on from the one to the other, so that the loop adds the same to both. But it drifts by some millionths
    more or less than it should, so that the machine's sounds come ever earlier or later: by `earlier` in all.
    """
    set_drift(drift)
    machine = Machine(0, 6_000, 0, 1)
    player = Player([machine], drift=drift)
    player.start()
    reports, ends = [], []
    for held in (0, seconds):
        card = {"device": CAPTURE, "inputLatencyMilliseconds": LATENCY / 1_000}
        session = gateway.post(f"outputs/{IDS[0]}/listening", card)["id"]
        path = f"/api/v1/listening/{session}"

        def report():
            time.sleep(1)  # asking keeps it open
            return gateway.request("GET", path)[1]

        while report()["state"] == "opening":
            pass
        opened = time.monotonic()
        while time.monotonic() - opened < held:
            report()
        gateway.post(f"listening/{session}/measure")
        while (last := report())["state"] not in ("done", "failed"):
            pass
        reports.append(last)
        ends.append(raw_microseconds())
    player.stop()
    machine.line.close()
    set_drift(0)
    rate = 1e6 * statistics.linear_regression(*zip(*player.played[10:])).slope
    return {
        "reports": reports, "gaps": player.gaps, "drift": 1e6 * (rate / RATE - 1),
        "earlier": (rate / player.rate - 1) * (ends[1] - ends[0])}


def overrun(gateway):
    """The command does not run for so long that the card's memory is full."""
    player = Player([Machine(0, 0, 0, 14)])
    gateway.request("POST", "/api/v1/transport", {"playing": True})
    player.start()
    process = subprocess.Popen(
        [TACTUS, "monitor", f"pcm:{CAPTURE}", "--as", "clicks", "--seconds", "12", "--json"],
        env=environment(gateway.folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    time.sleep(4)
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    process.send_signal(signal.SIGCONT)
    text, complaint = process.communicate()
    player.stop()
    gateway.request("POST", "/api/v1/transport", {"playing": False})
    return process.returncode, text, complaint


def monitored(gateway):
    """The loop has one sample rate for both of its ends, so this card has one that the program does not know."""
    player = Player([Machine(0, 0, 0, 11), Machine(1, 3_000, 0, 12)], rate=32_000)
    gateway.request("POST", "/api/v1/transport", {"playing": True})
    player.start()
    done = ended(
        gateway, "monitor", f"pcm:{CAPTURE}", "--as", "clicks", "--channel", 2, *("--against", 1), "--seconds", 8,
        "--json")
    player.stop()
    gateway.request("POST", "/api/v1/transport", {"playing": False})
    return done


def reported(gateway):
    """A report, while a MIDI cable of 120 BPM ends at the card: always the same beat, 24 ticks in half a second."""
    beat = midi([((number + 0.5) / 48, b"\xf8") for number in range(24)], 0.5)
    frames = array.array("h", (round(30_000 * sample) for sample in beat for _ in range(2))).tobytes()
    player = subprocess.Popen(
        ["aplay", "-q", "-D", PLAYBACK, "-t", "raw", "-f", "S16_LE", "-r", str(RATE), "-c", "2"],
        stdin=subprocess.PIPE)

    def feed():
        with contextlib.suppress(BrokenPipeError):
            while True:
                player.stdin.write(frames)

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    done = ended(gateway, "report", "--seconds", 3, "--loop", f"pcm:{CAPTURE}", "--json")
    player.kill()
    player.wait()
    feeder.join()
    return done


def ended(gateway, *words):
    done = subprocess.run(
        [TACTUS, *map(str, words)], env=environment(gateway.folder), stdin=subprocess.DEVNULL, capture_output=True,
        text=True)
    return done.returncode, done.stdout, done.stderr


SCENES = {scene.__name__: scene for scene in (click, crashed, monitored, overrun, reported, drifting)}


def main(result, *scenes):
    make_cards(2)
    make_loop()
    record = {}
    for scene in scenes:
        with tempfile.TemporaryDirectory() as folder:
            own = pathlib.Path(folder) / "profiles"
            own.mkdir()
            with Gateway(
                    "--no-link", "--tempo", TEMPO, *OUTPUT_WORDS, "--profiles", own,
                    folder=pathlib.Path(folder) / "gateway") as gateway:
                preload(gateway.process.pid, "self")
                time.sleep(1)
                gateway.request("PATCH", f"/api/v1/outputs/{IDS[0]}", {"offsetMilliseconds": OFFSET})
                name, *numbers = scene.split(":")
                record[scene] = SCENES[name](gateway, *map(int, numbers))
    pathlib.Path(result).write_text(json.dumps(record))


if __name__ == "__main__":
    main(*sys.argv[1:])
