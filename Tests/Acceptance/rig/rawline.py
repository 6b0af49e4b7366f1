"""A FIFO that stands in for a serial MIDI line and timestamps every byte that arrives."""

import contextlib
import fcntl
import os
import select
import termios
import threading

from rig.clocks import raw_microseconds
from rig.wait import until

CLOCK, START, CONTINUE, STOP, POSITION = 0xF8, 0xFA, 0xFB, 0xFC, 0xF2


class RawLine:
    """Reads a FIFO on its own thread. `arrivals` holds pairs of a byte and its arrival in microseconds of RAW."""

    def __init__(self, path):
        self.path = str(path)
        os.mkfifo(self.path)
        self.arrivals = []
        self.descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.reading = threading.Lock()
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()
        os.close(self.descriptor)

    def read(self):
        # A late reader makes the timestamps late, so it gets real-time priority if the system allows it.
        with contextlib.suppress(PermissionError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(85))
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        while not self.ending.is_set():
            ready = poll.poll(100)
            if not ready:
                continue
            with self.reading:
                at = raw_microseconds()
                data = b""
                with contextlib.suppress(BlockingIOError):
                    data = os.read(self.descriptor, 4096)
                self.arrivals.extend((value, at) for value in data)
            if not data:  # there is no writer now, so poll would return at once every time
                self.ending.wait(0.005)

    def wait_empty(self):
        """Waits until everything sent has been read. Call it after the sender has ended."""

        def is_empty():
            waiting = bytearray(4)
            with self.reading:
                fcntl.ioctl(self.descriptor, termios.FIONREAD, waiting)
            return not any(waiting)

        until(is_empty, "the line is read to its end")

    def forget(self):
        """Forgets what has arrived so far, so that waiting does not search it again and again."""
        with self.reading:
            self.arrivals.clear()

    def times(self, value, since=0):
        """The arrival times of all bytes `value` from `since` on, in microseconds of RAW."""
        return [at for byte, at in list(self.arrivals) if byte == value and at >= since]

    def wait_for(self, value, since=0):
        """Waits for the first byte `value` from `since` on, and returns its arrival time."""
        what = f"byte {value:02X} on the line"
        try:
            return until(lambda: self.times(value, since), what)[0]
        except AssertionError as error:
            others = [f"{byte:02X}" for byte, _ in list(self.arrivals) if byte != CLOCK]
            raise AssertionError(f"{error}; bytes so far: {len(self.arrivals)}, other than F8: {others}") from None

    def wait_playing(self, since=0):
        """Waits for the first Start from `since` on, or a Continue, and returns its time.

        On a busy machine it may be too late for a Start; then the gateway sends Continue.
        """
        return until(lambda: self.times(START, since) or self.times(CONTINUE, since), "the machine plays")[0]

    @property
    def plays(self):
        """Whether a machine on this line plays, by the last message.

        After a long stall, on a busy machine, the gateway stops a machine for a moment and places it again.
        """
        words = [value for value, _ in list(self.arrivals) if value in (START, CONTINUE, STOP)]
        return bool(words) and words[-1] != STOP

    @property
    def song(self):
        """The ticks that a machine on this line counts while it plays: their places in the song, and their times."""
        ticks, place, plays, position = [], 0, False, []
        for value, at in list(self.arrivals):
            if value == CLOCK and plays:
                ticks.append((place, at))
                place += 1
            elif value in (START, CONTINUE, STOP):
                plays = value != STOP
                place = 0 if value == START else place
            elif value == POSITION:
                position = []
            elif value < 0x80:
                position.append(value)
                place = 6 * (position[0] | position[-1] << 7)
        return ticks

    def wait_ticks(self, count, since=None):
        """Waits for `count` Timing Clocks from `since` or now on, and returns their times."""
        since = raw_microseconds() if since is None else since
        what = f"{count} Timing Clocks on the line"
        return until(lambda: len(found := self.times(CLOCK, since)) >= count and found, what)[:count]
