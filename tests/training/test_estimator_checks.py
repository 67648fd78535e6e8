"""scikit-learn's own checks of an estimator.

``check_estimator`` makes two-dimensional data for nearly all of its checks, and says that it cannot test an estimator
of three-dimensional input, here one matrix per subject. The checks that need no data are run by name, and what the
others ask of ``fit`` and ``predict`` is asked of matrices.
"""

from copy import deepcopy

import numpy as np
import pytest
from planted_cohort import planted_cohort, small
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import cross_val_score
from sklearn.utils import estimator_checks

from biobgt.data.connectivity import cohort_connectivity
from biobgt.training.classifier import BioBGTClassifier

PRESET = small("best")
FITTED = {"classes_", "ensemble_", "n_features_in_", "validation_"}
NEED_NO_DATA = (
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)


@pytest.fixture(scope="module")
def matrices():
    cohort = planted_cohort(8)
    return cohort_connectivity(cohort), np.array([subject.group for subject in cohort])


@pytest.fixture(scope="module")
def fitted(matrices):
    return BioBGTClassifier(PRESET, device="cpu", epochs=1).fit(*matrices)


def test_check_estimator_passes_what_it_can_test():
    with pytest.warns(SkipTestWarning, match="three_d_array=True"):
        found = estimator_checks.check_estimator(BioBGTClassifier(PRESET, device="cpu", epochs=1))
    assert {one["status"] for one in found} == {"passed"}


@pytest.mark.parametrize("check", NEED_NO_DATA)
def test_checks_without_data_pass(check):
    getattr(estimator_checks, check)("BioBGTClassifier", BioBGTClassifier(PRESET, device="cpu", epochs=1))


def test_fit_returns_itself_changes_no_parameter_and_repeats(matrices, fitted):
    given, groups = matrices[0].copy(), matrices[1].copy()
    again = BioBGTClassifier(PRESET, device="cpu", epochs=1)
    before = again.get_params()
    assert again.fit(given, groups) is again
    assert again.get_params() == before
    np.testing.assert_array_equal(given, matrices[0])
    np.testing.assert_array_equal(again.predict_proba(given), fitted.predict_proba(given))
    assert set(vars(again)) - set(before) == FITTED


def test_predictions_have_the_shapes_and_classes_of_a_classifier(matrices, fitted):
    probabilities = fitted.predict_proba(matrices[0])
    assert probabilities.shape == (len(matrices[0]), len(fitted.classes_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.predict(matrices[0]), fitted.classes_[probabilities.argmax(axis=1)])
    np.testing.assert_allclose(fitted.predict_proba(matrices[0][:3]), probabilities[:3], atol=1e-6)
    order = np.random.default_rng(0).permutation(len(probabilities))
    np.testing.assert_allclose(fitted.predict_proba(matrices[0][order]), probabilities[order], atol=1e-6)
    assert fitted.n_features_in_ == matrices[0].shape[2]


def test_without_fit_it_says_so_and_with_it_survives_a_copy(matrices, fitted):
    for method in ("predict", "predict_proba", "explain"):
        with pytest.raises(NotFittedError):
            getattr(clone(fitted), method)(matrices[0])
    copied = deepcopy(fitted)
    np.testing.assert_array_equal(copied.predict_proba(matrices[0]), fitted.predict_proba(matrices[0]))


def test_it_is_cross_validated_like_any_other(matrices):
    scores = cross_val_score(BioBGTClassifier(PRESET, device="cpu", epochs=1), *matrices, cv=2, error_score="raise")
    assert scores.shape == (2,)
    assert ((scores >= 0) & (scores <= 1)).all()
