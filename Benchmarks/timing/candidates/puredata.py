"""Pure Data with its Link object: the patch (puredata.pd) sends a clock message for each of 24 steps to the beat."""

import pathlib

from candidates import jackd

LABEL = "Pure Data"
ABOUT = "`pd -rt -jack -callback -alsamidi` with `abl_link~`, on a dummy JACK server of 64 frames; the patch is ours"
LINK = True
PATCH = pathlib.Path(__file__).with_name("puredata.pd")
ARGUMENTS = ["-nogui", "-noprefs", "-rt", "-alsamidi", "-midioutdev", "1", "-nomidiin", "-callback"]


def start(programs, tempo, observer):
    jackd.start(programs)
    programs.start("pd", *ARGUMENTS, "-jack", "-r", jackd.RATE, "-path", "/usr/lib/pd/extra/abl_link~", PATCH)
    observer.subscribe(programs.port("Pure Data", "Out"))
    return tempo
