"""Every example in the help of every command, run by a shell as it is written there."""

import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

from rig import sounds
from rig.gateway import PROJECT, TACTUS, environment, is_served
from rig.interface import described_commands
from rig.wait import PATIENCE, until

pytestmark = pytest.mark.real("process")

# Examples that cannot be run here, and why.
NOT_HERE = {
    r"tactus learn .*": "needs the sequencer",
    r"tactus ports.*": "needs the sequencer",
    r"tactus monitor (TR-8S|Clock).*": "needs the sequencer",
    r"tactus monitor hw:.*": "needs a MIDI device",
    r"tactus monitor raw:.*": "needs a serial port of this name",
    r"tactus monitor pcm:.*": "needs a sound card",
    r"tactus calibrate .* --listen .*": "needs a sound card",
    r"tactus calibrate .* --input .*": "needs the sequencer and a cable",
    r"tactus realign tr-8s .*": "needs a connected TR-8S",
    r"tactus output-test .*": "needs a sound card",
    r"tactus report": "takes a minute; test_report.py makes short ones",
    r"tactus report --output report.md": "as above",
    r"tactus report .*--loop.*": "needs a cable",
    r"tactus status --qr .*": "needs a network with this name in it",
}
# Examples that end with Ctrl-C.
ENDLESS = r"tactus (run|watch|peers --watch|bend 4 tr-8s)\b.*"
# An exit code of 1 is a result: there are problems on this machine.
MAY_BE_1 = r"tactus doctor.*"


def examples():
    """Pairs of a command and the lines of its examples, without what is explained beside them."""
    for path, command in described_commands():
        text = (command.get("discussion") or "").partition("EXAMPLES\n")[2]
        yield " ".join(path), [re.split(r" {2,}", line.strip())[0] for line in text.splitlines() if line.strip()]


def is_any(patterns, line):
    return any(re.fullmatch(pattern, line) for pattern in patterns)


@pytest.fixture
def desk(tmp_path):
    """Runs a line by a shell, in a folder with the files that the examples name."""
    folder = tmp_path / "desk"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/tactus").symlink_to(pathlib.Path(TACTUS).resolve())
    shutil.copy(PROJECT / "Profiles/korg-volca.yaml", folder / "my-synth.yaml")
    shutil.copy(PROJECT / "Packaging/config.example.yaml", folder / "my-box.yaml")
    (folder / "token.txt").write_text("correct-horse-battery-staple\n")
    beats = [0.25 + 0.5 * beat for beat in range(20)]
    sounds.write(folder / "drums.wav", sounds.clicks(beats, 10.5))
    sounds.write(folder / "both.wav", sounds.clicks(beats, 10.5), sounds.clicks([at + 0.003 for at in beats], 10.5))
    ticks = [0.1 + tick * 0.5 / 24 for tick in range(200)]
    sounds.write(folder / "take.flac", sounds.midi([(at, b"\xF8") for at in ticks], 4.5))
    env = {**environment(folder), "PATH": f"{folder}/bin:{os.environ['PATH']}"}

    def start(line):
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "bash", "-o", "pipefail", "-c", line], cwd=folder, env=env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    return start


def test_every_command_has_examples_which_work_as_written(start, desk, line):
    found = dict(examples())
    assert [name for name, lines in found.items() if not lines] == []
    for name, lines in found.items():
        assert any(re.search(rf"\b{name}\b", line) for line in lines), name
    everything = [line for lines in found.values() for line in lines]
    assert [pattern for pattern in NOT_HERE if not any(re.fullmatch(pattern, line) for line in everything)] == []
    gateway = start("--no-link", "--output", "virtual:TR-8S", "--output", f"raw:{line.path}")
    for name, lines in examples():
        for example in lines:
            if is_any([*NOT_HERE, ENDLESS], example):
                continue
            # What an example needs must not depend on the ones before it.
            gateway.post("transport", {"playing": True})
            gateway.wait_status(lambda status: status["transport"] == "playing", "it plays")
            process = desk(example)
            said, complaints = process.communicate(timeout=PATIENCE)
            expected = (0, 1) if is_any([MAY_BE_1], example) else (0,)
            assert process.returncode in expected, (name, example, said, complaints)
            assert said, example
            assert complaints == "", example


def test_the_examples_that_end_with_ctrl_c_work_until_then(start, desk):
    everything = list(dict.fromkeys(line for _, lines in examples() for line in lines if re.fullmatch(ENDLESS, line)))
    runs = [line for line in everything if line.startswith("tactus run")]
    assert runs and len(runs) < len(everything)
    for example in runs:
        process = desk(f"exec {example}")
        try:
            until(lambda: is_served(process), f"{example} answers")
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=PATIENCE)
            assert process.returncode == 0, example
            assert said.startswith("Panel: http://"), example
        finally:
            process.kill()
            process.wait()
    start("--no-link", "--output", "virtual:TR-8S")
    for example in everything:
        if example not in runs:
            process = desk(f"exec {example}")
            try:
                assert process.stdout.readline(), example
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=PATIENCE)
            finally:
                process.kill()
                process.wait()
