"""The Debian package in clean Debian 12 and 13: built in each, installed, run, upgraded, purged.

`make deb-test` runs it: as root, for chroot, and with the network that apt needs. Tactus itself only ever runs in a
network namespace of its own, or in the lab.
"""

import functools
import http.server
import re
import shutil
import threading
import time

import pytest

from clean import PROJECT, SUITES, Builder, Root, run, seconds_to_a_clock
from rig.documents import block, linked


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """A folder for each release, with what is built there as the documentation says, lintian's judgement included.

    `packages` has the package, `again` the same made once more, `earlier` the same program as of an earlier version, and
    `released` with a version as the release workflow gives it.
    """
    folders = {}
    for suite in SUITES:
        folders[suite] = tmp_path_factory.mktemp(suite)
        root = Builder(suite)
        began = time.monotonic()
        root.build(block("docs/raspberry-pi.md", "install make").text.partition("sudo apt install ./")[0])
        print(f"\n{suite}: built in {(time.monotonic() - began) / 60:.0f} min")
        root.build("""
            Packaging/deb .build/again "$(dpkg-deb --field .build/packages/*.deb Version)"
            Packaging/deb .build/earlier 0.0.1
            Packaging/deb .build/released "9.9.9~deb$(. /etc/os-release; echo $VERSION_ID)"
        """)
        for name in ("packages", "again", "earlier", "released"):
            shutil.copytree(root.folder / "root/tactus/.build" / name, folders[suite] / name)
        root.remove()
    return folders


@pytest.fixture(scope="module", params=SUITES)
def root(request):
    root = Root(request.param)
    yield root
    root.remove()


def only(folder):
    (package,) = folder.glob("tactus_*.deb")
    return package


@pytest.fixture
def package(root, built):
    return only(built[root.suite] / "packages")


@pytest.fixture
def earlier(built):
    """Of the oldest Debian, as on a system that was upgraded from it."""
    return only(built[min(SUITES)] / "earlier")


def test_the_same_executable_gives_the_same_bytes(built, package, root):
    assert only(built[root.suite] / "again").read_bytes() == package.read_bytes()


def test_no_link_in_the_installed_documentation_is_dead(package, tmp_path):
    run("dpkg-deb", "-x", package, tmp_path, check=True)
    pages = list((tmp_path / "usr/share/doc/tactus").rglob("*.md"))
    assert {"README.md", "getting-started.md"} <= {page.name for page in pages}
    dead = [f"{page.name}: {path}" for page in pages for path in linked(page) if not path.exists()]
    # What every Debian has is not part of the package.
    assert [path for path in dead if not path.endswith("/usr/share/common-licenses/Apache-2.0")] == []


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
    assert not any(path.startswith("/etc/systemd") and path.endswith("/tactus.service") for path in files), "on request only"
    for path in ("/usr/share/man/man1/tactus.1.gz", "/usr/share/man/man5/tactus-config.5.gz",
                 "/usr/share/bash-completion/completions/tactus", "/usr/lib/systemd/user/tactus.service",
                 "/usr/lib/systemd/system/tactus.service", "/usr/share/doc/tactus/examples/config.yaml"):
        # minbase of some images leaves out manuals and documents; dpkg knows what it would have unpacked.
        assert path in files or root(f"dpkg -L tactus | grep -x '{path}\\|{path.removeprefix('/usr')}'"), path
    assert root("getent passwd tactus").endswith("/usr/sbin/nologin\n")


def test_the_configuration_is_there_and_sets_nothing(root):
    """The other tests show that it is read as empty: every run here reads it."""
    text = root("cat /etc/tactus/config.yaml")
    assert "#http: {" in text and all(line.startswith("#") for line in text.splitlines() if line)
    assert root("dpkg-query -W -f '${Conffiles}' tactus").split()[0] == "/etc/tactus/config.yaml"


# Process 1 of a namespace is the root's own systemd, as in Tests/Acceptance/guest/service.py; $2 is what it starts. What
# is written stays in memory.
BOOT = """
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
    env -i container=lab $path /lib/systemd/systemd --unit=$2 --show-status=no" >/tmp/boot
chroot /proc/1/root /bin/busybox unshare -m /bin/busybox sh /host/tmp/boot >/dev/null 2>&1 &
until [ -e $root/run/systemd/private ]; do sleep 0.1; done
systemd=$(cat /proc/$!/task/$!/children)
inside() { nsenter --target=$systemd --mount --pid --root -- env -i $path "$@"; }
process() { inside systemctl show --value --property=MainPID tactus; }
"""


def booted(root, unit, script):
    """What a script prints that runs beside the root's systemd."""
    # In the host's time, because systemd does not wait long for files of the host.
    lab = [PROJECT / "Tests/Lab/lab", "--kernel", SUITES[root.suite], "--host-time", "--"]
    return run(*lab, "sh", "-c", BOOT + script, "sh", root.folder, unit)


ON_REQUEST = """
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
    done = booted(root, "lab.target", ON_REQUEST)
    (root.folder / "root/tactus.deb").unlink()
    assert done.stdout.splitlines() == [
        "installed: disabled inactive", "started: active as tactus", "upgraded: active another process",
        "removed: inactive"], done.stdout + done.stderr


BOX = """version: 1
play: true
tempo: 97.3
outputs:
  - port: virtual:Drums
"""
SWITCHED_ON = """
until [ "$(inside systemctl is-active tactus)" = active ]; do sleep 0.1; done
inside tactus status
inside tactus monitor Drums --seconds 5
"""


def test_a_box_that_nobody_logs_in_to_plays_once_it_is_switched_on(root):
    """By its configuration alone, and the service that was enabled when it was set up."""
    configuration = root.folder / "etc/tactus/config.yaml"
    text = configuration.read_text()
    configuration.write_text(BOX)
    root("systemctl enable tactus")
    done = booted(root, "multi-user.target", SWITCHED_ON)
    root("systemctl disable tactus")
    configuration.write_text(text)
    assert re.search(r"^transport +playing", done.stdout, re.M), done.stdout + done.stderr
    assert re.search(r"^tempo +97\.3 BPM", done.stdout, re.M), done.stdout
    # In the host's time ticks may be late, but none is lost.
    assert re.search(r"^ticks +\d\d\d ticks, 0 lost, 0 doubled", done.stdout, re.M), done.stdout


def test_the_page_of_the_board_opens_the_panel(root):
    """Its configuration is right, and the service may read the secret, but not everybody; what needs systemd is left out."""
    before = root("cat /etc/tactus/config.yaml")
    said = root(block("docs/raspberry-pi.md", "config check").text.partition("sudo systemctl")[0])
    assert "/etc/tactus/config.yaml" in said
    assert root("stat --format='%A %U %G' /etc/tactus/token") == "-rw-r----- root tactus\n"
    root("rm /etc/tactus/token")
    (root.folder / "etc/tactus/config.yaml").write_text(before)


def test_every_command_works_after_a_phone_was_let_in(root):
    """README's recipe, and then what it says to do if something is wrong."""
    recipe = block("README.md", "--http-token-file").text
    assert recipe.splitlines()[-1].startswith("tactus run ")
    done = root.alone(f"""
        mount -t tmpfs tmp /tmp; export HOME=/tmp XDG_RUNTIME_DIR=/tmp/run
        mkdir -m 700 /tmp/run  # as a login has it
        {recipe.rstrip()} >/tmp/log 2>&1 &
        for try in $(seq 100); do tactus status >/dev/null 2>&1 && break; sleep 0.1; done
        for command in doctor status peers "quantum 4" play stop "tempo 128.5" tap; do
            tactus $command >/tmp/said 2>&1
            echo "$command: $?"
        done
        kill $!; wait $!
    """)
    # There is no sequencer here, which the doctor tells.
    assert done.splitlines() == [
        "doctor: 1", "status: 0", "peers: 0", "quantum 4: 0", "play: 0", "stop: 0", "tempo 128.5: 0", "tap: 0"], done


def test_a_purge_leaves_nothing_but_the_user(root):
    root("mkdir -p /var/lib/private/tactus && touch /var/lib/private/tactus/state.json")
    root("systemctl enable tactus; systemctl --global enable tactus")
    root("apt-get purge -y tactus")
    assert {path for path in root.files() if "tactus" in path} == set()
    root("getent passwd tactus && getent group tactus")
    root("apt-get purge -y --auto-remove")
    assert root.packages() == root.before


def test_an_upgrade_keeps_the_configuration_and_a_purge_only_what_the_owner_added(root, earlier, package):
    root.install(earlier)
    root("echo 'version: 1' >/etc/tactus/config.yaml; echo secret >/etc/tactus/token")
    root("mkdir -p /var/lib/private/tactus && touch /var/lib/private/tactus/state.json")
    said = root.install(package)
    assert "Unpacking tactus" in said and "over (0.0.1)" in said
    assert root("tactus --version").startswith(root("dpkg-query -W -f '${Version}' tactus").split("+")[0])
    # The two packages may have it in different folders, of which one is a link to the other.
    root("test -e /var/lib/private/tactus/state.json && test -s /lib/systemd/system/tactus.service")
    assert root("cat /etc/tactus/config.yaml") == "version: 1\n"
    root("apt-get purge -y --auto-remove tactus")
    assert {path for path in root.files() if "tactus" in path} == {"/etc/tactus", "/etc/tactus/token"}


class Shower(http.server.SimpleHTTPRequestHandler):
    """Shows a folder, and does not tell who asks."""

    def log_message(self, *_):
        pass


@pytest.fixture
def repository(built, tmp_path):
    """The address of an apt repository with a package for each Debian, made as docs/releasing.md says."""
    root = Root(min(SUITES), name="repository")
    packages = root.folder / "root/packages"
    packages.mkdir()
    for folder in built.values():
        shutil.copy(only(folder / "released"), packages)
    shutil.copytree(PROJECT / "Packaging", root.folder / "root/Packaging")
    root("""
        Packaging/sums packages
        apt-get install --no-install-recommends gpg gpg-agent
        gpg --batch --passphrase '' --quick-generate-key 'Tactus packages' ed25519 sign never
    """)
    root(block("docs/releasing.md", "Packaging/apt-repository").text)
    run("cp", "--recursive", root.folder / "root/repository", tmp_path, check=True)
    root.remove()
    shower = functools.partial(Shower, directory=tmp_path / "repository")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), shower) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("suite", SUITES)
def test_apt_installs_it_from_a_repository(repository, suite):
    root = Root(suite, name="user")
    recipe = block("docs/releasing.md", "tactus.sources").text
    root(recipe.replace("https://REPOSITORY", repository))
    version = root(". /etc/os-release; dpkg-query -W -f '${Version}' tactus; echo; echo 9.9.9~deb$VERSION_ID").split()
    assert version[0] == version[1], "each Debian has its own package"
    # Without the key, nothing of the repository counts.
    root("rm /etc/apt/keyrings/tactus.asc; apt-get update -o APT::Update::Error-Mode=any 2>&1", expect=100)
    root.remove()
