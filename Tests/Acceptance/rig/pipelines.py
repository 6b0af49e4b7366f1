"""Connections that send requests for the panel without end, and read nothing."""

import selectors
import socket

from rig.gateway import PORT


class Pipelines:
    """Such connections; they are closed with `stack`."""

    REQUEST = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n\r\n".encode()

    def __init__(self, stack):
        self.stack = stack
        self.selector = stack.enter_context(selectors.DefaultSelector())
        self.sent = {}

    def open(self, count):
        for _ in range(count):
            connection = self.stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", PORT))
            connection.setblocking(False)
            self.sent[connection] = 0
            self.selector.register(connection, selectors.EVENT_WRITE)

    def send(self):
        """Sends what the connections take, and returns how many are still open."""
        for key, _ in self.selector.select(0.05):
            connection, done = key.fileobj, self.sent[key.fileobj] % len(self.REQUEST)
            try:
                self.sent[connection] += connection.send((self.REQUEST * 1000)[done:])
            except BlockingIOError:
                pass
            except OSError:
                self.selector.unregister(connection)
                del self.sent[connection]
        return len(self.sent)
