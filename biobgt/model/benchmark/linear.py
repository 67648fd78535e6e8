"""Ridge, support vector machine and random forest on connectivity: the simple models beside every BioBGT.

``biobgt evaluate`` and ``biobgt train`` fit every object of :data:`BASELINES` on the splits of the model, and put its
results into their tables and on the model's card. These are ridge regressions: on Fisher z of the correlations, on the
tangent space at the training subjects' mean (from shrunk correlations, Ledoit-Wolf's strength), on the log-Euclidean
connectivity that the ``best`` preset reads. What a model claims becomes logits by :mod:`biobgt.model.calibration`, from
predictions of training subjects that were left out of a fit; the readout of BioBGT starts in the same way.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from biobgt.base.options import Registry
from biobgt.base.wording import listed
from biobgt.data.connectivity import fisher_z

LinearFeatures = Literal["fisher-z", "tangent", "log"]
PENALTIES = np.logspace(-2, 1, 13)  # of ridge, in units of the mean squared norm of a subject's features
_MACHINE_PENALTIES = np.logspace(-4, 0, 5)  # C of the machine, features having unit mean square
_FOLDS, _SEED = 5, 0


class BaselineModel(Protocol):
    """What a baseline's model can do; one with a method ``n_learnt`` also says how many numbers it learnt."""

    def fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64], /) -> object:
        """Fit on correlation matrices, shape (n_subjects, n_regions, n_regions), and numbers of groups."""

    def logits(self, matrices: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Return logits, shape (n_subjects, n_groups)."""


@dataclass(frozen=True)
class Baseline:
    """A simple model that BioBGT is compared with.

    Attributes
    ----------
    key : str
    title : str
        In tables, figures and on cards.
    build : callable
        Makes a model that is not fitted yet; ``shrinkage`` is that of the preset's log-Euclidean connectivity.
    family : str
        What kind of model it is, an adjective such as "linear"; stands before the key in tables of results.
    shrunk : bool
        Whether it takes Ledoit-Wolf correlations, which need series, instead of Pearson's.
    citations : tuple of str
    system : str
        Its key in ``biobgt benchmark``, where that is another.
    """

    key: str
    title: str
    build: Callable[[float], BaselineModel]
    family: str = "linear"
    shrunk: bool = False
    citations: tuple[str, ...] = ()
    system: str = ""

    @property
    def name(self) -> str:
        """Its name in tables of results, such as ``linear log``."""
        return f"{self.family} {self.key}"


class _Margins(ABC):
    """A model of scikit-learn's whose claims, a column per group, become logits."""

    model_: Any
    map_: tuple[NDArray[np.float64], NDArray[np.float64]]

    def fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> "_Margins":
        """Fit on correlation matrices, shape (n_subjects, n_regions, n_regions), and numbers of groups."""
        from biobgt.model.calibration import margins_to_logits  # brings SciPy, which listing baselines does not need

        self.map_ = margins_to_logits(self._fit(matrices, groups), groups)
        return self

    def logits(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return logits, shape (n_subjects, n_groups)."""
        matrix, offset = self.map_
        return np.asarray(self._claims(matrices) @ matrix.T + offset)

    def n_learnt(self) -> int:
        """Coefficients and intercepts."""
        return int(self.model_.coef_.size + self.model_.intercept_.size)

    @abstractmethod
    def _fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
        """Fit ``model_``, and return what is claimed of the same subjects when they are left out of a fit."""

    @abstractmethod
    def _claims(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        """What is claimed of subjects, shape (n_subjects, n_groups)."""


class _Ridge(_Margins):
    """Ridge classification of connectivity, its penalty chosen by leave-one-out.

    Parameters
    ----------
    features : {"fisher-z", "tangent", "log"}
    shrinkage : float
        Of the log-Euclidean connectivity, as in the model's preset.
    """

    def __init__(self, features: LinearFeatures, shrinkage: float) -> None:
        self.features, self.shrinkage = features, shrinkage

    def _fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
        from sklearn.linear_model import RidgeCV

        if self.features == "tangent":
            scales, axes = np.linalg.eigh(matrices.mean(axis=0))
            self.whitening_ = np.asarray((axes / np.sqrt(scales)) @ axes.T)
        vectors = self._vectors(matrices)
        self.mean_ = vectors.mean(axis=0)
        vectors -= self.mean_
        scale = float(np.square(vectors).sum(axis=1).mean())
        # With a score named, what is kept of cross-validation is each subject's prediction from all others.
        ridge = RidgeCV(alphas=PENALTIES * scale, scoring="neg_mean_squared_error", store_cv_results=True)
        self.model_ = ridge.fit(vectors, 2.0 * np.eye(int(groups.max()) + 1)[groups] - 1)
        return np.asarray(ridge.cv_results_[:, :, int(np.flatnonzero(ridge.alphas == ridge.alpha_)[0])])

    def _claims(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.model_.predict(self._vectors(matrices) - self.mean_))

    def _vectors(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.features == "fisher-z":
            return _edges(matrices)
        if self.features == "log":
            from biobgt.model.inputs import log_connectivity  # brings torch, which listing baselines does not need

            projected = np.stack([log_connectivity(matrix, shrinkage=self.shrinkage) for matrix in matrices])
        else:
            values, vectors = np.linalg.eigh(self.whitening_ @ matrices @ self.whitening_)
            projected = (vectors * np.log(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
        rows, columns = np.triu_indices(matrices.shape[1], 1)
        return np.concatenate([projected[:, rows, columns] * np.sqrt(2), np.einsum("sii->si", projected)], axis=1)


class LinearSVM(_Margins):
    """A linear support vector machine on Fisher z; its penalty is chosen by five folds of the training subjects."""

    def _fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
        from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
        from sklearn.svm import LinearSVC

        vectors = _edges(matrices)
        self.mean_ = vectors.mean(axis=0)
        self.scale_ = float(np.sqrt(np.square(vectors - self.mean_).mean()))
        vectors = (vectors - self.mean_) / self.scale_
        folds = StratifiedKFold(min(_FOLDS, int(np.bincount(groups).min())), shuffle=True, random_state=_SEED)
        machine = LinearSVC(dual=True, max_iter=5000, random_state=_SEED)
        chosen = GridSearchCV(machine, {"C": _MACHINE_PENALTIES}, scoring="balanced_accuracy", cv=folds)
        self.model_ = chosen.fit(vectors, groups).best_estimator_
        return _columns(cross_val_predict(self.model_, vectors, groups, cv=folds, method="decision_function"))

    def _claims(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        return _columns(self.model_.decision_function((_edges(matrices) - self.mean_) / self.scale_))


class RandomForest(_Margins):
    """A random forest on Fisher z; what the trees say that left a subject out tells how sure it may be."""

    def __init__(self, trees: int = 500) -> None:
        self.trees = trees

    def _fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(self.trees, oob_score=True, random_state=_SEED)
        self.model_ = forest.fit(_edges(matrices), groups)
        return np.asarray(2 * forest.oob_decision_function_ - 1)

    def _claims(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(2 * self.model_.predict_proba(_edges(matrices)) - 1)

    def n_learnt(self) -> int:
        """Nodes of all trees."""
        return sum(int(tree.tree_.node_count) for tree in self.model_.estimators_)


def _edges(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    rows, columns = np.triu_indices(matrices.shape[1], 1)
    return fisher_z(matrices)[:, rows, columns]


def _columns(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """One column per group; scikit-learn gives one number for two groups."""
    return np.column_stack([-margins, margins]) if margins.ndim == 1 else margins


BASELINES: Registry[Baseline] = Registry(
    "baseline",
    Baseline("fisher-z", "ridge on Fisher-z correlations", partial(_Ridge, "fisher-z"), system="ridge-fisher-z"),
    Baseline(
        "tangent",
        "ridge on tangent space (Ledoit-Wolf)",
        partial(_Ridge, "tangent"),
        shrunk=True,
        citations=("ledoit2004",),
        system="ridge-tangent",
    ),
    Baseline("log", "ridge on log-Euclidean connectivity", partial(_Ridge, "log"), system="ridge-log"),
)


def kinds_of_baselines(titles: Iterable[str] | None = None) -> str:
    """Say which kinds of models baselines are: "linear models", or "linear and kernel models".

    Parameters
    ----------
    titles : iterable of str, optional
        Of the baselines; by default all of them. What is not in the register is left out.
    """
    families = {baseline.title: baseline.family for baseline in BASELINES.values()}
    kinds = dict.fromkeys(families[title] for title in (families if titles is None else titles) if title in families)
    return f"{listed(list(kinds))} models" if kinds else "baseline models"


def baseline_titles() -> dict[str, str]:
    """What baselines are called, by their names in tables of results."""
    return {baseline.name: baseline.title for baseline in BASELINES.values()}
