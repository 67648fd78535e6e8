"""Recipes of one subject's connectivity: the heatmap, the carpet of its series, the spread of its connections."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from biobgt.atlas import Atlas
from biobgt.errors import InputError
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.references import ATLAS_KEYS
from biobgt.figures import (
    RegionOrder,
    colour_limit,
    connectivity_caption,
    distribution_caption,
    graph_caption,
    order_regions,
    paper,
    series_caption,
)
from biobgt.figures.paper.style import PaperStyle
from biobgt.graph import ConnectomeSettings, Matrix, check_choice
from biobgt.quality import mean_connectivity

ATLAS_ORDER = "atlas"
MATRICES: Mapping[str, str] = {"connectivity": "Functional connectivity", "graph": "Brain graph"}
QUANTITIES: Mapping[str, str] = {
    "pearson": "r",
    "fisher-z": "Fisher z",
    "partial": "partial r",
    "ledoit-wolf": "shrunk r",
    "tangent": "tangent",
}
_SHRUNK = {"partial", "ledoit-wolf", "tangent"}


def regions_in_order(atlas: Atlas, order: str) -> RegionOrder:
    """The atlas's order, or that of one of its labellings."""
    return order_regions(atlas.n_regions, None if order == ATLAS_ORDER else atlas.labelling(order))


def connectome_methods(atlas: Atlas, settings: ConnectomeSettings) -> tuple[str, ...]:
    """Say how the brain graph was made."""
    return (
        f"Brain graphs have the {atlas.n_regions} regions of {atlas.title} as nodes. {_capital(settings.describe())}.",
    )


def connectome_citations(atlas: Atlas, settings: ConnectomeSettings) -> tuple[str, ...]:
    """What to cite for it."""
    keys = [ATLAS_KEYS[atlas.name]] if atlas.name in ATLAS_KEYS else []
    return (*keys, "abraham2014", *(["ledoit2004"] if settings.estimator in _SHRUNK else []))


def matrix_numbers(matrix: Matrix, regions: tuple[str, ...], order: RegionOrder) -> pd.DataFrame:
    """A matrix as it is drawn: a row and a column a region, in the order of the figure."""
    names = [regions[region] for region in order.order]
    drawn = pd.DataFrame(matrix[np.ix_(order.order, order.order)], columns=names)
    drawn.insert(0, "region", names, allow_duplicates=True)
    return drawn


def _heatmap(order: Order, style: PaperStyle) -> MadeFigure:
    subject, settings, atlas = order.subject, order.request.settings, order.measured.atlas
    check_choice("matrix", order.options["matrix"], tuple(MATRICES))
    connectivity = order.measured.connectivity(subject, settings)
    graph = order.measured.graph(subject, settings)
    limit = colour_limit(connectivity, settings.estimator)
    of_graph = order.options["matrix"] == "graph"
    matrix = graph.weights if of_graph else connectivity
    regions = regions_in_order(atlas, order.options["order"])
    figure = paper.connectivity_heatmap(
        matrix,
        atlas.regions,
        order=regions,
        limit=limit,
        title=f"{MATRICES[order.options['matrix']]} of {subject.id}",
        quantity=QUANTITIES[settings.estimator],
        simulated=subject.simulated,
        style=style,
    )
    caption = (
        graph_caption(graph)
        if of_graph
        else connectivity_caption(
            subject.id, subject.n_regions, estimator=settings.estimator, limit=limit, simulated=subject.simulated
        )
    )
    return MadeFigure(
        figure,
        matrix_numbers(matrix, atlas.regions, regions),
        caption,
        connectome_methods(atlas, settings),
        connectome_citations(atlas, settings),
    )


def _carpet(order: Order, style: PaperStyle) -> MadeFigure:
    subject, atlas = order.subject, order.measured.atlas
    if subject.series is None:
        raise InputError(f"Subject '{subject.id}' was brought as a connectivity matrix: there are no series to draw.")
    regions = regions_in_order(atlas, order.options["order"])
    figure = paper.series_carpet(
        subject.series,
        atlas.regions,
        order=regions,
        tr=subject.tr,
        title=f"Series of {subject.id}",
        simulated=subject.simulated,
        style=style,
    )
    numbers = pd.DataFrame(subject.series[:, regions.order], columns=[atlas.regions[i] for i in regions.order])
    numbers.insert(0, "time point", np.arange(1, len(numbers) + 1), allow_duplicates=True)
    caption = series_caption(subject.id, len(subject.series), subject.n_regions, simulated=subject.simulated)
    methods = "Series are shown as a carpet, each region in its own standard deviations (Power 2017)."
    return MadeFigure(figure, numbers, caption, (methods,), ("power2017",))


def _distribution(order: Order, style: PaperStyle) -> MadeFigure:
    subject, settings, atlas = order.subject, order.request.settings, order.measured.atlas
    connectivity = order.measured.connectivity(subject, settings)
    graph = order.measured.graph(subject, settings)
    figure = paper.connectivity_distribution(
        connectivity,
        graph.weights != 0,
        limit=colour_limit(connectivity, settings.estimator),
        title=f"Connections of {subject.id}",
        quantity=QUANTITIES[settings.estimator],
        simulated=subject.simulated,
        style=style,
    )
    first, second = np.triu_indices(len(connectivity), 1)
    names = np.asarray(atlas.regions, dtype=object)
    numbers = pd.DataFrame(
        {
            "region": names[first],
            "other region": names[second],
            "connectivity": connectivity[first, second],
            "kept": graph.weights[first, second] != 0,
        }
    )
    mean, mean_strength = mean_connectivity(subject)
    return MadeFigure(
        figure,
        numbers,
        distribution_caption(graph, mean=mean, mean_strength=mean_strength),
        connectome_methods(atlas, settings),
        connectome_citations(atlas, settings),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


CONNECTOME_FIGURES: Mapping[str, Recipe] = {
    "connectivity_heatmap": Recipe("Connectivity", _heatmap, {"matrix": "connectivity", "order": ATLAS_ORDER}),
    "series_carpet": Recipe("Series", _carpet, {"order": ATLAS_ORDER}),
    "connectivity_distribution": Recipe("Distribution of connections", _distribution, {}),
}
