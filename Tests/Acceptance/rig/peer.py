"""An unmodified official Link peer, the PyPI module LinkPython with Link 4.0, as tests use it."""

import link

from rig.joining import enable
from rig.wait import until

QUANTUM = 4.0


class Peer:
    """One Link peer in this process, with its tempo, beats and transport."""

    def __init__(self, bpm, start_stop_sync=False):
        self.link = link.Link(bpm)
        self.link.startStopSyncEnabled = start_stop_sync
        enable(self.link)

    def close(self):
        """Leaves the session with a bye-bye."""
        self.link.enabled = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        # The module disables Link on another thread. Deleting the object waits for that, so that the next test's peer
        # never joins this one's session.
        del self.link

    @property
    def peers(self):
        return self.link.numPeers()

    @property
    def tempo(self):
        return self.link.captureAppSessionState().tempo()

    @property
    def playing(self):
        return self.link.captureAppSessionState().isPlaying()

    def now(self):
        """The current time on the peer's clock, in microseconds."""
        return self.link.clock().micros()

    def set_tempo(self, bpm):
        """Changes the session's tempo now; returns the (time, beat) of the change."""
        state = self.link.captureAppSessionState()
        at = self.now()
        knee = (at, state.beatAtTime(at, QUANTUM))
        state.setTempo(bpm, at)
        self.link.commitAppSessionState(state)
        return knee

    def play(self, quantum=QUANTUM):
        """Starts the transport with beat 0 on the next boundary of `quantum`; returns the boundary's time.

        Waits first if a boundary is less than half a beat away, because a Start could not arrive in time.
        """
        until(lambda: 0.1 < self.phase(self.now(), quantum) < quantum - 0.5, "the bar is young")
        state = self.link.captureAppSessionState()
        at = self.now()
        state.setIsPlayingAndRequestBeatAtTime(True, at, 0, quantum)
        self.link.commitAppSessionState(state)
        return state.timeAtBeat(0, quantum)

    def stop(self):
        """Stops the transport; returns when."""
        state = self.link.captureAppSessionState()
        at = self.now()
        state.setIsPlaying(False, at)
        self.link.commitAppSessionState(state)
        return at

    def beat(self, at, quantum=QUANTUM):
        return self.link.captureAppSessionState().beatAtTime(at, quantum)

    def phase(self, at, quantum=QUANTUM):
        return self.link.captureAppSessionState().phaseAtTime(at, quantum)

    def time(self, beat, quantum=QUANTUM):
        return self.link.captureAppSessionState().timeAtBeat(beat, quantum)
