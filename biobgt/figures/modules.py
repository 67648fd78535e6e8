"""Figures of one subject's modules: in its connectivity, by role, beside networks and chance, and in the brain.

With them stand the colours, names, methods that figures of modules share. A module has one colour in all
figures, that of its number, so that groups whose modules are numbered alike compare.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.colours import (
    BLUE,
    GREEN,
    INDIGO,
    LINE_GREY,
    MODULE_COLOURS,
    ORANGE,
    PALE_GREY,
    PURPLE,
    SKY,
    VERMILION,
    WINE,
)
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import capitalised, counted, listed, signed
from biobgt.data.atlas import LABELLINGS, PAPER_MODULES, named_labelling
from biobgt.figures import drawing as draw
from biobgt.figures.brain import IN_NONE, NO_GROUP, SYMBOLS, Brain, BrainKind, brain_caption, brain_option, in_brain
from biobgt.figures.connectivity import (
    LARGEST_MATRIX_MM,
    connectivity_shades,
    graph_methods,
    matrix_panel,
    shades_words,
)
from biobgt.figures.regions import matrix_numbers, order_regions
from biobgt.figures.register import figure
from biobgt.hubs.measures import NULL_GRAPHS_KEEP
from biobgt.modules.measures import (
    AMI,
    MODULE_MEASURES,
    N_MODULES,
    NEGATIVE_WEIGHTS,
    PARTICIPATION,
    REGION_MEASURES,
    RESOLUTIONS,
    WITHIN_Z,
    ModuleOptions,
    NamedModuleOptions,
    NullGraphOptions,
    Q,
    SmallWorldOptions,
)

if TYPE_CHECKING:  # some of it brings scikit-learn, which the start of the app does without
    import pandas as pd

    from biobgt.data.atlas import Atlas
    from biobgt.modules.partition import Labels, ModuleAgreement
    from biobgt.modules.structure import SmallWorld
    from biobgt.results.measured import Measured

_MOST_TWO_LINED = 8  # modules beside a matrix; the names of more have one line
_LABELLINGS = (PURPLE, SKY, ORANGE, INDIGO, WINE)  # colours of agreement with functional labels
_MOST_BARS = 20
_OWN, _RANDOM, _LATTICES = "this subject", "random graphs", "lattices"


def module_colours(modules: Iterable[int]) -> dict[int, str]:
    """Colour of each module, by its number from 1; grey for 0, in no module."""
    return {module: MODULE_COLOURS[(module - 1) % len(MODULE_COLOURS)] if module else PALE_GREY for module in modules}


def networks_of(atlas: "Atlas", labelling: str) -> list[str | None] | None:
    """The functional network of each region, in words; None where the atlas has no such labels."""
    labels = atlas.labels.get(labelling)
    return None if labels is None else [label and PAPER_MODULES.get(label, label) for label in labels]


def named_modules(atlas: "Atlas", labelling: str, partition: "Labels") -> dict[int, str]:
    """What modules are called, by the functional labels where the atlas has any.

    Parameters
    ----------
    atlas : Atlas
    labelling : str
        The functional labels that give the names.
    partition : Partition, sequence of int or ndarray, shape (n_regions,)
        The module of each region.
    """
    from biobgt.modules.partition import module_names

    return module_names(partition, networks_of(atlas, labelling))


def module_methods(measured: "Measured", options: ModuleOptions, *sentences: str) -> tuple[str, ...]:
    """Methods of a figure of modules.

    Parameters
    ----------
    measured : Measured
    options : ModuleOptions
    *sentences : str
        What else its methods say.
    """
    settings = measured.settings
    kept = "their consensus [@lancichinetti2012]" if options.consensus else "the one of highest Q"
    signs = f" {NEGATIVE_WEIGHTS[options.signed]}" if settings.sign == "signed" else ""
    found = (
        f"Modules were found with the Louvain method [@blondel2008] as implemented in the Brain Connectivity "
        f"Toolbox for Python [@rubinov2010], at resolution {options.resolution:g}; of "
        f"{options.runs} runs (seed {options.seed}), {kept} was kept.{signs}"
    )
    return (*graph_methods(measured), found, *sentences)


@figure("module_heatmap", "Connectivity by module", takes=NamedModuleOptions, least_mm=75)
def module_heatmap(measured: "Measured", options: NamedModuleOptions) -> draw.Drawing:
    """One subject's connectivity sorted by module, with a named bar beside each module's rows."""
    subject, atlas, matrix = measured.subject, measured.atlas, measured.connectivity()
    partition = measured.modules(options).partition
    shades = connectivity_shades(matrix, measured.quantity, measured.settings.estimator)
    modules = partition.labels.tolist()
    numbered = sorted(set(modules) - {0})
    names = named_modules(atlas, options.labelling, partition) | {0: NO_GROUP}
    called = [names[module] for module in modules]
    order = order_regions(len(modules), called, first=[names[number] for number in numbered])
    blocks_of = [modules[order.order[start]] for _, start, _ in order.blocks]
    colours = [module_colours([module])[module] for module in blocks_of]

    def panel(shown: Callable[[str], str]) -> draw.Panel:
        blocks = tuple((shown(name), start, end) for name, start, end in order.blocks)
        return matrix_panel(matrix, atlas.regions, replace(order, blocks=blocks), shades, colours=colours)

    def numbers() -> "pd.DataFrame":
        numbers = matrix_numbers(matrix, atlas.regions, order)
        numbers.insert(1, "module", [modules[region] for region in order.order], allow_duplicates=True)
        return numbers

    sizes = ", ".join(str(modules.count(number)) for number in numbered) or "none"
    n_alone = modules.count(0)
    alone = f" In no module: {counted(n_alone, 'region')} without connections." if n_alone else ""
    few = len(order.blocks) <= _MOST_TWO_LINED
    # Names in two lines, or without the word that all of them share: it would take room from the matrix.
    brief = panel(lambda name: name.removeprefix("Module "))
    screen = draw.of_subject(
        subject,
        f"connectivity sorted by {counted(len(numbered), 'Louvain module')} at resolution {options.resolution:g}, of "
        f"{sizes} regions, Q = {partition.q:.2f}.{alone} {shades_words(shades)}",
        title=f"Connectivity of {subject.id} by module",
        panels=[panel(lambda name: name.replace(" · ", "\n")) if few else brief],
        numbers=numbers,
        height=520,
        square_mm=LARGEST_MATRIX_MM,
        methods=module_methods(measured, options),
    )
    return replace(screen, on_paper=lambda style: replace(screen, panels=[brief]))


@dataclass(frozen=True)
class _ResolutionSweepOptions(ModuleOptions):
    """At which resolutions modules are sought."""

    resolutions: tuple[float, ...] = option(
        RESOLUTIONS, title="Resolutions", help="Resolutions at which modules are found.", above=0.0, fewest=1
    )


@figure("resolution_sweep", "Modules over the resolution", takes=_ResolutionSweepOptions)
def resolution_sweep(measured: "Measured", options: _ResolutionSweepOptions) -> draw.Drawing:
    """One subject's modules over the resolution: how many, and below how good, how stable and how like networks."""
    import pandas as pd

    subject = measured.subject
    sweep = pd.DataFrame([measured.resolution_step(options, value) for value in options.resolutions])
    drawn = sweep.sort_values("resolution")

    def curve(column: str, name: str, colour: str, digits: str = ":.2f", **look: Any) -> draw.Curve:
        x, y = drawn["resolution"].to_numpy(), drawn[column].to_numpy(float)
        hover = f"{name}\nresolution %{{x:g}}: %{{y{digits}}}"
        return draw.Curve(name=name, colour=colour, x=x, y=y, symbol="circle", hover=hover, **look)

    chosen = draw.Rule(x=options.resolution, colour=LINE_GREY, dash="dot")
    n_modules = curve("n_modules", capitalised(MODULE_MEASURES[N_MODULES].title), BLUE, digits="")
    agreement = [
        curve(f"{AMI} {name}", f"AMI with {LABELLINGS.get(name, name)}", _LABELLINGS[i % len(_LABELLINGS)], dash="dot")
        for i, name in enumerate(measured.atlas.labels)
    ]
    quality = [
        curve(Q, MODULE_MEASURES[Q].short, VERMILION),
        curve("stability", "Stability: AMI between runs", GREEN),
        *agreement,
    ]
    ranked = sweep.dropna(subset="stability").sort_values("stability", ascending=False, kind="stable")
    where = ""
    if len(ranked):
        best = ranked.iloc[0]
        where = (
            f" The runs agree best at {best['resolution']:g} (AMI {best['stability']:.2f}), with "
            f"{int(best['n_modules'])} modules."
        )
    resolution = draw.Axis(title="Resolution")
    how_many = draw.Axis(title="Modules", limits=(0, None), whole=True)
    how_good = draw.Axis(title="Q, AMI", limits=(-0.03, 1.03))
    return draw.of_subject(
        subject,
        f"Louvain over the resolution, {options.runs} runs at each (seed {options.seed}); modules and Q are the best "
        f"run's. Stability is the mean agreement (AMI) of all pairs of runs, 1 when all find the same.{where} The "
        f"dotted line marks the chosen resolution, {options.resolution:g}.",
        title=f"Modules of {subject.id} over the resolution",
        panels=[
            draw.Panel(marks=[chosen, n_modules], x=resolution, y=how_many, height=0.4),
            draw.Panel(marks=[chosen, *quality], x=resolution, y=how_good, height=0.6),
        ],
        numbers=lambda: sweep,
        height=560,
        aspect=0.3,
        methods=module_methods(measured, options),
    )


@figure("role_map", "Roles of regions", takes=NamedModuleOptions)
def role_map(measured: "Measured", options: NamedModuleOptions) -> draw.Drawing:
    """Every region by participation and within-module z, coloured by module (Guimerà and Amaral 2005)."""
    subject, found = measured.subject, measured.modules(options)
    roles, names = found.roles, named_modules(measured.atlas, options.labelling, found.partition)
    regions, labels = roles["region"].to_numpy(), roles["module"].to_numpy()
    x, y = roles[PARTICIPATION].to_numpy(), roles[WITHIN_Z].to_numpy()
    marks: list[draw.Mark] = [draw.Rule(name="hubs above", y=options.hub_z, colour=LINE_GREY, dash="dot")]
    for module, colour in module_colours(sorted(set(labels.tolist()) - {0})).items():
        own = np.flatnonzero(labels == module)
        marks.append(
            draw.Points(
                name=names[module],
                colour=colour,
                symbol=SYMBOLS[((module - 1) // len(MODULE_COLOURS)) % len(SYMBOLS)],  # a colour that comes again
                size=8,
                x=x[own],
                y=y[own],
                hover=f"%{{text}}\nparticipation %{{x:.2f}}, z %{{y:.2f}}\n{names[module]}",
                texts=[regions[region] for region in own],
                ids=own,
            )
        )
    participation = draw.Axis(title=REGION_MEASURES[PARTICIPATION].short, limits=(-0.03, 1))
    sentence = (
        f"Regions have roles by participation and within-module z, with hubs from z = {options.hub_z:g} [@guimera2005]."
    )
    return draw.of_subject(
        subject,
        "every region by participation (how evenly its connections spread over the modules) and within-module z (how "
        "strongly it is connected in its own), after Guimerà and Amaral (2005). Hubs, with a z of at least "
        f"{options.hub_z:g}: {int(roles['hub'].sum())}; graphs of this size have few.",
        title=f"Roles of the regions of {subject.id}",
        panels=[draw.Panel(marks=marks, x=participation, y=draw.Axis(title=REGION_MEASURES[WITHIN_Z].short))],
        numbers=lambda: roles,
        height=520,
        aspect=0.6,
        methods=module_methods(measured, options, sentence),
    )


@figure("modularity_against_chance", "Modularity against chance", takes=NullGraphOptions)
def modularity_against_chance(measured: "Measured", options: NullGraphOptions) -> draw.Drawing:
    """How Q spreads over null graphs, and where the subject's lies."""
    subject, seeds = measured.subject, options.null_seeds
    first, *others = (measured.null_modularity(options, seed) for seed in seeds)
    test = first.pooled_with(others)
    values = np.append(test.null, test.q)
    if np.isnan(values).any():
        raise InputError("Modularity is not defined in a graph without connections, so there is nothing to test.")
    edges = _round_edges(float(test.null.min()), float(test.null.max()))
    nulls = draw.Bars(
        name="null graphs",
        colour=PALE_GREY,
        x=(edges[:-1] + edges[1:]) / 2,
        y=np.histogram(test.null, edges)[0],
        width=0.95 * np.diff(edges),
        hover="Q %{text}: %{y} null graphs",
        texts=[f"{low:g} to {high:g}" for low, high in pairwise(edges)],
    )
    own = draw.Rule(name=f"this subject, Q = {test.q:.3f}", x=test.q, colour=VERMILION)

    columns = {
        "graph": [subject.id, *(f"null graph {number}" for number in range(1, len(test.null) + 1))],
        "seed": [test.seed, *range(test.seed, test.seed + len(test.null))],
        "modularity Q": values[[-1, *range(len(test.null))]],
    }
    room, runs = 0.08 * float(np.ptp(values)) or 0.01, counted(options.runs, "Louvain run")
    of_q = draw.Axis(title=MODULE_MEASURES[Q].short, limits=(float(values.min()) - room, float(values.max()) + room))
    z = f", z = {test.z:.1f}" if test.z == test.z else ""  # NaN where the nulls do not vary
    n_nulls = counted(len(test.null), "null graph")
    sentence = (
        f"Modularity Q was compared with that of {len(seeds)} null graphs, in each of which modules were found anew, "
        f"as the best of {runs}, because random graphs have modules, too [@guimera2004]. A null graph has the "
        "same number of connections of every region, by swaps [@maslov2002], and the same weights, handed "
        "out so that strengths are nearly kept [@rubinov2011]; their seeds are "
        f"{seeds[0]} to {seeds[-1]}. p is the share of these graphs, the subject's own among them, with at least its Q."
    )
    screen = draw.of_subject(
        subject,
        f"Q = {test.q:.3f} against {test.null.mean():.3f} on average in {n_nulls}{z}, p = {test.p:.3g}. Null graphs "
        f"{NULL_GRAPHS_KEEP}; modules were found anew in each, the best of {runs} (seed {test.seed}). The smallest p "
        f"that {n_nulls} can give is {1 / (len(test.null) + 1):.2g}.",
        title=f"Modularity of {subject.id}",
        panels=[draw.Panel(marks=[nulls, own], x=of_q, y=draw.Axis(title="Null graphs", whole=True))],
        numbers=draw.table(columns),
        legend="none",  # the line has its name beside it
        height=320,
        aspect=0.45,
        methods=module_methods(measured, options, sentence),
    )
    return replace(screen, on_paper=lambda style: replace(screen, legend="below"))


def _round_edges(low: float, high: float) -> FloatArray:
    """Edges of bins that begin at round numbers, as many as are well told apart; one bin where all is alike."""
    if low == high:
        return np.array([low - 0.005, low + 0.005])
    power = 10 ** np.floor(np.log10((high - low) / _MOST_BARS))
    steps = (power * times for times in (1, 2, 5, 10, 20))
    step = next(step for step in steps if np.ceil(high / step) - np.floor(low / step) <= _MOST_BARS)
    edges = np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)  # a multiple may be rounded off
    return edges


@figure("small_worldness", "Small-worldness", takes=SmallWorldOptions, least_mm=55)
def small_worldness(measured: "Measured", options: SmallWorldOptions) -> draw.Drawing:
    """Clustering and path length of one subject's graph, of random graphs and of lattices."""
    subject, seeds, found = measured.subject, options.null_seeds, pooled_small_world(measured, options)
    clustering = {_OWN: found.clustering, _RANDOM: found.random_clustering, _LATTICES: found.lattice_clustering}
    lengths = {_OWN: found.path_length, _RANDOM: found.random_path_length}  # ω takes none of lattices
    values = {"clustering C": clustering, "path length L": lengths}
    rows = [(measure, graph, value) for measure, bars in values.items() for graph, value in bars.items()]
    rows += [("small-world σ", _OWN, found.sigma), ("small-world ω", _OWN, found.omega)]
    sentence = (
        "Small-worldness σ = (C/C random) / (L/L random) [@humphries2008] and ω = L random/L − C/C lattice "
        "[@telesford2011] were computed from the mean clustering coefficient C [@onnela2005] and the characteristic "
        "path length L, over connection lengths of 1/weight, of the largest component. C and L of null graphs are "
        f"means over {counted(len(seeds), 'random graph')} with the same degrees [@maslov2002] and nearly the same "
        f"strengths [@rubinov2011], and as many lattices [@sporns2004], from seed {seeds[0]} on."
    )
    negative = [NEGATIVE_WEIGHTS[False]] if measured.settings.sign == "signed" and not options.signed else []
    left_out = f" {counted(found.n_left_out, 'region')} outside the largest component left out."
    screen = draw.of_subject(
        subject,
        "clustering C and path length L beside those of null graphs. σ = (C/C random) / (L/L random) is "
        f"{signed(found.sigma)}; it is above 1 in a small world [@humphries2008]. ω = L random/L − C/C lattice is "
        f"{signed(found.omega)}; it is near 0 in a small world, −1 in a lattice and 1 in a random graph "
        f"[@telesford2011]. Means over {counted(found.n_nulls, 'null graph')} of each kind, seed "
        f"{found.seed}.{left_out if found.n_left_out else ''}",
        title=f"Small-worldness of {subject.id}",
        panels=[
            draw.Panel(
                marks=_graph_bars(bars), x=draw.Axis(names=list(bars)), y=draw.Axis(title=measure, limits=(0, None))
            )
            for measure, bars in values.items()
        ],
        numbers=draw.table(rows, columns=["measure", "graph", "value"]),
        methods=(*graph_methods(measured), *negative, sentence),
        columns=2,
        own_y=True,
        legend="none",
        height=300,
        aspect=0.4,
    )
    # Names of bars would be slanted in half a column: a legend has them.
    unnamed = [
        replace(panel, x=draw.Axis(ticks=()), y=replace(panel.y, limits=(None, None))) for panel in screen.panels
    ]
    return replace(screen, on_paper=lambda style: replace(screen, panels=unnamed, legend="below"))


def pooled_small_world(measured: "Measured", options: SmallWorldOptions) -> "SmallWorld":
    """The subject's graph compared with one random graph and one lattice at a time."""
    first, *others = (measured.null_small_world(options, seed) for seed in options.null_seeds)
    return first.pooled_with(others)


def _graph_bars(bars: Mapping[str, float]) -> list[draw.Bars]:
    """A bar for each kind of graph, with its value above."""
    return [
        draw.Bars(
            name=graph,
            colour=VERMILION if graph == _OWN else PALE_GREY,
            x=[place],
            y=[value],
            width=0.8,
            labels=["not defined" if value != value else f"{value:.3f}"],
            hover=f"{graph}: %{{y:.3f}}",
            hatched=graph == _LATTICES,
        )
        for place, (graph, value) in enumerate(bars.items())
    ]


def flow_panel(
    found: "ModuleAgreement",
    names: tuple[Mapping[int, str], Mapping[Any, str]],
    matched: Mapping[Any, int],
    sides: tuple[str, str],
) -> draw.Panel:
    """The regions' way from modules, on the left, to another division, on the right.

    Parameters
    ----------
    found : ModuleAgreement
        Its table has one row per module and one column per label or module of the other division.
    names : (mapping, mapping)
        What modules on the left and columns are called; a column may have its own name.
    matched : mapping of (int or str) to int
        The module whose colour a column takes; columns that are not there are grey.
    sides : (str, str)
        What stands on the left and on the right.
    """
    table = found.contingency
    if not table.to_numpy().any():
        raise InputError("No region is in both divisions, so no flow between them can be drawn.")
    shades = module_colours({*table.index, *matched.values()})
    right = [shades[matched[column]] if column in matched else PALE_GREY for column in table.columns]
    flow = draw.Flow(
        counts=table.to_numpy(),
        names=([names[0][module] for module in table.index], [str(names[1].get(one, one)) for one in table.columns]),
        colours=([shades[module] for module in table.index], right),
        sides=sides,
    )
    return draw.Panel(marks=[flow])


@figure("module_flow", "Modules beside functional networks", takes=NamedModuleOptions, least_mm=70)
def module_flow(measured: "Measured", options: NamedModuleOptions) -> draw.Drawing:
    """Where the regions of one subject's modules go among functional networks."""
    from biobgt.modules.partition import match_labels

    subject, labelling = measured.subject, options.labelling
    found = measured.module_agreement(options, labelling)
    names = named_modules(measured.atlas, labelling, measured.modules(options).partition)
    table = found.contingency
    rows = [
        {"module": module, "name": names[module], "label": label, "regions": int(table.loc[module, label])}
        for module in table.index
        for label in table.columns
        if table.loc[module, label]
    ]
    missing = {"without a label": found.n_unlabelled, "in no module": found.n_unassigned}
    said = [f"{counted(n, 'region')} {why}" for why, n in missing.items() if n]
    left_out = f"Left out: {listed(said)}. " if said else ""
    named = named_labelling(labelling)
    sentence = f"Modules were compared with {named}. {MODULE_MEASURES[AMI].definition}"
    return draw.of_subject(
        subject,
        f"the {counted(found.n_compared, 'region')} that have a module and a label, from Louvain modules to "
        f"{LABELLINGS.get(labelling, labelling)}. Modules and networks are paired one to one so that all pairs "
        "together share most regions, and a pair has one colour; a pair need not be a network's largest share, and "
        f"networks without a pair are grey. {left_out}AMI = {found.ami:.2f}.",
        title=f"Modules and networks of {subject.id}",
        panels=[flow_panel(found, (names, PAPER_MODULES), match_labels(table), ("Modules", "Networks"))],
        numbers=draw.table(rows),
        legend="above",
        methods=module_methods(measured, options, sentence),
    )


@dataclass(frozen=True)
class _ModuleBrainOptions(NamedModuleOptions):
    """How many connections are drawn with the modules."""

    connections: int = option(
        0,
        title="Strongest connections within modules",
        help="The strongest positive connections whose two regions are in the same module.",
        steps=tuple(range(0, 301, 10)),
        low=0,
        link="brain_edges",
    )
    brain: BrainKind = brain_option()


@figure("module_brain", "Modules in the brain", takes=_ModuleBrainOptions)
def module_brain(measured: "Measured", options: _ModuleBrainOptions) -> draw.Drawing:
    """One subject's modules in the brain, with the strongest connections within them."""
    brain, subject = Brain.of(measured.atlas, options.brain), measured.subject
    partition = measured.modules(options).partition
    weights = measured.graph_of_modules(options).weights
    edges = _strongest_within_modules(weights, partition.labels, most=options.connections)
    brain, numbers = in_modules(replace(brain, edges=edges), measured.atlas, options.labelling, partition.labels)
    in_none = IN_NONE if 0 in partition.labels else ""
    colour = f"the module, of {len(brain.group_colours)}{in_none}"
    return in_brain(
        brain,
        lambda where: brain_caption(brain, subject, where, colour=colour) + brain.left_out,
        title=f"Modules of {subject.id}",
        line=f"{len(brain.group_colours)} modules at resolution {options.resolution:g}, each in its colour",
        simulated=subject.simulated,
        numbers=numbers,
        methods=module_methods(measured, options),
    )


def _strongest_within_modules(
    weights: FloatArray, modules: NDArray[np.int64], *, most: int
) -> list[tuple[int, int, float]]:
    """The strongest positive connections within modules, ties by the order of regions: two regions and the weight."""
    first, second = np.triu_indices(len(weights), 1)
    inside = (modules[first] == modules[second]) & (modules[first] != 0) & (weights[first, second] > 0)
    first, second = first[inside], second[inside]
    order = np.argsort(-weights[first, second], kind="stable")[:most]
    return [(int(i), int(j), float(weights[i, j])) for i, j in zip(first[order], second[order], strict=True)]


def in_modules(brain: Brain, atlas: "Atlas", labelling: str, modules: NDArray[np.int64]) -> tuple[Brain, Any]:
    """The brain in the colours of its modules, and what makes its table.

    Parameters
    ----------
    brain : Brain
    atlas : Atlas
    labelling : str
        The functional labels that give the names.
    modules : ndarray of int, shape (n_regions,)
    """
    names = named_modules(atlas, labelling, modules)
    called = [names[module] if module else None for module in modules.tolist()]
    colours = {names[module]: colour for module, colour in module_colours(sorted(names)).items()}
    named = {"module": modules.tolist(), "name": [name or "" for name in called]}
    numbers = draw.table({"region": brain.regions, **named, **brain.places})
    return replace(brain, groups=called, group_colours=colours), numbers
