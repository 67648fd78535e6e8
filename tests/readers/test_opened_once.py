"""Text files are opened at most twice: once to tell what they are, once to be read."""

import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biobgt import ReadOptions, read_cohort

_opened: Counter[str] = Counter()
_watched: list[str] = []


def _watch(event: str, arguments: tuple) -> None:
    """Python cannot take an audit hook back, so it stays and counts only while a folder is watched."""
    if event == "open" and _watched and str(arguments[0]).startswith(_watched[0]):
        _opened[Path(str(arguments[0])).name] += 1


sys.addaudithook(_watch)


@pytest.fixture
def opened():
    """How often each file of the test's folder was opened since the test began to read."""
    _opened.clear()
    yield _opened
    _watched.clear()


def write_study(folder) -> None:
    rng = np.random.default_rng(0)
    for name in ("sub-01", "sub-02"):
        table = pd.DataFrame(rng.standard_normal((400, 20)).cumsum(axis=0), columns=[f"area{i}x" for i in range(20)])
        table.to_csv(folder / f"{name}.tsv", sep="\t", index=False)
        table.T.to_csv(folder / f"{name}-named.csv", header=False)  # words in the first column, beyond the first 64 KB
    (folder / "participants.tsv").write_text("participant_id\tgroup\nsub-01\tNC\nsub-02\tASD\n")
    (folder / "people.csv").write_text("who,age\nsub-01,20\nsub-02,30\n")


@pytest.mark.parametrize("pattern", ["*.tsv", "*-named.csv"])
def test_every_text_file_of_a_folder_is_opened_at_most_twice(tmp_path, opened, pattern):
    write_study(tmp_path)
    _watched.append(str(tmp_path) + os.sep)
    cohort = read_cohort(tmp_path, atlas="unknown", options=ReadOptions(pattern=pattern))
    assert len(cohort) == 2
    assert set(opened) >= {"sub-01.tsv", "sub-02-named.csv", "participants.tsv"}
    assert max(opened.values()) <= 2, opened
