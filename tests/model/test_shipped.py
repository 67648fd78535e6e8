"""The models that come with the project: they load, say what they are worth, and say what they said when made."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shipped_predictions import STORED, demo_subjects, predictions

from biobgt.base.errors import InputError
from biobgt.base.files import sha256
from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import functional_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.model import load_card, load_groups, load_pretrained, pretrained_names
from biobgt.model.folder import pretrained_folder, readout_names
from biobgt.readers import read_atlas

SHIPPED = ("abide-cc200", "adsim-aal90", "cni-adhd-cc200")
NAMES = tuple(name for name in pretrained_names() if name in SHIPPED)  # a user's own may stand beside them
pytestmark = pytest.mark.skipif(not NAMES, reason="no model is shipped with this copy (pretrained/)")
NETWORK = "five-groups-aal90"
READOUTS = tuple(f"{NETWORK}/{cohort}" for cohort in ("abide", "cni-adhd", "adsim"))
REMAKE = "after retraining, remake the file with: python tests/model/shipped_predictions.py"


def test_the_network_of_five_groups_and_its_readouts_are_here() -> None:
    network = load_card(NETWORK)
    assert {group.split(" (")[0] for group in network["groups"]} == {"NC", "ASD", "ADHD", "MCI", "AD"}
    assert tuple(f"{NETWORK}/{one['cohort']}" for one in network["readouts"]) == READOUTS
    assert set(READOUTS) <= set(readout_names())
    size = sum(file.stat().st_size for file in (pretrained_folder() / NETWORK).rglob("*") if file.is_file())
    assert size < 8e6


@pytest.mark.parametrize("name", READOUTS)
def test_a_readout_stands_beside_linear_models_on_its_own_folds(name: str) -> None:
    card = load_card(name)
    assert len(card["temperatures"]) == 10
    assert card["simulated"] == name.endswith("adsim")
    for linear, paired in card["paired"].items():
        difference = card["results"]["BioBGT"]["auc"]["value"] - card["results"][linear]["auc"]["value"]
        assert paired["low"] < paired["difference"] < paired["high"]
        assert paired["difference"] == pytest.approx(difference, abs=0.04)  # over folds, and over all subjects
    assert card["noise"]
    assert card["motion"]
    assert card["parts"]


def test_disorders_of_the_network_are_compared_with_their_own_controls_and_controls_with_each_other() -> None:
    pairs = set(load_groups(NETWORK).tests["between"])
    assert {"NC (ABIDE) - ASD", "NC (CNI-2019) - ADHD", "NC (simulated) - AD (simulated)"} <= pairs
    assert "NC (ABIDE) - NC (CNI-2019)" in pairs
    assert "NC (ABIDE) - NC (simulated)" not in pairs  # the same scans
    assert len(load_card(NETWORK)["likeness"]) == 6


def test_all_three_are_here_and_together_below_30_mb() -> None:
    assert NAMES == SHIPPED
    files = [file for name in NAMES for file in (pretrained_folder() / name).rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 30e6


@pytest.mark.parametrize("name", [*NAMES, *READOUTS])
def test_it_says_what_it_said_when_it_was_made(name: str) -> None:
    stored, found = json.loads(STORED.read_text())[name], predictions(name)
    assert found.keys() == stored.keys(), REMAKE
    for subject, probabilities in stored.items():
        assert found[subject] == pytest.approx(probabilities, abs=2e-4), REMAKE
        assert sum(found[subject].values()) == pytest.approx(1, abs=3e-4)


@pytest.mark.parametrize("name", NAMES)
def test_its_card_fits_what_it_is(name: str) -> None:
    card, ensemble = load_card(name), load_pretrained(name, "cpu")
    assert card["name"] == ensemble.name == name
    assert card["n_regions"] == ensemble.n_regions == load_atlas(card["atlas"]).n_regions
    assert card["n_parameters"] == sum(parameter.numel() for parameter in ensemble.members[0].parameters())
    assert len(ensemble.members) == len(card["temperatures"]) >= 5
    assert card["simulated"] == (name == "adsim-aal90") == card["headline"].startswith("Simulated")
    assert ensemble.simulated == card["simulated"]
    if card["results"]["BioBGT"]["auc"]["low"] <= 0.5:
        assert card["headline"].startswith("At or near chance")


@pytest.mark.parametrize("name", NAMES)
def test_its_card_holds_the_evaluation_that_lies_beside_it(name: str) -> None:
    file, rows = pretrained_folder() / name / "evaluation.csv", load_card(name)["evaluation"]
    if not file.exists():
        assert rows == []
        return
    means = pd.read_csv(file).groupby(["protocol", "model"])["auc"].mean()
    on_card = {(row["protocol"], row["model"]): row["auc"]["mean"] for row in rows}
    assert on_card == pytest.approx(means.to_dict(), abs=1e-4)


def test_missing_signal_and_shrinking_are_warned_of() -> None:
    loaded, cohort = load_pretrained("abide-cc200", "cpu"), demo_subjects("cc200")
    series = cohort.subjects[0].series
    silent = series * (np.arange(200) >= 20)
    shrunk = 0.5 * functional_connectivity(series) + 0.5 * np.eye(200)
    asked = (Subject("whole", series=series), Subject("silent", series=silent), Subject("shrunk", connectivity=shrunk))
    whole, without, nearer = loaded.predict(replace(cohort, subjects=asked))["warning"]
    assert whole == ""
    assert without.startswith("No signal in 20 regions (")
    assert nearer.startswith("mean |FC| 0.100 is outside 0.145 to 0.264")
    assert "its connectivity pattern is closer to the training mean than that of 99.5 %" in nearer


def test_noise_is_not_taken_for_autism() -> None:
    cohort, rng = demo_cohort("asd", n_per_group=6), np.random.default_rng(0)

    def with_noise(subject: Subject) -> Subject:
        scores = (subject.series - subject.series.mean(axis=0)) / subject.series.std(axis=0)
        return replace(subject, series=scores + rng.standard_normal(scores.shape))

    noisy = replace(cohort, subjects=tuple(with_noise(subject) for subject in cohort))
    loaded = load_pretrained("abide-cc200", "cpu")
    change = loaded.predict(noisy)["p_ASD"] - loaded.predict(cohort)["p_ASD"]
    assert abs(change.mean()) < 0.05  # weights before the noise direction was removed: 0.23, and all of them upwards
    assert (change > 0).any()
    assert (change < 0).any()


@pytest.mark.parametrize("name", ["abide-cc200", "cni-adhd-cc200"])
def test_its_mean_probability_is_steady_under_noise_out_of_fold(name: str) -> None:
    patient = load_card(name)["groups"][1]
    curve = {row["sd"]: row["probability"][patient] for row in load_card(name)["noise"]}
    assert curve.keys() == {0.0, 0.25, 0.5, 1.0, 2.0, None}
    assert all(abs(probability - curve[0.0]) < 0.06 for probability in curve.values())


@pytest.mark.parametrize("name", NAMES)
def test_its_group_results_are_whole(name: str) -> None:
    card, groups = load_card(name), load_groups(name)
    assert groups.n == card["data"]["subjects"]
    for group in card["groups"]:
        np.testing.assert_allclose(groups.attention[group].sum(axis=-1), 1, atol=0.02)  # kept in half precision
    assert np.bincount(groups.labels).tolist() == list(groups.n.values())
    np.testing.assert_allclose(groups.probabilities.sum(axis=1), 1, atol=1e-5)
    assert not groups.tests.empty


RESEAL = "bind the card again with biobgt.training.cards._seal_card(folder)"


@pytest.mark.parametrize("name", NAMES)
def test_its_card_is_bound_to_its_atlas_and_to_the_files_beside_it(name: str) -> None:
    card, folder = load_card(name), pretrained_folder() / name
    assert card["atlas_fingerprint"] == load_atlas(card["atlas"]).fingerprint, RESEAL
    assert card["files"] == {file: sha256(folder / file) for file in ("groups.npz", "spread.npz", "tests.csv")}, RESEAL


def test_an_own_atlas_named_like_a_bundled_one_is_refused_with_what_differs(tmp_path: Path) -> None:
    ensemble = load_pretrained("adsim-aal90", "cpu")
    cohort = demo_cohort("ad", n_per_group=1)
    table = cohort.atlas.table()[["x", "y", "z"]].assign(label=cohort.atlas.regions)
    table.to_csv(tmp_path / "aal90.csv", index=False)
    ensemble.check(replace(cohort, atlas=read_atlas(tmp_path / "aal90.csv")))  # the same regions, in the same order
    table.iloc[::-1].to_csv(tmp_path / "aal90.csv", index=False)
    other = replace(cohort, atlas=read_atlas(tmp_path / "aal90.csv"))
    assert (other.atlas.name, other.atlas.n_regions) == ("aal90", 90)
    with pytest.raises(InputError, match="another order: region 1 is 'Temporal_Inf_R' instead of 'Precentral_L'"):
        ensemble.predict(other)
    table.assign(x=table["x"] + 3 * (table.index == 7)).to_csv(tmp_path / "aal90.csv", index=False)
    with pytest.raises(InputError, match=r"region 7, 'Frontal_Mid_L', lies at \(.* mm instead of"):
        ensemble.predict(replace(cohort, atlas=read_atlas(tmp_path / "aal90.csv")))
