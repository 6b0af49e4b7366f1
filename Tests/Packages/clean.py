"""Clean Debian systems in folders: entered by chroot, with the network for apt, or alone, or in the lab."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Acceptance"))

from rig.documents import block  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parents[2]
CACHE = PROJECT / ".lab"
# Each release with the kernel of the lab that its programs run on.
SUITES = {"bookworm": "stock", "trixie": "trixie"}


def run(*command, **options):
    words = [str(word) for word in command]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=3600, **options)


class Root:
    """The folder of a system that has nothing but the essential packages and apt.

    `shown` are folders of this system that are seen there under the same path; `name` tells two roots of one release apart.
    """

    def __init__(self, suite, shown=(), name="clean"):
        assert os.geteuid() == 0, "a root of a system is entered by chroot, which only root may"
        self.suite = suite
        self.shown = [str(folder) for folder in shown]
        self.folder = CACHE / f"{name}-{suite}"
        pristine = CACHE / f"clean-{suite}.tar"
        if not pristine.exists():
            unfinished = pristine.with_suffix(".part.tar")
            done = run("mmdebstrap", "--variant=minbase", suite, unfinished)
            assert done.returncode == 0, done.stderr
            unfinished.rename(pristine)
        self.remove()
        self.folder.mkdir()
        run("tar", "--extract", "--file", pristine, "--directory", self.folder, check=True)
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        # No service may be started here by an installation, as there is nothing to start it.
        self("apt-get update")
        # The documented command is run as it stands: by root, who has no sudo here, and without anybody to answer.
        (self.folder / "etc/apt/apt.conf.d/yes").write_text('APT::Get::Assume-Yes "true";\n')
        (self.folder / "usr/bin/sudo").write_text('#!/bin/sh\nexec "$@"\n')
        (self.folder / "usr/bin/sudo").chmod(0o755)
        self.before = self.packages()

    def remove(self):
        run("rm", "-rf", "--one-file-system", self.folder, check=True)

    def __call__(self, line, expect=0):
        """Runs a line in a shell there; returns what it printed."""
        done = run("unshare", "--mount", "--pid", "--fork", "sh", "-c", self.script(line))
        assert done.returncode == expect, f"{line}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def alone(self, line, expect=0):
        """The same in a network namespace of its own, for all that speaks Link."""
        done = run(PROJECT / "Tests/in-namespace", "unshare", "--pid", "--fork", "sh", "-c", self.script(line))
        assert done.returncode == expect, f"{line}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def script(self, line):
        # What an outer make was told, and where it keeps its files, is not for this system.
        inside = f"cd /root; unset TMPDIR MAKEFLAGS MFLAGS MAKELEVEL; export DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C.UTF-8; {line}"
        shown = "".join(f"mkdir -p {self.folder}{name}; mount --bind {name} {self.folder}{name}; " for name in self.shown)
        return (f"mount -t proc proc {self.folder}/proc; mount -t tmpfs tmp {self.folder}/tmp; mount --bind /dev "
                f"{self.folder}/dev; {shown}exec chroot {self.folder} sh -c {shlex.quote(inside)}")

    def install(self, package):
        shutil.copy(package, self.folder / "root")
        try:
            return self("exec 2>&1\n" + block("README.md", "apt install ./tactus").text)
        finally:
            (self.folder / "root" / package.name).unlink()

    def packages(self):
        return set(self("dpkg-query -W -f '${Package}\n'").split())

    def files(self):
        """All files and folders, but for those that apt and dpkg keep for themselves."""
        theirs = " ".join(f"-not -path '/var/{name}/*'" for name in ("lib/apt", "lib/dpkg", "cache", "log"))
        listing = self(f"find / -xdev {theirs}")
        return set(listing.split("\n"))


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


class Builder(Root):
    """A root with a clone of the present commit in /root/tactus.

    Swift itself is shown from this system, as unpacking 3 GB is no work of ours; what swift.org asks for beside it is
    installed, as releases do it.
    """

    def __init__(self, suite):
        super().__init__(suite, shown=[toolchain(), *mirrors()], name="builder")
        settings = pathlib.Path("/etc/gitconfig")
        if settings.exists():
            shutil.copy(settings, self.folder / "etc/gitconfig")
        run("git", "clone", "--quiet", PROJECT, self.folder / "root/tactus", check=True)
        self.build("Packaging/install-swift")

    def build(self, commands):
        """Runs commands in the project's folder."""
        return self(f"cd tactus; export PATH={toolchain()}/usr/bin:$PATH\nset -e\n{commands}")


# What the documentation says: run it with a port of its own, then measure what comes from there.
# The program is read in before it is timed, since the lab's clock does not mind how long the host's disk takes.
SCENE = """
    mount -t tmpfs tmp /tmp; export HOME=/tmp
    tactus() {{ {program} "$@"; }}
    cat {program} $(ldd {program} | grep -o '/[^ ]*') >/dev/null
    echo start $(cut -d' ' -f1 /proc/uptime)
    {program} run --no-link --output virtual:Drums 2>/tmp/log &
    until tactus status 2>/dev/null | grep Drums; do sleep 0.1; done
    cut -d' ' -f1 /proc/uptime
    tactus monitor Drums --seconds 5
    tactus status; kill $!; wait $!
"""


def seconds_to_a_clock(root, program="/usr/bin/tactus"):
    """Starts a program of this system in the lab, and checks the clock on its virtual port; returns how long it took."""
    scene = SCENE.format(program=program)
    entering = (f"for f in proc dev sys; do mount --bind /$f {root.folder}/$f; done; "
                f"exec chroot {root.folder} sh -ec {shlex.quote(scene)}")
    done = run(PROJECT / "Tests/Lab/lab", "--kernel", SUITES[root.suite], "--", "sh", "-c", entering)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    start = float(re.search(r"^start ([\d.]+)", done.stdout, re.M)[1])
    ready = float(re.search(r"^([\d.]+)$", done.stdout, re.M)[1])
    assert re.search(r"^tempo +120\.000 BPM", done.stdout, re.M), done.stdout
    assert re.search(r"^ticks +2\d\d ticks, 0 lost, 0 doubled", done.stdout, re.M), done.stdout
    return ready - start
