"""The Debian package in clean Debian 12 and 13: installed, run, upgraded, purged.

`make deb-test` runs it: as root, for chroot, and with the network that apt needs. Tactus itself only ever runs in a
network namespace of its own, or in the lab.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Acceptance"))

from rig.documents import block  # noqa: E402

PROJECT = pathlib.Path(__file__).resolve().parents[2]
CACHE = PROJECT / ".lab"
# Each release with the kernel of the lab that its programs run on.
SUITES = {"bookworm": "stock", "trixie": "trixie"}


def run(*command, **options):
    words = [str(word) for word in command]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800, **options)


class Root:
    """The folder of a system that has nothing but the essential packages and apt."""

    def __init__(self, suite):
        self.suite = suite
        self.folder = CACHE / f"clean-{suite}"
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
        inside = f"cd /root; export DEBIAN_FRONTEND=noninteractive HOME=/root LC_ALL=C.UTF-8; {line}"
        return (f"mount -t proc proc {self.folder}/proc; mount -t tmpfs tmp {self.folder}/tmp; mount --bind /dev "
                f"{self.folder}/dev; exec chroot {self.folder} sh -c {shlex.quote(inside)}")

    def install(self, package):
        shutil.copy(package, self.folder / "root")
        try:
            return self("exec 2>&1\n" + block("README.md", "apt install").text)
        finally:
            (self.folder / "root" / package.name).unlink()

    def packages(self):
        return set(self("dpkg-query -W -f '${Package}\n'").split())

    def files(self):
        """All files and folders, but for those that apt and dpkg keep for themselves."""
        theirs = " ".join(f"-not -path '/var/{name}/*'" for name in ("lib/apt", "lib/dpkg", "cache", "log"))
        listing = self(f"find / -xdev {theirs}")
        return set(listing.split("\n"))


@pytest.fixture(scope="module", params=SUITES)
def root(request):
    assert os.geteuid() == 0, "a root of a system is entered by chroot, which only root may"
    root = Root(request.param)
    yield root
    root.remove()


@pytest.fixture(scope="session")
def package():
    (package,) = (PROJECT / ".build/packages").glob("tactus_*.deb")
    return package


@pytest.fixture(scope="session")
def previous(tmp_path_factory):
    """The same program as a package of an earlier version."""
    folder = tmp_path_factory.mktemp("previous")
    done = run(PROJECT / "Packaging/deb", folder, "0.0.1")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / f"tactus_0.0.1_{run('dpkg', '--print-architecture').stdout.strip()}.deb"


def test_the_same_executable_gives_the_same_bytes(package, tmp_path):
    done = run(PROJECT / "Packaging/deb", tmp_path, run("dpkg-deb", "-f", package, "Version").stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / package.name).read_bytes() == package.read_bytes()


def test_within_a_minute_of_its_installation_a_clock_is_on_a_virtual_port(root, package):
    began = time.monotonic()
    root.install(package)
    installed = time.monotonic() - began
    new = root.packages() - root.before
    print(f"\n{root.suite}: installed in {installed:.0f} s with {len(new) - 1} other packages: {' '.join(sorted(new))}")
    # What the documentation says: run it with a port of its own, then measure what comes from there.
    # The program is read in before it is timed, since the lab's clock does not mind how long the host's disk takes.
    scene = """
        mount -t tmpfs tmp /tmp; export HOME=/tmp
        cat /usr/bin/tactus $(ldd /usr/bin/tactus | grep -o '/[^ ]*') >/dev/null
        echo start $(cut -d' ' -f1 /proc/uptime)
        tactus run --no-link --output virtual:Drums 2>/tmp/log &
        until tactus status 2>/dev/null | grep Drums; do sleep 0.1; done
        cut -d' ' -f1 /proc/uptime
        tactus monitor Drums --seconds 5
        tactus status; kill $!; wait $!
    """
    entering = (f"for f in proc dev sys; do mount --bind /$f {root.folder}/$f; done; "
                f"exec chroot {root.folder} sh -ec {shlex.quote(scene)}")
    done = run(PROJECT / "Tests/Lab/lab", "--kernel", SUITES[root.suite], "--", "sh", "-c", entering)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    start = float(re.search(r"^start ([\d.]+)", done.stdout, re.M)[1])
    ready = float(re.search(r"^([\d.]+)$", done.stdout, re.M)[1])
    assert installed + ready - start < 60
    assert re.search(r"^tempo +120\.000 BPM", done.stdout, re.M), done.stdout
    assert re.search(r"^ticks +2\d\d ticks, 0 lost, 0 doubled", done.stdout, re.M), done.stdout


def test_the_installed_program_examines_the_machine_and_drives_a_line(root):
    report = root.alone("tactus doctor", expect=1)
    assert re.search(r"^problem +sequencer", report, re.M), "there is none here, and it says so"
    ticks = root.alone("""
        mkfifo /tmp/midi
        tactus run --no-link --output raw:/tmp/midi 2>/tmp/log &
        timeout 60 head -c 48 /tmp/midi | od -An -v -tx1 -w1 | sort | uniq -c
        kill $!; wait $!
    """)
    assert re.search(r"\b4[0-8] +f8", ticks), ticks


def test_it_brings_manual_completion_units_and_a_user(root):
    files = root.files()
    for path in ("/usr/share/man/man1/tactus.1.gz", "/usr/share/man/man5/tactus-config.5.gz",
                 "/usr/share/bash-completion/completions/tactus", "/usr/lib/systemd/user/tactus.service",
                 "/usr/lib/systemd/system/tactus.service", "/usr/share/doc/tactus/examples/config.yaml"):
        # minbase of some images leaves out manuals and documents; dpkg knows what it would have unpacked.
        assert path in files or root(f"dpkg -L tactus | grep -x '{path}\\|{path.removeprefix('/usr')}'"), path
    assert root("getent passwd tactus").endswith("/usr/sbin/nologin\n")
    # Enabled on request only.
    assert not any(path.startswith("/etc/systemd") and path.endswith("/tactus.service") for path in files)


# Process 1 of a namespace is the root's own systemd, as in Tests/Acceptance/guest/service.py. What is written stays in
# memory.
SYSTEMD = """
root=/tmp/root; mkdir $root /tmp/over; mount -t tmpfs over /tmp/over; mkdir /tmp/over/upper /tmp/over/work
mount -t overlay -o lowerdir=$1,upperdir=/tmp/over/upper,workdir=/tmp/over/work overlay $root
for folder in dev sys; do mount --rbind /$folder $root/$folder; done
mount -t proc proc $root/proc; mount -t tmpfs run $root/run; mount -t tmpfs tmp $root/tmp
mount -t cgroup2 none $root/sys/fs/cgroup
units=$root/run/systemd/system
mkdir -p $units/tactus.service.d
printf '[Unit]\nDefaultDependencies=no\n' | tee $units/lab.target >$units/tactus.service.d/lab.conf
printf '[Service]\nTimeoutStartSec=infinity\n' >>$units/tactus.service.d/lab.conf
path=PATH=/usr/sbin:/usr/bin:/sbin:/bin
echo "cd /host/tmp/root && /bin/busybox mount --move . / && exec /bin/busybox chroot . unshare --pid --fork --mount-proc \
    env -i container=lab $path /lib/systemd/systemd --unit=lab.target --show-status=no" >/tmp/boot
chroot /proc/1/root /bin/busybox unshare -m /bin/busybox sh /host/tmp/boot >/dev/null 2>&1 &
until [ -e $root/run/systemd/private ]; do sleep 0.1; done
systemd=$(cat /proc/$!/task/$!/children)
inside() { nsenter --target=$systemd --mount --pid --root -- env -i $path "$@"; }
process() { inside systemctl show --value --property=MainPID tactus; }
echo "installed: $(inside systemctl is-enabled tactus) $(inside systemctl is-active tactus)"
inside systemctl start tactus
echo "started: $(inside systemctl is-active tactus) as $(inside stat --format=%U /proc/$(process))"
first=$(process)
inside dpkg --install /root/tactus.deb >&2
echo "upgraded: $(inside systemctl is-active tactus) $([ $first = $(process) ] && echo same || echo another) process"
inside dpkg --remove tactus >&2
echo "removed: $(inside systemctl is-active tactus)"
"""


def test_a_service_starts_on_request_restarts_with_an_upgrade_and_ends_with_a_removal(root, package):
    shutil.copy(package, root.folder / "root/tactus.deb")
    # In the host's time, because systemd does not wait long for files of the host.
    lab = [PROJECT / "Tests/Lab/lab", "--kernel", SUITES[root.suite], "--host-time", "--"]
    done = run(*lab, "sh", "-c", SYSTEMD, "sh", root.folder)
    (root.folder / "root/tactus.deb").unlink()
    assert done.stdout.splitlines() == [
        "installed: disabled inactive", "started: active as tactus", "upgraded: active another process",
        "removed: inactive"], done.stdout + done.stderr


def test_a_purge_leaves_nothing_but_the_user(root):
    root("mkdir -p /var/lib/private/tactus && touch /var/lib/private/tactus/state.json")
    root("apt-get purge -y --auto-remove tactus")
    assert root.packages() == root.before
    left = {path for path in root.files() if "tactus" in path}
    assert left == set()


def test_an_upgrade_keeps_the_configuration_and_a_purge_too(root, previous, package):
    root.install(previous)
    root("mkdir -p /etc/tactus && echo 'version: 1' >/etc/tactus/config.yaml")
    root("mkdir -p /var/lib/private/tactus && touch /var/lib/private/tactus/state.json")
    said = root.install(package)
    assert "Unpacking tactus" in said and "over (0.0.1)" in said
    assert root("tactus --version").startswith(root("dpkg-query -W -f '${Version}' tactus").split("+")[0])
    root("test -e /var/lib/private/tactus/state.json")
    root("apt-get purge -y --auto-remove tactus")
    left = {path for path in root.files() if "tactus" in path}
    assert left == {"/etc/tactus", "/etc/tactus/config.yaml"}
