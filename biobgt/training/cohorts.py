"""The cohorts that models are trained on: what cards say of them, how they are read, joined and divided.

``abide`` and ``cni-adhd`` are read from their ``.npz`` files or from a folder as released; ``adni`` and ``folder`` from
any folder that :mod:`biobgt.readers` reads, with a phenotype table; ``adsim`` makes the simulated Alzheimer's
progression from the controls of an ABIDE cohort on AAL.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import asset
from biobgt.base.references import REFERENCES
from biobgt.base.wording import counted
from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Cohort, Subject, join_cohorts
from biobgt.data.connectivity import cohort_connectivity
from biobgt.data.graph import check_choice
from biobgt.data.quality import mean_connectivity, same_scans
from biobgt.data.simulate import simulate_progression, vulnerability
from biobgt.model.presets import FOLDS
from biobgt.readers import ReadOptions
from biobgt.readers.fetch import find_cohort
from biobgt.training.splits import (
    CROSS_VALIDATION,
    OFFICIAL,
    PROTOCOLS,
    RANDOM,
    SITES,
    Split,
    cross_validation,
    leave_one_site_out,
    random_splits,
)

CohortKind = Literal["abide", "cni-adhd", "adsim", "adni", "folder"]  # what models are trained on
ABIDE, CNI_ADHD, ADSIM, ADNI, FOLDER = get_args(CohortKind)


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
    """Cohorts on one atlas, one after the other.

    Attributes
    ----------
    whole : Cohort
        All subjects, named ``abide+cni-adhd`` after the cohorts.
    parts : tuple of Cohort
        Named by their kind; the same subjects, with the ids and groups that they have in the whole.
    """

    whole: Cohort
    parts: tuple[Cohort, ...]

    @property
    def readouts(self) -> tuple[tuple[str, ...], ...]:
        """The groups of each cohort, controls first."""
        return tuple(tuple(part.group_sizes) for part in self.parts)

    @property
    def own_ids(self) -> list[str]:
        """The ids of all subjects as their own cohorts have them, with the session that was added."""
        return [one.split("_", 1)[1] for one in self.whole.ids]

    def rows(self, number: int) -> NDArray[np.int64]:
        """Where the subjects of a cohort stand in the whole."""
        start = sum(len(part) for part in self.parts[:number])
        return np.arange(start, start + len(self.parts[number]))


def join_training_cohorts(cohorts: Sequence[Cohort]) -> JoinedCohorts:
    """Put cohorts together to train one model on all; each is named after its kind.

    Parameters
    ----------
    cohorts : sequence of Cohort
        Two or more of :func:`biobgt.training.cohorts.training_cohort`, each of another kind.
    """
    kinds = [cohort.name for cohort in cohorts]
    if len(kinds) < 2 or len(set(kinds)) < len(kinds):
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


# Reading and dividing a cohort.


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
        A key of :data:`biobgt.training.cohorts.DATASETS`.
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
    left = len(cohort) - len(known)
    notes = (*known.notes, f"{counted(left, 'subject')} without a group left out.") if left else known.notes
    return replace(known, name=kind, notes=notes)


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
        Key of one of :data:`biobgt.training.splits.PROTOCOLS` that trains a single model per split. The cohort's
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
