"""The bench on people with known answers: a whole lesion is found where it is, none is found in 5 %, and runs go on."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biobgt.base.errors import InputError
from biobgt.bench import measures, run
from biobgt.bench.folder import POWER, REPETITIONS, VALUES, run_bench
from biobgt.bench.measures import BENCH_MEASURES, look, place_of
from biobgt.bench.options import BenchOptions
from biobgt.bench.power import power_table
from biobgt.bench.run import BenchPlan, Repetition, plan_bench
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.lesions import Lesion
from tests.planted_cohort import ATLAS, planted_cohort

FEW = {"people": (6,), "repetitions": 3, "permutations": 99, "edges": False}


@pytest.fixture(scope="module")
def controls() -> Cohort:
    return planted_cohort(30, difference=0.0)


def plan(cohort: Cohort, **chosen) -> BenchPlan:
    return plan_bench(cohort, ConnectomeSettings(), BenchOptions(**{**FEW, **chosen}))


def test_a_lesion_of_full_size_is_found_by_fc_strength_where_it_is(controls, tmp_path):
    table = run_bench(plan(controls, size=(1.0,), people=(10,), place="M2", edges=True), tmp_path / "out")
    own = table.set_index("measure")
    assert own.loc["fc_strength", ["power", "planted", "strongest"]].tolist() == [1, 1, 1]
    assert own.loc["edges", "strongest"] == 1
    assert np.isnan(own.loc["q", "planted"])
    assert list(pd.read_csv(tmp_path / "out" / POWER)["measure"]) == list(table["measure"])


def test_without_a_lesion_five_percent_are_found(rng):
    """Of numbers of people who do not differ, drawn anew each time, one test in twenty finds something."""
    n, found = 400, 0
    for number in range(n):
        values = {"fc_strength": rng.standard_normal((24, 12))}
        looked = look(BENCH_MEASURES["fc_strength"], values, np.arange(24) >= 12, None, permutations=99, seed=number)
        found += looked.found
    low, high = stats.binom.interval(0.999, n, 0.05)
    assert low <= found <= high


def test_nothing_planted_is_found_in_no_more_than_chance_gives(controls, tmp_path):
    table = run_bench(plan(controls, size=(0.0,), people=(10,), repetitions=60), tmp_path / "out")
    most = stats.binom.ppf(0.9995, 60, 0.05) / 60
    assert (table["power"] <= most).all()
    assert (table["power_low"] <= 0.05).all()


def test_a_run_that_ended_goes_on_and_comes_to_the_same(controls, tmp_path, monkeypatch):
    asked = {"size": (0.0, 0.6), "people": (5, 8)}
    whole = run_bench(plan(controls, **asked), tmp_path / "whole")
    measure, done = run.values_of, 0

    def ends(*how, **more):
        nonlocal done
        done += 1
        if done == 20:
            raise KeyboardInterrupt
        return measure(*how, **more)

    monkeypatch.setattr(run, "values_of", ends)
    with pytest.raises(KeyboardInterrupt):
        run_bench(plan(controls, **asked), tmp_path / "ended")
    with (tmp_path / "ended" / VALUES).open("a") as stream:
        stream.write('{"person": "NC-1", "mark')  # cut off
    compare, told = run.look, 0

    def stops(*how, **more):
        nonlocal told
        told += 1
        if told == 30:
            raise KeyboardInterrupt
        return compare(*how, **more)

    monkeypatch.setattr(run, "values_of", measure)
    monkeypatch.setattr(run, "look", stops)
    with pytest.raises(KeyboardInterrupt):
        run_bench(plan(controls, **asked), tmp_path / "ended")
    monkeypatch.setattr(run, "look", compare)
    again = run_bench(plan(controls, **asked), tmp_path / "ended")
    pd.testing.assert_frame_equal(again, whole)

    def never(*how, **more):
        raise AssertionError("measured again")

    monkeypatch.setattr(run, "values_of", never)
    monkeypatch.setattr(run, "look", never)
    pd.testing.assert_frame_equal(run_bench(plan(controls, **asked), tmp_path / "ended"), whole)
    lines = (tmp_path / "ended" / REPETITIONS).read_text().splitlines()
    assert lines[0].startswith("mark,size,people")


def test_on_two_processes_the_numbers_are_the_same(controls, tmp_path):
    one = run_bench(plan(controls, size=(0.5,)), tmp_path / "one")
    two = run_bench(plan(controls, size=(0.5,)), tmp_path / "two", workers=2)
    pd.testing.assert_frame_equal(one, two)


def test_people_are_drawn_once_and_those_with_the_lesion_are_others(controls):
    rows = run._draw(Repetition(0.2, 10, 3), 30, seed=0)
    assert len(set(rows.tolist())) == 20
    assert not np.array_equal(rows, run._draw(Repetition(0.2, 10, 4), 30, seed=0))
    assert not np.array_equal(rows, run._draw(Repetition(0.2, 10, 3), 30, seed=1))


def test_where_features_of_each_measure_are_lesioned():
    labels = ["a", "a", "b", None]
    network, hub = Lesion("network", "a", (0, 1)), Lesion("hub", "y", (2,))
    of = BENCH_MEASURES
    assert place_of(of["fc_strength"], network, labels, 4).tolist() == [True, True, False, False]
    assert place_of(of["edges"], hub, labels, 4).tolist() == [False, True, False, True, False, True]
    assert place_of(of["fc_blocks"], network, labels, 4).tolist() == [True, True, True, False]
    assert place_of(of["q"], network, labels, 4) is None
    assert place_of(of["fc_strength"], Lesion("segregation", "", ()), labels, 4) is None


def test_power_counts_findings_and_where_they_are():
    hit, missed = measures.Looked(True, True, True, False), measures.Looked(False, False, None, False)
    astray = measures.Looked(True, False, False, True)
    table = power_table(
        (Repetition(0.3, 10, number), {"fc_strength": one}) for number, one in enumerate([hit, hit, missed, astray])
    )
    row = table.iloc[0]
    assert row[["power", "planted", "elsewhere"]].tolist() == [0.75, 0.5, 0.25]
    assert row["strongest"] == pytest.approx(2 / 3)
    assert row["power_low"] < 0.75 < row["power_high"]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"people": (16,)}, "need 32"),
        ({"group": "AD"}, "no group 'AD'"),
        ({"lesion": "hub", "place": "R99"}, "no region 'R99'"),
        ({"model": "abide-cc200"}, "trained on"),
    ],
)
def test_what_cannot_be_asked_is_refused(controls, chosen, said):
    with pytest.raises(InputError, match=said):
        plan(controls, **chosen)


def test_structural_connectomes_are_lesioned_and_compared_as_weights(tmp_path, rng):
    subjects = []
    for number in range(12):
        weights = rng.uniform(500, 1500, (16, 16))
        weights = np.triu(weights * (rng.random((16, 16)) < 0.6), 1)
        subjects.append(Subject(f"s{number}", connectivity=weights + weights.T))
    cohort = Cohort("tracts", tuple(subjects), ATLAS)
    assert not cohort.kind.functional
    asked = BenchOptions(**{**FEW, "edges": True, "lesion": "hub", "size": (1.0,), "place": "R3"})
    table = run_bench(plan_bench(cohort, ConnectomeSettings.usual(cohort.kind), asked), tmp_path / "out")
    own = table.set_index("measure")
    assert "system segregation" not in own.index
    assert own.loc["fc_strength", "strongest"] == 1
    assert own.loc["node_efficiency", "power"] == 1
