"""A stream of the gateway's server-sent events, as an open panel has one."""

import socket

from rig.gateway import PORT
from rig.wait import PATIENCE


class EventStream:
    """One open stream, which is not read once it has begun."""

    def __init__(self, port=PORT):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        rest = b""
        while b"\r\n\r\n" not in rest:
            data = self.socket.recv(65536)
            assert data, "the stream has ended"
            rest += data

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()
