"""The lab's sound cards: ports that stand for devices and can be unplugged and plugged in, and a loop of sound."""

import contextlib
import os
import pathlib
import re
import subprocess

DRIVER = pathlib.Path("/sys/bus/platform/drivers/snd_virmidi")
MODULES = pathlib.Path("/proc/1/root/modules")  # the folder from which the lab loads kernel modules
CLIENTS = pathlib.Path("/proc/asound/seq/clients")


def make_cards(*ports):
    """Replaces the card by new ones; each argument is the number of ports of one card, at most 4."""
    # Plugging in waits for this thread of the kernel, which makes the device's files.
    os.sched_setscheduler(kernel_thread("kdevtmpfs"), os.SCHED_FIFO, os.sched_param(96))
    subprocess.run(["/bin/busybox", "rmmod", "snd_virmidi"], check=True)
    words = [f"enable={','.join('1' for _ in ports)}", f"midi_devs={','.join(map(str, ports))}"]
    subprocess.run(["/bin/busybox", "insmod", str(MODULES / "snd-virmidi.ko"), *words], check=True)


def make_loop(*parameters):
    """Makes the card `Loopback`, with parameters of its driver: what is played on its device 0 is heard on its device 1."""
    subprocess.run(["/bin/busybox", "insmod", str(MODULES / "snd-aloop.ko"), *parameters], check=True)


def set_drift(millionths):
    """How much faster the loop's clock is from the next stream on, in whole tens of millionths."""
    value = 100_000 - millionths // 10
    subprocess.run(
        ["amixer", "-q", "-c", "Loopback", "cset", "iface=PCM,name='PCM Rate Shift 100000',device=1,subdevice=0",
         str(value)], check=True)


def pull(card):
    """Removes a card with all its ports. Waits until no program has a raw side open."""
    (DRIVER / "unbind").write_text(f"snd_virmidi.{card}")


def plug(card):
    (DRIVER / "bind").write_text(f"snd_virmidi.{card}")


def kernel_thread(name):
    """The number of one of the kernel's own threads."""
    for comm in pathlib.Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):  # it has just ended
            if comm.read_text().strip() == name:
                return int(comm.parent.name)
    raise AssertionError(f"no thread {name}")


def sequencer():
    """All ports by `client:port`, as the kernel lists them: name, client's name, and receivers."""
    ports, client, name, port = {}, None, None, None
    for line in CLIENTS.read_text().splitlines():
        if found := re.match(r'Client +(\d+) : "(.*)"', line):
            client, name = found.groups()
        elif found := re.match(r'  Port +(\d+) : "(.*)"', line):
            port = {"client": name, "name": found.group(2).strip(), "to": []}
            ports[f"{client}:{found.group(1)}"] = port
        elif found := re.match(r"    Connecting To: (.*)", line):
            port["to"] = re.findall(r"\d+:\d+", found.group(1))
    return ports
