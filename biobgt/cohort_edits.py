"""What a user changes in a cohort by hand: groups, the atlas, who is in it.

Every change leaves a note in the cohort, so that a project or an export says what did not come from the files.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from biobgt.atlas import Atlas
from biobgt.cohort import GROUP_TITLES, Cohort, Subject
from biobgt.errors import InputError
from biobgt.wording import counted

_LONGEST_GROUP = 60
_KNOWN_GROUPS = {name.lower(): name for name in GROUP_TITLES}


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

    Where both atlases name the same regions in another order, the data are put in the new one's order. Other names are
    taken for other names of the same regions, in the order in which they stand.
    """
    if atlas.n_regions != cohort.atlas.n_regions:
        raise InputError(
            f"The subjects have {cohort.atlas.n_regions} regions, and {atlas.title} has {atlas.n_regions}. "
            "Choose the atlas the data were extracted with."
        )
    note = f"Atlas changed by hand from {cohort.atlas.title} to {atlas.title}"
    if set(atlas.regions) == set(cohort.atlas.regions) and atlas.regions != cohort.atlas.regions:
        place = {name: i for i, name in enumerate(cohort.atlas.regions)}
        order = [place[name] for name in atlas.regions]
        cohort = replace(cohort, subjects=tuple(_reordered(subject, order) for subject in cohort))
        note += ", whose regions stand in another order: the data were put in that order"
    return _noted(cohort.with_atlas(atlas), f"{note}.")


def _reordered(subject: Subject, order: list[int]) -> Subject:
    """Take a subject's regions in an order, each given by where it stood."""
    missing = tuple(sorted(order.index(region) for region in subject.missing_regions))
    if subject.series is not None:
        return replace(subject, series=subject.series[:, order], missing_regions=missing)
    assert subject.connectivity is not None
    return replace(subject, connectivity=subject.connectivity[order][:, order], missing_regions=missing)


def _noted(cohort: Cohort, note: str) -> Cohort:
    return replace(cohort, notes=(*cohort.notes, note))


def _whom(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{counted(len(names), 'subject')} ({shown}{', …' if len(names) > 5 else ''})"
