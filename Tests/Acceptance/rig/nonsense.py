"""Link messages that are damaged, or well formed and impossible."""

import random
import struct

from rig.rawpeer import ALIVE, MEASUREMENT, PONG, RESPONSE, entry

EXTREMES = [-2**63, -1, 0, 1, 2**53 + 1, 2**63 - 1]


def broken(generator: random.Random, data):
    """A valid message after random damage: cut off, with flipped bits, wrong lengths or extra bytes."""
    data = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(data)) if data else 0
        match generator.randrange(5):
            case 0 if data:
                data[place] ^= 1 << generator.randrange(8)
            case 1:
                del data[place:]
            case 2:
                data[place:place + 4] = b"\xff\xff\xff\xff"
            case 3:
                data[place:place + 8] = struct.pack(">q", generator.choice(EXTREMES))
            case 4:
                data += generator.randbytes(generator.randrange(300))
    return bytes(data)


def senseless(raw, node):
    """Well-formed messages with impossible values; some have the node ID `node`."""
    for number in EXTREMES:
        for timeline in [(number, 0, 0), (500_000, number, 0), (500_000, 0, number), (number,) * 3]:
            raw.node = node if number == 1 else b"SENSELES"
            _, *rest = raw.payload()
            yield raw.message(ALIVE, [entry(b"tmln", struct.pack(">qqq", *timeline)), *rest])
            yield raw.message(RESPONSE, [*raw.payload(), entry(b"stst", struct.pack(">Bqq", 255, number, number))])
        times = b"".join(entry(key, struct.pack(">q", number)) for key in (b"__gt", b"__ht", b"_pgt"))
        yield MEASUREMENT + bytes([PONG]) + entry(b"sess", raw.session) + times
