"""Phenotype tables that are small on the disk and would keep the server busy for minutes."""

import numpy as np
import openpyxl
import pandas as pd
import pytest
from joined_tables import joined

from biobgt import InputError, read_cohort
from biobgt.data.atlas import numbered_atlas
from biobgt.readers import phenotypes as phenotype_joining
from biobgt.readers import phenotypes as phenotype_search
from biobgt.readers import read_phenotypes
from biobgt.readers.phenotypes import Phenotypes, same_person

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


def phenotypes(**columns) -> Phenotypes:
    table = pd.DataFrame(columns)
    return Phenotypes(table, tuple((name,) for name in table["subject"]))


def test_every_shared_cell_is_compared_once(monkeypatch):
    """Asking a frame for one cell after another takes a minute and a half for two tables of 43 kB."""
    compared = []
    monkeypatch.setattr(phenotype_joining, "_agree", lambda one, other: compared.append(one) or one == other)
    names, scores = [f"s{i}" for i in range(1_000)], {f"c{i}": range(1_000) for i in range(400)}
    one, other = phenotypes(subject=names, **scores), phenotypes(subject=names[::-1], **scores)
    with pytest.raises(InputError, match="disagree on 'c0' of 's999': 999 and 0"):
        joined([one, other])
    compared.clear()
    together = joined([one, phenotypes(subject=names, **scores)])
    assert together.table.shape == (1_000, 401)
    assert len(compared) == 400_000


def test_many_small_tables_are_made_one_at_the_end(monkeypatch):
    """A frame made anew for each of them takes a minute and a half for 600 tables."""
    frames = []
    original = phenotype_joining.Phenotypes
    monkeypatch.setattr(phenotype_joining, "Phenotypes", lambda *parts: frames.append(parts) or original(*parts))
    together = joined(phenotypes(subject=[f"p{i}"], group=["NC"], **{f"c{i}": [i]}) for i in range(600))
    assert together.table.shape == (600, 602)
    assert together.table["c599"].notna().sum() == 1
    assert together.table["subject"].tolist() == [f"p{i}" for i in range(600)]
    assert len(frames) == 1


@pytest.mark.parametrize(
    ("limit", "allowed", "found"), [("ROWS", 3, "4 rows"), ("COLUMNS", 4, "5 columns"), ("CELLS", 12, "15 cells")]
)
def test_tables_that_are_too_large_together_are_refused_one_by_one(tmp_path, monkeypatch, limit, allowed, found):
    subjects(tmp_path, "p0", "p1")
    for i in range(6):
        own = "score" if limit == "ROWS" else f"c{i}"
        (tmp_path / f"t{i}_phenotypes.csv").write_text(f"subject,group,{own}\np{i},NC,1\n")
    monkeypatch.setenv(f"BIOBGT_MAX_TABLE_{limit}", str(allowed))
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("p0", "p1")
    assert [subject.group for subject in cohort] == ["NC", "NC"]
    first = cohort.refused[0].reason
    assert f"The phenotype table, with those read before it, has {found}; at most {allowed}" in first
    assert f"BIOBGT_MAX_TABLE_{limit}" in first
    n_read = 3 if limit == "ROWS" else 2
    assert [one.file for one in cohort.refused] == [f"t{i}_phenotypes.csv" for i in range(n_read, 6)]


def test_tables_agree_on_a_number_however_they_keep_it():
    whole = phenotypes(subject=["a"], age=[70])
    with_gaps = phenotypes(subject=["a", "b"], age=[70.0, np.nan])
    assert joined([whole, with_gaps]).table["age"].tolist()[0] == 70
    assert joined([with_gaps, phenotypes(subject=["b"], age=[80])]).table["age"].tolist() == [70, 80]


def test_joined_columns_keep_their_order_and_their_kinds():
    one = phenotypes(subject=["b", "a"], zed=["1", "x"], age=[70, 80])
    other = phenotypes(subject=["c", "b"], iq=[100, 110], age=[60, 70], alpha=[None, "q"])
    table = joined([one, other]).table
    assert list(table.columns) == ["subject", "zed", "age", "iq", "alpha"]
    assert table["subject"].tolist() == ["b", "a", "c"]
    assert table["age"].tolist() == [70, 80, 60]
    assert table["iq"].dropna().tolist() == [110, 100]
    assert table["alpha"].dropna().tolist() == ["q"]


def test_of_a_table_whose_ids_are_named_only_the_beginning_is_searched(tmp_path, monkeypatch):
    whole = []
    monkeypatch.setattr(phenotype_search, "text_of_table", lambda *asked: whole.append(asked))
    (tmp_path / "p.csv").write_text("subject,group\ns1,NC\ns2,AD\n")
    assert phenotype_search.TableSearch().column_of_subjects(tmp_path / "p.csv", ["s1", "s2"]) is None
    assert not whole
