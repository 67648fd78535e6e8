"""What tests of the readers share: how a refusal is told, and small files to read."""

import io
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from biobgt import ChoiceNeeded, Cohort, InputError, read_cohort
from biobgt.data.atlas import numbered_atlas

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")


def refused(sentence: str, read: Callable, *asked: object, **how: object) -> None:
    """Reading something is refused, in words that a pattern is found in."""
    with pytest.raises(InputError, match=sentence):
        read(*asked, **how)


def question(path: Path, **how: object) -> ChoiceNeeded:
    """What is asked when a cohort is read."""
    with pytest.raises(ChoiceNeeded) as caught:
        read_cohort(path, **how)
    return caught.value


def reasons(cohort: Cohort) -> dict[str, str]:
    """Why each file that was refused was refused."""
    return {one.file: one.reason for one in cohort.refused}


def save_table(path: Path, n_regions: int = 3, seed: int = 0) -> Path:
    """Write a subject of twenty time points, without names."""
    np.savetxt(path, np.random.default_rng(seed).standard_normal((20, n_regions)), "%.4f", ",")
    return path


def read_beside_a_good_one(folder: Path) -> Cohort:
    """Read a folder as a cohort of one good subject, whatever becomes of the other files in it."""
    save_table(folder / "s1.csv")
    cohort = read_cohort(folder, atlas=numbered_atlas(3))
    assert cohort.ids == ("s1",)
    return cohort


def as_text(values: np.ndarray, separator: str = ",") -> str:
    """A table without names."""
    return "\n".join(separator.join(f"{value:.6f}" for value in row) for row in values)


def zipped(files: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of some files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def workbook(path: Path, rows: Sequence[Sequence[object]] = (("subject", "group"), ("s1", "AD"))) -> Path:
    """Write an Excel workbook of one sheet."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path
