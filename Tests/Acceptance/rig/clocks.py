"""The two clocks: CLOCK_MONOTONIC_RAW, which Link uses, and CLOCK_MONOTONIC, which sequencer queues use."""

import bisect
import time


def raw_microseconds():
    """Link's host time, in whole microseconds."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) // 1000


def monotonic_and_raw(tries=20):
    """The current time on both clocks, in nanoseconds.

    Reads one clock before and after the other, several times, and returns the reading with the least time between.
    """
    best = None
    for _ in range(tries):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        raw = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if best is None or after - before < best[0]:
            best = (after - before, (before + after) / 2, raw)
    return best[1], best[2]


class Line:
    """A piecewise linear function through given points, extended in a straight line beyond both ends."""

    def __init__(self, points):
        self.points = sorted(points)
        if len(self.points) < 2:
            raise ValueError("a line needs two points")
        self.starts = [point[0] for point in self.points]

    def __call__(self, x):
        index = min(max(bisect.bisect_right(self.starts, x), 1), len(self.points) - 1)
        (x0, y0), (x1, y1) = self.points[index - 1], self.points[index]
        return y0 + (x - x0) * ((y1 - y0) / (x1 - x0))
