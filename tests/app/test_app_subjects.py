"""Groups, atlas and members of a user's own cohort are set on the page of subjects; results follow the change."""

import module_results
import numpy as np
import pytest
from loaded import LoadedCohort
from page_contents import array, as_shown, assert_no_error, captions, figure
from uploads import take_in
from widgets import plain

from biobgt import Cohort, ConnectomeSettings, Subject, functional_connectivity, load_atlas
from biobgt.atlas import numbered_atlas
from biobgt.cohort import GROUP_TITLES
from biobgt.cohort_edits import change_atlas, remove_subjects, set_groups

N_REGIONS = 6


@pytest.fixture
def series(rng) -> np.ndarray:
    return rng.standard_normal((4, 40, N_REGIONS)).cumsum(axis=1)


def table_file(series: np.ndarray, i: int) -> tuple[str, bytes, str]:
    header = ",".join(f"area{region}" for region in range(N_REGIONS))
    rows = [",".join(map(str, row)) for row in series[i].tolist()]
    return f"sub-0{i}.csv", "\n".join([header, *rows]).encode(), "text/csv"


PHENOTYPES = ("p.csv", b"subject,group,age\nsub-00,NC,20\nsub-01,NC,21.5\nsub-02,ASD,19\n", "text/csv")


@pytest.fixture
def own(open_page, series):
    """The page of subjects with four subjects, two of them controls and one without a group."""
    page = open_page("subjects")
    page.file_uploader(key="phenotypes0").set_value(PHENOTYPES)
    page.file_uploader(key="files0").set_value([table_file(series, i) for i in range(4)])
    page.run()
    assert_no_error(page)
    return page


def editor(page):
    (table,) = page.data_editor
    return table


def edit(page, rows: dict[int, dict[str, object]]):
    page.session_state[editor(page).key] = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
    return page


def press(page, label: str):
    next(button for button in page.button if button.label == label).click()
    page.run()
    return page


def cohort_of(page) -> Cohort:
    return page.session_state["own_cohort"].cohort


def groups_of(page) -> list[str | None]:
    return [subject.group for subject in cohort_of(page)]


def choose_for_ticked(page, group: str):
    box = next(box for box in page.selectbox if box.label == "Group of all ticked subjects")
    if group not in (*GROUP_TITLES, "no group"):
        box.options.append(group)  # AppTest does not know that a browser lets one type another
    box.set_value(group)


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


def choose_atlas(page, name: str) -> None:
    next(box for box in page.selectbox if box.label.startswith("The 6 regions are")).set_value(name).run()


def atlas_table(names: list[str]) -> tuple[str, bytes, str]:
    rows = [f"{10 * i},{i},{-i},{name},net{i % 2}" for i, name in enumerate(names)]
    return "lab.csv", "\n".join(["x,y,z,label,network", *rows]).encode(), "text/csv"


def test_own_atlas_is_brought_later_and_its_order_is_followed(own, series) -> None:
    own.selectbox(key="region_order").select("atlas").run()
    names = [f"area{region}" for region in (5, 0, 1, 2, 3, 4)]
    choose_atlas(own, "own table")
    press(own, "Change the atlas")
    assert "Drop the atlas table first" in own.info[0].value
    uploader = next(item for item in own.file_uploader if item.key.startswith("own_atlas_table"))
    uploader.set_value(atlas_table(names))
    press(own, "Change the atlas")
    assert_no_error(own)
    assert cohort_of(own).atlas.title == "lab"
    assert cohort_of(own).atlas.labelling("network")[:2] == ("net0", "net1")
    heatmap = figure(own, "connectivity")["data"][0]
    assert list(heatmap["y"]) == names
    order = [5, 0, 1, 2, 3, 4]
    np.testing.assert_allclose(array(heatmap["z"]), functional_connectivity(series[0][:, order]), atol=1e-6)
    choose_atlas(own, "numbered")
    press(own, "Change the atlas")
    assert cohort_of(own).atlas.regions[0] == "Region 1"


def test_atlas_of_another_size_is_a_sentence(own) -> None:
    choose_atlas(own, "own table")
    next(item for item in own.file_uploader if item.key.startswith("own_atlas_table")).set_value(
        atlas_table([f"r{i}" for i in range(5)])
    )
    press(own, "Change the atlas")
    assert as_shown(own.error[0].value).startswith("The subjects have 6 regions, and lab has 5.")
    assert cohort_of(own).atlas.name == "unknown6"


def test_bundled_atlas_of_the_same_size_is_offered(open_page, rng) -> None:
    page = open_page("subjects")
    names = ",".join(f"place{i}" for i in range(200))
    rows = [",".join(f"{value:.4f}" for value in row) for row in rng.standard_normal((30, 200))]
    page.file_uploader(key="files0").set_value([("one.csv", "\n".join([names, *rows]).encode(), "text/csv")])
    page.run()
    assert cohort_of(page).atlas.name == "unknown200"
    box = next(box for box in page.selectbox if box.label.startswith("The 200 regions are"))
    assert list(box.options)[1:] == ["Craddock CC200", "My own table", "Not known: regions by number"]
    box.set_value("cc200").run()
    press(page, "Change the atlas")
    assert cohort_of(page).atlas is load_atlas("cc200")


# Further files.


def bring(page, series: np.ndarray, *numbers: int):
    """Let these files lie in the uploader; their ids are those of their names, as they were not sent anew."""
    page.file_uploader(key="files0").set_value([table_file(series, i) for i in numbers])
    return page.run()


def adding(page):
    return page.radio(key="adding")


def edit_by_hand(page) -> None:
    press(edit(page, {0: {"group": "AD"}}), "Set the groups")
    press(edit(page, {1: {"ticked": True}}), "Remove the ticked subjects")
    assert {subject.id: subject.group for subject in cohort_of(page)} == EDITED


EDITED = {"sub-00": "AD", "sub-02": "ASD", "sub-03": None}


def test_further_files_are_added_and_edits_stay(own, series) -> None:
    edit_by_hand(own)
    more = np.concatenate([series, series[:1] + 1])
    bring(own, more, 4)  # in an uploader that lost the others, as when one comes back to the page
    assert_no_error(own)
    assert adding(own).options == ["added to the 3 subjects loaded", "read in their place"]
    assert {subject.id: subject.group for subject in cohort_of(own)} == {**EDITED, "sub-04": None}
    np.testing.assert_array_equal(cohort_of(own)["sub-04"].series, more[4])
    assert "Added: 1 subject (sub-04)." in captions(own)
    press(edit(own, {3: {"group": "MCI"}}), "Set the groups")
    adding(own).set_value(False).run()
    assert {subject.id: subject.group for subject in cohort_of(own)} == {"sub-04": "MCI"}
    adding(own).set_value(True).run()
    assert {subject.id: subject.group for subject in cohort_of(own)} == {**EDITED, "sub-04": "MCI"}


def test_edits_made_after_further_files_came_outlast_a_change_of_mind(series) -> None:
    """Edits of the subjects loaded before, who are away while the new files stand in their place."""
    subjects = tuple(Subject(f"s{i}", series=series[i], group="NC") for i in range(4))
    loaded, new = (Cohort("x", some, numbered_atlas(N_REGIONS)) for some in (subjects[:3], subjects[3:]))
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
    bring(own, series, 1)
    assert {subject.id: subject.group for subject in cohort_of(own)} == {"sub-01": "NC"}


def test_files_of_other_regions_are_a_sentence_and_nobody_is_lost(own, rng) -> None:
    edit_by_hand(own)
    rows = [",".join(f"{value:.4f}" for value in row) for row in rng.standard_normal((30, 9))]
    header = ",".join(f"place{i}" for i in range(9))
    own.file_uploader(key="files0").set_value([("x.csv", "\n".join([header, *rows]).encode(), "text/csv")])
    own.run()
    assert "One cohort has one atlas" in as_shown(own.error[0].value)
    assert {subject.id: subject.group for subject in cohort_of(own)} == EDITED
    adding(own).set_value(False).run()
    assert_no_error(own)
    assert cohort_of(own).ids == ("x",)


def test_batch_that_grows_is_read_again_and_edits_are_made_again(series) -> None:
    """What an uploader that still holds the first files does: the same files, and one more."""
    subjects = tuple(Subject(f"s{i}", series=series[i], group="NC") for i in range(4))
    first = Cohort("x", subjects[:3], numbered_atlas(N_REGIONS))
    cohort, batch = take_in(first, None, None, file_ids=frozenset("abc"), adding=True)
    assert cohort is first
    edited = remove_subjects(set_groups(cohort, {"s0": "AD"}), ["s1"])
    grown = Cohort("x", subjects, first.atlas)
    cohort, batch = take_in(grown, edited, batch, file_ids=frozenset("abcd"), adding=True)
    assert {subject.id: subject.group for subject in cohort} == {"s0": "AD", "s2": "NC", "s3": "NC"}
    assert batch.earlier is None
    shrunk = Cohort("x", subjects[2:], first.atlas)  # two files were taken out of the uploader
    cohort, _ = take_in(shrunk, cohort, batch, file_ids=frozenset("cd"), adding=True)
    assert cohort.ids == ("s2", "s3")


# What was measured.


def count_modules(monkeypatch) -> list[str]:
    measured: list[str] = []

    def measure(graph, *arguments):
        measured.append(graph.subject)
        return original(graph, *arguments)

    original = module_results.measure_modules
    monkeypatch.setattr(module_results, "measure_modules", measure)
    return measured


def test_results_outlive_other_groups_and_not_other_subjects(own, monkeypatch) -> None:
    measured = count_modules(monkeypatch)
    own.switch_page("views/modules.py").run()
    own.switch_page("views/hubs.py").run()
    assert measured == ["sub-00"]
    hubs = dict(own.session_state["own_cohort"].own_hubs)
    assert len(hubs) == 1
    own.switch_page("views/subjects.py").run()
    press(edit(own, {0: {"group": "AD"}}), "Set the groups")
    assert own.session_state["own_cohort"].own_hubs == hubs
    own.switch_page("views/modules.py").run()
    assert measured == ["sub-00"]
    own.switch_page("views/subjects.py").run()
    press(edit(own, {3: {"ticked": True}}), "Remove the ticked subjects")
    assert own.session_state["own_cohort"].own_hubs == {}
    own.switch_page("views/modules.py").run()
    assert measured == ["sub-00", "sub-00"]


def test_what_is_kept_of_a_changed_cohort(series) -> None:
    cohort = Cohort("x", tuple(Subject(f"s{i}", series=series[i]) for i in range(3)), numbered_atlas(N_REGIONS))
    loaded = LoadedCohort("own", cohort, own_hubs={("s0", ConnectomeSettings(), "control"): None})
    space = loaded.tangent_space
    assert loaded.quality["group"].isna().all()
    regrouped = loaded.changed_to(set_groups(cohort, {"s1": "AD"}))
    assert regrouped.own_hubs is loaded.own_hubs
    assert regrouped.tangent_space is space
    assert regrouped.quality["group"].tolist()[1] == "AD"
    for changed in (
        remove_subjects(cohort, ["s1"]),
        change_atlas(cohort, numbered_atlas(N_REGIONS)),
        Cohort("x", tuple(Subject(f"s{i}", series=series[i] + 1) for i in range(3)), cohort.atlas),
    ):
        after = loaded.changed_to(changed)
        assert after.own_hubs == {}
        assert after.tangent_space is not space
