"""A small board with Debian 13 for arm64, emulated: no such board is at hand. Slow, and nothing on it can be timed.

Debian's own kernel boots on the processor of a Raspberry Pi 4, from a disk with a whole system, whose packages were
configured on it. Its serial line ends in a file here, its network in an interface `board` of the present network
namespace. Its system is made once, with `python board.py`, for which the network is needed.
"""

import hashlib
import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import tempfile
import time

from clean import CACHE, PROJECT, run

FOLDER = CACHE / "board"
# What the first program of the kernel loads; all else is found by the system itself.
MODULES = ["virtio_blk", "ext4", "crc32c_generic"]
# Beside what every Debian has. The last line is what the package depends on and recommends: the board has no internet.
PACKAGES = """
    systemd-sysv udev dbus kmod iproute2 busybox-static linux-image-arm64
    alsa-utils libasound2t64 liblo7 libsndfile1 libsystemd0 libyaml-0-2
""".split()
# The board's end of the network, and this computer's.
ADDRESS, HOST = "10.73.0.2", "10.73.0.1"
# Longer than anything took on a busy machine.
LONGEST = 2400

INIT = """#!/bin/busybox sh
bb=/bin/busybox
$bb mkdir -p /proc /dev /board
$bb mount -t proc none /proc
$bb mount -t devtmpfs none /dev
while read -r module; do $bb insmod "/modules/$module"; done </modules/order
until [ -b /dev/vda ]; do $bb sleep 1; done
$bb mount -t ext4 /dev/vda /board
exec $bb switch_root /board "$($bb sed -n 's/.*board_init=\\([^ ]*\\).*/\\1/p' /proc/cmdline)"
"""

# Packages are unpacked and configured as the first program, before there is a systemd. That of the kernel is left out: it
# would make an initramfs of its own.
CONFIGURE = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs run /run
exec >/dev/hvc0 2>&1
cd /var/cache/apt/archives
ln -sf mawk /usr/bin/awk
dpkg --force-depends --install base-passwd_*.deb base-files_*.deb
dpkg --force-depends --force-unsafe-io --install *.deb && dpkg --configure --pending && rm *.deb && touch /configured
sync
echo o >/proc/sysrq-trigger
sleep 60
"""

# What runs once the system is up: the script on the second disk, which is a tarball. Then the board is switched off.
RUN = """#!/bin/sh
cd /tmp && tar -xf /dev/vdb
port=$(grep -lx said /sys/class/virtio-ports/*/name)
export HOME=/root DEBIAN_FRONTEND=noninteractive
sh ./script >/dev/$(basename ${port%/name}) 2>&1
systemctl --no-block poweroff
"""
UNIT = """[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/board
StandardError=journal+console
[Install]
WantedBy=multi-user.target
"""

NETWORK = f"""[Match]
Name=e*
[Network]
Address={ADDRESS}/24
"""


def lab():
    """The lab's functions."""
    loader = importlib.machinery.SourceFileLoader("lab", str(PROJECT / "Tests/Lab/lab"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", loader))
    loader.exec_module(module)
    return module


def qemu(folder, disk, init, *more):
    """QEMU's command line; the console and what the script says are files of the folder."""
    return [
        "setpriv", "--pdeathsig", "KILL", "qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72", "-smp", "2",
        "-m", "1024", "-accel", "tcg,thread=multi", "-nodefaults", "-display", "none", "-no-reboot",
        "-kernel", FOLDER / "kernel", "-initrd", FOLDER / "initramfs",
        "-append", f"console=hvc0 quiet panic=-1 board_init={init}",
        "-device", "virtio-serial",
        "-chardev", f"file,id=console,path={folder}/console", "-device", "virtconsole,chardev=console",
        "-chardev", f"file,id=said,path={folder}/said", "-device", "virtserialport,chardev=said,name=said",
        "-serial", f"file:{folder}/midi",
        "-drive", f"if=none,id=system,file={disk},format=raw,cache=unsafe", "-device", "virtio-blk,drive=system",
        *more]


def make_system():
    """The disk, the kernel and its initramfs: fetched, and configured on the board."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        folder = pathlib.Path(scratch)
        root = folder / "root"
        done = run(
            "mmdebstrap", "--variant=extract", "--architectures=arm64", "--include=?essential",
            "--include=apt," + ",".join(PACKAGES), "--skip=cleanup/apt", "trixie", root)
        assert done.returncode == 0, done.stderr
        for package in root.glob("var/cache/apt/archives/linux-image-*.deb"):
            package.unlink()
        (image,) = root.glob("boot/vmlinuz-*")
        shutil.move(image, FOLDER / "kernel")
        tools = lab()
        (tree,) = root.glob("usr/lib/modules/*")
        tools.call("depmod", "-b", str(root), tree.name)
        (folder / "init").write_text(INIT)
        tools.build_initramfs(
            tree, tools.load_order(tree, MODULES), root / "usr/bin/busybox", folder / "init", FOLDER / "initramfs")

        for path, text in {
                "configure": CONFIGURE, "usr/local/sbin/board": RUN, "etc/systemd/system/board.service": UNIT, "etc/hostname": "board\n",
                "etc/systemd/network/board.network": NETWORK, "etc/fstab": ""}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        for name in ("configure", "usr/local/sbin/board"):
            (root / name).chmod(0o755)
        wanted = root / "etc/systemd/system/multi-user.target.wants"
        wanted.mkdir()
        (wanted / "board.service").symlink_to("../board.service")
        (wanted / "systemd-networkd.service").symlink_to("/usr/lib/systemd/system/systemd-networkd.service")

        disk = folder / "disk"
        done = run("mke2fs", "-q", "-t", "ext4", "-d", root, disk, "3G")
        assert done.returncode == 0, done.stderr
        run(*qemu(folder, disk, "/configure"), check=True)
        done = run("debugfs", "-R", "stat /configured", disk)
        assert "Inode:" in done.stdout, (folder / "console").read_text(errors="replace")
        shutil.move(disk, FOLDER / "disk")
    print(f"\nDebian 13 for arm64 is fetched and configured, in {(time.monotonic() - began) / 60:.0f} min")


def prepared():
    """Makes the system, unless it was made by the same recipe."""
    recipe = hashlib.sha256(repr([MODULES, PACKAGES, INIT, CONFIGURE, RUN, UNIT, NETWORK]).encode()).hexdigest()
    stamp = FOLDER / "recipe"
    if not stamp.exists() or stamp.read_text() != recipe:
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        make_system()
        stamp.write_text(recipe)


class Board:
    """A board with a disk of its own, which keeps what was done to it from one boot to the next."""

    def __init__(self, folder):
        prepared()
        self.folder = folder
        self.disk = folder / "disk"
        run("cp", "--sparse=always", FOLDER / "disk", self.disk, check=True)

    def start(self, script, files=()):
        """Boots it and has it run a shell script, beside which these files are; then it is switched off."""
        load = self.folder / "load"
        load.mkdir()
        (load / "script").write_text(script)
        for file in files:
            shutil.copy(file, load)
        run("tar", "--create", "--file", self.folder / "load.tar", "--directory", load, ".", check=True)
        shutil.rmtree(load)
        # A disk has whole sectors.
        with open(self.folder / "load.tar", "ab") as tarball:
            tarball.truncate((tarball.tell() + 1048575) // 1048576 * 1048576)
        for name in ("said", "midi", "console"):
            (self.folder / name).write_bytes(b"")
        words = qemu(
            self.folder, self.disk, "/sbin/init",
            "-drive", f"if=none,id=load,file={self.folder}/load.tar,format=raw,readonly=on",
            "-device", "virtio-blk,drive=load",
            "-netdev", "tap,id=net,ifname=board,script=no,downscript=no", "-device", "virtio-net,netdev=net")
        self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL)

    @property
    def said(self):
        return (self.folder / "said").read_text(errors="replace")

    @property
    def midi(self):
        """The bytes that came over the serial line."""
        return (self.folder / "midi").read_bytes()

    def wait(self):
        """Waits until it is switched off; returns what its script said."""
        try:
            code = self.process.wait(timeout=LONGEST)
        finally:
            self.process.kill()
        print(self.said)
        assert code == 0 and self.said, (self.folder / "console").read_text(errors="replace")
        return self.said


if __name__ == "__main__":
    prepared()
