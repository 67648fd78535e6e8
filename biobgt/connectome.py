"""From region series to functional connectivity, and from connectivity to a brain graph.

Two steps, both explicit: an *estimator* turns series into a symmetric matrix, then a *sign rule* and a
*threshold* turn the matrix into a :class:`BrainGraph`. A region without signal is connected to nothing
(its correlations are undefined and count as zero); the quality flags name such regions.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import Atlas, numbered_atlas
from biobgt.cohort import Cohort, Subject, is_silent
from biobgt.errors import InputError
from biobgt.graph import ESTIMATORS, BrainGraph, ConnectomeSettings, Estimator, check_choice, check_connectivity
from biobgt.wording import counted

# arctanh(1) is infinite: correlations are held this far inside ±1 (Fisher z of about 7.25).
_LARGEST_CORRELATION = 1 - 1e-6


def functional_connectivity(series: NDArray[np.float64], *, estimator: Estimator = "pearson") -> NDArray[np.float64]:
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
    _check_finite(series)
    if len(series) < 2:
        raise InputError(f"Connectivity needs at least 2 time points, and the series have {len(series)}.")
    if estimator == "pearson":
        return _correlation(series)
    if estimator == "fisher-z":
        return fisher_z(_correlation(series))
    covariance = _shrunk_covariance(series)
    if estimator == "ledoit-wolf":
        return _scaled_to_unit_diagonal(covariance)
    return _partial_correlation(covariance)


def fisher_z(correlation: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fisher's z of correlations, with a zero diagonal."""
    z: NDArray[np.float64] = np.arctanh(np.clip(correlation, -_LARGEST_CORRELATION, _LARGEST_CORRELATION))
    diagonal = np.arange(z.shape[-1])
    z[..., diagonal, diagonal] = 0
    return z


def subject_connectivity(subject: Subject, *, estimator: Estimator = "pearson") -> NDArray[np.float64]:
    """Return a subject's connectivity: estimated from its series, or the matrix it was brought as.

    A matrix stands for itself under ``pearson``; ``fisher-z`` transforms it when all its values are
    correlations. The other estimators need series, and say so.
    """
    if subject.series is not None:
        return functional_connectivity(subject.series, estimator=estimator)
    assert subject.connectivity is not None
    if estimator == "pearson":
        return subject.connectivity
    if estimator == "fisher-z" and is_correlation(subject.connectivity):
        return fisher_z(subject.connectivity)
    if estimator == "fisher-z":
        raise InputError(
            f"Subject '{subject.id}' was brought as a matrix with values beyond ±1, so Fisher z is undefined."
        )
    raise InputError(
        f"Subject '{subject.id}' was brought as a connectivity matrix; {ESTIMATORS[estimator]} needs its series."
    )


def is_correlation(connectivity: NDArray[np.float64]) -> bool:
    """Whether a matrix's connections can be correlations; its diagonal and rounding do not count."""
    off_diagonal = connectivity - np.diag(np.diag(connectivity))
    return bool(np.abs(off_diagonal).max() <= 1 + 1e-6)


def iterate_connectivity(
    subjects: Iterable[Subject], *, estimator: Estimator = "pearson"
) -> Iterator[NDArray[np.float64]]:
    """Yield one connectivity matrix after another, so that a stream of subjects need not fit in memory."""
    for subject in subjects:
        yield subject_connectivity(subject, estimator=estimator)


def cohort_connectivity(
    cohort: Cohort,
    *,
    estimator: Estimator = "pearson",
    progress: Callable[[int, int], None] | None = None,
) -> NDArray[np.float64]:
    """Estimate every subject's connectivity.

    Parameters
    ----------
    cohort : Cohort
    estimator : str
        ``tangent`` is fitted on all subjects of this cohort; to keep test subjects out of the fit use
        :class:`TangentSpace`.
    progress : callable, optional
        Told (done, total) after each subject.

    Returns
    -------
    ndarray, shape (n_subjects, n_regions, n_regions)
    """
    if estimator == "tangent":
        return TangentSpace.fit(cohort).transform(cohort)
    n = cohort.atlas.n_regions
    stack = np.empty((len(cohort), n, n))
    for i, matrix in enumerate(iterate_connectivity(cohort, estimator=estimator)):
        stack[i] = matrix
        if progress is not None:
            progress(i + 1, len(cohort))
    return stack


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

    whitening: NDArray[np.float64]

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

    def transform(self, subjects: Iterable[Subject]) -> NDArray[np.float64]:
        """Project subjects.

        Returns
        -------
        ndarray, shape (n_subjects, n_regions, n_regions)
            Symmetric matrices; their diagonals carry meaning and are kept.
        """
        return np.stack([self._project(_shrunk_covariance(_series_of(subject))) for subject in subjects])

    def _project(self, covariance: NDArray[np.float64]) -> NDArray[np.float64]:
        values, vectors = np.linalg.eigh(self.whitening @ covariance @ self.whitening.T)
        return _symmetric((vectors * np.log(values)) @ vectors.T)


def brain_graph(subject: Subject, atlas: Atlas, settings: ConnectomeSettings | None = None) -> BrainGraph:
    """Make one subject's brain graph."""
    settings = settings or ConnectomeSettings()
    connectivity = subject_connectivity(subject, estimator=settings.estimator)
    return graph_from_connectivity(connectivity, settings, atlas=atlas, subject=subject.id, simulated=subject.simulated)


def cohort_graphs(cohort: Cohort, settings: ConnectomeSettings | None = None) -> Iterator[BrainGraph]:
    """Make one graph after another; the tangent space, which needs all subjects, is fitted on this cohort."""
    settings = settings or ConnectomeSettings()
    if settings.estimator != "tangent":
        yield from (brain_graph(subject, cohort.atlas, settings) for subject in cohort)
        return
    space = TangentSpace.fit(cohort)
    for subject in cohort:
        yield graph_from_connectivity(
            space.transform([subject])[0], settings, atlas=cohort.atlas, subject=subject.id, simulated=subject.simulated
        )


def graph_from_connectivity(
    connectivity: NDArray[np.float64],
    settings: ConnectomeSettings | None = None,
    *,
    atlas: Atlas | None = None,
    subject: str = "",
    simulated: bool = False,
) -> BrainGraph:
    """Apply the sign rule and the threshold to a connectivity matrix.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
        Symmetric; its diagonal is ignored.
    """
    settings = settings or ConnectomeSettings()
    weights = check_connectivity(connectivity, what=f"The connectivity of '{subject}'").copy()
    np.fill_diagonal(weights, 0)
    if settings.sign == "positive":
        weights[weights < 0] = 0
    elif settings.sign == "absolute":
        weights = np.abs(weights)
    keep = _above_threshold(np.abs(weights), settings)
    if settings.backbone:
        keep |= _maximum_spanning_tree(np.abs(weights))
    return BrainGraph(
        weights=np.where(keep, weights, 0),
        atlas=atlas or numbered_atlas(len(weights)),
        subject=subject,
        settings=settings,
        simulated=simulated,
    )


def _above_threshold(strength: NDArray[np.float64], settings: ConnectomeSettings) -> NDArray[np.bool_]:
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


def _maximum_spanning_tree(strength: NDArray[np.float64]) -> NDArray[np.bool_]:
    from scipy.sparse.csgraph import minimum_spanning_tree  # a quarter of a second that most graphs do not need

    # SciPy finds minimum trees and reads zero as "no edge", so strong edges become short, positive lengths.
    lengths = np.where(strength > 0, 1 + strength.max() - strength, 0)
    tree = minimum_spanning_tree(lengths).toarray() > 0
    return tree | tree.T


def _check_finite(series: NDArray[np.float64]) -> None:
    """Refuse series with holes, and name their columns."""
    holes = np.flatnonzero(~np.isfinite(series).all(axis=0))
    if holes.size:
        columns = ", ".join(str(column + 1) for column in holes[:5]) + (", …" if holes.size > 5 else "")
        raise InputError(
            f"The series of {counted(holes.size, 'region')} hold NaN or infinite values (column {columns}, counted "
            "from 1), so their connectivity is undefined. Interpolate or cut single time points; set a region that is "
            "missing throughout to zero, which connects it to nothing."
        )


def _correlation(series: NDArray[np.float64]) -> NDArray[np.float64]:
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


def _standardised(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean 0, SD 1: the scale of BOLD signals is arbitrary and must not steer the shrinkage."""
    centred = series - series.mean(axis=0)
    deviations = centred.std(axis=0, ddof=1)
    silent = is_silent(series) | (deviations == 0)
    return np.where(silent, 0, centred / np.where(silent, 1, deviations))


def _shrunk_covariance(series: NDArray[np.float64]) -> NDArray[np.float64]:
    from sklearn.covariance import LedoitWolf  # a second of import that most runs do not need

    covariance: NDArray[np.float64] = LedoitWolf(store_precision=False).fit(_standardised(series)).covariance_
    return covariance


def _partial_correlation(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    partial = -_scaled_to_unit_diagonal(np.asarray(np.linalg.inv(covariance), dtype=np.float64))
    np.fill_diagonal(partial, 1)
    return _symmetric(partial)


def _scaled_to_unit_diagonal(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    scale = np.sqrt(np.diag(matrix))
    scaled = _symmetric(matrix / np.outer(scale, scale))
    np.fill_diagonal(scaled, 1)
    return scaled


def _symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return (matrix + matrix.T) / 2


def _series_of(subject: Subject) -> NDArray[np.float64]:
    if subject.series is None:
        raise InputError(
            f"Subject '{subject.id}' was brought as a connectivity matrix; the tangent space needs series."
        )
    _check_finite(subject.series)
    return subject.series
