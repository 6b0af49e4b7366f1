"""A reader of the gateway's server-sent events."""

import contextlib
import json
import re
import socket
import time
from dataclasses import dataclass

from rig.gateway import PORT
from rig.wait import PATIENCE

EVENT = re.compile(rb"event: (\w+)\ndata: (.*?)\n\n", re.DOTALL)


@dataclass(frozen=True)
class Event:
    name: str
    status: dict


class EventStream:
    """One open stream. It reads only inside `receive`, `next` and `wait`."""

    def __init__(self, port=PORT, token=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        secret = f"Authorization: Bearer {token}\r\n" if token else ""
        self.socket.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{secret}\r\n".encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.receive()
        self.code = int(self.rest.split()[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def receive(self):
        data = self.socket.recv(65536)
        assert data, "the stream has ended"
        # Each event is one HTTP chunk, so chunk sizes appear only between events.
        self.rest += data

    def next(self):
        """The next event."""
        deadline = time.monotonic() + PATIENCE
        while not (found := EVENT.search(self.rest)):
            left = deadline - time.monotonic()
            assert left > 0, f"no event within {PATIENCE:g} s"
            self.socket.settimeout(left)
            with contextlib.suppress(TimeoutError):
                self.receive()
        self.rest = self.rest[found.end():]
        return Event(found[1].decode(), json.loads(found[2]))

    def wait(self, condition):
        """Returns the next event that meets `condition`."""
        deadline = time.monotonic() + PATIENCE
        while True:
            assert time.monotonic() < deadline, f"not within {PATIENCE:g} s"
            event = self.next()
            if condition(event):
                return event
