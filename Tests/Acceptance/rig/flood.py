"""Sends 10 000 datagrams a second to the Link group: garbage, and announcements of invented peers."""

import random
import socket
import struct
import sys
import time

from rig.rawpeer import ALIVE, DISCOVERY, GROUP, LOOPBACK, entry


def alive(generator):
    name = generator.randbytes(8)
    endpoint = socket.inet_aton(LOOPBACK) + struct.pack(">H", 9)
    return DISCOVERY + struct.pack(">BBH", ALIVE, 255, 0) + name + b"".join([
        entry(b"tmln", struct.pack(">qqq", 500_000, generator.randrange(10**9), 0)), entry(b"sess", name),
        entry(b"mep4", endpoint)])


def main(seconds, rate=10_000):
    generator = random.Random(1)
    datagrams = [alive(generator) if turn % 2 else generator.randbytes(turn % 500) for turn in range(1000)]
    flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flood.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(LOOPBACK))
    began, sent = time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        while sent < passed * rate:
            flood.sendto(datagrams[sent % 1000], GROUP)
            sent += 1
        time.sleep(0.001)
    print(sent)


main(float(sys.argv[1]))
