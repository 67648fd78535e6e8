"""The cohorts that models are trained on: how they are read, and what a card must say about them.

``abide`` and ``cni-adhd`` are read from their ``.npz`` files or from a folder as released; ``adni`` and ``folder`` from
any folder that :mod:`biobgt.readers` reads, with a phenotype table; ``adsim`` makes the simulated Alzheimer's
progression from the controls of an ABIDE cohort on AAL.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biobgt.atlas import load_atlas
from biobgt.cohort import Cohort, Subject
from biobgt.connectome import cohort_connectivity
from biobgt.errors import InputError
from biobgt.graph import check_choice
from biobgt.quality import mean_connectivity, same_scans
from biobgt.readers import ReadOptions, read_cohort
from biobgt.simulate import simulate_progression, vulnerability
from biobgt.training.splits import Split, cross_validation, leave_one_site_out, random_splits
from biobgt.wording import counted

Progress = Callable[[int, int], None]
SIMULATED_GROUPS = ("NC", "MCI", "AD")


@dataclass(frozen=True)
class CohortStory:
    """What a card says of a cohort.

    Attributes
    ----------
    title : str
    terms, citation : str
    paper : mapping of str to str, or None
        The paper's results on its cohort of that kind, in percent, as printed.
    limits : tuple of str
    """

    title: str
    terms: str
    citation: str
    paper: dict[str, str] | None
    limits: tuple[str, ...]


STORIES: dict[str, CohortStory] = {
    "abide": CohortStory(
        title="ABIDE I, Preprocessed Connectomes Project",
        terms="Non-commercial research use (ABIDE / Preprocessed Connectomes Project).",
        citation="Di Martino et al., Mol. Psychiatry 19:659, 2014; Craddock et al., Front. Neuroinform. 7, 2013",
        paper={"accuracy": "74.00 ± 2.01", "auc": "73.33 ± 2.37"},
        limits=(
            "Preprocessing shifts correlations: subjects to predict must be preprocessed as those it was trained on. "
            "The files that this project's own model was trained on are band-passed, with the global signal removed.",
            "In ABIDE subjects with autism move more (r = 0.19 with mean framewise displacement in 899 subjects), and "
            "part of what separates the groups may be motion.",
            "Mostly boys and young men; how well it holds for women and older adults is not known.",
            "The settings of the preset 'best' were chosen on training and validation subjects of this cohort, each of "
            "whom is tested in some fold: on new subjects results may be a little worse.",
        ),
    ),
    "cni-adhd": CohortStory(
        title="CNI-TLC 2019 (ADHD and controls, one site, TR 2.5 s, CompCor)",
        terms="Research use, as released for the CNI Transfer Learning Challenge.",
        citation="Schirmer et al., Med. Image Anal. 70:101972, 2021",
        paper={"accuracy": "71.06 ± 0.08", "auc": "71.64 ± 1.14"},
        limits=(
            "Children of one site; the challenge's own entries were weak too.",
            "The paper's numbers are on ADHD-200 (190 regions), another cohort.",
        ),
    ),
    "adsim": CohortStory(
        title="Simulated Alzheimer's progression over real ABIDE controls (AAL-90)",
        terms="Made from ABIDE controls: non-commercial research use.",
        citation="Di Martino et al., Mol. Psychiatry 19:659, 2014; the simulation is described in docs/simulation.md",
        paper={"accuracy": "52.08 ± 2.08", "auc": "62.33 ± 5.98"},
        limits=(
            "MCI and AD are simulated: connections of hubs and of the default mode fade. Nothing here was learned "
            "from a patient, and nothing may be concluded about one.",
            "The controls are children and young adults.",
            "The paper's numbers are on ADNI, real patients; they are not comparable.",
        ),
    ),
    "adni": CohortStory(
        title="ADNI, as brought by the user",
        terms="ADNI data use agreement: the data may not be passed on.",
        citation="Jack et al., J. Magn. Reson. Imaging 27:685, 2008",
        paper={"accuracy": "52.08 ± 2.08", "auc": "62.33 ± 5.98"},
        limits=("As good as the data it was trained on; see the results above.",),
    ),
    "folder": CohortStory(
        title="A cohort of the user's own",
        terms="As the data's owner says.",
        citation="None given.",
        paper=None,
        limits=("As good as the data it was trained on; see the results above.",),
    ),
}
_FILES = {
    "abide": ("abide_cc200.npz", "abide_phenotypes.csv", "cc200"),
    "cni-adhd": ("cni2019_cc200.npz", "cni2019_phenotypes.csv", "cc200"),
    "adsim": ("abide_aal116.npz", "abide_phenotypes.csv", "aal116"),
}


def training_cohort(
    kind: str,
    data: Path,
    *,
    phenotypes: Path | None = None,
    atlas: str | None = None,
    options: ReadOptions | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Cohort:
    """Read a cohort to train on; every subject has a group.

    Parameters
    ----------
    kind : {"abide", "cni-adhd", "adsim", "adni", "folder"}
    data : Path
        The folder of the cohort's files.
    phenotypes : Path, optional
        Table of groups, where it is not the one that belongs to the files.
    atlas : str, optional
    options : ReadOptions, optional
        The user's word on what the files alone do not say.
    seed : int
        Of the simulation, for ``adsim``.
    """
    check_choice("cohort", kind, tuple(STORIES))
    path: Path = data
    if kind in _FILES and (data / _FILES[kind][0]).exists():
        file, table, named = _FILES[kind]
        path, atlas = data / file, atlas or named
        phenotypes = phenotypes or data / table
    cohort = read_cohort(path, atlas=atlas, phenotypes=phenotypes, options=options, progress=progress)
    if kind == "adsim":
        cohort = simulated_progression(cohort, seed=seed)
    known = cohort.select(lambda subject: subject.group is not None)
    if len(known.group_sizes) < 2:
        raise InputError(
            f"Training needs at least two groups, and the subjects of '{data}' have {len(known.group_sizes)}. "
            "Name a table of groups with --phenotypes."
        )
    left = len(cohort) - len(known)
    notes = (*known.notes, f"{counted(left, 'subject')} without a group left out.") if left else known.notes
    return replace(known, name=kind, notes=notes)


def simulated_progression(cohort: Cohort, *, seed: int) -> Cohort:
    """Make NC, MCI and AD of a cohort's controls: each control is one subject of one group, by lot.

    Nobody appears twice, so that no test can recognise a person. AAL-116 is cut to its first 90 regions.
    """
    controls = cohort.group("NC")
    atlas = load_atlas("aal90")
    if controls.atlas.n_regions < atlas.n_regions or not controls.atlas.name.startswith("aal"):
        raise InputError("The simulated progression is defined on AAL; bring AAL-116 or AAL-90 series.")
    cut = Cohort("controls", tuple(_first_regions(one, atlas.n_regions) for one in controls), atlas)
    vulnerable = vulnerability(cohort_connectivity(cut).mean(axis=0), atlas)
    random = np.random.default_rng(seed)
    lots = random.permutation(np.arange(len(cut)) % len(SIMULATED_GROUPS))
    subjects: list[Subject] = []
    for subject, lot in zip(cut, lots, strict=True):
        group = SIMULATED_GROUPS[lot]
        subjects.append(subject if group == "NC" else simulate_progression(subject, group, vulnerable, seed=random))
    return Cohort("adsim", tuple(subjects), atlas)


def sites_of(cohort: Cohort) -> list[str | None] | None:
    """Each subject's site, None for one whose site is not known; None where the phenotypes name no site at all."""
    sites: list[Any] = [subject.phenotypes.get("site") for subject in cohort]
    known = [None if pd.isna(site) else str(site) for site in sites]
    return known if any(known) else None


def strata_words(cohort: Cohort) -> str:
    """What the splits of a cohort are stratified by."""
    sites = sites_of(cohort)
    if sites is None:
        return "by group (no site is known)"
    return "by site and group" + (" (a site is not known of everybody)" if None in sites else "")


def protocol_splits(cohort: Cohort, protocol: str, *, n: int = 10, seed: int = 0) -> tuple[Split, ...]:
    """Splits of a cohort by the name of a protocol.

    Parameters
    ----------
    protocol : {"random", "folds", "sites", "official"}
        ``n`` random 80/10/10 splits, ``n`` folds, every site left out once, or the split that the cohort's phenotypes
        name (column ``split``: train, and validation or val). Recordings of one person are never parted, nor are
        subjects who hold the same scan under different ids.
    """
    check_choice("protocol", protocol, ("random", "folds", "sites", "official"))
    groups, sites = [str(subject.group) for subject in cohort], sites_of(cohort)
    scans = _scans(cohort)
    if protocol == "random":
        return random_splits(groups, sites, subjects=cohort.persons, scans=scans, n=n, seed=seed)
    if protocol == "folds":
        return cross_validation(groups, sites, subjects=cohort.persons, scans=scans, folds=n, seed=seed)
    if protocol == "sites":
        if sites is None:
            raise InputError("No site can be left out: the phenotypes have no column 'site'.")
        return leave_one_site_out(groups, sites, subjects=cohort.persons, scans=scans, seed=seed)
    return (_official_split(cohort, groups, scans, seed=seed),)


def _scans(cohort: Cohort) -> list[str]:
    """Which scan each subject holds: its id, or the first id of those who hold the same."""
    twins = same_scans(cohort, [mean_connectivity(subject) for subject in cohort])
    return [min((name, *twins.get(name, ()))) for name in cohort.ids]


def _official_split(cohort: Cohort, groups: list[str], scans: list[str], *, seed: int) -> Split:
    """The cohort's own training subjects, a tenth of them for validation, and its own validation subjects as test."""
    named = np.array([str(subject.phenotypes.get("split")) for subject in cohort])
    tested = np.isin(named, ("val", "validation"))
    own = np.flatnonzero(named == "train")
    if not tested.any() or tested.sum() + len(own) != len(named) or not len(own):
        raise InputError("The phenotypes have no complete column 'split' with values train and validation (or val).")
    persons = cohort.persons
    both = {persons[row] for row in own} & {persons[row] for row in np.flatnonzero(tested)}
    if both:
        raise InputError(
            f"In the column 'split' recordings of '{min(both)}' stand both under train and under validation. Keep one "
            "person's recordings together."
        )
    twice = {scans[row] for row in own} & {scans[row] for row in np.flatnonzero(tested)}
    if twice:
        raise InputError(
            f"In the column 'split' the scan of '{min(twice)}' stands both under train and under validation, where "
            "another subject holds it. Leave one of them out."
        )
    inner = cross_validation(
        [groups[row] for row in own],
        subjects=[persons[row] for row in own],
        scans=[scans[row] for row in own],
        folds=10,
        seed=seed,
    )[0]
    return Split(
        name="official",
        train=own[np.concatenate([inner.train, inner.validation])],
        validation=own[inner.test],
        test=np.flatnonzero(tested),
    )


def _first_regions(subject: Subject, n: int) -> Subject:
    if subject.series is None:
        raise InputError(f"Subject '{subject.id}' has no series; the simulated progression is made from series.")
    missing = tuple(region for region in subject.missing_regions if region < n)
    return replace(subject, series=subject.series[:, :n], missing_regions=missing)
