"""Waits until a condition is true, instead of sleeping for a fixed time."""

import time

from rig.guest import IN_LAB

PATIENCE = 60.0  # seconds; so long that only a real failure takes longer, even on a very busy machine


def until(condition, what, every=0.002, within=PATIENCE):
    """Waits until `condition()` is true and returns its value; fails with `what` after `within` seconds.

    In the lab, a program that waits for the host's files lets the guest's clock skip ahead, so patience lasts longer.
    There, too, each look costs the host far more than the time between, which is idle and skipped, so looks are fewer.
    """
    if IN_LAB:
        every = max(every, 0.05)
        within *= 20 if within >= PATIENCE else 1
    deadline = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s: {what}; last seen: {value!r}")
        time.sleep(every)
    return value
