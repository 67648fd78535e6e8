"""Phenotype tables: found, read, joined and matched to subjects."""

import numpy as np
import pandas as pd
import pytest
from reading import reasons, refused, save_table, workbook, zipped

from biobgt import ChoiceNeeded, read_cohort
from biobgt.data.atlas import load_atlas, numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.readers import phenotypes as module
from biobgt.readers.phenotypes import (
    JoinedPhenotypes,
    Phenotypes,
    TableSearch,
    _same_person,
    match_phenotypes,
    read_phenotypes,
)


def joined(tables):
    """Put tables together as reading a folder does."""
    together = JoinedPhenotypes()
    for table in tables:
        together.check_size(table)
        together.add(table)
    return together.result()


def people(*names: str) -> Cohort:
    return Cohort("c", tuple(Subject(id=name, series=np.ones((2, 2))) for name in names), numbered_atlas(2))


def write(tmp_path, text, name="p.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def matched_to(path, *names) -> Cohort:
    """People, with their rows of a table."""
    return match_phenotypes(people(*names), read_phenotypes(path))


def test_abide(tmp_path):
    text = (
        "Unnamed: 0,SUB_ID,X,subject,SITE_ID,FILE_ID,DX_GROUP,AGE_AT_SCAN,SEX\n"
        "1,50002,1,50002,PITT,no_filename,1,16.77,1\n"
        "2,50003,2,50003,PITT,Pitt_0050003,1,24.45,1\n"
        "3,51036,3,51036,NYU,NYU_0051036,2,10.1,2\n"
        "4,50004,4,50004,PITT,no_filename,2,19.0,1\n"
    )
    phenotypes = read_phenotypes(write(tmp_path, text))
    matched = match_phenotypes(people("Pitt_0050003", "NYU_0051036", "51036x"), phenotypes)
    assert [subject.group for subject in matched.subjects] == ["ASD", "NC", None]
    assert matched.subjects[1].phenotypes["site"] == "NYU"
    assert matched.subjects[1].phenotypes["age"] == 10.1
    assert matched.subjects[1].phenotypes["sex"] == "F"
    assert matched.unmatched_subjects == ("51036x",)
    assert matched.unmatched_rows == ("50002", "50004")
    assert "DX_GROUP 1 is ASD" in phenotypes.notes[0]


def test_adhd200_and_its_codes(tmp_path):
    text = "ScanDir ID\tSite\tGender\tAge\tDX\n10001\t3\t1\t11.2\t0\n10002\t3\t0\t9.0\t3\n"
    matched = matched_to(write(tmp_path, text, "p.tsv"), "0010001", "0010002")
    assert groups_of(matched) == {"0010001": "NC", "0010002": "ADHD"}


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("subject,group\na,1\nb,2\n", ["1", "2"]),
        ("SUB_ID,DX_GROUP,SITE_ID\n1,ASD,X\n2,TC,X\n", ["ASD", "NC"]),
        ("SUB_ID,DX_GROUP,SITE_ID\n1,0,X\n2,1,X\n", ["0", "1"]),
    ],
)
def test_codes_of_no_known_release_stay_as_they_are(tmp_path, text, groups):
    phenotypes = read_phenotypes(write(tmp_path, text))
    assert phenotypes.table["group"].tolist() == groups
    assert not any("codes" in note for note in phenotypes.notes)


@pytest.mark.parametrize(
    ("in_table", "in_files"),
    [
        ("sub-01", "sub-01"),
        ("sub-01", "01"),
        ("01", "sub-01"),
        ("1", "sub-001"),
        ("50952", "NYU_0050952"),
        ("0050952", "NYU_0050952"),
        ("NYU_0050952", "0050952"),
        ("sub-01", "sub-01_ses-2_run-1"),
        ("10001", "0010001_session_1_rest_2"),
        ("SUB-AbC", "sub-abc"),
    ],
)
def test_ids_are_matched_however_they_are_written(tmp_path, in_table, in_files):
    matched = matched_to(write(tmp_path, f"participant_id,group\n{in_table},ASD\nother9,NC\n"), in_files)
    assert (groups_of(matched), matched.unmatched_rows) == ({in_files: "ASD"}, ("other9",))
    by_number = "NYU" in in_table + in_files
    said = "by the number in their ids alone: 1 subject, such as"
    assert [said in note for note in matched.notes] == [True] * by_number


@pytest.mark.parametrize(
    ("files", "rows", "groups"),
    [
        (("001", "UCLA_001"), "NYU_001,ASD\nUCLA_001,NC", [None, "NC"]),  # a number that two sites share
        (("7", "NYU_7"), "7,ASD", ["ASD", None]),  # a row that its own subject took
        (("HC_01",), "PAT_01,ASD", [None]),
        (("HC01",), "PAT01,ASD", [None]),
        (("001_cc200", "002_cc200"), "200,ASD", [None, None]),
        (("S01_run1", "S02_run1"), "1,ASD", [None, None]),
        (("NYU_7", "UCLA_7"), "7,ASD", [None, None]),
        # An ending of one file, or without a separator, is part of the id.
        (("p00_ts",), "p00,NC\np01,ASD", [None]),
        (("p00_ts", "p01_fc"), "p00,NC\np01,ASD", [None, None]),
        (("p00ts", "p01ts"), "p00,NC\np01,ASD", [None, None]),
    ],
)
def test_what_is_not_the_persons_own_matches_nobody(tmp_path, files, rows, groups):
    matched = matched_to(write(tmp_path, f"subject,group\n{rows}\n"), *files)
    assert list(groups_of(matched).values()) == groups
    assert matched.unmatched_subjects == tuple(one for one, group in zip(files, groups, strict=True) if not group)


def test_an_ending_that_all_files_share_is_no_part_of_the_id(tmp_path):
    table = write(tmp_path, "Participant ID,dx\np00,NC\np01,ASD\np2,ASD\n")
    matched = matched_to(table, "p00_mean_ts", "p01_mean_ts")
    assert groups_of(matched) == {"p00_mean_ts": "NC", "p01_mean_ts": "ASD"}
    assert matched.unmatched_rows == ("p2",)
    assert "'_mean_ts' at the end of their names" in matched.notes[0]


def test_spreadsheets_turn_ids_and_codes_into_decimals_and_leave_empty_rows(tmp_path):
    ages = {"age": [70.5, 66, np.nan]}
    frame = pd.DataFrame({"subject": [50952.0, 50953.0, np.nan], "group": [1.0, np.nan, np.nan], **ages})
    frame.to_excel(tmp_path / "p.xlsx", index=False)
    frame.to_csv(tmp_path / "p.csv", index=False)
    frame.to_csv(tmp_path / "p.txt", index=False, sep=";", decimal=",")
    for name in ("p.xlsx", "p.csv", "p.txt"):
        matched = matched_to(tmp_path / name, "50952", "50953")
        assert groups_of(matched) == {"50952": "1", "50953": None}
        assert [subject.phenotypes["age"] for subject in matched] == [70.5, 66]
        assert matched.unmatched_rows == ()


def test_separators_within_cells_and_at_ends_of_lines_shift_nothing(tmp_path):
    phenotypes = read_phenotypes(write(tmp_path, 'subject,group,meds\n50952,ASD,"a;b"\n50953,NC,"c, d"\n'))
    assert phenotypes.table["meds"].tolist() == ["a;b", "c, d"]
    phenotypes = read_phenotypes(write(tmp_path, "subject,group\na,NC,\nb,AD,\n"))
    assert phenotypes.table["subject"].tolist() == ["a", "b"]


def test_tables_of_the_same_subjects_and_of_one_subject_each_are_joined(tmp_path):
    texts = ("subject,group\na,NC\nb,AD\n", "Subj,age\na,70\n", "subject,age\nb,80\n", "subject,group\na,AD\n")
    *tables, other = [read_phenotypes(write(tmp_path, text)) for text in texts]
    matched = match_phenotypes(people("a", "b"), joined(tables))
    assert groups_of(matched) == {"a": "NC", "b": "AD"}
    assert [subject.phenotypes["age"] for subject in matched.subjects] == [70, 80]
    refused("disagree on 'group' of 'a'", joined, [*tables, other])


def test_group_names_are_translated_and_said(tmp_path):
    table = write(tmp_path, "subject,Diagnosis\na,Control\nb,LMCI\nc,Autism\nd,n/a\ne,Schizophrenia\n")
    matched = matched_to(table, *"abcde")
    assert groups_of(matched) == {"a": "NC", "b": "MCI", "c": "ASD", "d": None, "e": "Schizophrenia"}
    assert matched.notes == ("Groups renamed: Control to NC, LMCI to MCI, Autism to ASD.",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("age,sex\n1,M\n", "no column of subject ids"),
        ("subject,group\n", "no rows"),
        ("subject,group\na,NC\na,AD\n", "two rows for 'a'"),
        ("subject,group,Group\na,NC,AD\n", "two columns named 'group'"),
        ("subject,group\na,NC\nb,AD,3,4\n", "cannot be read"),
        ("", "empty"),
        (f"subject,group\na,NC\n{'b' * 201},AD\n", "201 characters in a subject's id.*BIOBGT_MAX_ID_CHARACTERS=201"),
    ],
)
def test_bad_tables_get_a_sentence(tmp_path, text, sentence):
    refused(sentence, read_phenotypes, write(tmp_path, text))


def test_what_is_no_workbook_and_what_is_not_there(tmp_path):
    refused("Excel workbook", read_phenotypes, write(tmp_path, "subject,group\n", "p.xlsx"))
    refused("no phenotype table", read_phenotypes, tmp_path / "none.csv")


REGIONS = ["A", "B", "C", "D"]
GROUPS = {"sub-01": "NC", "sub-02": "ASD", "sub-03": "ASD"}


def series_text(seed: int) -> str:
    return pd.DataFrame(np.random.default_rng(seed).standard_normal((30, 4)), columns=REGIONS).to_csv(index=False)


SUBJECTS = {f"{name}.csv": series_text(i) for i, name in enumerate(GROUPS)}
TABLES = {
    "words": "subject,diagnosis,site\nsub-01,Control,NYU\nsub-02,Autism,NYU\nsub-03,Autism,UM\n",
    "numbers": "participant_id,group,age\nsub-01,NC,20\nsub-02,ASD,21.5\nsub-03,ASD,19\n",
    "another name for ids": "code,diagnosis\nsub-01,Control\nsub-02,Autism\nsub-03,Autism\n",
    "semicolons": "Subject;Group;Age\nsub-01;NC;20,5\nsub-02;ASD;21,5\nsub-03;ASD;19,5\n",
    "ids last": "diagnosis,code\nControl,sub-01\nAutism,sub-02\nAutism,sub-03\n",
}


def groups_of(cohort) -> dict[str, str | None]:
    return {subject.id: subject.group for subject in cohort}


def write_all(folder, files: dict[str, str | bytes]):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("way", ["folder", "deep in a folder", "zip", "files"])
def test_a_table_is_found_wherever_it_comes_under_any_name(tmp_path, text, way):
    files = {**SUBJECTS, ("about/them/clinic.csv" if way == "deep in a folder" else "clinic.csv"): text}
    if way == "zip":
        files = {"study.zip": zipped({f"study/{name}": content for name, content in files.items()})}
    named = write_all(tmp_path / "study", files)
    cohort = read_cohort(sorted(named.iterdir()) if way in ("zip", "files") else named)
    assert groups_of(cohort) == GROUPS
    assert (cohort.refused, cohort.unmatched_rows) == ((), ())
    said = any("'clinic.csv' are those of its column 'code'." in note for note in cohort.notes)
    assert said == ("code" in text), "ids under another name are said"


def test_a_workbook_under_any_name(tmp_path):
    write_all(tmp_path, SUBJECTS)
    workbook(tmp_path / "Q3.xlsx", [("subject", "group"), *GROUPS.items()])
    workbook(tmp_path / "costs.xlsx", [("budget", "what"), (1, "pens"), (2, "tea")])
    cohort = read_cohort(tmp_path)
    assert groups_of(cohort) == GROUPS
    assert any("1 × .xlsx" in note for note in cohort.notes)


def test_two_tables_that_agree_are_joined_and_others_are_a_question(tmp_path):
    write_all(tmp_path, {**SUBJECTS, "one.csv": TABLES["words"], "two.csv": "subject,age\nsub-01,20\nsub-02,30\n"})
    cohort = read_cohort(tmp_path)
    assert groups_of(cohort) == GROUPS
    assert cohort["sub-02"].phenotypes == {"site": "NYU", "age": 30}
    (tmp_path / "two.csv").write_text("subject,group\nsub-01,AD\nsub-02,AD\nsub-03,AD\n")
    with pytest.raises(ChoiceNeeded, match=r"disagree on 'group' of 'sub-01': NC and AD") as caught:
        read_cohort(tmp_path)
    assert caught.value.option == "phenotypes"
    assert caught.value.consequences == {"one.csv": "3 rows with site, group", "two.csv": "3 rows with group"}
    assert groups_of(read_cohort(tmp_path, phenotypes="one.csv")) == GROUPS
    assert set(groups_of(read_cohort(tmp_path, phenotypes="two.csv")).values()) == {"AD"}


def test_a_table_alone_gets_a_sentence(tmp_path):
    path = write(tmp_path, TABLES["words"], "clinic.csv")
    refused(r"There is a phenotype table in 'clinic\.csv', and no file of the people", read_cohort, path)


@pytest.mark.parametrize(
    "text",
    [
        series_text(0),
        "1.5,2,3\n4,abc,6\n7,8,9\n",  # a slip in a table of numbers
        "id,A,B\n" + "\n".join(f"{i},{i}.5,{i * i}.25" for i in range(9)),  # an index
        "Node,A,B\nA,1,0.5\nB,0.5,1\n",
        "File\tSub-brick\tMean_1\tMean_3\nf.nii\t0[?]\t1.5\t2.5\nf.nii\t1[?]\t0.5\t1.5\n",
        load_atlas("aal90").table().to_csv(),
        "",
    ],
)
def test_what_is_no_phenotype_table(tmp_path, text):
    (tmp_path / "x.csv").write_text(text)
    assert not TableSearch().holds_phenotypes(tmp_path / "x.csv")
    assert TableSearch().column_of_subjects(tmp_path / "x.csv", list(GROUPS)) is None


def test_row_numbers_are_not_the_subjects_named_by_numbers(tmp_path):
    (tmp_path / "1.csv").write_text("scan,A,B\n" + "\n".join(f"{i},{i % 3}.5,{i % 4}.25" for i in range(1, 9)))
    assert TableSearch().column_of_subjects(tmp_path / "1.csv", ["1", "2", "3"]) is None
    (tmp_path / "t.csv").write_text("nr,sex,a\n1,M,0.5\n2,F,0.1\n")
    assert TableSearch().column_of_subjects(tmp_path / "t.csv", ["1", "2", "3"]) == "nr"


def test_a_slip_in_a_table_of_numbers_is_still_said_by_line(tmp_path):
    write_all(tmp_path, {**SUBJECTS, "sub-04.csv": "A,B,C,D\n1,2,3,4\n1,2,pear,4\n"})
    assert "Line 3, column 3 holds 'pear' where a number" in reasons(read_cohort(tmp_path))["sub-04.csv"]


def test_archives_in_a_folder_are_read(tmp_path):
    first, *others = SUBJECTS
    inner = {f"data/{name}": SUBJECTS[name] for name in others} | {"clinic.csv": TABLES["words"]}
    write_all(tmp_path, {first: SUBJECTS[first], "wave2/more.zip": zipped(inner)})
    cohort = read_cohort(tmp_path)
    assert (groups_of(cohort), cohort.refused) == (GROUPS, ())
    assert cohort["sub-02"].source.file == "wave2/more.zip/data/sub-02.csv"
    (tmp_path / first).unlink()
    assert read_cohort(tmp_path).ids == tuple(GROUPS)[1:], "a folder of nothing but an archive"


def test_archives_in_archives_and_broken_ones_are_refused(tmp_path):
    first, second, _ = SUBJECTS
    outer = zipped({second: SUBJECTS[second], "inner.zip": zipped(SUBJECTS)})
    write_all(tmp_path, {first: SUBJECTS[first], "outer.zip": outer, "cut.zip": zipped(SUBJECTS)[:-50]})
    cohort = read_cohort(tmp_path)
    assert set(cohort.ids) == {"sub-01", "sub-02"}
    assert "not a complete zip archive" in reasons(cohort)["cut.zip"]
    assert "It is an archive in an archive" in reasons(cohort)["outer.zip/inner.zip"]
    assert list(reasons(read_cohort(tmp_path / "outer.zip"))) == ["inner.zip"]


SESSIONS = "_ses-" * 200_000 + "\nx"  # a search that begins anew at each of them takes a quarter of an hour


@pytest.mark.parametrize(
    ("identifier", "person"),
    [("sub-01_ses-2_run-1", "1"), ("0010001_session_1_rest_2", "10001"), ("a_ses-1\nb", "a"), (SESSIONS, "0")],
    ids=["BIDS", "Athena", "two lines", "sessions without end"],
)
def test_a_person_is_what_stands_before_the_session(identifier, person):
    assert _same_person(identifier) == person


def test_an_id_without_end_is_no_subject_of_a_column(tmp_path, monkeypatch):
    """No form of such an id is tried, and the ids beside it are found."""
    compared = []
    monkeypatch.setattr(module, "_same_person", lambda name: compared.append(name) or _same_person(name))
    for name in ("s1", "s2"):
        save_table(tmp_path / f"{name}.csv")
    workbook(tmp_path / "people.xlsx", [["who", "group"], ["s1", "NC"], ["s2", "AD"], ["_ses-" * 50 + "\nx", "AD"]])
    cohort = read_cohort(tmp_path, atlas=numbered_atlas(3))
    assert cohort.ids == ("s1", "s2")
    assert max(map(len, compared)) <= 200
    assert "252 characters in a subject's id" in reasons(cohort)["people.xlsx"]


def phenotypes(**columns) -> Phenotypes:
    table = pd.DataFrame(columns)
    return Phenotypes(table, tuple((name,) for name in table["subject"]))


def test_every_shared_cell_is_compared_once(monkeypatch):
    """Asking a frame for one cell after another takes a minute and a half for two tables of 43 kB."""
    compared = []
    monkeypatch.setattr(module, "_agree", lambda one, other: compared.append(one) or one == other)
    names, scores = [f"s{i}" for i in range(1_000)], {f"c{i}": range(1_000) for i in range(400)}
    one, other = phenotypes(subject=names, **scores), phenotypes(subject=names[::-1], **scores)
    refused("disagree on 'c0' of 's999': 999 and 0", joined, [one, other])
    compared.clear()
    together = joined([one, phenotypes(subject=names, **scores)])
    assert together.table.shape == (1_000, 401)
    assert len(compared) == 400_000


def test_many_small_tables_are_made_one_at_the_end(monkeypatch):
    """A frame made anew for each of them takes a minute and a half for 600 tables."""
    frames = []
    original = module.Phenotypes
    monkeypatch.setattr(module, "Phenotypes", lambda *parts: frames.append(parts) or original(*parts))
    together = joined(phenotypes(subject=[f"p{i}"], group=["NC"], **{f"c{i}": [i]}) for i in range(600))
    assert together.table.shape == (600, 602)
    assert together.table["c599"].notna().sum() == 1
    assert together.table["subject"].tolist() == [f"p{i}" for i in range(600)]
    assert len(frames) == 1


@pytest.mark.parametrize(
    ("limit", "allowed", "found"), [("ROWS", 3, "4 rows"), ("COLUMNS", 4, "5 columns"), ("CELLS", 12, "15 cells")]
)
def test_tables_that_are_too_large_together_are_refused_one_by_one(tmp_path, monkeypatch, limit, allowed, found):
    for name in ("p0", "p1"):
        save_table(tmp_path / f"{name}.csv")
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
    monkeypatch.setattr(module, "read_words", lambda *asked: whole.append(asked))
    (tmp_path / "p.csv").write_text("subject,group\ns1,NC\ns2,AD\n")
    assert module.TableSearch().column_of_subjects(tmp_path / "p.csv", ["s1", "s2"]) is None
    assert not whole
