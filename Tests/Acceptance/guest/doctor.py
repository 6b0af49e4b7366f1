"""In the lab, as root: what `tactus doctor` finds of a kernel and of a user, one thing after another being taken away.

    doctor.py RESULT.json
"""

import grp
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import SequencerClient  # noqa: E402

from rig.gateway import TACTUS, run_tactus  # noqa: E402

USER = ("setpriv", "--reuid=12345", "--regid=12345")
AUDIO = grp.getgrnam("audio").gr_gid
MEMBER = (*USER, f"--groups={AUDIO}")
STRANGER = (*USER, "--clear-groups")
CPU = "/sys/devices/system/cpu"
found = {}


def shell(*commands):
    for command in commands:
        subprocess.run(["sh", "-ec", command], check=True, stdin=subprocess.DEVNULL)


def examine(scene, before=(), rtprio=0, memlock=8 << 20):
    """Keeps the findings of a scene by code and subject, as told to root or to who `before` makes of it."""
    limits = ("prlimit", f"--rtprio={rtprio}", f"--memlock={memlock}", "--") if before else ()
    done = run_tactus("doctor", "--json", before=(*limits, *before, *(["--"] if before else [])), timeout=None)
    try:
        findings = json.loads(done.stdout)["findings"]
    except ValueError:
        raise SystemExit(f"{scene}: exit {done.returncode}: {done.stdout} {done.stderr}") from None
    found[scene] = {f"{finding['code']} {finding['subject'] or ''}".strip(): finding for finding in findings}
    found[scene]["exit"] = done.returncode


def busy():
    """What a kernel with voluntary pre-emption does not let go of: long copies."""
    copies = "dd if=/dev/zero of=/dev/null bs=32M & dd if=/dev/zero of=/dev/null bs=32M & wait"
    return subprocess.Popen(["sh", "-c", copies], start_new_session=True, stderr=subprocess.DEVNULL)


def users():
    shell(f"chgrp {AUDIO} /dev/snd/seq; chmod 660 /dev/snd/seq")
    examine("stranger", STRANGER, memlock=64 << 10)
    examine("member without limits", MEMBER)
    examine("member", MEMBER, rtprio=95)
    pathlib.Path("/etc/security/limits.d").mkdir(parents=True, exist_ok=True)
    pathlib.Path("/etc/security/limits.d/tactus.conf").write_text("@audio - rtprio 95\n")
    examine("limit from the next login", MEMBER)
    examine("stranger with a limit", STRANGER)
    shell("chmod 666 /dev/snd/seq")
    load = busy()
    examine("busy", MEMBER, rtprio=95)
    os.killpg(load.pid, 9)
    load.wait()


def machine():
    shell(f"mount -t tmpfs none {CPU}; mkdir -p {CPU}/cpu0/cpufreq; echo powersave >{CPU}/cpu0/cpufreq/scaling_governor")
    units = pathlib.Path("/etc/systemd/system")
    (units / "tactus.service.d").mkdir(parents=True)
    (units / "tactus.service").write_text("[Service]\nExecStart=/usr/local/bin/tactus run\n")
    shell("mkdir -p /run/systemd/system")
    shell("mount -t tmpfs none /sys/class/sound; mkdir /sys/class/sound/midiC7D0")
    examine("power saved, service without limits, device without port")
    shell(f"umount {CPU} /sys/class/sound")
    (units / "tactus.service.d/limits.conf").write_text("[Service]\nLimitRTPRIO=95\n")
    shell("echo full >/sys/kernel/debug/sched/preempt")
    examine("mended")


def wireless():
    # Three radios in a room of their own; two of them meet without an access point.
    for name in ("wlan0", "wlan1"):
        shell(
            f"iw dev {name} set type ibss", f"ip link set {name} up", f"iw dev {name} ibss join room 2412",
            f"ip addr add 10.9.{name[-1]}.1/24 dev {name}", f"iw dev {name} set power_save off || true")
    subprocess.run(["sh", "-c", "iw dev wlan0 set power_save on; iw dev wlan0 get power_save; iw dev"], check=False)
    examine("wireless")


def sequencer():
    clients = [SequencerClient(f"Hoarder {number}") for number in range(8)]
    hoarded = 0
    try:
        for client in clients:
            for _ in range(8):
                client.create_queue(f"hoarded {hoarded}")
                hoarded += 1
    except Exception as error:  # the kernel has no more
        print(f"{hoarded} queues: {error}")
    examine("no queue left")
    shell("echo voluntary >/sys/kernel/debug/sched/preempt")
    for client in clients:
        client.close()
    shell("rmmod snd_hrtimer")
    examine("no timer")
    shell("rmmod snd_seq_dummy snd_virmidi snd_seq_virmidi snd_seq_midi snd_seq_midi_event snd_seq")
    examine("no sequencer")


def main():
    shell(
        "mount -t debugfs none /sys/kernel/debug", "mkdir /tmp/etc /tmp/work",
        "mount -t overlay -o lowerdir=/etc,upperdir=/tmp/etc,workdir=/tmp/work none /etc",
        f"cat {TACTUS} >/dev/null")
    run_tactus("doctor", timeout=None)  # reads in what it needs, which takes guest seconds to hours, by chance
    examine("as it is")
    users()
    machine()
    wireless()
    sequencer()
    pathlib.Path(sys.argv[1]).write_text(json.dumps(found, indent=1))


main()
