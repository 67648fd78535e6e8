"""Brain graphs: the weighted network everything downstream is computed on, checked once; and null graphs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError, no_such
from biobgt.base.options import Options, Registry, option
from biobgt.base.wording import capitalised, counted, listed, percent
from biobgt.data.atlas import FEWEST_REGIONS, Atlas

# Brain graphs: the weighted network everything downstream is computed on, checked once.
#
# A :class:`BrainGraph` knows its atlas, its subject and the settings it was made with. Functions of networks accept
# one or a plain matrix, and bring either to checked weights here, so that none can return silent nonsense for NaN,
# self-connections or asymmetry.


Estimator = Literal["pearson", "fisher-z", "partial", "ledoit-wolf", "tangent", "log-weights", "rank-weights"]
PEARSON: Estimator = "pearson"
SignRule = Literal["positive", "absolute", "signed"]
ThresholdRule = Literal["absolute", "proportional", "none"]


@dataclass(frozen=True)
class _ConnectivityEstimator:
    """A way to estimate connectivity.

    Attributes
    ----------
    key : str
    title : str
        As a page offers it.
    words : str
        Within a sentence of a caption or a methods text.
    quantity : str
        What its values are called on scales and axes.
    colour_limit : float
        Half the width of the colour scale: partial correlations of many regions are small, Fisher z may pass 1.
    shrunk : bool
        Whether it starts from the Ledoit-Wolf covariance.
    of_weights : bool
        Whether it is of weights that were brought and are no functional connectivity, such as streamline counts.
    """

    key: Estimator
    title: str
    words: str
    quantity: str
    colour_limit: float = 1.0
    shrunk: bool = False
    of_weights: bool = False


ESTIMATORS: Registry[_ConnectivityEstimator] = Registry(
    "estimator",
    _ConnectivityEstimator(PEARSON, "Pearson correlation", "Pearson correlation", "r"),
    _ConnectivityEstimator("fisher-z", "Fisher z", "Fisher-z transformed Pearson correlation", "Fisher z", 1.5),
    _ConnectivityEstimator(
        "partial",
        "Partial correlation",
        "partial correlation, from the Ledoit-Wolf covariance",
        "partial r",
        0.3,
        shrunk=True,
    ),
    _ConnectivityEstimator(
        "ledoit-wolf",
        "Ledoit-Wolf correlation",
        "correlation from the Ledoit-Wolf shrunk covariance",
        "shrunk r",
        shrunk=True,
    ),
    _ConnectivityEstimator(
        "tangent",
        "Tangent space of the cohort",
        "tangent-space projection at the cohort's mean (Ledoit-Wolf covariance)",
        "tangent",
        shrunk=True,
    ),
    _ConnectivityEstimator(
        "log-weights",
        "Log weights",
        "log(1 + weight / smallest weight of the person)",
        "log weight",
        of_weights=True,
    ),
    _ConnectivityEstimator(
        "rank-weights",
        "Rank weights",
        "rank of the weight among all connections of the person, as a share",
        "rank of weight",
        of_weights=True,
    ),
)


def estimators_for(kind: "ConnectivityKind") -> tuple[Estimator, ...]:
    """The estimators that a kind of connectivity can have: matrices of weights stand for themselves, or transformed."""
    return tuple(one.key for one in ESTIMATORS.values() if one.key == PEARSON or one.of_weights != kind.functional)


GivenKind = Literal["functional", "structural", "other"]
ESTIMATED = "estimated"


@dataclass(frozen=True)
class ConnectivityKind:
    """What the connectivity of a cohort is, and the words that follow from it.

    Attributes
    ----------
    key : {"estimated", "functional", "structural", "other"}
        Estimated here from region series, or brought as matrices that are one of the other three.
    title : str
        Of its matrices.
    data : str
        What was analysed, within a sentence.
    quantity : str
        What values are called on scales and axes; of what was estimated, the estimator says it.
    strength : str
        What the mean connectivity of a region with all others is called.
    threshold : str
        Rule of the threshold where nobody chose one: 0.3 is a usual correlation, and no usual weight of fibres.
    meaning : str
        What a user says by choosing it.
    """

    key: str
    title: str
    data: str
    quantity: str
    strength: str
    threshold: ThresholdRule
    meaning: str = ""

    @property
    def functional(self) -> bool:
        """Whether it is functional connectivity, estimated here or brought."""
        return self.key in (ESTIMATED, "functional")

    @property
    def of_region(self) -> str:
        """What a region has that was measured: a signal or, in matrices that are no functional connectivity, edges."""
        return "signal" if self.functional else "connections"

    def quantity_of(self, given: FloatArray | None, estimator: Estimator) -> str:
        """What values of one subject's connectivity are called: r only where they are correlations.

        Parameters
        ----------
        given : ndarray, shape (n_regions, n_regions), or None
            A matrix that was brought stands for itself, whatever the estimator, unless it became Fisher z.
        estimator : str
        """
        correlated = given is None or (self.functional and _has_unit_diagonal(given))
        return ESTIMATORS[estimator].quantity if correlated or estimator != PEARSON else self.quantity

    def source(self, estimator: str) -> str:
        """Where weights came from, within a sentence: by which estimator, or as they were given."""
        if self.key == ESTIMATED:
            return ESTIMATORS[estimator].words
        transformed = "" if estimator == PEARSON else f", as {ESTIMATORS[estimator].quantity}"
        return f"{self.title[:1].lower()}{self.title[1:]} as given{transformed}"

    def named(self, text: str) -> str:
        """A text on functional connectivity, such as the name of a measure, in the words of this kind."""
        if self.functional:
            return text
        text = text.replace(ESTIMATORS[PEARSON].title, "Weights as given")
        text = re.sub(r"(^|(?<=\. ))FC strength(?= )", capitalised(self.strength), text)
        return re.sub(r"\bFC\b", self.quantity, text.replace("FC strength", self.strength))


KINDS: Registry[ConnectivityKind] = Registry(
    "kind of connectivity",
    ConnectivityKind(ESTIMATED, "Functional connectivity", "resting-state fMRI", "r", "FC strength", "absolute"),
    ConnectivityKind(
        "functional",
        "Functional connectivity",
        "functional connectivity matrices",
        "connectivity",
        "FC strength",
        "absolute",
        "functional connectivity, such as correlations",
    ),
    ConnectivityKind(
        "structural",
        "Structural connectivity",
        "structural connectivity matrices",
        "weight",
        "strength",
        "none",
        "structural connectivity, such as streamline counts",
    ),
    ConnectivityKind("other", "Connectivity", "connectivity matrices", "weight", "strength", "none", "anything else"),
)
# Of the weights above zero, the 95th percentile over the 5th: 26 to 51 in positive or absolute correlations of 65 ABIDE
# subjects on two atlases, 693 to 2,654 in normalised streamline weights of 67 people.
_SPAN_OF_WEIGHTS = 100.0
_TINY_WEIGHT = 0.05  # no matrix of correlations has a largest value below it

# What negative connections are under each sign rule.
SIGN_RULES: Mapping[SignRule, str] = {
    "positive": "set to zero",
    "absolute": "replaced by their absolute values",
    "signed": "kept",
}


@dataclass(frozen=True)
class _LevelRange:
    """What the level of a threshold is called, its default, and in which range and steps a page offers it."""

    title: str
    default: float
    low: float
    high: float
    step: float = 0.01
    in_percent: bool = False


# Each rule has its own level: 0.3 is a usual weight and an unusual share.
LEVELS: Mapping[str, _LevelRange] = {
    "absolute": _LevelRange("Weakest connection kept", 0.3, 0.0, 1.0),
    "proportional": _LevelRange("Share of pairs kept", 0.1, 0.01, 1.0, in_percent=True),
}


def levels_of(kind: ConnectivityKind) -> Mapping[str, _LevelRange]:
    """The same for a kind of connectivity: weights other than functional connectivity may be of any size."""
    return LEVELS if kind.functional else {**LEVELS, "absolute": replace(LEVELS["absolute"], default=0.0, high=np.inf)}


# Rounding of a matrix computed in single precision or printed with six digits, as a share of its largest weight.
_SYMMETRY_TOLERANCE = 1e-6


@dataclass(frozen=True)
class ConnectomeSettings(Options):
    """How a brain graph is made; every choice is visible.

    The strength of a connection, to which thresholds apply, is the absolute value of its weight.
    """

    estimator: Estimator = option(
        PEARSON,
        title="Connectivity",
        help="How connectivity is estimated. Structural connectivity is taken as it is (pearson), or as log or rank "
        "weights.",
        choices_of=lambda cohort: estimators_for(cohort.kind),
        shown={key: one.title for key, one in ESTIMATORS.items()},
        link="estimator",
    )
    sign: SignRule = option(
        "positive",
        title="Sign rule",
        help=f"Negative connections are {listed([f'{what} ({rule})' for rule, what in SIGN_RULES.items()], 'or')}.",
        shown=str.capitalize,
        link="sign",
    )
    threshold: ThresholdRule = option(
        "absolute",
        title="Threshold",
        help="Drop connections below a weight, keep the strongest share of all pairs, or keep all. Default: absolute "
        "for functional connectivity, none for any other.",
        default_of=lambda cohort: cohort.kind.threshold,
        shown={"absolute": "Weight", "proportional": "Share", "none": "None"},
        link="threshold",
    )
    level: float = option(
        None,
        title="Level",
        help="Weight, or share of pairs, of the threshold. Default: "
        f"{' or '.join(f'{about.default:g} ({rule})' for rule, about in LEVELS.items())}.",
        low=0.0,
        link="level",
    )
    backbone: bool = option(
        False,
        title="Keep the spanning tree",
        help="Keep the maximum spanning tree whatever the threshold, so that no region is cut off needlessly.",
        link="backbone",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        given: float | None = self.level
        if given is None:  # only until here: whoever reads a level finds a number
            object.__setattr__(self, "level", LEVELS.get(self.threshold, LEVELS["absolute"]).default)
        if not np.isfinite(self.level):
            raise InputError(f"The threshold level is {self.level}; it must be a number.")
        if self.threshold == "proportional" and not 0 < self.level <= 1:
            raise InputError(f"A proportional threshold keeps a share above 0 and up to 1, not {self.level}.")

    @classmethod
    def usual(cls, kind: ConnectivityKind, **chosen: Any) -> Self:
        """What was chosen, and for all else what is usual for a kind of connectivity."""
        return cls(**{"threshold": kind.threshold, **chosen})

    @property
    def kept(self) -> str:
        """Which connections are kept, in words."""
        size = " in absolute value" if self.sign == "signed" else ""
        return {
            "absolute": f"connections of at least {self.level:g}{size}",
            "proportional": f"the strongest {percent(self.level, 1)} of pairs",
            "none": "connections of any strength",
        }[self.threshold]

    def describe(self, kind: ConnectivityKind = KINDS[ESTIMATED]) -> str:
        """Say it in words, for captions; structural connectivity has no negative connections to speak of."""
        signs = "" if kind.key == "structural" else f"; negative connections {SIGN_RULES[self.sign]}"
        tree = ", with the maximum spanning tree" if self.backbone else ""
        return f"{kind.source(self.estimator)}{signs}; {self.kept}{tree}"


@dataclass(frozen=True, eq=False)
class BrainGraph:
    """A weighted, undirected brain network, checked once: square, symmetric, finite, zero diagonal.

    Attributes
    ----------
    weights : ndarray, shape (n_regions, n_regions)
        Read-only.
    atlas : Atlas
    subject : str
        Whose graph this is; a group's name for a group mean.
    settings : ConnectomeSettings or None
        How it was made; None for a graph that was brought as it is.
    simulated : bool
    connectivity : ndarray, shape (n_regions, n_regions), or None
        The whole matrix behind the weights, on which FC strength is, as in the paper: Pearson correlation, or
        connectivity as it was brought. None where it is not known.
    kind : ConnectivityKind
        What that connectivity is.
    """

    weights: FloatArray
    atlas: Atlas
    subject: str = ""
    settings: ConnectomeSettings | None = None
    simulated: bool = False
    connectivity: FloatArray | None = None
    kind: ConnectivityKind = KINDS[ESTIMATED]
    n_edges: int = field(init=False)

    def __post_init__(self) -> None:
        weights = _check_weights(self.weights, f"The graph of '{self.subject}'")
        if len(weights) != self.atlas.n_regions:
            raise InputError(
                f"The graph of '{self.subject}' has {len(weights)} regions and atlas {self.atlas.name} has "
                f"{self.atlas.n_regions}."
            )
        weights = weights.copy()
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "n_edges", int(np.count_nonzero(weights)) // 2)

    @property
    def n_regions(self) -> int:
        """Number of regions."""
        return self.atlas.n_regions

    @property
    def density(self) -> float:
        """Share of all pairs that are connected."""
        return self.n_edges / (self.n_regions * (self.n_regions - 1) / 2)


Graph = BrainGraph | FloatArray


def is_correlation(connectivity: FloatArray) -> bool:
    """Whether a matrix's connections can be correlations; its diagonal and rounding do not count."""
    off_diagonal = connectivity - np.diag(np.diag(connectivity))
    return bool(np.abs(off_diagonal).max() <= 1 + 1e-6)


def _has_unit_diagonal(connectivity: FloatArray) -> bool:
    """Whether a matrix is one of correlations: none beyond ±1, and every region that has any is 1 with itself."""
    diagonal = np.diag(connectivity)
    connected = (connectivity - np.diag(diagonal)).any(axis=0)
    return is_correlation(connectivity) and bool(np.allclose(diagonal[connected], 1, rtol=0, atol=1e-6))


def spans_decades(weights: FloatArray) -> bool:
    """Whether weights above zero differ so much that a linear scale would show only the few strongest."""
    weak, strong = np.percentile(weights[weights > 0], (5, 95)) if (weights > 0).any() else (1.0, 1.0)
    return bool(strong >= _SPAN_OF_WEIGHTS * weak)


def told_kind(*matrices: FloatArray) -> GivenKind | None:
    """Tell from the values of matrices what they are, or None where they do not, or contradict each other.

    A negative value, or a diagonal of ones with nothing beyond ±1, is functional. Without either, counts, weights over
    decades and tiny weights are structural.

    Parameters
    ----------
    *matrices : ndarray, shape (n_regions, n_regions)
    """
    told = {kind for matrix in matrices if (kind := _told_kind(matrix)) is not None}
    return told.pop() if len(told) == 1 else None


def _told_kind(connectivity: FloatArray) -> GivenKind | None:
    weights = connectivity[~np.eye(len(connectivity), dtype=bool)]
    weights = weights[weights != 0]
    if weights.size == 0 or (weights == 1).all():
        return None
    if weights.min() < 0 or _has_unit_diagonal(connectivity):
        return "functional"
    counts = weights.max() > 1 and bool((weights == np.round(weights)).all())
    return "structural" if counts or weights.max() < _TINY_WEIGHT or spans_decades(weights) else None


def graph_weights(graph: Graph) -> FloatArray:
    """Return a graph's weights, checked: finite, symmetric, and with a zero diagonal.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    return graph.weights if isinstance(graph, BrainGraph) else _check_weights(graph, "The graph")


def nonnegative_weights(graph: Graph, *, what: str) -> FloatArray:
    """Return a graph's weights where ``what`` is defined for them, that is where none is negative.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    what : str
        What is to be computed, for the sentence.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    weights = graph_weights(graph)
    if weights.min() < 0:
        row, column = np.unravel_index(weights.argmin(), weights.shape)
        whose = f"the graph of '{graph.subject}'" if isinstance(graph, BrainGraph) else "the graph"
        raise InputError(
            f"{what} is not defined for negative weights, and {whose} has one ({weights[row, column]:.4g}) between "
            f"regions {row + 1} and {column + 1}. Make it with the sign rule 'positive' or 'absolute'."
        )
    return weights


def check_connectivity(matrix: FloatArray, *, what: str = "The matrix") -> FloatArray:
    """Return the matrix as a symmetric float array, or say what is wrong with it.

    Differences across the diagonal below 1e-6 of the largest weight are rounding and are averaged away.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{what} has shape {matrix.shape}; connectivity is square, regions by regions.")
    if len(matrix) < FEWEST_REGIONS:
        raise InputError(f"{what} has {counted(len(matrix), 'region')}; at least {FEWEST_REGIONS} are needed.")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0] + 1
        raise InputError(f"{what} has a value that is not finite between regions {row} and {column}.")
    if np.array_equal(matrix, matrix.T):
        return matrix
    difference = np.abs(matrix - matrix.T)
    if difference.max() > _SYMMETRY_TOLERANCE * np.abs(matrix).max():
        row, column = np.unravel_index(difference.argmax(), matrix.shape)
        raise InputError(
            f"{what} is not symmetric: {matrix[row, column]:.4g} from region {row + 1} to {column + 1} and "
            f"{matrix[column, row]:.4g} back. Directed connectivity is not supported; "
            "average the two directions first if that is meant."
        )
    return (matrix + matrix.T) / 2


def _check_weights(matrix: FloatArray, what: str) -> FloatArray:
    weights = check_connectivity(matrix, what=what)
    if np.diag(weights).any():
        region = int(np.flatnonzero(np.diag(weights))[0]) + 1
        raise InputError(f"{what} connects region {region} to itself; set the diagonal to zero.")
    return weights


def check_choice(what: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse an option that does not exist, and name those that do.

    Parameters
    ----------
    what : str
        What is chosen, in words, for the sentence.
    value : str
        The choice.
    allowed : tuple of str
        Every choice there is.
    """
    if value not in allowed:
        raise no_such(what, value, allowed)


# Null graphs: what hubs, modularity or clustering would be if only the regions' degrees, or strengths, were given.
#
# :func:`random_graph` swaps connections (Maslov & Sneppen 2002) and hands the weights out again so that strengths are
# kept closely (Rubinov & Sporns 2011); :func:`lattice_graph` accepts only swaps that bring connections nearer to a
# ring (Sporns & Zwi 2004). They are written here because bctpy's ``randmio_und`` and ``latmio_und`` never return for a
# star, and its ``null_model_und_sign`` loses the negative weights. Every loop here has an end.


_RANDOM_ROUNDS = 40
_LATTICE_ROUNDS = 50
_MOST_LATTICE_STEPS = 40
_WEIGHT_BATCHES = 100


def random_graph(graph: Graph, *, seed: int) -> FloatArray:
    """A random graph with the same degrees, the same weights and nearly the same strengths.

    Positive and negative degrees, and the weights as a whole, are kept exactly; the strengths of regions closely. In
    a complete graph without negative weights nothing can be swapped, and only the weights move.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    seed : int

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    weights = graph_weights(graph)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    swapped = _swap(weights, rng, rounds=_RANDOM_ROUNDS)
    positive = _with_strengths(swapped > 0, np.maximum(weights, 0), rng)
    return positive - _with_strengths(swapped < 0, np.maximum(-weights, 0), rng)


def lattice_graph(graph: Graph, *, seed: int) -> FloatArray:
    """A lattice-like graph with the same degrees and the same weights, for the highest clustering they allow.

    The regions are put on a ring in random order, and connections are swapped as long as that brings the weight
    nearer to neighbours on the ring.

    Parameters
    ----------
    graph : BrainGraph or ndarray, shape (n_regions, n_regions)
    seed : int

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    weights = graph_weights(graph)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    place = rng.permutation(len(weights))
    apart = np.abs(place[:, None] - place[None, :])
    ring_distance = np.minimum(apart, len(weights) - apart).astype(np.float64)
    for _ in range(_MOST_LATTICE_STEPS):
        nearer = _swap(weights, rng, rounds=_LATTICE_ROUNDS, distance=ring_distance)
        settled = (nearer * ring_distance).sum() == (weights * ring_distance).sum()
        weights = nearer
        if settled:
            break
    return weights


def _swap(
    weights: FloatArray,
    rng: np.random.Generator,
    *,
    rounds: int,
    distance: FloatArray | None = None,
) -> FloatArray:
    """Swap ends of random pairs of connections: a-b, c-d become a-d, c-b, weights travelling along.

    In each round all connections are paired at random and every pair that may swap does. With ``distance`` a
    swap must not lengthen the two connections' weighted distance.
    """
    weights = weights.copy()
    for _ in range(rounds):
        ends = np.stack(np.nonzero(np.triu(weights)))
        half = ends.shape[1] // 2
        order = rng.permutation(ends.shape[1])
        (a, b), (c, d) = ends[:, order[:half]], ends[:, order[half : 2 * half]]
        turned = rng.random(half) < 0.5  # or c could only ever be the end with the smaller number
        c, d = np.where(turned, d, c), np.where(turned, c, d)
        # a-d and c-b may take the weights of a-b and c-d where that changes no signed degree.
        ab, cd, ad, cb = np.sign([weights[a, b], weights[c, d], weights[a, d], weights[c, b]])
        allowed = (a != c) & (a != d) & (b != c) & (b != d) & (ab == cd) & (ad == cb) & (ab != ad)
        if distance is not None:
            ab, cd = weights[a, b], weights[c, d]
            allowed &= distance[a, d] * ab + distance[c, b] * cd <= distance[a, b] * ab + distance[c, d] * cd
        a, b, c, d = _without_collisions(np.stack([a, b, c, d])[:, allowed], len(weights))
        ab, cd, ad, cb = weights[a, b], weights[c, d], weights[a, d], weights[c, b]
        weights[a, d] = weights[d, a] = ab
        weights[c, b] = weights[b, c] = cd
        weights[a, b] = weights[b, a] = ad
        weights[c, d] = weights[d, c] = cb
    return weights


def _without_collisions(swaps: NDArray[np.int64], n_regions: int) -> NDArray[np.int64]:
    """Keep of swaps (4, n_swaps) made at once only those that share no pair of regions with an earlier one."""
    a, b, c, d = swaps
    pairs = np.stack([np.minimum(x, y) * n_regions + np.maximum(x, y) for x, y in ((a, b), (c, d), (a, d), (c, b))])
    # Pairs in the order of the swaps: the first swap to touch a pair may have it.
    _, first, which = np.unique(pairs.T.ravel(), return_index=True, return_inverse=True)
    owner = (first[which] // 4).reshape(-1, 4)
    return swaps[:, (owner == np.arange(len(owner))[:, None]).all(axis=1)]


def _with_strengths(connected: NDArray[np.bool_], original: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Hand the original weights out to the connected pairs so that strengths come out as they were.

    In each round a random hundredth of the weights goes to the pairs of the same rank in the product of the
    strengths still to be filled.
    """
    i, j = np.nonzero(np.triu(connected))
    remaining = np.sort(original[np.triu(original) > 0])
    missing = original.sum(axis=0)
    weights = np.zeros(original.shape)
    batch = max(1, len(remaining) // _WEIGHT_BATCHES)
    while len(remaining):
        order = np.argsort(missing[i] * missing[j], kind="stable")
        ranks = rng.permutation(len(remaining))[:batch]
        pairs = order[ranks]
        weights[i[pairs], j[pairs]] = remaining[ranks]
        for ends in (i, j):
            missing -= np.bincount(ends[pairs], weights=remaining[ranks], minlength=len(missing))
        np.maximum(missing, 0, out=missing)
        i, j, remaining = np.delete(i, pairs), np.delete(j, pairs), np.delete(remaining, ranks)
    return weights + weights.T


def check_seed(seed: int) -> None:
    """Refuse a seed that numpy's random states do not take."""
    if not 0 <= seed < 2**32:
        raise InputError(f"The seed is {seed}; it must be a whole number from 0 to 2³² - 1.")
