"""The report, from records made here."""

import json
import xml.etree.ElementTree

import pytest
import report
from goals import output_cost
from report import Results, number

TICK = 60e6 / 120 / 24


def block(candidate, model, load, jitter, grid=None):
    ticks = [1e6 + place * TICK + (place % 2) * jitter for place in range(200)]
    return {
        "candidate": candidate, "load": load, "tempo": 120, "round": 0, "grid": grid, "ticks": ticks, "model": model}


@pytest.fixture
def records(tmp_path):
    grid = {"beat": 1e6, "interval": 500_000}
    for model in ("voluntary", "full"):
        blocks = [block("tactus", model, load, 2, grid) for load in ("idle", "copy")]
        blocks += [block("midish", model, load, 1000) for load in ("idle", "copy")]
        blocks += [block("null", model, load, 1) for load in ("idle", "copy")]
        blocks += [{"candidate": "puredata", "tempo": 120, "failed": "no port", "model": model}]
        (tmp_path / f"{model}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in blocks))
    (tmp_path / "run.json").write_text(json.dumps(
        {"target": "bench", "seconds": 5, "stay": 10, "seed": "1", "shift": 0, "minutes": 3, "version": "Tactus 1",
         "kernel": "6.1"}))
    return tmp_path


def test_it_names_every_figure_every_failure_and_what_was_not_measured(records, tmp_path):
    target = tmp_path / "out"
    report.write(records, target)
    text = (target / "timing.md").read_text()
    assert "puredata at 120 BPM, voluntary: no port" in text
    assert "| Tactus | 200 | 1.00 | 1.00 | 1.01 | 1.01 |" in text
    (line,) = [line for line in text.splitlines() if "worst load, preempt=full" in line]
    assert line.endswith("| reached |")
    assert "drift over 0 minutes | 0.00 ppm | – | not measured" in text
    assert "instruction-time in the lab" in text


def test_a_goal_that_is_missed_says_so(records, tmp_path):
    lines = [block("tactus", "voluntary", "copy", 3000, {"beat": 1e6, "interval": 500_000})]
    (records / "voluntary.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    report.write(records, tmp_path / "out")
    text = (tmp_path / "out/timing.md").read_text()
    (line,) = [line for line in text.splitlines() if "worst load, preempt=voluntary" in line]
    assert line.endswith("| **not reached** |")


def test_the_drawings_are_well_formed_and_name_the_candidates(records, tmp_path):
    report.write(records, tmp_path / "out")
    for name in ("timing-load.svg", "timing-share.svg"):
        drawing = xml.etree.ElementTree.parse(tmp_path / "out" / name).getroot()
        words = {text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")}
        assert {"Tactus", "midish"} <= words


def test_best_other_program_leaves_out_the_null_instrument(records):
    results = Results(records)
    assert results.worst("voluntary", "midish") == pytest.approx(500, rel=0.03)
    assert results.present == ["tactus", "midish", "null"]


def test_outputs_cost_what_their_thread_used_a_tick():
    events = [[place * 20_833 + port * 3, f"128:{port}"] for place in range(48) for port in range(8)]
    heard = {"seconds": 1, "clock": 480_000, "processor": 5_000_000}
    record = {"heard": heard, "planned": {**heard, "clock": 240_000}, "events": events}
    cost = output_cost({**record, "calls": {"write": 96, "read": 48}})
    assert (cost.thread, cost.planning, cost.share) == (10, 5, 0.5)
    assert cost.calls == {"write": 2, "read": 1}
    assert cost.skew_median == cost.skew_max == 21


def test_numbers_keep_three_digits():
    assert [number(value) for value in (None, 0.123, 12.34, 1234.5, 12345)] == ["–", "0.12", "12.3", "1 234", "12 345"]
