"""The output thread allocates nothing, shown on the release executable by counting every call of the allocator."""

import pathlib
import tempfile

from rig.gateway import PROJECT
from rig.labs import compiled, record


def test_sixty_four_outputs_play_without_one_allocation(figure):
    (PROJECT / ".lab").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=PROJECT / ".lab") as folder:
        pathlib.Path(folder).chmod(0o755)
        heard = record("allocations.py", arguments=[compiled("allocations.c", folder)])
    figure("ticks", heard["ticks"])
    figure("allocations elsewhere", heard["elsewhere"])
    figure("allocations on the output thread", heard["output thread"], bound=0)
    assert heard["outputs"] == 64
    assert heard["ticks"] > 64 * 24 * 10
    assert heard["elsewhere"] > 1000, "the counter counts"
    assert {"start", "stop", "continue", "position"} <= set(heard["transport"])
    assert heard["output thread"] == 0
