"""Reliability in the study: whole, free of anybody's id, and shown only where it applies."""

import pytest

from biobgt.data.atlas import load_atlas
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs import HUB_MEASURES
from biobgt.hubs.evidence import _reliability_table, study_reliability


def test_every_measure_role_module_and_attention_is_there():
    table = _reliability_table()
    abide = set(table.loc[table["cohort"] == "ABIDE", "measure"])
    assert set(HUB_MEASURES) - {"node_entanglement"} <= abide
    assert {"node_entanglement γ=0.5", "within_z", "participation", "module", "role"} <= abide
    assert {"connectivity map", "attention map", "attention received"} <= abide
    assert table.groupby("cohort")["n_people"].unique().map(list).to_dict() == {"ABIDE": [899], "CNI-2019": [240]}
    assert "subject" not in table.columns
    assert (table["within_low"] <= table["within"]).all()
    assert (table["within"] <= table["within_high"]).all()


def test_one_person_is_more_like_itself_than_like_others():
    table = _reliability_table()
    assert (table["within"] > table["between"]).all()


def test_ne_is_less_reliable_than_neff():
    study = study_reliability(ConnectomeSettings(), load_atlas("cc200"))
    assert study.table is not None
    for cohort in study.cohorts:
        assert (
            study.table.loc["node_entanglement", f"whole {cohort}"]
            < study.table.loc["node_efficiency", f"whole {cohort}"]
        )


@pytest.mark.parametrize(
    ("settings", "atlas", "words"),
    [
        (ConnectomeSettings(), "aal90", "the study is on CC200, this subject on AAL-90"),
        (ConnectomeSettings(level=0.2), "cc200", "the study has Pearson correlation; negative connections set to zero"),
        (ConnectomeSettings(threshold="proportional", level=0.1), "power264", "the study is on CC200"),
    ],
)
def test_nothing_is_shown_for_graphs_of_another_kind(settings, atlas, words):
    study = study_reliability(settings, load_atlas(atlas))
    assert study.table is None
    assert words in study.note


def test_ne_has_no_norm_at_a_scale_that_was_not_measured():
    at_two = study_reliability(ConnectomeSettings(), load_atlas("cc200"), gamma=2.0)
    assert at_two.table is not None
    assert "node_entanglement" not in at_two.table.index
    removed = study_reliability(ConnectomeSettings(), load_atlas("cc200"), perturbation="remove")
    assert removed.table is not None
    assert "node_entanglement" not in removed.table.index
    assert "control graph only" in removed.note
