"""SuperCollider's LinkClock, played by its language alone (supercollider.scd); no sound server."""

import pathlib

LABEL = "SuperCollider"
ABOUT = ("`sclang` with LinkClock and MIDIOut, both with the documented latency of 0.2 s (so the sequencer's queue "
         "sends), under `chrt --fifo 80`")
LINK = True
PROGRAM = pathlib.Path(__file__).with_name("supercollider.scd")


def start(programs, tempo, observer):
    programs.start("sclang", "-i", "none", "-D", PROGRAM, priority=80, QT_QPA_PLATFORM="offscreen",
                   QTWEBENGINE_DISABLE_SANDBOX="1", XDG_RUNTIME_DIR=programs.folder)
    programs.until(lambda: "clock runs" in programs.output, "the class library is read", 300)
    observer.subscribe(programs.port("SuperCollider", "out0"))
    return tempo
