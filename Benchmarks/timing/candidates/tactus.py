"""Tactus, as released; its general port."""

from rig.gateway import TACTUS

LABEL = "Tactus"
ABOUT = "`tactus run`, run by root; nothing set"
LINK = True


def start(programs, tempo, observer):
    folder = programs.folder
    homes = {"HOME": folder, "XDG_CONFIG_HOME": f"{folder}/config", "XDG_STATE_HOME": f"{folder}/state",
             "XDG_RUNTIME_DIR": folder}
    programs.start(TACTUS, "run", "--tempo", "100", **homes)
    observer.subscribe(programs.port("Tactus", "Clock"))
    return tempo
