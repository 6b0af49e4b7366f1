"""Tactus: in a Link session, and without one by each of its ways to send. Only the observer's port is driven."""

from dataclasses import dataclass

from rig.gateway import TACTUS, environment


@dataclass(frozen=True)
class Tactus:
    LABEL: str
    ABOUT: str
    way: str = "auto"
    LINK: bool = False

    def start(self, programs, tempo, observer):
        link = ["--tempo", "100"] if self.LINK else ["--no-link", "--tempo", tempo]
        programs.start(TACTUS, "run", "--no-http", "--follow", "off", "--dispatch", self.way, *link, "--output",
                       observer.name, **environment(programs.folder))
        return tempo


IN_SESSION = Tactus("Tactus", "`tactus run`, run by root; its way to send is not set", LINK=True)
WAYS = {
    "auto": Tactus("Tactus", "`tactus run`; its way to send is not set"),
    "direct": Tactus("plain direct", "`--dispatch direct`: its thread sends each tick when it has woken", "direct"),
    "again": Tactus("plain direct, once more", "the same, and only idle: what plain direct dispatch itself makes of the "
                    "bounds that its first figures set", "direct"),
    "queue": Tactus("plain queue", "`--dispatch queue`: the sequencer's queue sends each tick", "queue"),
}
