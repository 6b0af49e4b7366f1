"""Runs a program on a pseudo-terminal, sends it keys and reads what it draws."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from rig.wait import PATIENCE, until

CONTROL = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])")


class Screen:
    """A program on its own terminal, on which errors are only if it `has_errors`.

    `text()` returns what a person would read there now.
    """

    def __init__(self, command, env, rows=24, columns=80, has_errors=False):
        self.far, self.near = pty.openpty()
        self.size = rows, columns
        fcntl.ioctl(self.near, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.settings = termios.tcgetattr(self.near)
        self.raw = ""
        self.cells = {}
        self.row = self.column = 0
        self.process = subprocess.Popen(
            command, env={"TERM": "xterm-256color", **env}, stdin=self.near, stdout=self.near,
            stderr=self.near if has_errors else subprocess.PIPE, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.far)
        os.close(self.near)

    def press(self, keys):
        os.write(self.far, keys.encode())

    def read(self, seconds=0.0):
        """Reads what has been drawn so far."""
        while select.select([self.far], [], [], seconds)[0]:
            try:
                data = os.read(self.far, 65536).decode(errors="replace")
            except OSError:
                return
            self.raw += data
            self.draw(data)

    def draw(self, data):
        place = 0
        while place < len(data):
            match = CONTROL.match(data, place)
            if match:
                self.control(*match.groups())
                place = match.end()
                continue
            character = data[place]
            place += 1
            if character == "\r":
                self.column = 0
            elif character == "\n":
                self.row += 1
            else:
                self.cells[self.row, self.column] = character
                self.column += 1

    def control(self, argument, letter):
        number = int(argument) if argument.isdigit() else 0
        if letter == "H":
            self.row = self.column = 0
        elif letter == "A":
            self.row = max(0, self.row - number)
        elif letter == "K":
            self.forget(lambda row, column: row == self.row and column >= self.column)
        elif letter == "J" and number == 2:
            self.cells.clear()
        elif letter == "J":
            self.forget(lambda row, column: (row, column) >= (self.row, self.column))

    def forget(self, where):
        self.cells = {place: cell for place, cell in self.cells.items() if not where(*place)}

    def lines(self):
        self.read()
        rows, columns = self.size
        height = max([row for row, _ in self.cells] or [0]) + 1
        assert height <= max(rows, 1) or not self.raw.count("\x1b[?1049h"), f"{height} lines on {rows} rows"
        return ["".join(self.cells.get((row, column), " ") for column in range(columns)) for row in range(height)]

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines())

    def wait(self, *words):
        """Waits until the screen shows all of the `words`."""
        self.wait_until(lambda text: all(one in text for one in words), f"{words!r} on the screen")

    def wait_until(self, condition, what):
        """Waits until the screen's text meets `condition`; while it is being drawn, it may show half of two views."""
        try:
            until(lambda: condition(self.text()), what, every=0.02)
        except AssertionError as error:
            raise AssertionError(f"{error}; it shows:\n{self.text()}") from None

    def end(self, sign=None):
        """Sends a signal, if one is given, and waits until the program ends; returns its exit code."""
        if sign is not None:
            self.process.send_signal(sign)
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read(0.02)
        self.read()
        return self.process.wait(0.1)

    def is_restored(self):
        """Whether the terminal has the settings it had before the program started."""
        modes = dict(re.findall(r"\x1b\[\?(1049|25|7)([hl])", self.raw))
        return termios.tcgetattr(self.near) == self.settings and modes == {"1049": "l", "25": "h", "7": "h"}


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
