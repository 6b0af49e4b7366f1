"""A serial line, as a pseudo-terminal stands for it: raw bytes, no translation, and no harm when it hangs up."""

import os
import select
import time


def take(descriptor, seconds):
    """Everything that comes within some seconds."""
    taken = b""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if select.select([descriptor], [], [], left)[0]:
            taken += os.read(descriptor, 4096)
    return taken


def test_a_terminal_line_carries_the_bytes_as_they_are(start):
    far, near = os.openpty()
    gateway = start("--no-link", "--no-clock-port", "--tempo", 999, "--output", f"raw:{os.ttyname(near)}@31250")
    take(far, 0.2)  # what came while it started
    stopped = take(far, 1)
    gateway.post("transport", {"playing": True})
    playing = take(far, 1)
    gateway.stop()
    ending = take(far, 0.2)
    assert set(stopped) == {0xF8} and 300 < len(stopped) < 500
    # A machine that stalls just then comes in by Song Position and Continue instead.
    transport = bytes(byte for byte in playing if byte != 0xF8)
    assert transport == b"\xfa" or transport[:1] == b"\xf2" and transport[-1:] == b"\xfb"
    assert ending[-1:] == b"\xfc"
    os.close(near)
    os.close(far)


def test_a_line_that_hangs_up_is_shown_as_away_and_ends_nothing(start):
    far, near = os.openpty()
    gateway = start("--no-link", "--no-clock-port", "--output", f"raw:{os.ttyname(near)}")
    gateway.wait_status(lambda status: status["outputs"][0]["connected"], 2, "the line is open")
    os.close(near)
    os.close(far)
    gateway.wait_status(lambda status: not status["outputs"][0]["connected"], 3, "the line is seen to be gone")
    assert any(warning["code"] == "output-away" for warning in gateway.status()["warnings"])
