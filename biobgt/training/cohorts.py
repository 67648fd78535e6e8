"""The cohorts that models are trained on: what cards say of them, how they are read, joined and divided.

``abide`` and ``cni-adhd`` are read from their ``.npz`` files or from a folder as released; ``adni`` and ``folder`` from
any folder that :mod:`biobgt.readers` reads, with a phenotype table; ``adsim`` makes the simulated Alzheimer's
progression from the controls of an ABIDE cohort on AAL.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.base.options import Registry
from biobgt.base.references import REFERENCES
from biobgt.base.wording import counted, listed
from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Cohort, Subject, join_cohorts
from biobgt.data.connectivity import cohort_connectivity
from biobgt.data.graph import check_choice
from biobgt.data.quality import mean_connectivity, same_scans
from biobgt.data.simulate import simulate_progression, vulnerability
from biobgt.inference.covariates import confounding_notes
from biobgt.model.presets import FOLDS
from biobgt.readers import ReadOptions
from biobgt.readers.fetch import find_cohort

CohortKind = Literal["abide", "cni-adhd", "adsim", "adni", "folder"]  # what models are trained on
ABIDE, CNI_ADHD, ADSIM, ADNI, FOLDER = get_args(CohortKind)
_FEW_PEOPLE = 15  # of a group


@dataclass(frozen=True)
class _Dataset:
    """What a card says of a cohort.

    Attributes
    ----------
    title : str
    short : str
        Stands in brackets behind a group where several cohorts are trained together.
    terms : str
    limits : tuple of str
    works : tuple of str
        What to cite for its data.
    paper : mapping of str to str, or None
        The paper's results on its cohort of that kind, in percent, as printed.
    people : str
        The kind of cohort whose people these are, where they are another's.
    remark : str
        Stands behind what to cite.
    """

    title: str
    short: str
    terms: str
    limits: tuple[str, ...]
    works: tuple[str, ...] = ()
    paper: Mapping[str, str] | None = None
    people: str = ""
    remark: str = ""

    @property
    def citation(self) -> str:
        """What to cite, on one line."""
        return (
            "; ".join(filter(None, [*(REFERENCES[cited].in_full for cited in self.works), self.remark]))
            or "None given."
        )


DATASETS: Mapping[str, _Dataset] = {
    kind: _Dataset(**{**said, "works": tuple(said.get("works", ())), "limits": tuple(said["limits"])})
    for kind, said in tomllib.loads(asset("datasets.toml").read_text(encoding="utf-8")).items()
}


# Several cohorts that train one model: whose recordings they are, and what their groups are called together.
#
# A group that several cohorts have carries its cohort in brackets, and so does a simulated one, for controls of one
# study are not those of another. A person who stands in two cohorts, as the controls that the simulated progression is
# made of do, stays one person, whom no split parts.


@dataclass(frozen=True, eq=False)
class JoinedCohorts:
    """Cohorts on one atlas, one after the other; or one alone.

    Attributes
    ----------
    whole : Cohort
        All subjects; of several cohorts named after them, ``abide+cni-adhd``.
    parts : tuple of Cohort
        Named by their kind; the same subjects, with the ids and groups that they have in the whole.
    """

    whole: Cohort
    parts: tuple[Cohort, ...]

    @property
    def readouts(self) -> tuple[tuple[str, ...], ...]:
        """The groups of each of several cohorts, controls first; empty for one alone."""
        return tuple(tuple(part.group_sizes) for part in self.parts) if len(self.parts) > 1 else ()

    @property
    def own_ids(self) -> list[str]:
        """The ids of all subjects as their own cohorts have them, with the session that was added."""
        return [one.split("_", 1)[1] for one in self.whole.ids]

    def rows(self, number: int) -> NDArray[np.int64]:
        """Where the subjects of a cohort stand in the whole."""
        start = sum(len(part) for part in self.parts[:number])
        return np.arange(start, start + len(self.parts[number]))


def join_training_cohorts(cohorts: Sequence[Cohort]) -> JoinedCohorts:
    """Put cohorts together to train one model on all, each named after its kind; one alone stays as it is.

    Parameters
    ----------
    cohorts : sequence of Cohort
        Of :func:`training_cohort`, each of another kind.
    """
    kinds = [cohort.name for cohort in cohorts]
    if len(kinds) == 1:
        return JoinedCohorts(cohorts[0], tuple(cohorts))
    if len(set(kinds)) < len(kinds):
        raise InputError(f"A model of several cohorts needs two or more different ones, not {', '.join(kinds)}.")
    times = Counter(group for cohort in cohorts for group in cohort.group_sizes)
    parts = tuple(_renamed(cohort, {group for group, n in times.items() if n > 1}) for cohort in cohorts)
    return JoinedCohorts(join_cohorts(parts, name="+".join(kinds)), parts)


def _renamed(cohort: Cohort, shared: set[str]) -> Cohort:
    """The same subjects, with ids and groups that no other cohort has."""
    story = DATASETS[cohort.name]
    owners, session = (story.people, f"_ses-{cohort.name}") if story.people else (cohort.name, "")
    names = {
        group: f"{group} ({story.short})" if group in shared or cohort.simulated else group
        for group in cohort.group_sizes
    }
    subjects = (replace(one, id=f"{owners}_{one.id}{session}", group=names[str(one.group)]) for one in cohort.subjects)
    return replace(cohort, subjects=tuple(subjects))


# Reading a cohort.


_SIMULATED_GROUPS = ("NC", "MCI", "AD")
_CUT = "aal90"  # the first 90 regions of AAL-116
# The files of a cohort by their atlas, that of no other wish first.
_FILES = {
    ABIDE: {"cc200": "abide_cc200.npz", "aal116": "abide_aal116.npz"},
    CNI_ADHD: {"cc200": "cni2019_cc200.npz", "aal116": "cni2019_aal116.npz"},
    ADSIM: {"aal116": "abide_aal116.npz"},
}
_TABLES = {ABIDE: "abide_phenotypes.csv", CNI_ADHD: "cni2019_phenotypes.csv", ADSIM: "abide_phenotypes.csv"}


def training_cohort(
    kind: str,
    data: Path,
    *,
    phenotypes: Path | None = None,
    atlas: str | None = None,
    options: ReadOptions | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Cohort:
    """Read a cohort to train on; every subject has a group.

    Parameters
    ----------
    kind : str
        A key of :data:`DATASETS`.
    data : Path
        The folder of the cohort's files.
    phenotypes : Path, optional
        Table of groups, where it is not the one that belongs to the files.
    atlas : str, optional
        Of a cohort that is there on AAL-116, ``aal90`` takes the first 90 regions.
    options : ReadOptions, optional
        The user's word on what the files alone do not say.
    seed : int
        Of the simulation, for ``adsim``.
    progress : callable, optional
        Told (done, total) after each file.
    """
    check_choice("cohort", kind, tuple(DATASETS))
    path, named = data, atlas
    for own, file in _FILES.get(kind, {}).items():  # the cohort as it is shared, in one file
        if (atlas in (None, own) or (atlas == _CUT and own == "aal116")) and (data / file).exists():
            path, named = data / file, own
            break
    if path != data:
        phenotypes = phenotypes or data / _TABLES[kind]
    cohort = find_cohort(path, atlas=named, phenotypes=phenotypes, options=options, progress=progress)
    if atlas == _CUT and cohort.atlas.name != _CUT:
        cohort = _cut(cohort)
    if kind == ADSIM:
        cohort = _simulated_progression(cohort, seed=seed)
    known = cohort.select(lambda subject: subject.group is not None)
    if len(known.group_sizes) < 2:
        raise InputError(
            f"Training needs at least two groups, and the subjects of '{data}' have {len(known.group_sizes)}. "
            "Name a table of groups with --phenotypes."
        )
    if known.given == "structural":
        raise InputError(
            f"The matrices of '{data}' are structural, but models are trained on Pearson correlations of fMRI signals. "
            "Name a folder or a file of these."
        )
    left = len(cohort) - len(known)
    notes = (*known.notes, f"{counted(left, 'subject')} without a group left out.") if left else known.notes
    return replace(known, name=kind, notes=notes)


def training_concerns(cohort: Cohort) -> tuple[str, ...]:
    """What stands against training on a cohort, in sentences, to be said before anything starts.

    Parameters
    ----------
    cohort : Cohort
        Of :func:`training_cohort`.
    """
    few, found = [f"{n} of {group}" for group, n in cohort.group_people.items() if n < _FEW_PEOPLE], []
    if few:
        found.append(
            f"There are few people ({listed(few)}): of fewer than about {_FEW_PEOPLE} in a group little is learnt, and "
            f"little can be shown. With {_FEW_PEOPLE} in each of two groups the 95 % interval of an AUC of 0.70 "
            "reaches about 0.19 to either side."  # 1.96 standard errors by Hanley and McNeil (1982)
        )
    for between in combinations(cohort.group_sizes, 2):
        notes = confounding_notes(cohort, between)
        if notes:
            found.append(f"{listed(between)}: {' '.join(notes)} A model can learn that in place of the group.")
    return tuple(found)


def _simulated_progression(cohort: Cohort, *, seed: int) -> Cohort:
    """Make NC, MCI and AD of a cohort's controls: each control is one subject of one group, by lot.

    Nobody appears twice, so that no test can recognise a person. AAL-116 is cut to its first 90 regions.
    """
    controls = cohort.group("NC")
    if controls.atlas.n_regions < load_atlas(_CUT).n_regions or not controls.atlas.name.startswith("aal"):
        raise InputError("The simulated progression is defined on AAL; use series of AAL-116 or AAL-90.")
    cut = _cut(replace(controls, name="controls"))
    atlas = cut.atlas
    vulnerable = vulnerability(cohort_connectivity(cut).mean(axis=0), atlas)
    random = np.random.default_rng(seed)
    lots = random.permutation(np.arange(len(cut)) % len(_SIMULATED_GROUPS))
    subjects: list[Subject] = []
    for subject, lot in zip(cut, lots, strict=True):
        group = _SIMULATED_GROUPS[lot]
        subjects.append(subject if group == "NC" else simulate_progression(subject, group, vulnerable, seed=random))
    return Cohort(ADSIM, tuple(subjects), atlas)


def _cut(cohort: Cohort) -> Cohort:
    """A cohort on AAL, its first 90 regions."""
    atlas, subjects = load_atlas(_CUT), []
    for one in cohort:
        if one.series is None:
            raise InputError(f"Subject '{one.id}' has no series; the simulated progression is made from series.")
        missing = tuple(region for region in one.missing_regions if region < atlas.n_regions)
        subjects.append(replace(one, series=one.series[:, : atlas.n_regions], missing_regions=missing))
    return replace(cohort, subjects=tuple(subjects), atlas=atlas)


# How subjects are divided: which train, which choose the weights, and which are kept for the test.
#
# Three protocols are made here: random 80/10/10 splits stratified by site × group (section 4.1 of the paper), cross-
# validation, and whole sites left out. Subjects are dealt like cards: sorted by group, then by site, shuffled within a
# site, and dealt round the parts. Every group and every site × group is then spread as evenly as whole persons allow,
# and a stratum too small for that is pooled with its neighbours of the same group, never dropped. Scans of one person
# stay together, and so do ids that hold the same scan: each is dealt for itself, then joins the first of them, so that
# one double scan does not change everybody else's part.


# One object per protocol, known by its key in tables and commands.
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


# The splits of a cohort, by the name of a protocol.


def _sites_of(cohort: Cohort) -> list[str | None] | None:
    """Each subject's site, None for one whose site is not known; None where the phenotypes name no site at all."""
    sites: list[Any] = [subject.phenotypes.get("site") for subject in cohort]
    known = [None if pd.isna(site) else str(site) for site in sites]
    return known if any(known) else None


def folds_words(n_folds: int, cohort: Cohort) -> str:
    """Name the cross-validation of a cohort, as a sentence opens."""
    sites, strata = _sites_of(cohort), "by site and group"
    if sites is None:
        strata = "by group (no site is known)"
    elif None in sites:
        strata += " (a site is not known of everybody)"
    return f"{n_folds}-fold cross-validation, stratified {strata}"


def protocol_splits(cohort: Cohort, protocol: str, *, n: int = FOLDS, seed: int = 0) -> tuple[Split, ...]:
    """Splits of a cohort by the name of a protocol.

    Parameters
    ----------
    cohort : Cohort
    protocol : str
        Key of one of :data:`PROTOCOLS` that trains a single model per split. The cohort's
        own split is in its phenotypes (column ``split``: train, and validation or val). Recordings of one person are
        never parted, nor are subjects who hold the same scan under different ids.
    n : int
        Of random splits or folds.
    seed : int
        Of the random splits and folds.
    """
    check_choice("protocol", protocol, tuple(key for key, known in PROTOCOLS.items() if known.title))
    groups, sites = [str(subject.group) for subject in cohort], _sites_of(cohort)
    twins = same_scans(cohort, [mean_connectivity(subject) for subject in cohort])
    scans = [min((name, *twins.get(name, ()))) for name in cohort.ids]  # the first id of those who hold the same scan
    if protocol == RANDOM:
        return random_splits(groups, sites, subjects=cohort.persons, scans=scans, n=n, seed=seed)
    if protocol == CROSS_VALIDATION:
        return cross_validation(groups, sites, subjects=cohort.persons, scans=scans, folds=n, seed=seed)
    if protocol == SITES:
        if sites is None:
            raise InputError("No site can be left out: the phenotypes have no column 'site'.")
        return leave_one_site_out(groups, sites, subjects=cohort.persons, scans=scans, seed=seed)
    return (_official_split(cohort, groups, scans, seed=seed),)


def _official_split(cohort: Cohort, groups: list[str], scans: list[str], *, seed: int) -> Split:
    """The cohort's own training subjects, a tenth of them for validation, and its own validation subjects as test."""
    named = np.array([str(subject.phenotypes.get("split")) for subject in cohort])
    tested = np.isin(named, ("val", "validation"))
    own = np.flatnonzero(named == "train")
    if not tested.any() or tested.sum() + len(own) != len(named) or not len(own):
        raise InputError("The phenotypes have no complete column 'split' with values train and validation (or val).")
    persons, test = cohort.persons, np.flatnonzero(tested)
    if both := {persons[row] for row in own} & {persons[row] for row in test}:
        raise InputError(
            f"In the column 'split' recordings of '{min(both)}' stand both under train and under validation. Keep one "
            "person's recordings together."
        )
    if twice := {scans[row] for row in own} & {scans[row] for row in test}:
        raise InputError(
            f"In the column 'split' the scan of '{min(twice)}' stands both under train and under validation, where "
            "another subject holds it. Leave one of them out."
        )
    inner = cross_validation(
        [groups[row] for row in own],
        subjects=[persons[row] for row in own],
        scans=[scans[row] for row in own],
        seed=seed,
    )[0]
    return Split(
        name=OFFICIAL, train=own[np.concatenate([inner.train, inner.validation])], validation=own[inner.test], test=test
    )
