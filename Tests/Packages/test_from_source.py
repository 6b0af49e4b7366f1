"""A clean Debian 12 in which Tactus is built and installed from source, as README says; `make source-test` prints the time.

Swift and what swift.org asks for beside it are there before, and not counted.
"""

import time

import pytest
from clean import Builder, seconds_to_a_clock
from rig.documents import block


@pytest.fixture(scope="module")
def root():
    root = Builder("bookworm")
    yield root
    root.remove()


def test_from_source_to_a_clock_on_a_virtual_port(root):
    """The command at the end of `make run` is left to the lab, so that no Link program runs in the network."""
    commands = block("README.md", "make run").text
    assert commands.rstrip().endswith("\nmake run")
    began = time.monotonic()
    root.build(commands.replace("make run", "make build"))
    built = time.monotonic() - began
    started = seconds_to_a_clock(root, "/root/tactus/.build/release/tactus")
    print(f"\n{built / 60:.1f} min to install packages and build, and {started:.1f} s to a clock on a virtual port")


def test_what_is_installed_runs_and_what_is_uninstalled_is_gone(root):
    before = root.files()
    root("cd tactus; sudo make install")
    assert root("/usr/local/bin/tactus --version").strip()
    root("cd tactus; sudo make uninstall")
    assert {path for path in root.files() - before if "tactus" in path and "/root/tactus" not in path} == set()
