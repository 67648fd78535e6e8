"""What a user changes in a cohort by hand: groups, the atlas, who is in it; and how further subjects come to it.

Every change leaves a note in the cohort, so that a project or an export says what did not come from the files. Changes
can be told from what was read, and made again where the files are read again.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from biobgt.atlas import BUNDLED, Atlas
from biobgt.atlas_regions import CHOOSE_ITS_ATLAS
from biobgt.cohort import ATLAS_BY_NAMES, ATLAS_DECIDED_BY, GROUP_TITLES, Cohort, Refusal, Subject, one_given_kind
from biobgt.errors import InputError
from biobgt.graph import GivenKind
from biobgt.missing_regions import keep_regions
from biobgt.wording import counted

BY_VALUES = "their values"  # decided on the kind of connectivity
_LONGEST_GROUP = 60
_KNOWN_GROUPS = {name.lower(): name for name in GROUP_TITLES}


@dataclass(frozen=True, eq=False)
class HandEdits:
    """What was changed by hand since a cohort was read.

    Attributes
    ----------
    groups : mapping of str to (str or None)
        The group that was set, by subject.
    removed : mapping of str to (str or None)
        The subjects that were removed, with the SHA-256 of their file: another file of that name was not meant.
    atlas_as_read, atlas : Atlas or None
        The atlas that was read and the one that was put in its place; None where it was not changed.
    given : {"functional", "structural", "other"} or None
        What the user said that the matrices are; None where that was not changed.
    """

    groups: Mapping[str, str | None] = field(default_factory=dict)
    removed: Mapping[str, str | None] = field(default_factory=dict)
    atlas_as_read: Atlas | None = None
    atlas: Atlas | None = None
    given: GivenKind | None = None


def group_name(text: str | None) -> str | None:
    """Tidy a group's name as typed: known ones in their own spelling, None where there is none.

    >>> group_name(" nc "), group_name("first episode"), group_name(" ")
    ('NC', 'first episode', None)
    """
    name = " ".join((text or "").split())
    if len(name) > _LONGEST_GROUP:
        raise InputError(f"The group's name '{name[:20]}…' has {len(name)} letters; at most {_LONGEST_GROUP} are kept.")
    return _KNOWN_GROUPS.get(name.lower(), name) or None


def set_groups(cohort: Cohort, groups: Mapping[str, str | None]) -> Cohort:
    """Set the group of the named subjects; the cohort itself comes back where that changes nothing."""
    named = {subject: group_name(group) for subject, group in groups.items()}
    changed = {subject: group for subject, group in named.items() if cohort[subject].group != group}
    if not changed:
        return cohort
    return _noted(cohort.with_groups(changed), f"Group set by hand: {_whom(list(changed))}.")


def remove_subjects(cohort: Cohort, ids: Collection[str]) -> Cohort:
    """Take subjects out of a cohort; one at least must stay."""
    removed = [name for name in cohort.ids if name in ids]
    if not removed:
        return cohort
    if len(removed) == len(cohort):
        raise InputError("A cohort needs at least one subject. Forget the subjects altogether instead.")
    left = cohort.select(lambda subject: subject.id not in ids)
    unmatched = tuple(name for name in cohort.unmatched_subjects if name not in ids)
    return _noted(replace(left, unmatched_subjects=unmatched), f"Removed by hand: {_whom(removed)}.")


def change_atlas(cohort: Cohort, atlas: Atlas) -> Cohort:
    """Put a cohort on another atlas of as many regions.

    Where both atlases name the same regions in another order, the data are put in the new one's order; but not where
    these are two orders of one bundled atlas and nothing in the files named the regions: then the columns were taken
    for the wrong ones. Other names are taken for other names of the same regions, in the order in which they stand.
    """
    if atlas.n_regions != cohort.atlas.n_regions:
        raise InputError(
            f"The subjects have {cohort.atlas.n_regions} regions, and {atlas.title} has "
            f"{atlas.n_regions}. {CHOOSE_ITS_ATLAS}"
        )
    note = f"Atlas changed by hand from {cohort.atlas.title} to {atlas.title}"
    named = ATLAS_BY_NAMES in cohort.atlas_decided_by
    two_orders = {atlas.name, cohort.atlas.name} <= set(BUNDLED)
    same = set(atlas.regions) == set(cohort.atlas.regions) and atlas.regions != cohort.atlas.regions
    if same and (named or not two_orders):
        place = {name: i for i, name in enumerate(cohort.atlas.regions)}
        order = [place[name] for name in atlas.regions]
        cohort = replace(cohort, subjects=tuple(_reordered(subject, order) for subject in cohort))
        note += ", whose regions stand in another order: the data were put in that order"
    decided = replace(cohort, subjects=tuple(map(_decided_by_hand, cohort)))
    return _noted(decided.with_atlas(atlas), f"{note}.")


def with_given_kind(cohort: Cohort, given: GivenKind, *, by: str) -> Cohort:
    """Put down in notes and sources what the connectivity matrices are, and what decided it.

    Parameters
    ----------
    cohort : Cohort
        With at least one matrix.
    given : {"functional", "structural", "other"}
    by : str
    """
    sizes = [np.abs(matrix[matrix != 0]) for subject in cohort if (matrix := subject.connectivity) is not None]
    low, high = min(size.min(initial=np.inf) for size in sizes), max(size.max(initial=0) for size in sizes)
    decided = {"connectivity": given, "connectivity decided by": by}
    subjects = tuple(
        subject
        if subject.connectivity is None or (source := subject.source) is None
        else replace(subject, source=replace(source, options={**source.options, **decided}))
        for subject in cohort
    )
    note = f"Connectivity matrices: {given}, by {by}; sizes from {low:.3g} to {high:.3g}."
    return _noted(replace(cohort, subjects=subjects, given=given), note)


def set_given_kind(cohort: Cohort, given: GivenKind) -> Cohort:
    """Take the user's word on what the matrices are; the cohort itself comes back where that changes nothing."""
    return cohort if cohort.given in (None, given) else with_given_kind(cohort, given, by="the user")


def hand_edits(as_read: Cohort, now: Cohort) -> HandEdits:
    """Tell what was changed by hand, from the cohort as it was read and as it is now."""
    left = {subject.id: subject for subject in now}
    same_atlas = now.atlas is as_read.atlas
    return HandEdits(
        groups={
            subject.id: left[subject.id].group
            for subject in as_read
            if subject.id in left and left[subject.id].group != subject.group
        },
        removed={subject.id: _sha256(subject) for subject in as_read if subject.id not in left},
        atlas_as_read=None if same_atlas else as_read.atlas,
        atlas=None if same_atlas else now.atlas,
        given=None if now.given == as_read.given else now.given,
    )


def confirm_atlas(cohort: Cohort) -> Cohort:
    """Take the user's word that the regions are those of the cohort's atlas, in its order."""
    confirmed = replace(cohort, subjects=tuple(map(_decided_by_hand, cohort.subjects)))
    return _noted(confirmed, f"Atlas: {cohort.atlas.title}, confirmed by you.")


def edit_again(cohort: Cohort, edits: HandEdits) -> Cohort:
    """Make changes again in a cohort whose files were read again; what they no longer fit is left as it was read."""
    if edits.atlas is not None and edits.atlas_as_read is not None and same_regions(cohort.atlas, edits.atlas_as_read):
        part = is_part_of(edits.atlas, cohort.atlas)
        cohort = _on_part(cohort, edits.atlas) if part else change_atlas(cohort, edits.atlas)
    cohort = cohort if edits.given is None else set_given_kind(cohort, edits.given)
    cohort = set_groups(cohort, {name: group for name, group in edits.groups.items() if name in cohort.ids})
    gone = [
        subject.id
        for subject in cohort
        if subject.id in edits.removed and edits.removed[subject.id] == _sha256(subject)
    ]
    return remove_subjects(cohort, gone) if len(gone) < len(cohort) else cohort


def add_subjects(cohort: Cohort, further: Cohort) -> Cohort:
    """Add the subjects of another cohort on the same atlas; who is in both stays as in the first.

    A subject that comes again from the same file brings its phenotypes, and its group where it had none. One that comes
    from another file is refused, because two people, or two sessions of one, go by the same name.
    """
    further = _on_atlas_of(cohort, further)
    known = {subject.id: subject for subject in cohort}
    again = {subject.id: subject for subject in further if _same_file(known.get(subject.id), subject)}
    new = tuple(subject for subject in further if subject.id not in known)
    others = [subject for subject in further if subject.id in known and subject.id not in again]
    ids = {*known, *(subject.id for subject in new)}
    updated = tuple(_updated(subject, again[subject.id]) if subject.id in again else subject for subject in cohort)
    unmatched = (*cohort.unmatched_subjects, *further.unmatched_subjects)
    notes = (*cohort.notes, *further.notes, f"Added: {_whom([subject.id for subject in new])}." if new else "")
    return replace(
        cohort,
        given=one_given_kind((cohort, further)),
        subjects=(*updated, *new),
        refused=tuple(dict.fromkeys((*cohort.refused, *further.refused, *map(_loaded_already, others)))),
        notes=tuple(dict.fromkeys(note for note in notes if note)),
        unmatched_subjects=tuple(dict.fromkeys(name for name in unmatched if name in ids)),
        unmatched_rows=tuple(
            dict.fromkeys(name for name in (*cohort.unmatched_rows, *further.unmatched_rows) if name not in ids)
        ),
    )


def same_regions(one: Atlas, other: Atlas) -> bool:
    """Tell whether two atlases are the same one, perhaps read twice."""
    return one is other or (one.name == other.name and one.regions == other.regions)


def is_part_of(part: Atlas, whole: Atlas) -> bool:
    """Tell whether an atlas has some, and not all, of another's regions."""
    return part.whole is not None and same_regions(part.whole, whole)


def _on_part(cohort: Cohort, part: Atlas) -> Cohort:
    kept = set(part.regions)
    shared = keep_regions(cohort, [i for i, region in enumerate(cohort.atlas.regions) if region in kept])
    return _noted(replace(shared, atlas=part), f"Regions: {part.title}, as chosen for the subjects there were.")


def _on_atlas_of(cohort: Cohort, further: Cohort) -> Cohort:
    """Put further subjects on the atlas of those there are, where their regions are the same."""
    mine, theirs = cohort.atlas, further.atlas
    if same_regions(mine, theirs):
        return replace(further, atlas=mine)
    if set(mine.regions) == set(theirs.regions):
        return change_atlas(further, mine)
    if is_part_of(mine, theirs):
        return _on_part(further, mine)
    raise InputError(
        f"The subjects that are loaded are on {mine.title} with {mine.n_regions} regions, and the further ones on "
        f"{theirs.title} with {theirs.n_regions}. One cohort has one atlas: let the new files take the place of the "
        "loaded subjects, or name the same atlas for both."
    )


def _updated(subject: Subject, again: Subject) -> Subject:
    return replace(subject, group=subject.group or again.group, phenotypes={**subject.phenotypes, **again.phenotypes})


def _loaded_already(subject: Subject) -> Refusal:
    return Refusal(
        subject.source.file if subject.source else subject.id,
        f"Subject '{subject.id}' is loaded already, from another file. Rename this one, or remove that one first.",
    )


def _same_file(one: Subject | None, other: Subject) -> bool:
    return one is not None and _sha256(one) is not None and _sha256(one) == _sha256(other)


def _sha256(subject: Subject) -> str | None:
    return None if subject.source is None else subject.source.sha256


def _reordered(subject: Subject, order: list[int]) -> Subject:
    """Take a subject's regions in an order, each given by where it stood."""
    missing = tuple(sorted(order.index(region) for region in subject.missing_regions))
    if subject.series is not None:
        return replace(subject, series=subject.series[:, order], missing_regions=missing)
    assert subject.connectivity is not None
    return replace(subject, connectivity=subject.connectivity[order][:, order], missing_regions=missing)


def _decided_by_hand(subject: Subject) -> Subject:
    """Let the provenance say that the user decided on the atlas."""
    if subject.source is None:
        return subject
    named = ATLAS_BY_NAMES in str(subject.source.options.get(ATLAS_DECIDED_BY, ""))
    by = f"the user, and {ATLAS_BY_NAMES}" if named else "the user"
    options = {**subject.source.options, ATLAS_DECIDED_BY: by}
    return replace(subject, source=replace(subject.source, options=options))


def _noted(cohort: Cohort, note: str) -> Cohort:
    return replace(cohort, notes=(*cohort.notes, note))


def _whom(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{counted(len(names), 'subject')} ({shown}{', …' if len(names) > 5 else ''})"
