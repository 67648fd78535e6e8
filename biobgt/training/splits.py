"""How subjects are divided: which train, which choose the weights, and which are kept for the test.

Three protocols are made here: random 80/10/10 splits stratified by site × group (section 4.1 of the paper), cross-
validation, and whole sites left out. Subjects are dealt like cards: sorted by group, then by site, shuffled within a
site, and dealt round the parts. Every group and every site × group is then spread as evenly as whole persons allow, and
a stratum too small for that is pooled with its neighbours of the same group, never dropped. Scans of one person stay
together, and so do ids that hold the same scan: each is dealt for itself, then joins the first of them, so that one
double scan does not change everybody else's part.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.options import Registry
from biobgt.model.presets import FOLDS

# How subjects are divided for training and test: one object per protocol, known by its key in tables and commands.
Evaluated = Literal["random", "sites", "official", "nested"]  # what ``biobgt evaluate`` offers
RANDOM, SITES, OFFICIAL, NESTED = get_args(Evaluated)
CROSS_VALIDATION = "folds"


@dataclass(frozen=True)
class _Protocol:
    """A way to divide the subjects of a cohort.

    Attributes
    ----------
    key : str
    help : str
        What it is, in few words, for the command line.
    title : str
        For a table of results; ``{n}`` is the number of splits. Empty where a single model is not trained per split.
    sentence : str
        What becomes of subjects, below that table.
    """

    key: str
    help: str
    title: str = ""
    sentence: str = ""


PROTOCOLS = Registry(
    "protocol",
    _Protocol(
        RANDOM,
        "80/10/10 splits",
        "{n} random 80/10/10 splits",
        "A random split trains on 80 % of the subjects, validates on 10 % and tests on 10 %.",
    ),
    _Protocol(
        SITES,
        "leave one site out",
        "one site left out, for each of {n} sites",
        "Where a site is left out, its subjects are tested by a model trained on no subject of that site.",
    ),
    _Protocol(
        OFFICIAL,
        "the cohort's own split",
        "the cohort's own split",
        "The cohort's own split is the one that it was released with.",
    ),
    _Protocol(NESTED, f"a whole ensemble for each of {FOLDS} folds"),
    _Protocol(
        CROSS_VALIDATION,
        "cross-validation",
        "{n}-fold cross-validation",
        "In cross-validation every subject is tested once.",
    ),
)


Indices = NDArray[np.int64]
_PARTS = 10  # 80/10/10: one part of ten for validation, one for the test


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of a cohort that train, validate and test.

    Attributes
    ----------
    name : str
    train, validation, test : ndarray of int, shapes (n_train,), (n_validation,), (n_test,)
        Row numbers, sorted, no row twice.
    notes : tuple of str
        Sentences on what this split cannot tell.
    """

    name: str
    train: Indices
    validation: Indices
    test: Indices
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for part in ("train", "validation", "test"):
            rows = np.sort(np.asarray(getattr(self, part), dtype=np.int64))
            rows.setflags(write=False)
            object.__setattr__(self, part, rows)
        rows = np.concatenate([self.train, self.validation, self.test])
        if len(np.unique(rows)) < len(rows):
            raise InputError(f"In split '{self.name}' a row stands in two parts, or twice in one.")

    def within(self, rows: Indices) -> "Split":
        """The same split among some rows, in ascending order and counted anew, as when a cohort is one of several."""
        train, validation, test = (
            np.flatnonzero(np.isin(rows, part)) for part in (self.train, self.validation, self.test)
        )
        return Split(self.name, train, validation, test, self.notes)


@dataclass(frozen=True, eq=False)
class _Persons:
    """The rows of a cohort, gathered by person.

    ``row_person`` says whose row each is, shape (n_rows,); ``strata`` holds (groups, sites) of each person; ``joins``
    the first person with the same scan, oneself where nobody has it, shape (n_persons,).
    """

    row_person: Indices
    strata: tuple[tuple[str, str], ...]
    row_groups: NDArray[np.str_]
    joins: Indices

    def rows(self, persons: Indices) -> Indices:
        return np.flatnonzero(np.isin(self.row_person, persons))


def random_splits(
    groups: Sequence[str],
    sites: Sequence[str | None] | None = None,
    *,
    subjects: Sequence[str] | None = None,
    scans: Sequence[str] | None = None,
    n: int = FOLDS,
    seed: int = 0,
) -> tuple[Split, ...]:
    """Draw random 80/10/10 splits, stratified by site × group.

    Parameters
    ----------
    groups : sequence of str, length n_rows
    sites : sequence of str or None, length n_rows, or None
        None for a row whose site is not known.
    subjects : sequence of str, length n_rows, or None
        Whose row each is. All rows of a person fall into the same part. None: each row is a person.
    scans : sequence of str, length n_rows, or None
        Which scan each row holds. Rows of the same scan fall into the same part, too. None: each row is a scan.
    n : int
        Number of splits.
    seed : int
        Split i depends on the seed and on i, not on ``n``.

    Returns
    -------
    tuple of Split, length n
        With fewer than ten persons, validation and test hold one each.
    """
    persons = _gather(groups, sites, subjects, scans)
    splits = []
    for i in range(n):
        everyone = np.arange(len(persons.strata))
        part = _deal(persons, everyone, _PARTS, np.random.default_rng([seed, i]))
        splits.append(_split(f"split {i + 1}", persons, test=everyone[part == 0], validation=everyone[part == 1]))
    return tuple(splits)


def cross_validation(
    groups: Sequence[str],
    sites: Sequence[str | None] | None = None,
    *,
    subjects: Sequence[str] | None = None,
    scans: Sequence[str] | None = None,
    folds: int = FOLDS,
    seed: int = 0,
) -> tuple[Split, ...]:
    """Make stratified folds: everyone is tested exactly once, and a stratified ninth of the others validates.

    Parameters
    ----------
    groups, sites, subjects, scans, seed
        See :func:`random_splits`.
    folds : int

    Returns
    -------
    tuple of Split, length folds
    """
    persons = _gather(groups, sites, subjects, scans)
    everyone = np.arange(len(persons.strata))
    if not 2 <= folds <= len(everyone):
        raise InputError(f"{len(everyone)} subjects cannot be dealt into {folds} folds; choose 2 to {len(everyone)}.")
    fold = _deal(persons, everyone, folds, np.random.default_rng([seed, 0]))
    splits = []
    for i in range(folds):
        rest = everyone[fold != i]
        part = _deal(persons, rest, _PARTS - 1, np.random.default_rng([seed, 1 + i]))
        splits.append(_split(f"fold {i + 1}", persons, test=everyone[fold == i], validation=rest[part == 0]))
    return tuple(splits)


def leave_one_site_out(
    groups: Sequence[str],
    sites: Sequence[str | None],
    *,
    subjects: Sequence[str] | None = None,
    scans: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[Split, ...]:
    """Test on each site in turn, as on a hospital the model has never seen.

    Parameters
    ----------
    groups, sites, subjects, scans, seed
        See :func:`random_splits`; here every row needs a site, and a person has one.

    Returns
    -------
    tuple of Split, length n_sites
        Named by the site. A stratified tenth of the other sites validates. A site with one group only carries a
        note: its accuracy can be told, its AUC cannot.
    """
    persons = _gather(groups, sites, subjects, scans)
    everyone = np.arange(len(persons.strata))
    homes = np.array([site for _, site in persons.strata])
    row_sites = np.asarray(sites, dtype=object)
    if pd.isna(row_sites).any():
        raise InputError(
            f"Row {int(np.argmax(pd.isna(row_sites))) + 1} has no site; leaving sites out needs all of them."
        )
    names = sorted({str(site) for site in row_sites})
    if len(names) < 2:
        raise InputError("All subjects come from one site, so none can be left out. Use random splits.")
    parted = np.flatnonzero(homes != homes[persons.joins])
    if len(parted):
        raise InputError(
            f"A scan of {homes[parted[0]]} is also one of {homes[persons.joins[parted[0]]]}, so neither site can be "
            "left out. Keep one of the two."
        )
    elsewhere = sorted(set(homes.tolist()) - set(names))
    if elsewhere:
        raise InputError(
            f"A person was scanned at two sites ({elsewhere[0]}); keep one site a person to leave sites out."
        )
    splits = []
    for i, name in enumerate(names):
        rest = everyone[homes != name]
        part = _deal(persons, rest, _PARTS, np.random.default_rng([seed, i]))
        splits.append(_split(name, persons, test=everyone[homes == name], validation=rest[part == 0]))
    return tuple(splits)


def _gather(
    groups: Sequence[str],
    sites: Sequence[str | None] | None,
    subjects: Sequence[str] | None,
    scans: Sequence[str] | None,
) -> _Persons:
    """Gather rows by person; someone with rows in several groups (simulated copies) is a stratum of that mix."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    row_groups = _words(groups, len(groups), "group")
    if pd.isna(row_groups).any():
        raise InputError(f"Row {int(np.argmax(pd.isna(row_groups))) + 1} has no group; leave it out before splitting.")
    row_sites = _words([""] * len(groups) if sites is None else sites, len(groups), "site")
    row_sites[pd.isna(row_sites)] = ""
    ids = _words([str(i) for i in range(len(groups))] if subjects is None else subjects, len(groups), "subject")
    if pd.isna(ids).any():
        raise InputError(f"Row {int(np.argmax(pd.isna(ids))) + 1} has no subject id; give one, or none at all.")
    row_person, names = pd.factorize(ids)
    mixes: list[tuple[set[str], set[str]]] = [(set(), set()) for _ in names]
    for person, group, site in zip(row_person, row_groups, row_sites, strict=True):
        mixes[person][0].add(str(group))
        mixes[person][1].add(str(site))
    strata = tuple((" + ".join(sorted(mix[0])), " + ".join(sorted(mix[1]))) for mix in mixes)
    if len(strata) < 3:
        raise InputError(f"A split needs at least 3 subjects, and there are {len(strata)}.")
    row_scans = _words([str(i) for i in range(len(groups))] if scans is None else scans, len(groups), "scan")
    # Persons and the scans they hold are one graph: whoever is linked, by however many others, joins the first of them.
    n_persons, (row_scan, _) = len(names), pd.factorize(row_scans)
    size = n_persons + int(row_scan.max()) + 1
    links = coo_array((np.ones(len(row_scan)), (row_person, n_persons + row_scan)), shape=(size, size))
    _, component = connected_components(links, directed=False)
    _, first, of_person = np.unique(component[:n_persons], return_index=True, return_inverse=True)
    return _Persons(np.asarray(row_person, dtype=np.int64), strata, row_groups.astype(str), first[of_person])


def _words(values: Sequence[str | None], n_rows: int, what: str) -> NDArray[np.object_]:
    if len(values) != n_rows:
        raise InputError(f"There are {n_rows} groups and {len(values)} {what}s; give one {what} a row.")
    return np.array(list(values), dtype=object)


def _deal(persons: _Persons, among: Indices, n_parts: int, rng: np.random.Generator) -> Indices:
    """Deal persons into parts, shape (n_among,); with fewer persons than parts, one each.

    Neighbours in the dealing order are of the same group and, where there are enough, of the same site. A random
    first part keeps the larger parts from always being the same ones.
    """
    strata = [persons.strata[person] for person in among]
    # Sites in a new order each time, so that small ones are pooled with changing neighbours.
    site_names = sorted({site for _, site in strata})
    site_order = dict(zip(site_names, rng.permutation(len(site_names)).tolist(), strict=True))
    luck = rng.permutation(len(strata)).tolist()
    order = sorted(range(len(strata)), key=lambda i: (strata[i][0], site_order[strata[i][1]], luck[i]))
    n_parts = min(n_parts, len(strata))
    part = np.empty(len(strata), dtype=np.int64)
    part[order] = (np.arange(len(strata)) + rng.integers(n_parts)) % n_parts
    place = {int(person): i for i, person in enumerate(among)}
    return part[[place.get(int(persons.joins[person]), i) for i, person in enumerate(among)]]


def _split(name: str, persons: _Persons, *, test: Indices, validation: Indices) -> Split:
    train = np.setdiff1d(np.arange(len(persons.strata)), np.concatenate([test, validation]))
    split = Split(name, persons.rows(train), persons.rows(validation), persons.rows(test))
    everywhere = set(persons.row_groups.tolist())
    missing = everywhere - set(persons.row_groups[split.train].tolist())
    if missing:
        raise InputError(
            f"No subject of group {sorted(missing)[0]} is left to train on in '{name}'. "
            "Bring more subjects of that group, or leave it out."
        )
    untested = everywhere - set(persons.row_groups[split.test].tolist())
    if not untested:
        return split
    note = f"Nobody of group {', '.join(sorted(untested))} is tested in '{name}', so its AUC is not defined."
    return replace(split, notes=(note,))


def tested_to_trained(protocol: str, n_splits: int) -> float:
    """Subjects tested over subjects trained on: 10 to 80, or a site to nine tenths of the others."""
    if protocol == RANDOM:
        return 1 / 8
    return (1 / n_splits) / (0.9 * (1 - 1 / n_splits)) if n_splits > 1 else 1.0
