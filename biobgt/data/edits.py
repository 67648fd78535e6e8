"""What a user changes in a cohort: groups, atlas, who is in it, missing regions, several recordings of a person."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError, Refusal
from biobgt.base.wording import counted
from biobgt.data.atlas import BUNDLED, CHOOSE_ITS_ATLAS, FEWEST_REGIONS, Atlas
from biobgt.data.cohort import (
    ATLAS_BY_NAMES,
    ATLAS_DECIDED_BY,
    GROUP_TITLES,
    Cohort,
    Source,
    Subject,
    by_person,
    is_silent,
    number_of_people,
    one_given_kind,
    person_of,
)
from biobgt.data.graph import GivenKind

# Regions that subjects lack: absent from the file, NaN throughout, or without any signal.
#
# Three things can be done about them, and the user chooses: keep every region of the atlas, and draw those that a
# subject lacks as gaps; keep the regions that all subjects have; or refuse the subjects that lack some.


MissingRule = Literal["gaps", "shared", "refuse"]
_AS_GAPS = "connected to nothing and drawn as gaps"
MISSING_RULES: Mapping[MissingRule, str] = {
    "gaps": f"keep every region of the atlas; those that a subject lacks are {_AS_GAPS}",
    "shared": "keep only the regions that all subjects have",
    "refuse": "refuse the subjects that lack a region",
}
DRAWN_AS_GAPS = f"They are {_AS_GAPS}."
_MOST_NAMED = 20


def missing_regions(cohort: Cohort) -> dict[str, tuple[int, ...]]:
    """Find the regions without signal, counted from 0, by the ids of the subjects who lack some.

    >>> from biobgt.data.atlas import numbered_atlas
    >>> series = np.random.default_rng(0).normal(size=(20, 4))
    >>> whole, part = Subject("a", series=series), Subject("b", series=series * [1, 1, 0, 1])
    >>> missing_regions(Cohort("c", (whole, part), numbered_atlas(4)))
    {'b': (2,)}
    """
    return {subject.id: silent for subject in cohort if (silent := subject.silent_regions)}


def missing_words(cohort: Cohort) -> str:
    """Name and count the regions that are missing, in a sentence or two; empty where none is."""
    lacking, regions = missing_regions(cohort), cohort.atlas.regions
    if not lacking:
        return ""
    counts = Counter(region for own in lacking.values() for region in own)
    unlike = len(set(lacking.values())) > 1
    named = [regions[i] + (f" (in {counts[i]} of {len(cohort)})" if unlike else "") for i in sorted(counts)]
    differ = ", and not the same ones in each" if unlike else ""
    are = "is" if len(named) == 1 else "are"
    return (
        f"{counted(len(named), 'region')} of {len(regions)} {are} missing in {len(lacking)} of "
        f"{counted(len(cohort), 'subject')}{differ} (absent, NaN or without signal): {_some_of(named)}."
    )


def apply_missing_rule(cohort: Cohort, rule: MissingRule) -> Cohort:
    """Do about missing regions what the user chose; a note of the cohort says which they are and what was done."""
    lacking, said = missing_regions(cohort), missing_words(cohort)
    if rule == "shared" or not lacking:
        return keep_shared_regions(cohort)
    if rule == "gaps":
        return cohort.noted(f"{said} {DRAWN_AS_GAPS}")
    if len(lacking) == len(cohort):
        raise InputError(f"Every subject lacks a region, so all are refused. {said} Keep the shared regions instead.")
    refused = [
        Refusal(
            cohort[name].origin,
            f"It lacks {counted(len(own), 'region')} ({_some_of([cohort.atlas.regions[i] for i in own])}), "
            "and you chose to refuse such subjects.",
        )
        for name, own in lacking.items()
    ]
    whole = cohort.select(lambda subject: subject.id not in lacking)
    return whole.noted(said, refused=(*cohort.refused, *refused))


def keep_shared_regions(cohort: Cohort) -> Cohort:
    """Work on the regions that all subjects have; the cohort itself comes back where that is all of them."""
    missing = set().union(*missing_regions(cohort).values())
    if not missing:
        return cohort
    kept = [region for region in range(cohort.atlas.n_regions) if region not in missing]
    if len(kept) < FEWEST_REGIONS:
        raise InputError(
            f"The subjects share {counted(len(kept), 'region')}, and a network needs {FEWEST_REGIONS}. Remove the "
            "subjects that lack the most regions."
        )
    note = f"{missing_words(cohort)} All subjects are analysed on the {len(kept)} regions that they share."
    return _on_regions(cohort, cohort.atlas.keep(kept), kept).noted(note)


def _on_regions(cohort: Cohort, atlas: Atlas, order: list[int]) -> Cohort:
    """Put a cohort on an atlas of some of its regions, in an order, each given by where it stood."""
    subjects = []
    for one in cohort:
        missing = tuple(sorted(order.index(region) for region in one.missing_regions if region in order))
        series = None if one.series is None else np.ascontiguousarray(one.series[:, order])
        matrix = None if one.connectivity is None else one.connectivity[np.ix_(order, order)]
        lengths = None if one.lengths is None else one.lengths[np.ix_(order, order)]
        subjects.append(replace(one, series=series, connectivity=matrix, missing_regions=missing, lengths=lengths))
    return replace(cohort, atlas=atlas, subjects=tuple(subjects))


def _some_of(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{', '.join(names[:_MOST_NAMED])}{more}"


# Several recordings of one person, sessions and runs: kept apart, averaged, or one of them chosen, as the user says.
#
# Series are averaged by joining them end to end, every region of every recording z-scored first: the Pearson
# connectivity of the joined series is the mean of the recordings' own, weighted by their lengths, and every other kind
# of connectivity and every model can still be used. Matrices are averaged as Fisher z and transformed back; where a
# value is not between -1 and 1 they are no correlations, and are averaged as they are.


RecordingRule = Literal["apart", "averaged", "earliest"]
RECORDING_RULES: Mapping[RecordingRule, str] = {
    "apart": "every recording is a row of its own; where groups are compared, a person's are averaged",
    "averaged": "one row per person: series are z-scored and joined end to end, so that their connectivity is the mean "
    "of the recordings' own, weighted by length; matrices are averaged as Fisher z",
    "earliest": "the first recording of each person, by session and run",
}
_PIECES = re.compile(r"\d+|\D+")
_PART = re.compile(r"(?:ses|run)-[A-Za-z0-9]+|session_\d+|rest_\d+")


def recording_of(subject: str) -> str:
    """Which recording of its person a subject is, by its id; empty where the id says none.

    >>> recording_of("sub-01_ses-1_run-2"), recording_of("sub-01")
    ('ses-1_run-2', '')
    """
    return subject[len(person_of(subject)) + 1 :]


def check_run(run: str | None) -> None:
    """Refuse a word for a recording that is neither a session nor a run."""
    if run is not None and not (_PART.findall(run) and "_".join(_PART.findall(run)) == run):
        raise InputError(
            f"'{run}' is no session or run. Write it as file names do, such as run-1, ses-2 or ses-2_run-1."
        )


def recordings_by_person(cohort: Cohort) -> dict[str, list[Subject]]:
    """Every person's recordings, by session and run; people in the order of their first ones."""
    owned = by_person(cohort, cohort.persons)
    for own in owned.values():  # run-2 before run-10
        own.sort(key=lambda one: [(int(x), "") if x.isdigit() else (-1, x) for x in _PIECES.findall(one.id)])
    return owned


def apply_recording_rule(cohort: Cohort, rule: RecordingRule = "apart", *, run: str | None = None) -> Cohort:
    """Do about several recordings of one person what the user chose; a note of the cohort says what was done.

    Parameters
    ----------
    cohort : Cohort
    rule : {"apart", "averaged", "earliest"}
        See :data:`RECORDING_RULES`.
    run : str, optional
        Keep only these recordings, such as ``run-1``, ``ses-2`` or ``ses-2_run-1``. People without one are refused.

    Returns
    -------
    Cohort
        The same where nobody has several recordings and none was chosen.
    """
    cohort = _chosen(cohort, run)
    # What is a session's runs joined already, as XCP-D writes beside them, would count twice.
    joined = [name for name in cohort.ids if any(other.startswith(f"{name}_run-") for other in cohort.ids)]
    if rule != "apart" and joined:
        note = f"Left out, because its runs are there: {', '.join(joined[:5])}{', …' if len(joined) > 5 else ''}."
        cohort = cohort.select(lambda subject: subject.id not in joined).noted(note)
    people = recordings_by_person(cohort)
    several = [len(own) for own in people.values() if len(own) > 1]
    if rule == "apart" or not several:
        return cohort
    whose = f"{number_of_people(len(several))} ({sum(several)} recordings)"
    made = [_one_of(person, own, rule) for person, own in people.items()]
    subjects = tuple(item for item in made if isinstance(item, Subject))
    refused = tuple(item for item in made if isinstance(item, Refusal))
    if not subjects:
        raise InputError(refused[0].reason)
    ids = {subject.id for subject in subjects}
    unmatched = (name if name in ids else person_of(name) for name in cohort.unmatched_subjects)
    return cohort.noted(
        f"Several recordings of {whose}: {RECORDING_RULES[rule]}.",
        subjects=subjects,
        refused=(*cohort.refused, *refused),
        unmatched_subjects=tuple(dict.fromkeys(name for name in unmatched if name in ids)),
    )


def _chosen(cohort: Cohort, run: str | None) -> Cohort:
    check_run(run)
    if run is None:
        return cohort
    wanted = set(_PART.findall(run))
    kept = cohort.select(lambda subject: wanted <= set(_PART.findall(recording_of(subject.id))))
    if not kept.subjects:
        there = sorted({recording_of(name) for name in cohort.ids} - {""})
        has = f"There are: {', '.join(there[:8])}." if there else "No subject's name says a session or a run."
        raise InputError(f"Nobody has a recording {run}. {has}")
    without = [person for person in dict.fromkeys(cohort.persons) if person not in set(kept.persons)]
    refused = tuple(Refusal(person, f"There is no recording {run} of this person.") for person in without)
    note = f"Recordings: only {run}, as you said; {len(cohort) - len(kept)} of {len(cohort)} are left out."
    return kept.noted(note, refused=(*kept.refused, *refused))


def _one_of(person: str, own: Sequence[Subject], rule: RecordingRule) -> Subject | Refusal:
    """One subject of a person's recordings, or why there is none."""
    if rule == "earliest":
        return _said(own[0], [own[0]], f"the first of {len(own)}") if len(own) > 1 else own[0]
    if len(own) == 1:
        return replace(own[0], id=person)
    if len({subject.group for subject in own}) > 1:
        named = ", ".join(f"{one.group or 'none'} ({recording_of(one.id)})" for one in own)
        return Refusal(
            person, f"The person is in different groups: {named}. Keep the recordings apart, or choose one of them."
        )
    if len({subject.kind for subject in own}) > 1:
        return Refusal(person, "Some recordings are series and others matrices, which cannot be averaged together.")
    return _averaged(person, own)


def _averaged(person: str, own: Sequence[Subject]) -> Subject:
    missing = sorted({region for subject in own for region in subject.silent_regions})
    made = replace(
        own[0],
        id=person,
        missing_regions=tuple(missing),
        lengths=None,
        phenotypes=_phenotypes(own),
        tr=own[0].tr if len({subject.tr for subject in own}) == 1 else None,
        simulated=any(subject.simulated for subject in own),
    )
    if own[0].series is not None:
        joined = _join_series([subject.series for subject in own if subject.series is not None])
        joined[:, missing] = 0
        return _said(replace(made, series=joined), own, "z-scored and joined end to end")
    matrices = np.array([subject.connectivity for subject in own])
    mean, pairs = matrices.mean(axis=0), ~np.eye(matrices.shape[1], dtype=bool)  # the diagonal is averaged as it is
    how = "averaged as they are, because some values are no correlations"
    if np.abs(matrices[:, pairs]).max(initial=0) < 1:
        mean[pairs] = np.tanh(np.arctanh(matrices[:, pairs]).mean(axis=0))
        how = "averaged as Fisher z and transformed back"
    mean[missing], mean[:, missing] = 0, 0
    return _said(replace(made, connectivity=mean), own, how)


def _join_series(recordings: Sequence[FloatArray]) -> FloatArray:
    """Z-score every region of every recording and join them along time; regions without signal are zero.

    >>> one, two = np.array([[1.0, 0], [2, 0], [3, 5]]), np.array([[10.0, 1], [30, 2], [20, 9]])
    >>> joined = _join_series([one, two])
    >>> mean = (np.corrcoef(one.T) + np.corrcoef(two.T)) / 2
    >>> joined.shape, bool(np.allclose(np.corrcoef(joined.T), mean))
    ((6, 2), True)
    """
    parts = []
    for series in recordings:
        centred = series - series.mean(axis=0)
        parts.append(centred / np.where(is_silent(series), np.inf, centred.std(axis=0)))
    return np.concatenate(parts)


def _phenotypes(own: Sequence[Subject]) -> dict[str, object]:
    """Numbers are averaged; of words, the one of most recordings counts, or the first."""
    found: dict[str, object] = {}
    for name in dict.fromkeys(name for subject in own for name in subject.phenotypes):
        said = [subject.phenotypes.get(name) for subject in own]
        values = [value for value in said if value is not None and value == value]  # NaN is not
        if not values:
            found[name] = own[0].phenotypes.get(name)
        elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            found[name] = values[0] if len(set(values)) == 1 else float(np.mean([float(str(v)) for v in values]))
        else:
            found[name] = Counter(values).most_common(1)[0][0]
    return found


def _said(subject: Subject, own: Sequence[Subject], how: str) -> Subject:
    """Let the provenance say which recordings were used and how; the hash is over theirs, one after another."""
    sources = [one.source for one in own if one.source is not None]
    if len(sources) < len(own):
        return subject
    files = "; ".join(f"{source.file} (SHA-256 {source.sha256})" for source in sources)
    options = {**sources[0].options, "recordings": how if len(sources) == 1 else f"{how}: {files}"}
    if len(sources) == 1:
        return replace(subject, source=replace(sources[0], options=options))
    digest = hashlib.sha256("".join(source.sha256 for source in sources).encode()).hexdigest()
    n_bytes = sum(source.n_bytes for source in sources)
    name = f"{sources[0].file} and {counted(len(sources) - 1, 'further recording')}"
    return replace(subject, source=Source(name, n_bytes, digest, sources[0].reader, options))


# What a user changes in a cohort by hand: groups, the atlas, who is in it; and how further subjects come to it.
#
# Every change leaves a note in the cohort, so that a project or an export says what did not come from the files.
# Changes can be told from what was read, and made again where the files are read again.


BY_VALUES = "their values"  # decided on the kind of connectivity
_LONGEST_GROUP = 60
_KNOWN_GROUPS = {name.lower(): name for name in GROUP_TITLES}


def set_groups(cohort: Cohort, groups: Mapping[str, str | None]) -> Cohort:
    """Set the group of the named subjects; the cohort itself comes back where that changes nothing.

    Names are tidied as typed: known groups get their own spelling, and blanks are no group.
    """
    changed = {}
    for subject, typed in groups.items():
        name = " ".join((typed or "").split())
        if len(name) > _LONGEST_GROUP:
            raise InputError(
                f"The group's name '{name[:20]}…' has {len(name)} letters; at most {_LONGEST_GROUP} are kept."
            )
        group = _KNOWN_GROUPS.get(name.lower(), name) or None
        if cohort[subject].group != group:
            changed[subject] = group
    return cohort.with_groups(changed).noted(f"Group set by hand: {_whom(list(changed))}.") if changed else cohort


def remove_subjects(cohort: Cohort, ids: Collection[str]) -> Cohort:
    """Take subjects out of a cohort; one at least must stay."""
    removed = [name for name in cohort.ids if name in ids]
    if not removed:
        return cohort
    if len(removed) == len(cohort):
        raise InputError("A cohort needs at least one subject. Forget the subjects altogether instead.")
    left = cohort.select(lambda subject: subject.id not in ids)
    unmatched = tuple(name for name in cohort.unmatched_subjects if name not in ids)
    return left.noted(f"Removed by hand: {_whom(removed)}.", unmatched_subjects=unmatched)


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
        cohort = _on_regions(cohort, atlas, [place[name] for name in atlas.regions])
        note += ", whose regions stand in another order: the data were put in that order"
    return cohort.noted(f"{note}.", subjects=tuple(map(_decided_by_hand, cohort)), atlas=atlas)


def set_given_kind(cohort: Cohort, given: GivenKind, *, by: str | None = None) -> Cohort:
    """Put down in notes and sources what the connectivity matrices are, and what decided it.

    Parameters
    ----------
    cohort : Cohort
    given : {"functional", "structural", "other"}
    by : str, optional
        By default the user, whose word changes nothing where it is so already, or where there are no matrices.
    """
    if by is None and cohort.given in (None, given):
        return cohort
    by = by or "the user"
    matrices = (subject.connectivity for subject in cohort if subject.connectivity is not None)
    sizes = [(size.min(initial=np.inf), size.max(initial=0)) for size in (np.abs(m[m != 0]) for m in matrices)]
    low, high = min(low for low, _ in sizes), max(high for _, high in sizes)
    decided = {"connectivity": given, "connectivity decided by": by}
    subjects = tuple(subject if subject.series is not None else _with_options(subject, decided) for subject in cohort)
    note = f"Connectivity matrices: {given}, by {by}; sizes from {low:.3g} to {high:.3g}."
    return cohort.noted(note, subjects=subjects, given=given)


def confirm_atlas(cohort: Cohort) -> Cohort:
    """Take the user's word that the regions are those of the cohort's atlas, in its order."""
    note = f"Atlas: {cohort.atlas.title}, confirmed by you."
    return cohort.noted(note, subjects=tuple(map(_decided_by_hand, cohort)))


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

    @classmethod
    def between(cls, as_read: Cohort, now: Cohort) -> Self:
        """Tell what was changed by hand, from the cohort as it was read and as it is now."""
        left = {subject.id: subject for subject in now}
        same_atlas = now.atlas is as_read.atlas
        return cls(
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

    def make_again(self, cohort: Cohort) -> Cohort:
        """Make them again in a cohort whose files were read again; what they no longer fit is left as it was read."""
        if self.atlas is not None and self.atlas_as_read is not None and cohort.atlas.same_regions(self.atlas_as_read):
            part = _is_part_of(self.atlas, cohort.atlas)
            cohort = _on_part(cohort, self.atlas) if part else change_atlas(cohort, self.atlas)
        cohort = cohort if self.given is None else set_given_kind(cohort, self.given)
        cohort = set_groups(cohort, {name: group for name, group in self.groups.items() if name in cohort.ids})
        gone = [
            subject.id
            for subject in cohort
            if subject.id in self.removed and self.removed[subject.id] == _sha256(subject)
        ]
        return remove_subjects(cohort, gone) if len(gone) < len(cohort) else cohort


def add_subjects(cohort: Cohort, further: Cohort) -> Cohort:
    """Add the subjects of another cohort on the same atlas; who is in both stays as in the first.

    A subject that comes again from the same file brings its phenotypes, and its group where it had none. One that comes
    from another file is refused, because two people, or two sessions of one, go by the same name.
    """
    further = _on_atlas_of(cohort, further)
    known = {subject.id: subject for subject in cohort}
    again = {
        subject.id: subject
        for subject in further
        if subject.id in known and _sha256(subject) is not None and _sha256(known[subject.id]) == _sha256(subject)
    }
    new = tuple(subject for subject in further if subject.id not in known)
    others = [
        Refusal(
            subject.origin,
            f"Subject '{subject.id}' is loaded already, from another file. Rename this one, or remove that one first.",
        )
        for subject in further
        if subject.id in known and subject.id not in again
    ]
    ids = {*known, *(subject.id for subject in new)}
    updated = (
        replace(subject, group=subject.group or now.group, phenotypes={**subject.phenotypes, **now.phenotypes})
        if (now := again.get(subject.id)) is not None
        else subject
        for subject in cohort
    )
    unmatched = (*cohort.unmatched_subjects, *further.unmatched_subjects)
    notes = (*cohort.notes, *further.notes, f"Added: {_whom([subject.id for subject in new])}." if new else "")
    return replace(
        cohort,
        given=one_given_kind((cohort, further)),
        subjects=(*updated, *new),
        refused=tuple(dict.fromkeys((*cohort.refused, *further.refused, *others))),
        notes=tuple(dict.fromkeys(note for note in notes if note)),
        unmatched_subjects=tuple(dict.fromkeys(name for name in unmatched if name in ids)),
        unmatched_rows=tuple(
            dict.fromkeys(name for name in (*cohort.unmatched_rows, *further.unmatched_rows) if name not in ids)
        ),
    )


def _is_part_of(part: Atlas, whole: Atlas) -> bool:
    """Tell whether an atlas has some, and not all, of another's regions."""
    return part.whole is not None and part.whole.same_regions(whole)


def _on_part(cohort: Cohort, part: Atlas) -> Cohort:
    kept = [i for i, region in enumerate(cohort.atlas.regions) if region in set(part.regions)]
    return _on_regions(cohort, part, kept).noted(f"Regions: {part.title}, as chosen for the subjects there were.")


def _on_atlas_of(cohort: Cohort, further: Cohort) -> Cohort:
    """Put further subjects on the atlas of those there are, where their regions are the same."""
    mine, theirs = cohort.atlas, further.atlas
    if mine.same_regions(theirs):
        return replace(further, atlas=mine)
    if set(mine.regions) == set(theirs.regions):
        return change_atlas(further, mine)
    if _is_part_of(mine, theirs):
        return _on_part(further, mine)
    raise InputError(
        f"The subjects that are loaded are on {mine.title} with {mine.n_regions} regions, and the further ones on "
        f"{theirs.title} with {theirs.n_regions}. One cohort has one atlas: let the new files take the place of the "
        "loaded subjects, or name the same atlas for both."
    )


def _sha256(subject: Subject) -> str | None:
    return None if subject.source is None else subject.source.sha256


def _decided_by_hand(subject: Subject) -> Subject:
    """Let the provenance say that the user decided on the atlas."""
    options = {} if subject.source is None else subject.source.options
    named = ATLAS_BY_NAMES in str(options.get(ATLAS_DECIDED_BY, ""))
    return _with_options(subject, {ATLAS_DECIDED_BY: f"the user, and {ATLAS_BY_NAMES}" if named else "the user"})


def _with_options(subject: Subject, options: Mapping[str, str]) -> Subject:
    """Let the provenance of a subject, where it has one, say more."""
    if subject.source is None:
        return subject
    return replace(subject, source=replace(subject.source, options={**subject.source.options, **options}))


def _whom(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{counted(len(names), 'subject')} ({shown}{', …' if len(names) > 5 else ''})"
