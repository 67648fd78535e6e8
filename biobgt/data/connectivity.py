"""From region series to functional connectivity, and from connectivity to a brain graph."""

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import get_args
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray, ranks
from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.data.atlas import Atlas, numbered_atlas
from biobgt.data.cohort import Cohort, Subject, is_silent
from biobgt.data.graph import (
    ESTIMATED,
    ESTIMATORS,
    KINDS,
    PEARSON,
    BrainGraph,
    ConnectivityKind,
    ConnectomeSettings,
    Estimator,
    check_choice,
    check_connectivity,
    is_correlation,
    told_kind,
)

# Correlation and covariance of region series, arrays of shape (n_timepoints, n_regions).
#
# A region without signal has no correlation with any other, and counts as zero.


def _check_finite(series: FloatArray) -> None:
    """Refuse series with holes, and name their columns."""
    holes = np.flatnonzero(~np.isfinite(series).all(axis=0))
    if holes.size:
        columns = ", ".join(str(column + 1) for column in holes[:5]) + (", …" if holes.size > 5 else "")
        raise InputError(
            f"The series of {counted(holes.size, 'region')} hold NaN or infinite values (column {columns}, counted "
            "from 1), so their connectivity is undefined. Interpolate or cut single time points; set a region that is "
            "missing throughout to zero, which connects it to nothing."
        )


def _correlation_of(series: FloatArray) -> FloatArray:
    """Pearson correlation; zero where a region has no signal (numpy.corrcoef gives NaN and a warning)."""
    centred = series - series.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    silent = is_silent(series) | (norms == 0)
    centred /= np.where(silent, 1, norms)
    centred[:, silent] = 0
    correlation = centred.T @ centred
    np.clip(correlation, -1, 1, out=correlation)
    np.fill_diagonal(correlation, ~silent)
    return correlation


def _standardised(series: FloatArray) -> FloatArray:
    """Mean 0, SD 1: the scale of BOLD signals is arbitrary and must not steer the shrinkage."""
    centred = series - series.mean(axis=0)
    deviations = centred.std(axis=0, ddof=1)
    silent = is_silent(series) | (deviations == 0)
    return np.where(silent, 0, centred / np.where(silent, 1, deviations))


def _shrunk_covariance(series: FloatArray) -> FloatArray:
    """Covariance of standardised series, shrunk by Ledoit and Wolf (2004)."""
    from sklearn.covariance import LedoitWolf  # a second of import that most runs do not need

    covariance: FloatArray = LedoitWolf(store_precision=False).fit(_standardised(series)).covariance_
    return covariance


def _scaled_to_unit_diagonal(matrix: FloatArray) -> FloatArray:
    """A covariance as a correlation."""
    scale = np.sqrt(np.diag(matrix))
    scaled = _symmetric(matrix / np.outer(scale, scale))
    np.fill_diagonal(scaled, 1)
    return scaled


def _symmetric(matrix: FloatArray) -> FloatArray:
    """A matrix without the rounding by which its two halves differ."""
    return (matrix + matrix.T) / 2


# Two steps, both explicit: an *estimator* turns series into a symmetric matrix, then a *sign rule* and a
# *threshold* turn the matrix into a :class:`BrainGraph`. A region without signal is connected to nothing
# (its correlations are undefined and count as zero); the quality flags name such regions.


# arctanh(1) is infinite: correlations are held this far inside ±1 (Fisher z of about 7.25).
_LARGEST_CORRELATION = 1 - 1e-6
_RECENT_BYTES = 2**26  # 200 matrices of 200 regions, 8 of 1000


def functional_connectivity(series: FloatArray, *, estimator: Estimator = PEARSON) -> FloatArray:
    """Estimate one subject's connectivity from its series.

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
    estimator : str
        Any of :data:`ESTIMATORS` but ``tangent``, which needs a cohort: see :class:`TangentSpace`.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
        Symmetric; the diagonal is 1 for correlations (under ``pearson`` 0 for a region without signal), 0 for Fisher z.

    Raises
    ------
    InputError
        When values are NaN or infinite. The readers take a region that is NaN throughout for silent and flag it; here
        nothing could be flagged, so it is for the caller to set such a region to zero.
    """
    if estimator == "tangent":
        raise InputError("The tangent estimator is fitted on a cohort; use cohort_connectivity or TangentSpace.")
    check_choice("estimator", estimator, get_args(Estimator))
    if ESTIMATORS[estimator].of_weights:
        raise InputError(
            f"{ESTIMATORS[estimator].title} are of matrices of weights, such as streamline counts. Choose an estimator "
            "of functional connectivity."
        )
    _check_finite(series)
    if len(series) < 2:
        raise InputError(f"Connectivity needs at least 2 time points, and the series have {len(series)}.")
    if estimator == "pearson":
        return _correlation_of(series)
    if estimator == "fisher-z":
        return fisher_z(_correlation_of(series))
    covariance = _shrunk_covariance(series)
    if estimator == "ledoit-wolf":
        return _scaled_to_unit_diagonal(covariance)
    partial = -_scaled_to_unit_diagonal(np.asarray(np.linalg.inv(covariance), dtype=np.float64))
    np.fill_diagonal(partial, 1)
    return _symmetric(partial)


def fisher_z(correlation: FloatArray) -> FloatArray:
    """Fisher's z of correlations, with a zero diagonal."""
    z: FloatArray = np.arctanh(np.clip(correlation, -_LARGEST_CORRELATION, _LARGEST_CORRELATION))
    diagonal = np.arange(z.shape[-1])
    z[..., diagonal, diagonal] = 0
    return z


# The newest matrices, so that whoever asks for one next gets it and does not estimate it again. One is known by the
# series it is of, which are not kept: it goes with them, or when newer ones take its room.
_recent: dict[tuple[int, str], tuple[ref[FloatArray], FloatArray]] = {}
_changing = Lock()


def _recent_connectivity(series: FloatArray, estimator: Estimator) -> FloatArray:
    """The matrix of some series, read-only since others hold it, too."""
    key = id(series), estimator
    found = _recent.get(key)
    if found is not None and found[0]() is series:
        return found[1]
    matrix = functional_connectivity(series, estimator=estimator)
    matrix.flags.writeable = False
    with _changing:
        _recent[key] = ref(series, lambda _: _recent.pop(key, None)), matrix
        n_bytes = sum(kept.nbytes for _, kept in list(_recent.values()))
        for oldest in list(_recent)[:-1]:
            if n_bytes <= _RECENT_BYTES:
                break
            if dropped := _recent.pop(oldest, None):
                n_bytes -= dropped[1].nbytes
    return matrix


def subject_connectivity(subject: Subject, *, estimator: Estimator = PEARSON) -> FloatArray:
    """Return a subject's connectivity: estimated from its series, or the matrix it was brought as.

    A matrix stands for itself under ``pearson``; ``fisher-z`` transforms it when all its values are correlations,
    ``log-weights`` and ``rank-weights`` when it is one of weights. The other estimators need series, and say so.
    """
    if subject.series is not None:
        return _recent_connectivity(subject.series, estimator)
    assert subject.connectivity is not None
    if estimator == "pearson":
        return subject.connectivity
    if estimator == "fisher-z" and is_correlation(subject.connectivity):
        return fisher_z(subject.connectivity)
    if ESTIMATORS[estimator].of_weights:
        return _transformed_weights(subject, estimator)
    if estimator == "fisher-z":
        raise InputError(f"Subject '{subject.id}' has a matrix with values beyond ±1, for which Fisher z is undefined.")
    raise InputError(
        f"Subject '{subject.id}' has a connectivity matrix only; {ESTIMATORS[estimator].words} needs its region series."
    )


def _transformed_weights(subject: Subject, estimator: Estimator) -> FloatArray:
    """Weights as logarithms, in units of the smallest, or as ranks; pairs without a connection stay zero."""
    matrix = subject.connectivity
    assert matrix is not None
    weights = matrix[np.triu_indices(len(matrix), 1)]
    connected = weights > 0
    if weights.min() < 0 or not connected.any():
        lacking = "negative weights" if weights.min() < 0 else "no connection"
        raise InputError(
            f"Subject '{subject.id}' has {lacking}, so there are no {ESTIMATORS[estimator].title.lower()}. Take its "
            "matrix as it is."
        )
    found = np.zeros(matrix.shape)
    transformed = np.zeros(len(weights))
    if estimator == "log-weights":
        transformed[connected] = np.log1p(weights[connected] / weights[connected].min())
    else:
        transformed[connected] = ranks(weights[connected]) / connected.sum()
    found[np.triu_indices(len(matrix), 1)] = transformed
    return found + found.T


def subject_kind(subject: Subject) -> ConnectivityKind:
    """What one subject's connectivity is, as far as its values tell."""
    return KINDS[ESTIMATED if subject.connectivity is None else told_kind(subject.connectivity) or "other"]


def cohort_connectivity(cohort: Cohort, *, estimator: Estimator = PEARSON) -> FloatArray:
    """Estimate every subject's connectivity.

    Parameters
    ----------
    cohort : Cohort
    estimator : str
        ``tangent`` is fitted on all subjects of this cohort; to keep test subjects out of the fit use
        :class:`TangentSpace`.

    Returns
    -------
    ndarray, shape (n_subjects, n_regions, n_regions)
    """
    if estimator == "tangent":
        return TangentSpace.fit(cohort).transform(cohort)
    return np.stack([subject_connectivity(subject, estimator=estimator) for subject in cohort])


@dataclass(frozen=True, eq=False)
class TangentSpace:
    """The tangent space at a cohort's mean covariance (Varoquaux et al. 2010), fitted once, applied to anyone.

    Series are standardised first. nilearn fits the mean; the projection is applied here because nilearn's refuses a
    single new subject.

    Attributes
    ----------
    whitening : ndarray, shape (n_regions, n_regions)
        Inverse square root of the geometric mean covariance.
    """

    whitening: FloatArray

    @classmethod
    def fit(cls, subjects: Iterable[Subject]) -> "TangentSpace":
        """Fit the reference point on subjects with series."""
        from nilearn.connectome import ConnectivityMeasure
        from sklearn.covariance import LedoitWolf

        series = [_standardised(_series_of(subject)) for subject in subjects]
        if len(series) < 2:
            raise InputError("The tangent space is fitted on a cohort; at least 2 subjects are needed.")
        measure = ConnectivityMeasure(cov_estimator=LedoitWolf(store_precision=False), kind="tangent")
        measure.fit(series)
        return cls(whitening=np.asarray(measure.whitening_))

    def transform(self, subjects: Iterable[Subject]) -> FloatArray:
        """Project subjects.

        Returns
        -------
        ndarray, shape (n_subjects, n_regions, n_regions)
            Symmetric matrices; their diagonals carry meaning and are kept.
        """
        projected = []
        for subject in subjects:
            covariance = _shrunk_covariance(_series_of(subject))
            values, vectors = np.linalg.eigh(self.whitening @ covariance @ self.whitening.T)
            projected.append(_symmetric((vectors * np.log(values)) @ vectors.T))
        return np.stack(projected)


def brain_graph(subject: Subject, atlas: Atlas, settings: ConnectomeSettings | None = None) -> BrainGraph:
    """Make one subject's brain graph.

    Parameters
    ----------
    subject : Subject
        With region series, or with a connectivity matrix of its own.
    atlas : Atlas
        Of the subject's regions, in their order.
    settings : ConnectomeSettings, optional
        Estimator, sign rule and threshold; by default those that are usual for its kind of connectivity, which is what
        its values tell.

    Returns
    -------
    BrainGraph
        Weights of shape (n_regions, n_regions), symmetric with a zero diagonal.

    Examples
    --------
    >>> from biobgt.data.simulate import demo_cohort
    >>> cohort = demo_cohort("asd", n_per_group=1)
    >>> graph = brain_graph(cohort.subjects[0], cohort.atlas, ConnectomeSettings(level=0.3))
    >>> graph.weights.shape, graph.subject
    ((200, 200), 'sim-NC-001')
    >>> bool(graph.weights[graph.weights > 0].min() >= 0.3)
    True
    """
    kind = subject_kind(subject)
    settings = settings or ConnectomeSettings.usual(kind)
    return graph_from_connectivity(
        subject_connectivity(subject, estimator=settings.estimator),
        settings,
        atlas=atlas,
        subject=subject.id,
        simulated=subject.simulated,
        whole=subject_connectivity(subject),
        kind=kind,
    )


def graph_from_connectivity(
    connectivity: FloatArray,
    settings: ConnectomeSettings | None = None,
    *,
    atlas: Atlas | None = None,
    subject: str = "",
    simulated: bool = False,
    whole: FloatArray | None = None,
    kind: ConnectivityKind = KINDS[ESTIMATED],
) -> BrainGraph:
    """Apply the sign rule and the threshold to a connectivity matrix.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
        Symmetric; its diagonal is ignored.
    settings : ConnectomeSettings, optional
        Sign rule and threshold; by default those of :class:`ConnectomeSettings`.
    atlas : Atlas, optional
        Of the regions; without one they are numbered.
    subject : str
        Whose graph it is.
    simulated : bool
        Whether the subject was simulated; whatever shows the graph says so.
    whole : ndarray, shape (n_regions, n_regions), optional
        The matrix on which FC strength is, where that is another than the connectivity.
    kind : ConnectivityKind
        What the connectivity is, for the words on the graph.

    Raises
    ------
    InputError
        Where sign rule and threshold leave none of the matrix's connections.
    """
    settings = settings or ConnectomeSettings()
    weights = check_connectivity(connectivity, what=f"The connectivity of '{subject}'").copy()
    np.fill_diagonal(weights, 0)
    connected = weights.any()
    if settings.sign == "positive":
        weights[weights < 0] = 0
    elif settings.sign == "absolute":
        weights = np.abs(weights)
    keep = _above_threshold(np.abs(weights), settings)
    if settings.backbone:
        keep |= _maximum_spanning_tree(np.abs(weights))
    if connected and not keep.any():
        raise _no_connection_left(connectivity, settings, subject)
    return BrainGraph(
        weights=np.where(keep, weights, 0),
        atlas=atlas or numbered_atlas(len(weights)),
        subject=subject,
        settings=settings,
        simulated=simulated,
        connectivity=connectivity if whole is None else whole,
        kind=kind,
    )


def _no_connection_left(connectivity: FloatArray, settings: ConnectomeSettings, subject: str) -> InputError:
    """That the rules leave no connection, and what to choose instead."""
    off_diagonal = connectivity[~np.eye(len(connectivity), dtype=bool)]
    whose = f"The brain graph of '{subject}'" if subject else "The brain graph"
    if settings.sign == "positive" and off_diagonal.max() <= 0:
        return InputError(
            f"{whose} has no connection: no weight is positive, and the sign rule 'positive' sets all others to zero. "
            "Choose the sign rule 'absolute' or 'signed'."
        )
    largest = np.abs(off_diagonal).max() if settings.sign != "positive" else off_diagonal.max()
    return InputError(
        f"{whose} has no connection left: its largest weight is {largest:.3g}, and only {settings.kept} are kept. "
        "Choose a lower level, a share of pairs (proportional), or no threshold (none)."
    )


def _above_threshold(strength: FloatArray, settings: ConnectomeSettings) -> NDArray[np.bool_]:
    if settings.threshold == "none":
        return strength > 0
    if settings.threshold == "absolute":
        return (strength >= settings.level) & (strength > 0)
    rows, columns = np.triu_indices(len(strength), 1)
    n_kept = max(1, round(settings.level * len(rows)))
    strongest = np.argsort(-strength[rows, columns], kind="stable")[:n_kept]
    keep = np.zeros(strength.shape, dtype=bool)
    keep[rows[strongest], columns[strongest]] = True
    return (keep | keep.T) & (strength > 0)


def _maximum_spanning_tree(strength: FloatArray) -> NDArray[np.bool_]:
    from scipy.sparse.csgraph import minimum_spanning_tree  # a quarter of a second that most graphs do not need

    # SciPy finds minimum trees and reads zero as "no edge", so strong edges become short, positive lengths.
    lengths = np.where(strength > 0, 1 + strength.max() - strength, 0)
    tree = minimum_spanning_tree(lengths).toarray() > 0
    return tree | tree.T


def _series_of(subject: Subject) -> FloatArray:
    if subject.series is None:
        raise InputError(
            f"Subject '{subject.id}' has a connectivity matrix only; the tangent space needs region series."
        )
    _check_finite(subject.series)
    return subject.series
