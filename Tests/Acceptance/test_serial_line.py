"""A serial line, simulated by a pseudo-terminal: bytes pass unchanged, and hanging up does no harm."""

import os
import re
import select

import pytest

from rig.wait import PATIENCE

pytestmark = pytest.mark.real("line")


def take(descriptor, is_enough):
    """Reads until `is_enough` is true of all the bytes so far, and returns them."""
    taken = b""
    while not is_enough(taken):
        assert select.select([descriptor], [], [], PATIENCE)[0], f"nothing more came after {taken[-20:]!r}"
        taken += os.read(descriptor, 4096)
    return taken


def test_a_terminal_line_carries_the_bytes_as_they_are_and_one_that_hangs_up_is_away(start):
    far, near = os.openpty()
    gateway = start("--no-link", "--no-clock-port", "--tempo", 999, "--output", f"raw:{os.ttyname(near)}@31250")
    stopped = take(far, lambda taken: len(taken) >= 400)
    assert set(stopped) == {0xF8}
    gateway.post("transport", {"playing": True})
    # If this computer is busy, it may be too late for Start; then Song Position and Continue are sent. If it stalls,
    # the machine is stopped and joins again at its place. A place may hold bytes that a terminal would act on.
    playing = take(far, lambda taken: taken.count(0xF8) >= 400 and set(taken) & {0xFA, 0xFB})
    transport = playing.replace(b"\xf8", b"")
    join = rb"\xf2[\x00-\x7f]{2}\xfb"
    assert re.fullmatch(rb"(\xfa|%s)(\xfc%s)*(\xfc(\xf2[\x00-\x7f]{0,2})?)?" % (join, join), transport, re.DOTALL)
    gateway.stop()
    assert take(far, lambda taken: 0xFC in taken)[-1:] == b"\xfc"

    gateway = start("--no-link", "--no-clock-port", "--output", f"raw:{os.ttyname(near)}", name="hangs up")
    gateway.wait_status(lambda status: status["outputs"][0]["connected"], "the line is open")
    os.close(near)
    os.close(far)
    gateway.wait_status(lambda status: not status["outputs"][0]["connected"], "the line is seen to be gone")
    assert any(warning["code"] == "output-away" for warning in gateway.status()["warnings"])
