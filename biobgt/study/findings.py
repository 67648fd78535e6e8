"""What a study found: the term of its design tested in edges, regions, numbers of the network, and maps.

Every test stands twice: with overall connectivity adjusted for, and without. Measures that depend on a threshold are
tested over its range (the area under the curve of levels) and at each level. Findings are written as tables with a
dictionary each, and read back as they were, without computing anything again.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.beyond import BEYOND, BEYOND_MEANS
from biobgt.base.errors import InputError
from biobgt.base.files import make_folder, meant, write_atomically, write_csv
from biobgt.study.design import DesignOptions

_TEST = ("estimate", "effect", "effect_low", "effect_high", "statistic", "p", "p_family", "q")
_GIVEN = ("effect_given", "p_given", "q_given", BEYOND)
_WHICH = ("adjusted", "contrast")
# The columns of each table; components and blocks have some of theirs.
TABLES: Mapping[str, tuple[str, ...]] = {
    "edges": (*_WHICH, "region", "other_region", *_TEST),
    "components": (*_WHICH, "component", "direction", "n_edges", "n_regions", "size", "threshold", "p_family"),
    "blocks": (*_WHICH, "network", "other_network", "n_edges", "mean_statistic", "p", "p_family", "q"),
    "regions": (*_WHICH, "measure", "level", "region", "name", *_TEST, "levels_alike", *_GIVEN),
    "network": (*_WHICH, "measure", "level", *_TEST, "levels_alike", *_GIVEN),
    "maps": (*_WHICH, "map", "other_map", "rho", "p", "q", "naive_p", "null", "n_regions"),
    "harmonised": ("measure", "level", "feature", "before", "after", "spread_before", "spread_after"),
    "overall_by_site": ("subject", "site", "before", "after"),
}
MEANING: Mapping[str, tuple[type, str]] = {
    "adjusted": (bool, "Whether overall connectivity is a covariate: every test stands twice."),
    "contrast": (str, "What is tested: a difference of two groups, a slope, or all groups at once (F)."),
    "measure": (str, "What was measured, by the name of its column at the participant level."),
    "level": (float, "Level of the threshold; empty for the area under the curve over all levels, over their range."),
    "region": (int, "Number of the region in the atlas, from 1."),
    "other_region": (int, "Number of the other region of the edge."),
    "name": (str, "Name of the region."),
    "estimate": (float, "Difference, or slope, adjusted for the covariates; empty for F."),
    "effect": (float, "The same in residual standard deviations (d), as partial r, or partial eta squared for F."),
    "effect_low": (float, "Lower end of its 95 % interval."),
    "effect_high": (float, "Upper end of its 95 % interval."),
    "statistic": (float, "t, or F of several groups."),
    "p": (float, "p of the permutations, of this one alone; two-sided for t."),
    "p_family": (float, "Family-wise p: against the largest of all that are tested together."),
    "q": (float, "False discovery rate of Benjamini and Hochberg."),
    "levels_alike": (float, "Share of the levels at which the effect has the sign that it has over all; empty at one."),
    "effect_given": (float, "The effect given what is simpler, such as strength and degree; empty at single levels."),
    "p_given": (float, "p of the permutations given what is simpler."),
    "q_given": (float, "False discovery rate given what is simpler."),
    BEYOND: (str, BEYOND_MEANS),
    "component": (int, "Number of the connected component of edges above the threshold; 0 for none."),
    "score": (float, "Score of the threshold-free statistic."),
    "p_score": (float, "Family-wise p of the score."),
    "direction": (str, "Whether effects are higher or lower in the first-named group, or with the number."),
    "n_edges": (int, "Number of edges."),
    "n_regions": (int, "Number of regions."),
    "size": (float, "Number of edges of the component, or the sum of what they exceed the threshold."),
    "threshold": (float, "Of |t|, or of F, above which edges make components."),
    "network": (str, "Functional network."),
    "other_network": (str, "The other functional network of the block."),
    "mean_statistic": (float, "Mean statistic of the block's edges."),
    "map": (str, "A map over regions."),
    "other_map": (str, "The map that it is compared with."),
    "rho": (float, "Spearman correlation over regions."),
    "naive_p": (float, "p as if regions were independent, which they are not: too small."),
    "null": (str, "Spatial nulls that p is of: spins of the sphere, or surrogates that are as smooth."),
    "feature": (int, "Number of the region, or of the pair of regions in the order of edges, from 1; 1 for a number."),
    "before": (float, "Before harmonisation: share of variance that sites explain, or overall connectivity."),
    "after": (float, "The same after harmonisation."),
    "spread_before": (float, "Share of the variance of absolute residuals that sites explain, before harmonisation."),
    "spread_after": (float, "The same after harmonisation."),
    "subject": (str, "Recording, by its id."),
    "site": (str, "Site or scanner."),
}
_OF_ALL = "findings.json"


@dataclass(frozen=True)
class TestedContrast:
    """What is tested at once.

    Attributes
    ----------
    name : str
        ``ASD - NC`` for a difference, the term for an effect of a number or of several columns.
    levels : tuple of str
        The two values whose difference it is; none for other effects.
    statistic : {"t", "F"}
    effect : str
        The measure of effects: d, partial r, or partial eta squared.
    smallest : float
        The smallest effect that this sample shows in one feature with a power of 80 % at 5 %.
    """

    name: str
    levels: tuple[str, ...]
    statistic: Literal["t", "F"]
    effect: str
    smallest: float


@dataclass(frozen=True)
class TestedDesign:
    """A design as it was tested.

    Attributes
    ----------
    adjusted : bool
        Whether overall connectivity is a covariate.
    formula, test : str
        The terms as they are fitted, and which of them is tested.
    recordings : {"averaged", "compared"}
    contrasts : tuple of TestedContrast
        Of more than two groups, all of them first, then every two.
    sizes : dict of str to int
        Rows of each tested value of words.
    n_people, n_rows, degrees : int
        People and rows that are tested (rows are people, or compared recordings); residual degrees of freedom.
    explained : float
        Share of what is tested that the covariates explain.
    covariates : tuple of str
    notes : tuple of str
        Sentences on who was left out, on confounding, leverage, and what is not estimable or could not be tested.
    """

    adjusted: bool
    formula: str
    test: str
    recordings: str
    contrasts: tuple[TestedContrast, ...]
    sizes: Mapping[str, int]
    n_people: int
    n_rows: int
    degrees: int
    explained: float
    covariates: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class StudyFindings:
    """All tests of a study.

    Tables of tests have the columns ``adjusted`` (whether overall connectivity is adjusted for: every test stands
    twice), ``contrast``, ``estimate``, ``effect``, ``effect_low``, ``effect_high``, ``statistic``, ``p``, ``p_family``
    and ``q`` as :class:`biobgt.inference.effects.TermEffects` has them, NaN where nothing was tested.

    Attributes
    ----------
    designs : tuple of TestedDesign
        The one that was asked for first, then the same with overall connectivity the other way, unless that cannot be
        tested, which a note says.
    edges : DataFrame
        A row per edge: ``region``, ``other_region``, counted from 1, the test, and what
        :class:`biobgt.inference.edges.EdgeEffects` adds: ``component`` (0 for none), or ``score`` and ``p_score``.
    components : DataFrame
        A row per component of edges; empty for methods without.
    blocks : DataFrame
        A row per pair of functional networks; empty for methods without.
    regions : DataFrame
        A row per ``measure``, ``level`` (NaN is the area under the curve over all levels, divided by their range) and
        ``region``, counted from 1, with its ``name``. Families are the regions of a measure; at single levels, those of
        all levels. ``levels_alike`` is the share of levels at which the effect has the sign of the area's. What is the
        same at all levels has no single levels. The area is tested again given what is simpler, such as strength and
        degree of the region: ``effect_given``, ``p_given``, ``q_given``, and ``beyond_fc``, the word of
        :func:`biobgt.base.beyond.beyond`.
    network : DataFrame
        The same, a row per ``measure`` and ``level``; the family is all measures, at single levels of all levels.
    maps : DataFrame
        A row per two maps over regions: ``map``, ``other_map``, ``rho`` (Spearman), ``p`` of spatial nulls, ``q``,
        ``naive_p`` as if regions were independent, ``null`` (which nulls), ``n_regions``. ``contrast`` is empty for
        maps of the whole cohort.
    harmonised : DataFrame
        Empty without harmonisation. Otherwise a row per ``measure``, ``level`` and feature: the share of variance that
        sites explain beyond the design, ``before`` and ``after``, and of the variance of absolute residuals.
    overall_by_site : DataFrame
        Empty without harmonisation. Otherwise a row per recording: ``subject``, ``site``, overall connectivity
        ``before`` and ``after``.
    labelling : str
        The functional networks of the blocks; empty without blocks.
    options : DesignOptions
    notes : tuple of str
        What holds for all tests: what was chosen where nothing was named, harmonisation, what was left out, families.
    """

    designs: tuple[TestedDesign, ...]
    edges: pd.DataFrame
    components: pd.DataFrame
    blocks: pd.DataFrame
    regions: pd.DataFrame
    network: pd.DataFrame
    maps: pd.DataFrame
    harmonised: pd.DataFrame
    overall_by_site: pd.DataFrame
    labelling: str
    options: DesignOptions
    notes: tuple[str, ...]

    def write(self, folder: Path) -> None:
        """Write all tables, each with a dictionary of its columns, and what is said of them.

        Parameters
        ----------
        folder : Path
            ``group`` of a study's folder; it is made.
        """
        make_folder(folder)
        for name in TABLES:
            table = getattr(self, name)
            columns = {column: {"Description": MEANING[column][1]} for column in table.columns}
            write_atomically(folder / f"{name}.json", json.dumps(columns, indent=2, ensure_ascii=False))
            write_atomically(folder / f"{name}.tsv", write_csv(table, sep="\t", index=False, lineterminator="\n"))
        about = {
            "designs": [asdict(design) for design in self.designs],
            "labelling": self.labelling,
            "options": self.options.as_dict(),
            "notes": self.notes,
        }
        # Last of all: where it is, everything is.
        write_atomically(folder / _OF_ALL, json.dumps(about, indent=2, ensure_ascii=False))


def has_findings(folder: Path) -> bool:
    """Whether the findings of a study lie in a folder."""
    return (folder / _OF_ALL).is_file()


def read_findings(folder: Path) -> StudyFindings:
    """The findings that :meth:`StudyFindings.write` wrote, equal to them in every number.

    Parameters
    ----------
    folder : Path
        ``group`` of a study's folder.
    """
    try:
        about = json.loads((folder / _OF_ALL).read_text(encoding="utf-8"))
        tables = {name: _read_table(folder / f"{name}.tsv") for name in TABLES}
        return StudyFindings(
            designs=tuple(_design_of(one) for one in about["designs"]),
            labelling=str(about["labelling"]),
            options=DesignOptions.from_plain(about["options"], of="the study"),
            notes=tuple(map(str, about["notes"])),
            **tables,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"The folder '{folder.name}' does not hold the whole findings of a study ({error}). Let the study test "
            "again: biobgt study with the level group."
        ) from error


def _read_table(file: Path) -> pd.DataFrame:
    return typed(meant(pd.read_csv(file, sep="\t", dtype=str, keep_default_na=False, na_filter=False)))


def typed(table: pd.DataFrame) -> pd.DataFrame:
    """A table of findings whose columns have the types that they are read back with, from text or numbers."""
    found: dict[str, NDArray[Any]] = {}
    for name, column in table.items():
        kind, values = MEANING[str(name)][0], column.to_numpy(object)
        if kind is float:
            found[str(name)] = np.where(values == "", "nan", values).astype(np.float64)
        elif kind is bool:
            found[str(name)] = np.isin(values.astype(str), ["True"])
        elif kind is int:
            found[str(name)] = values.astype(np.int64)
        else:
            found[str(name)] = np.array([str(value) for value in values], object)
    return pd.DataFrame(found, index=range(len(table)))


def _design_of(given: Mapping[str, Any]) -> TestedDesign:
    contrasts = tuple(TestedContrast(**{**one, "levels": tuple(one["levels"])}) for one in given["contrasts"])
    words = {name: tuple(given[name]) for name in ("covariates", "notes")}
    return TestedDesign(**{**given, "contrasts": contrasts, **words})
