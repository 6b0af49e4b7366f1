"""The commands of README.md and docs/*.md run as they are written, in the lab, and those within the text exist.

`Tests/documents` checks links and the list of blocks that are not run, with the reason of each.
"""

import re
import shlex

import pytest

from rig.documents import commands, inline_code, pages
from rig.interface import described_commands
from rig.labs import Boot

BOOTS = [Boot({"blocks": ("documentation.py",)}, takes_long=True)]
# Pages outside of `docs` that name commands, too.
OTHERS = ["CONTRIBUTING.md", "SECURITY.md", "Profiles/README.md"]
# `tactus doctor` finds what is wrong with the machine that it runs on.
CODES = {"tactus doctor\n": (0, 1)}


@pytest.mark.real("sequencer")
def test_every_block_runs_as_it_stands(recordings):
    wrong = []
    for block in commands():
        code, said = recordings["blocks"][block.place]
        if code not in CODES.get(block.text, (0,)) or '"error"' in said:
            wrong.append(f"{block.place}\n{block.text}exit {code}\n{said}")
    assert not wrong, "\n".join(wrong)
    # A page that says how to measure a clock must show one, not a port without any.
    (block,) = [block for block in commands() if block.page == "docs/timing.md" and "tactus monitor" in block.text]
    assert re.search(r"^ticks +\d{4} ticks, 0 lost, 0 doubled", recordings["blocks"][block.place][1], re.M)


def parsed():
    """The options of each command, by its words, as the argument parser describes them."""
    options = {}
    for path, command in described_commands():
        names = [name for argument in command.get("arguments") or [] for name in argument.get("names") or []]
        options[path] = {f"--{name['name']}" for name in names if name["kind"] == "long"} | {"--help", "--version"}
    return options


@pytest.mark.real("process")
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
