"""What was measured of the recordings of a study, as arrays that the tests of its design take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.beyond import OVERALL
from biobgt.data.atlas import Atlas
from biobgt.data.graph import ConnectivityKind, ConnectomeSettings


@dataclass(frozen=True, eq=False)
class StudyData:
    """Everything that is tested, a row per recording, always in the order of the table.

    Attributes
    ----------
    table : DataFrame, n_recordings rows
        As :meth:`biobgt.data.cohort.Cohort.table` has it: ``subject``, ``group``, and the phenotypes.
    persons : tuple of str, length n_recordings
        Whose recording each is.
    atlas : Atlas
    kind : ConnectivityKind
        What their connectivity is.
    settings : ConnectomeSettings
        How graphs were made; the level is the first of ``levels``.
    levels : tuple of float, length n_levels
        The levels of the threshold, ascending: densities, or weights, as ``settings.threshold`` says. One where there
        is no threshold.
    edges : ndarray, shape (n_recordings, n_pairs)
        Fisher z of correlations, other weights as they are, single precision, perhaps a memory map. Pairs are those
        of the upper triangle, row by row. NaN where a region has no signal.
    regions : mapping of str to ndarray, shape (n_recordings, n_levels, n_regions)
        By key of :data:`biobgt.hubs.measures.HUB_MEASURES`, of :data:`biobgt.modules.measures.REGION_MEASURES`, or
        ``attention_received``; NaN in regions without signal.
    network : mapping of str to ndarray, shape (n_recordings, n_levels)
        Numbers of the whole network by column: those of :func:`biobgt.modules.measures.measure_columns`, small-world
        numbers, means over regions, ``mean_connectivity``; NaN where one is not defined.
    overall : ndarray, shape (n_recordings,)
        Overall connectivity, which tests can be adjusted for: mean |FC|, or the mean weight, over pairs with signal.
    lengths : ndarray, shape (n_pairs,), or None
        Mean length of the tracts of each pair over recordings in mm, NaN where nobody has any; None where not given.
    model : str
        The model whose attention was measured; empty for none.
    simpler : mapping of str to ndarray, shape (n_recordings, n_levels, n_regions)
        What is simpler than measures of regions, by key of :data:`biobgt.base.beyond.SIMPLER`.
    """

    table: pd.DataFrame
    persons: tuple[str, ...]
    atlas: Atlas
    kind: ConnectivityKind
    settings: ConnectomeSettings
    levels: tuple[float, ...]
    edges: NDArray[np.floating]
    regions: Mapping[str, FloatArray]
    network: Mapping[str, FloatArray]
    overall: FloatArray
    lengths: FloatArray | None = None
    model: str = ""
    simpler: Mapping[str, FloatArray] = field(default_factory=dict)

    @cached_property
    def silent(self) -> NDArray[np.bool_]:
        """Regions without signal in each recording, shape (n_recordings, n_regions): no edge of theirs is known."""
        n_regions = self.atlas.n_regions
        first, second = np.triu_indices(n_regions, 1)
        found = np.zeros((len(self.edges), n_regions), dtype=bool)
        for row, own in enumerate(self.edges):
            known = np.isfinite(own)
            if not known.all():
                found[row] = True
                found[row, first[known]] = found[row, second[known]] = False
        return found

    def some(self, rows: NDArray[np.intp]) -> "StudyData":
        """The data of some recordings, by their places."""
        return replace(
            self,
            table=self.table.iloc[rows].reset_index(drop=True),
            persons=tuple(np.array(self.persons, object)[rows]),
            edges=self.edges[rows],
            regions={name: values[rows] for name, values in self.regions.items()},
            network={name: values[rows] for name, values in self.network.items()},
            overall=self.overall[rows],
            simpler={name: values[rows] for name, values in self.simpler.items()},
        )

    def given(self, keys: Sequence[str], shape: tuple[int, ...]) -> FloatArray | None:
        """What is simpler than features, by the area under the curve, shape (n_recordings, n_features, n_simpler).

        Parameters
        ----------
        keys : sequence of str
            Of :data:`biobgt.base.beyond.SIMPLER`.
        shape : (int, int)
            Recordings and features.

        Returns
        -------
        ndarray or None
            None where nothing is simpler, or one of them was not measured.
        """
        known = {key: self.area(values) for key, values in self.simpler.items() if key in keys}
        known |= {OVERALL: self.overall[:, None]}
        if not keys or not set(keys) <= set(known):
            return None
        return np.stack([np.broadcast_to(known[key], shape) for key in keys], axis=-1)

    def area(self, values: FloatArray) -> FloatArray:
        """The area under the curve over levels, divided by their range: a mean in the measure's unit.

        Parameters
        ----------
        values : ndarray, shape (n_recordings, n_levels, ...)

        Returns
        -------
        ndarray, shape (n_recordings, ...)
        """
        if len(self.levels) == 1:
            return values[:, 0]
        steps = np.diff(self.levels) / 2
        weights = np.append(steps, 0) + np.append(0, steps)
        return np.asarray(np.tensordot(values, weights / weights.sum(), axes=(1, 0)))
