"""Uploaded files end as subjects, or as a sentence; questions are asked and answered; sessions do not share them."""

import io
import zipfile

import numpy as np
from brought_files import BROKEN, Uploaded
from page_contents import array, as_shown, assert_no_error, badges, captions, figure

from biobgt import functional_connectivity
from biobgt.data import connectivity as connectome
from biobgt.readers import READERS, Reader, readable_suffixes
from views.page_map import PAGES

PHENOTYPES = Uploaded("groups.csv", b"subject,group\nSite_0050000,ASD\nSite_0050001,control\nSite_0059999,ASD\n")


def upload(page, *files: Uploaded, phenotypes: Uploaded | None = None):
    if phenotypes is not None:
        page.file_uploader(key="phenotypes0").set_value((phenotypes.name, phenotypes.content, "text/csv"))
    page.file_uploader(key="files0").set_value([(file.name, file.content, "") for file in files])
    return page.run()


def test_files_become_the_cohort_that_is_shown(open_page, abide, recordings) -> None:
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
    np.testing.assert_allclose(shown, functional_connectivity(recordings[:, 1]), atol=1e-6)
    assert "cohort" not in page.query_params
    assert "subject" not in page.query_params


def test_connectivity_is_estimated_once_per_uploaded_subject(open_page, abide, monkeypatch) -> None:
    asked, estimate = [], connectome.correlation_of
    page = open_page("subjects")
    monkeypatch.setattr(connectome, "correlation_of", lambda series: asked.append(0) or estimate(series))
    upload(page, *abide)
    for name in ("home", "hubs", "modules", "subjects"):
        page.switch_page(PAGES[name].script).run()
    assert_no_error(page)
    assert len(asked) == 3


def test_own_subjects_stay_when_pages_change_and_go_when_forgotten(open_page, abide) -> None:
    page = upload(open_page("subjects"), *abide)
    page.switch_page("views/home.py").run()
    assert page.selectbox(key="subject").value == "Site_0050000"
    page.switch_page("views/subjects/page.py").run()
    assert page.selectbox(key="subject").value == "Site_0050000"
    next(button for button in page.button if button.label == "Forget these subjects").click().run()
    assert_no_error(page)
    assert page.selectbox(key="cohort").value == "asd"
    assert "own" not in page.selectbox(key="cohort").options
    assert page.query_params["subject"] == ["sim-NC-001"] or page.query_params["subject"] == "sim-NC-001"


def uploader(page):
    """The fold that holds the uploaders."""
    return next(fold for fold in page.main.expander if "Add " in fold.label)


def test_uploader_folds_away_once_files_are_there(open_page, abide) -> None:
    page = open_page("subjects")
    assert (uploader(page).label, uploader(page).proto.expanded) == ("Add your own subjects", True)
    upload(page, *abide, BROKEN)
    assert (uploader(page).label, uploader(page).proto.expanded) == ("Add or remove files: 4 files added", False)
    order = [element.type for element in page.main if element.type in ("expander", "success", "warning", "table")]
    assert order[:4] == ["expander", "success", "warning", "table"], "what was read and refused comes next"
    press_forget(page)
    assert (uploader(page).label, uploader(page).proto.expanded) == ("Add your own subjects", True)


def press_forget(page) -> None:
    next(button for button in page.button if button.label == "Forget these subjects").click().run()


def test_question_stands_outside_the_folded_uploader(open_page, bold) -> None:
    page = upload(open_page("subjects"), Uploaded("scan.npy", nameless(bold(60, 70))))
    assert uploader(page).proto.expanded is False
    assert len(answers(page)) == 2
    assert not [button for button in uploader(page).button if button.key in {one.key for one in answers(page)}]


def phenotype_boxes(page):
    return [box for box in page.file_uploader if box.key.startswith("phenotypes")]


def waiting_files(page) -> list[list[str]]:
    tables = [table.value for table in page.dataframe if "State" in table.value]
    return [
        [as_shown(file), state] for table in tables for file, state in zip(table["File"], table["State"], strict=True)
    ]


def test_phenotype_box_stays_in_sight_once_files_are_there(open_page, abide, bold) -> None:
    """A table that comes after the files is read with them; no fold hides the box, whatever the files wait for."""
    page = upload(open_page("subjects"), Uploaded("scan.npy", nameless(bold(60, 70))))
    for files in ([], [BROKEN], abide):
        if files:
            upload(page, *files)
        assert len(phenotype_boxes(page)) == 1
        assert not [box for fold in page.main.expander for box in phenotype_boxes(fold)]
    upload(page, *abide, phenotypes=PHENOTYPES)
    assert "1 NC, 1 ASD, 1 without a group" in page.success[0].value


def test_page_shows_the_state_of_the_files_and_no_demo_while_it_asks(open_page, bold) -> None:
    page = open_page("subjects")
    assert "Quality" in headings(page)
    upload(page, Uploaded("scan.npy", nameless(bold(60, 70))))
    assert waiting_files(page) == [["scan.npy", "waiting for your answer"]]
    assert "Your files" in headings(page)
    assert not {"Quality", "sim-NC-001"} & headings(page)
    answer(page, "rows are time points")
    assert_no_error(page)
    assert waiting_files(page) == []
    assert {"Quality", "scan"} <= headings(page)
    upload(page, BROKEN)
    assert waiting_files(page) == [["broken.1D", "could not be read"]]
    page.file_uploader(key="files0").set_value([])
    page.run()
    assert waiting_files(page) == []
    assert not page.error


def headings(page) -> set[str]:
    return {as_shown(heading.value) for heading in page.main.subheader}


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
    why = "Line 2, column 2 holds 'pear' where a number belongs. Correct it, or write NaN where a value is missing."
    assert refused.to_dict("records") == [{"File": "broken.1D", "Why it was refused": why}]
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
    assert "The table 'subject.csv' has 40 rows and 30 columns" in asked(page)
    assert labels(page) == [
        "rows are time points, columns are regions: 40 time points of 30 regions",
        "rows are regions, columns are time points: 30 time points of 40 regions",
    ]
    assert page.selectbox(key="cohort").value == "asd"
    answer(page, "rows are regions")
    assert_no_error(page)
    assert not answers(page)
    shown = array(figure(page, "connectivity")["data"][0]["z"])
    np.testing.assert_allclose(shown, functional_connectivity(table.T), atol=1e-6)
    next(button for button in page.button if button.label == "Ask me again").click().run()
    answer(page, "rows are time points")
    assert array(figure(page, "connectivity")["data"][0]["z"]).shape == (30, 30)


def test_phenotype_table_dropped_with_the_data_is_found(open_page, abide) -> None:
    page = upload(open_page("subjects"), *abide, Uploaded("clinic.csv", PHENOTYPES.content))
    assert_no_error(page)
    assert as_shown(page.success[0].value) == "Read 3 subjects on Craddock CC200: 1 NC, 1 ASD, 1 without a group."
    assert page.session_state["own_cohort"].cohort.refused == ()


def test_one_of_two_tables_is_chosen(open_page, abide) -> None:
    other = Uploaded("other.csv", b"subject,group\nSite_0050000,AD\nSite_0050001,AD\n")
    page = upload(open_page("subjects"), *abide, Uploaded("clinic.csv", PHENOTYPES.content), other)
    assert [label.partition(":")[0] for label in labels(page)] == ["clinic.csv", "other.csv"]
    answer(page, "other.csv")
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


def answers(page) -> list:
    """The buttons that answer the reader's question."""
    return [button for button in page.button if button.key and button.key.startswith("answer_")]


def labels(page) -> list[str]:
    return [as_shown(button.label).replace("**", "") for button in answers(page)]


def asked(page) -> str:
    return " ".join(as_shown(text.value) for text in page.main.markdown)


def answer(page, start: str):
    next(button for button, label in zip(answers(page), labels(page), strict=True) if label.startswith(start)).click()
    return page.run()


def test_axes_and_atlas_of_a_nameless_table_are_two_questions(open_page, bold) -> None:
    """200 regions by 100 time points: neither the axis nor the atlas is taken from the number 200."""
    series = bold(100, 200)
    page = upload(open_page("subjects"), Uploaded("scan.npy", nameless(series.T)))
    assert not page.success
    shown = asked(page)
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
    assert_no_error(page)
    cohort = page.session_state["own_cohort"].cohort
    assert (cohort.atlas.name, cohort.subjects[0].n_timepoints) == ("unknown200", 100)
    assert "decided by the user" in captions(page)
    next(button for button in page.button if button.label == "Ask me again").click().run()
    answer(page, "rows are regions")
    answer(page, "Craddock CC200")
    cohort = page.session_state["own_cohort"].cohort
    assert cohort.atlas.name == "cc200"
    np.testing.assert_array_equal(cohort.subjects[0].series, series)


def test_answer_is_not_taken_for_a_file_that_comes_later(open_page, bold) -> None:
    first, second = (Uploaded(f"{name}.npy", nameless(bold(60, 70))) for name in "ab")
    page = upload(open_page("subjects"), first)
    answer(page, "rows are time points")
    assert page.session_state["own_cohort"].cohort.ids == ("a",)
    upload(page, first, second)
    assert "further file" in asked(page)
    assert page.session_state["own_cohort"].cohort.ids == ("a",)
    answer(page, "rows are time points")
    assert page.session_state["own_cohort"].cohort.ids == ("a", "b")


def test_atlas_that_files_name_is_said_with_what_decided(open_page, abide) -> None:
    page = upload(open_page("subjects"), *abide[:1])
    assert "Atlas: Craddock CC200, told by ABIDE's file names (rois_cc200)." in captions(page)
    assert "Craddock CC200: decided by ABIDE's file names (rois_cc200)." in captions(page)


def test_choices_named_by_a_file_are_not_markdown(open_page, rng) -> None:
    data = io.BytesIO()
    np.savez(data, **{"**bold**": rng.random((30, 200)), "plain": rng.random((30, 200))})
    page = upload(open_page("subjects"), Uploaded("two.npz", data.getvalue()))
    assert [button.label for button in answers(page)] == ["**\\*\\*bold\\*\\***", "**plain**"]


def test_matrices_have_no_series_and_say_so(open_page, rng) -> None:
    matrix = np.corrcoef(rng.standard_normal((90, 20)))  # some of them above the threshold
    data = io.BytesIO()
    np.save(data, matrix)
    page = upload(open_page("subjects"), Uploaded("matrix_aal90.npy", data.getvalue()))
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
    np.testing.assert_array_equal(cohort["s2"].series, recordings[:, 1])
    assert "Not read, because they hold no data: 1 × .json, 1 × .html." in captions(page)
    assert cohort.refused == ()


def test_the_uploader_names_every_format_of_the_register(open_page) -> None:
    reader = Reader(key="island", title="an island table", suffixes=(".isl",), read=lambda *_: [], apart=False)
    with READERS.temporarily(reader):
        page = open_page("subjects")
    assert_no_error(page)
    (box,) = [box for box in page.file_uploader if box.key == "files0"]
    assert [part.strip() for part in box.help.split(",")] == [*readable_suffixes(), ".isl", ".zip"]


def test_what_is_forgotten_is_said_first_and_no_copy_that_is_not_kept(open_page, abide) -> None:
    page = open_page("subjects")
    page.file_uploader(key="files0").set_value([(file.name, file.content, "") for file in abide])
    page.run()
    said = " ".join(as_shown(text.value) for text in page.markdown)
    assert "This removes 3 subjects and the groups and answers that you gave. It cannot be undone" in said
