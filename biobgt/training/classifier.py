"""BioBGT as a scikit-learn classifier: fit, predict, explain, cross-validate, put in a pipeline.

A stratified part of the training subjects is held back to choose the epoch and, where it is large enough, to fit the
temperature, without touching anyone who is tested.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort, Subject, person_of
from biobgt.data.graph import check_connectivity
from biobgt.model.ensemble import Ensemble, SubjectExplanation
from biobgt.model.inputs import prepare
from biobgt.model.presets import OWN_PRESET, Preset, choose_device, preset_named
from biobgt.training.metrics import calibrated, fit_temperature
from biobgt.training.trainer import predict_logits, train_model

_Brains = Cohort | Sequence[Subject] | ArrayLike
_FEWEST_TO_CALIBRATE = 30  # a handful, all right or all wrong, would ask for certainty or for no opinion


class BioBGTClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Classify connectomes.

    Parameters
    ----------
    preset : str or Preset
        How the model is built and trained: one of :data:`biobgt.model.PRESETS`, or one's own.
    device : str
        ``auto``, ``cpu`` or ``cuda``.
    seed : int
        Of the held-back part, the weights, the order of subjects and the dropout.
    validation_share : float
        Share of the persons held back in each group, at least one of each. Fewer than 30 subjects choose the epoch, and
        the temperature stays at 1: the model's own logits, scaled by leave-one-out with the preset ``best``.
    epochs : int, optional
        Epochs at most, where not the preset's.

    Attributes
    ----------
    classes_ : ndarray, shape (n_groups,)
        Groups in sorted order, as everywhere in scikit-learn.
    ensemble_ : Ensemble
        The trained model with its temperature.
    validation_ : ndarray of int
        Positions of the subjects that were held back.
    n_features_in_ : int
        Number of regions.
    """

    def __init__(
        self,
        preset: str | Preset = OWN_PRESET,
        device: str = "auto",
        seed: int = 0,
        validation_share: float = 0.1,
        epochs: int | None = None,
    ) -> None:
        self.preset = preset
        self.device = device
        self.seed = seed
        self.validation_share = validation_share
        self.epochs = epochs

    def fit(self, X: _Brains, y: ArrayLike | None = None) -> "BioBGTClassifier":
        """Train.

        Parameters
        ----------
        X : Cohort, sequence of Subject, or array-like of shape (n_subjects, n_regions, n_regions)
            Matrices are Pearson correlations.
        y : array-like, shape (n_subjects,), optional
            Groups; without them, the subjects' own.
        """
        subjects, device = _subjects(X), choose_device(self.device)
        groups = np.array([subject.group for subject in subjects]) if y is None else np.asarray(y)
        if y is None and (nameless := [subject.id for subject in subjects if subject.group is None]):
            raise InputError(f"Subject '{nameless[0]}' has no group; give the groups as y, or leave it out.")
        if groups.shape != (len(subjects),):
            raise InputError(f"{len(subjects)} subjects need as many groups, not an array of shape {groups.shape}.")
        self.classes_, labels = np.unique(groups, return_inverse=True)
        preset = self.preset if isinstance(self.preset, Preset) else preset_named(self.preset)
        preset = preset if self.epochs is None else replace(preset, epochs=self.epochs)
        training, validation = self._hold_back(labels, [person_of(subject.id) for subject in subjects])
        graphs, known = prepare(subjects, preset), torch.tensor(labels)
        learned, held = ((graphs[torch.tensor(rows)], known[torch.tensor(rows)]) for rows in (training, validation))
        model = train_model(learned, held, preset, n_groups=len(self.classes_), seed=self.seed, device=device)
        held_back = predict_logits(model, held[0], device=device).double().numpy()
        self.validation_, self.n_features_in_ = validation, subjects[0].n_regions
        self.ensemble_ = Ensemble(
            name=preset.name,
            preset=preset,
            atlas=X.atlas.name if isinstance(X, Cohort) else "",
            groups=tuple(str(group) for group in self.classes_),
            members=(model,),
            temperatures=(
                fit_temperature(held_back, labels[validation]) if len(validation) >= _FEWEST_TO_CALIBRATE else 1.0,
            ),
            device=device,
            atlas_fingerprint=X.atlas.fingerprint if isinstance(X, Cohort) else "",
        )
        return self

    def predict_proba(self, X: _Brains) -> NDArray[np.float64]:
        """Calibrated probabilities, shape (n_subjects, n_groups), in the order of ``classes_``."""
        subjects = self._fitting(X)
        model, temperature = self.ensemble_.members[0], self.ensemble_.temperatures[0]
        graphs = prepare(subjects, self.ensemble_.preset)
        logits = predict_logits(model, graphs, device=self.ensemble_.device)
        return calibrated(logits.double().numpy(), temperature)

    def predict(self, X: _Brains) -> NDArray[Any]:
        """The most probable group of each subject, shape (n_subjects,)."""
        most_probable = self.predict_proba(X).argmax(axis=1)  # first: it refuses where nothing was fitted
        return np.asarray(self.classes_[most_probable])

    def explain(self, X: _Brains) -> SubjectExplanation:
        """Probabilities with the attention of every layer and head, embeddings, NE and modules."""
        subjects = self._fitting(X)
        return self.ensemble_.explain(subjects)

    def _hold_back(
        self, labels: NDArray[np.int64], persons: Sequence[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows to train on and rows held back; all recordings of a person are on one side."""
        if not 0 < self.validation_share < 1:
            raise InputError(f"The share held back is between 0 and 1, not {self.validation_share}.")
        names = np.array(persons)
        of_group = [list(dict.fromkeys(names[labels == group].tolist())) for group in range(len(self.classes_))]
        if len(of_group) < 2 or min(map(len, of_group)) < 2:
            told = ", ".join(f"{len(own)} of {group}" for group, own in zip(self.classes_, of_group, strict=True))
            raise InputError(f"Training needs at least two groups with two subjects each, and there are {told}.")
        rng = np.random.default_rng(self.seed)
        held: set[str] = set()
        for own in of_group:
            n_held = max(1, min(round(self.validation_share * len(own)), len(own) - 1))
            held |= set(rng.permutation(own)[:n_held].tolist())
        validates = np.isin(names, list(held))
        if len(np.unique(labels[~validates])) < len(of_group):
            raise InputError("Too few persons are in one group only to hold some back and train on all groups.")
        return np.flatnonzero(~validates), np.flatnonzero(validates)

    def _fitting(self, X: _Brains) -> list[Subject]:
        """The subjects, where the model can be asked about them."""
        check_is_fitted(self, "ensemble_")
        subjects = _subjects(X)
        if isinstance(X, Cohort) and self.ensemble_.atlas:
            self.ensemble_.check(X)
        if wrong := [one for one in subjects if one.n_regions != self.ensemble_.n_regions]:
            raise InputError(
                f"Subject '{wrong[0].id}' has {wrong[0].n_regions} regions, and the model was fitted on "
                f"{self.ensemble_.n_regions}."
            )
        return subjects

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags


def _subjects(X: _Brains) -> list[Subject]:
    if isinstance(X, Cohort):
        return list(X.subjects)
    given: list[Any] = list(X)  # type: ignore[arg-type]  # array-like: a matrix a subject
    if not given:
        raise InputError("There is no subject.")
    if isinstance(given[0], Subject):
        return given
    return [
        Subject(f"subject {number}", connectivity=check_connectivity(matrix, what=f"The matrix of subject {number}"))
        for number, matrix in enumerate(given, start=1)
    ]
