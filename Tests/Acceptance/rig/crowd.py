"""Announces many invented Link peers to one real peer: `python -m rig.crowd KIND PORT SESSION`, until stdin ends.

`forged`     3000 new sessions a second, from 200 addresses; pings are not answered
`fillers`    1100 members of the peer's own session, with a time to live of 255 s, announced again and again
`answering`  1000 sessions younger than any other, from 8 addresses; pings are answered

Prints `ready` once it has sent enough to fill any table of the peer.
"""

import random
import resource
import select
import socket
import struct
import sys
import time

from rig.clocks import raw_microseconds
from rig.rawpeer import ALIVE, DISCOVERY, LOOPBACK, MEASUREMENT, PING, PONG, RESPONSE, entry

RATES = {"forged": 3000, "fillers": 2200, "answering": 4000}
ENOUGH = {"forged": 3000, "fillers": 1100, "answering": 1000}


def opened(address):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.setblocking(False)
    one.bind((address, 0))
    return one


class Stranger:
    def __init__(self, generator, voice, ear=None, session=None):
        node = generator.randbytes(8)
        self.voice, self.session = voice, session or node
        endpoint = ear.getsockname() if ear else (voice.getsockname()[0], 9)
        payload = b"".join([
            entry(b"tmln", struct.pack(">qqq", 500_000, generator.randrange(10**9), 0)), entry(b"sess", self.session),
            entry(b"mep4", socket.inet_aton(endpoint[0]) + struct.pack(">H", endpoint[1]))])
        kind, ttl = (RESPONSE, 255) if session else (ALIVE, 5)
        self.announcement = DISCOVERY + struct.pack(">BBH", kind, ttl, 0) + node + payload


def crowd(kind, session, generator):
    """The strangers in the order of their announcements, and those that answer pings, by socket."""
    addresses = {"forged": 200, "fillers": 1, "answering": 8}[kind]
    voices = [opened(f"127.66.{number // 250}.{1 + number % 250}") for number in range(addresses)]
    if kind == "forged":
        return (Stranger(generator, voices[number % addresses]) for number in range(10**9)), {}
    if kind == "fillers":
        strangers = [Stranger(generator, voices[0], session=session) for _ in range(1100)]
        return (strangers[number % 1100] for number in range(10**9)), {}
    ears = {}
    for number in range(1000):
        voice = voices[number % addresses]
        ear = opened(voice.getsockname()[0])
        ears[ear] = Stranger(generator, voice, ear)
    strangers = list(ears.values())
    return (strangers[number % 1000] for number in range(10**9)), ears


def answer(ears, poller, by_number, began):
    for number, _ in poller.poll(1):
        ear = by_number[number]
        data, source = ear.recvfrom(512)
        if data[:9] == MEASUREMENT + bytes([PING]):
            ghost = struct.pack(">q", raw_microseconds() - began)
            ear.sendto(
                MEASUREMENT + bytes([PONG]) + entry(b"sess", ears[ear].session) + entry(b"__gt", ghost) + data[9:], source)


def main(kind, port, session):
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    strangers, ears = crowd(kind, bytes.fromhex(session), random.Random(1))
    poller, by_number = select.poll(), {ear.fileno(): ear for ear in ears}
    for number in by_number:
        poller.register(number, select.POLLIN)
    began, start, sent = raw_microseconds(), time.monotonic(), 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        # A machine that is too slow for this rate must still see the end of stdin.
        due = min(int((time.monotonic() - start) * RATES[kind]), sent + 100)
        while sent < due:
            stranger = next(strangers)
            stranger.voice.sendto(stranger.announcement, (LOOPBACK, port))
            sent += 1
            if sent == ENOUGH[kind]:
                print("ready", flush=True)
        if ears:
            answer(ears, poller, by_number, began)
        else:
            time.sleep(0.001)


main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
