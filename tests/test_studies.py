"""The results that ship with the project: complete, over subjects, and free of anybody's id."""

import pytest

from biobgt.studies import abide_consensus_modules, abide_modules, abide_plausibility


@pytest.mark.parametrize(("group", "n_subjects"), [("all", 899), ("NC", 462), ("ASD", 437)])
def test_plausibility_covers_every_subject_and_condition(group, n_subjects):
    table = abide_plausibility(group)
    assert table["n_subjects"].max() == n_subjects
    conditions = table[["level", "perturbation", "signed", "gamma", "reference", "measure"]]
    assert len(conditions.drop_duplicates()) == len(table) == 4 * 2 * 2 * 10 * 2 * 3
    assert table["mean"].between(-1, 1).all()
    assert "subject" not in table.columns


def test_the_default_scale_is_one_at_which_ne_agrees_with_node_efficiency():
    table = abide_plausibility()
    chosen = table.query(
        "level == 0.3 and perturbation == 'control' and not signed and gamma == 0.5 and measure == 'spearman'"
    ).set_index("reference")["mean"]
    assert chosen["node efficiency"] > 0.6
    assert chosen["FC strength"] < 0.4


def test_modules_tables():
    modules = abide_modules()
    assert set(modules["graphs"]) == {"positive, at least 0.3", "positive, strongest 15 %", "signed, all"}
    assert modules["n"].eq(899).all()
    assert modules["p"].between(0, 1).all()
    assert abide_consensus_modules()["ami"].between(0, 1).all()
