"""Phenotype tables are known by what is in them; archives in a folder are opened."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from biobgt import ChoiceNeeded, InputError, read_cohort
from biobgt.data.atlas import load_atlas
from biobgt.readers.phenotypes import TableSearch

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


def write_all(folder, files: dict[str, str]):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def zipped(files: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize("text", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("way", ["folder", "deep in a folder", "zip", "files"])
def test_a_table_is_found_wherever_it_comes_under_any_name(tmp_path, text, way):
    table = {"deep in a folder": "about/them/clinic.csv"}.get(way, "clinic.csv")
    write_all(tmp_path / "study", {**SUBJECTS, table: text})
    named = tmp_path / "study"
    if way == "zip":
        named = tmp_path / "study.zip"
        named.write_bytes(zipped({f"study/{name}": content for name, content in {**SUBJECTS, table: text}.items()}))
    elif way == "files":
        named = sorted((tmp_path / "study").iterdir())
    cohort = read_cohort(named)
    assert groups_of(cohort) == GROUPS
    assert cohort.refused == ()
    assert cohort.unmatched_rows == ()


def test_a_workbook_under_any_name(tmp_path):
    write_all(tmp_path, SUBJECTS)
    pd.DataFrame({"subject": list(GROUPS), "group": list(GROUPS.values())}).to_excel(tmp_path / "Q3.xlsx", index=False)
    pd.DataFrame({"budget": [1, 2], "what": ["pens", "tea"]}).to_excel(tmp_path / "costs.xlsx", index=False)
    cohort = read_cohort(tmp_path)
    assert groups_of(cohort) == GROUPS
    assert any("1 × .xlsx" in note for note in cohort.notes)


def test_ids_under_another_name_are_said(tmp_path):
    write_all(tmp_path, {**SUBJECTS, "clinic.csv": TABLES["another name for ids"]})
    assert "Subject ids in 'clinic.csv' are those of its column 'code'." in read_cohort(tmp_path).notes


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
    write_all(tmp_path, {"clinic.csv": TABLES["words"]})
    with pytest.raises(InputError, match=r"There is a phenotype table in 'clinic\.csv', and no file of the people"):
        read_cohort(tmp_path / "clinic.csv")


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
    cohort = read_cohort(tmp_path)
    why = "Line 3, column 3 holds 'pear' where a number belongs. Correct it, or write NaN where a value is missing."
    assert [(item.file, item.reason) for item in cohort.refused] == [("sub-04.csv", why)]


def test_archives_in_a_folder_are_read(tmp_path):
    names = list(SUBJECTS)
    write_all(tmp_path, {names[0]: SUBJECTS[names[0]]})
    (tmp_path / "wave2").mkdir()
    inner = {f"data/{name}": SUBJECTS[name] for name in names[1:]} | {"clinic.csv": TABLES["words"]}
    (tmp_path / "wave2" / "more.zip").write_bytes(zipped(inner))
    cohort = read_cohort(tmp_path)
    assert groups_of(cohort) == GROUPS
    assert cohort["sub-02"].source.file == "wave2/more.zip/data/sub-02.csv"
    assert cohort.refused == ()


def test_a_folder_of_nothing_but_an_archive(tmp_path):
    (tmp_path / "study.zip").write_bytes(zipped(SUBJECTS))
    assert read_cohort(tmp_path).ids == tuple(GROUPS)


def test_archives_in_archives_and_broken_ones_are_refused(tmp_path):
    write_all(tmp_path, {"sub-01.csv": SUBJECTS["sub-01.csv"]})
    (tmp_path / "outer.zip").write_bytes(zipped({"sub-02.csv": SUBJECTS["sub-02.csv"], "inner.zip": zipped(SUBJECTS)}))
    (tmp_path / "cut.zip").write_bytes(zipped(SUBJECTS)[:-50])
    cohort = read_cohort(tmp_path)
    assert cohort.ids == ("sub-02", "sub-01") or cohort.ids == ("sub-01", "sub-02")
    refused = {item.file: item.reason for item in cohort.refused}
    assert "not a complete zip archive" in refused["cut.zip"]
    assert refused["outer.zip/inner.zip"] == "It is an archive in an archive, which is not opened. Unpack it first."
    direct = read_cohort(tmp_path / "outer.zip")
    assert [item.file for item in direct.refused] == ["inner.zip"]
