"""Groups, atlas and members of a user's own cohort are set on the page of subjects; results follow the change."""

import module_results
import numpy as np
import pytest
from page_contents import array, as_shown, assert_no_error, captions, figure
from state import LoadedCohort

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
