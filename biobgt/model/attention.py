"""What is shown of attention: one layer, head or their mean, the attention a region receives, groups side by side.

Attention is given as multiples of what a region would pay if it looked at all regions alike: 1 is even, 2 is twice as
much. Rows look, columns are looked at. Nothing here needs torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import passes
from biobgt.base.beyond import GIVEN_FC, SAME_BLOCK, beyond
from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.data.atlas import PAPER_MODULES, Atlas
from biobgt.data.quality import OVERALL_CONNECTIVITY
from biobgt.modules.partition import module_contrast

Matrix = NDArray[np.float64]
_AnyMatrix = NDArray[np.floating]
OF_FC = "_of_fc"  # ends the columns of tests of connectivity beside a feature
WITHOUT_CONNECTIVITY = "_without_connectivity"  # ends the columns of tests not adjusted for overall connectivity
SIMPLER_THAN_BLOCKS = (SAME_BLOCK,)  # given which differences of attention are tested again


@dataclass(frozen=True, eq=False)
class BlockTests:
    """Two groups' attention compared between functional modules, adjusted for covariates and not.

    Attributes
    ----------
    between : (str, str)
        A positive difference is higher in the second.
    blocks : DataFrame
        One row per pair of modules, as :func:`biobgt.groups.compare_groups` makes them; columns that end in
        :data:`WITHOUT_CONNECTIVITY` are the same not adjusted for overall connectivity, where that was tested.
    contrast : DataFrame
        One row: attention within over between modules.
    covariates : str
        Names of those that were adjusted for; empty for none.
    n_subjects : mapping of str to int
    note : str
        What must be known of the design, such as sites with one group only.
    """

    between: tuple[str, str]
    blocks: pd.DataFrame
    contrast: pd.DataFrame
    covariates: str
    n_subjects: Mapping[str, int]
    note: str = ""

    @property
    def marked(self) -> pd.DataFrame:
        """The blocks whose false discovery rate is at most 5 %, adjusted for the covariates."""
        return self.blocks[passes(self.blocks["q"])]

    @property
    def beyond_fc(self) -> NDArray[np.object_]:
        """Whether each block's difference goes beyond FC of the same block; see :func:`biobgt.base.beyond.beyond`."""
        known = f"q{GIVEN_FC}" in self.blocks
        q, d = (self.blocks[f"{name}{GIVEN_FC}"] if known else np.full(len(self.blocks), np.nan) for name in "qd")
        return beyond(self.blocks["q"], q, self.blocks["d"], d)

    @property
    def n_marked_without_connectivity(self) -> int | None:
        """How many blocks would pass if overall connectivity were not adjusted for; None where that is not known."""
        column = f"q{WITHOUT_CONNECTIVITY}"
        return int(passes(self.blocks[column]).sum()) if column in self.blocks else None

    @property
    def beside(self) -> "_BesideTests | None":
        """What connectivity of the same blocks says; None where a model was tested before that stood beside."""
        if f"q{GIVEN_FC}" not in self.blocks:
            return None
        effects = self.blocks[["d", f"d{OF_FC}"]].dropna()
        alike = effects["d"].corr(effects[f"d{OF_FC}"]) if len(effects) > 2 else np.nan
        of, given = (int(passes(self.blocks[f"q{ending}"]).sum()) for ending in (self.of_connectivity, GIVEN_FC))
        alone = f"q{GIVEN_FC}{WITHOUT_CONNECTIVITY}"
        given_alone = int(passes(self.blocks[alone]).sum()) if alone in self.blocks else None
        return _BesideTests(of, given, given_alone, float(alike))

    @property
    def of_connectivity(self) -> str:
        """What the columns of connectivity's own test end in: not adjusted for overall connectivity, made of it."""
        without = f"{OF_FC}{WITHOUT_CONNECTIVITY}"
        known = f"q{without}" in self.blocks and self.blocks[f"q{without}"].notna().any()
        return without if known else OF_FC

    @property
    def n_marked_unadjusted(self) -> int:
        """How many blocks would pass without covariates."""
        return int(passes(self.blocks["q_unadjusted"]).sum())


@dataclass(frozen=True)
class _BesideTests:
    """Connectivity (FC) beside two groups' attention, block by block.

    Attributes
    ----------
    of_connectivity : int
        Blocks whose FC differs at a false discovery rate of 5 %, not adjusted for overall FC.
    given_connectivity : int
        Blocks whose attention does, with FC of the same block as one more covariate.
    given_without_overall : int or None
        The same without overall FC among the covariates; None where it was not one of them.
    correlation : float
        Of the effect sizes of attention and FC over blocks, adjusted alike.
    """

    of_connectivity: int
    given_connectivity: int
    given_without_overall: int | None
    correlation: float


def select_attention(attention: NDArray[np.float32], *, layer: int | None = None, head: int | None = None) -> Matrix:
    """Pick one layer and head, or average over those not named, in multiples of uniform attention.

    Parameters
    ----------
    attention : ndarray, shape (n_layers, n_heads, n_regions, n_regions)
        Rows sum to 1.
    layer, head : int, optional
        Counted from 0; None takes the mean.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
    """
    if attention.ndim != 4:
        raise InputError(f"Attention has layers, heads, and rows and columns of regions, not shape {attention.shape}.")
    check_layer_and_head(layer, head, n_layers=attention.shape[0], n_heads=attention.shape[1])
    chosen = attention.astype(np.float64)
    chosen = chosen.mean(axis=0) if layer is None else chosen[layer]
    chosen = chosen.mean(axis=0) if head is None else chosen[head]
    return np.asarray(chosen * chosen.shape[-1])


def check_layer_and_head(layer: int | None, head: int | None, *, n_layers: int, n_heads: int) -> None:
    """Refuse a layer or head, counted from 0, that a model does not have; None is the mean over all.

    Parameters
    ----------
    layer, head : int or None
    n_layers, n_heads : int
        Of the model.
    """
    for what, number, there in (("layer", layer, n_layers), ("head", head, n_heads)):
        if number is not None and not 0 <= number < there:
            raise InputError(f"There is no {what} {number + 1}; this model has {there}.")


def attention_received(matrix: Matrix) -> Matrix:
    """Mean attention that each region receives from the others, in the unit of the matrix, shape (n_regions,)."""
    off = np.array(matrix, dtype=np.float64)
    np.fill_diagonal(off, 0)
    return np.asarray(off.sum(axis=0) / (len(off) - 1))


def map_correlation(one: _AnyMatrix, other: _AnyMatrix) -> float:
    """Pearson correlation of two maps over all pairs of different regions; NaN where one of them does not vary."""
    off = ~np.eye(len(one), dtype=bool)
    if np.ptp(one[off]) == 0 or np.ptp(other[off]) == 0:
        return float("nan")
    return float(np.corrcoef(one[off], other[off])[0, 1])


@dataclass(frozen=True)
class BesideConnectivity:
    """How much of an attention map the functional connectivity of the same brains says by itself.

    Attributes
    ----------
    correlation : float
        Pearson's, of attention and connectivity over all ordered pairs of different regions; NaN where one of them
        does not vary.
    contrast : float
        Mean attention within over between modules; NaN without modules.
    connectivity_contrast : float
        The same ratio of :func:`connectivity_attention`.
    """

    correlation: float
    contrast: float
    connectivity_contrast: float


def connectivity_attention(connectivity: _AnyMatrix) -> Matrix:
    """Attention as connectivity alone would give it: a region looks at others in proportion to positive correlations.

    Negative correlations are looked at not at all, as the softmax of attention is never negative; rows are normalised
    as those of attention are. A region without positive correlations looks at all others alike.

    Parameters
    ----------
    connectivity : ndarray, shape (n_regions, n_regions)
        Correlations; the diagonal is left out.

    Returns
    -------
    ndarray, shape (n_regions, n_regions)
        In multiples of uniform attention to the other regions, zero on the diagonal.
    """
    others = ~np.eye(len(connectivity), dtype=bool)
    positive = np.where(others, np.clip(connectivity.astype(np.float64), 0, None), 0.0)
    positive[~positive.any(axis=1)] = 1.0
    positive = np.where(others, positive, 0.0)
    return np.asarray((len(positive) - 1) * positive / positive.sum(axis=1, keepdims=True))


def beside_connectivity(
    attention: _AnyMatrix, connectivity: _AnyMatrix, labels: Sequence[str | int | None] | None
) -> BesideConnectivity:
    """Compare an attention map with the connectivity of the same subject, or of the same group's mean.

    Parameters
    ----------
    attention : ndarray, shape (n_regions, n_regions)
        In any unit.
    connectivity : ndarray, shape (n_regions, n_regions)
    labels : sequence, length n_regions, or None
        Each region's module, None or 0 for none; None where no modules are shown.
    """
    contrasts = [np.nan, np.nan]
    if labels is not None and any(labels):
        maps = np.stack([attention, connectivity_attention(connectivity)])
        contrasts = module_contrast(maps, labels).tolist()  # type: ignore[arg-type]
    return BesideConnectivity(map_correlation(attention, connectivity), *contrasts)


def functional_labels(atlas: Atlas, labelling: str) -> list[str | None]:
    """The functional module of each region, in words."""
    return [label and PAPER_MODULES.get(label, label) for label in atlas.labelling(labelling)]


def group_beside(own: str | None, groups: Sequence[str]) -> str:
    """The group of a model that a subject is shown beside: its own where the model knows it, else the controls."""
    return own if own in groups and own is not None else groups[0]


def all_block_tests(tests: pd.DataFrame, sizes: Mapping[str, int]) -> list[BlockTests]:
    """Find the comparison of every two groups that were compared, in the order of groups; see :func:`block_tests`."""
    found = [block_tests(tests, between, sizes) for between in combinations(sizes, 2)]
    return [comparison for comparison in found if comparison is not None]


def block_tests(tests: pd.DataFrame, between: tuple[str, str], sizes: Mapping[str, int]) -> BlockTests | None:
    """Find the comparison of two groups among a model's tests; None where these two were not compared.

    Groups are compared once; asked for the other way round, differences change their sign.

    Parameters
    ----------
    tests : DataFrame
        Of :class:`biobgt.model.group_results.GroupResults`.
    between : (str, str)
    sizes : mapping of str to int
        Subjects of each group, for tests that do not say how many they used.
    """
    rows = tests[tests["between"] == f"{between[0]} - {between[1]}"]
    if rows.empty:
        rows = _turned(tests[tests["between"] == f"{between[1]} - {between[0]}"])
    if rows.empty:
        return None
    rows = _beside(rows)
    blocks = rows[rows["family"] == "block"].reset_index(drop=True)
    contrast = rows[rows["family"] == "contrast"].reset_index(drop=True)
    said = {name: rows[name].dropna() for name in ("covariates", "note") if name in rows}
    words = {name: str(known.iloc[0]) if len(known) else "" for name, known in said.items()}
    used = [f"n_{group}" for group in between]
    if set(used) <= set(rows.columns) and rows[used].notna().all(axis=None):
        sizes = dict(zip(between, rows[used].iloc[0].astype(int).tolist(), strict=True))
    own = {group: sizes[group] for group in between}
    return BlockTests(between, blocks, contrast, words["covariates"], own, words.get("note", ""))


def _beside(rows: pd.DataFrame) -> pd.DataFrame:
    """Put tests without overall connectivity, which come as rows of their own, beside those with it."""
    held = [names.split(", ") if isinstance(names, str) else [] for names in rows["covariates"]]  # NaN where none
    adjusted = pd.Series([OVERALL_CONNECTIVITY in names for names in held], index=rows.index, dtype=bool)
    if adjusted.all() or not adjusted.any():
        return rows
    measured = ["difference", "d", "d_low", "d_high", "t", "p", "p_family", "q"]
    measured = [f"{name}{ending}" for ending in ("", OF_FC, GIVEN_FC) for name in measured] + ["covariates"]
    other = rows.loc[~adjusted, ["family", "feature", *(name for name in measured if name in rows)]]
    renamed = other.rename(columns={name: f"{name}{WITHOUT_CONNECTIVITY}" for name in measured})
    return rows[adjusted].merge(renamed, on=["family", "feature"], how="left", validate="one_to_one")


def _turned(rows: pd.DataFrame) -> pd.DataFrame:
    """The same comparison, first group minus second."""
    turned = rows.copy()
    for suffix in (suffix for suffix in ("", "_unadjusted", OF_FC, GIVEN_FC) if f"d{suffix}" in rows):
        low, high = f"d_low{suffix}", f"d_high{suffix}"
        for column in (f"difference{suffix}", f"d{suffix}", f"t{suffix}"):
            turned[column] = -rows[column]
        turned[low], turned[high] = -rows[high], -rows[low]
    return turned


# How the people of a group spread around its mean.


HIGHEST = 0.1  # share of people, those with the highest contrast, of whom it is told how much they make of the mean


@dataclass(frozen=True)
class _PeopleSummary:
    """How the people of a group spread in their contrast of modules.

    Attributes
    ----------
    mean, median : float
    top_share : float
        Of the sum of what lies above 1, the share that the people with the highest contrast, :data:`HIGHEST` of all,
        have.
    with_strength : float
        Spearman's correlation of contrast and mean |FC|.
    """

    mean: float
    median: float
    top_share: float
    with_strength: float


def people_summary(people: NDArray[np.float64]) -> _PeopleSummary:
    """Describe the contrasts of a group's people.

    Parameters
    ----------
    people : ndarray, shape (n_people, 2)
        Of :class:`biobgt.model.group_results.GroupSpread`; a person without a contrast is left out.
    """
    from scipy.stats import spearmanr

    known = people[np.isfinite(people).all(axis=1)]
    ratios = np.sort(known[:, 0])[::-1]
    above = np.clip(ratios - 1, 0, None)
    top = above[: max(1, round(HIGHEST * len(above)))].sum()
    varies = len(known) > 2 and (np.ptp(known, axis=0) > 0).all()
    return _PeopleSummary(
        mean=float(ratios.mean()),
        median=float(np.median(ratios)),
        top_share=float(top / above.sum()) if above.any() else float("nan"),
        with_strength=float(spearmanr(known[:, 0], known[:, 1]).statistic) if varies else float("nan"),
    )


# How much each network counts in a model: its regions' weights, by functional network.


UNLABELLED = "no network"


def network_table(weights: NDArray[np.float32], labels: Sequence[str | None]) -> pd.DataFrame:
    """Mean weight of every network's regions, in words, the largest first.

    Parameters
    ----------
    weights : ndarray, shape (n_members, n_regions)
        Around 1; see :func:`biobgt.model.folder.load_region_weights`.
    labels : sequence of str or None, length n_regions
    """
    networks = np.array([label or UNLABELLED for label in labels])
    rows = []
    for network in dict.fromkeys(networks.tolist()):
        inside = networks == network
        of_members = weights[:, inside].astype(np.float64).mean(axis=1)
        members = f"{of_members.min():.2f} to {of_members.max():.2f}"
        rows.append((of_members.mean(), (network, str(inside.sum()), f"{of_members.mean():.2f}", members)))
    rows.sort(key=lambda row: -row[0])
    return pd.DataFrame([row for _, row in rows], columns=["Network", "Regions", "Weight", "Over members"])


# Mean attention of several networks on the same test subjects, as the study ``attention_systems`` measured it.


PERMUTATIONS = 1000


@dataclass(frozen=True, eq=False)
class _SystemsAttention:
    """Networks trained on one split of a cohort, and their attention on its test subjects.

    Attributes
    ----------
    model : str
        The shipped model that is trained on the same cohort.
    split : str
    n_subjects : int
        Test subjects that the maps are means over.
    systems, titles : tuple of str
        Their keys in the register of the benchmark, and how they are called.
    maps : ndarray, shape (n_systems, n_regions, n_regions)
        In multiples of uniform attention; mean over layers, heads and subjects.
    auc : ndarray, shape (n_systems,)
        On the same test subjects.
    """

    model: str
    split: str
    n_subjects: int
    systems: tuple[str, ...]
    titles: tuple[str, ...]
    maps: NDArray[np.float64]
    auc: NDArray[np.float64]

    @lru_cache(maxsize=32)  # noqa: B019 (there is one study, and it is kept)
    def follow_modules(self, labels: tuple[str | None, ...]) -> "tuple[_FollowsModules, ...]":
        """How well the map of each network follows modules; see :func:`_follows_modules`."""
        return tuple(_follows_modules(one, list(labels)) for one in self.maps)


@dataclass(frozen=True)
class _FollowsModules:
    """How well a map follows modules.

    Attributes
    ----------
    ratio : float
        Mean attention within modules over that between them.
    chance : float
        Mean ratio where the labels are shuffled over regions.
    p : float
        Share of shufflings that reach the ratio, the map's own labels counted in.
    """

    ratio: float
    chance: float
    p: float


@cache
def load_systems_attention() -> _SystemsAttention:
    """Read what the study measured."""
    with np.load(asset("studies", "attention_systems.npz"), allow_pickle=False) as stored:
        return _SystemsAttention(
            model=str(stored["model"]),
            split=str(stored["split"]),
            n_subjects=int(stored["n_subjects"]),
            systems=tuple(str(key) for key in stored["systems"]),
            titles=tuple(str(title) for title in stored["titles"]),
            maps=stored["maps"].astype(np.float64),
            auc=stored["auc"].astype(np.float64),
        )


def _follows_modules(attention: NDArray[np.float64], labels: list[str | None]) -> _FollowsModules:
    """Compare attention within modules with attention between them, against labels that are shuffled over regions.

    Parameters
    ----------
    attention : ndarray, shape (n_regions, n_regions)
    labels : list of str or None, length n_regions
        Each region's module. Regions without one take no part, and stay without when labels are shuffled.

    Examples
    --------
    >>> attention = np.kron(np.eye(3), np.full((4, 4), 2.0)) + 1
    >>> found = _follows_modules(attention, list("aaaabbbbcccc"))
    >>> found.ratio, round(found.chance, 1), found.p < 0.01
    (3.0, 1.0, True)
    """
    known = [i for i, label in enumerate(labels) if label]
    if len({labels[i] for i in known}) < 2:
        raise InputError("To say whether attention follows modules, regions of two modules are needed.")
    own, rng = np.array([labels[i] for i in known]), np.random.default_rng(0)
    matrix = attention[np.ix_(known, known)]
    ratio = float(module_contrast([matrix], own.tolist())[0])
    shuffled = np.array([module_contrast([matrix], rng.permutation(own).tolist())[0] for _ in range(PERMUTATIONS)])
    reached = int((shuffled >= ratio - 1e-12).sum())
    return _FollowsModules(ratio, float(shuffled.mean()), (1 + reached) / (1 + PERMUTATIONS))
