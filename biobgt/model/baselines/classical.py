"""Linear support vector machine and random forest on Fisher-z correlations, scikit-learn's.

What each claims is turned into logits as ridge's margins are (:mod:`biobgt.model.margins`), from predictions of
subjects that were left out of a fit: five folds for the machine, the trees that did not see a subject for the forest.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from biobgt.connectome import fisher_z

PENALTIES = np.logspace(-4, 0, 5)  # C of the machine, features having unit mean square
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

        from biobgt.model.margins import margins_to_logits

        vectors = _edges(matrices)
        self.mean_ = vectors.mean(axis=0)
        self.scale_ = float(np.sqrt(np.square(vectors - self.mean_).mean()))
        vectors = (vectors - self.mean_) / self.scale_
        chosen = GridSearchCV(_machine(), {"C": PENALTIES}, scoring="balanced_accuracy", cv=_folds(groups))
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

        from biobgt.model.margins import margins_to_logits

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


def _machine() -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(dual=True, max_iter=5000, random_state=SEED)


def _folds(groups: NDArray[np.int64]) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(min(FOLDS, int(np.bincount(groups).min())), shuffle=True, random_state=SEED)


def _columns(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """One column per group; scikit-learn gives one number for two groups."""
    return np.column_stack([-margins, margins]) if margins.ndim == 1 else margins


def _edges(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    rows, columns = np.triu_indices(matrices.shape[1], 1)
    return fisher_z(matrices)[:, rows, columns]
