"""The term of a design tested in every edge of a network: edge by edge, in connected components, or in blocks.

Edge by edge the largest statistic of all edges gives family-wise p (max-T), and q is a false discovery rate. The
network-based statistic [@zalesky2010] tests components of edges above a threshold, by how many edges they have or by
how far these exceed it; without a threshold [@baggio2018], every edge is supported by the components it is part of at
all thresholds; the constrained one [@noble2020] tests blocks that are known before, such as pairs of functional
networks. What a component is found to be holds for the component, not for each of its edges.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from biobgt.base.arrays import FloatArray, discovery_rates
from biobgt.base.errors import InputError
from biobgt.base.limits import current_limits
from biobgt.base.options import Options, option
from biobgt.base.wording import listed
from biobgt.inference.design import Contrast, StudyDesign
from biobgt.inference.effects import PERMUTATIONS, effect_kind, effect_sizes, notes_on_tests, tails_fitted
from biobgt.inference.permutation import TIE, drawn_statistics, permutation_p, unit_residuals

EdgeMethod = Literal["edges", "extent", "intensity", "threshold-free", "blocks"]
EDGES, EXTENT, INTENSITY, THRESHOLD_FREE, BLOCKS = get_args(EdgeMethod)
Direction = Literal["both", "higher", "lower"]
BOTH, HIGHER, LOWER = get_args(Direction)
FAMILY = 0.05  # family-wise level at which components and supports count as found
_AT_ONCE = 32  # networks
_MOST_STEPS = 1000  # of the threshold-free statistic; what is higher counts as the last


@dataclass(frozen=True)
class EdgeOptions(Options):
    """How edges are tested."""

    method: EdgeMethod = option(
        EXTENT,
        title="Correction",
        help="Edges: each alone (max-T and FDR). Extent and intensity: connected components above the threshold, by "
        "their number of edges or by what these exceed it (NBS). Threshold-free: TFNBS. Blocks: pairs of functional "
        "networks (constrained NBS).",
        shown={
            EDGES: "Single edges (max-T, FDR)",
            EXTENT: "NBS, extent",
            INTENSITY: "NBS, intensity",
            THRESHOLD_FREE: "TFNBS",
            BLOCKS: "Blocks of networks",
        },
        flag="--correction",
    )
    direction: Direction = option(
        BOTH,
        title="Direction",
        help="Both: two-sided; components of positive and negative effects are apart. Higher, lower: one-sided, higher "
        "in the first-named group of the contrast, or with the number. An F has no direction.",
    )
    edge_threshold: float = option(
        3.1, title="Threshold of edges", help="Of |t| or F: edges above it make components (NBS).", above=0, step=0.1
    )
    extent_power: float = option(0.4, title="Power of extent", help="E of TFNBS.", above=0, high=5)
    height_power: float = option(3.0, title="Power of height", help="H of TFNBS.", above=0, high=10)
    step: float = option(0.1, title="Step", help="Between two thresholds of TFNBS.", low=0.01, high=1)
    tail: bool = option(
        False,
        title="Fit tails",
        help="Approximate small p of single edges by a generalised Pareto distribution, where it fits.",
    )
    permutations: int = option(PERMUTATIONS, title="Permutations", help="Number of permutations.", low=1)
    seed: int = option(0, title="Seed", help="Of the permutations.", low=0)


@dataclass(frozen=True, eq=False)
class EdgeEffects:
    """A contrast tested in every edge.

    Attributes
    ----------
    contrast : Contrast
    statistic : {"t", "F"}
    effect_kind : str
        The measure in which effects are given; see :class:`biobgt.inference.effects.TermEffects`.
    table : DataFrame
        A row per edge: ``region`` and ``other_region``, counted from 1; ``estimate``, ``effect``, ``effect_low``,
        ``effect_high``, ``statistic``; ``p`` of the edge alone, ``p_family`` against the largest of all edges, ``q``.
        With components also ``component`` (its number in ``networks``, 0 for none); without a threshold ``score`` and
        ``p_score``, family-wise. NaN where an edge is missing for somebody or does not vary.
    networks : DataFrame
        A row per component, largest first: ``component``, ``direction``, ``n_edges``, ``n_regions``, ``size``,
        ``p_family``. Or a row per block: ``network``, ``other_network``, ``n_edges``, ``mean_statistic``, ``p``,
        ``p_family``, ``q``. Empty for other methods.
    options : EdgeOptions
    design : StudyDesign
    notes : tuple of str
    """

    contrast: Contrast
    statistic: Literal["t", "F"]
    effect_kind: str
    table: pd.DataFrame
    networks: pd.DataFrame
    options: EdgeOptions
    design: StudyDesign
    notes: tuple[str, ...]


def edge_effects(
    design: StudyDesign,
    connectivity: ArrayLike,
    options: EdgeOptions = EdgeOptions(),  # noqa: B008 — frozen
    *,
    contrast: str = "",
    labels: Sequence[str | None] | None = None,
) -> EdgeEffects:
    """Test one contrast of a design in every edge.

    Parameters
    ----------
    design : StudyDesign
    connectivity : array-like, shape (n_table_rows, n_regions, n_regions) or (n_table_rows, n_pairs)
        Symmetric, such as Fisher z or structural weights; the diagonal is left out. Pairs are those of the upper
        triangle, row by row. In the order of the table that the design was made of.
    options : EdgeOptions
    contrast : str
        Name of one of the design's contrasts; empty is the first.
    labels : sequence of str or None, length n_regions, optional
        Functional networks, for blocks; regions without one are in no block.
    """
    design.check()
    tested = next((one for one in design.contrasts if one.name == contrast or not contrast), None)
    if tested is None:
        raise InputError(f"There is no contrast '{contrast}'. There is {listed([o.name for o in design.contrasts])}.")
    several = len(tested.weights) > 1
    if several and options.direction != BOTH:
        raise InputError(f"{tested.name} is tested by F, which has no direction. Choose two of the groups, or both.")
    edges, n_regions = _edges(connectivity)
    first, second = np.triu_indices(n_regions, 1)
    values = design.observations(edges)
    model = design.model(tested)
    finite = np.flatnonzero(np.isfinite(values).all(axis=0))
    varies, residuals, norms = unit_residuals(model, values[:, finite])
    known = finite[varies]
    if not len(known):
        raise InputError("No edge can be tested: each is missing for somebody, or the same in all.")
    sign = -1.0 if options.direction == LOWER else 1.0
    two_sided = not several and options.direction == BOTH
    scored, blocks = _scored(options, first[known], second[known], n_regions, two_sided, labels)
    observed = sign * model.statistics(residuals)
    height, score = _height(observed, two_sided), scored(observed)
    counts, score_counts = np.zeros(len(known)), np.zeros(len(score))
    largest, largest_scores = [], []
    draws = drawn_statistics(
        [(np.arange(len(known)), model, residuals)],
        len(known),
        design.exchange,
        permutations=options.permutations,
        seed=options.seed,
    )
    for drawn in draws:
        drawn *= sign
        drawn_scores = scored(drawn) * (1 + TIE)
        heights = _height(drawn, two_sided)
        heights += TIE * np.abs(heights)
        counts += (heights >= height).sum(axis=1)
        score_counts += (drawn_scores >= score).sum(axis=1)
        largest.append(heights.max(axis=0))
        largest_scores.append(drawn_scores.max(axis=0, initial=0))
    null, score_null = np.concatenate(largest), np.concatenate(largest_scores)
    p_of_edges, unfitted = (1 + counts) / (1 + options.permutations), 0
    if options.tail:
        rows, how = sign * residuals, np.abs if two_sided else np.positive
        p_of_edges, unfitted = tails_fitted(
            p_of_edges, how, model, rows, design.exchange, permutations=options.permutations, seed=options.seed
        )
    found = {
        **dict(zip(_EFFECTS, effect_sizes(design, tested, model, residuals, norms), strict=True)),
        "statistic": sign * observed[:, 0],
        "p": p_of_edges,
        "p_family": permutation_p(height[:, 0], null),
        "q": discovery_rates(p_of_edges),
    }
    networks = pd.DataFrame()
    if options.method in (EXTENT, INTENSITY):
        place, networks = _components_found(
            observed[:, 0], score[:, 0], first[known], second[known], options, two_sided
        )
        networks["p_family"] = permutation_p(networks["size"].to_numpy(np.float64), score_null)
        found["component"] = place.astype(np.float64)
    elif options.method == THRESHOLD_FREE:
        found |= {"score": score[:, 0], "p_score": permutation_p(score[:, 0], score_null)}
    elif blocks is not None:
        p = (1 + score_counts) / (1 + options.permutations)
        own = {"p": p, "p_family": permutation_p(score[:, 0], score_null), "q": discovery_rates(p)}
        means = sign * (_block_means(blocks) @ observed)[:, 0]
        networks = blocks.assign(mean_statistic=means, **own).drop(columns="edges")
    table = pd.DataFrame({"region": first + 1, "other_region": second + 1})
    for name, column in found.items():
        table[name] = np.nan
        table.loc[known, name] = column
    notes = notes_on_tests(
        p_of_edges, options.permutations, n_untested=len(first) - len(known), n_unfitted=unfitted, noun="edge"
    )
    return EdgeEffects(
        contrast=tested,
        statistic="F" if several else "t",
        effect_kind=effect_kind(design, tested),
        table=table,
        networks=networks,
        options=options,
        design=design,
        notes=(*design.notes, *notes),
    )


_EFFECTS = ("estimate", "effect", "effect_low", "effect_high")


def _edges(connectivity: ArrayLike) -> tuple[NDArray[np.floating], int]:
    """The upper triangle of each matrix, and the number of regions."""
    array = np.asarray(connectivity)
    n_regions = array.shape[-1] if array.ndim == 3 else round((1 + np.sqrt(1 + 8 * array.shape[-1])) / 2)
    n_pairs = n_regions * (n_regions - 1) // 2
    if array.ndim not in (2, 3) or n_regions < 2 or array.shape[1:] not in ((n_regions, n_regions), (n_pairs,)):
        raise InputError(
            f"Connectivity has the shape {array.shape}; it has a matrix per row of the table, or the n(n - 1)/2 pairs "
            "of its upper triangle."
        )
    current_limits().check("cells", len(array) * n_pairs, "The connectivity of all people")
    return array[(slice(None), *np.triu_indices(n_regions, 1))] if array.ndim == 3 else array, n_regions


def _height(statistics: FloatArray, two_sided: bool) -> FloatArray:
    return np.abs(statistics) if two_sided else statistics.copy()


# What each method makes of the statistics of edges, shape (n_edges, n_drawn): a score of each edge or block.


_Scored = Callable[[FloatArray], FloatArray]


def _scored(
    options: EdgeOptions,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    n_regions: int,
    two_sided: bool,
    labels: Sequence[str | None] | None,
) -> tuple[_Scored, pd.DataFrame | None]:
    """The function that scores, and the blocks where it scores these."""
    if options.method == EDGES:
        return lambda statistics: np.zeros((0, statistics.shape[1])), None
    if options.method == BLOCKS:
        blocks = _blocks(labels, first, second, n_regions)
        means = _block_means(blocks)
        return lambda statistics: _height(means @ statistics, two_sided), blocks
    if options.method == THRESHOLD_FREE:
        powers = (options.extent_power, options.height_power)
        score: _Scored = partial(
            threshold_free, first=first, second=second, n_regions=n_regions, powers=powers, step=options.step
        )
    else:
        score = partial(
            component_sizes,
            first=first,
            second=second,
            n_regions=n_regions,
            threshold=options.edge_threshold,
            intensity=options.method == INTENSITY,
        )
    return (lambda one: np.maximum(score(one), score(-one))) if two_sided else score, None


def component_sizes(
    statistics: FloatArray,
    *,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    n_regions: int,
    threshold: float,
    intensity: bool = False,
) -> FloatArray:
    """The size of the component of edges above a threshold that each edge is in; 0 for edges below it.

    Parameters
    ----------
    statistics : ndarray, shape (n_edges, n_drawn)
        Every column is a network of its own.
    first, second : ndarray of int, shape (n_edges,)
        Regions of each edge, counted from 0.
    n_regions : int
    threshold : float
    intensity : bool
        The size is the sum of what edges exceed the threshold, otherwise their number.

    Returns
    -------
    ndarray, shape (n_edges, n_drawn)

    Examples
    --------
    >>> path = {"first": np.array([0, 1, 3]), "second": np.array([1, 2, 4]), "n_regions": 5}
    >>> component_sizes(np.array([[4.0], [5.0], [3.5]]), threshold=3.0, **path).ravel().tolist()
    [2.0, 2.0, 1.0]
    """
    edges, drawn = np.nonzero(statistics > threshold)
    start, end = drawn * n_regions + first[edges], drawn * n_regions + second[edges]
    n_nodes = n_regions * statistics.shape[1]
    graph = sparse.coo_array((np.ones(len(edges), np.int8), (start, end)), shape=(n_nodes, n_nodes))
    owner = connected_components(graph, directed=False)[1][start]
    found = np.zeros(statistics.shape)
    weights = statistics[edges, drawn] - threshold if intensity else None
    found[edges, drawn] = np.bincount(owner, weights)[owner] if len(owner) else 0
    return found


def threshold_free(
    statistics: FloatArray,
    *,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    n_regions: int,
    powers: tuple[float, float],
    step: float,
) -> FloatArray:
    """How much the components of all thresholds support each edge: the sum of extent^E · threshold^H · step.

    The sum is over thresholds ``step``, 2 ``step``, … up to the edge's own statistic; the extent is the number of edges
    of the component that the edge is in at that threshold.

    Parameters
    ----------
    statistics : ndarray, shape (n_edges, n_drawn)
        Every column is a network of its own.
    first, second : ndarray of int, shape (n_edges,)
        Regions of each edge, counted from 0.
    n_regions : int
    powers : (float, float)
        E and H.
    step : float

    Returns
    -------
    ndarray, shape (n_edges, n_drawn)
    """
    found = np.zeros(statistics.shape)
    for at in range(0, statistics.shape[1], _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        found[:, some] = _supported(statistics[:, some], first, second, n_regions, powers, step)
    return found


def _supported(
    statistics: FloatArray,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    n_regions: int,
    powers: tuple[float, float],
    step: float,
) -> FloatArray:
    """The same of few networks, so that all fits in the processor's caches."""
    levels = np.clip(np.floor(statistics / step + 1e-9), 0, _MOST_STEPS).astype(np.int16)
    edges, drawn = np.nonzero(levels)
    height = levels[edges, drawn]
    order = np.argsort(-height, kind="stable")
    edges, drawn, height = edges[order], drawn[order], height[order]
    highest = int(height.max(initial=0))
    ends = np.searchsorted(-height, -np.arange(highest + 1))
    start, end = drawn * n_regions + first[edges], drawn * n_regions + second[edges]
    # From the highest threshold down, components only grow: those of the last threshold are joined by the new edges.
    # The support that a region has gathered since an edge came in is that of the edge.
    n_nodes = n_regions * statistics.shape[1]
    owner, extents = np.arange(n_nodes), np.zeros(n_nodes)
    gathered, before = np.zeros(n_nodes), np.zeros(len(edges))
    for level in range(highest, 0, -1):
        new = slice(ends[level], ends[level - 1])
        before[new] = gathered[start[new]]
        one, other = owner[start[new]], owner[end[new]]
        extents = extents + np.bincount(one, minlength=len(extents))
        if len(joining := np.flatnonzero(one != other)):
            ends_of = one[joining], other[joining]
            graph = sparse.coo_array((np.ones(len(joining), np.int8), ends_of), shape=(len(extents),) * 2)
            n_joined, joined = connected_components(graph, directed=False)
            extents, owner = np.bincount(joined, extents, n_joined), joined[owner]
        gathered += (extents ** powers[0] * ((level * step) ** powers[1] * step))[owner]
    found = np.zeros(statistics.shape)
    found[edges, drawn] = gathered[start] - before
    return found


def _components_found(
    observed: FloatArray,
    sizes: FloatArray,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    options: EdgeOptions,
    two_sided: bool,
) -> tuple[NDArray[np.int64], pd.DataFrame]:
    """The number of each edge's component, 0 for none, and a row per component, largest first."""
    rows, place = [], np.zeros(len(observed), np.int64)
    n_regions = int(second.max()) + 1
    turned = -1.0 if options.direction == LOWER else 1.0
    for sign in (1.0, -1.0) if two_sided else (1.0,):
        edges = np.flatnonzero(sign * observed > options.edge_threshold)
        graph = sparse.coo_array((np.ones(len(edges)), (first[edges], second[edges])), shape=(n_regions, n_regions))
        owners = connected_components(graph, directed=False)[1][first[edges]]
        for owner in np.unique(owners):
            own = edges[owners == owner]
            regions = np.union1d(first[own], second[own])
            direction = HIGHER if sign * turned > 0 else LOWER
            rows.append((own, direction, len(own), len(regions), float(sizes[own[0]])))
    rows.sort(key=lambda row: -row[-1])
    for number, row in enumerate(rows, start=1):
        place[row[0]] = number
    columns = ["component", "direction", "n_edges", "n_regions", "size"]
    return place, pd.DataFrame([(i, *row[1:]) for i, row in enumerate(rows, start=1)], columns=columns)


def _blocks(
    labels: Sequence[str | None] | None, first: NDArray[np.intp], second: NDArray[np.intp], n_regions: int
) -> pd.DataFrame:
    """A row per pair of networks that has edges: their names, how many edges, and which."""
    if labels is None or len(labels) != n_regions:
        given = "none" if labels is None else f"{len(labels)}"
        raise InputError(f"Blocks need the functional network of each of the {n_regions} regions; {given} are given.")
    names = sorted({str(name) for name in labels if name})
    numbers = np.array([names.index(str(name)) if name else -1 for name in labels])
    low, high = np.sort([numbers[first], numbers[second]], axis=0)
    rows = []
    for a, network in enumerate(names):
        for b in range(a, len(names)):
            if len(edges := np.flatnonzero((low == a) & (high == b))):
                rows.append((network, names[b], len(edges), edges))
    if not rows:
        raise InputError("There is no pair of regions with networks to test; choose labels that cover more regions.")
    found = pd.DataFrame(rows, columns=["network", "other_network", "n_edges", "edges"])
    found.attrs["n_edges"] = len(first)
    return found


def _block_means(blocks: pd.DataFrame) -> sparse.csr_array:
    """The matrix that averages edges to blocks, shape (n_blocks, n_edges)."""
    rows = np.repeat(np.arange(len(blocks)), blocks["n_edges"])
    weights = np.repeat(1 / blocks["n_edges"].to_numpy(), blocks["n_edges"])
    columns = np.concatenate(blocks["edges"].tolist())
    return sparse.csr_array((weights, (rows, columns)), shape=(len(blocks), blocks.attrs["n_edges"]))
