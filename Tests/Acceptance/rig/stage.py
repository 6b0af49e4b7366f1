"""A gateway as on stage: machines at FIFOs, and other peers in its session."""

import contextlib

from rig.gateway import Gateway
from rig.peer import Peer
from rig.rawline import RawLine

MACHINES = {"TR-8S": "roland-tr-8s", "Volca Beats": "korg-volca", "Digitakt": "elektron-digitakt"}


@contextlib.contextmanager
def on_stage(folder, peers=2, unplugged=("Digitakt",), lines=None):
    """A gateway at 128 BPM with three machines that has met the other peers.

    Some machines are not there, or only until `lines` is closed.
    """
    outputs = [word for name, profile in MACHINES.items() for word in ("--output", f"raw:{folder / name}={profile}")]
    with contextlib.ExitStack() as stack:
        for name in MACHINES:
            if name not in unplugged:
                stack.enter_context(RawLine(folder / name))
            elif lines:
                lines.enter_context(RawLine(folder / name))
        for _ in range(peers):
            stack.enter_context(Peer(128))
        running = stack.enter_context(Gateway(*outputs, "--tempo", 128, folder=folder / "gateway"))
        running.wait_status(lambda status: status["link"]["peers"] == peers, "the other peers")
        yield running


def play(gateway):
    """Plays, and returns when the song has begun."""
    gateway.post("transport", {"playing": True})
    gateway.wait_status(lambda status: status["transport"] == "playing", "it plays")
