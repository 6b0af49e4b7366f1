"""The Debian package in clean Debian 12 and 13: installed, run, upgraded, purged.

`make deb-test` runs it: as root, for chroot, and with the network that apt needs. Tactus itself only ever runs in a
network namespace of its own, or in the lab.
"""

import re
import shutil
import time

import pytest

from clean import PROJECT, SUITES, Root, run, seconds_to_a_clock


@pytest.fixture(scope="module", params=SUITES)
def root(request):
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
    started = seconds_to_a_clock(root)
    print(f"{root.suite}: {installed + started:.1f} s from `apt install` to a clock on a virtual port")


def test_the_installed_program_examines_the_machine_and_drives_a_line(root):
    report = root.alone("tactus doctor", expect=1)
    assert re.search(r"^problem +sequencer", report, re.M), "there is none here, and it says so"
    ticks = root.alone("""
        mkfifo /tmp/midi; export HOME=/tmp
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
