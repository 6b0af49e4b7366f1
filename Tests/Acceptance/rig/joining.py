"""When an official peer in this process is really on the network: half a second late, if it was still waking up."""

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
    """Turns a peer's Link on and waits until its session has begun.

    The module's own thread hears at once that Link was turned on, or, if it was not waiting yet, half a second later;
    the age of a session decides who joins whom, and half a second is what tells ages apart.
    """
    before = _sockets()
    peer.enabled = True
    until(lambda: _sockets() - before, "the official peer opens its sockets")


def become_senior():
    """Lets a session that was just founded grow older than any that is founded from now on.

    Half a second decides whose session two become, and no event tells that it has passed.
    """
    time.sleep(1)
