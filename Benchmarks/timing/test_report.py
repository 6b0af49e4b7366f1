"""The pages, from records made here."""

import json
import xml.etree.ElementTree

import programs_page
import pytest
import report
from bounds import cells
from costs import output_cost
from lab_machines import ALL, Machine
from results import Results, number

TICK = 60e6 / 120 / 24
QUICK, SLOW = Machine().name, Machine(4, company=6250).name
RUN = {
    "command": "make bench", "seed": "7", "minutes": 3, "version": "Tactus 1", "kernels": {"stock": "6.1.0-1"},
    "machines": 2, "loads": {"idle": "nothing else runs", "copy": "copies", "cpu": "computes"}}


def block(machine, candidate, load, jitter, grid=None, count=600):
    """Ticks of which every other is late by `jitter`."""
    ticks = [1e6 + place * TICK + (place % 2) * jitter for place in range(count)]
    return {"machine": machine, "candidate": candidate, "load": load, "tempo": 120, "asked": 120, "grid": grid,
            "ticks": ticks}


def kept(folder, blocks):
    (folder / "blocks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in blocks))
    (folder / "run.json").write_text(json.dumps(RUN))
    return folder


def cell(tmp_path, load, machine=QUICK, **jitter):
    """The one cell of a machine where each candidate has some jitter; one of two is that of both directions."""
    blocks = [block(machine, name, load, 2 * size) for name, size in jitter.items()]
    (found,) = cells(Results.of(kept(tmp_path, blocks)))
    return found


def test_an_idle_clock_may_deviate_a_fifth_more_than_plain_direct_dispatch(tmp_path):
    assert cell(tmp_path, "idle", auto=11.9, direct=10).verdict == "kept"
    assert cell(tmp_path, "idle", auto=12.1, direct=10).verdict == "**missed**"


def test_an_idle_clock_may_deviate_by_a_thousand_instructions_whatever_direct_dispatch_does(tmp_path):
    assert cell(tmp_path, "idle", auto=0.9, direct=0.1).verdict == "kept"
    assert cell(tmp_path, "idle", auto=1.1, direct=0.1).verdict == "**missed**"
    assert cell(tmp_path, "idle", SLOW, auto=3.9, direct=0.1).verdict == "kept"
    assert cell(tmp_path, "idle", SLOW, auto=4.1, direct=0.1).verdict == "**missed**"


def test_under_load_the_larger_bound_counts(tmp_path):
    # The empty queue is late by up to twice its deviation: it counts from its earliest.
    found = cell(tmp_path, "copy", auto=200, direct=606, empty=20)
    assert found.wanted["max"] == pytest.approx(202, rel=0.01) and found.verdict == "kept"
    found = cell(tmp_path, "copy", auto=200, direct=60, empty=60)
    assert found.wanted["max"] == pytest.approx(180, rel=0.01) and found.verdict == "**missed**"


def test_under_load_nobody_hears_a_tenth_of_a_millisecond(tmp_path):
    assert cell(tmp_path, "copy", auto=99, direct=3, empty=1).verdict == "kept"
    assert cell(tmp_path, "copy", auto=101, direct=3, empty=1).verdict == "**missed**"


def test_plain_direct_dispatch_is_held_against_its_own_bounds(tmp_path):
    found = cell(tmp_path, "idle", auto=10, direct=10, again=12.1)
    assert found.verdict == "kept" and found.multiple("again") == pytest.approx(12.1 / 12, rel=0.01)


def test_what_was_not_measured_is_neither_kept_nor_missed(tmp_path):
    assert cell(tmp_path, "copy", auto=100, direct=303).verdict == "not measured"
    assert cell(tmp_path, "idle", direct=303).verdict == "not measured"


def test_few_ticks_have_no_largest_deviation(tmp_path):
    blocks = [block(QUICK, name, "idle", 2, count=499) for name in ("auto", "direct")]
    (found,) = cells(Results.of(kept(tmp_path, blocks)))
    assert found.sd is not None and found.max is None and found.verdict == "not measured"


def test_the_page_leads_with_the_worst(tmp_path):
    blocks = [block(QUICK, name, load, 2) for name in ("auto", "direct", "empty") for load in ("idle", "copy")]
    blocks += [block(SLOW, name, load, size) for load in ("idle", "copy")
               for name, size in (("auto", 800), ("direct", 4), ("empty", 4))]
    blocks += [block(machine, "again", "idle", size) for machine, size in ((QUICK, 2), (SLOW, 900))]
    blocks += [{"machine": SLOW, "candidate": "null", "tempo": 120, "load": "cpu", "failed": "no port"}]
    report.write(kept(tmp_path, blocks), tmp_path / "out")
    text = (tmp_path / "out/timing.md").read_text()
    head, _, rest = text.partition("## What a cable and a device add")
    assert "4 ns, Linux 6.1, voluntary, beside a queue of 6250 Hz, copy | 400 / 40" in head
    assert "1 ns, Linux" not in head.split("The bounds are kept")[0] and "1 ns, Linux 6.1, voluntary, alone" in rest
    assert "kept in 1 of 2 idle cells and 1 of 2 loaded cells" in head
    assert "its own figures in 1 of 2 idle cells" in head
    assert "instruction-time in the lab" in head and "seed 7" in head
    assert "null at 120 BPM, 4 ns, Linux 6.1, voluntary, beside a queue of 6250 Hz, cpu: no port" in rest


def test_processor_time_is_held_against_its_bound(tmp_path):
    record = [{"count": 8, "heard": {"seconds": 10, "processor": 1.5e9, "clock": 1e9}}]
    folder = kept(tmp_path, [block(QUICK, "auto", "idle", 2)])
    (folder / "offsets-4ns.json").write_text(json.dumps(record))
    report.write(folder, tmp_path / "out")
    page = (tmp_path / "out/timing.md").read_text()
    assert "**Processor time** at 4 ns" in page and "take 15.0 % of a core; wanted are 4 % at most: **missed**" in page


@pytest.fixture
def records(tmp_path):
    grid = {"beat": 1e6, "interval": 500_000}
    sizes = {"tactus": (2, grid), "midish": (1000, None), "null": (1, None)}
    return kept(tmp_path, [
        block(machine, name, load, *size) for machine in (QUICK, Machine(preemption="full").name)
        for load in ("idle", "copy") for name, size in sizes.items()])


def test_the_page_of_programs_has_every_figure_and_what_was_not_measured(records, tmp_path):
    programs_page.write(records, tmp_path / "out")
    text = (tmp_path / "out/programs.md").read_text()
    assert "| Tactus | 600 | 1.00 | 1.00 | 1.0" in text
    assert "as a multiple of ours | – | 498" in text or "as a multiple of ours | – | 500" in text
    assert "drift over 0 minutes | 0.00 ppm | – | not measured" in text


def test_the_drawings_are_well_formed_and_name_the_candidates(records, tmp_path):
    programs_page.write(records, tmp_path / "out")
    for name in ("programs-load.svg", "programs-share.svg"):
        drawing = xml.etree.ElementTree.parse(tmp_path / "out" / name).getroot()
        words = {text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")}
        assert {"Tactus", "midish"} <= words


def test_outputs_cost_what_their_thread_used_a_tick():
    events = [[place * 20_833 + port * 3, f"128:{port}"] for place in range(48) for port in range(8)]
    heard = {"seconds": 1, "clock": 480_000, "processor": 5_000_000}
    record = {"heard": heard, "planned": {**heard, "clock": 240_000}, "events": events}
    cost = output_cost({**record, "calls": {"write": 96, "read": 48}})
    assert (cost.thread, cost.planning, cost.share) == (10, 5, 0.5)
    assert cost.calls == {"write": 2, "read": 1}
    assert cost.skew_median == cost.skew_max == 21


def test_every_machine_has_a_name_of_its_own():
    assert len(ALL) == len(set(ALL.values())) and all(machine.name == name for name, machine in ALL.items())


def test_numbers_keep_three_digits():
    assert [number(value) for value in (None, 0.123, 12.34, 1234.5, 12345)] == ["–", "0.12", "12.3", "1 234", "12 345"]
