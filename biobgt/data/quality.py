"""Quality: what a careful reader would want to know about a subject, and its atlas, before believing its graph."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray, ranks
from biobgt.base.wording import counted, percent
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject, is_silent
from biobgt.data.connectivity import subject_connectivity, subject_kind
from biobgt.data.graph import ESTIMATED, KINDS, ConnectivityKind, is_correlation

# How many independent time points a series is worth: BOLD is autocorrelated, and neighbours in time say the same.
#
# The correlation of two autocorrelated series varies as much as that of fewer independent time points (Bartlett, J. R.
# Stat. Soc. 98:536, 1935; Bayley and Hammersley, Suppl. J. R. Stat. Soc. 8:184, 1946). White noise has as many as time
# points; band-passed BOLD a fraction.


LONGEST_LAG = 0.2  # of the length; later lags are noise (Pyper and Peterman, Can. J. Fish. Aquat. Sci. 55:2127, 1998)


def effective_timepoints(series: FloatArray) -> float:
    """Number of independent time points that a typical pair of regions is worth.

    With ρ(k) the mean autocorrelation over regions at lag k, N_eff = N / (1 + 2 Σ_k (1 − k/N) ρ(k)²).

    Parameters
    ----------
    series : ndarray, shape (n_timepoints, n_regions)
        Regions without signal do not count.

    Returns
    -------
    float
        0 where no region has signal.
    """
    n = len(series)
    active = series[:, ~is_silent(series)]
    if not active.shape[1]:
        return 0.0
    scores = (active - active.mean(axis=0)) / active.std(axis=0)
    power = np.square(np.abs(np.fft.rfft(scores, 2 * n, axis=0))).mean(axis=1)
    lags = np.arange(1, int(LONGEST_LAG * n) + 1)
    autocorrelation = np.fft.irfft(power)[lags] / n
    return float(n / (1 + 2 * np.sum((1 - lags / n) * np.square(autocorrelation))))


# Quality flags: what a careful reader would want to know about a subject before believing its graph.
#
# A flag never removes anybody. Its limits are constants of this module, chosen from the literature where there is one
# and otherwise from the two real cohorts the project was built on (899 ABIDE and 240 CNI-2019 subjects).


MIN_TIMEPOINTS = 100
MIN_MINUTES = 5.0  # Van Dijk et al. 2010: correlations stabilise at about five minutes
# Mean correlation was at most 0.05 with global signal removed (ABIDE) and 0.56 without (CNI-2019).
MAX_MEAN_FC = 0.6
# Independent noise of T time points has a mean |r| of sqrt(2 / (pi T)); real subjects were at 1.9 times that or more.
NOISE_FACTOR = 1.5
# The same with independent time points instead of T, which tells filtered noise too (assets/studies/noise_strength.py).
# White or band-passed noise was at 1.46 or less from 60 time points on and at 1.41 or less from 150, so that the limit
# misses 3 of 2,100. Of whole recordings it takes one ABIDE subject in 899 for noise (1.44) and none of CNI-2019. Short
# pieces of real scans are not told from noise: of ABIDE's first 100 time points it flags 1 in 10, of 60 every second.
FILTERED_NOISE_FACTOR = 1.45
# The same scan written with four decimals differs by less; of two different ABIDE scans some connection by 0.5.
SAME_MEAN, SAME_CONNECTION = 5e-4, 1e-3
OVERALL_CONNECTIVITY = "mean_abs_fc"  # what tables and tests call mean |FC|
# Copied columns, also rounded or rescaled; no two regions of any real subject were correlated above 0.991.
SAME_SERIES = 0.9999

Level = Literal["warning", "note"]


@dataclass(frozen=True)
class _QualityFlag:
    """One remark on one subject: a short name, a sentence, and how much it matters."""

    name: str
    sentence: str
    level: Level = "warning"


def quality_flags(subject: Subject, atlas: Atlas, kind: ConnectivityKind | None = None) -> tuple[_QualityFlag, ...]:
    """Look at a subject's length, silent, missing and copied regions, mean connectivity and shape.

    Parameters
    ----------
    subject : Subject
    atlas : Atlas
    kind : ConnectivityKind, optional
        What its connectivity is; by default as far as its values tell.
    """
    flags = (*_length_flags(subject), *_region_flags(subject, atlas))
    return (*flags, *_correlation_flags(subject, atlas)) if _is_correlated(subject, kind) else flags


def quality_table(cohort: Cohort) -> pd.DataFrame:
    """One row per subject: mean connectivity, silent and copied regions, and its flags in words.

    A scan that occurs twice is flagged too. Means are of FC, and called otherwise where connectivity is not functional.
    """
    rows, means, looked_at = [], [], []
    for subject in cohort:  # all about one before the next: its connectivity is not kept for long
        kind = cohort.kind_of(subject)
        means.append(mean_connectivity(subject))
        looked_at.append((quality_flags(subject, cohort.atlas, kind), _same_series(subject, kind)))
    twins = same_scans(cohort, means)
    for subject, (mean, strength), (own, same) in zip(cohort, means, looked_at, strict=True):
        who = ", ".join(f"'{name}'" for name in twins.get(subject.id, ()))
        twin = _QualityFlag("same scan", f"Holds the same scan as {who}: one person counted twice, or a file misnamed.")
        flags = (*own, twin) if who else own
        rows.append(
            {
                "subject": subject.id,
                "group": subject.group,
                "time points": subject.n_timepoints,
                "silent regions": len(subject.silent_regions),
                "same series": len(same),
                cohort.kind.named("mean FC"): mean,
                cohort.kind.named("mean |FC|"): strength,
                "warnings": "; ".join(flag.sentence for flag in flags if flag.level == "warning"),
                "notes": "; ".join(flag.sentence for flag in flags if flag.level == "note"),
            }
        )
    return pd.DataFrame(rows).astype({"time points": "Int64"})


def same_scans(cohort: Cohort, means: Sequence[tuple[float, float]]) -> dict[str, tuple[str, ...]]:
    """Find subjects who hold the same connectivity under different ids, up to the rounding of their files.

    Parameters
    ----------
    means : sequence of (float, float), length n_subjects
        Of :func:`mean_connectivity`; matrices are compared only where both means agree to about three digits.

    Returns
    -------
    dict of str to tuple of str
        The ids of the others with the same scan, by id; nothing for a scan that occurs once.
    """
    known = [(means_of, subject) for subject, means_of in zip(cohort, means, strict=True) if means_of[1] > 0]
    if len(known) < 2:
        return {}
    from scipy.spatial import KDTree  # brings much of SciPy, which a page's first start need not wait for

    unit = 1.0 if cohort.kind.functional else max(means_of[1] for means_of, _ in known)  # of weights of any size
    near = KDTree([means_of for means_of, _ in known]).query_pairs(SAME_MEAN * unit)
    found: dict[str, list[str]] = defaultdict(list)
    for i, j in sorted(near):
        one, other = known[i][1], known[j][1]
        if one.n_regions == other.n_regions and np.allclose(
            subject_connectivity(one), subject_connectivity(other), rtol=0, atol=SAME_CONNECTION * unit
        ):
            found[one.id].append(other.id)
            found[other.id].append(one.id)
    return {name: tuple(others) for name, others in found.items()}


def _same_series(subject: Subject, kind: ConnectivityKind | None = None) -> tuple[int, ...]:
    """Find the regions (counted from 0) whose series is that of another region, up to sign, scale and rounding.

    Of a subject brought as a matrix they are those with a correlation of ±1; other weights say nothing of it.

    Parameters
    ----------
    subject : Subject
    kind : ConnectivityKind, optional
        What its connectivity is; by default as far as its values tell.
    """
    if not _is_correlated(subject, kind):
        return ()
    correlation = np.abs(subject_connectivity(subject))
    off_diagonal = np.where(np.eye(len(correlation), dtype=bool), 0, correlation)
    return tuple(np.flatnonzero((off_diagonal > SAME_SERIES).any(axis=0)).tolist())


def _is_correlated(subject: Subject, kind: ConnectivityKind | None) -> bool:
    """Whether connectivity is correlation, estimated here or brought."""
    if subject.connectivity is None:
        return True
    return (kind or subject_kind(subject)).functional and is_correlation(subject.connectivity)


def mean_connectivity(subject: Subject) -> tuple[float, float]:
    """Mean and mean absolute connectivity over pairs of regions that have signal."""
    active = np.setdiff1d(np.arange(subject.n_regions), subject.silent_regions)
    if active.size < 2:
        return 0.0, 0.0
    matrix = subject_connectivity(subject)[np.ix_(active, active)]
    pairs = matrix[np.triu_indices(active.size, 1)]
    return float(pairs.mean()), float(np.abs(pairs).mean())


def _length_flags(subject: Subject) -> Iterator[_QualityFlag]:
    if subject.n_timepoints is None:
        return
    minutes = None if subject.tr is None else subject.n_timepoints * subject.tr / 60
    if minutes is not None and minutes < MIN_MINUTES:
        said = f"{minutes:.1f} minutes; connectivity is stable from about {MIN_MINUTES:g} minutes on."
        yield _QualityFlag("short", said)
    elif minutes is None and subject.n_timepoints < MIN_TIMEPOINTS:
        said = f"{subject.n_timepoints} time points; fewer than {MIN_TIMEPOINTS} are unreliable."
        yield _QualityFlag("short", said)
    if subject.n_timepoints <= subject.n_regions:
        said = (
            f"{subject.n_timepoints} time points for {subject.n_regions} regions: the correlation matrix is singular, "
            "and partial correlations lean on shrinkage."
        )
        yield _QualityFlag("fewer time points than regions", said, level="note")


def _region_flags(subject: Subject, atlas: Atlas) -> Iterator[_QualityFlag]:
    if subject.missing_regions:
        said = f"Absent or NaN throughout: {_names(subject.missing_regions, atlas)}; connected to nothing."
        yield _QualityFlag("missing regions", said)
    silent = tuple(region for region in subject.silent_regions if region not in subject.missing_regions)
    if silent:
        names = _names(silent, atlas)
        of_series = f"No signal in {names}; connected to nothing."
        yield _QualityFlag("silent regions", f"Unconnected: {names}." if subject.series is None else of_series)


def _correlation_flags(subject: Subject, atlas: Atlas) -> Iterator[_QualityFlag]:
    """What correlations say; counts and other weights have a scale of their own."""
    if same := _same_series(subject, KINDS[ESTIMATED]):
        said = (
            f"{_names(same, atlas)} have the same series as another region: columns were copied, or one signal was "
            "extracted under several names. Connections among them mean nothing."
        )
        yield _QualityFlag("same series", said)
    mean, strength = mean_connectivity(subject)
    if mean > MAX_MEAN_FC:
        said = f"Mean connectivity {mean:.2f}: one global signal (motion, breathing) may dominate."
        yield _QualityFlag("high mean FC", said)
    elif subject.series is not None:
        # No more than independent signals have, of this length or of this autocorrelation.
        limits = (NOISE_FACTOR, len(subject.series)), (FILTERED_NOISE_FACTOR, effective_timepoints(subject.series))
        if any(n > 0 and strength < factor * np.sqrt(2 / (np.pi * n)) for factor, n in limits):
            yield _QualityFlag("no structure", f"Mean |FC| {strength:.2f}, close to that of independent noise.")


def _names(regions: tuple[int, ...], atlas: Atlas) -> str:
    shown = ", ".join(atlas.regions[region] for region in regions[:3])
    return f"{counted(len(regions), 'region')} ({shown}{', …' if len(regions) > 3 else ''})"


# A check of an atlas: whether the data look as if their columns were these regions, at these places.
#
# A region is connected to its mirror image in the other hemisphere more strongly than to most other regions there, and
# functional connectivity falls off with distance. Columns that are not the atlas's regions show neither. How reliably
# that tells a wrong atlas was measured on real subjects (``assets/studies/atlas_check.csv``): mirrored regions do,
# the fall with distance does not in data without global signal regression. Neither can tell hemispheres that were
# exchanged, or an order that keeps mirrored regions together. It never confirms an atlas: it may only speak against
# one.


DOUBT = "Check the atlas:"  # opens the sentence, by which pages tell it from other notes
MIRROR_MM = 10.0  # the mirror image of a region is the region that lies so near to its mirrored place
LEAST_MIRROR = 0.8  # between the right atlas and shuffled columns: assets/studies/atlas_check.csv
_MOST_SUBJECTS = 20
_LEAST_REGIONS = 20


@dataclass(frozen=True)
class AtlasCheck:
    """What connectivity says of an atlas.

    Attributes
    ----------
    fall : float
        How far connectivity falls with distance: minus Spearman's ρ over pairs of regions.
    mirror : float
        The mean rank of a region's connection to its mirror image among those to all regions of the other hemisphere:
        1 is the strongest, and 0.5 is chance.
    """

    fall: float
    mirror: float


def atlas_check(connectivity: FloatArray, atlas: Atlas) -> AtlasCheck | None:
    """Check one matrix; None where too few regions have a place, a mirror image and a signal.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
        Of one subject, or the mean of several.
    atlas : Atlas
        Whose regions the rows are taken for.
    """
    from scipy.spatial.distance import pdist  # takes half a second, and most commands do without

    known = atlas.placed & (np.abs(connectivity - np.diag(np.diag(connectivity))).sum(axis=0) > 0)
    if atlas.coordinates is None or known.sum() < _LEAST_REGIONS:
        return None
    matrix, places = connectivity[np.ix_(known, known)], atlas.coordinates[known]
    pairs = np.triu_indices(len(matrix), 1)
    fall = -float(np.corrcoef(ranks(matrix[pairs]), ranks(pdist(places)))[0, 1])
    mirror = _mirror_rank(matrix, places)
    return None if mirror is None else AtlasCheck(fall, mirror)


def atlas_doubt(cohort: Cohort) -> str:
    """A sentence for the user where the mean connectivity of a cohort's first subjects speaks against its atlas.

    Mirrored regions decide; the fall with distance alone is too weak in some data.
    """
    matrices = [subject_connectivity(subject) for subject in cohort.subjects[:_MOST_SUBJECTS]]
    found = atlas_check(np.mean(matrices, axis=0), cohort.atlas) if matrices else None
    if found is None or found.mirror >= LEAST_MIRROR:
        return ""
    return (
        f"{DOUBT} if these were the regions of {cohort.atlas.title}, connectivity would fall with distance "
        f"and mirrored regions would be strongly connected. Here the rank correlation with distance is "
        f"{-found.fall:.2f}, and mirrored regions rank at {percent(found.mirror)} (chance is 50 %)."
    )


def _mirror_rank(matrix: FloatArray, places: FloatArray) -> float | None:
    """The share of regions of the other hemisphere to which a region is connected less than to its mirror image."""
    from scipy.spatial.distance import cdist

    x = places[:, 0]
    other = np.outer(x, x) < 0
    distances = np.where(other, cdist(places * np.array([-1.0, 1.0, 1.0]), places), np.inf)
    mirror, every = distances.argmin(axis=1), np.arange(len(x))
    counted = (np.abs(x) >= MIRROR_MM) & (distances[every, mirror] <= MIRROR_MM) & (other.sum(axis=1) > 1)
    if counted.sum() < _LEAST_REGIONS // 2:
        return None
    weaker = (other & (matrix < matrix[every, mirror][:, None])).sum(axis=1)
    return float((weaker[counted] / (other.sum(axis=1)[counted] - 1)).mean())
