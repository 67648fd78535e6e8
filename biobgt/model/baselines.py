"""The simple models that every BioBGT stands beside: ridge regression on connectivity, scikit-learn's.

Three sets of features: Fisher z of the correlations, the tangent space at the training subjects' mean (from shrunk
correlations, Ledoit-Wolf's strength), and the log-Euclidean connectivity that the ``best`` preset reads. The penalty
is chosen on the training subjects by leave-one-out, which also says how margins become logits; probabilities come from
a temperature fitted on other subjects than those tested. The model's readout starts in the same way.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.connectome import fisher_z
from biobgt.model.inputs import log_connectivity
from biobgt.model.margins import margins_to_logits

LinearFeatures = Literal["fisher-z", "tangent", "log"]
LINEAR_FEATURES: dict[LinearFeatures, str] = {
    "fisher-z": "ridge on Fisher-z correlations",
    "tangent": "ridge on tangent space (Ledoit-Wolf)",
    "log": "ridge on log-Euclidean connectivity",
}
PENALTIES = np.logspace(-2, 1, 13)  # in units of the mean squared norm of a subject's features


class LinearBaseline:
    """Ridge classification of connectivity, by scikit-learn.

    Parameters
    ----------
    features : {"fisher-z", "tangent", "log"}
    shrinkage : float
        Of the log-Euclidean connectivity, as in the model's preset.
    """

    def __init__(self, features: LinearFeatures, *, shrinkage: float = 0.5) -> None:
        self.features, self.shrinkage = features, shrinkage

    def fit(self, matrices: NDArray[np.float64], groups: NDArray[np.int64]) -> "LinearBaseline":
        """Fit on correlation matrices, shape (n_subjects, n_regions, n_regions), and numbers of groups."""
        from sklearn.linear_model import RidgeCV

        if self.features == "tangent":
            self.whitening_ = _inverse_root(matrices.mean(axis=0))
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

    def _vectors(self, matrices: NDArray[np.float64]) -> NDArray[np.float64]:
        rows, columns = np.triu_indices(matrices.shape[1], 1)
        if self.features == "fisher-z":
            return fisher_z(matrices)[:, rows, columns]
        if self.features == "log":
            projected = np.stack([log_connectivity(matrix, shrinkage=self.shrinkage) for matrix in matrices])
        else:
            values, vectors = np.linalg.eigh(self.whitening_ @ matrices @ self.whitening_)
            projected = (vectors * np.log(values)[:, None, :]) @ vectors.transpose(0, 2, 1)
        diagonal = np.einsum("sii->si", projected)
        return np.concatenate([projected[:, rows, columns] * np.sqrt(2), diagonal], axis=1)


def _inverse_root(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)
