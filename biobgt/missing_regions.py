"""Regions that subjects lack: absent from the file, NaN throughout, or without any signal.

Three things can be done about them, and the user chooses: keep every region of the atlas, and draw those that a subject
lacks as gaps; keep the regions that all subjects have; or refuse the subjects that lack some.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from biobgt.atlas_regions import FEWEST_REGIONS
from biobgt.cohort import Cohort, Refusal, Subject
from biobgt.errors import InputError
from biobgt.wording import counted

MissingRule = Literal["gaps", "shared", "refuse"]
_AS_GAPS = "connected to nothing and drawn as gaps"
MISSING_RULES: Mapping[MissingRule, str] = {
    "gaps": f"keep every region of the atlas; those that a subject lacks are {_AS_GAPS}",
    "shared": "keep only the regions that all subjects have",
    "refuse": "refuse the subjects that lack a region",
}
DRAWN_AS_GAPS = f"They are {_AS_GAPS}."
_MOST_NAMED = 20


@dataclass(frozen=True)
class MissingRegions:
    """Which regions the subjects of a cohort lack, counted from 0.

    Attributes
    ----------
    of_subject : mapping of str to tuple of int
        By the ids of those who lack some.
    anywhere, everywhere : tuple of int
        Regions that one subject or more, and that all subjects lack.
    """

    of_subject: Mapping[str, tuple[int, ...]]
    anywhere: tuple[int, ...]
    everywhere: tuple[int, ...]


def missing_regions(cohort: Cohort) -> MissingRegions:
    """Find the regions without signal of every subject.

    >>> from biobgt.atlas import numbered_atlas
    >>> series = np.random.default_rng(0).normal(size=(20, 4))
    >>> whole, part = Subject("a", series=series), Subject("b", series=series * [1, 1, 0, 1])
    >>> found = missing_regions(Cohort("c", (whole, part), numbered_atlas(4)))
    >>> dict(found.of_subject), found.anywhere, found.everywhere
    ({'b': (2,)}, (2,), ())
    """
    silent = {subject.id: subject.silent_regions for subject in cohort}
    sets = [set(regions) for regions in silent.values()]
    return MissingRegions(
        of_subject={name: regions for name, regions in silent.items() if regions},
        anywhere=tuple(sorted(set().union(*sets))),
        everywhere=tuple(sorted(set.intersection(*sets))) if sets else (),
    )


def missing_words(cohort: Cohort, found: MissingRegions) -> str:
    """Name and count the regions that are missing, in a sentence or two; empty where none is."""
    if not found.anywhere:
        return ""
    regions = cohort.atlas.regions
    counts = {region: sum(region in lacking for lacking in found.of_subject.values()) for region in found.anywhere}
    unlike = len(set(found.of_subject.values())) > 1
    named = [regions[i] + (f" (in {n} of {len(cohort)})" if unlike else "") for i, n in counts.items()]
    whose = f"in {len(found.of_subject)} of {counted(len(cohort), 'subject')}"
    differ = ", and not the same ones in each" if unlike else ""
    are = "is" if len(named) == 1 else "are"
    return (
        f"{counted(len(named), 'region')} of {len(regions)} {are} missing {whose}{differ} "
        f"(absent, NaN or without signal): {_some_of(named)}."
    )


def apply_missing_rule(cohort: Cohort, rule: MissingRule) -> Cohort:
    """Do about missing regions what the user chose; a note of the cohort says which they are and what was done."""
    found = missing_regions(cohort)
    if not found.anywhere:
        return cohort
    said = missing_words(cohort, found)
    if rule == "shared":
        return keep_shared_regions(cohort)
    if rule == "refuse":
        refused = tuple(_refusal(cohort, cohort[name], lacking) for name, lacking in found.of_subject.items())
        if len(refused) == len(cohort):
            raise InputError(
                f"Every subject lacks a region, so all are refused. {said} Keep the shared regions instead."
            )
        whole = cohort.select(lambda subject: subject.id not in found.of_subject)
        return replace(whole, refused=(*cohort.refused, *refused), notes=(*cohort.notes, said))
    return replace(cohort, notes=(*cohort.notes, f"{said} {DRAWN_AS_GAPS}"))


def keep_shared_regions(cohort: Cohort) -> Cohort:
    """Work on the regions that all subjects have; the cohort itself comes back where that is all of them."""
    found = missing_regions(cohort)
    kept = [region for region in range(cohort.atlas.n_regions) if region not in found.anywhere]
    if len(kept) == cohort.atlas.n_regions:
        return cohort
    if len(kept) < FEWEST_REGIONS:
        raise InputError(
            f"The subjects share {counted(len(kept), 'region')}, and a network needs {FEWEST_REGIONS}. Remove the "
            "subjects that lack the most regions."
        )
    note = f"{missing_words(cohort, found)} All subjects are analysed on the {len(kept)} regions that they share."
    return replace(keep_regions(cohort, kept), notes=(*cohort.notes, note))


def keep_regions(cohort: Cohort, kept: Collection[int]) -> Cohort:
    """The cohort on some regions of its atlas, counted from 0."""
    order = sorted(kept)
    subjects = tuple(_on(subject, order) for subject in cohort)
    return replace(cohort, atlas=cohort.atlas.keep(order), subjects=subjects)


def _on(subject: Subject, order: list[int]) -> Subject:
    missing = tuple(order.index(region) for region in subject.missing_regions if region in order)
    if subject.series is not None:
        return replace(subject, series=np.ascontiguousarray(subject.series[:, order]), missing_regions=missing)
    assert subject.connectivity is not None
    return replace(subject, connectivity=subject.connectivity[np.ix_(order, order)], missing_regions=missing)


def _refusal(cohort: Cohort, subject: Subject, lacking: tuple[int, ...]) -> Refusal:
    named = _some_of([cohort.atlas.regions[region] for region in lacking])
    return Refusal(
        subject.source.file if subject.source else subject.id,
        f"It lacks {counted(len(lacking), 'region')} ({named}), and you chose to refuse such subjects.",
    )


def _some_of(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"
