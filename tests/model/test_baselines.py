"""The linear models beside the transformer, and how ridge margins become logits."""

import numpy as np
import pytest
from planted_cohort import planted_cohort
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV

from biobgt.model.benchmark.linear import PENALTIES, LinearBaseline, LinearFeatures
from biobgt.model.calibration import margins_to_logits
from biobgt.model.inputs import correlations


def _matrices(groups: int) -> tuple[np.ndarray, np.ndarray]:
    cohort = planted_cohort(24, difference=0.1, groups=groups, seed=3)
    return np.stack([correlations(subject) for subject in cohort]), np.arange(groups).repeat(24)


@pytest.mark.parametrize("features", ["fisher-z", "tangent", "log"])
def test_two_groups_are_scikit_learns_ridge_classifier_up_to_a_scale(features: LinearFeatures) -> None:
    matrices, groups = _matrices(2)
    train = np.arange(48) % 4 > 0
    model = LinearBaseline(features).fit(matrices[train], groups[train])
    vectors = model._vectors(matrices) - model.mean_
    alphas = PENALTIES * np.square(vectors[train]).sum(axis=1).mean()
    expected = RidgeClassifierCV(alphas=alphas).fit(vectors[train], groups[train])
    assert model.model_.alpha_ == pytest.approx(expected.alpha_)
    logits = model.logits(matrices[~train])
    scale = model.map_[0][0, 0]
    assert scale > 0
    np.testing.assert_allclose(logits[:, 1], scale * expected.decision_function(vectors[~train]), atol=1e-8)
    np.testing.assert_allclose(logits[:, 0], -logits[:, 1], atol=1e-8)


def test_margins_of_cross_validation_are_of_subjects_left_out() -> None:
    """Fitted to labels by lot, margins that had seen their own subject would ask for a large scale."""
    matrices, _ = _matrices(2)
    scales = [
        LinearBaseline("fisher-z").fit(matrices, np.random.default_rng(seed).permutation(48) % 2).map_[0][0, 0]
        for seed in range(6)
    ]
    assert np.median(scales) < 0.5


def test_the_middle_of_three_ordered_groups_is_not_masked() -> None:
    rng = np.random.default_rng(0)
    groups = np.arange(3).repeat(200)
    where = (groups + rng.normal(scale=0.35, size=600))[:, None]
    targets = 2.0 * np.eye(3)[groups] - 1
    design = np.hstack([np.ones((600, 1)), where])
    margins = design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    masked = margins.argmax(axis=1)
    assert (masked == 1).mean() < 0.05
    matrix, offset = margins_to_logits(margins, groups)
    logits = margins @ matrix.T + offset
    right = (logits.argmax(axis=1) == groups).mean()
    best = LogisticRegression(C=np.inf).fit(where, groups).score(where, groups)
    assert right > best - 0.01 > (masked == groups).mean() + 0.1


def test_chance_never_turns_the_margin_of_two_groups_round() -> None:
    groups = np.array([0, 0, 1, 1])
    wrong = np.array([[-1.0, 1.0], [-0.5, 0.5], [1.0, -1.0], [0.5, -0.5]])
    matrix, offset = margins_to_logits(wrong, groups)
    assert 0 < matrix[0, 0] < 0.06
    np.testing.assert_array_equal(matrix, matrix[0, 0] * np.eye(2))
    np.testing.assert_array_equal(offset, 0)
