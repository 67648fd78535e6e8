"""What jobs write: results that appear whole or not at all, and beside them how the subjects were read."""

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from biobgt import __version__
from biobgt.cli.screen import print_line
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.graph import ConnectomeSettings
from biobgt.result_folders import result_folder
from biobgt.spreadsheets import write_csv
from biobgt.wording import counted


def results_folder(out: Path, *, job: str, manifest: bool = True) -> AbstractContextManager[Path]:
    """Give a folder to write in that becomes ``out``, with a manifest, when the job is done, and vanishes when not.

    Results of other jobs in it stay, and so do a user's files: see :mod:`biobgt.result_folders`.

    Parameters
    ----------
    out : Path
    job : str
        Whose earlier results are replaced.
    manifest : bool
        Write ``manifest.json``, which names the files.
    """
    return result_folder(out, job=job, about=_about(), manifest=manifest)


@contextmanager
def results_file(out: Path) -> Iterator[Path]:
    """Yield a file to write that becomes ``out`` when the job is done, together with any that are written beside it."""
    if out.is_dir():
        raise InputError(f"'{out}' is a folder: name a file in it.")
    # A manifest is for folders of results, not for any folder in which somebody wants a table.
    with result_folder(out.parent, job=out.name, about=_about(), manifest=False) as folder:
        yield folder / out.name


def _about() -> dict[str, str]:
    return {"command": typed_command(sys.argv[1:]), "version": __version__}


def typed_command(arguments: list[str]) -> str:
    """What was typed, without what belongs to a machine or changes no number: folders of data and runs, threads."""
    kept = ["biobgt"]
    words = iter([part for word in arguments for part in (word.split("=", 1) if word.startswith("--") else [word])])
    for word in words:
        if word in ("--runs", "--threads", "--device"):
            next(words, None)
        elif word == "--data":
            next(words, None)
            kept += [word, "DATA"]
        elif word != "--resume":
            kept.append(Path(word).name if Path(word).is_absolute() else word)
    return shlex.join(kept).encode("utf-8", "backslashreplace").decode()  # names of files need not be UTF-8


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, with numbers to eight digits, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_csv(frame, path, index=False, float_format="%.8g")


def write_settings(cohort: Cohort, settings: ConnectomeSettings, options: dict[str, Any], path: Path) -> None:
    """Write how a result was made, one row per setting.

    Parameters
    ----------
    cohort : Cohort
    settings : ConnectomeSettings
    options : mapping of str to plain values
        Those of the job.
    path : Path
        A CSV file.
    """
    rows = {
        "cohort": cohort.name,
        "simulated": cohort.simulated,
        "atlas": cohort.atlas.name,
        "connectivity": cohort.kind.key,
        **settings.as_dict(),
        **options,
    }
    if not cohort.kind.functional:
        rows["estimator"] = "none"
    if settings.threshold == "none":
        rows["level"] = ""
    write_table(pd.DataFrame({"setting": list(rows), "value": list(rows.values())}), path)


def write_model(card: Mapping[str, Any], path: Path) -> None:
    """Write which model made a result, from its card, so that the result can be told from another model's."""
    said = {
        "model": card["name"],
        "weights_sha256": card["sha256"],
        "simulated": card["simulated"],
        "atlas": card["atlas"],
        "headline": card["headline"],
        "version": __version__,
    }
    path.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write_reading(cohort: Cohort, folder: Path) -> None:
    """Write where every subject came from and what was refused, and say so if anything was."""
    write_csv(sources(cohort), folder / "sources.csv", index=False)
    write_csv(refusals(cohort), folder / "refused.csv", index=False)
    if cohort.refused:
        first = cohort.refused[0]
        print_line(
            f"Refused: {counted(len(cohort.refused), 'file')}; refused.csv says why. "
            f"The first, {first.file}: {first.reason}"
        )
    if cohort.unmatched_subjects:
        print_line(f"Without a row in the phenotype table: {counted(len(cohort.unmatched_subjects), 'subject')}.")


def print_settings(cohort: Cohort, settings: ConnectomeSettings) -> None:
    """Say whether subjects are simulated, how graphs were made, and whose connectivity was not estimated."""
    print_simulated(cohort)
    print_line(settings.describe(cohort.kind))
    n_matrices = sum(subject.kind == "connectivity" for subject in cohort)
    if n_matrices:
        print_line(f"{cohort.kind.title} taken from the files, not estimated: {counted(n_matrices, 'subject')}.")


def print_simulated(cohort: Cohort) -> None:
    """Say that subjects are simulated, where they are."""
    if cohort.simulated:
        n_simulated = sum(subject.simulated for subject in cohort)
        print_line(f"SIMULATED: {n_simulated} of the subjects are not real people.")


def refusals(cohort: Cohort) -> pd.DataFrame:
    """One row per file that was refused."""
    return pd.DataFrame([{"file": item.file, "why": item.reason} for item in cohort.refused], columns=["file", "why"])


def sources(cohort: Cohort) -> pd.DataFrame:
    """One row per subject: its file, size, hash, and how it was read."""
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
