"""What is measured of the hubs of one subject, each result once."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from biobgt.hubs.cost import STEPS_ABOVE
from biobgt.hubs.hub_options import GAMMAS, NULL_SEEDS, EntanglementOptions, HubOptions
from biobgt.hubs.perturbation import Perturbation
from biobgt.kept_results import (
    HALF_HUBS,
    HUB_CORRELATION,
    HUB_CURVES,
    HUB_SWEEP,
    HUB_TABLE,
    HUBS,
    NULL_AGREEMENT,
    OWN_AGREEMENT,
    REGION_STORY,
)
from biobgt.measured_graph import MeasuredGraph

if TYPE_CHECKING:  # SciPy's statistics take a second, and not every page and command needs them
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from biobgt.hubs.beyond_strength import AgainstNulls, GraphAgreement
    from biobgt.hubs.group_curves import SubjectCurves
    from biobgt.hubs.rank_correlation import RankCorrelation
    from biobgt.hubs.region_story import RegionStory
    from biobgt.hubs.table import SubjectHubs


class MeasuredHubs(MeasuredGraph):
    """Hubs of one subject, seen with one kind of brain graph."""

    def hubs(self, perturbation: Perturbation) -> "SubjectHubs":
        """Hubs, at any γ."""
        from biobgt.hubs.table import measure_hubs

        return self.keep(
            HUBS, perturbation, lambda: measure_hubs(self.graph(), self.pearson(), perturbation=perturbation)
        )

    def hub_table(self, options: HubOptions, measures: tuple[str, ...] | None = None) -> "pd.DataFrame":
        """The table of :func:`biobgt.hubs.hub_table`, of some measures or of all; not to be changed."""
        how = options.part(HubOptions)
        return self.keep(HUB_TABLE, (how, measures), lambda: self.hubs(how.perturbation).table(how, measures))

    def strongest_hub(self, options: HubOptions) -> int:
        """The region with the highest node entanglement, counted from 0."""
        from biobgt.hubs.measures import NE

        return int(self.hub_table(options, (NE,))[f"{NE}_rank"].to_numpy().argmin())

    def hub_correlation(self, options: EntanglementOptions, measure: str) -> "RankCorrelation":
        """Spearman's ρ of node entanglement with another measure, over the regions with signal."""
        from biobgt.hubs.sweep import hub_correlation

        how = options.part(EntanglementOptions)
        return self.keep(
            HUB_CORRELATION, (how, measure), lambda: hub_correlation(self.hubs(how.perturbation), how.gamma, measure)
        )

    def hub_sweep(
        self, perturbation: Perturbation, measures: tuple[str, ...], gammas: tuple[float, ...] = GAMMAS
    ) -> "pd.DataFrame":
        """The same over γ; see :func:`biobgt.hubs.sweep.subject_sweep`.

        Parameters
        ----------
        perturbation : {"control", "remove"}
        measures : tuple of str
            That node entanglement is compared with.
        gammas : tuple of float
            In units of 1/mean(λ).
        """
        from biobgt.hubs.sweep import subject_sweep

        return self.keep(
            HUB_SWEEP,
            (perturbation, measures, gammas),
            lambda: subject_sweep(self.hubs(perturbation), gammas, measures=measures),
        )

    def hub_curves(self, options: EntanglementOptions, measures: tuple[str, ...]) -> "SubjectCurves":
        """Hub measures over the regions, small enough to keep them of every subject of a group."""
        from biobgt.hubs.group_curves import measure_curves

        gammas = self.gammas_with(options.gamma)
        return self.keep(
            HUB_CURVES,
            self.hub_curves_how(options, measures),
            lambda: measure_curves(
                self.graph(), self.pearson(), gammas, measures=measures, perturbation=options.perturbation
            ),
        )

    def hub_curves_how(self, options: EntanglementOptions, measures: tuple[str, ...]) -> Hashable:
        """What hub curves depend on beside the graph: not on γ, where that is one of the grid and regions are few."""
        return (options.perturbation, measures, self.gammas_with(options.gamma))

    def gammas_with(self, gamma: float) -> tuple[float, ...]:
        """The γ that are measured where one is asked for: the whole grid, where it is of it and regions are few."""
        few = self.atlas.n_regions <= STEPS_ABOVE
        return GAMMAS if few and gamma in GAMMAS else (gamma,)

    def hub_values(self, options: EntanglementOptions, measure: str) -> "NDArray[np.float64]":
        """One measure in every region, shape (n_regions,); no region is perturbed for one that needs no entropy."""
        from biobgt.hubs.measures import HUB_MEASURES, measures_without_gamma
        from biobgt.hubs.weights import full_connectivity

        if HUB_MEASURES[measure].depends_on_gamma:
            return self.hub_curves(options, (measure,)).at(options.gamma)[measure]
        graph = self.graph()
        found = measures_without_gamma(graph, full_connectivity(graph, self.pearson()), (measure,))
        return found[measure].astype(float)

    def region_story(self, options: HubOptions, region: int, gammas: tuple[float, ...] = GAMMAS) -> "RegionStory":
        """What node entanglement compares for one region.

        Parameters
        ----------
        options : HubOptions
        region : int
            Counted from 0.
        gammas : tuple of float
            Of the entropy curves, in units of 1/mean(λ).
        """
        from biobgt.hubs.region_story import region_story

        how = options.part(HubOptions)
        return self.keep(
            REGION_STORY,
            (how, region, gammas),
            lambda: region_story(self.graph(), self.hubs(how.perturbation), region, options=how, gammas=gammas),
        )

    def own_agreement(self, perturbation: Perturbation) -> "GraphAgreement":
        """Agreement of node entanglement beyond strength and degree, at every γ of the grid."""
        from biobgt.hubs.beyond_strength import graph_agreement

        hubs = self.hubs(perturbation)
        return self.keep(
            OWN_AGREEMENT,
            perturbation,
            lambda: graph_agreement(self.graph(), GAMMAS, has_signal=hubs.has_signal, spectra=hubs.spectra),
        )

    def null_agreement(
        self, perturbation: Perturbation, seed: int, *, gammas: tuple[float, ...] = GAMMAS
    ) -> "GraphAgreement":
        """The same in one null graph.

        Parameters
        ----------
        perturbation : {"control", "remove"}
        seed : int
            Of the null graph.
        gammas : tuple of float
            In units of 1/mean(λ).
        """
        from biobgt.hubs.beyond_strength import null_agreement

        hubs = self.hubs(perturbation)
        return self.keep(
            NULL_AGREEMENT,
            (perturbation, seed) if gammas == GAMMAS else (perturbation, seed, gammas),
            lambda: null_agreement(
                self.graph(), gammas, seed=seed, has_signal=hubs.has_signal, perturbation=perturbation
            ),
        )

    def nulls_left(self, perturbation: Perturbation, seeds: Sequence[int] = NULL_SEEDS) -> list[int]:
        """The seeds of the null graphs whose agreement is not measured yet."""
        return [seed for seed in seeds if not self.has(NULL_AGREEMENT, (perturbation, seed))]

    def agreement_against_nulls(
        self, options: EntanglementOptions, seeds: Sequence[int] = NULL_SEEDS
    ) -> "dict[str, AgainstNulls]":
        """The subject's agreement at one γ beside that of null graphs, by what is compared.

        Parameters
        ----------
        options : EntanglementOptions
            γ is one of the grid.
        seeds : sequence of int
            One of each null graph.
        """
        from biobgt.hubs.beyond_strength import set_against_nulls

        nulls = [self.null_agreement(options.perturbation, seed) for seed in seeds]
        return set_against_nulls(self.own_agreement(options.perturbation), nulls, options.gamma)

    def half_hubs(self, perturbation: Perturbation, number: int) -> "SubjectHubs":
        """Hubs of the first half of the recording (0) or of the second (1)."""
        from biobgt.hubs.split_half import measure_half

        return self.keep(
            HALF_HUBS,
            (perturbation, number),
            lambda: measure_half(self.subject, self.atlas, self.settings, number, perturbation=perturbation),
        )

    def halves_left(self, perturbation: Perturbation) -> list[int]:
        """The halves of the recording whose hubs are not measured yet."""
        from biobgt.hubs.split_half import HALVES

        return [number for number in HALVES if not self.has(HALF_HUBS, (perturbation, number))]

    def halves_compared(self, options: HubOptions) -> "pd.DataFrame":
        """How alike the halves of the recording are; see :func:`biobgt.hubs.split_half.compare_halves`."""
        from biobgt.hubs.measures import HUB_MEASURES
        from biobgt.hubs.split_half import HALVES, compare_halves

        first, second = (self.half_hubs(options.perturbation, number) for number in HALVES)
        return compare_halves(first, second, options.gamma, measures=list(HUB_MEASURES), top=options.share)
