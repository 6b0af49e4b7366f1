"""What scripts in the lab need because its clock counts instructions and skips whatever time is idle."""

import contextlib
import os
import re
import subprocess

MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ [1-9]\d* +(/.*)")


def preload(*processes):
    """Reads in all files that these processes have mapped.

    A page that is only fetched from the host when it is first needed takes no instructions but a wait, and such a wait
    lasts as long in the guest as its timers fill: milliseconds to seconds, by chance.
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
    """Keeps the processor from ever being idle, so that the clock passes as fast as it works, not as fast as it waits.

    For what needs files from the host, such as programs just starting, on a host that may be slow to give them.
    """
    spinner = subprocess.Popen(["nice", "-n", "19", "sh", "-c", "while :; do :; done"])
    try:
        yield
    finally:
        spinner.kill()
        spinner.wait()
