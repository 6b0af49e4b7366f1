"""Helps scripts in the lab, whose clock counts instructions and skips all idle time."""

import contextlib
import os
import pathlib
import re
import subprocess

# Whether this runs there. Then no program has a timeout, because waiting for its files may take any time on the guest's
# clock; the boot as a whole has one.
IN_LAB = "lab_run=" in pathlib.Path("/proc/cmdline").read_text()
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ [1-9]\d* +(/.*)")


def preload(*processes):
    """Loads all files that these processes have mapped into memory.

    Otherwise a page is loaded from the host when it is first used. The guest is then idle, so its clock skips ahead to
    the next timer, which may be milliseconds or seconds away.
    """
    ranges = set()
    for process in processes:
        with open(f"/proc/{process}/maps", encoding="utf-8") as maps:
            for start, end, offset, path in MAPPING.findall(maps.read()):
                ranges.add((path, int(offset, 16), int(end, 16) - int(start, 16)))
    for path, offset, length in sorted(ranges):
        if not os.path.isfile(path):
            continue
        with open(path, "rb") as file:
            file.seek(offset)
            while length > 0 and (data := file.read(min(length, 1 << 20))):
                length -= len(data)


@contextlib.contextmanager
def awake():
    """Keeps the processor busy inside a `with` block, so that the clock does not skip ahead.

    Use it around actions that wait for files from the host, such as starting programs.
    """
    spinner = subprocess.Popen(["nice", "-n", "19", "sh", "-c", "while :; do :; done"])
    try:
        yield
    finally:
        spinner.kill()
        spinner.wait()
