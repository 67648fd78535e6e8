"""Groups from tables that no two releases write alike."""

import numpy as np
import pandas as pd
import pytest
from joined_tables import joined

from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.readers.phenotypes import match_phenotypes, read_phenotypes


def people(*names: str) -> Cohort:
    return Cohort("c", tuple(Subject(id=name, series=np.ones((2, 2))) for name in names), numbered_atlas(2))


def write(tmp_path, text, name="p.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


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
    matched = match_phenotypes(people("0010001", "0010002"), read_phenotypes(write(tmp_path, text, "p.tsv")))
    assert [subject.group for subject in matched.subjects] == ["NC", "ADHD"]


def test_codes_of_unknown_releases_stay_as_they_are(tmp_path):
    phenotypes = read_phenotypes(write(tmp_path, "subject,group\na,1\nb,2\n"))
    assert phenotypes.table["group"].tolist() == ["1", "2"]
    assert phenotypes.notes == ()


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
    phenotypes = read_phenotypes(write(tmp_path, f"participant_id,group\n{in_table},ASD\nother9,NC\n"))
    matched = match_phenotypes(people(in_files), phenotypes)
    assert matched.subjects[0].group == "ASD"
    assert matched.unmatched_rows == ("other9",)


def test_a_number_that_two_sites_share_matches_nobody(tmp_path):
    phenotypes = read_phenotypes(write(tmp_path, "subject,group\nNYU_001,ASD\nUCLA_001,NC\n"))
    matched = match_phenotypes(people("001", "UCLA_001"), phenotypes)
    assert [subject.group for subject in matched.subjects] == [None, "NC"]
    assert matched.unmatched_subjects == ("001",)


@pytest.mark.parametrize(
    ("files", "table"),
    [
        (("HC_01",), "PAT_01,ASD"),
        (("HC01",), "PAT01,ASD"),
        (("001_cc200", "002_cc200"), "200,ASD"),
        (("S01_run1", "S02_run1"), "1,ASD"),
        (("NYU_7", "UCLA_7"), "7,ASD"),
    ],
)
def test_numbers_that_are_not_the_persons_match_nobody(tmp_path, files, table):
    matched = match_phenotypes(people(*files), read_phenotypes(write(tmp_path, f"subject,group\n{table}\n")))
    assert matched.unmatched_subjects == files


def test_a_row_taken_by_its_own_subject_is_not_given_again(tmp_path):
    phenotypes = read_phenotypes(write(tmp_path, "subject,group\n7,ASD\n"))
    matched = match_phenotypes(people("7", "NYU_7"), phenotypes)
    assert [subject.group for subject in matched.subjects] == ["ASD", None]


def test_matches_by_number_alone_are_said(tmp_path):
    matched = match_phenotypes(people("NYU_0050952"), read_phenotypes(write(tmp_path, "subject,group\n50952,ASD\n")))
    assert matched.notes == (
        "Matched to the phenotype table by the number in their ids alone: 1 subject, such as 'NYU_0050952' to '50952'.",
    )


def test_an_ending_that_all_files_share_is_no_part_of_the_id(tmp_path):
    phenotypes = read_phenotypes(write(tmp_path, "Participant ID,dx\np00,NC\np01,ASD\np2,ASD\n"))
    matched = match_phenotypes(people("p00_mean_ts", "p01_mean_ts"), phenotypes)
    assert [subject.group for subject in matched.subjects] == ["NC", "ASD"]
    assert matched.unmatched_rows == ("p2",)
    assert "'_mean_ts' at the end of their names" in matched.notes[0]


@pytest.mark.parametrize("files", [("p00_ts",), ("p00_ts", "p01_fc"), ("p00ts", "p01ts")])
def test_an_ending_of_one_file_or_without_a_separator_is_part_of_the_id(tmp_path, files):
    phenotypes = read_phenotypes(write(tmp_path, "participant,dx\np00,NC\np01,ASD\n"))
    assert match_phenotypes(people(*files), phenotypes).unmatched_subjects == files


def test_spreadsheets_turn_ids_and_codes_into_decimals_and_leave_empty_rows(tmp_path):
    frame = pd.DataFrame({"subject": [50952.0, 50953.0, np.nan], "group": [1.0, np.nan, np.nan]})
    frame.to_excel(tmp_path / "p.xlsx", index=False)
    frame.to_csv(tmp_path / "p.csv", index=False)
    for name in ("p.xlsx", "p.csv"):
        matched = match_phenotypes(people("50952", "50953"), read_phenotypes(tmp_path / name))
        assert [subject.group for subject in matched.subjects] == ["1", None]
        assert matched.unmatched_rows == ()


@pytest.mark.parametrize(("codes", "groups"), [(("ASD", "TC"), ["ASD", "NC"]), (("0", "1"), ["0", "1"])])
def test_codes_that_are_not_the_releases_own_are_left_alone(tmp_path, codes, groups):
    text = f"SUB_ID,DX_GROUP,SITE_ID\n1,{codes[0]},X\n2,{codes[1]},X\n"
    phenotypes = read_phenotypes(write(tmp_path, text))
    assert phenotypes.table["group"].tolist() == groups
    assert not any("ABIDE" in note for note in phenotypes.notes)


def test_semicolons_in_cells_are_no_separators(tmp_path):
    phenotypes = read_phenotypes(write(tmp_path, 'subject,group,meds\n50952,ASD,"a;b"\n50953,NC,"c, d"\n'))
    assert phenotypes.table["meds"].tolist() == ["a;b", "c, d"]


def test_trailing_separators_shift_nothing(tmp_path):
    phenotypes = read_phenotypes(write(tmp_path, "subject,group\na,NC,\nb,AD,\n"))
    assert phenotypes.table["subject"].tolist() == ["a", "b"]


def test_tables_of_the_same_subjects_are_put_side_by_side(tmp_path):
    groups = read_phenotypes(write(tmp_path, "subject,group\na,NC\nb,AD\n", "1.csv"))
    ages = read_phenotypes(write(tmp_path, "subject,age\na,70\nb,80\n", "2.csv"))
    matched = match_phenotypes(people("a", "b"), joined([groups, ages]))
    assert [subject.group for subject in matched.subjects] == ["NC", "AD"]
    assert [subject.phenotypes["age"] for subject in matched.subjects] == [70, 80]
    other = read_phenotypes(write(tmp_path, "subject,group\na,AD\n", "3.csv"))
    with pytest.raises(InputError, match="disagree on 'group' of 'a'"):
        joined([groups, other])


def test_group_names_are_translated_and_said(tmp_path):
    text = "subject,Diagnosis\na,Control\nb,LMCI\nc,Autism\nd,n/a\ne,Schizophrenia\n"
    phenotypes = read_phenotypes(write(tmp_path, text))
    matched = match_phenotypes(people("a", "b", "c", "d", "e"), phenotypes)
    assert [subject.group for subject in matched.subjects] == ["NC", "MCI", "ASD", None, "Schizophrenia"]
    assert phenotypes.notes == ("Groups renamed: Control to NC, LMCI to MCI, Autism to ASD.",)


def test_excel_and_semicolons_and_decimal_commas(tmp_path):
    pd.DataFrame({"participant_id": ["sub-1", "sub-2"], "group": ["AD", "NC"], "age": [70.5, 66]}).to_excel(
        tmp_path / "p.xlsx", index=False
    )
    semicolons = write(tmp_path, "participant_id;group;age\nsub-1;AD;70,5\nsub-2;NC;66,0\n")
    for path in (tmp_path / "p.xlsx", semicolons):
        matched = match_phenotypes(people("sub-1", "sub-2"), read_phenotypes(path))
        assert [subject.group for subject in matched.subjects] == ["AD", "NC"]
        assert matched.subjects[0].phenotypes["age"] == 70.5


def test_one_table_a_subject_is_joined(tmp_path):
    tables = [
        read_phenotypes(write(tmp_path, f"Subj,DX\nsub-{i},{dx}\n", f"{i}.csv"))
        for i, dx in enumerate(["ADHD", "Control"])
    ]
    matched = match_phenotypes(people("sub-0", "sub-1"), joined(tables))
    assert [subject.group for subject in matched.subjects] == ["ADHD", "NC"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("age,sex\n1,M\n", "no column of subject ids"),
        ("subject,group\n", "no rows"),
        ("subject,group\na,NC\na,AD\n", "two rows for 'a'"),
        ("subject,group,Group\na,NC,AD\n", "two columns named 'group'"),
        ("subject,group\na,NC\nb,AD,3,4\n", "cannot be read"),
        ("", "empty"),
    ],
)
def test_bad_tables_get_a_sentence(tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_phenotypes(write(tmp_path, text))


def test_what_is_no_workbook_and_what_is_not_there(tmp_path):
    with pytest.raises(InputError, match="Excel workbook"):
        read_phenotypes(write(tmp_path, "subject,group\n", "p.xlsx"))
    with pytest.raises(InputError, match="no phenotype table"):
        read_phenotypes(tmp_path / "none.csv")
