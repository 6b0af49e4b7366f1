"""What every fault needs in the lab: a gateway, an output that the fault must not touch, and the judgement of each round."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

from judge import ON_TIME, evenness, likeness, machine, parsed
from rig.cards import ahead_of_everyone, make_cards, plug, pull
from rig.clocks import raw_microseconds
from rig.framed import FramedLine
from rig.gateway import Gateway
from rig.guest import preload
from rig.peer import Peer
from rig.rawline import RawLine
from rig.wait import until

TEMPO = 120
INTERVAL = 60e6 / TEMPO / 24
BAR = 4 * 60 / TEMPO  # seconds
AT_A_BAR = BAR + 0.5  # seconds, until a machine is placed again
MEMORY = 64.0  # MB


class Unavailable(Exception):
    """The fault cannot be provoked on this kernel; the text says why."""


@dataclass(frozen=True)
class Fault:
    """One row of the table. `within` is the longest recovery that is allowed, in seconds."""

    name: str
    title: str
    provoke: object
    within: float | None
    times: int


FAULTS = {}


def fault(title, within=None, times=3):
    """Makes a function a row of the table, by its name; the function provokes the fault `times` times on a Stage."""

    def add(provoke):
        name = provoke.__name__.replace("_", "-")
        FAULTS[name] = Fault(name, title, provoke, within, times)
        return provoke

    return add


class Output:
    """What one output has sent, for as long as the fault runs, also if its device is pulled or its reader goes."""

    def __init__(self, line=None):
        self.line = line
        self.before = []

    def change(self, line):
        """Goes on with another line, after the old one is closed."""
        self.before += self.heard(self.line)
        self.line = line

    @staticmethod
    def heard(line):
        if line is None:
            return []
        if isinstance(line, RawLine):
            return parsed(list(line.arrivals))
        with contextlib.suppress(OSError):  # the device was pulled
            line.read()
        positions = iter(line.positions)
        return [(name, at, next(positions, [None])[0] if name == "position" else None) for name, at in line.events]

    @property
    def events(self):
        return self.before + self.heard(self.line)

    @property
    def ticks(self):
        return machine(self.events)

    def messages(self, since=0):
        """Names of what is no Timing Clock."""
        return [name for name, at, _ in self.events if name != "clock" and at >= since]

    def wait(self, name, since):
        """Waits for a message, and returns its time."""
        return until(
            lambda: next((at for found, at, _ in self.events if found == name and at >= since), None), f"a {name}", every=0.05)


def heard(output, since, interval):
    """Compares an output with an even clock from a time up to now."""
    now = raw_microseconds()
    return evenness([tick.at for tick in output.ticks if since <= tick.at < now], interval, since, now)


@dataclass
class Round:
    """One time that the fault is provoked."""

    number: int
    began: float
    ended: float | None = None  # when the fault was over
    recovered: float | None = None  # when all was well again, if the fault itself knows
    hit: Output | None = None  # the output that the fault touches
    until: float = float("inf")  # until when it is to be as the other, if not to the end
    moved: list = field(default_factory=list)  # pairs of times between which the session's beats rightly move
    parts: list = field(default_factory=list)  # what was seen of the untouched output
    figures: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)

    def over(self):
        self.ended = raw_microseconds()

    def note(self, text):
        """Adds a remark to the table."""
        self.figures.setdefault("notes", []).append(text)

    def expect(self, condition, text):
        if not condition:
            self.problems.append(text)


class Stage:
    """The scene of one fault. `tell` is called with the result of each round."""

    def __init__(self, fault, times, tell):
        self.fault, self.times, self.tell = fault, times, tell
        self.stack = contextlib.ExitStack()
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.folder.chmod(0o777)
        self.gateways = []
        self.peer = None
        self.memory = 0.0
        self.judged = 0.0  # until when the untouched output was judged
        make_cards(1, 1)
        self.untouched = Output(FramedLine(0, card=0))
        self.stack.callback(lambda: self.untouched.line.close())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for gateway in self.gateways:
            gateway.kill()
        self.stack.close()

    # Actors.

    def card(self):
        """A device that can be pulled: the card's second port, driven as `VirMIDI 1-0`."""
        output = Output(FramedLine(0, card=1))
        self.stack.callback(lambda: output.line.close())
        return output

    def pull(self, output):
        line = output.line
        output.change(None)
        line.close()
        pull(1)

    def plug(self, output):
        with ahead_of_everyone():
            plug(1)
            output.line = FramedLine(0, card=1)

    def fifo(self, name="line"):
        """A FIFO that stands for a serial line, driven as `raw:PATH`."""
        return Output(self.stack.enter_context(RawLine(self.folder / name)))

    def official(self, tempo=TEMPO, sync=False):
        """An official Link peer at this place, whose session is old enough to win."""
        self.peer = Peer(tempo, start_stop_sync=sync)
        self.stack.callback(self.peer.close)
        time.sleep(1.5)  # the older session wins if it is at least half a second older
        return self.peer

    def start(self, *options, link=False, name="gateway", device="VirMIDI 0-0", beside=False, **more):
        """Starts a gateway that drives the untouched output; waits until it runs, and is in the peer's session.

        With `beside`, another gateway drives that output already.
        """
        words = ["--tempo", TEMPO, "--no-clock-port", *(() if link else ("--no-link",))]
        words += [word for word in ("--output", device) if device]
        gateway = Gateway(*words, *options, folder=self.folder / name, **more)
        self.gateways.append(gateway)
        gateway.wait_ready()
        preload(gateway.process.pid, "self")
        if self.peer and link:
            gateway.wait_status(lambda status: status["link"]["peers"] >= 1, "it counts the official peer")
            until(lambda: self.peer.peers >= 1, "the official peer counts it")
        time.sleep(1)
        if not beside:
            self.judged = raw_microseconds()
        return gateway

    def start_hangable(self, *options, **more):
        """Like `start`; gives the gateway, and a file. While the file exists, fsync, and stat of paths with `hung` in them,
        do not return to the gateway; another one with `.fsync` or `.stat` appended exists once a thread waits."""
        if "HANG_LIBRARY" not in os.environ:
            raise Unavailable("the library that makes calls hang is not here")
        hang = self.folder / "hang"
        words = {"LD_PRELOAD": os.environ["HANG_LIBRARY"], "HANG": str(hang)}
        os.environ.update(words)
        try:
            return self.start(*options, passing=tuple(words), **more), hang
        finally:
            for name in words:
                del os.environ[name]

    def play(self, gateway, seconds=1):
        since = raw_microseconds()
        gateway.post("transport", {"playing": True})
        until(lambda: {"start", "continue"} & set(self.untouched.messages(since)), "the untouched output plays", every=0.05)
        time.sleep(seconds)

    def leave(self, gateway, round):
        """Judges the clock up to now, and nothing from then on: the gateway is about to end."""
        self.look(round)
        self.measure(gateway)
        self.judged = float("inf")

    def end(self, gateway, round, sign=signal.SIGINT):
        """Ends a gateway in order."""
        self.leave(gateway, round)
        gateway.stop(sign)

    def configuration(self, text):
        path = self.folder / "config.yaml"
        path.write_text("version: 1\n" + text)
        return path

    def program(self, *words, **options):
        """Starts a program that ends with the fault at the latest."""
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, words)], stdin=subprocess.DEVNULL, **options)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    # Judging.

    def measure(self, gateway):
        """Takes up the most memory that a gateway has had; Linux keeps account of it."""
        with contextlib.suppress(OSError):
            found = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{gateway.process.pid}/status").read_text())
            if found:
                self.memory = max(self.memory, int(found[1]) / 1000)

    def rounds(self):
        """The rounds; each is judged when the next is asked for."""
        for number in range(1, self.times + 1):
            round = Round(number, raw_microseconds())
            yield round
            self.judge(round)

    def judge(self, round):
        now = raw_microseconds()
        if round.ended is None:
            round.ended = now
        for gateway in self.gateways:
            self.measure(gateway)
        found = {"fault": self.fault.name, "round": round.number, "memory": self.memory, **round.figures}
        self.look(round)
        self.judge_untouched(round, found)
        if round.hit:
            self.judge_hit(round, found, now)
        if round.recovered is not None:
            found["recovery"] = max(0.0, (round.recovered - round.ended) / 1e6)
        within = self.fault.within
        if within is not None and found.get("recovery", 0) > within:
            round.problems.append(f"recovered after {found['recovery']:.3f} s, not {within:g} s")
        if self.memory > MEMORY:
            round.problems.append(f"{self.memory:.1f} MB of memory")
        if self.peer and any(gateway.process.poll() is None for gateway in self.gateways):
            round.expect(self.peer.peers >= 1, "the official peer counts nobody")
        self.tell({**found, "problems": round.problems})

    def look(self, round):
        """Compares the untouched output with an even clock since the last look, except where the beats rightly move."""
        since, now = self.judged, raw_microseconds()
        self.judged = max(since, now)
        times = [tick.at for tick in self.untouched.ticks if since <= tick.at < now]
        edges = [since, *(at for pair in round.moved for at in pair), now]
        for begin, end in zip(edges[::2], edges[1::2]):
            round.parts.append(evenness([at for at in times if begin <= at < end], INTERVAL, begin, end))

    def judge_untouched(self, round, found):
        """No fault may take a tick from the untouched output, double one there, or make one late."""
        parts = round.parts
        found.update(
            ticks=sum(part.ticks for part in parts), lost=sum(part.lost for part in parts),
            doubled=sum(part.doubled for part in parts), worst=max((part.worst for part in parts), default=0.0))
        round.expect(not found["lost"], f"{found['lost']} ticks lost at an output that the fault does not touch")
        round.expect(not found["doubled"], f"{found['doubled']} ticks doubled at an output that the fault does not touch")
        round.expect(found["worst"] <= ON_TIME, f"a tick was {found['worst']:.0f} us off its time")

    def judge_hit(self, round, found, now):
        """The output that the fault touches, beside the other: in the same state soon after, and none doubled."""
        model = [tick for tick in self.untouched.ticks if round.began <= tick.at < min(now, round.until) - INTERVAL]
        like = likeness(round.hit.ticks, model, INTERVAL)
        late = [pair for pair in like.wrong if pair[0].at >= round.ended]
        found.update(forced=like.lost, doubled=found["doubled"] + like.doubled)
        found["recovery"] = (late[-1][0].at + INTERVAL - round.ended) / 1e6 if late else 0.0
        if late and self.fault.within is not None and found["recovery"] > self.fault.within:
            heard = round.hit.messages(round.began)
            round.problems.append(f"it was sent {', '.join(heard) or 'nothing but ticks'}; last wrong: {late[-1]}")
        round.expect(not like.doubled, f"{like.doubled} ticks doubled at the output that the fault touches")
