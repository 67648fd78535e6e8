"""What the model is given of a subject: connectivity profiles, the brain graph, NE and Louvain modules.

All of it follows from the matrix of Pearson correlations, so that a subject brought as series and the same subject
brought as a matrix get the same prediction. NE and modules take most of the time and are kept by content: the same
matrix with the same settings is never computed twice.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.kept import Key, MemoryStore, Store
from biobgt.base.parallel import map_subjects
from biobgt.data.cohort import Subject
from biobgt.data.connectivity import graph_from_connectivity, subject_connectivity
from biobgt.data.graph import is_correlation, told_kind
from biobgt.hubs import gamma_unit, node_entanglement
from biobgt.model.network import GraphBatch
from biobgt.model.presets import Preset
from biobgt.modules import louvain_modules

# NE on the control graph at γ = 0.5 / mean λ, by first-order perturbation (0.05 s per subject; exact takes 1 s);
# Louvain one run at resolution 1.
GAMMA, LOUVAIN_SEED, LOUVAIN_RUNS = 0.5, 0, 1
_LEAST_EIGENVALUE = -0.05  # of a correlation matrix: rounding and missing pairs reach this far below zero


def correlations(subject: Subject) -> NDArray[np.float64]:
    """Pearson correlations of a subject, with a unit diagonal, or say why there are none.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    matrix = subject_connectivity(subject).copy()
    if subject.series is None and told_kind(matrix) == "structural":
        raise InputError(f"The matrix of subject '{subject.id}' is structural; the model needs Pearson correlations.")
    np.fill_diagonal(matrix, 1)
    if subject.series is not None:
        return matrix
    if not is_correlation(matrix):
        raise InputError(
            f"Subject '{subject.id}' has a matrix with values beyond ±1; the model needs Pearson correlations."
        )
    smallest = float(np.linalg.eigvalsh(matrix)[0])
    if smallest < _LEAST_EIGENVALUE:
        raise InputError(
            f"The matrix of subject '{subject.id}' cannot be of Pearson correlations: its smallest eigenvalue is "
            f"{smallest:.2f}, and none is below 0. Thresholded, partial or Fisher-z values are not what the model "
            "was trained on; add the full correlation matrix, or the region series."
        )
    return matrix


def log_connectivity(correlation: NDArray[np.float64], *, shrinkage: float) -> NDArray[np.float64]:
    """Matrix logarithm of correlations shrunk towards the identity (log-Euclidean, Arsigny et al. 2006).

    Unlike the tangent space at a cohort's mean it needs no other subject, and it separates groups as well.

    Parameters
    ----------
    correlation : ndarray, shape (n_regions, n_regions)
    shrinkage : float
        Share of the identity, between 0 and 1.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    values, vectors = np.linalg.eigh(correlation)
    logarithm = np.log((1 - shrinkage) * values.clip(min=0) + shrinkage)
    return np.asarray((vectors * logarithm) @ vectors.T)


def prepare(
    subjects: Sequence[Subject],
    preset: Preset,
    *,
    store: Store | None = None,
    workers: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
) -> GraphBatch:
    """Make the model's input of subjects on one atlas.

    Parameters
    ----------
    subjects : sequence of Subject
        With n_regions regions each.
    preset : Preset
        Says how the graph is thresholded and what the model's values are.
    store : Store, optional
        Where NE and modules are kept, so that the next call need not compute them.
    workers : int, optional
        Processes on this machine; None is one per core.
    progress : callable, optional
        Told (done, total) after each subject.

    Returns
    -------
    GraphBatch
        Tensors of shape (n_subjects, n_regions, ...).
    """
    matrices, store = [correlations(one) for one in subjects], store or MemoryStore()
    weights = [_graph_weights(matrix, preset) for matrix in matrices]
    for subject, graph in zip(subjects, weights, strict=True):
        if not graph.any():
            raise InputError(
                f"Subject '{subject.id}' has no correlation of at least {preset.threshold:g}, so its brain graph has "
                "no edge; check that its series are signals of regions."
            )
    keys = [_key(matrix, preset) for matrix in matrices]
    known: dict[Key, Any] = {key: store.get(key) for key in keys}
    missing = {key: matrix for key, matrix in zip(keys, matrices, strict=True) if known[key] is None}
    found = map_subjects(
        partial(_network_features, preset=preset), list(missing.values()), workers=workers, progress=progress
    )
    for key, computed in zip(missing, found, strict=True):
        store.put(key, computed)
        known[key] = computed
    entanglement, modules = (np.stack(each) for each in zip(*(known[key] for key in keys), strict=True))
    features = _stacked(matrix * (1 - np.eye(len(matrix))) for matrix in matrices)
    values = features
    if preset.values == "log":
        values = _stacked(log_connectivity(matrix, shrinkage=preset.shrinkage) for matrix in matrices)
    return GraphBatch(
        features=features,
        values=values,
        weights=_stacked(weights),
        entanglement=torch.from_numpy(entanglement),
        modules=torch.from_numpy(modules),
        mask=torch.ones(len(matrices), len(matrices[0]), dtype=torch.bool),
    )


def _stacked(matrices: Iterable[NDArray[np.float64]]) -> torch.Tensor:
    return torch.from_numpy(np.stack([matrix.astype(np.float32) for matrix in matrices]))


def _graph_weights(matrix: NDArray[np.float64], preset: Preset) -> NDArray[np.float64]:
    return graph_from_connectivity(matrix, preset.graph_settings).weights


def _key(matrix: NDArray[np.float64], preset: Preset) -> Key:
    # Rounded, so that the same correlations from another machine's arithmetic are the same content.
    content = hashlib.sha256(np.round(matrix, 6).tobytes())
    content.update(f"{preset.threshold} {GAMMA} {LOUVAIN_SEED} {LOUVAIN_RUNS}".encode())
    return Key("network_features", content.hexdigest()[:32], most=4000)  # a few kilobytes each


def _network_features(matrix: NDArray[np.float64], *, preset: Preset) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """NE and modules of a graph, each of shape (n_regions,)."""
    weights = _graph_weights(matrix, preset)
    entanglement = node_entanglement(weights, absolute_gamma=GAMMA * gamma_unit(weights), method="first-order")
    modules = louvain_modules(weights, seed=LOUVAIN_SEED, runs=LOUVAIN_RUNS).labels
    return entanglement.astype(np.float32), modules.astype(np.int64)
