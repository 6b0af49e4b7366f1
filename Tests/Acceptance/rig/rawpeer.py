"""A Link peer whose every byte the test chooses, and which keeps every datagram it receives."""

import select
import socket
import struct
import threading
import time
from dataclasses import dataclass, field

from rig.clocks import raw_microseconds
from rig.wait import until

GROUP = ("224.76.78.75", 20808)
LOOPBACK = "127.0.0.1"
DISCOVERY, MEASUREMENT = b"_asdp_v\x01", b"_link_v\x01"
ALIVE, RESPONSE, BYE_BYE = 1, 2, 3
PING, PONG = 1, 2
SO_TIMESTAMPNS = 35  # Python has no name for it


def entry(key, body):
    return key + struct.pack(">I", len(body)) + body


def entries(payload):
    """The entries of a payload, as (key, body) in order; fails if the payload is malformed."""
    found = []
    while payload:
        key, size = payload[:4], struct.unpack(">I", payload[4:8])[0]
        assert len(payload) >= 8 + size, "an entry runs past the end"
        found.append((key, payload[8:8 + size]))
        payload = payload[8 + size:]
    return found


@dataclass(frozen=True)
class Heard:
    """A received datagram: its time in microseconds, its sender, and the socket: group, unicast or measurement."""

    at: int
    source: tuple
    where: str
    data: bytes

    @property
    def kind(self):
        return self.data[8]

    @property
    def node(self):
        return self.data[12:20]

    @property
    def body(self):
        return dict(entries(self.data[20:] if self.data.startswith(DISCOVERY) else self.data[9:]))

    @property
    def timeline(self):
        """Microseconds per beat, beat origin in microbeats, time origin in microseconds of ghost time."""
        return struct.unpack(">qqq", self.body[b"tmln"])

    @property
    def start_stop(self):
        """Whether it plays, the beat in microbeats, and the timestamp."""
        return struct.unpack(">?qq", self.body[b"stst"])

    @property
    def session(self):
        return self.body[b"sess"]

    @property
    def measurement_endpoint(self):
        address, port = self.body[b"mep4"][:4], self.body[b"mep4"][4:]
        return socket.inet_ntoa(address), struct.unpack(">H", port)[0]


def _socket(port=0):
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    opened.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    opened.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(LOOPBACK))
    opened.bind(("" if port else LOOPBACK, port))
    return opened


def _receive(opened):
    """Receives a datagram; returns the time at which the kernel received it, its sender, and its bytes."""
    data, notes, _, source = opened.recvmsg(2048, socket.CMSG_SPACE(16))
    now, at = time.time_ns(), raw_microseconds()
    for level, kind, stamp in notes:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("@qq", stamp)
            at -= (now - seconds * 1_000_000_000 - nanoseconds) // 1000
    return at, source, data


@dataclass
class RawPeer:
    """A hand-made peer. Its fields hold what it announces; `age` is its session's age in seconds."""

    node: bytes = b"RAWPEER1"
    session: bytes = b"RAWPEER1"
    tempo: int = 500_000  # microseconds per beat
    beat_origin: int = 0
    time_origin: int = 0
    start_stop: tuple = (False, 0, 0)
    age: float = 60.0
    answers_pings: bool = True
    heard: list = field(default_factory=list)

    def __enter__(self):
        self.began = raw_microseconds() - int(self.age * 1e6)
        self.unicast, self.measurement, self.group = _socket(), _socket(), _socket(GROUP[1])
        self.group.setsockopt(
            socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP[0]) + socket.inet_aton(LOOPBACK))
        self.ending = False
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending = True
        self.thread.join()
        for opened in (self.unicast, self.measurement, self.group):
            opened.close()

    def listen(self):
        sockets = {self.measurement: "measurement", self.unicast: "unicast", self.group: "group"}
        while not self.ending:
            for ready in select.select(list(sockets), [], [], 0.05)[0]:
                at, source, data = _receive(ready)
                self.heard.append(Heard(at, source, sockets[ready], data))
                if self.answers_pings and ready is self.measurement and data[:9] == MEASUREMENT + bytes([PING]):
                    ghost = struct.pack(">q", self.ghost_now)
                    pong = MEASUREMENT + bytes([PONG]) + entry(b"sess", self.session) + entry(b"__gt", ghost) + data[9:]
                    self.measurement.sendto(pong, source)

    @property
    def ghost_now(self):
        return raw_microseconds() - self.began

    def payload(self):
        playing, beats, stamp = self.start_stop
        endpoint = socket.inet_aton(LOOPBACK) + struct.pack(">H", self.measurement.getsockname()[1])
        return [
            entry(b"tmln", struct.pack(">qqq", self.tempo, self.beat_origin, self.time_origin)),
            entry(b"sess", self.session), entry(b"stst", struct.pack(">?qq", playing, beats, stamp)),
            entry(b"mep4", endpoint)]

    def message(self, kind, payload=None, ttl=5, group=0):
        body = b"".join(self.payload() if payload is None else payload)
        return DISCOVERY + struct.pack(">BBH", kind, ttl, group) + self.node + body

    def send(self, data, to=GROUP):
        self.unicast.sendto(data, to)

    def announce(self, kind=ALIVE, **options):
        self.send(self.message(kind, **options))

    def bye(self):
        self.announce(BYE_BYE, payload=[], ttl=0)

    def heard_since(self, first=0, where=None, kind=None):
        """The datagrams received from other peers, after the first `first`."""
        return [
            one for one in self.heard[first:]
            if (where is None or one.where == where) and (kind is None or one.kind == kind) and len(one.data) > 8
            and not (one.data.startswith(DISCOVERY) and one.node == self.node)]

    def alive(self, condition=lambda _: True, what="an announcement"):
        """Waits for the next announcement of the program under test that meets `condition`."""
        first = len(self.heard)
        return until(
            lambda: next((one for one in self.heard_since(first, "group", ALIVE) if condition(one)), None), what)


def joined(raw, ours):
    """Makes our peer join the session of `raw`; returns its first announcement as a member."""
    first = len(raw.heard)

    def has_joined():
        raw.announce()
        return [one for one in raw.heard_since(first, "group", ALIVE) if one.session == raw.session]

    until(has_joined, "it joins", every=0.25)
    told = len(ours.readings)
    until(lambda: has_joined() and any(one.peers == 1 for one in ours.readings[told:]), "it counts the peer", every=0.25)
    return has_joined()[-1]
