"""Phenotype tables that are small on the disk and would keep the server busy for minutes."""

import numpy as np
import openpyxl
import pytest

from biobgt import InputError, read_cohort
from biobgt.atlas import numbered_atlas
from biobgt.readers import read_phenotypes
from biobgt.readers.phenotype_matching import same_person

SESSIONS = "_ses-" * 200_000 + "\nx"  # a search that begins anew at each of them takes a quarter of an hour


def subjects(folder, *names):
    for i, name in enumerate(names):
        np.savetxt(folder / f"{name}.csv", np.random.default_rng(i).standard_normal((20, 3)), "%.4f", ",")


def workbook(path, rows):
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in rows:
        sheet.append(row)
    book.save(path)


@pytest.mark.parametrize(
    ("identifier", "person"),
    [("sub-01_ses-2_run-1", "1"), ("0010001_session_1_rest_2", "10001"), ("a_ses-1\nb", "a"), (SESSIONS, "0")],
    ids=["BIDS", "Athena", "two lines", "sessions without end"],
)
def test_a_person_is_what_stands_before_the_session(identifier, person):
    assert same_person(identifier) == person


def test_an_id_without_end_is_no_subject_of_a_column(tmp_path, monkeypatch):
    """No form of such an id is tried, and the ids beside it are found."""
    from biobgt.readers import phenotype_search

    compared = []

    def compare(name):
        compared.append(name)
        return same_person(name)

    monkeypatch.setattr(phenotype_search, "same_person", compare)
    subjects(tmp_path, "s1", "s2")
    workbook(tmp_path / "people.xlsx", [["who", "group"], ["s1", "NC"], ["s2", "AD"], ["_ses-" * 50 + "\nx", "AD"]])
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("s1", "s2")
    assert max(map(len, compared)) <= 200
    assert [(one.file, "252 characters in a subject's id" in one.reason) for one in cohort.refused] == [
        ("people.xlsx", True)
    ]


def test_an_id_of_more_characters_than_a_subject_may_have_refuses_the_table(tmp_path):
    (tmp_path / "p.csv").write_text(f"subject,group\na,NC\n{'b' * 201},AD\n")
    with pytest.raises(
        InputError, match=r"'p\.csv' has 201 characters in a subject's id.*BIOBGT_MAX_ID_CHARACTERS=201"
    ):
        read_phenotypes(tmp_path / "p.csv")
