"""Uploaded files end as subjects, or as a sentence; questions are asked and answered; sessions do not share them."""

import errno
import io
import json
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from new_objects import bundle_of, captions_of, numbers_of
from page_contents import address_of, as_shown, assert_no_error, badges, captions, figure, matrix, words
from page_hands import (
    BROKEN,
    N_REGIONS,
    Uploaded,
    bring,
    cohort_of,
    csv_file,
    edit,
    groups_of,
    press,
    table_file,
    turn_to,
    visit,
)

from biobgt import ChoiceNeeded, Cohort, InputError, Subject, brain_graph, functional_connectivity, load_atlas
from biobgt.base.references import REFERENCES, Reference
from biobgt.data import connectivity as connectome
from biobgt.data.atlas import BUNDLED, BundledAtlas, numbered_atlas
from biobgt.data.edits import remove_subjects, set_groups
from biobgt.export.bundle import _make_figure
from biobgt.hubs import hub_table
from biobgt.readers import READERS, Reader, readable_suffixes
from biobgt.readers.measurement import Reading
from session.cohorts import UploadedFiles, _safe_name, _safe_path, _write_all, read_uploaded, take_in
from session.view import EXPORT_LIST
from views.page_map import PAGES

PHENOTYPES = Uploaded("groups.csv", b"subject,group\nSite_0050000,ASD\nSite_0050001,control\nSite_0059999,ASD\n")
REGIONS = ("Left shore", "Right shore", "North hill", "South hill", "Old town", "New town", "Harbour")
CRUSOE = Reference("crusoe1719", "book", {"author": "Crusoe, Robinson", "year": "1719"})
EDITED = {"sub-00": "AD", "sub-02": "ASD", "sub-03": None}


def test_files_become_the_cohort_that_is_shown(open_page, abide, recordings) -> None:
    page = bring(open_page("subjects"), *abide, phenotypes=PHENOTYPES)
    assert page.selectbox(key="cohort").value == "own"
    assert list(page.selectbox(key="subject").options) == ["Site_0050000 · ASD", "Site_0050001 · NC", "Site_0050002"]
    assert words(page.success) == "Read 3 subjects on Craddock CC200: 1 NC, 1 ASD, 1 without a group."
    assert [text.value for text in page.text] == ["Site_0050002", "Site_0059999"]  # unmatched
    assert badges(page) == 0
    for said in ("Atlas: Craddock CC200, told by", "Craddock CC200: decided by"):
        assert f"{said} ABIDE's file names (rois_cc200)." in captions(page)
    page.selectbox(key="region_order").select("atlas")
    page.selectbox(key="subject").select("Site_0050001").run()
    np.testing.assert_allclose(matrix(page), functional_connectivity(recordings[:, 1]), atol=1e-6)
    assert "cohort" not in page.query_params
    assert "subject" not in page.query_params


def test_connectivity_is_estimated_once_per_uploaded_subject(open_page, abide, monkeypatch) -> None:
    asked, estimate = [], connectome._correlation_of
    page = open_page("subjects")
    monkeypatch.setattr(connectome, "_correlation_of", lambda series: asked.append(0) or estimate(series))
    bring(page, *abide)
    for name in ("home", "hubs", "modules", "subjects"):
        page.switch_page(PAGES[name].script).run()
    assert len(asked) == 3


def test_own_subjects_stay_when_pages_change_and_go_when_forgotten(open_page, abide) -> None:
    page = bring(open_page("subjects"), *abide)
    visit(page, "home")
    assert page.selectbox(key="subject").value == "Site_0050000"
    visit(page, "subjects")
    assert page.selectbox(key="subject").value == "Site_0050000"
    assert "This removes 3 subjects and the groups and answers that you gave." in words(page.markdown)
    press(page, "Forget these subjects")
    assert page.selectbox(key="cohort").value == "asd"
    assert "own" not in page.selectbox(key="cohort").options
    assert "own_cohort" not in page.session_state
    assert address_of(page)["subject"] == "sim-NC-001"


def uploader(page):
    """The fold that holds the uploaders."""
    return next(fold for fold in page.main.expander if "Add " in fold.label)


def test_uploader_folds_away_once_files_are_there_and_reasons_of_those_refused_come_next(open_page, abide) -> None:
    page = open_page("subjects")
    assert (uploader(page).label, uploader(page).proto.expanded) == ("Add your own subjects", True)
    bring(page, *abide, BROKEN, Uploaded("notes.pdf", b"%PDF-1.4"))
    assert (uploader(page).label, uploader(page).proto.expanded) == ("Add or remove files: 5 files added", False)
    order = [element.type for element in page.main if element.type in ("expander", "success", "warning", "table")]
    assert order[:4] == ["expander", "success", "warning", "table"], "what was read and refused comes next"
    refused = page.table[0].value.map(as_shown).set_index("File")["Why it was refused"].sort_index()
    assert list(refused.index) == ["broken.1D", "notes.pdf"]
    assert refused["broken.1D"].startswith("Line 2, column 2 holds 'pear' where a number belongs.")
    assert "not read" in refused["notes.pdf"]
    assert len(page.selectbox(key="subject").options) == 3
    press(page, "Forget these subjects")
    assert (uploader(page).label, uploader(page).proto.expanded) == ("Add your own subjects", True)


def waiting_files(page) -> list[list[str]]:
    return [
        list(row)
        for table in page.dataframe
        if "State" in table.value
        for row in table.value[["File", "State"]].to_numpy()
    ]


def test_page_shows_the_state_of_the_files_the_phenotype_box_and_no_demo_while_it_asks(
    open_page, bold, may_fail
) -> None:
    page = open_page("subjects")
    assert "Quality" in headings(page)
    bring(page, Uploaded("scan.npy", nameless(bold(60, 70))))
    assert waiting_files(page) == [["scan.npy", "waiting for your answer"]]
    assert len(answers(page)) == 2
    folded = {one.key for fold in page.main.expander for one in (*fold.button, *fold.file_uploader)}
    asked = {"phenotypes0", *(one.key for one in answers(page))}
    assert not folded & asked, "question and phenotypes stand outside the folded uploader"
    assert "Your files" in headings(page)
    assert not {"Quality", "sim-NC-001"} & headings(page)
    answer(page, "rows are time points")
    assert_no_error(page)
    assert waiting_files(page) == []
    assert "Quality" in headings(page)
    assert "scan" in figure(page, "connectivity")["layout"]["title"]["text"]
    bring(page, BROKEN)
    assert waiting_files(page) == [["broken.1D", "could not be read"]]
    assert page.file_uploader(key="phenotypes0")
    page.file_uploader(key="files0").set_value([])
    page.run()
    assert waiting_files(page) == []
    assert not page.error


def headings(page) -> set[str]:
    return {as_shown(heading.value) for heading in page.main.subheader}


def test_one_of_two_tables_is_chosen(open_page, abide) -> None:
    other = Uploaded("other.csv", b"subject,group\nSite_0050000,AD\nSite_0050001,AD\n")
    page = bring(open_page("subjects"), *abide, Uploaded("clinic.csv", PHENOTYPES.content), other)
    assert [label.partition(":")[0] for label in labels(page)] == ["clinic.csv", "other.csv"]
    answer(page, "other.csv")
    assert [subject.group for subject in cohort_of(page)] == ["AD", "AD", None]


def zipped(files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return archive.getvalue()


def nameless(values: np.ndarray) -> bytes:
    data = io.BytesIO()
    np.save(data, values)
    return data.getvalue()


def answers(page) -> list:
    """The buttons that answer the reader's question."""
    return [button for button in page.button if button.key and button.key.startswith("answer_")]


def labels(page) -> list[str]:
    return [as_shown(button.label).replace("**", "") for button in answers(page)]


def answer(page, start: str):
    next(button for button, label in zip(answers(page), labels(page), strict=True) if label.startswith(start)).click()
    return page.run()


def test_axes_and_atlas_of_a_nameless_table_are_two_questions(open_page, bold) -> None:
    """200 regions by 100 time points: neither the axis nor the atlas is taken from the number 200."""
    series = bold(100, 200)
    page = bring(open_page("subjects"), Uploaded("scan.npy", nameless(series.T)))
    assert not page.success
    shown = words(page.main.markdown)
    assert "has 200 rows and 100 columns" in shown
    assert "which suggests that the columns are time points: in 2,278 of 2,278 real series" in shown
    assert [label.partition(": ")[2] for label in labels(page)] == [
        "200 time points of 100 regions",
        "100 time points of 200 regions",
    ]
    answer(page, "rows are regions")
    assert not page.success
    assert [label.partition(": ")[0] for label in labels(page)] == [
        "Craddock CC200",
        "Schaefer 200, 7-network order",
        "Schaefer 200, 17-network order",
        "Another atlas, or not known",
    ]
    assert "no model applies" in labels(page)[-1]
    answer(page, "Another atlas")
    cohort = cohort_of(page)
    assert (cohort.atlas.name, cohort.subjects[0].n_timepoints) == ("unknown200", 100)
    assert "decided by the user" in captions(page)
    press(page, "Ask me again")
    answer(page, "rows are regions")
    answer(page, "Craddock CC200")
    cohort = cohort_of(page)
    assert cohort.atlas.name == "cc200"
    np.testing.assert_array_equal(cohort.subjects[0].series, series)


def test_answer_is_not_taken_for_a_file_that_comes_later(open_page, bold) -> None:
    first, second = (Uploaded(f"{name}.npy", nameless(bold(60, 70))) for name in "ab")
    page = bring(open_page("subjects"), first)
    answer(page, "rows are time points")
    assert cohort_of(page).ids == ("a",)
    bring(page, first, second)
    assert "further file" in words(page.main.markdown)
    assert cohort_of(page).ids == ("a",)
    answer(page, "rows are time points")
    assert cohort_of(page).ids == ("a", "b")


def test_choices_named_by_a_file_are_not_markdown(open_page, rng) -> None:
    data = io.BytesIO()
    np.savez(data, **{"**bold**": rng.random((30, 200)), "plain": rng.random((30, 200))})
    page = bring(open_page("subjects"), Uploaded("two.npz", data.getvalue()))
    assert [button.label for button in answers(page)] == ["**\\*\\*bold\\*\\***", "**plain**"]


def test_matrices_have_no_series_and_say_so(open_page, rng, may_fail) -> None:
    correlations = np.corrcoef(rng.standard_normal((90, 20)))  # some of them above the threshold
    page = bring(open_page("subjects"), Uploaded("matrix_aal90.npy", nameless(correlations)))
    assert_no_error(page)
    assert "connectivity matrix" in page.info[0].value
    page.selectbox(key="estimator").select("partial").run()
    assert "needs its region series" in page.error[0].value
    assert page.success  # the rest of the page is there


def test_folder_keeps_its_sub_folders(open_page, abide, recordings) -> None:
    """As browsers send it: every file by its path from the folder that was chosen, hidden ones and all."""
    page = open_page("subjects")
    files = {
        "study/NC/s1/rois.1D": abide[0].content,
        "study/NC/s2/rois.1D": abide[1].content,
        "study/rest.zip": zipped({"s3.1D": abide[2].content}),
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
    cohort = cohort_of(page)
    assert {subject.id: subject.group for subject in cohort} == {"s1": "NC", "s2": "ASD", "s3": None}
    assert [subject.source.file for subject in cohort][:2] == ["study/NC/s1/rois.1D", "study/NC/s2/rois.1D"]
    np.testing.assert_array_equal(cohort["s2"].series, recordings[:, 1])
    assert "Not read, because they hold no data: 1 × .json, 1 × .html." in captions(page)
    assert cohort.refused == ()


def test_zip_and_own_atlas(rng) -> None:
    _, text, _ = csv_file("", np.corrcoef(rng.standard_normal((7, 100))))
    archive = zipped({"lab/sub-01.csv": text, "../outside.csv": text})
    atlas = b"x,y,z,label,network\n" + b"".join(b"%d,0,0,R%d,N%d\n" % (i, i, i % 2) for i in range(7))
    cohort = read_uploaded(
        UploadedFiles([Uploaded("lab.zip", archive)], atlas_table=Uploaded("mine.csv", atlas)),
        name="Your files",
    )
    assert cohort.ids == ("sub-01",)
    assert cohort.atlas.labelling("network")[:2] == ("N0", "N1")
    assert [refusal.file for refusal in cohort.refused] == ["../outside.csv"]


@pytest.mark.parametrize("files", [[BROKEN], [], [Uploaded("subject.csv", b"1,2,3\n4,5,7\n8,9,1\n2,2,1\n")]])
def test_nothing_stays_on_the_disk(files, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises((InputError, ChoiceNeeded)) as caught:
        read_uploaded(UploadedFiles(files), name="Your files")
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
        ("脑" * 90 + ".csv", "脑" * 65 + ".csv"),
    ],
)
def test_safe_name(name, safe) -> None:
    assert _safe_name(name) == safe


@given(name=st.text())
def test_safe_name_stays_in_its_folder(name) -> None:
    folder = Path("folder").resolve()
    assert (folder / _safe_name(name)).resolve().parent == folder


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
    assert _safe_path(name) == (None if place is None else Path(place))


@given(name=st.text(alphabet="a./\\ :\x00~-", max_size=30))
def test_safe_path_stays_in_its_folder(name) -> None:
    folder = Path("folder").resolve()
    place = _safe_path(name)
    assert place is None or folder in (folder / place).resolve().parents


def test_a_file_that_cannot_be_stored_is_refused_and_the_rest_is_read(abide) -> None:
    in_place_of_a_folder = [Uploaded("a.1D", abide[0].content), Uploaded("a.1D/x.1D", abide[1].content)]
    half_a_letter = Uploaded("\ud800.1D", abide[1].content)
    cohort = read_uploaded(UploadedFiles([*in_place_of_a_folder, half_a_letter], atlas="cc200"), name="Your files")
    assert cohort.ids == ("a",)
    assert [refusal.file for refusal in cohort.refused] == ["a.1D/x.1D", "\\ud800.1D"]
    assert "'x.1D' could not be stored for reading" in cohort.refused[0].reason
    with pytest.raises(InputError, match=r"could not be stored for reading \(its name is not a valid file name\)"):
        read_uploaded(UploadedFiles([half_a_letter]), name="Your files")


def test_a_file_that_was_stored_in_part_is_not_read(abide, monkeypatch) -> None:
    """As on a disk that fills up."""
    whole = Path.write_bytes

    def write_bytes(path: Path, content: memoryview) -> int:
        if path.name != "second.1D":
            return whole(path, content)
        whole(path, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    files = [Uploaded("first.1D", abide[0].content), Uploaded("second.1D", abide[1].content)]
    cohort = read_uploaded(UploadedFiles(files, atlas="cc200"), name="Your files")
    assert cohort.ids == ("first",)
    assert cohort.refused[0].reason == "'second.1D' could not be stored for reading (No space left on device)."


def test_many_files_of_one_name_are_each_looked_for_once(tmp_path, monkeypatch) -> None:
    """From the last number on, not from the first again."""
    looked_for = []
    exists = Path.exists
    monkeypatch.setattr(Path, "exists", lambda path: looked_for.append(path) or exists(path))
    names = [*["a.x"] * 49, "脑" * 90 + ".x"]  # and one of more bytes than a disk takes
    paths, refused = _write_all([Uploaded(name, b"%d" % i) for i, name in enumerate(names)], tmp_path / "files")
    assert [path.read_bytes() for path in paths] == [b"%d" % i for i in range(50)]
    assert [path.name for path in paths[:3]] == ["a.x", "a (2).x", "a (3).x"]
    assert refused == []
    assert len(looked_for) == 50


@pytest.fixture
def two_series(rng):
    """Two subjects' series of seven regions that share signals, shape (2, 60, 7)."""
    shared = rng.standard_normal((2, 60, 2))[:, :, [0, 0, 0, 1, 1, 0, 1]]
    return (shared + 0.7 * rng.standard_normal((2, 60, 7))).round(6)


@pytest.fixture
def atlas(tmp_path):
    """An atlas of seven regions, for as long as a test runs."""
    table = pd.DataFrame({"name": REGIONS, "x": np.linspace(-30, 30, 7), "y": 0.0, "z": 10.0})
    table.assign(parts=["coast", "coast", "hills", "hills", "town", "town", "coast"]).to_csv(
        tmp_path / "island.csv", index=False
    )
    atlas = BundledAtlas("island7", "Island 7", r"island7", (CRUSOE.key,), tmp_path / "island.csv")
    with REFERENCES.temporarily(CRUSOE), BUNDLED.temporarily(atlas):
        yield load_atlas("island7")


@pytest.fixture
def reader():
    """A table of numbers below a line that names the format, for as long as a test runs."""

    def read(path, asked):
        return [Reading(np.loadtxt(path, skiprows=1), columns_are_regions=True)]

    island = Reader(
        key="island", title="an island table", suffixes=(".isl",), read=read, apart=False, begins=(b"ISLAND",)
    )
    with READERS.temporarily(island):
        yield island


@pytest.fixture
def study(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    return folder


@pytest.fixture
def named_files(study, two_series):
    """Tables whose headers name the regions."""
    for number, own in enumerate(two_series, start=1):
        pd.DataFrame(own, columns=REGIONS).to_csv(study / f"s{number}.csv", index=False)
    return study


@pytest.fixture
def island_files(study, two_series):
    """The same numbers in the new format."""
    for number, own in enumerate(two_series, start=1):
        np.savetxt(study / f"s{number}.isl", own, fmt="%.6f", header="ISLAND 1", comments="")
    return study


def uploaded(open_page, folder, *, atlas=None, link=None):
    """The page of subjects, opened by a link, with the files of a folder."""
    page = open_page("subjects", **(link or {}))
    if atlas is not None:
        page.selectbox(key="atlas0").set_value(atlas)
    bring(page, *((path.name, path.read_bytes(), "") for path in sorted(folder.iterdir())))
    return page


def exported_curves(page):
    """The Hubs page of an uploaded cohort, the table of hubs there, and the request of its curves."""
    visit(page, "hubs")
    page.button(key="hub_curves_export").click().run()
    (request,) = page.session_state[EXPORT_LIST]
    table = turn_to(page, "table").dataframe[0].value
    turn_to(page, "regions")
    return table, request


def test_atlas_is_on_the_hubs_page_in_its_link_and_in_the_export(open_page, atlas, named_files):
    page = uploaded(open_page, named_files)
    assert "Island 7, 7 regions" in page.selectbox(key="atlas0").options
    assert cohort_of(page).atlas is atlas
    shown, request = exported_curves(page)
    cohort = cohort_of(page)
    own = hub_table(brain_graph(cohort["s1"], atlas))
    assert sorted(shown["region"]) == sorted(REGIONS)
    np.testing.assert_allclose(
        shown.set_index("region").loc[list(REGIONS), "node_entanglement"], own["node_entanglement"], rtol=1e-6
    )
    assert set(figure(page, "hub_curves")["data"][0]["x"]) == set(REGIONS)
    assert page.selectbox(key="curve_order").value == "parts", "the labels of the atlas order its regions"
    with bundle_of([request], cohort) as archive:
        assert _make_figure(cohort, request).caption in captions_of(archive)
        assert sorted(numbers_of(archive, "01_hub_curves")["region"]) == sorted(REGIONS)
        assert "the 7 regions of Island 7" in archive.read("methods.md").decode()
        assert "@book{crusoe1719" in archive.read("references.bib").decode()
        provenance = json.loads(archive.read("provenance.json"))
    assert provenance["cohorts"][0]["atlas"] == {"name": "island7", "title": "Island 7", "regions": 7}
    page.select_slider(key="gamma").set_value(2.5).run()
    link = address_of(page)
    assert link["gamma"] == "2.5"
    assert not {"cohort", "subject", "region"} & set(link), "the link does not name a user's own subjects"
    shared = uploaded(open_page, named_files, link=link)
    visit(shared, "hubs")
    assert not shared.warning
    assert shared.select_slider(key="gamma").value == 2.5
    tables = [turn_to(one, "table").dataframe[0].value for one in (shared, page)]
    assert tables[0].equals(tables[1])


def test_a_file_of_a_new_reader_is_uploaded_and_exported(open_page, reader, island_files, two_series):
    page = uploaded(open_page, island_files, atlas="unknown")
    (box,) = [box for box in page.file_uploader if box.key == "files0"]
    assert [part.strip() for part in box.help.split(",")] == [*readable_suffixes(), ".zip"]
    assert ".isl" in box.help
    cohort = cohort_of(page)
    np.testing.assert_array_equal(cohort["s2"].series, two_series[1])
    np.testing.assert_allclose(matrix(page), np.corrcoef(two_series[0].T), atol=1e-6)
    shown, request = exported_curves(page)
    assert len(shown) == 7
    with bundle_of([request], cohort) as archive:
        (described,) = json.loads(archive.read("provenance.json"))["cohorts"]
    assert [(one["file"], one["reader"]) for one in described["sources"]] == [("s1.isl", "isl"), ("s2.isl", "isl")]


def adding(page):
    return page.radio(key="adding")


def edit_by_hand(page) -> None:
    press(edit(page, {0: {"group": "AD"}}), "Set the groups")
    press(edit(page, {1: {"ticked": True}}), "Remove the ticked subjects")
    assert groups_of(page) == EDITED


def test_further_files_are_added_and_edits_stay(own, series) -> None:
    edit_by_hand(own)
    more = np.concatenate([series, series[:1] + 1])
    bring(own, table_file(more, 4))  # in an uploader that lost the others, as when one comes back to the page
    assert adding(own).options == ["added to the 3 subjects loaded", "read instead of them"]
    assert groups_of(own) == {**EDITED, "sub-04": None}
    np.testing.assert_array_equal(cohort_of(own)["sub-04"].series, more[4])
    assert "Added: 1 subject (sub-04)." in captions(own)
    press(edit(own, {3: {"group": "MCI"}}), "Set the groups")
    adding(own).set_value(False).run()
    assert groups_of(own) == {"sub-04": "MCI"}
    adding(own).set_value(True).run()
    assert groups_of(own) == {**EDITED, "sub-04": "MCI"}


@pytest.fixture
def some(series):
    """A cohort of those of four controls that a slice takes."""
    four = tuple(Subject(f"s{i}", series=series[i], group="NC") for i in range(4))
    return lambda *ends: Cohort("x", four[slice(*ends)], numbered_atlas(N_REGIONS))


def test_edits_made_after_further_files_came_outlast_a_change_of_mind(some) -> None:
    """Edits of the subjects loaded before, who are away while the new files stand in their place."""
    loaded, new = some(3), some(3, 4)
    files = frozenset("d")
    cohort, batch = take_in(new, loaded, None, file_ids=files, adding=True)
    cohort = remove_subjects(set_groups(cohort, {"s0": "AD", "s3": "MCI"}), ["s1"])
    cohort, batch = take_in(new, cohort, batch, file_ids=files, adding=False)
    assert {subject.id: subject.group for subject in cohort} == {"s3": "MCI"}
    cohort = set_groups(cohort, {"s3": "NC"})  # what is undone stays undone
    cohort, batch = take_in(new, cohort, batch, file_ids=files, adding=True)
    assert {subject.id: subject.group for subject in cohort} == {"s0": "AD", "s2": "NC", "s3": "NC"}
    cohort = set_groups(cohort, {"s0": "NC"})
    for adding in (False, True):
        cohort, batch = take_in(new, cohort, batch, file_ids=files, adding=adding)
    assert {subject.id: subject.group for subject in cohort} == {"s0": "NC", "s2": "NC", "s3": "NC"}


def test_new_files_take_the_place_of_those_loaded_when_asked_to(own, series) -> None:
    edit_by_hand(own)
    own.file_uploader(key="files0").set_value([])
    own.run()
    adding(own).set_value(False).run()
    assert cohort_of(own).ids == tuple(EDITED)  # nothing happens before the files come
    bring(own, table_file(series, 1))
    assert groups_of(own) == {"sub-01": "NC"}


def test_files_of_other_regions_are_a_sentence_and_nobody_is_lost(own, rng, may_fail) -> None:
    edit_by_hand(own)
    bring(own, csv_file("x.csv", rng.standard_normal((30, 9)), [f"place{i}" for i in range(9)]))
    assert "One cohort has one atlas" in as_shown(own.error[0].value)
    assert groups_of(own) == EDITED
    adding(own).set_value(False).run()
    assert_no_error(own)
    assert cohort_of(own).ids == ("x",)


def test_batch_that_grows_is_read_again_and_edits_are_made_again(some) -> None:
    """What an uploader that still holds the first files does: the same files, and one more."""
    first = some(3)
    cohort, batch = take_in(first, None, None, file_ids=frozenset("abc"), adding=True)
    assert cohort is first
    edited = remove_subjects(set_groups(cohort, {"s0": "AD"}), ["s1"])
    cohort, batch = take_in(some(4), edited, batch, file_ids=frozenset("abcd"), adding=True)
    assert {subject.id: subject.group for subject in cohort} == {"s0": "AD", "s2": "NC", "s3": "NC"}
    assert batch.earlier is None
    cohort, _ = take_in(some(2, 4), cohort, batch, file_ids=frozenset("cd"), adding=True)  # two files were taken out
    assert cohort.ids == ("s2", "s3")
