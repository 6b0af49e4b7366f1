"""In the lab, as root: records what `tactus doctor` finds while one thing after another is missing.

    doctor.py RESULT.json
"""

import contextlib
import grp
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from alsa_midi import ALSAError, SequencerClient  # noqa: E402

from rig.gateway import PROJECT, TACTUS, run_tactus  # noqa: E402
from rig.wait import until  # noqa: E402

USER = ("setpriv", "--reuid=12345", "--regid=12345")
AUDIO = grp.getgrnam("audio").gr_gid
MEMBER = (*USER, f"--groups={AUDIO}")
STRANGER = (*USER, "--clear-groups")
found = {}


def shell(*commands):
    """Runs commands, which must all succeed, and returns what they print."""
    settings = {"check": True, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
    return "".join(subprocess.run(["sh", "-ec", command], **settings).stdout for command in commands)


def examine(scene, before=(), rtprio=0, memlock=8 << 20):
    """Records the findings of a scene by code and subject.

    `before` holds the words in front of the command; they may change the user, who is root otherwise.
    """
    limits = ("prlimit", f"--rtprio={rtprio}", f"--memlock={memlock}", "--") if before else ()
    done = run_tactus("doctor", "--json", before=(*limits, *before, *(["--"] if before else [])))
    try:
        findings = json.loads(done.stdout)["findings"]
    except ValueError:
        raise SystemExit(f"{scene}: exit {done.returncode}: {done.stdout} {done.stderr}") from None
    found[scene] = {f"{finding['code']} {finding['subject'] or ''}".strip(): finding for finding in findings}
    found[scene]["exit"] = done.returncode


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


def wireless():
    # Two radios connect without an access point. Power saving must be set before that, while it can still be changed.
    for name, nap in (("wlan0", "on"), ("wlan1", "off")):
        shell(
            f"ip link set {name} up", f"iw dev {name} set power_save {nap}", f"iw dev {name} set type ibss",
            f"iw dev {name} ibss join room 2412", f"ip addr add 10.{name[-1]}.0.1/24 dev {name}")
        until(lambda: "LOWER_UP" in shell(f"ip link show {name}"), f"{name} has met the other")
    examine("wireless")
    shell("ip link set wlan0 down", "ip link set wlan1 down")


def sequencer():
    client = SequencerClient("Hoarder")
    hoard = []
    with contextlib.suppress(ALSAError):  # until the kernel has no more
        while len(hoard) < 256:
            hoard.append(client.create_queue("hoarded"))
    examine("no queue left")
    client.close()
    shell("rmmod snd_hrtimer")
    examine("no timer")
    shell("rmmod snd_seq_dummy snd_virmidi snd_seq_virmidi snd_seq_midi snd_seq_midi_event snd_seq")
    examine("no sequencer")


def main():
    shell(
        "mount -t debugfs none /sys/kernel/debug", "mkdir /tmp/etc /tmp/work",
        "mount -t overlay -o lowerdir=/etc,upperdir=/tmp/etc,workdir=/tmp/work none /etc",
        # Where a computer with this kernel would have it.
        f"mount -t tmpfs none /boot; cp {PROJECT}/.lab/kernel/boot/config-* /boot", f"cat {TACTUS} >/dev/null")
    run_tactus("doctor")  # loads its files from the host, which can take any time on the guest's clock
    examine("as it is")
    users()
    wireless()
    sequencer()
    pathlib.Path(sys.argv[1]).write_text(json.dumps(found, indent=1))


main()
