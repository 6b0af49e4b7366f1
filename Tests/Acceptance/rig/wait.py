"""Waiting for something to become true, with a deadline instead of a blind sleep."""

import time


def until(condition, within, what, every=0.002):
    """Returns the first true value of `condition`; fails naming `what` once `within` seconds have passed."""
    deadline = time.monotonic() + within
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within:g} s: {what}; last seen: {value!r}")
        time.sleep(every)
    return value
