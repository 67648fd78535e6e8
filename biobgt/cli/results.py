"""What jobs write beside their results: how the subjects were read, and what was refused."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from biobgt.cli.screen import print_line
from biobgt.cohort import Cohort
from biobgt.graph import ConnectomeSettings
from biobgt.wording import counted


def file_names(subjects: Iterable[str]) -> dict[str, str]:
    """Make a file name of each subject's id; ids that come out alike are told apart by a number."""
    names: dict[str, str] = {}
    for subject in subjects:
        safe = "".join(character if character.isalnum() or character in "-_." else "_" for character in subject)
        safe = safe if safe.strip("._") else f"subject_{safe}"
        name, number = safe, 1
        while name.lower() in {other.lower() for other in names.values()}:
            number += 1
            name = f"{safe}_{number}"
        names[subject] = name
    return names


def write_reading(cohort: Cohort, folder: Path) -> None:
    """Write where every subject came from and what was refused, and say so if anything was."""
    sources(cohort).to_csv(folder / "sources.csv", index=False)
    refusals(cohort).to_csv(folder / "refused.csv", index=False)
    if cohort.refused:
        first = cohort.refused[0]
        print_line(
            f"Refused: {counted(len(cohort.refused), 'file')}; refused.csv says why. "
            f"The first, {first.file}: {first.reason}"
        )
    if cohort.unmatched_subjects:
        print_line(f"Without a row in the phenotype table: {counted(len(cohort.unmatched_subjects), 'subject')}.")


def print_settings(cohort: Cohort, settings: ConnectomeSettings) -> None:
    """Say how the graphs were made; a matrix that was brought was not estimated here."""
    print_line(settings.describe())
    n_brought = sum(subject.kind == "connectivity" for subject in cohort)
    if n_brought:
        print_line(f"Taken as brought, without estimating anything: the matrices of {counted(n_brought, 'subject')}.")


def refusals(cohort: Cohort) -> pd.DataFrame:
    """One row a file that was refused."""
    return pd.DataFrame([{"file": item.file, "why": item.reason} for item in cohort.refused], columns=["file", "why"])


def sources(cohort: Cohort) -> pd.DataFrame:
    """One row a subject: its file, size, hash, and how it was read."""
    return pd.DataFrame(
        [
            {
                "subject": subject.id,
                "file": subject.source.file,
                "bytes": subject.source.n_bytes,
                "sha256": subject.source.sha256,
                "reader": subject.source.reader,
                "options": "; ".join(f"{key}={value}" for key, value in subject.source.options.items()),
            }
            for subject in cohort
            if subject.source is not None
        ]
    )
