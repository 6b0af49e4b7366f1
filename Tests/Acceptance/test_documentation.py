"""The commands of README.md and docs/*.md run as they are written, and those within the text exist.

`Tests/documents` checks links and the list of blocks that are not run, with the reason of each.
"""

import itertools
import os
import shlex
import signal
import subprocess

import pytest

from rig.documents import commands, inline_code, pages
from rig.gateway import PROJECT, TACTUS, Gateway, environment, is_served
from rig.interface import described_commands
from rig.wait import PATIENCE, until

pytestmark = pytest.mark.real("process")

# Pages outside of `docs` that name commands, too.
OTHERS = ["CONTRIBUTING.md", "SECURITY.md", "Profiles/README.md"]
# `tactus doctor` finds what is wrong with the machine that it runs on.
CODES = {"tactus doctor\n": (0, 1)}
CONFIGURATION = """\
version: 1
osc: {{ enabled: true, address: 127.0.0.1, port: 8809 }}
outputs: [{{ port: "raw:{path}", name: TR-8S }}]
"""


@pytest.fixture
def desk(tmp_path):
    """Begins a block in a folder as the project's, where one may write, at a home that stays from block to block."""
    folder, home, program = tmp_path / "project", tmp_path / "home", tmp_path / "bin/tactus"
    for path in (folder, home, program.parent):
        path.mkdir()
    for path in PROJECT.iterdir():
        (folder / path.name).symlink_to(path)
    program.symlink_to(os.path.abspath(TACTUS))
    env = {**environment(home), "PATH": f"{program.parent}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    del env["XDG_CONFIG_HOME"], env["XDG_STATE_HOME"]

    def start(text):
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "sh", "-ec", text], cwd=folder, env=env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)

    return start


def test_every_block_runs_as_it_stands(desk, tmp_path, line):
    """A gateway plays beside them, with an output TR-8S. It ends before a block that starts one."""
    wrong = []

    def judge(block, process):
        said, _ = process.communicate(timeout=PATIENCE)
        if process.returncode not in CODES.get(block.text, (0,)) or '"error"' in said:
            wrong.append(f"{block.place}\n{block.text}exit {process.returncode}\n{said}")

    configuration = tmp_path / "config.yaml"
    configuration.write_text(CONFIGURATION.format(path=line.path))
    for is_endless, blocks in itertools.groupby(commands(), key=lambda block: block.is_endless):
        if is_endless:
            for block in blocks:
                # The shell becomes the last command, so that Ctrl-C reaches it alone.
                *before, last = block.text.splitlines(keepends=True)
                process = desk("".join([*before, f"exec {last}"]))
                until(lambda: is_served(process), f"a gateway runs after {block.place}")
                process.send_signal(signal.SIGINT)
                judge(block, process)
            continue
        with Gateway("--no-link", "--config", configuration, folder=tmp_path / "companion") as companion:
            for block in blocks:
                companion.post("transport", {"playing": True})
                companion.wait_status(lambda status: status["transport"] == "playing", "it plays")
                judge(block, desk(block.text))
    assert not wrong, "\n".join(wrong)


def parsed():
    """The options of each command, by its words, as the argument parser describes them."""
    options = {}
    for path, command in described_commands():
        names = [name for argument in command.get("arguments") or [] for name in argument.get("names") or []]
        options[path] = {f"--{name['name']}" for name in names if name["kind"] == "long"} | {"--help", "--version"}
    return options


def test_every_command_within_the_texts_exists_with_its_options():
    options = parsed()
    wrong = []
    for page, code in ((page, code) for page in (*pages(), *OTHERS) for code in inline_code(page)):
        if not code.startswith("tactus "):
            continue
        words = shlex.split(code)
        path = ("tactus",)
        while words[len(path):] and (*path, words[len(path)]) in options:
            path = (*path, words[len(path)])
        rest = words[len(path):]
        if len(path) == 1 and not all(word.startswith("-") for word in rest):
            wrong.append(f"{page}: no such command in `{code}`")
        if unknown := {word for word in rest if word.startswith("--")} - options[path]:
            wrong.append(f"{page}: `{code}` has no {unknown}")
    assert not wrong, "\n".join(wrong)
