"""Groups, atlas and members of a user's own cohort are set on the page of subjects; results follow the change."""

import numpy as np
from page_contents import array, as_shown, assert_no_error, captions, figure
from subjects_page import choose_for_ticked, cohort_of, edit, editor, groups_of, press, table_file

from biobgt import functional_connectivity
from views.shared.widgets import plain


def test_table_shows_groups_and_phenotypes(own) -> None:
    table = editor(own).value
    assert table["subject"].tolist() == [f"sub-0{i}" for i in range(4)]
    assert table["group"].tolist()[:3] == ["NC", "NC", "ASD"]
    assert table["age"].tolist()[:3] == [20, 21.5, 19]
    assert not table["ticked"].any()


def test_subjects_without_a_group_are_counted(own) -> None:
    assert as_shown(own.success[0].value).endswith(": 2 NC, 1 ASD, 1 without a group.")
    press(edit(own, {i: {"group": None} for i in range(3)}), "Set the groups")
    assert as_shown(own.success[0].value).endswith(": no groups.")


def test_reasons_and_remarks_are_whole_and_no_markdown(open_page, series) -> None:
    page = open_page("subjects")
    name, rows, kind = table_file(series, 0)
    broken = "![x](example.org).csv"
    page.file_uploader(key="files0").set_value([(name, rows, kind), (broken, b"1,2\n3,pear\n5,6\n", kind)])
    page.run()
    assert_no_error(page)
    refused, remarks = (table.value for table in page.table)
    assert refused["File"].tolist() == [plain(broken)]
    assert "pear" in refused["Why it was refused"][0]
    quality = page.session_state["own_cohort"].quality
    sentences = [sentence for column in ("warnings", "notes") for sentence in quality[column] if sentence]
    assert [as_shown(text) for text in remarks["What it says"]] == sentences
    assert [as_shown(text) for text in remarks["Subjects"]] == [quality["subject"][0]] * len(sentences)


def test_copied_regions_are_counted_and_named(open_page, series) -> None:
    page = open_page("subjects")
    copied = series.copy()
    copied[0, :, 3:] = copied[0, :, [3]].T
    page.file_uploader(key="files0").set_value([table_file(copied, i) for i in range(2)])
    page.run()
    assert_no_error(page)
    (table,) = (item.value for item in page.dataframe if "same series" in item.value)
    quality = table.set_index("subject")
    assert quality["same series"].to_dict() == {"sub-00": 3, "sub-01": 0}
    remarks = next(table.value for table in page.table if "What it says" in table.value)
    said = [as_shown(text) for text in remarks["What it says"]]
    assert any("3 regions (area3, area4, area5) have the same series as another region" in text for text in said)


def test_remark_on_many_subjects_is_made_once(open_page) -> None:
    page = open_page("subjects")
    (remarks,) = (table.value for table in page.table)
    flags = page.dataframe[0].value["flag"]
    assert remarks["Flag"].tolist() == ["Note"]
    assert remarks["Subjects"].tolist() == [f"{(flags == 'note').sum()} subjects"]


def test_demo_has_nothing_to_edit(open_page) -> None:
    page = open_page("subjects")
    assert len(page.data_editor) == 0
    assert "Change the atlas" not in [button.label for button in page.button]


def test_groups_are_set_in_cells(own) -> None:
    press(edit(own, {2: {"group": "MCI"}, 3: {"group": "AD"}, 0: {"group": None}}), "Set the groups")
    assert_no_error(own)
    assert groups_of(own) == [None, "NC", "MCI", "AD"]
    assert list(own.selectbox(key="subject").options) == ["sub-00", "sub-01 · NC", "sub-02 · MCI", "sub-03 · AD"]
    assert "Group set by hand: 3 subjects (sub-00, sub-02, sub-03)." in captions(own)
    assert editor(own).value["group"].tolist()[1:] == ["NC", "MCI", "AD"]
    own.run()
    assert groups_of(own) == [None, "NC", "MCI", "AD"]


def test_one_group_of_any_name_is_set_for_all_ticked(own) -> None:
    edit(own, {1: {"ticked": True}, 3: {"ticked": True}, 2: {"group": "AD"}})
    choose_for_ticked(own, " first  episode")
    press(own, "Set the groups")
    assert groups_of(own) == ["NC", "first episode", "AD", "first episode"]
    assert not editor(own).value["ticked"].any()
    edit(own, {0: {"ticked": True}})
    choose_for_ticked(own, "no group")
    press(own, "Set the groups")
    assert groups_of(own) == [None, "first episode", "AD", "first episode"]


def test_group_without_a_tick_says_what_to_do(own) -> None:
    choose_for_ticked(own, "AD")
    press(own, "Set the groups")
    assert "No subject is ticked" in own.info[0].value
    assert groups_of(own) == ["NC", "NC", "ASD", None]


def test_name_without_end_is_a_sentence(own) -> None:
    edit(own, {0: {"ticked": True}})
    choose_for_ticked(own, "x" * 99)
    press(own, "Set the groups")
    assert "99 letters" in own.error[0].value
    assert groups_of(own) == ["NC", "NC", "ASD", None]


def test_ticked_subjects_are_removed_and_the_view_moves_on(own, series) -> None:
    own.selectbox(key="region_order").select("atlas")
    own.selectbox(key="subject").select("sub-01").run()
    press(edit(own, {1: {"ticked": True}, 3: {"ticked": True}, 2: {"group": "AD"}}), "Remove the ticked subjects")
    assert_no_error(own)
    assert cohort_of(own).ids == ("sub-00", "sub-02")
    assert groups_of(own) == ["NC", "AD"]
    assert own.selectbox(key="subject").value == "sub-00"
    shown = array(figure(own, "connectivity")["data"][0]["z"])
    np.testing.assert_allclose(shown, functional_connectivity(series[0]), atol=1e-6)
    assert "Removed by hand: 2 subjects (sub-01, sub-03)." in captions(own)
    press(edit(own, {0: {"ticked": True}, 1: {"ticked": True}}), "Remove the ticked subjects")
    assert "at least one subject" in own.error[0].value
    assert len(cohort_of(own)) == 2


def structural_files() -> list[tuple[str, bytes, str]]:
    """Streamline weights from 1e-7 to 1e-2 between six regions, of two subjects."""
    files = []
    for i in range(2):
        weights = 10.0 ** -np.random.default_rng(i).uniform(2, 7, (6, 6))
        matrix = np.triu(weights, 1) + np.triu(weights, 1).T
        rows = [",".join(map(str, row)) for row in matrix.tolist()]
        files.append((f"sub-0{i}.csv", "\n".join(rows).encode(), "text/csv"))
    return files


def test_pages_follow_the_kind_of_connectivity(open_page) -> None:
    page = open_page("subjects")
    page.file_uploader(key="files0").set_value(structural_files())
    page.run()
    assert_no_error(page)
    assert cohort_of(page).given == "structural"
    assert page.session_state["threshold"] == "none"
    heatmap = figure(page, "connectivity")
    assert heatmap["layout"]["coloraxis"]["colorbar"]["title"]["text"] == "weight"
    assert "Structural connectivity" in heatmap["layout"]["title"]["text"]
    assert not any("functional" in caption or "Pearson" in caption for caption in captions(page))
    page.segmented_control(key="threshold").set_value("absolute").run()
    page.number_input(key="absolute_level").set_value(0.3).run()
    assert any("largest weight" in as_shown(error.value) for error in page.error), "no graph of zeros is shown"
    kind = next(box for box in (*page.segmented_control, *page.selectbox) if box.label == "Matrices are")
    kind.set_value("functional")
    page.run()
    assert cohort_of(page).given == "functional"
    assert page.session_state["threshold"] == "absolute"
