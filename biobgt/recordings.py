"""Several recordings of one person, sessions and runs: kept apart, averaged, or one of them chosen, as the user says.

Series are averaged by joining them end to end, every region of every recording z-scored first: the Pearson connectivity
of the joined series is the mean of the recordings' own, weighted by their lengths, and every other kind of connectivity
and every model can still be used. Matrices are averaged as Fisher z and transformed back; where a value is not between
-1 and 1 they are no correlations, and are averaged as they are.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.cohort import Cohort, Refusal, Source, Subject, is_silent, person_of
from biobgt.errors import InputError
from biobgt.people import number_of_people
from biobgt.wording import counted

RecordingRule = Literal["apart", "averaged", "earliest"]
RECORDING_RULES: Mapping[RecordingRule, str] = {
    "apart": "every recording is a row of its own; where groups are compared, a person's are averaged",
    "averaged": "one row per person: series are z-scored and joined end to end, so that their connectivity is the mean "
    "of the recordings' own, weighted by length; matrices are averaged as Fisher z",
    "earliest": "the first recording of each person, by session and run",
}
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


def recordings_by_person(cohort: Cohort) -> dict[str, tuple[Subject, ...]]:
    """Every person's recordings, by session and run; people in the order of their first ones."""
    owned: dict[str, list[Subject]] = {}
    for subject, person in zip(cohort, cohort.persons, strict=True):
        owned.setdefault(person, []).append(subject)
    return {person: tuple(sorted(own, key=_in_time)) for person, own in owned.items()}


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
    if rule != "apart":
        cohort = _without_joined(cohort)
    several = {person: own for person, own in recordings_by_person(cohort).items() if len(own) > 1}
    if rule == "apart" or not several:
        return cohort
    n_recordings = sum(map(len, several.values()))
    said = (
        f"Several recordings of {number_of_people(len(several))} ({n_recordings} recordings): {RECORDING_RULES[rule]}."
    )
    made = [_one_of(person, own, rule) for person, own in recordings_by_person(cohort).items()]
    subjects = tuple(item for item in made if isinstance(item, Subject))
    refused = tuple(item for item in made if isinstance(item, Refusal))
    if not subjects:
        raise InputError(refused[0].reason)
    ids = {subject.id for subject in subjects}
    unmatched = (name if name in ids else person_of(name) for name in cohort.unmatched_subjects)
    return replace(
        cohort,
        subjects=subjects,
        refused=(*cohort.refused, *refused),
        notes=(*cohort.notes, said),
        unmatched_subjects=tuple(dict.fromkeys(name for name in unmatched if name in ids)),
    )


def _without_joined(cohort: Cohort) -> Cohort:
    """Leave out what is a session's runs joined already, as XCP-D writes beside them: they would count twice."""
    joined = [name for name in cohort.ids if any(other.startswith(f"{name}_run-") for other in cohort.ids)]
    if not joined:
        return cohort
    note = f"Left out, because its runs are there: {', '.join(joined[:5])}{', …' if len(joined) > 5 else ''}."
    left = cohort.select(lambda subject: subject.id not in joined)
    return replace(left, notes=(*left.notes, note))


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
    return replace(kept, refused=(*kept.refused, *refused), notes=(*kept.notes, note))


def _one_of(person: str, own: Sequence[Subject], rule: RecordingRule) -> Subject | Refusal:
    """One subject of a person's recordings, or why there is none."""
    if rule == "earliest":
        return _said(own[0], [own[0]], f"the first of {len(own)}") if len(own) > 1 else own[0]
    if len(own) == 1:
        return replace(own[0], id=person)
    groups = [subject.group for subject in own]
    if len(set(groups)) > 1:
        named = ", ".join(f"{group or 'none'} ({recording_of(one.id)})" for one, group in zip(own, groups, strict=True))
        return Refusal(
            person, f"The person is in different groups: {named}. Keep the recordings apart, or choose one of them."
        )
    if len({subject.kind for subject in own}) > 1:
        return Refusal(person, "Some recordings are series and others matrices, which cannot be averaged together.")
    return _averaged(person, own)


def _averaged(person: str, own: Sequence[Subject]) -> Subject:
    missing = sorted({region for subject in own for region in subject.silent_regions})
    repetition = {subject.tr for subject in own}
    made = replace(
        own[0],
        id=person,
        missing_regions=tuple(missing),
        phenotypes=_phenotypes(own),
        tr=own[0].tr if len(repetition) == 1 else None,
        simulated=any(subject.simulated for subject in own),
    )
    if own[0].series is not None:
        joined = join_series([subject.series for subject in own if subject.series is not None])
        joined[:, missing] = 0
        return _said(replace(made, series=joined), own, "z-scored and joined end to end")
    matrices = np.array([subject.connectivity for subject in own])
    mean, how = _mean_matrix(matrices)
    mean[missing], mean[:, missing] = 0, 0
    return _said(replace(made, connectivity=mean), own, how)


def join_series(recordings: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Z-score every region of every recording and join them along time; regions without signal are zero.

    >>> one, two = np.array([[1.0, 0], [2, 0], [3, 5]]), np.array([[10.0, 1], [30, 2], [20, 9]])
    >>> joined = join_series([one, two])
    >>> mean = (np.corrcoef(one.T) + np.corrcoef(two.T)) / 2
    >>> joined.shape, bool(np.allclose(np.corrcoef(joined.T), mean))
    ((6, 2), True)
    """
    parts = []
    for series in recordings:
        centred = series - series.mean(axis=0)
        spread = np.where(is_silent(series), np.inf, centred.std(axis=0))
        parts.append(centred / spread)
    return np.concatenate(parts)


def _mean_matrix(matrices: NDArray[np.float64]) -> tuple[NDArray[np.float64], str]:
    """Mean of matrices, shape (n_recordings, n, n), and how it was taken; the diagonal is averaged as it is."""
    inside = ~np.eye(matrices.shape[1], dtype=bool)
    mean = matrices.mean(axis=0)
    if np.abs(matrices[:, inside]).max(initial=0) >= 1:
        return mean, "averaged as they are, because some values are no correlations"
    mean[inside] = np.tanh(np.arctanh(matrices[:, inside]).mean(axis=0))
    return mean, "averaged as Fisher z and transformed back"


def _phenotypes(own: Sequence[Subject]) -> dict[str, object]:
    """Numbers are averaged; of words, the one of most recordings counts, or the first."""
    found: dict[str, object] = {}
    for name in dict.fromkeys(name for subject in own for name in subject.phenotypes):
        values = [subject.phenotypes[name] for subject in own if _is_known(subject.phenotypes.get(name))]
        if not values:
            found[name] = own[0].phenotypes.get(name)
        elif all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            found[name] = values[0] if len(set(values)) == 1 else float(np.mean([float(str(v)) for v in values]))
        else:
            found[name] = Counter(values).most_common(1)[0][0]
    return found


def _is_known(value: object) -> bool:
    return value is not None and value == value


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


def _in_time(subject: Subject) -> list[tuple[int, str]]:
    """Sort run-2 before run-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", subject.id)]
