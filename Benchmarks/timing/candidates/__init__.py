"""Programs that send MIDI clock, one module each.

Every module, or object in place of one, has
    LABEL   the program's name in the report;
    ABOUT   how it is set up, for the report;
    LINK    whether it takes its beat from a Link session;
    start(programs, tempo, observer)   starts it, connects it to the observer, and returns the tempo it was asked for.
"""

from candidates import empty, jack_midi_clock, linkpython, midish, null, puredata, supercollider, tactus

# What shows what a machine allows, and what Tactus makes of it.
INSTRUMENTS = {**tactus.WAYS, "null": null, "empty": empty}
# What Tactus is compared with.
PROGRAMS = {
    "tactus": tactus.IN_SESSION,
    "puredata": puredata,
    "supercollider": supercollider,
    "linkpython": linkpython,
    "jack_midi_clock": jack_midi_clock,
    "midish": midish,
    "null": null,
}
CANDIDATES = {**INSTRUMENTS, **PROGRAMS}
