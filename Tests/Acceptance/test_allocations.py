"""Checks that real-time threads allocate nothing, by counting the allocator calls of release executables."""

import os
import struct
import subprocess

import pytest

from rig.gateway import LINK_PROBE
from rig.labs import LIBRARY, Boot, compiled

BOOTS = [Boot({"sixty-four": ("allocations.py",)}, libraries={"COUNTER": "allocations.c"}, takes_long=True)]


@pytest.mark.real("sequencer")
def test_sixty_four_outputs_play_without_one_allocation(recordings):
    heard = recordings["sixty-four"]
    assert heard["outputs"] == 64
    assert heard["ticks"] > 64 * 24 * 10
    assert heard["elsewhere"] > 1000, "the counter counts"
    assert {"start", "stop", "continue", "position"} <= set(heard["transport"])
    assert heard["output thread"] == 0


@pytest.mark.real("process")
def test_an_audio_callback_captures_and_commits_without_one_allocation(tmp_path):
    counter = compiled("allocations.c", tmp_path, *LIBRARY)

    def allocations(times):
        """Number of allocations on the callback's thread, and on all others."""
        counts = tmp_path / str(times)
        counting = {"LD_PRELOAD": str(counter), "ALLOCATIONS": str(counts), "COUNTED_THREAD": "audio-callback"}
        subprocess.run([LINK_PROBE, str(times)], env={**os.environ, **counting}, timeout=60, check=True)
        return struct.unpack("QQ", counts.read_bytes())

    # The end of the thread itself frees a little memory, which counts once.
    once, often = allocations(1), allocations(100_000)
    assert once[0] > 0 and once[1] > 0, "both are counted"
    assert often[0] == once[0]
