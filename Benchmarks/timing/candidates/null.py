"""The null instrument: a real-time sleeper that sends nothing (sleeper.c)."""

import os

LABEL = "null instrument"
ABOUT = "a SCHED_FIFO thread at priority 80 that only sleeps to absolute times and notes when it woke"
LINK = False


def start(programs, tempo, observer):
    programs.start(os.environ["SLEEPER"], round(60e9 / tempo / 24))
    return tempo
