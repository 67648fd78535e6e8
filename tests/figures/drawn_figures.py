"""Figures drawn of a few numbers that one can check by hand: of hubs, of one region, of a matrix, in a brain."""

from itertools import cycle
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from biobgt.base.colours import MODULE_COLOURS
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ESTIMATED, KINDS, ConnectomeSettings
from biobgt.figures import hubs as family
from biobgt.figures import order_regions, why_region
from biobgt.figures.brain import Brain, in_brain
from biobgt.figures.drawing import ATLAS_ORDER, Drawing, Panel
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.screen import draw_on_screen
from biobgt.hubs.agreement import RankCorrelation
from biobgt.hubs.region import RegionExplanation, _Neighbourhood
from biobgt.results.measured import Measured

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


def on_screen(drawing):
    """The drawing as plotly checks it."""
    return go.Figure(draw_on_screen(drawing))


def traces(figure):
    """Traces by name."""
    return {trace.name: trace for trace in figure.data if trace.name}


def measured_of(regions=("A",), *, subject="s", simulated=False, **results):
    """A stand-in for what was measured of a subject: its regions, and the results that a figure asks for."""
    about = {"name": "toy", "title": "a toy", "cites": (), "labels": {}}
    atlas = SimpleNamespace(**about, regions=tuple(regions), n_regions=len(regions))
    one = SimpleNamespace(id=subject, simulated=simulated, silent_regions=(), series=None, group=None)
    about = {"atlas": atlas, "subject": one, "one": one, "settings": ConnectomeSettings(), "kind": KINDS[ESTIMATED]}
    return SimpleNamespace(**about, mean_connectivity=lambda: (0.5, 0.5), **results)


def curves_of(regions, *, curves=CURVES, hubs=HUBS, order=None, in_order=ATLAS_ORDER, group=None, **given):
    """Hub curves; what says nothing of the subject is one of the options."""
    about = {name: given.pop(name) for name in ("simulated", "subject") if name in given}
    table = pd.DataFrame({f"{key}{suffix}": values for key, values in curves.items() for suffix in ("", "_z", "_rank")})
    table[f"{next(iter(curves))}_hub"] = hubs
    measured = measured_of(regions, hub_table=lambda options, measures: table, **about)
    options = family.HubCurvesOptions(order=in_order, measures=tuple(curves), group=group is not None, **given)
    shown = order or order_regions(len(regions))
    with (
        patch.object(family, "_regions_shown", return_value=shown),
        patch.object(family, "_group_band", return_value=group),
    ):
        return family.hub_curves(measured, options)


def group_behind(name, n, mean, sd):
    """Curves of a group of n people, for :func:`curves_of`."""
    return family._GroupBand(name, n, n, mean, sd)


def scatter_of(
    regions, rho=0.4, low=0.1, high=0.6, *, curves=CURVES, hubs=HUBS, n_regions=4, simulated=False, **options
):
    """Node entanglement against FC strength, or against the measure of the options."""
    table = pd.DataFrame({"node_entanglement": curves["node_entanglement"], "node_entanglement_hub": hubs})
    measured = measured_of(
        regions,
        simulated=simulated,
        hub_table=lambda options, measures: table,
        hubs=lambda perturbation: SimpleNamespace(values=lambda gamma, measures: curves),
        hub_correlation=lambda options, measure: RankCorrelation(rho, low, high, n_regions),
    )
    return family.hub_scatter(measured, family.HubScatterOptions(**{"measure": "fc_strength", **options}))


def sweep_of(gamma, *, sweep=SWEEP, study=None, note="", rhos=None, perturbation="control", **about):
    """Agreement over γ."""
    measured = measured_of(
        hub_sweep=lambda perturbation, measures, gammas: sweep,
        hub_correlation=lambda options, measure: SimpleNamespace(rho=(rhos or {}).get(measure, 0.5)),
        **about,
    )
    with patch("biobgt.results.studies.study_sweep", return_value=SimpleNamespace(agreement=study, note=note)):
        return family.gamma_sweep(measured, family._GammaSweepOptions(gamma, perturbation))


def of_story(figure, options, story, regions=(), **about):
    """A figure of a region's story."""
    measured = measured_of(
        regions or [story.name], explain_region=lambda *how: story, strongest_hub=lambda how: 0, **about
    )
    return figure(measured, options)


def surroundings_of(names, before, after=None, *, perturbed=False, **about):
    """The first region among the others, with weights among them."""
    after = before if after is None else after
    story = _story(names[0], neighbourhood=_Neighbourhood(tuple(range(len(names))), before, after))
    options = why_region.SurroundingsOptions(perturbed=perturbed)
    return of_story(why_region.region_surroundings, options, story, names, **about)


def spectra_of(before, after, **about):
    """Two spectra."""
    return of_story(why_region.region_spectra, why_region.RegionOptions(), _story(spectra=(before, after)), **about)


def entropies_of(gammas, before, after, *, typical, gamma, **about):
    """Two curves of entropy."""
    story = _story(gammas=gammas, entropies=(before, after), typical=typical, gamma=gamma)
    return of_story(why_region.region_entropy, why_region.EntropyOptions(gamma), story, **about)


def _story(name="R0", *, neighbourhood=None, spectra=None, gammas=None, entropies=None, typical=None, gamma=0.5):
    nothing = np.zeros(1)
    return RegionExplanation(
        region=0,
        name=name,
        n_regions=1 if spectra is None else len(spectra[0]),
        perturbation="control",
        neighbourhood=neighbourhood or _Neighbourhood((0,), np.zeros((1, 1)), np.zeros((1, 1))),
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


def brain_of(coordinates, regions, *, groups=None, **about):
    """One brain; groups have the house's colours."""
    names = dict.fromkeys(name for name in groups or () if name is not None)
    colours = {"group_colours": dict(zip(names, cycle(MODULE_COLOURS), strict=False))} if groups else {}
    return Brain(coordinates=coordinates, regions=regions, groups=groups, **(colours | about))


def drawing_of(brain, *, title="", simulated=False):
    """One brain as a figure draws it."""
    return in_brain(brain, lambda where: where, title=title, simulated=simulated)


def brain_3d(coordinates, regions, *, title="", simulated=False, **about):
    """The drawing for the screen."""
    return on_screen(drawing_of(brain_of(coordinates, regions, **about), title=title, simulated=simulated))


def glass_brain(coordinates, regions, *, style=None, title="", simulated=False, **about):
    """The drawing for paper."""
    drawing = drawing_of(brain_of(coordinates, regions, **about), title=title, simulated=simulated)
    return draw_on_paper(drawing, style or PaperStyle())


def brains_on_one_scale(panels, coordinates, regions, *, title="", simulated=False, quantity=""):
    """Several brains on one scale, by what stands above them."""
    limits = min(z.min() for z in panels.values()), max(z.max() for z in panels.values())
    about = {"coordinates": coordinates, "regions": regions, "quantity": quantity, "limits": limits}
    brains = [Panel(title=name, marks=[Brain(sizes=z, values=z, **about)]) for name, z in panels.items()]
    return Drawing(title=title, simulated=simulated, panels=brains)


def measured_matrix(matrix, regions, *, networks=None, subject="s1", simulated=False, **settings):
    """What is measured of a connectivity matrix, with regions of some networks."""
    labels = {} if networks is None else {"networks": tuple(networks)}
    cohort = Cohort(
        "toy",
        (Subject(subject, connectivity=matrix, simulated=simulated),),
        Atlas("toy", "a toy", tuple(regions), labels=labels),
    )
    return Measured(cohort).of(subject, ConnectomeSettings(**settings))
