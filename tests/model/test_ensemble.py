"""Members that vote: whom they cannot be asked about, of whom to beware, whom they were trained on."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from planted_cohort import ATLAS, N_REGIONS, planted_cohort

import biobgt.model.ensemble
from biobgt.base.errors import ChoiceNeeded, InputError
from biobgt.base.wording import KNOWN_ID, is_trained_on
from biobgt.data.cohort import ATLAS_BY_COUNT, ATLAS_DECIDED_BY, Cohort, Source, Subject
from biobgt.data.connectivity import functional_connectivity
from biobgt.data.edits import confirm_atlas
from biobgt.model.ensemble import OF_SIMULATED, TRAINED_ON, Ensemble
from biobgt.model.inputs import correlations
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.model.out_of_distribution import (
    TrainingRanges,
    fingerprints,
    id_hashes,
    read_hashes,
    recognised,
    scan_measures,
)


@pytest.fixture(scope="module")
def ensemble(cohort: Cohort, graphs: GraphBatch, members: tuple[BioBGT, ...]) -> Ensemble:
    ranges = TrainingRanges.of(members[0], graphs, map(scan_measures, cohort))
    about = {"ranges": ranges, "atlas_fingerprint": ATLAS.fingerprint}
    return Ensemble("m", members[0].preset, ATLAS.name, ("NC", "ASD"), members, (1.0, 2.0), **about)


def test_the_number_of_regions_alone_is_not_enough_to_predict(ensemble: Ensemble, cohort: Cohort) -> None:
    """The atlas is asked about, and once the user has confirmed it the same subjects are predicted."""
    source = Source("s.csv", 1, "0", "csv", {ATLAS_DECIDED_BY: ATLAS_BY_COUNT})
    guessed = Cohort("guessed", tuple(replace(one, source=source) for one in cohort.subjects[:1]), ATLAS)
    with pytest.raises(ChoiceNeeded) as caught:
        ensemble.predict(guessed)
    assert caught.value.option == "atlas"
    assert caught.value.choices == (ATLAS.name, "unknown")
    assert "was decided by the number of regions alone" in caught.value.question
    assert len(ensemble.predict(confirm_atlas(guessed))) == 1
    named = replace(source, options={ATLAS_DECIDED_BY: "the region names"})
    assert len(ensemble.predict(Cohort("named", (replace(cohort.subjects[0], source=named),), ATLAS))) == 1


def _z_matrix(name: str) -> Subject:
    """A matrix as many bring it: Fisher z, with values beyond 1."""
    return Subject(name, connectivity=np.full((N_REGIONS, N_REGIONS), 1.5))


def test_quality_flags_reach_the_prediction(ensemble: Ensemble, cohort: Cohort) -> None:
    silent = cohort.subjects[0].series.copy()
    silent[:, 3] = 0
    noise = np.random.default_rng(0).standard_normal((120, N_REGIONS))
    asked = (cohort.subjects[0], Subject("silent", series=silent), Subject("noise", series=noise))
    plain, without, pure = replace(ensemble, ranges=None).predict(Cohort("c", asked, ATLAS))["warning"]
    assert plain == "80 time points; fewer than 100 are unreliable"
    assert without == f"{plain}; No signal in 1 region (R4); connected to nothing"
    assert pure.startswith("Mean |FC| 0.0")
    assert pure.endswith("close to that of independent noise")


def test_a_mean_of_people_is_nearer_to_the_mean_than_anybody(ensemble: Ensemble, cohort: Cohort) -> None:
    matrices = [functional_connectivity(one.series) for one in cohort]
    asked = (Subject("one", connectivity=matrices[0]), Subject("mean", connectivity=np.mean(matrices, axis=0)))
    one, mean = ensemble.predict(Cohort("c", asked, ATLAS))["warning"]
    assert "closer" not in one
    assert "its connectivity pattern is closer to the training mean" in mean


def test_a_bad_subject_does_not_keep_the_others_from_their_prediction(ensemble, cohort, monkeypatch):
    monkeypatch.setattr(biobgt.model.ensemble, "_AT_ONCE", 2)  # the first part has nobody to predict
    edgeless = Subject("edgeless", connectivity=np.eye(N_REGIONS))
    mixed = (_z_matrix("z"), edgeless, cohort.subjects[0], _z_matrix("z2"), cohort.subjects[9])
    told: list[tuple[int, int]] = []
    table = ensemble.predict(Cohort("mixed", mixed, ATLAS), progress=lambda done, total: told.append((done, total)))
    assert table["subject"].tolist() == ["z", "edgeless", "NC-0", "z2", "ASD-1"]
    alone = ensemble.predict(Cohort("alone", (mixed[2], mixed[4]), ATLAS))
    good = table.iloc[[2, 4]].reset_index(drop=True)
    np.testing.assert_allclose(good[["p_NC", "p_ASD"]], alone[["p_NC", "p_ASD"]], atol=1e-6)
    assert good[["prediction", "warning"]].equals(alone[["prediction", "warning"]])
    bad = table.iloc[[0, 1, 3]]
    assert bad[["p_NC", "p_ASD"]].isna().all(axis=None)
    assert bad["prediction"].tolist() == ["", "", ""]
    assert [words.split("'")[1] for words in bad["warning"]] == ["z", "edgeless", "z2"]
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_nobody_to_predict_is_refused(ensemble: Ensemble) -> None:
    with pytest.raises(InputError, match="Subject 'z' has a matrix with values beyond ±1"):
        ensemble.predict(Cohort("bad", (_z_matrix("z"), _z_matrix("z2")), ATLAS, given="functional"))


def test_a_simulated_model_says_so_of_everyone(ensemble: Ensemble, cohort: Cohort) -> None:
    short = Subject("short", series=cohort.subjects[0].series[:40])
    asked = Cohort("c", (*cohort.subjects[:4], short), ATLAS)
    before = ensemble.predict(asked)["warning"]
    assert "40 time points" in before[4]
    expected = [f"{OF_SIMULATED}; {own}" if own else OF_SIMULATED for own in before]
    assert replace(ensemble, simulated=True).predict(asked)["warning"].tolist() == expected


def test_explain_gives_maps_and_each_members_embeddings(ensemble: Ensemble, cohort: Cohort, graphs: GraphBatch) -> None:
    seen = ensemble.explain(cohort.subjects[:3])
    with torch.no_grad():
        own = [member.explain(graphs[:3]) for member in ensemble.members]
    assert seen.embeddings.shape == (2, 3, N_REGIONS, ensemble.preset.width)
    for found, member in zip(seen.embeddings, own, strict=True):
        np.testing.assert_allclose(found, member.embeddings, atol=1e-5)
    assert not np.allclose(seen.embeddings[0], seen.embeddings[1]), "spaces of their own"
    assert [(one.layer, one.head) for one in seen.attention_maps] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for number, one in enumerate(seen.attention_maps):
        mean = sum(member.attention[number].weights for member in own) / 2
        np.testing.assert_allclose(one.weights, mean, atol=1e-6)
    whole, layer, head = (seen.attention_map(**part) for part in ({}, {"layer": 1}, {"head": 0}))
    assert [(one.layer, one.head) for one in (whole, layer, head)] == [(None, None), (1, None), (None, 0)]
    np.testing.assert_allclose(whole.weights, seen.attention.mean(axis=(1, 2)), atol=1e-6)
    np.testing.assert_allclose(layer.weights, seen.attention[:, 1].mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(head.weights, seen.attention[:, :, 0].mean(axis=1), atol=1e-6)
    with pytest.raises(InputError, match="There is no layer 3; this model has 2"):
        seen.attention_map(layer=2)


def test_the_same_scan_rounded_is_recognised_and_others_are_not() -> None:
    matrices = torch.from_numpy(np.stack([correlations(subject) for subject in planted_cohort(20)]))
    known = fingerprints(matrices[:30])
    assert recognised(matrices.float().mul(1e4).round().div(1e4), known) == [True] * 30 + [False] * 10


def test_a_fingerprint_is_sums_with_signs() -> None:
    one, other = torch.eye(6)[None].clone(), torch.eye(6)[None].clone()
    other[0, 2, 4] = other[0, 4, 2] = 0.5
    moved = (fingerprints(other) - fingerprints(one)).abs()
    torch.testing.assert_close(moved, torch.full((1, 32), 0.5 / 15**0.5))


def test_prediction_says_whose_scan_or_id_was_trained_on(ensemble, cohort, graphs) -> None:
    """The scans of the first two and the ids of the first three."""
    trained = {"trained_on": fingerprints(graphs.features[:2]), "trained_ids": id_hashes(cohort.ids[:3], "salt")}
    knowing = replace(ensemble, ranges=None, id_salt="salt", **trained)
    real, invented = (
        replace(cohort, subjects=tuple(replace(one, simulated=simulated) for one in cohort.subjects[:8]))
        for simulated in (False, True)
    )
    said = knowing.predict(real)["warning"]  # they are short, too, which is another warning
    assert [TRAINED_ON in warning.split("; ") for warning in said] == [True] * 2 + [False] * 6
    assert [KNOWN_ID in one for one in said] == [False] * 2 + [True] + [False] * 5
    assert [is_trained_on(one) for one in said] == [True] * 3 + [False] * 5
    assert not any(KNOWN_ID in one for one in knowing.predict(invented)["warning"])
    as_matrix = Subject("again", connectivity=correlations(cohort.subjects[0]))
    assert knowing.predict(Cohort("folder", (as_matrix,), ATLAS))["warning"].tolist() == [TRAINED_ON]


def test_an_id_is_known_in_all_its_spellings_and_of_no_other_model() -> None:
    known = id_hashes(["CMU_a_0050642", "sub-044"], "salt")
    for same in ("cmu_a_0050642", "CMU_a_0050642_ses-2_run-1", "50642", "sub-0050642", "sub-044_ses-1"):
        assert known & id_hashes([same], "salt"), same
    for other in ("sub-045", "44", "CMU_a_0050643", "1050642"):
        assert not known & id_hashes([other], "salt"), other
    assert not known & id_hashes(["sub-044"], "another model's salt")
    written = "".join(sorted(known))
    assert read_hashes(written) == known
    assert len(written) == 18, "24 bits of an id, a number, and an id; and nothing of them in clear"
