"""Attention of trained models as maps, of groups, networks and a subject beside its group, and in the brain.

Attention is in multiples of uniform attention (1 is even); rows look, columns are looked at. Maps of a figure share
one colour scale, or they could not be compared. What is tested between groups is in
:mod:`biobgt.figures.attention.tested`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import MODULE_COLOURS, PALE_GREY, SEQUENTIAL
from biobgt.base.errors import InputError
from biobgt.base.kept import kept
from biobgt.base.options import Options, option
from biobgt.base.wording import NOT_A_DIAGNOSIS, capitalised, listed, percent, signed, whose
from biobgt.data.atlas import LABELLINGS, Atlas
from biobgt.data.graph import LEVELS, ConnectomeSettings
from biobgt.figures import drawing as draw
from biobgt.figures import which_model
from biobgt.figures.brain import NODES, Brain, BrainKind, brain_option, in_brain
from biobgt.figures.connectivity import LARGEST_MATRIX_MM, matrix_panel
from biobgt.figures.regions import (
    AS_IN_ATLAS,
    ATLAS_ORDER,
    UNLABELLED,
    RegionOrder,
    matrix_numbers,
    order_option,
    order_regions,
)
from biobgt.figures.register import figure, model_figure
from biobgt.model.attention import (
    PERMUTATIONS,
    BesideConnectivity,
    attention_received,
    beside_connectivity,
    functional_labels,
    group_beside,
    load_systems_attention,
    map_correlation,
    select_attention,
)
from biobgt.model.group_results import TRIMMED
from biobgt.model.pretrained import InstalledModel, installed_models
from biobgt.modules.measures import ModuleOptions

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured

Matrix = NDArray[np.float64]
LOUVAIN = "louvain"
MEAN, MEDIAN, TRIMMED_MEAN = "mean", "median", "trimmed"
QUANTITY, UNIFORM = "attention (1 = uniform)", 1.0
_MOST_NUMBERED = 64  # layers or heads with a title
_TRIMMED = f"mean without the lowest and highest {percent(TRIMMED)} of people"
_BEYOND = (
    "1 % of the pairs of regions lie beyond each of its ends, and so does most of the diagonal, where a region "
    "attends to itself"
)
_LIKE_ATTENTION = "with rows normalised like those of attention, gives"


def _numbered(what: str) -> Mapping[int, str]:
    return {0: "Mean", **{number: f"{what} {number}" for number in range(1, _MOST_NUMBERED)}}


@dataclass(frozen=True)
class AttentionPartOptions(Options):
    """A layer and a head, counted from 1; 0 is their mean."""

    layer: int = option(
        0,
        title="Layer",
        help="A layer of the model, or the mean over layers.",
        choices_of=lambda cohort: range(1 + max(one.n_layers for one in installed_models().values())),  # of any model
        of_model=True,
        low=0,
        shown=_numbered("Layer"),
        link="attention_layer",
    )
    head: int = option(
        0,
        title="Head",
        help="A head of attention, or the mean over heads.",
        choices_of=lambda cohort: range(1 + max(one.n_heads for one in installed_models().values())),
        of_model=True,
        low=0,
        shown=_numbered("Head"),
        link="attention_head",
    )

    @property
    def selected(self) -> dict[str, int | None]:
        """Layer and head, counted from 0, as :func:`biobgt.model.attention.select_attention` takes them."""
        return {"layer": self.layer - 1 if self.layer else None, "head": self.head - 1 if self.head else None}

    @property
    def words(self) -> str:
        """Layer and head in words."""
        if not self.layer:
            return f"head {self.head}, mean over layers" if self.head else "mean over layers and heads"
        return f"layer {self.layer}, " + (f"head {self.head}" if self.head else "mean over heads")

    def check_whole(self, what: str) -> None:
        """Refuse a single layer or head for what is known of their mean only."""
        if self.layer or self.head:
            raise InputError(f"{what} are of the mean over layers and heads: choose the mean of both.")

    def check_part(self, model: InstalledModel) -> None:
        """Refuse a layer or head that a model does not have."""
        for what, number, most in (("layer", self.layer, model.n_layers), ("head", self.head, model.n_heads)):
            if number > most:
                raise InputError(f"Model {model.name} has no {what} {number}; choose 1 to {most}, or 0 for their mean.")


@dataclass(frozen=True)
class _AverageOptions(Options):
    """How the people of a group are put together in one map."""

    average: str = option(
        MEAN,
        title="Average over people",
        help=f"A few people with strong attention can make a mean map. The median, and the {_TRIMMED}, cannot be made "
        "by a few.",
        choices=(MEAN, MEDIAN, TRIMMED_MEAN),
        shown={MEAN: "Mean", MEDIAN: "Median", TRIMMED_MEAN: "Trimmed mean"},
        link="attention_average",
    )

    @property
    def average_words(self) -> str:
        """The average in words."""
        return {MEAN: "mean", MEDIAN: "median", TRIMMED_MEAN: _TRIMMED}[self.average]


@dataclass(frozen=True)
class AttentionOrderOptions(Options):
    """The order of regions."""

    order: str = order_option(
        next(iter(LABELLINGS)),
        others=lambda: {LOUVAIN: "By Louvain modules of the controls", **AS_IN_ATLAS},
        help="By functional module, by the Louvain modules of the controls' mean connectivity, or as in the atlas.",
        of_model=True,
        link="attention_order",
    )

    @property
    def order_words(self) -> str:
        """What a caption says after 'ordered by'."""
        if self.order == LOUVAIN:
            return "Louvain modules of the controls' mean connectivity"
        if self.order == ATLAS_ORDER:
            return "their number in the atlas"
        return f"functional module ({LABELLINGS.get(self.order, self.order)})"

    def regions(self, measured: "Measured", model: InstalledModel) -> RegionOrder:
        """The order of the model's regions."""
        n_regions = model.atlas.n_regions
        if self.order == ATLAS_ORDER:
            return order_regions(n_regions)
        if self.order == LOUVAIN:
            return order_regions(n_regions, cast("list[str | None]", _modules_of_controls(measured, model)))
        return order_regions(n_regions, functional_labels(model.atlas, self.order))


@dataclass(frozen=True)
class AttentionOptions(AttentionOrderOptions, AttentionPartOptions):
    """A layer and a head, and the order of regions."""


@kept("Looking for modules…", most=8, subject=False, graph=False, by=lambda measured, model: model.identity)
def _modules_of_controls(measured: "Measured", model: InstalledModel) -> list[str]:
    """Louvain modules of the mean connectivity of a model's controls, one name per region."""
    return _louvain_labels(model.groups.connectivity[model.group_names[0]], model.atlas)


def _louvain_labels(connectivity: NDArray[np.float32], atlas: Atlas) -> list[str]:
    """Louvain modules, named by the networks in them; regions without connections are "no module"."""
    from biobgt.data.connectivity import graph_from_connectivity
    from biobgt.modules import find_modules
    from biobgt.modules.partition import module_names

    # Positive connections of at least the default level make the graph.
    settings = ConnectomeSettings(level=LEVELS["absolute"].default)
    graph = graph_from_connectivity(connectivity.astype(np.float64), settings, atlas=atlas)
    partition = find_modules(graph, ModuleOptions())
    networks = functional_labels(atlas, next(iter(atlas.labels))) if atlas.labels else None
    names = module_names(partition, networks)
    return [names.get(module, "no module") for module in partition.labels.tolist()]


def map_panel(
    matrix: Matrix, regions: Sequence[str], order: RegionOrder, shades: draw.Shades, **about: Any
) -> draw.Panel:
    """A square map of regions, its blocks named and coloured beside its rows.

    Parameters
    ----------
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
        Named on the screen only.
    order : RegionOrder
    shades : Shades
    **about
        Further arguments of :func:`~biobgt.figures.connectivity.matrix_panel`.
    """
    named = [name for name, _, _ in order.blocks if name != UNLABELLED]
    colours = {name: MODULE_COLOURS[place % len(MODULE_COLOURS)] for place, name in enumerate(named)}
    of_blocks = [colours.get(name, PALE_GREY) for name, _, _ in order.blocks]
    return matrix_panel(matrix, regions, order, shades, colours=of_blocks, **about)


SQUARE_MAPS: dict[str, Any] = {"legend": "above", "square_mm": LARGEST_MATRIX_MM}


def map_grid(
    maps: Mapping[str, Matrix],
    regions: Sequence[str],
    order: RegionOrder,
    limits: tuple[float, float],
    rows: Sequence[int] = (),
) -> dict[str, Any]:
    """Maps of attention side by side on one colour scale, as a drawing takes them.

    Parameters
    ----------
    maps : mapping of str to ndarray, shape (n_regions, n_regions)
        By what stands above them.
    regions : sequence of str, length n_regions
    order : RegionOrder
        The same for all maps.
    limits : (float, float)
        Ends of the colour scale.
    rows : sequence of int
        How many maps stand in each row; empty for one row.
    """
    shades = draw.Shades(quantity=QUANTITY, low=limits[0], high=limits[1], colours=SEQUENTIAL, marked=UNIFORM)
    hover = "%{y} looks at\n%{x}\n%{z:.2f} × uniform"
    drawn = [map_panel(matrix, regions, order, shades, title=title, hover=hover) for title, matrix in maps.items()]
    columns, panels = max(rows, default=len(drawn)), list[draw.Panel]()
    for n in rows or (len(drawn),):
        panels += [*drawn[:n], *[draw.Panel()] * (columns - n)]
        drawn = drawn[n:]
    return {"panels": panels, "columns": columns, "height": 0, **SQUARE_MAPS}


def colour_limits(maps: Sequence[Matrix]) -> tuple[float, float]:
    """Ends of one colour scale for several maps: one in a hundred pairs of regions lies beyond each.

    Regions look at themselves most of all; the diagonal would leave no colours for the rest.

    Parameters
    ----------
    maps : sequence of ndarray, shape (n_regions, n_regions)
    """
    off = np.concatenate([matrix[~np.eye(len(matrix), dtype=bool)] for matrix in maps])
    low, high = (float(end) for end in np.quantile(off, [0.01, 0.99]))
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def maps_table(column: str, maps: Mapping[str, Matrix], regions: Sequence[str], order: RegionOrder) -> "pd.DataFrame":
    """One row per map and region that looks, one column per region that is looked at.

    Parameters
    ----------
    column : str
        What maps are.
    maps : mapping of str to ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    order : RegionOrder
    """
    import pandas as pd

    frames = []
    for name, matrix in maps.items():
        frame = matrix_numbers(np.asarray(matrix, dtype=np.float64), regions, order)
        frame.insert(0, column, name, allow_duplicates=True)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _map_words(order: str) -> str:
    """Say what the rows, columns and colours of a map are, and how its regions are ordered."""
    return (
        "Within a map, rows are regions that attend, columns regions that are attended to; 1 is uniform attention. "
        f"Regions are ordered by {order}."
    )


def _connectivity_words(beside: Mapping[str, BesideConnectivity]) -> str:
    """Say how much of attention maps is functional connectivity, and which contrast connectivity alone would give.

    Parameters
    ----------
    beside : mapping of str to BesideConnectivity
        By whose map it is, such as "NC".
    """
    said = (
        "How much of this is connectivity: over all pairs of regions, attention correlates with the functional "
        f"connectivity of the same subjects at {_each(beside, 'correlation', 'r = ')}."
    )
    if all(np.isnan(one.contrast) and np.isnan(one.connectivity_contrast) for one in beside.values()):
        return said
    return (
        f"{said} The ratio of attention within to between the modules shown is {_each(beside, 'contrast')}; positive "
        f"connectivity alone, {_LIKE_ATTENTION} {_each(beside, 'connectivity_contrast')}."
    )


def contrast_beside_words(connectivity: Mapping[str, Mapping[str, float | None]]) -> str:
    """Say which contrast of modules the subjects' connectivity alone gives, from a card's means over subjects.

    Parameters
    ----------
    connectivity : mapping of str to mapping
        Of each group, the fields of :class:`biobgt.model.attention.BesideConnectivity`; None where not defined.
    """
    means = {
        group: BesideConnectivity(**{name: np.nan if value is None else value for name, value in one.items()})
        for group, one in connectivity.items()
    }
    return (
        f"Positive connectivity of the same subjects alone, {_LIKE_ATTENTION} {_each(means, 'connectivity_contrast')}; "
        f"a subject's attention correlates with its own connectivity at {_each(means, 'correlation', 'r = ')} on "
        "average."
    )


def _each(beside: Mapping[str, BesideConnectivity], what: str, prefix: str = "") -> str:
    """One number per map, in the order of maps."""
    values = {name: float(getattr(one, what)) for name, one in beside.items()}
    return listed([f"{'not defined' if np.isnan(v) else prefix + signed(v)} ({name})" for name, v in values.items()])


@dataclass(frozen=True)
class _AttentionMapsOptions(AttentionOptions, _AverageOptions):
    """The part of attention, the order of regions, the average, and the scale where other models' maps share it."""

    limits: tuple[float, ...] = option(
        (),
        title="Limits of the colour scale",
        help="Two numbers, the lower one first; by default those that suit the maps.",
    )
    groups: tuple[str, ...] = option(
        (), title="Groups", help="Names of groups of the model, in the order in which they are shown; by default all."
    )

    @property
    def ends(self) -> tuple[float, float] | None:
        """The ends of the colour scale that were asked for, if any."""
        if not self.limits:
            return None
        if len(self.limits) != 2 or not self.limits[0] < self.limits[1]:
            raise InputError("The limits of the colour scale are two numbers, the lower one first.")
        return float(self.limits[0]), float(self.limits[1])


@model_figure("attention_maps", "Attention of groups", takes=_AttentionMapsOptions, least_mm=80)
def attention_maps(measured: "Measured", options: _AttentionMapsOptions) -> draw.Drawing:
    """Mean attention of every group of a model, those of one with several cohorts cohort by cohort."""
    model = which_model.model_of(measured, "attention_maps")
    order, regions, sizes = options.regions(measured, model), model.atlas.regions, model.groups.n
    found, rows = _averaged_maps(model, options), [] if options.groups else [*map(len, model.readouts.values())]
    in_rows = [group for own in model.readouts.values() for group in own] or model.group_names
    maps = {group: found[which_model.known_group(model, group)] for group in options.groups or in_rows}
    low, high = options.ends or colour_limits(list(maps.values()))
    part = "\n" if rows else " "  # names of cohorts are long
    titled = {f"{group}{part}(n = {sizes[group]:,})": matrix for group, matrix in maps.items()}
    beside = {group: _beside_group(model, group, matrix, order) for group, matrix in maps.items()}
    of_groups = ", ".join(f"{sizes[group]:,} {group}" for group in maps)
    return which_model.model_drawing(
        model,
        f"group {options.average_words} attention of {of_groups}, {options.words}. Every subject was seen by "
        f"{which_model.ONE_MEMBER}. {'Each row of maps is one cohort, its own controls first. ' if rows else ''}"
        f"{_map_words(options.order_words)} One colour scale for all groups, from {low:.2f} to {high:.2f}: "
        f"{'as chosen' if options.limits else _BEYOND}. {_connectivity_words(beside)}",
        groups=options.groups,
        line=f"{capitalised(options.average_words)} of each group, {options.words}: rows look, columns are looked at; "
        "1 is uniform attention",
        title=f"Attention of {model.name}",
        numbers=lambda: maps_table("group", maps, regions, order),
        **map_grid(titled, regions, order, (low, high), rows),
    )


def group_maps(model: InstalledModel, options: AttentionPartOptions) -> dict[str, Matrix]:
    """A part of the attention of every group, shape (n_regions, n_regions) each."""
    options.check_part(model)
    return {group: select_attention(model.groups.attention[group], **options.selected) for group in model.group_names}


def _averaged_maps(model: InstalledModel, options: _AttentionMapsOptions) -> Mapping[str, Matrix]:
    """The same, as mean, median or trimmed mean over people; the last two are of the mean over layers and heads."""
    if options.average == MEAN:
        return group_maps(model, options)
    options.check_whole("Median and trimmed maps")
    spread = which_model.spread_of_model(model)
    return spread.median if options.average == MEDIAN else spread.trimmed


def _beside_group(model: InstalledModel, group: str, attention: Matrix, order: RegionOrder) -> BesideConnectivity:
    """A group's attention beside its mean connectivity, with the modules by which regions are ordered."""
    return beside_connectivity(attention, model.groups.connectivity[group], order.labels)


@model_figure(
    "attention_systems",
    "Attention of other networks",
    takes=AttentionOrderOptions,
    least_mm=80,
    example_of="abide-cc200",
)
def attention_systems(measured: "Measured", options: AttentionOrderOptions) -> draw.Drawing:
    """Where several networks look on the same test subjects: the paper's figure 6."""
    model, found = which_model.model_of(measured, "attention_systems"), load_systems_attention()
    if model.name != found.model:
        raise InputError(f"Other networks were trained on the subjects of model {found.model} only: choose it.")
    order, regions = options.regions(measured, model), model.atlas.regions
    maps = dict(zip(found.titles, found.maps, strict=True))
    low, high = colour_limits(list(maps.values()))
    labels = tuple(order.labels or ())
    follows = dict(zip(maps, found.follow_modules(labels), strict=True)) if any(labels) else {}
    ratios = {title: f"\nratio {one.ratio:.2f}" for title, one in follows.items()}
    # By their first names, which fit on a narrow page.
    titled = {title.split()[0].rstrip(",") + ratios.get(title, ""): matrix for title, matrix in maps.items()}
    by_chance = "; ".join(
        f"{title} {one.ratio:.2f} ({one.chance:.2f} by chance, p = {one.p:.3f})" for title, one in follows.items()
    )
    within = (
        f" The ratio is mean attention within over between these modules: {by_chance}; chance is "
        f"{PERMUTATIONS:,} permutations of the labels over regions, which ignore spatial autocorrelation."
    )
    auc = ", ".join(f"{title} {float(value):.2f}" for title, value in zip(maps, found.auc, strict=True))
    return draw.Drawing(
        title="Attention of three networks on the same subjects",
        simulated=model.simulates(model.group_names),
        **map_grid(titled, regions, order, (low, high)),
        caption=(
            f"Mean attention of networks trained on the same subjects of ABIDE, on the {found.n_subjects} test "
            f"subjects of {found.split}, mean over layers and heads. {_map_words(options.order_words)} One colour "
            f"scale for all, from {low:.2f} to {high:.2f}: {_BEYOND}.{within if follows else ''} AUC on these "
            f"subjects: {auc}. BioBGT's attention was scaled before training so that it is larger within the Louvain "
            "modules of training subjects: that it follows modules is by design, and not learnt from the groups. How "
            "well attention follows modules does not say how well a network tells the groups apart."
        ),
        numbers=lambda: maps_table("network", maps, regions, order),
        methods=(
            "Graphormer [@ying2021], a structure-aware transformer [@chen2022] and BioBGT [@peng2025] were trained on "
            "the same subjects, each with its own settings, and the epoch of each was chosen on the same validation "
            f"subjects. Their attention is that on the {found.n_subjects} test subjects, mean over layers and heads.",
        ),
        citations=model.atlas.cites,
    )


@dataclass(frozen=True)
class _SubjectAttentionOptions(AttentionOptions, which_model.ChosenModelOptions):
    """Which model, which part of its attention, and which group stands beside the subject."""

    group: str = option(
        "", title="Group", help="The group to compare with; by default the subject's own, or the controls."
    )


@figure(
    "subject_attention",
    "A subject's attention beside its group's",
    takes=_SubjectAttentionOptions,
    of_graph=False,
    least_mm=80,
)
def subject_attention(measured: "Measured", options: _SubjectAttentionOptions) -> draw.Drawing:
    """One subject's attention beside the mean of a group; the model runs on the subject."""
    subject, model = measured.subject, which_model.asked_model(options, "subject_attention")
    group = which_model.known_group(model, options.group or group_beside(subject.group, model.group_names))
    options.check_part(model)
    order, regions = options.regions(measured, model), measured.atlas.regions
    own = select_attention(measured.explanation(model).attention[0], **options.selected)
    mean = select_attention(model.groups.attention[group], **options.selected)
    maps = {subject.id: own, f"mean of {group} (n = {model.groups.n[group]:,})": mean}
    beside = {
        subject.id: beside_connectivity(own, measured.pearson(), order.labels),
        f"mean of {group}": _beside_group(model, group, mean, order),
    }
    warning = attention_warning(measured, model)
    trained = " (trained on simulated patients)" if model.simulated else ""
    return draw.Drawing(
        title=f"Attention of {subject.id}",
        simulated=subject.simulated or model.simulated,
        **map_grid(maps, regions, order, colour_limits([own, mean])),
        caption=(
            f"{whose(subject.id, subject.simulated)}: attention by model {options.model}{trained}, {options.words}, "
            f"as the mean of all ensemble members, beside the mean of {group}, each of whom was seen by the one member "
            f"not trained on them. On one colour scale: {_BEYOND}. Over all pairs of regions the two correlate with "
            f"r = {signed(map_correlation(own, mean))}. {_connectivity_words(beside)} "
            f"{f'Caution: {warning}. ' if warning else ''}{NOT_A_DIAGNOSIS}"
        ),
        numbers=lambda: maps_table("of", maps, regions, order),
        methods=which_model.subject_methods(model, warning),
    )


def attention_warning(measured: "Measured", model: InstalledModel) -> str:
    """Why what a model says of the subject should not be believed; empty for no reason.

    A network that several cohorts share predicts by its readouts, and has no warning of its own.
    """
    return "" if model.readouts else str(measured.prediction(model)["warning"])


@dataclass(frozen=True)
class _AttentionReceivedOptions(AttentionPartOptions):
    """Whose attention, and which part of it."""

    group: str = option(
        "",
        title="Group",
        help="The group whose attention is shown; by default the controls.",
        choices_of=which_model.groups_of,
        of_model=True,
        in_a_row=True,
        link="received_group",
    )
    brain: BrainKind = brain_option()


@model_figure("attention_received", "Attention received, in the brain", takes=_AttentionReceivedOptions)
def attention_in_brain(measured: "Measured", options: _AttentionReceivedOptions) -> draw.Drawing:
    """The attention that each region receives from all others, at its place in the brain."""
    model = which_model.model_of(measured, "attention_received")
    group = which_model.known_group(model, options.group or model.group_names[0])
    options.check_part(model)
    received = attention_received(select_attention(model.groups.attention[group], **options.selected))
    look = {"values": received, "sizes": received, "quantity": "attention received (1 = uniform)"}
    brain = Brain.of(model.atlas, options.brain, **look)
    low, high, mean = float(received.min()), float(received.max()), float(received.mean())
    strongest = [brain.regions[i] for i in np.argsort(-received, kind="stable")[:3].tolist()]

    def caption(where: str) -> str:
        nodes = options.brain == NODES
        place = f"on {where}" if nodes else brain.place_in(where)
        colour = "colour and size are" if nodes else "colour is"
        return (
            f"{which_model.model_opening(model, (group,))}: attention that each region receives from all others in "
            f"{model.groups.n[group]:,} {group}, {options.words}, {place}; {colour} multiples of uniform attention. "
            f"{capitalised(colour)} stretched over the whole range, {low:.2f} to {high:.2f}, which is "
            f"{percent((high - low) / mean)} of the mean. No region was tested; the highest values are those of "
            f"{', '.join(strongest)}.{brain.left_out}"
        )

    return in_brain(
        brain,
        caption,
        title=f"Attention received, {group}, {model.name}",
        simulated=model.simulates((group,)),
        numbers=draw.table({"region": brain.regions, **brain.places, "attention received": received}),
        methods=(*which_model.model_methods(model), "Regions were drawn with nilearn [@abraham2014]."),
    )
