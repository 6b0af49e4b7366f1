"""The other null instrument: a queue in which nothing else waits, and how late its timer's interrupts are."""

import os

LABEL = "empty queue"
ABOUT = ("a queue with a timer of 6250 Hz that sends one Timing Clock every ten periods, each due when a period ends; "
         "never beside another program's queue, whose timer would hold it up")
LINK = False
HERTZ, PERIODS = 6250, 10


def start(programs, tempo, observer):
    # At a real-time priority, since under load it would now and then be late itself with filling the queue.
    programs.start(
        os.environ["ANOTHER_QUEUE"], HERTZ, observer.port.client_id, observer.port.port_id, PERIODS, priority=50)
    return HERTZ / PERIODS * 60 / 24
