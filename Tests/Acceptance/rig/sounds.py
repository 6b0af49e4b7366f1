"""Makes recordings with known contents, written by libsndfile like those of studio programs."""

import ctypes
import math

RATE = 48_000
FORMATS = {"wav": 0x010002, "aiff": 0x020002, "flac": 0x170002}


class Info(ctypes.Structure):
    _fields_ = [("frames", ctypes.c_int64), ("samplerate", ctypes.c_int), ("channels", ctypes.c_int),
                ("format", ctypes.c_int), ("sections", ctypes.c_int), ("seekable", ctypes.c_int)]


def clicks(times, seconds, level=0.5):
    """Samples with a damped tone at each of the times, in seconds."""
    samples = [0.0] * int(seconds * RATE)
    for begin in times:
        first = math.ceil(begin * RATE)
        for index in range(first, first + RATE // 50):
            after = index / RATE - begin
            samples[index] += level * math.sin(2 * math.pi * 1_800 * after) * math.exp(-after / 0.003)
    return samples


def midi(messages, seconds, level=0.3):
    """Samples of a MIDI cable after a card's filter; `messages` are pairs of a time in seconds and bytes."""
    reach, samples, jumps = 16, [level] * int(seconds * RATE), {}
    for begin, message in messages:
        for number, byte in enumerate(message):
            bits = [0, *(byte >> bit & 1 for bit in range(8)), 1]
            for place, (before, after) in enumerate(zip([1, *bits], bits)):
                if before == after:
                    continue
                step = 2 * level * (after - before)
                at = (begin + (10 * number + place) / 31_250) * RATE
                for index in range(math.floor(at) - reach + 1, math.floor(at) + reach + 1):
                    samples[index] += step * rise(index - at)
                first = math.floor(at) + reach + 1
                jumps[first] = jumps.get(first, 0) + step
    total = 0
    for index in range(len(samples)):
        total += jumps.get(index, 0)
        samples[index] += total
    return samples


def rise(distance, width=0.6):
    """The level of a filtered step from 0 to 1, at a distance in samples from its middle."""
    return 1 / (1 + math.exp(-max(-60, min(60, 4 * distance / width))))


def write(path, *channels):
    """Writes channels to a file; the file's extension gives the format."""
    library = ctypes.CDLL("libsndfile.so.1")
    library.sf_open.restype = ctypes.c_void_p
    library.sf_writef_float.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    library.sf_close.argtypes = [ctypes.c_void_p]
    info = Info(samplerate=RATE, channels=len(channels), format=FORMATS[path.suffix[1:]])
    file = library.sf_open(str(path).encode(), 0x20, ctypes.byref(info))
    assert file, path
    frames = [sample for frame in zip(*channels) for sample in frame]
    assert library.sf_writef_float(file, (ctypes.c_float * len(frames))(*frames), len(channels[0])) == len(channels[0])
    library.sf_close(file)
    return path
