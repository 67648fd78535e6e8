"""Ridge, support vector machine and random forest on connectivity: the simple models beside every BioBGT."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from biobgt.base.options import Registry
from biobgt.base.references import Citation
from biobgt.base.wording import listed
from biobgt.data.connectivity import fisher_z
from biobgt.model.presets import Preset

# Ridge on connectivity, the simple models that every BioBGT stands beside, each one object of :data:`BASELINES`.
#
# The project's own are ridge regressions on connectivity, scikit-learn's, on three sets of features: Fisher z of the
# correlations, the tangent space at the training subjects' mean (from shrunk correlations, Ledoit-Wolf's strength),
# and the log-Euclidean connectivity that the ``best`` preset reads. The penalty is chosen on the training subjects by
# leave-one-out, which also says how margins become logits; probabilities come from a temperature fitted on other
# subjects than those tested. The model's readout starts in the same way.
#
# ``biobgt evaluate`` and ``biobgt train`` fit every baseline of the register on the splits of the model, and its
# results stand in their tables and on the model's card. Another baseline is registered in one object.


LinearFeatures = Literal["fisher-z", "tangent", "log"]
PENALTIES = np.logspace(-2, 1, 13)  # in units of the mean squared norm of a subject's features


class BaselineModel(Protocol):
    """What a baseline's model can do."""

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
    citations : tuple of Citation
    system : str
        Its key in ``biobgt benchmark``, where that is another.
    """

    key: str
    title: str
    build: Callable[[float], BaselineModel]
    family: str = "linear"
    shrunk: bool = False
    citations: tuple[Citation, ...] = ()
    system: str = ""

    @property
    def name(self) -> str:
        """Its name in tables of results, such as ``linear log``."""
        return f"{self.family} {self.key}"


class _LinearBaseline:
    """Ridge classification of connectivity, by scikit-learn.

    Parameters
    ----------
    features : {"fisher-z", "tangent", "log"}
    shrinkage : float
        Of the log-Euclidean connectivity, as in the model's preset.
    """

    def __init__(self, features: LinearFeatures, *, shrinkage: float = Preset.shrinkage) -> None:
        self.features, self.shrinkage = features, shrinkage

    def fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> "_LinearBaseline":
        """Fit on correlation matrices, shape (n_subjects, n_regions, n_regions), and numbers of groups."""
        from sklearn.linear_model import RidgeCV

        from biobgt.model.calibration import margins_to_logits  # brings SciPy, which listing baselines does not need

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
        left_out = ridge.cv_results_[:, :, int(np.flatnonzero(ridge.alphas == ridge.alpha_)[0])]
        self.map_ = margins_to_logits(left_out, groups)
        return self

    def logits(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return logits, shape (n_subjects, n_groups)."""
        matrix, offset = self.map_
        return np.asarray(self.model_.predict(self._vectors(matrices) - self.mean_) @ matrix.T + offset)

    def n_learnt(self) -> int:
        """Coefficients and intercepts."""
        return int(self.model_.coef_.size + self.model_.intercept_.size)

    def _vectors(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        rows, columns = np.triu_indices(matrices.shape[1], 1)
        if self.features == "fisher-z":
            return fisher_z(matrices)[:, rows, columns]
        if self.features == "log":
            from biobgt.model.inputs import log_connectivity  # brings torch, which listing baselines does not need

            projected = np.stack([log_connectivity(matrix, shrinkage=self.shrinkage) for matrix in matrices])
        else:
            values, vectors = np.linalg.eigh(self.whitening_ @ matrices @ self.whitening_)
            projected = (vectors * np.log(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
        diagonal = np.einsum("sii->si", projected)
        return np.concatenate([projected[:, rows, columns] * np.sqrt(2), diagonal], axis=1)


def _ridge_on(features: LinearFeatures, shrinkage: float) -> BaselineModel:
    return _LinearBaseline(features, shrinkage=shrinkage)


BASELINES: Registry[Baseline] = Registry(
    "baseline",
    Baseline("fisher-z", "ridge on Fisher-z correlations", partial(_ridge_on, "fisher-z"), system="ridge-fisher-z"),
    Baseline(
        "tangent",
        "ridge on tangent space (Ledoit-Wolf)",
        partial(_ridge_on, "tangent"),
        shrunk=True,
        citations=("ledoit2004",),
        system="ridge-tangent",
    ),
    Baseline("log", "ridge on log-Euclidean connectivity", partial(_ridge_on, "log"), system="ridge-log"),
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


# Linear support vector machine and random forest on Fisher-z correlations, scikit-learn's.
#
# What each claims is turned into logits as ridge's margins are (:mod:`biobgt.model.calibration`), from predictions of
# subjects that were left out of a fit: five folds for the machine, the trees that did not see a subject for the
# forest.


MACHINE_PENALTIES = np.logspace(-4, 0, 5)  # C of the machine, features having unit mean square
TREES, FOLDS, SEED = 500, 5, 0


@runtime_checkable
class CountedModel(Protocol):
    """A model that knows how many numbers it learnt."""

    def n_learnt(self) -> int:
        """Coefficients, or nodes of trees."""


class LinearSVM:
    """A linear support vector machine; its penalty is chosen by five folds of the training subjects."""

    def fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> "LinearSVM":
        """Fit on correlation matrices, shape (n_subjects, n_regions, n_regions), and numbers of groups."""
        from sklearn.model_selection import GridSearchCV, cross_val_predict
        from sklearn.svm import LinearSVC

        from biobgt.model.calibration import margins_to_logits

        vectors = _edges(matrices)
        self.mean_ = vectors.mean(axis=0)
        self.scale_ = float(np.sqrt(np.square(vectors - self.mean_).mean()))
        vectors = (vectors - self.mean_) / self.scale_
        machine = LinearSVC(dual=True, max_iter=5000, random_state=SEED)
        chosen = GridSearchCV(machine, {"C": MACHINE_PENALTIES}, scoring="balanced_accuracy", cv=_folds(groups))
        self.model_ = chosen.fit(vectors, groups).best_estimator_
        left_out = cross_val_predict(self.model_, vectors, groups, cv=_folds(groups), method="decision_function")
        self.map_ = margins_to_logits(_columns(left_out), groups)
        return self

    def logits(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return logits, shape (n_subjects, n_groups)."""
        matrix, offset = self.map_
        margins = self.model_.decision_function((_edges(matrices) - self.mean_) / self.scale_)
        return np.asarray(_columns(margins) @ matrix.T + offset)

    def n_learnt(self) -> int:
        """Coefficients and intercepts."""
        return int(self.model_.coef_.size + self.model_.intercept_.size)


class RandomForest:
    """A random forest; what the trees say that left a subject out tells how sure it may be."""

    def __init__(self, trees: int = TREES) -> None:
        self.trees = trees

    def fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> "RandomForest":
        """Fit on correlation matrices, shape (n_subjects, n_regions, n_regions), and numbers of groups."""
        from sklearn.ensemble import RandomForestClassifier

        from biobgt.model.calibration import margins_to_logits

        self.model_ = RandomForestClassifier(self.trees, oob_score=True, random_state=SEED).fit(
            _edges(matrices), groups
        )
        self.map_ = margins_to_logits(2 * self.model_.oob_decision_function_ - 1, groups)
        return self

    def logits(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return logits, shape (n_subjects, n_groups)."""
        matrix, offset = self.map_
        return np.asarray((2 * self.model_.predict_proba(_edges(matrices)) - 1) @ matrix.T + offset)

    def n_learnt(self) -> int:
        """Nodes of all trees."""
        return sum(int(tree.tree_.node_count) for tree in self.model_.estimators_)


def _folds(groups: NDArray[np.int64]) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(min(FOLDS, int(np.bincount(groups).min())), shuffle=True, random_state=SEED)


def _columns(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """One column per group; scikit-learn gives one number for two groups."""
    return np.column_stack([-margins, margins]) if margins.ndim == 1 else margins


def _edges(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    rows, columns = np.triu_indices(matrices.shape[1], 1)
    return fisher_z(matrices)[:, rows, columns]
