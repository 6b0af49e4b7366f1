"""The output thread allocates nothing, shown on the release executable by counting every call of the allocator."""

import pathlib
import tempfile

from rig.compiler import compile_c
from rig.gateway import PROJECT
from rig.labs import GUEST, record


def compiled(folder):
    """The counter as a library to preload."""
    library = pathlib.Path(folder) / "allocations.so"
    compile_c(GUEST / "allocations.c", library, "-shared", "-fPIC", "-O1")
    library.chmod(0o755)
    return library


def test_sixty_four_outputs_play_without_one_allocation(figure):
    (PROJECT / ".lab").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PROJECT / ".lab") as folder:
        pathlib.Path(folder).chmod(0o755)
        heard = record("allocations.py", arguments=[compiled(folder)])
    figure("ticks", heard["ticks"])
    figure("allocations elsewhere", heard["elsewhere"])
    figure("allocations on the output thread", heard["output thread"], bound=0)
    assert heard["outputs"] == 64
    assert heard["ticks"] > 64 * 24 * 10
    assert heard["elsewhere"] > 1000, "the counter counts"
    assert {"start", "stop", "continue", "position"} <= set(heard["transport"])
    assert heard["output thread"] == 0
