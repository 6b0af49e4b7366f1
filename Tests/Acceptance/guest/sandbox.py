"""What the units' directives forbid, and how the lab tries it: `forbidden.c` tries everything, wherever it is run."""

import os
import pathlib
import shutil
import subprocess

FOLDER = pathlib.Path("/run/forbidden")
PROBE = FOLDER / "probe"
WORDS = f"{PROBE} {FOLDER}"

# What each directive forbids of root by itself; two are about others than root.
FORBIDDEN = {
    "CapabilityBoundingSet=": ["give_away_file"],
    "DevicePolicy=closed": ["open_tunnel"],
    "DynamicUser=yes": ["read_roots_file"],
    "LockPersonality=yes": ["change_personality"],
    "MemoryDenyWriteExecute=yes": ["write_and_execute"],
    "NoNewPrivileges=yes": ["gain_privileges"],
    "PrivateTmp=yes": ["see_tmp"],
    "PrivateUsers=yes": ["read_users_file"],
    "ProtectClock=yes": ["set_clock"],
    "ProtectControlGroups=yes": ["make_control_group"],
    "ProtectHome=yes": ["see_homes"],
    "ProtectKernelLogs=yes": ["open_kernel_log", "read_kernel_log"],
    "ProtectKernelModules=yes": ["unload_module"],
    "ProtectKernelTunables=yes": ["set_tunable"],
    "ProtectProc=invisible": ["see_processes"],
    "ProtectSystem=full": ["write_usr"],
    "ProtectSystem=strict": ["write_anywhere", "write_usr"],
    "RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK AF_UNIX": ["open_packet_socket"],
    "RestrictNamespaces=yes": ["make_namespace"],
    "RestrictSUIDSGID=yes": ["make_setuid_file"],
    "SystemCallArchitectures=native": ["call_as_32_bit"],
    "SystemCallFilter=@system-service": ["mount_disk"],
    "SystemCallFilter=~@privileged @resources": ["be_nice", "change_root", "set_host_name"],
    "UMask=0077": ["make_open_file"],
}
OF_NOBODY = ("NoNewPrivileges=yes", "ProtectProc=invisible")
# What units grant, beyond what an ordinary user may do or the other directives leave.
GRANTED = {
    "system": ["open_sequencer", "open_serial_line", "write_state", "write_profiles", "be_on_time", "lock_memory"],
    "user": ["open_sequencer", "write_home", "be_on_time"],
}
# What an ordinary user may do as long as nothing forbids it.
ORDINARY = [
    "be_nice", "call_as_32_bit", "change_personality", "gain_privileges", "make_open_file", "make_setuid_file",
    "write_and_execute"]


def forbidden_by(unit):
    """Everything that a unit's directives forbid, by its text."""
    return {attempt for line in unit.splitlines() for attempt in FORBIDDEN.get(line, ())}


def prepare():
    """Puts in place what is tried."""
    FOLDER.mkdir()
    FOLDER.chmod(0o777)
    (FOLDER / "disk").mkdir()
    for copy, mode in ((PROBE, 0o755), (FOLDER / "setuid", 0o4755)):
        shutil.copy(os.environ["FORBIDDEN"], copy)
        copy.chmod(mode)
    for name, owner in (("root", 0), ("user", 1000)):
        path = FOLDER / name
        path.touch(mode=0o600)
        os.chown(path, owner, owner)
    pathlib.Path("/run/user").mkdir(exist_ok=True)
    for path in ("/run/user/forbidden", "/tmp/forbidden"):
        pathlib.Path(path).touch()
    # Not in /run: where units also protect /proc or /sys, systemd leaves /run as it is.
    for folder in ("/srv", "/usr/src"):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "none", folder], check=True)
    subprocess.run(["sh", "-c", "chgrp dialout /dev/ttyS0; chmod 660 /dev/ttyS0"], check=True)


def attempts(name):
    """What came of each attempt, as a unit whose output goes to the file `name` has told it."""
    lines = (FOLDER / name).read_text().splitlines()
    return dict(line.split() for line in lines)


def drop_in(name):
    """Lines that have a unit try everything, in its own sandbox, instead of what it is for."""
    return f"[Service]\nType=oneshot\nExecStart=\nExecStart={WORDS}\nStandardOutput=append:{FOLDER}/{name}\n"


def trial(name, *directives):
    """The text of a unit that tries everything under these directives only."""
    return "[Unit]\nDefaultDependencies=no\n" + drop_in(name) + "\n".join(directives)
