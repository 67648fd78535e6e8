"""BioBGT as scikit-learn sees it.

``check_estimator`` makes two-dimensional data for nearly all of its checks, and says that it cannot test an estimator
of three-dimensional input, here one matrix per subject. The checks that need no data are run by name, and what the
others ask of ``fit`` and ``predict`` is asked of matrices.
"""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from planted_cohort import planted_cohort, small
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import cohort_connectivity
from biobgt.model.inputs import prepare
from biobgt.training import BioBGTClassifier
from biobgt.training.metrics import calibrated, fit_temperature
from biobgt.training.trainer import predict_logits

PRESET = small("best")
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
def planted() -> Cohort:
    return planted_cohort(24)


@pytest.fixture(scope="module")
def matrices(planted: Cohort) -> np.ndarray:
    return cohort_connectivity(planted)


@pytest.fixture(scope="module")
def groups(planted: Cohort) -> np.ndarray:
    return np.array([subject.group for subject in planted])


@pytest.fixture
def model() -> BioBGTClassifier:
    return BioBGTClassifier(PRESET, device="cpu", validation_share=0.25)


@pytest.fixture(scope="module")
def fitted(planted: Cohort) -> BioBGTClassifier:
    return BioBGTClassifier(PRESET, device="cpu", validation_share=0.25).fit(planted)


def test_check_estimator_passes_what_it_can_test(model: BioBGTClassifier) -> None:
    with pytest.warns(SkipTestWarning, match="three_d_array=True"):
        found = estimator_checks.check_estimator(model)
    assert {one["status"] for one in found} == {"passed"}
    for check in NEED_NO_DATA:
        getattr(estimator_checks, check)("BioBGTClassifier", clone(model))


def test_cross_validate_finds_the_planted_signal(
    model: BioBGTClassifier, planted: Cohort, matrices: np.ndarray, groups: np.ndarray
) -> None:
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_validate(model, matrices, groups, cv=folds, scoring=["roc_auc", "accuracy"], error_score="raise")
    assert scores["test_roc_auc"].mean() > 0.9
    assert scores["test_accuracy"].mean() > 0.75
    of_series = cross_val_predict(model, list(planted), groups, cv=StratifiedKFold(2, shuffle=True, random_state=0))
    assert (of_series == groups).mean() > 0.75


def test_it_ends_a_pipeline(
    model: BioBGTClassifier, matrices: np.ndarray, groups: np.ndarray, fitted: BioBGTClassifier
) -> None:
    pipeline = make_pipeline(FunctionTransformer(np.tanh, check_inverse=False), model)
    z = np.arctanh(matrices * (1 - np.eye(16)))
    pipeline.fit(z, groups)
    assert pipeline.classes_.tolist() == ["ASD", "NC"]
    np.testing.assert_allclose(pipeline.predict_proba(z), fitted.predict_proba(matrices), atol=1e-4)


def test_a_clone_is_unfitted_and_fits_the_same_to_a_cohort_and_to_matrices(
    fitted: BioBGTClassifier, planted: Cohort, matrices: np.ndarray, groups: np.ndarray
) -> None:
    copy, other, given = clone(fitted), clone(fitted), matrices.copy()
    before = copy.get_params()
    assert before == fitted.get_params()
    for method in ("predict", "predict_proba", "explain"):
        with pytest.raises(NotFittedError):
            getattr(copy, method)(matrices)
    assert copy.fit(planted) is copy
    assert copy.get_params() == before
    assert set(vars(copy)) - set(before) == {"classes_", "ensemble_", "n_features_in_", "validation_"}
    expected = fitted.predict_proba(planted)
    np.testing.assert_array_equal(copy.predict_proba(planted), expected)
    np.testing.assert_array_equal(deepcopy(fitted).predict_proba(planted), expected)
    other.fit(given, groups)
    np.testing.assert_array_equal(given, matrices)
    assert other.classes_.tolist() == fitted.classes_.tolist()
    np.testing.assert_allclose(other.predict_proba(matrices), expected, atol=1e-5)
    assert (other.predict(matrices) == fitted.predict(planted)).all()


def test_predictions_have_the_shapes_and_classes_of_a_classifier(
    fitted: BioBGTClassifier, matrices: np.ndarray
) -> None:
    probabilities = fitted.predict_proba(matrices)
    assert probabilities.shape == (len(matrices), 2)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(fitted.predict(matrices), fitted.classes_[probabilities.argmax(axis=1)])
    np.testing.assert_allclose(fitted.predict_proba(matrices[:3]), probabilities[:3], atol=1e-6)
    order = np.random.default_rng(0).permutation(len(probabilities))
    np.testing.assert_allclose(fitted.predict_proba(matrices[order]), probabilities[order], atol=1e-6)
    assert fitted.n_features_in_ == matrices.shape[2]


def test_enough_subjects_held_back_fit_the_temperature_and_a_handful_does_not() -> None:
    cohort = planted_cohort(24, difference=0.05)
    for share, n_held in ((0.25, 6), (0.7, 17)):
        model = BioBGTClassifier(PRESET, device="cpu", validation_share=share).fit(cohort)
        logits = predict_logits(model.ensemble_.members[0], prepare(cohort.subjects, PRESET)).double().numpy()
        labels = np.array([model.classes_.tolist().index(subject.group) for subject in cohort])
        held = model.validation_
        assert np.bincount(labels[held]).tolist() == [n_held, n_held]
        fitted = fit_temperature(logits[held], labels[held])
        assert fitted != pytest.approx(1.0, abs=0.01)
        temperature = 1.0 if n_held == 6 else fitted
        np.testing.assert_allclose(model.predict_proba(cohort), calibrated(logits, temperature), atol=1e-6)


def test_persons_are_held_back_whole_and_of_every_group(planted: Cohort) -> None:
    ids = [f"{subject.group}{i // 2}_ses-{i % 2}" for i, subject in enumerate(planted)]
    named = [replace(subject, id=name) for subject, name in zip(planted, ids, strict=True)]
    few = [one for one in named if one.group == "NC"] + [one for one in named if one.group == "ASD"][:4]
    model = BioBGTClassifier(PRESET, device="cpu", validation_share=0.1, epochs=1).fit(few)
    held = {few[row].id for row in model.validation_}
    assert {name[:2] for name in held} == {"NC", "AS"}
    assert len({name.partition("_")[0] for name in held}) * 2 == len(held)


def test_explain_gives_attention_of_every_head(fitted: BioBGTClassifier, matrices: np.ndarray) -> None:
    seen = fitted.explain(matrices[:3])
    assert seen.attention.shape == (3, 1, 2, 16, 16)
    np.testing.assert_allclose(seen.attention.sum(axis=-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(seen.attention_map(layer=0, head=1).weights, seen.attention[:, 0, 1])
    assert seen.embeddings.shape == (1, 3, 16, PRESET.width)
    np.testing.assert_allclose(seen.probabilities, fitted.predict_proba(matrices[:3]), atol=1e-6)


def test_three_groups_and_numbered_labels() -> None:
    cohort = planted_cohort(6, groups=3)
    model = BioBGTClassifier(PRESET, device="cpu", validation_share=0.2, epochs=1).fit(cohort, np.repeat([7, 3, 5], 6))
    assert model.classes_.tolist() == [3, 5, 7]
    assert model.predict_proba(cohort).shape == (18, 3)
    assert set(model.predict(cohort)) <= {3, 5, 7}
    assert model.ensemble_.preset.epochs == 1


def test_bad_input_gets_a_sentence(fitted: BioBGTClassifier, matrices: np.ndarray, groups: np.ndarray) -> None:
    model = BioBGTClassifier(PRESET, device="cpu")
    refused = {
        "there are 4 of NC": (model, matrices[:4], groups[:4]),
        "need as many groups": (model, matrices[:4], groups[:3]),
        "shape \\(16,\\)": (model, matrices[0], groups[:16]),
        "no group": (model, matrices, None),
        "between 0 and 1": (BioBGTClassifier(PRESET, validation_share=1.5), matrices, groups),
        "no preset 'worst'": (BioBGTClassifier("worst"), matrices, groups),
    }
    for said, (asked, given, told) in refused.items():
        with pytest.raises(InputError, match=said):
            asked.fit(given, told)
    with pytest.raises(InputError, match="15 regions"):
        fitted.predict(matrices[:, :15, :15])
