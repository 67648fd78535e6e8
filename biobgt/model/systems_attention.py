"""Mean attention of several networks on the same test subjects, as the study ``attention_systems`` measured it."""

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from biobgt.assets import asset
from biobgt.errors import InputError
from biobgt.modules.blocks import module_contrast

MEASURED = ("studies", "attention_systems.npz")
PERMUTATIONS = 1000


@dataclass(frozen=True, eq=False)
class SystemsAttention:
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


@dataclass(frozen=True)
class FollowsModules:
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
def load_systems_attention() -> SystemsAttention:
    """Read what the study measured."""
    with np.load(asset(*MEASURED), allow_pickle=False) as stored:
        return SystemsAttention(
            model=str(stored["model"]),
            split=str(stored["split"]),
            n_subjects=int(stored["n_subjects"]),
            systems=tuple(str(key) for key in stored["systems"]),
            titles=tuple(str(title) for title in stored["titles"]),
            maps=stored["maps"].astype(np.float64),
            auc=stored["auc"].astype(np.float64),
        )


@lru_cache(maxsize=32)
def systems_follow_modules(labels: tuple[str | None, ...]) -> tuple[FollowsModules, ...]:
    """How well the map of each network of the study follows modules; see :func:`follows_modules`."""
    return tuple(follows_modules(one, list(labels)) for one in load_systems_attention().maps)


def follows_modules(
    attention: NDArray[np.float64], labels: list[str | None], *, permutations: int = PERMUTATIONS, seed: int = 0
) -> FollowsModules:
    """Compare attention within modules with attention between them, against labels that are shuffled over regions.

    Parameters
    ----------
    attention : ndarray, shape (n_regions, n_regions)
    labels : list of str or None, length n_regions
        Each region's module. Regions without one take no part, and stay without when labels are shuffled.
    permutations : int
    seed : int

    Examples
    --------
    >>> attention = np.kron(np.eye(3), np.full((4, 4), 2.0)) + 1
    >>> found = follows_modules(attention, list("aaaabbbbcccc"))
    >>> found.ratio, round(found.chance, 1), found.p < 0.01
    (3.0, 1.0, True)
    """
    known = [i for i, label in enumerate(labels) if label]
    if len({labels[i] for i in known}) < 2:
        raise InputError("To say whether attention follows modules, regions of two modules are needed.")
    own, rng = np.array([labels[i] for i in known]), np.random.default_rng(seed)
    matrix = attention[np.ix_(known, known)]
    ratio = float(module_contrast([matrix], own.tolist())[0])
    shuffled = np.array([module_contrast([matrix], rng.permutation(own).tolist())[0] for _ in range(permutations)])
    reached = int((shuffled >= ratio - 1e-12).sum())
    return FollowsModules(ratio, float(shuffled.mean()), (1 + reached) / (1 + permutations))
