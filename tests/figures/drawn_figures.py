"""Figures drawn of a few numbers that one can check by hand: of hubs, of one region, of a matrix, in a brain."""

import io
from itertools import cycle
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from matplotlib.colors import to_hex, to_rgb

from biobgt.base.colours import MODULE_COLOURS
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ESTIMATED, KINDS, ConnectomeSettings
from biobgt.figures import drawing as draw
from biobgt.figures import hubs as family
from biobgt.figures import order_regions, why_region
from biobgt.figures.brain import Brain, in_brain
from biobgt.figures.drawing import Drawing, Panel
from biobgt.figures.paper import pen
from biobgt.figures.paper.frame import save_figure
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.regions import ATLAS_ORDER
from biobgt.figures.screen.pen import draw_on_screen
from biobgt.hubs.agreement import RankCorrelation
from biobgt.hubs.region import RegionExplanation, _Neighbourhood
from biobgt.results.measured import Measured

STYLE = PaperStyle(dpi=100)
CURVES = {
    "node_entanglement": np.array([0.1, 0.4, 0.2, 0.3]),
    "node_efficiency": np.array([1.0, 2.0, 3.0, 4.0]),
    "fc_strength": np.array([-1.0, 0.0, 1.0, 2.0]),
}
HUBS = np.array([False, True, False, False])
_REFERENCES = ("node efficiency", "FC strength")
SWEEP = pd.DataFrame({"reference": np.repeat(_REFERENCES, 3), "gamma": [0.1, 1.0, 10.0] * 2})
SWEEP["spearman"] = [0.7, 0.6, 0.1, 0.3, np.nan, -0.2]
STUDY = pd.DataFrame({"reference": np.repeat(_REFERENCES, 2), "gamma": [0.1, 10.0] * 2})
STUDY[["mean", "sd"]] = [(0.6, 0.1), (0.2, 0.2), (0.1, 0.3), (0.0, 0.4)]


def on_screen(drawing):
    """The drawing as plotly checks it."""
    return go.Figure(draw_on_screen(drawing))


RELIABILITY = pd.DataFrame(
    [(0.2, 0.25, 0.1, 0.5, 8), (0.7, 0.6, 0.4, 0.8, 9)],
    columns=["predicted", "observed", "observed_low", "observed_high", "n"],
)
_COMPARED = (draw.Band, draw.Bars, draw.Curve, draw.Heatmap, draw.Points, draw.Rule)


def drawn_by_both(drawing, style=STYLE):
    """What both pens make of the drawing for paper, if each has every mark with its numbers."""
    shown = drawing.for_paper(style)
    screen, printed = on_screen(shown), pen.draw_on_paper(shown, style)
    for panel, axes in zip(shown.panels, printed.axes, strict=False):
        for mark in (one for one in panel.marks if isinstance(one, _COMPARED)):
            assert _is_printed(mark, axes, own_colours=style.palette == STYLE.palette), mark.name
            assert _is_on_screen(mark, panel, screen), mark.name
        assert (axes.get_xscale() == "log", axes.yaxis_inverted()) == (panel.x.log, panel.y.reversed)
    return screen, printed


def _close(one, other):
    if not len(other) or np.asarray(other).dtype.kind in "UO":
        return list(one) == list(other)
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-6, equal_nan=True)


def _is_printed(mark, axes, *, own_colours):
    """Whether paper has a mark, with its numbers and its line."""
    if isinstance(mark, draw.Heatmap):
        left, right, _, _ = axes.images[0].get_extent()
        n = mark.z.shape[1]
        middles = left + (np.arange(n) + 0.5) * (right - left) / n
        shown = np.ma.filled(axes.images[0].get_array(), np.nan)
        return _close(shown, mark.z) and _close(middles, np.arange(n) if mark.x is None else mark.x)
    if isinstance(mark, draw.Bars):
        drawn = [[(bar.get_x() + bar.get_width() / 2, bar.get_height()) for bar in bars] for bars in axes.containers]
        return any(_close(bars, np.column_stack([mark.x, mark.y])) for bars in drawn)
    if isinstance(mark, draw.Band):
        corners = np.column_stack([np.tile(mark.x, 2), np.concatenate([mark.low, mark.high])])
        shapes = [path.vertices for drawn in axes.collections for path in drawn.get_paths()]
        return any(np.isclose(shape[:, None], corners).all(axis=2).any(axis=0).all() for shape in shapes)
    if isinstance(mark, draw.Rule):
        return any(mark.x in line.get_xdata() or mark.y in line.get_ydata() for line in axes.lines)
    dash = pen._DASHES[mark.dash] if isinstance(mark, draw.Curve) else "-" if mark.joined else "None"
    xy, colour = np.column_stack([mark.x, mark.y]), mark.colour.lower()
    return any(
        _close(line.get_xydata(), xy)
        and line.get_linestyle() == dash
        and (not own_colours or to_hex(line.get_color()) == colour)
        for line in axes.lines
    )


def _is_on_screen(mark, panel, figure):
    if isinstance(mark, draw.Rule):
        if mark.x is None:
            return mark.y in [line.y0 for line in figure.layout.shapes]
        lines = [line.x0 for line in figure.layout.shapes]
        return mark.x in lines or any(mark.x in trace.x for trace in figure.data)
    if isinstance(mark, draw.Heatmap):
        return any(_close(trace.z, mark.z) for trace in figure.data)
    if isinstance(mark, draw.Band):
        return any(_close(trace.y, np.concatenate([mark.high, np.flip(mark.low)])) for trace in figure.data)
    x, y = (
        [axis.names[int(at)].replace("\n", "<br>") for at in along] if axis.names and axis.ticks is None else along
        for axis, along in ((panel.x, mark.x), (panel.y, mark.y))
    )
    return any(_close(trace.x, x) and _close(trace.y, y) for trace in figure.data)


def written(figure, format, style=STYLE):
    """The bytes of a figure's file."""
    buffer = io.BytesIO()
    save_figure(figure, buffer, format, style)
    return buffer.getvalue()


def contrast(one, other):
    """Contrast ratio of two colours, as WCAG 2 defines it."""
    parts = np.array([to_rgb(one), to_rgb(other)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    dark, light = np.sort(linear @ [0.2126, 0.7152, 0.0722])
    return (light + 0.05) / (dark + 0.05)


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
    return family.hub_scatter(measured, family.hub_scatter.takes(**{"measure": "fc_strength", **options}))


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
    options = why_region.region_surroundings.takes(perturbed=perturbed)
    return of_story(why_region.region_surroundings, options, story, names, **about)


def spectra_of(before, after, **about):
    """Two spectra."""
    story = _story(spectrum_before=before, spectrum_after=after, n_regions=len(before))
    return of_story(why_region.region_spectra, why_region.region_spectra.takes(), story, **about)


def entropies_of(gammas, before, after, *, typical, gamma, **about):
    """Two curves of entropy."""
    entropies = {"entropy_before": before, "entropy_after": after, "typical_change": typical}
    story = _story(gammas=gammas, gamma=gamma, **entropies)
    return of_story(why_region.region_entropy, why_region.region_entropy.takes(gamma), story, **about)


def _story(name="R0", **about):
    """The story of a region of which nothing else is told."""
    arrays = ("spectrum_before", "spectrum_after", "gammas", "entropy_before", "entropy_after", "typical_change")
    alone = _Neighbourhood((0,), np.zeros((1, 1)), np.zeros((1, 1)))
    known = {"region": 0, "name": name, "n_regions": 1, "perturbation": "control", "gamma": 0.5, "standings": {}}
    known |= {"neighbourhood": alone, "chosen_entropies": (0.0, 0.0), **dict.fromkeys(arrays, np.zeros(1))}
    return RegionExplanation(**known | about)


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
