"""What a study found: the term of its design tested in edges, regions, numbers of the network, and maps.

Every test stands twice: with overall connectivity adjusted for, and without. Measures that depend on a threshold are
tested over its range (the area under the curve of levels) and at each level.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from biobgt.study.design import DesignOptions


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
        Sentences on who was left out, on confounding, leverage, and what is not estimable.
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

    Every table has the columns ``adjusted`` (whether overall connectivity is adjusted for: every test stands twice) and
    ``contrast``. Tests have ``estimate``, ``effect``, ``effect_low``, ``effect_high``, ``statistic``, ``p``,
    ``p_family`` and ``q`` as :class:`biobgt.inference.effects.TermEffects` has them, NaN where nothing was tested.

    Attributes
    ----------
    designs : tuple of TestedDesign
        The one that was asked for first, then the same with overall connectivity the other way.
    edges : DataFrame
        A row per edge: ``region``, ``other_region``, counted from 1, the test, and what
        :class:`biobgt.inference.edges.EdgeEffects` adds: ``component`` (0 for none), or ``score`` and ``p_score``.
    components : DataFrame
        A row per component or block, as :attr:`biobgt.inference.edges.EdgeEffects.networks`; empty for methods without.
    regions : DataFrame
        A row per ``measure``, ``level`` (NaN is the area under the curve over all levels, divided by their range) and
        ``region``, counted from 1, with its ``name``. Families are the regions of a measure; at single levels, those of
        all levels. ``levels_alike`` is the share of levels at which the effect has the sign of the area's.
    network : DataFrame
        The same, a row per ``measure`` and ``level``; the family is all measures, at single levels of all levels.
    maps : DataFrame
        A row per two maps over regions: ``map``, ``other_map``, ``rho`` (Spearman), ``p`` of spatial nulls, ``q``,
        ``null`` (which nulls), ``n_regions``. ``contrast`` is empty for maps of the whole cohort.
    harmonised : DataFrame
        Empty without harmonisation. Otherwise a row per ``measure``, ``level`` and feature: the share of variance that
        the site explains beyond the design, ``before`` and ``after``.
    overall_by_site : DataFrame
        Empty without harmonisation. Otherwise a row per recording: ``subject``, ``site``, overall connectivity
        ``before`` and ``after``.
    options : DesignOptions
    notes : tuple of str
        What holds for all tests: harmonisation, what was left out, families.
    """

    designs: tuple[TestedDesign, TestedDesign]
    edges: pd.DataFrame
    components: pd.DataFrame
    regions: pd.DataFrame
    network: pd.DataFrame
    maps: pd.DataFrame
    harmonised: pd.DataFrame
    overall_by_site: pd.DataFrame
    options: DesignOptions
    notes: tuple[str, ...]
