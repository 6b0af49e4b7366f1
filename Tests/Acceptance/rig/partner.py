"""Unmodified Link programs behind one common interface, for the cases of the test plan."""

import asyncio
import warnings

import aalink

from rig.joining import enable
from rig.linkhut import LinkHut
from rig.peer import Peer


class LinkPythonPartner:
    """The PyPI module LinkPython, with Link 4.0."""

    name = "LinkPython (Link 4.0)"

    def __init__(self, bpm):
        self.peer = Peer(bpm, start_stop_sync=True)
        self.close = self.peer.close

    tempo = property(lambda self: self.peer.tempo)
    playing = property(lambda self: self.peer.playing)
    peers = property(lambda self: self.peer.peers)

    def nudge_tempo(self, by):
        self.peer.set_tempo(self.peer.tempo + by)

    def play(self):
        self.peer.play()

    def stop(self):
        self.peer.stop()


class AalinkPartner:
    """The PyPI module aalink, with Link 4.0. It sends pings from the socket on which it answers them."""

    name = "aalink 0.2.3"

    def __init__(self, bpm):
        with warnings.catch_warnings(action="ignore"):  # passing an event loop is deprecated, but none runs here
            self.link = aalink.Link(bpm, asyncio.new_event_loop())
        self.link.start_stop_sync_enabled = True
        enable(self.link)

    def close(self):
        self.link.enabled = False

    tempo = property(lambda self: self.link.tempo)
    playing = property(lambda self: self.link.playing)
    peers = property(lambda self: self.link.num_peers)

    def nudge_tempo(self, by):
        self.link.tempo += by

    def play(self):
        self.link.playing = True

    def stop(self):
        self.link.playing = False


class LinkHutPartner:
    """Debian's demo program, driven by its keys."""

    name = "LinkHut 3.0.6"

    def __init__(self, bpm):
        self.hut = LinkHut()
        try:
            self.hut.set_tempo(bpm)
            self.hut.press("s")
            self.hut.enable()
        except BaseException:
            self.hut.close()
            raise
        self.close = self.hut.close

    tempo = property(lambda self: self.hut.now.tempo)
    playing = property(lambda self: self.hut.now.playing)
    peers = property(lambda self: self.hut.now.peers)

    def nudge_tempo(self, by):
        """Changes the tempo by whole steps, one key press each, as far as LinkHut's range goes."""
        self.hut.set_tempo(round(min(max(self.tempo + by, 20), 999)))

    def play(self):
        self.hut.play()

    def stop(self):
        self.hut.press(" ")


PARTNERS = [LinkHutPartner, LinkPythonPartner, AalinkPartner]
