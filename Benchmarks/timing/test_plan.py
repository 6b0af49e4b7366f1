"""The sample is balanced."""

from collections import Counter

from plan import MODELS, OURS, TEMPOS, left, rounds

NAMES = ["a", "b", "c", "d", "e", "f", "g"]
LOADS = ["idle", "cpu", "copy", "fork", "network"]


def visits(model, count, seed=1):
    return [visit for one in rounds(NAMES, LOADS, model, seed, count) for visit in one]


def test_every_candidate_comes_once_a_round_and_meets_every_load():
    for one in rounds(NAMES, LOADS, "full", 1, 3):
        assert sorted(visit.candidate for visit in one) == NAMES
        assert all(sorted(visit.loads) == sorted(LOADS) for visit in one)


def test_two_rounds_of_both_models_bring_every_tempo_to_every_candidate():
    met = {(visit.candidate, visit.tempo) for model in MODELS for visit in visits(model, 2)}
    assert met == {(name, tempo) for name in NAMES for tempo in TEMPOS}


def test_four_rounds_bring_every_load_at_every_tempo_once_for_each_model():
    for model in MODELS:
        met = Counter((visit.candidate, visit.tempo, load) for visit in visits(model, 4) for load in visit.loads)
        assert len(met) == len(NAMES) * len(TEMPOS) * len(LOADS) and set(met.values()) == {1}


def test_the_order_is_drawn_from_the_seed_alone():
    assert visits("full", 2) == visits("full", 2)
    assert visits("full", 2) != visits("full", 2, seed=2)
    order = [[visit.candidate for visit in one] for one in rounds(NAMES, LOADS, "full", 1, 2)]
    assert order[0] != order[1]


def test_only_ours_stays_longer():
    (only,) = rounds(["a", OURS], LOADS, "full", 1, 1, stay=10)
    lengths = {visit.candidate: (visit.length("cpu", 3), visit.length("idle", 3)) for visit in only}
    assert lengths == {"a": (3, 12), OURS: (30, 120)}


def test_a_run_cut_short_is_resumed_where_it_was():
    (visit,) = next(rounds(["a"], LOADS, "full", 1, 1))
    recorded = [{"round": 0, "candidate": "a", "load": load} for load in visit.loads[:2]]
    recorded += [{"round": 0, "candidate": "a", "tempo": 120, "load": visit.loads[2], "failed": "it ended"}]
    assert left(visit, recorded).loads == visit.loads[2:]
    assert left(visit, [{**recorded[0], "load": load} for load in LOADS]) is None
    assert left(visit, [{**recorded[0], "round": 1}]) == visit
