"""MIDI clock from a Link session in a few lines of Python: what a musician who programs would write."""

import gc
import math
import time

import link
import rtmidi

QUANTUM = 4
CLOCK = [0xF8]


def main():
    peer = link.Link(100)
    peer.enabled = True
    output = rtmidi.MidiOut(rtmidi.API_LINUX_ALSA, name="LinkPython clock")
    output.open_virtual_port("out")
    gc.disable()
    clock = peer.clock()
    last = None
    while True:
        state = peer.captureAppSessionState()
        now = clock.micros()
        tick = math.floor(state.beatAtTime(now, QUANTUM) * 24) + 1
        if last is not None and last <= tick <= last + 3:
            tick = last + 1  # the wake-up came a little early, or late: neither twice nor never
        at = state.timeAtBeat(tick / 24, QUANTUM)
        if at > now:
            time.sleep((at - now) / 1e6)
        output.send_message(CLOCK)
        last = tick


if __name__ == "__main__":
    main()
