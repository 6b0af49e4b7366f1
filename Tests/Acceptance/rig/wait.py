"""Waiting for something to become true, instead of a blind sleep."""

import time

PATIENCE = 60.0  # seconds, for a machine so busy that nobody may conclude anything from it


def until(condition, what, every=0.002, within=PATIENCE):
    """Returns the first true value of `condition`; fails naming `what` if it takes so long that it will never come."""
    deadline = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s: {what}; last seen: {value!r}")
        time.sleep(every)
    return value
