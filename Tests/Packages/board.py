"""A small board with Debian 13 for arm64, emulated: no such board is at hand. Slow, and nothing on it can be timed.

Debian's own kernel boots on the processor of a Raspberry Pi 4, from a disk with a whole system. Its serial line ends in a
file here, its network in an interface `board` of the present network namespace. Its system is made once, with `python
board.py`, for which the network is needed.
"""

import hashlib
import pathlib
import shutil
import subprocess
import tempfile
import time

from clean import CACHE, PROJECT, run

FOLDER = CACHE / "board"
# Beside what every Debian has. The last line is what the package depends on and recommends: the board has no internet.
PACKAGES = """
    systemd-sysv udev dbus kmod iproute2 busybox initramfs-tools linux-image-arm64
    alsa-utils libasound2t64 liblo7 libsndfile1 libsystemd0 libyaml-0-2
""".split()
# The board's end of the network, and this computer's.
ADDRESS, HOST = "10.73.0.2", "10.73.0.1"
# Longer than anything took on a busy machine.
LONGEST = 2400

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


def qemu(folder, disk, kernel, initrd, append, *more):
    """QEMU's command line; the console and what is said are files of the folder, as is the serial line.

    With one processor: with two emulated ones, the kernel has been stuck for good while it loaded a module.
    """
    return [str(word) for word in [
        "setpriv", "--pdeathsig", "KILL", "qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72",
        "-m", "1024", "-accel", "tcg", "-nodefaults", "-display", "none", "-no-reboot",
        "-kernel", kernel, "-initrd", initrd, "-append", f"console=hvc0 quiet panic=-1 {append}",
        "-device", "virtio-serial", "-device", "virtio-rng",
        "-chardev", f"file,id=console,path={folder}/console", "-device", "virtconsole,chardev=console",
        "-chardev", f"file,id=said,path={folder}/said", "-device", "virtserialport,chardev=said,name=said",
        "-serial", f"file:{folder}/midi",
        "-drive", f"if=none,id=system,file={disk},format=raw,cache=unsafe", "-device", "virtio-blk,drive=system",
        "-netdev", "tap,id=net,ifname=board,script=no,downscript=no", "-device", "virtio-net,netdev=net",
        *more]]


def make_system():
    """The disk, the kernel and its initramfs."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        folder = pathlib.Path(scratch)
        root = folder / "root"
        # Its initramfs takes minutes, and is not made more than once.
        done = run(
            "env", "INITRD=No", PROJECT / "Packaging/foreign", "mmdebstrap", "--variant=minbase", "--format=directory",
            "--architectures=arm64", "--include=" + ",".join(PACKAGES),
            "--customize-hook=chroot \"$1\" update-initramfs -c -k all", "trixie", root)
        assert done.returncode == 0, done.stderr
        for name in ("vmlinuz", "initrd.img"):
            (file,) = root.glob(f"boot/{name}-*")
            shutil.move(file, FOLDER / name)
        for path, text in {
                "usr/local/sbin/board": RUN, "etc/systemd/system/board.service": UNIT, "etc/hostname": "board\n",
                "etc/systemd/network/board.network": NETWORK, "etc/fstab": ""}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        (root / "usr/local/sbin/board").chmod(0o755)
        wanted = root / "etc/systemd/system/multi-user.target.wants"
        wanted.mkdir(exist_ok=True)
        (wanted / "board.service").symlink_to("../board.service")
        (wanted / "systemd-networkd.service").symlink_to("/usr/lib/systemd/system/systemd-networkd.service")
        done = run("mke2fs", "-q", "-t", "ext4", "-d", root, FOLDER / "disk", "3G")
        assert done.returncode == 0, done.stderr
        run("rm", "-rf", "--one-file-system", root, check=True)
    print(f"\nDebian 13 for arm64 is made, in {(time.monotonic() - began) / 60:.0f} min")


def prepared():
    """Makes the system, unless it was made by the same recipe."""
    recipe = hashlib.sha256(repr([PACKAGES, RUN, UNIT, NETWORK]).encode()).hexdigest()
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
            self.folder, self.disk, FOLDER / "vmlinuz", FOLDER / "initrd.img", "root=/dev/vda rw",
            "-drive", f"if=none,id=load,file={self.folder}/load.tar,format=raw,readonly=on",
            "-device", "virtio-blk,drive=load")
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL)

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
