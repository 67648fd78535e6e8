"""BioBGT as scikit-learn sees it."""

from dataclasses import replace

import numpy as np
import pytest
from planted_cohort import planted_cohort, small
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort
from biobgt.data.connectivity import cohort_connectivity
from biobgt.model.calibration import calibrated, fit_temperature
from biobgt.model.inputs import prepare
from biobgt.training import BioBGTClassifier
from biobgt.training.trainer import predict_logits

PRESET = small("best")


@pytest.fixture(scope="module")
def planted() -> Cohort:
    return planted_cohort(24)


@pytest.fixture(scope="module")
def matrices(planted: Cohort) -> np.ndarray:
    return cohort_connectivity(planted)


@pytest.fixture(scope="module")
def groups(planted: Cohort) -> np.ndarray:
    return np.array([subject.group for subject in planted])


@pytest.fixture(scope="module")
def fitted(planted: Cohort) -> BioBGTClassifier:
    return BioBGTClassifier(PRESET, device="cpu", validation_share=0.25).fit(planted)


def test_cross_validate_finds_the_planted_signal(matrices: np.ndarray, groups: np.ndarray) -> None:
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    model = BioBGTClassifier(PRESET, device="cpu", validation_share=0.25)
    scores = cross_validate(model, matrices, groups, cv=folds, scoring=["roc_auc", "accuracy"], error_score="raise")
    assert scores["test_roc_auc"].mean() > 0.9
    assert scores["test_accuracy"].mean() > 0.75


def test_cross_validation_takes_subjects_with_series(planted: Cohort, groups: np.ndarray) -> None:
    model = BioBGTClassifier(PRESET, device="cpu", validation_share=0.25)
    found = cross_val_predict(model, list(planted), groups, cv=StratifiedKFold(2, shuffle=True, random_state=0))
    assert (found == groups).mean() > 0.75


def test_it_ends_a_pipeline(matrices: np.ndarray, groups: np.ndarray, fitted: BioBGTClassifier) -> None:
    from_z = FunctionTransformer(np.tanh, check_inverse=False)
    pipeline = make_pipeline(from_z, BioBGTClassifier(PRESET, device="cpu", validation_share=0.25))
    z = np.arctanh(matrices * (1 - np.eye(16)))
    pipeline.fit(z, groups)
    assert pipeline.classes_.tolist() == ["ASD", "NC"]
    np.testing.assert_allclose(pipeline.predict_proba(z), fitted.predict_proba(matrices), atol=1e-4)


def test_a_clone_is_unfitted_and_the_same(fitted: BioBGTClassifier, planted: Cohort) -> None:
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "classes_")
    np.testing.assert_array_equal(copy.fit(planted).predict_proba(planted), fitted.predict_proba(planted))


def test_cohort_series_and_matrices_are_the_same_to_it(
    fitted: BioBGTClassifier, planted: Cohort, matrices: np.ndarray, groups: np.ndarray
) -> None:
    other = BioBGTClassifier(PRESET, device="cpu", validation_share=0.25).fit(matrices, groups)
    assert other.classes_.tolist() == fitted.classes_.tolist()
    np.testing.assert_allclose(other.predict_proba(matrices), fitted.predict_proba(planted), atol=1e-5)
    assert (other.predict(matrices) == fitted.predict(planted)).all()


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
    labels = np.repeat([7, 3, 5], 6)
    model = BioBGTClassifier(PRESET, device="cpu", validation_share=0.2, epochs=1).fit(cohort, labels)
    assert model.classes_.tolist() == [3, 5, 7]
    found = model.predict_proba(cohort)
    assert found.shape == (18, 3)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert set(model.predict(cohort)) <= {3, 5, 7}
    assert model.ensemble_.preset.epochs == 1


def test_bad_input_gets_a_sentence(fitted: BioBGTClassifier, matrices: np.ndarray, groups: np.ndarray) -> None:
    model = BioBGTClassifier(PRESET, device="cpu")
    with pytest.raises(InputError, match="two groups with two subjects each, and there are 4 of NC"):
        model.fit(matrices[:4], groups[:4])
    with pytest.raises(InputError, match="need as many groups"):
        model.fit(matrices[:4], groups[:3])
    with pytest.raises(InputError, match="shape \\(16,\\)"):
        model.fit(matrices[0], groups[:16])
    with pytest.raises(InputError, match="no group"):
        model.fit(matrices)
    with pytest.raises(InputError, match="between 0 and 1"):
        BioBGTClassifier(PRESET, validation_share=1.5).fit(matrices, groups)
    with pytest.raises(InputError, match="no preset 'worst'"):
        BioBGTClassifier("worst").fit(matrices, groups)
    with pytest.raises(InputError, match="15 regions, and the model was fitted on 16"):
        fitted.predict(matrices[:, :15, :15])
