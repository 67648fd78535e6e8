"""A scan that a model was trained on is recognised, whatever file it comes from, and no other is."""

import numpy as np
import torch
from planted_cohort import planted_cohort, small

from biobgt.cohort import Cohort, Subject
from biobgt.model.ensemble import TRAINED_ON, Ensemble
from biobgt.model.fingerprint import fingerprints, recognised
from biobgt.model.inputs import correlations, prepare
from biobgt.model.transformer import BioBGT


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
        "m", preset, "planted16", ("NC", "ASD"), (member,), (1.0,), trained_on=fingerprints(graphs.features[:3])
    )
    warnings = ensemble.predict(cohort)["warning"]  # they are short, too, which is another warning
    assert [TRAINED_ON in warning.split("; ") for warning in warnings] == [True] * 3 + [False] * 5
    as_matrix = Subject("again", connectivity=correlations(cohort.subjects[0]))
    again = ensemble.predict(Cohort("folder", (as_matrix,), cohort.atlas))
    assert again["warning"].tolist() == [TRAINED_ON]
