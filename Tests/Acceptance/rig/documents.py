"""The texts for people: their code blocks, links and headings. Needs the standard library only."""

import pathlib
import re
import textwrap
from dataclasses import dataclass

PROJECT = pathlib.Path(__file__).resolve().parents[3]
# Languages of blocks. Every `sh` block is run as it stands, unless it is in NOT_RUN.
LANGUAGES = {"sh", "text", "yaml", "ini", "swift"}

# Blocks that `test_documentation.py` does not run: the page, words that only that block contains, and why not.
NOT_RUN = [
    ("README.md", "apt install ./tactus", "installs a package; Tests/Packages runs it in clean Debian 12 and 13"),
    ("README.md", "make run", "builds; test_no_sequencer.py runs it without the build, Tests/Packages in a clean Debian 12"),
    ("README.md", "tactus monitor", "needs the sequencer; test_sequencer.py does so"),
    ("README.md", "--listen hw:1", "needs a sound card and a machine; test_listening.py has simulated ones"),
    ("docs/calibrating.md", "--channel 1 --save", "as above"),
    ("docs/calibrating.md", "--against 2", "as above"),
    ("docs/calibrating.md", "jackd", "needs a sound card with a loop cable"),
    ("docs/calibrating.md", "jack_iodelay", "needs a sound card with a loop cable"),
    ("docs/calibrating.md", "jack_connect", "needs a sound card with a loop cable"),
    ("docs/control.md", "tactus learn", "needs the sequencer and a pedal; test_controls.py has them"),
    ("docs/getting-started.md", "sudo systemctl enable", "needs a running systemd; test_systemd.py starts the unit in the lab"),
    ("docs/getting-started.md", "systemctl --user", "as above"),
    ("docs/getting-started.md", "sudo install", "changes the system, and needs a running systemd"),
    ("docs/hardware.md", "tactus report --output report.md\n", "takes a minute; test_report.py makes short ones"),
    ("docs/hardware.md", "--loop UM-ONE", "needs a cable back"),
    ("docs/hardware.md", "report.md --loop pcm:hw:1", "needs a sound card"),
    ("docs/link-library.md", "clock-list", "builds; test_libraries.py builds and runs the program"),
    ("docs/link-library.md", "swift run metronome", "builds, and wants a keyboard; test_metronome.py runs the program"),
    ("docs/link-library.md", "make plan", "runs acceptance tests itself"),
    ("docs/outputs.md", "--listen hw:1", "needs a sound card and a machine; test_listening.py has simulated ones"),
    ("docs/outputs.md", "tactus ports", "needs the sequencer; test_sequencer.py has one"),
    ("docs/outputs.md", "--input UM-ONE", "needs a cable back; test_devices.py has a simulated one"),
    ("docs/pulses.md", "output-test", "needs a sound card"),
    ("docs/raspberry-pi.md", "ssh", "needs a board"),
    ("docs/raspberry-pi.md", "sudo apt update", "installs a package, and needs a board"),
    ("docs/raspberry-pi.md", "config check", "changes the system; Tests/Packages runs it in clean Debian 12 and 13"),
    ("docs/raspberry-pi.md", "--qr", "needs a board; test_qr.py reads such codes"),
    ("docs/raspberry-pi.md", "ARCH=arm64", "builds; Tests/Packages installs the package on an emulated board"),
    ("docs/raspberry-pi.md", "install make", "builds; Tests/Packages installs the package"),
    ("docs/raspberry-pi.md", "do_serial_cons", "needs a board"),
    ("docs/raspberry-pi.md", "do_overlayfs", "needs a board"),
    ("docs/raspberry-pi.md", "LABEL=box-root", "needs a card"),
    ("docs/releasing.md", "Packaging/release", "makes a release; test_install.py makes one of a copy"),
    ("docs/releasing.md", "make deb", "builds, and needs root and the network"),
    ("docs/releasing.md", "make arm64-test", "builds, and needs root and the network"),
    ("docs/releasing.md", "make image\n", "builds, and needs root and the network"),
    ("docs/releasing.md", "make image-test", "needs root, and the card; starts an emulated board"),
    ("docs/releasing.md", "make reproduce", "builds twice, and needs root and the network"),
    ("docs/releasing.md", "git push", "publishes"),
    ("docs/releasing.md", "gh release edit", "publishes"),
    ("docs/releasing.md", "make build", "builds"),
    ("docs/releasing.md", "--quick-generate-key", "makes a key, and asks for a passphrase"),
    ("docs/releasing.md", "Packaging/apt-repository", "installs a package, and needs a key; Tests/Packages runs it"),
    ("docs/releasing.md", "tactus.sources", "installs a package; Tests/Packages runs it in clean Debian 12 and 13"),
    ("docs/releasing.md", "sudo tar", "changes the system"),
    ("docs/timing.md", "tactus monitor", "needs the sequencer; test_sequencer.py does so"),
]

# Code within the text: between as many backquotes on both sides.
INLINE = r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)"


@dataclass(frozen=True)
class Block:
    """A code block; `line` is where its text begins, counted from 1."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def is_endless(self):
        """Whether its last command runs until Ctrl-C."""
        return self.text.splitlines()[-1].startswith("tactus run")


def pages():
    """README.md and the pages in docs, relative to the project."""
    return ["README.md", *sorted(f"docs/{path.name}" for path in (PROJECT / "docs").glob("*.md"))]


def separated(page):
    """The code blocks of a page, and its other lines as pairs of number and text."""
    blocks, prose, fence = [], [], None
    for number, line in enumerate((PROJECT / page).read_text().splitlines(), 1):
        mark = re.fullmatch(r" *```(\S*)", line)
        if not mark:
            (prose if fence is None else fence[2]).append((number, line))
        elif fence is None:
            fence = number, mark[1], []
        else:
            text = textwrap.dedent("".join(f"{line}\n" for _, line in fence[2]))
            blocks.append(Block(page, fence[0] + 1, fence[1], text))
            fence = None
    return blocks, prose


def blocks(page):
    return separated(page)[0]


def block(page, words):
    """The only block of a page that contains these words."""
    found = [each for each in blocks(page) if words in each.text]
    assert len(found) == 1, f"{page} has {len(found)} blocks with {words!r}"
    return found[0]


def commands():
    """The blocks that are to be run as they stand."""
    left = {block(page, words) for page, words, _ in NOT_RUN}
    return [each for page in pages() for each in blocks(page) if each.language == "sh" and each not in left]


def prose(page):
    """A page's text without its code blocks and comments; line breaks stay."""
    text = "\n".join(line for _, line in separated(page)[1])
    return re.sub(r"<!--.*?-->", "", text, flags=re.S)


def inline_code(page):
    """What stands in backquotes within the text."""
    return [" ".join(code.split()) for _, code in re.findall(INLINE, prose(page), re.S)]


def links(page):
    """The targets of a page's links and pictures."""
    return re.findall(r"\]\(<?([^)\s>]+)>?\)", re.sub(INLINE, "", prose(page), flags=re.S))


def linked(page):
    """The files of the project that a page's links lead to; other files than Markdown have no links."""
    if page.suffix != ".md":
        return []
    paths = [link.partition("#")[0] for link in links(page) if "://" not in link and not link.startswith("mailto:")]
    return [(page.parent / path).resolve() for path in paths if path]


def anchors(page):
    """The anchors of a page's headings, as GitHub and others form them."""
    found = []
    for _, line in separated(page)[1]:
        if heading := re.fullmatch(r"#{1,6} +(.*?) *#*", line):
            text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            same = sum(re.fullmatch(rf"{re.escape(anchor)}(-\d+)?", other) is not None for other in found)
            found.append(f"{anchor}-{same}" if same else anchor)
    return found
