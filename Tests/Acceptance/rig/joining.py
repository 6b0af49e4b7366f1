"""Waits until an official peer in this process is on the network, which can take half a second."""

import contextlib
import os
import time
from pathlib import Path

from rig.rawpeer import GROUP
from rig.wait import until


def _sockets():
    """The inodes of this process's own sockets on Link's port."""
    own = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed meanwhile
            own.add(os.readlink(f"/proc/self/fd/{number}"))
    lines = [line.split() for line in Path("/proc/self/net/udp").read_text().splitlines()[1:]]
    return {words[9] for words in lines if words[1].endswith(f":{GROUP[1]:04X}") and f"socket:[{words[9]}]" in own}


def enable(peer):
    """Enables a peer's Link and waits until its session has begun.

    The official module's thread notices at once that Link was enabled, or half a second later if it was not waiting
    yet. That matters because the older of two sessions wins only if it is at least half a second older.
    """
    before = _sockets()
    peer.enabled = True
    until(lambda: _sockets() - before, "the official peer opens its sockets")


def become_senior():
    """Waits until a session that was just founded wins against any that is founded from now on.

    It must be at least half a second older, and no event tells when it is.
    """
    time.sleep(1)
