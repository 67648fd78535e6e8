"""The committed study of agreement: what the documentation says of it stands in its tables."""

import importlib.util
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biobgt.base.files import asset
from biobgt.hubs.measures import LITTLE_MEAN_CONNECTIVITY, has_little_fc_strength

STUDIES = asset("studies")
PAGE = STUDIES.parents[1] / "docs" / "plausibility.md"
REGRESSED = "CNI-2019, global signal regressed"


def script(name):
    """A study's script as a module."""
    spec = importlib.util.spec_from_file_location(name, STUDIES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table():
    return pd.read_csv(STUDIES / "plausibility_beyond_strength.csv")


def at(table, cohort, graphs, reference, measure="NE", gamma=0.5):
    chosen = (table["cohort"] == cohort) & (table["graphs"] == graphs) & (table["reference"] == reference)
    chosen &= (table["measure"] == measure) & ((table["gamma"] == gamma) | table["gamma"].isna())
    return table[chosen].iloc[0]


def test_no_subject_and_every_condition(table):
    assert "subject" not in table.columns
    assert set(table["cohort"]) == {"ABIDE", "CNI-2019", REGRESSED}
    assert set(table["graphs"]) == {"at least 0", "at least 0.3", "strongest 15%"}
    assert {"NE", "VE"} <= set(table["measure"])
    assert table["n_people"].min() >= 40


def test_nothing_is_left_of_the_agreement_once_strength_and_degree_are_held(table):
    for cohort in ("ABIDE", REGRESSED):
        for graphs in ("at least 0.3", "strongest 15%"):
            row = at(table, cohort, graphs, "NEff")
            assert row["spearman"] > 0.6
            assert row["partial_high"] < 0
            assert row["partial_excess_high"] < 0  # nor more than in null graphs
    assert at(table, "CNI-2019", "at least 0.3", "NEff")["partial_high"] < 0.1


def test_the_global_signal_decides_whether_ne_follows_fc_strength(table):
    reference = "FC strength, all connections"
    kept, regressed = (at(table, cohort, "at least 0.3", reference) for cohort in ("CNI-2019", REGRESSED))
    assert kept["spearman_low"] > 0.7
    assert regressed["spearman_high"] < 0.2


def test_the_limit_of_mean_connectivity_lies_between_the_cohorts():
    table = pd.read_csv(STUDIES / "plausibility_connectivity.csv")
    means = table[table["value"] == "mean correlation"].set_index("cohort")
    assert means.loc["ABIDE", "highest"] < LITTLE_MEAN_CONNECTIVITY < means.loc["CNI-2019", "lowest"]
    assert means.loc[REGRESSED, "highest"] < LITTLE_MEAN_CONNECTIVITY
    assert means["n_people"].to_dict() == {"ABIDE": 899, "CNI-2019": 240, REGRESSED: 240}
    assert has_little_fc_strength(0.004)
    assert not has_little_fc_strength(0.25)


def test_regressing_the_global_signal_out_leaves_nothing_of_it():
    rng = np.random.default_rng(0)
    series = rng.normal(size=(80, 12)) + rng.normal(size=(80, 1)) * rng.uniform(0.5, 2, 12)
    series[:, 3] = 0
    left = script("beyond_strength").without_global_signal(series)
    active = np.arange(12) != 3
    signal = series[:, active].mean(axis=1)
    np.testing.assert_allclose(left.T @ (signal - signal.mean()), 0, atol=1e-9)
    assert (left[:, 3] == 0).all()
    assert np.abs(np.corrcoef(series[:, active].T)).mean() > 2 * abs(np.corrcoef(left[:, active].T).mean())


def test_the_page_holds_the_tables_as_they_are_written(tmp_path, monkeypatch):
    tables = script("tables")
    copy = tmp_path / "plausibility.md"
    shutil.copy(PAGE, copy)
    monkeypatch.setattr(tables, "PAGE", Path(copy))
    tables.main()
    assert copy.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
