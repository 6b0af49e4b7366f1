"""The sample leaves nothing out, and a run that was cut short goes on where it was."""

import random
import subprocess
from itertools import combinations, product

import pytest
from candidates import INSTRUMENTS, PROGRAMS
from lab_machines import ALL, AXES, covering
from plan import CONTROL, FEWEST, LOADED, Visit, few, left, made
from rig.labs import LAB


def test_any_two_values_of_different_axes_meet():
    axes = ((1, 2, 4, 8), "ab", "cd", (0, 1, 2), "xyz")
    rows = covering(axes, random.Random(1))
    for one, other in combinations(range(len(axes)), 2):
        assert {(row[one], row[other]) for row in rows} == set(product(axes[one], axes[other]))
    assert len(rows) <= 16, "a full table has 144, and no table of two axes more than 12"


@pytest.mark.parametrize("seed", range(5))
def test_every_load_meets_every_circumstance(seed):
    chosen = few(seed)
    for load in LOADED:
        there = [machine for machine, loads in chosen.items() if load in loads]
        for axis, name in zip(AXES, ("nanoseconds", "kernel", "preemption", "company")):
            assert {getattr(machine, name) for machine in there} == set(axis)
    assert all("idle" in loads for loads in chosen.values())


def test_on_each_machine_everything_is_measured_that_a_bound_is_made_of():
    for visits in made("few", "1").values():
        assert sorted(visit.candidate for visit in visits) == sorted(INSTRUMENTS)
        assert len({visit.tempo for visit in visits}) == 1
        assert len({frozenset(visit.seconds.items()) for visit in visits if visit.candidate != CONTROL}) == 1


def test_chance_is_measured_idle_only_and_as_long_as_what_it_is_held_against():
    for what in ("few", "full"):
        for visits in made(what, "1").values():
            idle = {visit.candidate: visit.seconds["idle"] for visit in visits}
            (control,) = (visit for visit in visits if visit.candidate == CONTROL)
            assert control.seconds == {"idle": idle["direct"]}


def test_each_block_is_long_enough_for_a_largest_deviation():
    for visits in made("full", "1").values():
        assert all(length * visit.tempo * 24 / 60 > FEWEST for visit in visits for length in visit.seconds.values())


def test_the_full_bench_has_every_machine_under_every_load():
    plan = made("full", "1")
    assert set(plan) == set(ALL.values())
    assert all(set(visit.seconds) == {"idle", *LOADED}
               for visits in plan.values() for visit in visits if visit.candidate != CONTROL)


def test_machines_and_loads_can_be_chosen():
    ((machine, visits),) = made("few", "1", ["4ns-stock-full-6250Hz"], ["idle", "mixed"]).items()
    assert (machine.nanoseconds, machine.preemption, machine.company) == (4, "full", 6250)
    assert all(set(visit.seconds) == {"idle", "mixed"} for visit in visits if visit.candidate != CONTROL)


def test_every_program_comes_at_each_tempo_with_each_model():
    plan = made("programs", "1")
    assert len(plan) == 2
    for visits in plan.values():
        assert sorted((visit.candidate, visit.tempo) for visit in visits) == sorted(product(PROGRAMS, (120, 133.7)))


def test_everything_is_drawn_from_the_seed_alone():
    assert made("few", "1") == made("few", "1")
    assert made("few", "1") != made("few", "2")


def test_a_run_cut_short_is_continued_where_it_was():
    visit = Visit("auto", 120, {"idle": 20, "cpu": 10, "copy": 10})
    recorded = [{"candidate": "auto", "tempo": 120, "load": load} for load in ("idle", "cpu")]
    recorded += [{"candidate": "auto", "tempo": 120, "load": "copy", "failed": "it ended"}]
    assert left([visit], recorded) == [Visit("auto", 120, {"copy": 10})]
    assert left([visit], [*recorded, {"candidate": "auto", "tempo": 120, "load": "copy"}]) == []
    assert left([visit], [{**recorded[0], "candidate": "null"}]) == [visit]


def test_the_lab_has_several_processors_in_the_hosts_time_only():
    done = subprocess.run([LAB, "--smp", "2", "--", "true"], capture_output=True, text=True)
    assert done.returncode == 2 and "--smp needs --host-time" in done.stderr
