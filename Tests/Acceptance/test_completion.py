"""What the Tab key completes, in real shells on a terminal."""

import json
import subprocess

import pytest

from rig.gateway import TACTUS, environment, run_tactus
from rig.screen import Screen
from rig.wait import until

pytestmark = pytest.mark.real("terminal")

# By shell: how it is started without anybody's settings, and how it takes the script.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source {folder}/_tactus"),
    "zsh": (["zsh", "-f", "-i"], "fpath=({folder} $fpath); autoload -U compinit; compinit -D -u"),
    "fish": (["fish", "--no-config", "--private", "-i"], "source {folder}/_tactus"),
}


def profile():
    """A profile, and the beginning of its name that no other has."""
    names = [each["id"] for each in json.loads(run_tactus("profiles", "list", "--json").stdout)]
    return next(
        (name, name[:-2]) for name in names if sum(other.startswith(name[:-2]) for other in names) == 1)


def test_outputs_profiles_words_and_controls_are_completed(start, tmp_path):
    gateway = start("--no-link", "--output", "virtual:Drums")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tactus").symlink_to(TACTUS)
    for shell in SHELLS:
        completes(shell, gateway, tmp_path)


def completes(shell, gateway, tmp_path):
    script = subprocess.run(
        [TACTUS, "--generate-completion-script", shell], check=True, capture_output=True, text=True).stdout
    (tmp_path / "_tactus").write_text(script)
    settings = environment(gateway.folder)
    settings["PATH"] = f"{tmp_path}/bin:{settings['PATH']}"
    command, load = SHELLS[shell]
    with Screen(command, settings, columns=200) as screen:
        screen.press(f"{load.format(folder=tmp_path)}; echo load''ed\r")
        until(lambda: screen.read() or "loaded" in screen.raw, f"{shell} is ready")
        whole, begun = profile()
        for words, typed in (
                ("realign drums", "realign dr"), ("calibrate drums", "calibrate dr"), (f"profiles show {whole}",) * 2,
                ("follow auto", "follow au"), ("learn toggle-play", "learn toggle-p")):
            typed = typed.replace(whole, begun)
            # Then Ctrl-A, so that the line is told and not run.
            screen.press(f"tactus {typed}\t\x01echo to''ld: \r")
            until(
                lambda words=words: screen.read() or f"told: tactus {words}" in screen.raw,
                f"{shell} completes {typed!r}: {screen.raw!r}")
