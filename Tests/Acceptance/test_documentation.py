"""The commands of README.md and docs/*.md run as they are written, and mend what they are meant to mend; in the lab.

`Tests/documents` checks links and the list of blocks that are not run, with the reason of each.
"""

import re
import shlex

import pytest

from rig.documents import commands, inline_code, pages
from rig.interface import described_commands
from rig.labs import Boot

BOOTS = [Boot({"blocks": ("documentation.py",), "symptoms": ("symptoms.py",)}, takes_long=True)]
# Pages outside of `docs` that name commands, too.
OTHERS = ["CONTRIBUTING.md", "SECURITY.md", "Profiles/README.md"]
# `tactus doctor` finds what is wrong with the machine that it runs on.
CODES = {"tactus doctor\n": (0, 1)}


@pytest.mark.real("sequencer")
@pytest.mark.parametrize("block", commands(), ids=lambda block: block.place)
def test_a_block_runs_as_it_stands(recordings, block):
    code, said = recordings["blocks"][block.place]
    assert code in CODES.get(block.text, (0,)), f"{block.text}\nexit {code}\n{said}"
    assert '"error"' not in said, said


@pytest.mark.real("sequencer")
def test_the_clock_that_is_measured_is_steady(recordings):
    """A page that says how to measure a clock must show one, not a port without any."""
    (block,) = [block for block in commands() if block.page == "docs/timing.md" and "tactus monitor" in block.text]
    assert re.search(r"^ticks +\d{4} ticks, 0 lost, 0 doubled", recordings["blocks"][block.place][1], re.M)


@pytest.mark.real("sequencer")
def test_double_tempo_is_mended_by_what_the_status_says(recordings):
    scene = recordings["symptoms"]["Double tempo"]
    (_, code, said), (mend, mended, _) = scene["steps"]
    assert code == mended == 0 and "hears the clock twice" in said, scene
    assert mend.startswith("aconnect -d ")
    assert [scene[when]["tempo"] for when in ("before", "after")] == pytest.approx([240, 120], rel=0.01)


@pytest.mark.real("sequencer")
def test_a_machine_whose_port_is_taken_is_heard_again_by_what_the_status_says(recordings):
    scene = recordings["symptoms"]["Silent"]
    (_, code, said), (_, again, after) = scene["steps"]
    assert code == again == 0 and "another program has it to itself" in said, scene
    assert scene["fix"].startswith("close that program") and "is away" not in after
    assert scene["before"]["ticks"] == 0 and scene["after"]["tempo"] == pytest.approx(120, rel=0.01)


@pytest.mark.real("sequencer")
def test_a_program_that_keeps_peers_out_is_ended_by_what_the_doctor_says(recordings):
    scene = recordings["symptoms"]["No peers"]
    (_, _, alone), (_, code, said), (mend, mended, _), (_, again, together) = scene["steps"]
    assert code == 1 and "which does not share it" in said, scene
    assert mend == f"kill {scene['hog']}" and mended == again == 0
    assert (scene["before"], scene["after"]) == (0, 1)
    assert "no Link peers" in alone and " ours " in together, "a peer of our session"


def parsed():
    """The options of each command, by its words, as the argument parser describes them."""
    options = {}
    for path, command in described_commands():
        names = [name for argument in command.get("arguments") or [] for name in argument.get("names") or []]
        options[path] = {f"--{name['name']}" for name in names if name["kind"] == "long"} | {"--help", "--version"}
    return options


@pytest.mark.real("process")
@pytest.mark.parametrize("page", [*pages(), *OTHERS])
def test_a_command_within_the_text_exists_with_its_options(page):
    options = parsed()
    for code in inline_code(page):
        if not code.startswith("tactus "):
            continue
        words = shlex.split(code)
        path = ("tactus",)
        while words[len(path):] and (*path, words[len(path)]) in options:
            path = (*path, words[len(path)])
        rest = words[len(path):]
        assert len(path) > 1 or all(word.startswith("-") for word in rest), f"{page}: no such command in `{code}`"
        unknown = {word for word in rest if word.startswith("--")} - options[path]
        assert not unknown, f"{page}: `{code}` has no {unknown}"
