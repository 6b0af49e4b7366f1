"""Runs an unmodified official peer with the keys and trace of our metronome: `python official.py TEMPO`."""

import pathlib
import select
import sys
import time

import link

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from rig.joining import enable  # noqa: E402


def main(tempo):
    peer = link.Link(tempo)
    time.sleep(0.6)  # after that, the official module's thread notices at once that Link is enabled
    quantum = 4.0
    while True:
        state = peer.captureAppSessionState()
        now = peer.clock().micros()
        print(
            now, f"{state.beatAtTime(now, quantum):.6f}", f"{state.phaseAtTime(now, quantum):.6f}",
            repr(state.tempo()), quantum, peer.numPeers(), int(peer.enabled), int(state.isPlaying()),
            int(peer.startStopSyncEnabled), flush=True)
        if not select.select([sys.stdin], [], [], 0.1)[0]:
            continue
        key = sys.stdin.buffer.raw.read(1).decode()
        state = peer.captureAppSessionState()
        now = peer.clock().micros()
        if key in ("", "q"):
            return
        if key == "a" and peer.enabled:
            peer.enabled = False
        elif key == "a":
            enable(peer)  # so that it is told to be on when its session has begun
        elif key == "s":
            peer.startStopSyncEnabled = not peer.startStopSyncEnabled
        elif key in "we":
            state.setTempo(state.tempo() + (1 if key == "e" else -1), now)
            peer.commitAppSessionState(state)
        elif key == " ":
            state.setIsPlayingAndRequestBeatAtTime(not state.isPlaying(), now, 0, quantum)
            peer.commitAppSessionState(state)


main(float(sys.argv[1]))
