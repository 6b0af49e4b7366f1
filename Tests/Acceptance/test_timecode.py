"""Time code, in the lab: the kernel has stamped the bytes where they leave the sequencer."""

import pytest

from rig.figures import quantile
from rig.labs import Boot

pytestmark = pytest.mark.real("sequencer")

# Frames a second by profile, and their code in the bytes. TimeCodeTests have every rate.
RATES = {"25": (25, 1), "30drop": (30_000 / 1_001, 2)}
BOOTS = [Boot({"timecode": ("timecode.py", *RATES)})]


def messages(record):
    """Full frames and pieces, each with the time of its first byte."""
    found, message = [], []
    for byte, at in record["bytes"]:
        if byte in (0xF0, 0xF1):
            message, began = [], at
        message.append(byte)
        if (message[0], len(message)) in ((0xF1, 2), (0xF0, 10)):
            found.append((bytes(message), began))
    return found


def test_time_code_counts_real_time_from_the_first_step(recordings):
    for rate, (frames, code) in RATES.items():
        counts(recordings["timecode"][rate], frames, code)


def counts(record, frames, code):
    heard = messages(record)
    full = [message for message, _ in heard if message[0] == 0xF0]
    assert [message[:6] for message in full] == [bytes([0xF0, 0x7F, 0x7F, 1, 1, code << 5])] * 2
    assert full[0][6:] == bytes([0, 0, 0, 0xF7]) and full[1][7] in (4, 5), "where the song begins, and where it stops"
    assert heard[0][0] == full[0] and heard[-1][0] == full[1]

    pieces = [(message[1], at) for message, at in heard if message[0] == 0xF1]
    assert len(pieces) >= 4 * frames * 4.5
    assert [data >> 4 for data, _ in pieces] == [number % 8 for number in range(len(pieces))]
    for begin in range(0, len(pieces) - 7, 8):
        low_and_high = [data & 15 for data, _ in pieces[begin:begin + 8]]
        frame, second, minute, hour = (low | high << 4 for low, high in zip(low_and_high[::2], low_and_high[1::2]))
        assert second * round(frames) + frame == begin // 4 and minute == 0 and hour == code << 5

    names = [name for name, _ in record["clock"]]
    first_step = record["clock"][names.index("start") + 1][1]
    errors = [abs(at - first_step - number * 1e6 / frames / 4) for number, (_, at) in enumerate(pieces)]
    assert quantile(errors, 0.99) <= 300, f"microseconds: {sorted(errors)[-5:]}"
