"""Figures of hubs and of one region, made of a few numbers that one can check by hand."""

import numpy as np
import pandas as pd

from biobgt.figures import GammaSweep, HubCurves, HubScatter, order_regions
from biobgt.figures.gamma_sweep import GammaSweepOptions
from biobgt.figures.graph_words import ATLAS_ORDER
from biobgt.figures.hub_curve_options import HubCurvesOptions
from biobgt.figures.hub_scatter import HubScatterOptions
from biobgt.figures.region_surroundings import RegionSurroundings, SurroundingsOptions
from biobgt.figures.why_region import EntropyOptions, RegionEntropy, RegionOptions, RegionSpectra
from biobgt.hubs.rank_correlation import RankCorrelation
from biobgt.hubs.region_story import Neighbourhood, RegionStory

CURVES = {
    "node_entanglement": np.array([0.1, 0.4, 0.2, 0.3]),
    "node_efficiency": np.array([1.0, 2.0, 3.0, 4.0]),
    "fc_strength": np.array([-1.0, 0.0, 1.0, 2.0]),
}
HUBS = np.array([False, True, False, False])
_REFERENCES = ("node efficiency", "FC strength")
SWEEP = pd.DataFrame(
    {
        "reference": np.repeat(_REFERENCES, 3),
        "gamma": [0.1, 1.0, 10.0] * 2,
        "spearman": [0.7, 0.6, 0.1, 0.3, np.nan, -0.2],
    }
)
STUDY = pd.DataFrame(
    {
        "reference": np.repeat(_REFERENCES, 2),
        "gamma": [0.1, 10.0] * 2,
        "mean": [0.6, 0.2, 0.1, 0.0],
        "sd": [0.1, 0.2, 0.3, 0.4],
    }
)


def curves_of(regions, *, curves=CURVES, hubs=HUBS, order=None, in_order=ATLAS_ORDER, **given):
    """Hub curves; what is no field of the figure is one of its options."""
    fields = {name: given.pop(name) for name in ("group", "title", "simulated", "subject") if name in given}
    return HubCurves(
        curves=curves,
        regions=regions,
        hubs=hubs,
        order=order or order_regions(len(regions)),
        options=HubCurvesOptions(order=in_order, measures=tuple(curves), **given),
        **fields,
    )


def scatter_of(
    regions, rho=0.4, low=0.1, high=0.6, *, curves=CURVES, hubs=HUBS, n_regions=4, simulated=False, **options
):
    """Node entanglement against FC strength, or against the measure of the options."""
    options = HubScatterOptions(**{"measure": "fc_strength", **options})
    return HubScatter(
        subject="s",
        title="NE against FC strength",
        simulated=simulated,
        values=curves[options.measure],
        entanglement=curves["node_entanglement"],
        regions=regions,
        hubs=hubs,
        correlation=RankCorrelation(rho, low, high, n_regions),
        options=options,
    )


def sweep_of(gamma, *, sweep=SWEEP, perturbation="control", **fields):
    """Agreement over γ."""
    return GammaSweep(subject="s", sweep=sweep, options=GammaSweepOptions(gamma, perturbation), **fields)


def surroundings_of(names, before, after=None, *, perturbed=False, **fields):
    """The first region among the others, with weights among them."""
    after = before if after is None else after
    story = _story(names[0], neighbourhood=Neighbourhood(tuple(range(len(names))), before, after))
    return RegionSurroundings(
        story=story, regions=names, options=SurroundingsOptions(perturbed=perturbed), **{"title": "T", **fields}
    )


def spectra_of(before, after, **fields):
    """Two spectra."""
    return RegionSpectra(story=_story(spectra=(before, after)), options=RegionOptions(), **fields)


def entropies_of(gammas, before, after, *, typical, gamma, **fields):
    """Two curves of entropy."""
    story = _story(gammas=gammas, entropies=(before, after), typical=typical, gamma=gamma)
    return RegionEntropy(story=story, options=EntropyOptions(gamma), **fields)


def _story(name="R0", *, neighbourhood=None, spectra=None, gammas=None, entropies=None, typical=None, gamma=0.5):
    nothing = np.zeros(1)
    return RegionStory(
        region=0,
        name=name,
        n_regions=1 if spectra is None else len(spectra[0]),
        perturbation="control",
        neighbourhood=neighbourhood or Neighbourhood((0,), np.zeros((1, 1)), np.zeros((1, 1))),
        spectrum_before=nothing if spectra is None else spectra[0],
        spectrum_after=nothing if spectra is None else spectra[1],
        gammas=nothing if gammas is None else gammas,
        entropy_before=nothing if entropies is None else entropies[0],
        entropy_after=nothing if entropies is None else entropies[1],
        typical_change=nothing if typical is None else typical,
        gamma=gamma,
        chosen_entropies=(0.0, 0.0),
        standings={},
    )
