"""Uploaded files end as subjects, or as a sentence; questions are asked and answered; sessions do not share them."""

import io
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_contents import array, as_shown, assert_no_error, badges, captions, figure
from uploads import Brought, read_brought, safe_name, safe_path

from biobgt import ChoiceNeeded, InputError, functional_connectivity


@dataclass(frozen=True)
class Uploaded:
    name: str
    content: bytes

    @property
    def file_id(self) -> str:
        return self.name

    def getbuffer(self) -> memoryview:
        return memoryview(self.content)


def abide_text(series: np.ndarray) -> bytes:
    header = "\t".join(f"#{i}" for i in range(1, series.shape[1] + 1))
    rows = ("\t".join(f"{value:.6f}" for value in row) for row in series)
    return "\n".join([header, *rows, ""]).encode()


@pytest.fixture
def series(rng) -> np.ndarray:
    return rng.standard_normal((120, 3, 200)).cumsum(axis=0).round(6)


@pytest.fixture
def abide(series) -> list[Uploaded]:
    return [Uploaded(f"Site_005000{i}_rois_cc200.1D", abide_text(series[:, i])) for i in range(3)]


PHENOTYPES = Uploaded("groups.csv", b"subject,group\nSite_0050000,ASD\nSite_0050001,control\nSite_0059999,ASD\n")
BROKEN = Uploaded("broken.1D", b"#1\t#2\n1.0\tpear\n2.0\t3.0\n")


def upload(page, *files: Uploaded, phenotypes: Uploaded | None = None):
    if phenotypes is not None:
        page.file_uploader(key="phenotypes0").set_value((phenotypes.name, phenotypes.content, "text/csv"))
    page.file_uploader(key="files0").set_value([(file.name, file.content, "") for file in files])
    return page.run()


def test_files_become_the_cohort_that_is_shown(open_page, abide, series) -> None:
    page = upload(open_page("subjects"), *abide, phenotypes=PHENOTYPES)
    assert_no_error(page)
    assert page.selectbox(key="cohort").value == "own"
    assert list(page.selectbox(key="subject").options) == [
        "Site_0050000 · ASD",
        "Site_0050001 · NC",
        "Site_0050002",
    ]
    assert as_shown(page.success[0].value) == "Read 3 subjects on Craddock CC200: 1 NC, 1 ASD, 1 without a group."
    assert [text.value for text in page.text] == ["Site_0050002", "Site_0059999"]
    assert badges(page) == 0
    page.selectbox(key="region_order").select("atlas")
    page.selectbox(key="subject").select("Site_0050001").run()
    shown = array(figure(page, "connectivity")["data"][0]["z"])
    np.testing.assert_allclose(shown, functional_connectivity(series[:, 1]), atol=1e-6)
    assert "cohort" not in page.query_params
    assert "subject" not in page.query_params


def test_own_subjects_stay_when_pages_change_and_go_when_forgotten(open_page, abide) -> None:
    page = upload(open_page("subjects"), *abide)
    page.switch_page("views/home.py").run()
    assert page.selectbox(key="subject").value == "Site_0050000"
    page.switch_page("views/subjects.py").run()
    assert page.selectbox(key="subject").value == "Site_0050000"
    next(button for button in page.button if button.label == "Forget these subjects").click().run()
    assert_no_error(page)
    assert page.selectbox(key="cohort").value == "asd"
    assert "own" not in page.selectbox(key="cohort").options
    assert page.query_params["subject"] == ["sim-NC-001"] or page.query_params["subject"] == "sim-NC-001"


def test_two_sessions_never_share_subjects(open_page, abide) -> None:
    mine = upload(open_page("subjects"), *abide[:1])
    yours = upload(open_page("subjects"), *abide[1:2])
    third = open_page("subjects")
    for page in (mine, yours, third):
        page.run()
    assert list(mine.selectbox(key="subject").options) == ["Site_0050000"]
    assert list(yours.selectbox(key="subject").options) == ["Site_0050001"]
    assert not any(option.startswith("Your") for option in third.selectbox(key="cohort").options)
    assert "Site_005" not in captions(third)


def test_broken_file_is_refused_with_its_reason_and_the_rest_is_read(open_page, abide) -> None:
    page = upload(open_page("subjects"), *abide, BROKEN)
    assert_no_error(page)
    refused = page.table[0].value.map(as_shown)
    assert refused.to_dict("records") == [
        {"File": "broken.1D", "Why it was refused": "Line 2, column 2 holds 'pear' where a number belongs."}
    ]
    assert len(page.selectbox(key="subject").options) == 3


def test_only_broken_files_end_in_a_sentence_and_the_demo_stays(open_page) -> None:
    page = upload(open_page("subjects"), BROKEN)
    (error,) = page.error
    assert "'broken.1D' could not be read. Line 2, column 2 holds 'pear'" in as_shown(error.value)
    assert page.selectbox(key="cohort").value == "asd"


def test_unknown_kind_of_file_is_refused_by_name(open_page, abide) -> None:
    page = upload(open_page("subjects"), *abide, Uploaded("notes.pdf", b"%PDF-1.4"))
    refused = page.table[0].value.map(as_shown)
    assert refused["File"].tolist() == ["notes.pdf"]
    assert "not read" in refused["Why it was refused"][0]


def test_question_is_asked_answered_and_asked_again(open_page, rng) -> None:
    table = rng.standard_normal((40, 30)).round(4)
    text = "\n".join(",".join(map(str, row)) for row in table.tolist()).encode()
    page = upload(open_page("subjects"), Uploaded("subject.csv", text))
    assert not page.error
    (question,) = page.radio
    assert as_shown(question.label).startswith("The table 'subject.csv' has 40 rows and 30 columns")
    assert page.selectbox(key="cohort").value == "asd"
    question.set_value("region-time").run()
    assert_no_error(page)
    assert not page.radio
    shown = array(figure(page, "connectivity")["data"][0]["z"])
    np.testing.assert_allclose(shown, functional_connectivity(table.T), atol=1e-6)
    next(button for button in page.button if button.label == "Ask me again").click().run()
    page.radio[0].set_value("time-region").run()
    assert array(figure(page, "connectivity")["data"][0]["z"]).shape == (30, 30)


def test_phenotype_table_dropped_with_the_data_is_found(open_page, abide) -> None:
    page = upload(open_page("subjects"), *abide, Uploaded("clinic.csv", PHENOTYPES.content))
    assert_no_error(page)
    assert as_shown(page.success[0].value) == "Read 3 subjects on Craddock CC200: 1 NC, 1 ASD, 1 without a group."
    assert page.session_state["own_cohort"].cohort.refused == ()


def test_one_of_two_tables_is_chosen(open_page, abide) -> None:
    other = Uploaded("other.csv", b"subject,group\nSite_0050000,AD\nSite_0050001,AD\n")
    page = upload(open_page("subjects"), *abide, Uploaded("clinic.csv", PHENOTYPES.content), other)
    question = question_of(page)
    assert list(map(as_shown, question.options)) == ["clinic.csv", "other.csv"]
    question.set_value("other.csv").run()
    assert_no_error(page)
    assert [subject.group for subject in page.session_state["own_cohort"].cohort] == ["AD", "AD", None]


def test_zip_in_a_folder_is_read(open_page, abide) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(abide[1].name, abide[1].content)
    page = open_page("subjects")
    files = [(f"study/{abide[0].name}", abide[0].content, ""), ("study/rest.zip", archive.getvalue(), "")]
    page.file_uploader(key="folder0").set_value(files)
    page.run()
    assert_no_error(page)
    assert page.session_state["own_cohort"].cohort.ids == ("Site_0050000", "Site_0050001")


def nameless(values: np.ndarray) -> bytes:
    data = io.BytesIO()
    np.save(data, values)
    return data.getvalue()


def question_of(page):
    return next(radio for radio in page.radio if radio.key.startswith("answer_"))


def test_axes_and_atlas_of_a_nameless_table_are_two_questions(open_page, bold) -> None:
    """200 regions by 100 time points: neither the axis nor the atlas is taken from the number 200."""
    series = bold(100, 200)
    page = upload(open_page("subjects"), Uploaded("scan.npy", nameless(series.T)))
    assert not page.success
    question = question_of(page)
    assert question.key == "answer_orientation"
    shown = as_shown(question.label)
    assert "has 200 rows and 100 columns" in shown
    assert "which suggests that the columns are time points: in 2,278 of 2,278 real series" in shown
    assert [as_shown(text) for text in question.proto.captions] == [
        "200 time points of 100 regions",
        "100 time points of 200 regions",
    ]
    question.set_value("region-time").run()
    assert not page.success
    question = question_of(page)
    assert question.key == "answer_atlas"
    assert list(question.options) == ["Craddock CC200", "another atlas, or not known"]
    assert "no model applies" in as_shown(question.proto.captions[1])
    question.set_value("unknown").run()
    assert_no_error(page)
    cohort = page.session_state["own_cohort"].cohort
    assert (cohort.atlas.name, cohort.subjects[0].n_timepoints) == ("unknown200", 100)
    assert "decided by the user" in captions(page)
    next(button for button in page.button if button.label == "Ask me again").click().run()
    question_of(page).set_value("region-time").run()
    question_of(page).set_value("cc200").run()
    cohort = page.session_state["own_cohort"].cohort
    assert cohort.atlas.name == "cc200"
    np.testing.assert_array_equal(cohort.subjects[0].series, series)


def test_answer_is_not_taken_for_a_file_that_comes_later(open_page, bold) -> None:
    first, second = (Uploaded(f"{name}.npy", nameless(bold(60, 70))) for name in "ab")
    page = upload(open_page("subjects"), first)
    question_of(page).set_value("time-region").run()
    assert page.session_state["own_cohort"].cohort.ids == ("a",)
    upload(page, first, second)
    assert "further file" in as_shown(question_of(page).label)
    assert page.session_state["own_cohort"].cohort.ids == ("a",)
    question_of(page).set_value("time-region").run()
    assert page.session_state["own_cohort"].cohort.ids == ("a", "b")


def test_atlas_that_files_name_is_said_with_what_decided(open_page, abide) -> None:
    page = upload(open_page("subjects"), *abide[:1])
    assert "Atlas: Craddock CC200, told by ABIDE's file names (rois_cc200)." in captions(page)
    assert "Craddock CC200: decided by ABIDE's file names (rois_cc200)." in captions(page)


def test_choices_named_by_a_file_are_not_markdown(open_page, rng) -> None:
    data = io.BytesIO()
    np.savez(data, **{"**bold**": rng.random((30, 200)), "plain": rng.random((30, 200))})
    page = upload(open_page("subjects"), Uploaded("two.npz", data.getvalue()))
    assert page.radio[0].options == ["\\*\\*bold\\*\\*", "plain"]


def test_matrices_have_no_series_and_say_so(open_page, rng) -> None:
    matrix = np.corrcoef(rng.standard_normal((90, 200)))
    data = io.BytesIO()
    np.save(data, matrix)
    page = upload(open_page("subjects"), Uploaded("matrix_aal90.npy", data.getvalue()))
    assert_no_error(page)
    assert "connectivity matrix" in page.info[0].value
    page.selectbox(key="estimator").select("partial").run()
    assert "needs its series" in page.error[0].value
    assert page.success  # the rest of the page is there


def test_zip_and_own_atlas(rng) -> None:
    matrix = np.corrcoef(rng.standard_normal((7, 100)))
    text = "\n".join(",".join(map(str, row)) for row in matrix.tolist())
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("lab/sub-01.csv", text)
        file.writestr("../outside.csv", text)
    atlas = b"x,y,z,label,network\n" + b"".join(b"%d,0,0,R%d,N%d\n" % (i, i, i % 2) for i in range(7))
    cohort = read_brought(
        Brought([Uploaded("lab.zip", archive.getvalue())], atlas_table=Uploaded("mine.csv", atlas)), name="Your files"
    )
    assert cohort.ids == ("sub-01",)
    assert cohort.atlas.labelling("network")[:2] == ("N0", "N1")
    assert [refusal.file for refusal in cohort.refused] == ["../outside.csv"]


def test_files_of_one_name_are_both_read(abide) -> None:
    twins = [Uploaded("rois.1D", abide[0].content), Uploaded("rois.1D", abide[1].content)]
    assert len(read_brought(Brought(twins, atlas="cc200"), name="Your files")) == 2


def test_folder_keeps_its_sub_folders(open_page, abide, series) -> None:
    """As browsers send it: every file by its path from the folder that was chosen, hidden ones and all."""
    page = open_page("subjects")
    files = {
        "study/NC/s1/rois.1D": abide[0].content,
        "study/NC/s2/rois.1D": abide[1].content,
        "study/participants.tsv": b"participant_id\tgroup\ns1\tcontrol\ns2\tASD\n",
        "study/NC/s1/rois.json": b"{}",
        "study/report.html": b"<html>",
        "study/.git/config": b"x",
        "study/.hidden.1D": abide[2].content,
        "study/../../outside.1D": abide[2].content,
    }
    page.selectbox(key="atlas0").set_value("cc200")
    page.file_uploader(key="folder0").set_value([(name, content, "") for name, content in files.items()])
    page.run()
    assert_no_error(page)
    cohort = page.session_state["own_cohort"].cohort
    assert {subject.id: subject.group for subject in cohort} == {"s1": "NC", "s2": "ASD"}
    assert [subject.source.file for subject in cohort] == ["study/NC/s1/rois.1D", "study/NC/s2/rois.1D"]
    np.testing.assert_array_equal(cohort["s2"].series, series[:, 1])
    assert "Left aside as not data: 1 × .json, 1 × .html." in captions(page)
    assert cohort.refused == ()


@pytest.mark.parametrize("files", [[BROKEN], [], [Uploaded("subject.csv", b"1,2,3\n4,5,7\n8,9,1\n2,2,1\n")]])
def test_nothing_stays_on_the_disk(files, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises((InputError, ChoiceNeeded)) as caught:
        read_brought(Brought(files), name="Your files")
    assert str(tmp_path) not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("sub-01.1D", "sub-01.1D"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\x\\sub.csv", "sub.csv"),
        (".hidden.csv", "hidden.csv"),
        ("..", "file"),
        ("", "file"),
        ("a\x00b\n.csv", "a_b_.csv"),
        ("x" * 400 + ".nii.gz", "x" * 143 + ".nii.gz"),
    ],
)
def test_safe_name(name, safe) -> None:
    assert safe_name(name) == safe


@given(name=st.text())
def test_safe_name_stays_in_its_folder(name) -> None:
    folder = Path("folder").resolve()
    assert (folder / safe_name(name)).resolve().parent == folder


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("study/sub-01/x.tsv", "study/sub-01/x.tsv"),
        ("a\\b.csv", "a/b.csv"),
        ("/etc/passwd.csv", "etc/passwd.csv"),
        ("C:/x/y.csv", "C_/x/y.csv"),
        ("x.csv", "x.csv"),
        (".hidden.csv", "hidden.csv"),
        ("study/.DS_Store", None),
        ("study/.git/x.csv", None),
        ("../x.csv", None),
        ("study/../../x.csv", None),
        ("a/" * 40 + "x.csv", "a/" * 11 + "x.csv"),
    ],
)
def test_safe_path(name, place) -> None:
    assert safe_path(name) == (None if place is None else Path(place))


@given(name=st.text(alphabet="a./\\ :\x00~-", max_size=30))
def test_safe_path_stays_in_its_folder(name) -> None:
    folder = Path("folder").resolve()
    place = safe_path(name)
    assert place is None or folder in (folder / place).resolve().parents


def test_file_in_the_place_of_a_folder_is_a_sentence(abide) -> None:
    with pytest.raises(InputError, match=r"'x\.1D' could not be put aside"):
        read_brought(Brought([Uploaded("a", b"1"), Uploaded("a/x.1D", abide[0].content)]), name="Your files")
