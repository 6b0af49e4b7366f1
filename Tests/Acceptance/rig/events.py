"""A reader of the gateway's server-sent events."""

import socket

from rig.gateway import PORT
from rig.wait import PATIENCE


class EventStream:
    """One open stream. It reads only inside `receive`."""

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
