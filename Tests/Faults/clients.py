"""Faults of HTTP and OSC clients."""

import contextlib
import resource
import signal
import socket
import time

from rig.clocks import raw_microseconds
from rig.events import EventStream
from rig.gateway import PORT
from rig.pipelines import Pipelines
from rig.wait import until
from stage import fault

HOST = f"Host: 127.0.0.1:{PORT}\r\n"


def connected(count):
    """Raises this process's limit of open files, and returns `count` connections."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return [socket.create_connection(("127.0.0.1", PORT)) for _ in range(count)]


@fault("120 connections send requests without end and read nothing; then SIGTERM", within=0.5)
def pipelines(stage):
    for round in stage.rounds():
        gateway = stage.start(name=f"gateway {round.number}")
        with contextlib.ExitStack() as stack:
            flood = Pipelines(stack)
            flood.open(120)
            until(lambda: flood.send() == 0, "every connection is closed")
            flood.open(120)
            for _ in range(20):
                flood.send()
            gateway.status()  # fails if others are not answered
            round.over()
            stage.end(gateway, round, signal.SIGTERM)
            round.recovered = raw_microseconds()


@fault("500 clients send a byte every 0.5 s, and complete no request")
def slow_clients(stage):
    gateway = stage.start()
    for round in stage.rounds():
        connections = connected(500)
        for turn in range(15):
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.send(b"GET /api/v1/status "[turn:turn + 1])
            gateway.status()  # fails if others are not answered
            time.sleep(0.5)
        for connection in connections:
            connection.close()


@fault("90 event streams are requested, of which 64 are allowed, and not read during 400 changes of the quantum")
def streams_unread(stage):
    gateway = stage.start()
    for round in stage.rounds():
        with contextlib.ExitStack() as stack:
            codes = []
            for _ in range(90):
                with contextlib.suppress(AssertionError, OSError):
                    codes.append(stack.enter_context(EventStream()).code)
            round.expect(codes.count(200) == 64, f"{codes.count(200)} event streams were opened, not 64")
            for number in range(400):
                gateway.post("quantum", {"beats": 3 + number % 20})
            round.expect(gateway.status()["quantum"] == 3 + 399 % 20, "the last change is not in force")
            time.sleep(3)  # in which the streams' buffers stay full
        time.sleep(0.5)  # the gateway notices that a reader has left when it sends the next event


def bad_requests():
    """Bytes that are no HTTP request, and requests that must not succeed."""
    yield from (b"\r\n\r\n", b"\x00" * 200, b"GET\r\n\r\n", b"GET /api/v1/status HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00")
    yield b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 200_000 + b"\r\n\r\n"
    for head in (
            "GET /api/v1/status HTTP/1.1\r\n\r\n",
            f"GET /api/v1/status HTTP/1.1\r\n{HOST}{HOST}\r\n",
            f"GET /api/v1/status HTTP/1.1\r\n{HOST}Host: evil.example\r\n\r\n",
            f"GET http://evil.example/api/v1/status HTTP/1.1\r\n{HOST}\r\n",
            "GET /api/v1/status HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            f"GET /../../etc/passwd HTTP/1.1\r\n{HOST}\r\n",
            f"POST /api/v1/tempo HTTP/1.1\r\n{HOST}Content-Length: 99999999999999999999\r\n\r\n",
            f"POST /api/v1/tempo HTTP/1.1\r\n{HOST}Content-Length: -1\r\n\r\n",
            f"POST /api/v1/tempo HTTP/1.1\r\n{HOST}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{{}}",
            f"POST /api/v1/tempo HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\n\r\nzz\r\n",
            f"POST /api/v1/tempo HTTP/1.1\r\n{HOST}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\n{{\r\n0\r\n\r\n",
            f"POST /api/v1/tempo HTTP/1.1\r\n{HOST}Origin: http://evil.example\r\nContent-Type: application/json\r\n"
            'Content-Length: 11\r\n\r\n{"bpm":130}',
            f"OPTIONS * HTTP/1.1\r\n{HOST}\r\n", f"CONNECT evil.example:80 HTTP/1.1\r\n{HOST}\r\n",
            f"TRACE / HTTP/1.1\r\n{HOST}\r\n"):
        yield head.encode()
    for body in (b"{", b'{"bpm":5}', b'{"bpm":1e999}', b'{"bpm":"NaN"}', b"[" * 5000, b'{"bpm":130', b"\xff\xfe", b"null"):
        yield (f"POST /api/v1/tempo HTTP/1.1\r\n{HOST}Content-Type: application/json\r\n"
               f"Content-Length: {len(body)}\r\n\r\n").encode() + body


@fault("bytes that are no request, and requests that are cut off, name other hosts or hold nonsense")
def senseless_requests(stage):
    gateway = stage.start()
    for round in stage.rounds():
        for sent in 20 * list(bad_requests()):
            answer = b""
            with socket.create_connection(("127.0.0.1", PORT), timeout=60) as connection:
                try:
                    connection.sendall(sent)
                    connection.shutdown(socket.SHUT_WR)
                    while part := connection.recv(65536):
                        answer += part
                except TimeoutError:
                    round.expect(False, f"neither answered nor closed: {sent[:100]!r}")
                except OSError:
                    pass  # the gateway has closed it
            round.expect(not answer.startswith(b"HTTP/1.1 2"), f"a 2xx answer to {sent[:100]!r}")
        round.expect(abs(gateway.status()["tempo"] - 120) < 0.01, "the tempo has changed")


@fault("100 000 OSC messages as fast as they can be sent, half of them nonsense")
def osc_flood(stage):
    config = stage.configuration("osc: { enabled: true }\n")
    gateway = stage.start("--config", config)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as controller:
        good = b"/tactus/quantum\0,i\0\0" + (4).to_bytes(4, "big")
        for round in stage.rounds():
            for number in range(100_000):
                controller.sendto(good if number % 2 else good[:number % len(good)], ("127.0.0.1", 8809))
            round.over()
            time.sleep(1)
            beats = 4 + round.number
            controller.sendto(b"/tactus/quantum\0,i\0\0" + beats.to_bytes(4, "big"), ("127.0.0.1", 8809))
            until(lambda: gateway.status()["quantum"] == beats, "an OSC message after the flood is obeyed")


@fault("somebody guesses the token as fast as answers come, for 3 s")
def token_guessed(stage):
    secret = stage.folder / "secret"
    secret.write_text("Zm9vYmFyYmF6cXV4\n")
    secret.chmod(0o600)
    gateway = stage.start("--http-token-file", secret, token="Zm9vYmFyYmF6cXV4")
    for round in stage.rounds():
        codes, deadline = [], time.monotonic() + 3
        while time.monotonic() < deadline:
            codes.append(gateway.request("GET", "/api/v1/status", headers={"Authorization": f"Bearer {len(codes):016}"})[0])
        round.over()
        round.expect(200 not in codes, "a wrong token was accepted")
        round.expect(429 in codes, "guesses are not slowed")
        round.note(f"{codes.count(401)} guesses were examined")
        until(lambda: gateway.request("GET", "/api/v1/status")[0] == 200, "the right token is accepted")
        round.expect("wrong token" in gateway.stderr, "the log says nothing")
