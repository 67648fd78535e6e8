"""A cohort as models take it: graphs, matrices for the baselines, and numbered groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from biobgt.cohort import Cohort, person_of
from biobgt.connectome import subject_connectivity
from biobgt.model.batch import GraphBatch
from biobgt.model.inputs import correlations, prepare
from biobgt.model.presets import Preset
from biobgt.result_store import FolderStore
from biobgt.training.readouts import ReadoutPart, readout_parts


@dataclass(frozen=True, eq=False)
class LabelledGraphs:
    """Subjects of known groups.

    Attributes
    ----------
    graphs : GraphBatch
    matrices : ndarray, shape (n_subjects, n_regions, n_regions)
        Pearson correlations, for the baselines.
    shrunk : ndarray, shape (n_subjects, n_regions, n_regions), or None
        Ledoit-Wolf correlations, for the tangent space; None where a subject has no series.
    shrinkage : float
        Of the log-Euclidean connectivity, for the baselines too.
    labels : ndarray of int, shape (n_subjects,)
        Position in ``groups``.
    groups : tuple of str
        Controls first.
    subjects : tuple of str
    readouts : tuple of tuple of int
        The groups of each cohort, where several are trained together; empty for one readout of all groups.
    """

    graphs: GraphBatch
    matrices: NDArray[np.float32]
    shrunk: NDArray[np.float32] | None
    shrinkage: float
    labels: NDArray[np.int64]
    groups: tuple[str, ...]
    subjects: tuple[str, ...]
    readouts: tuple[tuple[int, ...], ...] = ()

    @property
    def persons(self) -> tuple[str, ...]:
        """Whose recording each subject is, in order."""
        return tuple(map(person_of, self.subjects))

    @property
    def parts(self) -> list[ReadoutPart]:
        """The subjects of each readout."""
        return readout_parts(self.labels, len(self.groups), self.readouts)

    def of_readout(self, part: ReadoutPart) -> "LabelledGraphs":
        """The subjects and groups of one readout, as an ordinary cohort has them."""
        groups = tuple(self.groups[column] for column in part.columns)
        return replace(self.select(part.rows), labels=part.labels, groups=groups, readouts=())

    def select(self, rows: NDArray[np.int64]) -> "LabelledGraphs":
        """Some of the subjects, with the same groups."""
        return replace(
            self,
            graphs=self.graphs[torch.tensor(rows)],
            matrices=self.matrices[rows],
            shrunk=None if self.shrunk is None else self.shrunk[rows],
            labels=self.labels[rows],
            subjects=tuple(self.subjects[row] for row in rows),
        )

    def part(self, rows: NDArray[np.int64]) -> tuple[GraphBatch, Tensor]:
        """Graphs and labels of some subjects."""
        chosen = torch.tensor(rows)
        return self.graphs[chosen], torch.tensor(self.labels)[chosen]


def feature_store(folder: Path) -> FolderStore:
    """Where NE and modules are kept by content: the same matrix has the same, whatever the cohort."""
    return FolderStore(folder, "any")


def label_graphs(
    cohort: Cohort,
    preset: Preset,
    *,
    readouts: Sequence[Sequence[str]] = (),
    kept: Path | None = None,
    workers: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
) -> LabelledGraphs:
    """Prepare a cohort whose subjects all have a group.

    Parameters
    ----------
    cohort : Cohort
    preset : Preset
    readouts : sequence of sequence of str
        The groups of each cohort, where several are trained together.
    kept : Path, optional
        Folder in which NE and modules are kept by content, so that the next run need not compute them.
    workers : int, optional
        Processes on this machine; None is one per core.
    progress : callable, optional
        Told (done, total) after each subject.
    """
    groups, store = tuple(cohort.group_sizes), None if kept is None else feature_store(kept)
    has_series = all(subject.series is not None for subject in cohort)
    return LabelledGraphs(
        graphs=prepare(cohort.subjects, preset, store=store, workers=workers, progress=progress),
        matrices=np.stack([correlations(subject).astype(np.float32) for subject in cohort]),
        shrunk=np.stack([subject_connectivity(one, estimator="ledoit-wolf").astype(np.float32) for one in cohort])
        if has_series
        else None,
        shrinkage=preset.shrinkage,
        labels=np.array([groups.index(str(subject.group)) for subject in cohort]),
        groups=groups,
        subjects=cohort.ids,
        readouts=tuple(tuple(groups.index(name) for name in names) for names in readouts),
    )
