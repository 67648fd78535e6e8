"""What methods say of participants: how many in which group, their age, sex and motion, and how they were measured.

Only what the cohort itself tells is written. What it does not tell, and what nobody but the authors knows, is a marked
place.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from biobgt.cohort import GROUP_TITLES, Cohort, kind_of_group
from biobgt.export.cited_text import ToComplete
from biobgt.export.requests import CohortRef
from biobgt.groups.covariates import known_characteristics, one_value_per_person
from biobgt.people import average_by_person, people_in_order
from biobgt.wording import counted, listed

_SEXES = {"m": "male", "male": "male", "f": "female", "female": "female"}
_TOLD = {"age": "age", "sex": "sex", "mean_fd": "motion"}  # of every group, where known
_ESTIMATE = "nuisance regression, filtering and scrubbing"
# What only the authors know of how connectivity came about, by its kind.
_STILL_TO_SAY = {
    "estimated": _ESTIMATE,
    "functional": f"{_ESTIMATE}; how connectivity was estimated",
    "structural": "fibre model, tractography, and what the weights of connections are",
    "other": "what the weights of connections are",
}
_NOT_EVIDENCE = (
    "Simulated subjects are not measurements of people; results obtained with them are not evidence about people."
)


def people_sentences(ref: CohortRef, cohort: Cohort) -> list[str | ToComplete]:
    """Say who was analysed.

    Parameters
    ----------
    ref : CohortRef
    cohort : Cohort
    """
    said: list[str | ToComplete] = [_opening(ref, cohort)]
    simulated = sum(subject.simulated for subject in cohort)
    if simulated:
        some = "" if ref.demo else f"{'All' if simulated == len(cohort) else simulated} of them are simulated. "
        said.append(f"{some}{_NOT_EVIDENCE}")
    known, missing = _characteristics(cohort)
    said += known
    if simulated < len(cohort):
        wanted = ["recruitment", "inclusion and exclusion criteria", "diagnosis", "ethics approval and consent"]
        said.append(ToComplete("; ".join([*(_TOLD[name] for name in missing), *wanted])))
        if len(missing) < len(_TOLD):
            said.append(ToComplete("check that the table's ages are in years and its displacements in millimetres"))
    return said


def acquisition_sentences(cohort: Cohort) -> list[str | ToComplete]:
    """Say what the files tell of how participants were measured, and mark what they do not."""
    lengths = [subject.n_timepoints for subject in cohort if subject.n_timepoints is not None]
    said: list[str | ToComplete] = []
    if lengths:
        trs = [subject.tr for subject in cohort if subject.series is not None and subject.tr is not None]
        every = f", recorded every {_range(trs)} s" if len(trs) == len(lengths) else ""
        said.append(f"Recordings had {_range(lengths)} time points{every}.")
    if n_matrices := len(cohort) - len(lengths):
        matrix = f"{'' if cohort.given == 'other' else f'{cohort.given} '}connectivity matrix"
        said.append(f"Of {counted(n_matrices, 'recording')} the {matrix} was given, and taken as it was.")
    said += _extractions(cohort)
    silent = [n for subject in cohort if (n := len(subject.silent_regions))]
    if silent:
        regions = "1 region" if max(silent) == 1 else f"{_range(silent)} regions"
        none = "no signal and no connection" if lengths else "no connection"
        said.append(f"In {counted(len(silent), 'recording')} {regions} had {none}.")
    left = ["scanner and field strength", "sequence and voxel size"]
    if cohort.kind.functional:
        left += ["instructions (eyes open or closed)"]
        left += [] if lengths and len(trs) == len(lengths) else ["repetition time"]
    left += ["preprocessing with its software and version"]
    left += [_STILL_TO_SAY[cohort.kind.key]]
    return [*said, ToComplete("; ".join(left))]


def _opening(ref: CohortRef, cohort: Cohort) -> str:
    people, groups = len(set(cohort.persons)), cohort.group_people
    named = [_named_group(group, size) for group, size in groups.items()]
    if 0 < (without := people - sum(groups.values())) < people:
        named.append(f"{without:,} in no group")
    noun = "simulated subject" if ref.demo else "participant"
    told = counted(people, noun) if people == len(cohort) else f"{len(cohort):,} recordings of {counted(people, noun)}"
    size = f"{told}: {listed(named)}" if named else told
    drawn = f"of the demo cohort '{ref.name}', drawn with seed {ref.seed}: {listed(named)}"
    kinds = {cohort.kind_of(subject).data: None for subject in cohort}
    return f"We analysed {told} {drawn}." if ref.demo else f"We analysed {listed(list(kinds))} of {size}."


def _named_group(group: str, size: int) -> str:
    title = GROUP_TITLES.get(kind_of_group(group))
    return f"{size:,} {group}" + (f" ({title})" if title else "")


def _characteristics(cohort: Cohort) -> tuple[list[str], list[str]]:
    """A sentence per group on age, sex and motion, one value per person; and what is known of nobody."""
    table, _ = one_value_per_person(known_characteristics(cohort.table()), cohort.persons)
    people, first = people_in_order(cohort.persons)
    groups = pd.Series([subject.group for subject in cohort], dtype=object)[first].to_numpy()
    values = pd.DataFrame(index=range(len(people)))
    for name in (name for name in _TOLD if name in table):
        column = table[name]
        numeric = pd.api.types.is_numeric_dtype(column)
        values[name] = average_by_person(column, cohort.persons) if numeric else column.to_numpy(dtype=object)[first]
    said = []
    for group in cohort.group_people or {"": len(people)}:
        own = values[groups == group] if group else values
        told = [words for name in values if (words := _told(str(name), own[name]))]
        if told:
            said.append(f"{f'In the {group} group' if group else 'In all'}, {'; '.join(told)}.")
    if "site" in table and (n_sites := table["site"].nunique()) > 1:
        said.append(f"Recordings came from {n_sites} sites.")
    return said, [name for name in _TOLD if name not in table]


def _told(name: str, column: "pd.Series") -> str:
    """One characteristic of one group; nothing where nobody's is known."""
    known = column.dropna()
    if known.empty:
        return ""
    of_all = "" if len(known) == len(column) else f" (known of {len(known):,} of {len(column):,})"
    if not pd.api.types.is_numeric_dtype(known):
        counts = Counter(_SEXES.get(str(value).strip().lower(), f"of sex '{value}'") for value in known)
        (sex, size), *others = sorted(counts.items())
        first = f"{counted(size, 'participant')} {'was' if size == 1 else 'were'} {sex}"
        return f"{listed([first, *(f'{n:,} {other}' for other, n in others)])}{of_all}"
    numbers = known.to_numpy(dtype=np.float64)
    digits, title, unit = (1, "mean age", "years") if name == "age" else (3, "mean framewise displacement", "mm")
    mean = f"{title} was {numbers.mean():.{digits}f}"
    if len(numbers) == 1:
        return f"{mean} {unit}{of_all}"
    limits = f"range {numbers.min():.{digits}f} to {numbers.max():.{digits}f}"
    return f"{mean} ± {numbers.std(ddof=1):.{digits}f} {unit} (SD; {limits}){of_all}"


def _extractions(cohort: Cohort) -> list[str]:
    """How series were taken from images, where this software did it."""
    said: dict[str, None] = {}
    for subject in cohort:
        used = {} if subject.source is None else subject.source.options
        if "confounds" not in used:
            continue
        strategy = used["confounds"]
        steps = ["no confounds regressed out" if strategy == "none" else f"the confound strategy '{strategy}'"]
        units = (("smoothing mm", "smoothing of {:g} mm"), ("low-pass Hz", "low-pass filter at {:g} Hz"))
        for name, words in (*units, ("high-pass Hz", "high-pass filter at {:g} Hz")):
            steps += [words.format(float(used[name]))] if name in used else []
        taken = f"the mean over {used['regions']}" if "regions" in used else "the mean over regions"
        said[f"Region series were {taken}, extracted with nilearn (Abraham et al. 2014), with {listed(steps)}."] = None
    return list(said)


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
