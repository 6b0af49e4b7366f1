"""Programs that send MIDI clock, one module each.

Every module has
    LABEL   the program's name in the report;
    ABOUT   how it is set up, for the report;
    LINK    whether it takes its beat from a Link session;
    start(programs, tempo, observer)   starts it, connects it to the observer, and returns the tempo it was asked for.
"""

from candidates import jack_midi_clock, linkpython, midish, null, puredata, supercollider, tactus

CANDIDATES = {
    "tactus": tactus,
    "puredata": puredata,
    "supercollider": supercollider,
    "linkpython": linkpython,
    "jack_midi_clock": jack_midi_clock,
    "midish": midish,
    "null": null,
}
