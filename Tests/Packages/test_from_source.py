"""A clean Debian 12 in which Tactus is built and installed from source, as README says; `make source-test` prints the time.

Swift itself is shown from this system, as unpacking 3 GB is no work of ours; what swift.org asks for beside it is installed
first and not counted.
"""

import pathlib
import shutil
import subprocess
import time

import pytest
from clean import PROJECT, Root, run, seconds_to_a_clock
from rig.documents import block

# The packages that swift.org names for Debian 12.
BESIDE_SWIFT = ("binutils-gold gcc git libcurl4-openssl-dev libedit-dev libicu-dev libncurses-dev libpython3-dev "
                "libsqlite3-dev libstdc++-12-dev libxml2-dev pkg-config tzdata uuid-dev")


def toolchain():
    """The folder in which Swift is."""
    found = shutil.which("swift")
    assert found, "there is no Swift"
    folder = pathlib.Path(found).resolve().parents[2]
    assert folder != pathlib.Path("/"), "Swift must have a folder of its own, as swift.org's archive has"
    return folder


def mirrors():
    """Folders of this system from which its git fetches what the network has elsewhere."""
    done = subprocess.run(["git", "config", "--get-regexp", r"^url\..*\.insteadof$"], capture_output=True, text=True)
    names = {line.split()[0].removeprefix("url.").removesuffix(".insteadof") for line in done.stdout.splitlines()}
    return sorted(name for name in names if name.startswith("/"))


@pytest.fixture(scope="module")
def root():
    root = Root("bookworm", shown=[toolchain(), *mirrors()])
    settings = pathlib.Path("/etc/gitconfig")
    if settings.exists():
        shutil.copy(settings, root.folder / "etc/gitconfig")
    root(f"apt-get install -y --no-install-recommends {BESIDE_SWIFT}")
    run("git", "clone", "--quiet", PROJECT, root.folder / "root/tactus", check=True)
    yield root
    root.remove()


def test_from_source_to_a_clock_on_a_virtual_port(root):
    """The command at the end of `make run` is left to the lab, so that no Link program runs in the network."""
    commands = block("README.md", "make run").text
    assert commands.rstrip().endswith("\nmake run")
    began = time.monotonic()
    root(f"cd tactus; export PATH={toolchain()}/usr/bin:$PATH\n" + commands.replace("make run", "make build"))
    built = time.monotonic() - began
    started = seconds_to_a_clock(root, "/root/tactus/.build/release/tactus")
    print(f"\n{built / 60:.1f} min to install packages and build, and {started:.1f} s to a clock on a virtual port")


def test_what_is_installed_runs_and_what_is_uninstalled_is_gone(root):
    before = root.files()
    root("cd tactus; sudo make install")
    assert root("/usr/local/bin/tactus --version").strip()
    root("cd tactus; sudo make uninstall")
    assert {path for path in root.files() - before if "tactus" in path and "/root/tactus" not in path} == set()
