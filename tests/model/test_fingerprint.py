"""A scan that a model was trained on is recognised, whatever file it comes from, and so is an id; no other is."""

from dataclasses import replace

import numpy as np
import torch
from planted_cohort import planted_cohort, small

from biobgt.base.wording import KNOWN_ID, is_trained_on
from biobgt.data.cohort import Cohort, Subject
from biobgt.model.ensemble import TRAINED_ON, Ensemble, fingerprints, id_hashes, read_hashes, recognised, written_hashes
from biobgt.model.inputs import correlations, prepare
from biobgt.model.network import BioBGT


def _matrices(cohort: Cohort) -> torch.Tensor:
    return torch.from_numpy(np.stack([correlations(subject) for subject in cohort]))


def test_the_same_scan_rounded_is_recognised_and_others_are_not() -> None:
    matrices = _matrices(planted_cohort(20))
    known = fingerprints(matrices[:30])
    assert recognised(matrices.float().mul(1e4).round().div(1e4), known) == [True] * 30 + [False] * 10


def test_a_fingerprint_is_sums_with_signs() -> None:
    one, other = torch.eye(6)[None].clone(), torch.eye(6)[None].clone()
    other[0, 2, 4] = other[0, 4, 2] = 0.5
    moved = (fingerprints(other) - fingerprints(one)).abs()
    torch.testing.assert_close(moved, torch.full((1, 32), 0.5 / 15**0.5))


def test_prediction_says_who_was_trained_on() -> None:
    cohort, preset = planted_cohort(4), small("best")
    graphs = prepare(cohort.subjects, preset)
    member = BioBGT(preset, n_regions=16, n_groups=2).eval()
    ensemble = Ensemble(
        *("m", preset, "planted16", ("NC", "ASD"), (member,), (1.0,)),
        trained_on=fingerprints(graphs.features[:3]),
        atlas_fingerprint=cohort.atlas.fingerprint,
    )
    warnings = ensemble.predict(cohort)["warning"]  # they are short, too, which is another warning
    assert [TRAINED_ON in warning.split("; ") for warning in warnings] == [True] * 3 + [False] * 5
    as_matrix = Subject("again", connectivity=correlations(cohort.subjects[0]))
    again = ensemble.predict(Cohort("folder", (as_matrix,), cohort.atlas))
    assert again["warning"].tolist() == [TRAINED_ON]


def test_an_id_is_known_in_all_its_spellings_and_of_no_other_model() -> None:
    known = id_hashes(["CMU_a_0050642", "sub-044"], "salt")
    for same in ("cmu_a_0050642", "CMU_a_0050642_ses-2_run-1", "50642", "sub-0050642", "sub-044_ses-1"):
        assert known & id_hashes([same], "salt"), same
    for other in ("sub-045", "44", "CMU_a_0050643", "1050642"):
        assert not known & id_hashes([other], "salt"), other
    assert not known & id_hashes(["sub-044"], "another model's salt")
    assert read_hashes(written_hashes(known)) == known
    assert len(written_hashes(known)) == 18, "24 bits of an id, a number, and an id; and nothing of them in clear"


def test_prediction_says_whose_id_was_trained_on() -> None:
    cohort, preset = planted_cohort(4), small("best")
    graphs = prepare(cohort.subjects, preset)
    member = BioBGT(preset, n_regions=16, n_groups=2).eval()
    ids = [subject.id for subject in cohort.subjects[:3]]
    ensemble = Ensemble(
        *("m", preset, "planted16", ("NC", "ASD"), (member,), (1.0,)),
        trained_on=fingerprints(graphs.features[:2]),
        atlas_fingerprint=cohort.atlas.fingerprint,
        trained_ids=id_hashes(ids, "salt"),
        id_salt="salt",
    )
    real = [replace(subject, simulated=False) for subject in cohort]
    said = ensemble.predict(replace(cohort, subjects=tuple(real)))["warning"]
    assert [KNOWN_ID in one for one in said] == [False] * 2 + [True] + [False] * 5
    assert [is_trained_on(one) for one in said] == [True] * 3 + [False] * 5
    invented = [replace(subject, simulated=True) for subject in cohort]
    said = ensemble.predict(replace(cohort, subjects=tuple(invented)))["warning"]
    assert not any(KNOWN_ID in one for one in said)
