"""A second witness for an atlas: whether the data look as if their columns were these regions, at these places.

A region is connected to its mirror image in the other hemisphere more strongly than to most other regions there, and
functional connectivity falls off with distance. Columns that are not the atlas's regions show neither. How reliably
that tells a wrong atlas was measured on real subjects (``assets/studies/atlas_witness.csv``): mirrored regions do, the
fall with distance does not in data without global signal regression. Neither can tell hemispheres that were
exchanged, or an order that keeps mirrored regions together. It never confirms an atlas: it may only speak against one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biobgt.atlas import Atlas
from biobgt.cohort import Cohort, Subject
from biobgt.ranks import ranks
from biobgt.wording import percent

Matrix = NDArray[np.float64]

DOUBT = "Check the atlas:"  # opens the sentence, by which pages tell it from other notes
MIRROR_MM = 10.0  # the mirror image of a region is the region that lies so near to its mirrored place
LEAST_MIRROR = 0.8  # between the right atlas and shuffled columns: assets/studies/atlas_witness.csv
_MOST_SUBJECTS = 20
_LEAST_REGIONS = 20


@dataclass(frozen=True)
class AtlasWitness:
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

    @property
    def doubts(self) -> bool:
        """Whether mirrored regions speak against the atlas; the fall with distance alone is too weak in some data."""
        return self.mirror < LEAST_MIRROR


def atlas_witness(connectivity: Matrix, atlas: Atlas) -> AtlasWitness | None:
    """Hear the witness on one matrix; None where too few regions have a place, a mirror image and a signal.

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
    fall = -_correlation(ranks(matrix[pairs]), ranks(pdist(places)))
    mirror = _mirror_rank(matrix, places)
    return None if mirror is None else AtlasWitness(fall, mirror)


def cohort_witness(cohort: Cohort) -> AtlasWitness | None:
    """Hear the witness on the mean connectivity of a cohort's first subjects."""
    matrices = [_connectivity(subject) for subject in cohort.subjects[:_MOST_SUBJECTS]]
    return atlas_witness(np.mean(matrices, axis=0), cohort.atlas) if matrices else None


def doubt_words(cohort: Cohort, witness: AtlasWitness) -> str:
    """A sentence for the user where the witness speaks against the atlas."""
    return (
        f"{DOUBT} if these were the regions of {cohort.atlas.title}, connectivity would fall with distance "
        f"and mirrored regions would be strongly connected. Here the rank correlation with distance is "
        f"{-witness.fall:.2f}, and mirrored regions rank at {percent(witness.mirror)} (chance is 50 %)."
    )


def _mirror_rank(matrix: Matrix, places: Matrix) -> float | None:
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


def _connectivity(subject: Subject) -> Matrix:
    if subject.connectivity is not None:
        return subject.connectivity
    assert subject.series is not None
    centred = subject.series - subject.series.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    standard = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 0)
    return np.asarray(standard.T @ standard)


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.corrcoef(one, other)[0, 1])
