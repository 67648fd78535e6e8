"""Figures of one subject's connectivity: the matrix or the graph made of it, how strong connections are, the series.

Colours mean the same for every subject: the scale depends on the estimator and never on the subject's own values,
except where a matrix was brought that is not of correlations: without negative values its colours are sequential, and
logarithmic where weights span decades.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import BLACK, BLUE, DIVERGING, SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.references import in_brackets
from biobgt.base.wording import capitalised, percent
from biobgt.data.graph import ESTIMATED, ESTIMATORS, PEARSON, SIGN_RULES, spans_decades
from biobgt.figures import drawing as draw
from biobgt.figures.regions import (
    RegionOrder,
    RegionOrderOptions,
    gap_words,
    matrix_numbers,
    regions_in_order,
    with_gaps,
)
from biobgt.figures.register import NoOptions, figure

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured

_MatrixShown = Literal["connectivity", "graph"]
LARGEST_MATRIX_MM = 110.0
_MATRICES: Mapping[str, str] = {"connectivity": "Connectivity", "graph": "Brain graph"}
_BINS_PER_SIDE = 25
_SERIES_LIMIT_SD = 2.5
_GREYS = (BLACK, "#FFFFFF")  # from low to high; each pen knows other scales by the name of grey


def graph_methods(measured: "Measured") -> tuple[str, ...]:
    """Say how brain graphs were made, one sentence per decision."""
    atlas, settings, kind = measured.atlas, measured.settings, measured.kind
    kept = "No threshold was applied." if settings.threshold == "none" else f"{capitalised(settings.kept)} were kept."
    signs = "" if kind.key == "structural" else f"Negative connections were {SIGN_RULES[settings.sign]}. "
    tree = "The maximum spanning tree was kept whatever the threshold, so that no region was cut off needlessly."
    return (
        f"The nodes of the brain graphs were the {atlas.n_regions} regions of {atlas.title}{in_brackets(atlas.cites)}.",
        _connectivity_sentence(measured),
        f"{signs}{kept}",
        *([tree] if settings.backbone and settings.threshold != "none" else []),
    )


def _connectivity_sentence(measured: "Measured") -> str:
    """How connectivity was estimated, or that it was given; a cohort may hold both."""
    estimator, kind, cites = ESTIMATORS[measured.settings.estimator], measured.kind, estimated_with(measured)
    estimated = f"Functional connectivity was estimated as {estimator.words} with nilearn{in_brackets(cites)}"
    if kind.key == ESTIMATED:
        return f"{estimated}."
    used = ", Fisher-z transformed" if estimator.key == "fisher-z" else ""
    if estimator.of_weights:
        used = f", as {estimator.words}"
    if cites:
        return f"{estimated} where series were given, and taken from the given matrices otherwise{used}."
    return f"Weights of connections were those of the given {kind.data}{used}."


def estimated_with(measured: "Measured") -> tuple[str, ...]:
    """The works behind estimates; none where no series were given."""
    subjects = measured.cohort.subjects if measured.one is None else (measured.one,)
    if all(subject.series is None for subject in subjects):
        return ()
    return ("abraham2014", *(["ledoit2004"] if ESTIMATORS[measured.settings.estimator].shrunk else []))


def connectivity_shades(matrix: FloatArray, quantity: str = "r", estimator: str = PEARSON) -> draw.Shades:
    """The colours of a matrix: fixed for an estimator, and wider, or sequential, only for one in other units.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    quantity : str
        What its values are called. Correlations have the same colours in every subject.
    estimator : str
        One of :data:`biobgt.data.graph.ESTIMATORS`.
    """
    limit, own = ESTIMATORS[estimator].colour_limit, estimator == PEARSON or ESTIMATORS[estimator].of_weights
    weights = matrix[~np.eye(len(matrix), dtype=bool)]
    largest = float(np.abs(weights).max())
    if not own or quantity == ESTIMATORS[PEARSON].quantity or weights.min() < 0:
        high = largest if own and largest > limit else limit
        return draw.Shades(quantity=quantity, low=-high, high=high, colours=DIVERGING)
    log = spans_decades(weights)
    low = float(weights[weights > 0].min()) if log else 0.0
    return draw.Shades(quantity=quantity, low=low, high=largest or 1.0, colours=SEQUENTIAL, log=log)


def shades_words(shades: draw.Shades) -> str:
    """What the colours of a connectivity matrix mean, in a sentence of a caption."""
    if shades.low < 0:
        return f"Red is positive, blue negative, white zero; the scale runs to ±{shades.high:.3g}."
    if shades.log:
        return (
            f"Bright is strong; the scale is logarithmic, from {shades.low:.3g} to {shades.high:.3g}, and pairs "
            "without a connection have its darkest colour."
        )
    return f"Bright is strong; the scale runs from {shades.low:.3g} to {shades.high:.3g}."


def matrix_panel(
    matrix: FloatArray,
    regions: Sequence[str],
    order: RegionOrder,
    shades: draw.Shades,
    *,
    colours: Sequence[str] = (),
    title: str = "",
    **about: Any,
) -> draw.Panel:
    """A matrix of regions in order, with its blocks parted and named.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder
    shades : Shades
    colours : sequence of str
        Of the blocks, beside the rows.
    title : str
    **about
        Further attributes of :class:`~biobgt.figures.drawing.Heatmap`; by default the pointer tells the quantity.
    """
    axis = draw.Axis(names=[regions[region] for region in order.order], order=order, title=order.title)
    hover = f"%{{y}}\n%{{x}}\n{shades.quantity} = %{{z:{'.3f' if shades.low < 0 else '.3g'}}}"
    z = matrix[np.ix_(order.order, order.order)]
    return draw.Panel(
        title=title,
        marks=[draw.Heatmap(z=z, shades=shades, ids=order.order, **{"hover": hover, **about})],
        x=axis,
        y=replace(axis, reversed=True, colours=colours),
    )


@dataclass(frozen=True)
class _HeatmapOptions(RegionOrderOptions):
    """Which matrix is drawn, with its regions in which order."""

    matrix: _MatrixShown = option(
        "connectivity",
        title="Heatmap of",
        help="All connectivity, or what the brain graph keeps of it.",
        shown=_MATRICES,
        link="matrix_shown",
    )


@figure("connectivity_heatmap", "Connectivity", takes=_HeatmapOptions, least_mm=55)
def connectivity_heatmap(measured: "Measured", options: _HeatmapOptions) -> draw.Drawing:
    """The subject's connectivity, or the brain graph made of it on the same scale of colours."""
    subject, regions, connectivity = measured.subject, measured.atlas.regions, measured.connectivity()
    shades = connectivity_shades(connectivity, measured.quantity, measured.settings.estimator)
    order = regions_in_order(measured.atlas, options.order)
    if options.matrix == "connectivity":
        title, weights, what = measured.kind.title, connectivity, measured.kind.source(measured.settings.estimator)
        if measured.kind.key == ESTIMATED:
            what = f"{title[:1].lower()}{title[1:]} ({what})"
        said = f"{what}, between {len(regions)} regions. {shades_words(shades)}"
    else:
        graph = measured.graph()
        title, weights = _MATRICES[options.matrix], graph.weights
        rules = "" if graph.settings is None else graph.settings.describe(graph.kind)
        said = (
            f"brain graph of {len(regions)} regions with {graph.n_edges:,} connections "
            f"({percent(graph.density, 1)} of pairs). {capitalised(rules)}."
        )
    matrix = with_gaps(weights, subject)
    return draw.of_subject(
        subject,
        f"{said}{gap_words(subject)}",
        title=f"{title} of {subject.id}",
        panels=[matrix_panel(matrix, regions, order, shades)],
        numbers=lambda: matrix_numbers(matrix, regions, order),
        methods=graph_methods(measured),
        height=520,
        square_mm=LARGEST_MATRIX_MM,
    )


@figure("connectivity_distribution", "Distribution of connections")
def connectivity_distribution(measured: "Measured", options: NoOptions) -> draw.Drawing:
    """How often each strength occurs among pairs of regions, and which pairs the brain graph keeps."""
    subject, settings, connectivity = measured.subject, measured.settings, measured.connectivity()
    shades = connectivity_shades(connectivity, measured.quantity, settings.estimator)
    first, second = np.triu_indices(len(connectivity), 1)
    known = np.isfinite(with_gaps(connectivity, subject)[first, second])
    first, second = first[known], second[known]
    values, kept = connectivity[first, second], measured.graph().weights[first, second] != 0
    edges = _strength_bins(values, kept, shades)
    names = np.asarray(measured.atlas.regions, dtype=object)
    pairs = {"region": names[first], "other region": names[second], "connectivity": values, "kept": kept}
    mean, mean_strength = measured.mean_connectivity()
    of = measured.of(measured.subject.id, replace(settings, estimator=PEARSON)).quantity
    means = f"{mean:.2f}, mean |{of}| {mean_strength:.2f}" if shades.low < 0 else f"{mean:.3g}"
    none = f" {(values == 0).sum():,} of them have no connection, and are not drawn." if shades.log else ""
    ends = (float(edges[0]), float(edges[-1])) if shades.log else (None, None)
    strength = draw.Axis(title=shades.quantity, log=shades.log, limits=ends)
    bars = [
        _bars(values[kept], edges, shades, name="kept in the graph", colour=BLUE),
        _bars(values[~kept], edges, shades, name="dropped", colour="#B8BDC4"),
    ]
    return draw.of_subject(
        subject,
        f"connectivity over {len(kept):,} pairs of regions.{none} Mean "
        f"{of} {means}. The graph keeps {kept.sum():,} of the pairs ({percent(kept.mean(), 1)}), drawn in blue.",
        title=f"Connections of {subject.id}",
        panels=[draw.Panel(marks=bars, x=strength, y=draw.Axis(title="Pairs of regions", limits=(0, None)))],
        numbers=draw.table(pairs),
        methods=graph_methods(measured),
        legend="above",
        height=520,
        aspect=0.5,
    )


def _bars(values: FloatArray, edges: FloatArray, shades: draw.Shades, *, name: str, colour: str) -> draw.Bars:
    """How many pairs of one kind there are in each bin."""
    if shades.log:
        middles = [f"10^{middle:.1f}" for middle in (np.log10(edges[:-1]) + np.log10(edges[1:])) / 2]
    else:
        digits = ".2f" if shades.low < 0 else ".3g"
        middles = [f"{middle:{digits}}" for middle in (edges[:-1] + edges[1:]) / 2]
    return draw.Bars(
        name=name,
        colour=colour,
        x=(edges[:-1] + edges[1:]) / 2,
        y=np.histogram(values, bins=edges)[0],
        width=np.diff(edges),
        hover=f"{shades.quantity} about %{{text}}\n%{{y:,}} pairs {name}",
        texts=middles,
    )


def _strength_bins(values: FloatArray, kept: NDArray[np.bool_], shades: draw.Shades) -> FloatArray:
    """Edges of about 50 bins over the scale or farther, one of them where the graph's threshold cut.

    A bin that lay across the cut would hold pairs of both kinds, and say that weaker pairs were kept than were. Bins
    are even and the same on both sides of 0; from 0 on where nothing is negative; of a logarithmic scale, even in
    logarithms.
    """
    cut = float(np.abs(values[kept]).min(initial=np.inf))
    if shades.log:
        highest = max(shades.high, float(values.max()))
        edges = np.geomspace(shades.low, np.nextafter(highest, np.inf), 2 * _BINS_PER_SIDE)
        if edges[0] < cut < edges[-1]:
            edges[max(int(np.searchsorted(edges, cut, side="right")) - 1, 1)] = cut
        return edges
    width = shades.high / _BINS_PER_SIDE
    per_cut = round(cut / width) if np.isfinite(cut) else 0
    if per_cut:
        width = cut / per_cut
    n_bins = int(np.ceil(max(shades.high, float(np.abs(values).max())) / width - 1e-9))
    edges = np.arange(-n_bins, n_bins + 1, dtype=np.float64) * width
    if per_cut:  # a bin holds its lower edge and not its upper one: the pair at the cut itself was kept
        edges[n_bins + per_cut] = cut
        edges[n_bins - per_cut] = np.nextafter(-cut, 0)
    return edges if shades.low < 0 else edges[n_bins:]


@figure("series_carpet", "Series", takes=RegionOrderOptions, least_mm=55)
def series_carpet(measured: "Measured", options: RegionOrderOptions) -> draw.Drawing:
    """Region series as a carpet (Power 2017): one row per region, one column per time point, the signal in grey."""
    subject, regions = measured.subject, measured.atlas.regions
    series, tr = subject.series, subject.tr
    if series is None:
        raise InputError(f"Subject '{subject.id}' was read from a connectivity matrix and has no series to draw.")
    order = regions_in_order(measured.atlas, options.order)
    names = [regions[region] for region in order.order]
    deviations = series.std(axis=0)
    standardised = (series - series.mean(axis=0)) / np.where(deviations > 0, deviations, 1)  # a silent region is 0
    steps = np.arange(len(series))
    carpet = draw.Heatmap(
        z=standardised[:, order.order].T,
        x=steps * tr if tr else steps + 1,
        shades=draw.Shades(quantity="signal (SD)", low=-_SERIES_LIMIT_SD, high=_SERIES_LIMIT_SD, colours=_GREYS),
        hover=f"%{{y}}\n{'%{x:.0f} s' if tr else 'volume %{x}'}\n%{{z:.2f}} SD",
        ids=order.order,
    )
    rows = draw.Axis(names=names, order=order, title=order.title, reversed=True)

    def numbers() -> "pd.DataFrame":
        import pandas as pd

        numbers = pd.DataFrame(series[:, order.order], columns=names)
        numbers.insert(0, "time point", steps + 1, allow_duplicates=True)
        return numbers

    return draw.of_subject(
        subject,
        f"{len(series)} time points of {len(regions)} regions, each in its own standard deviations; white is high, "
        "black low. Vertical stripes across all regions hint at motion or breathing.",
        title=f"Series of {subject.id}",
        panels=[draw.Panel(marks=[carpet], x=draw.Axis(title="Time (s)" if tr else "Volume"), y=rows)],
        numbers=numbers,
        methods=("Series are shown as a carpet, each region in its own standard deviations [@power2017].",),
        height=440,
        aspect=0.6,
    )
