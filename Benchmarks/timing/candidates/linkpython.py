"""A loop in Python over the official Link library and RtMidi (linkpython_clock.py)."""

import pathlib
import sys

LABEL = "Python loop"
ABOUT = ("LinkPython-extern and python-rtmidi under `chrt --fifo 80`: sleeps to the next tick's time, sends it at "
         "once; garbage collection off")
LINK = True
PROGRAM = pathlib.Path(__file__).with_name("linkpython_clock.py")


def start(programs, tempo, observer):
    programs.start(sys.executable, PROGRAM, priority=80)
    observer.subscribe(programs.port("LinkPython clock", "out"))
    return tempo
