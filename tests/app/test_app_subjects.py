"""Groups, atlas and members of a user's own cohort are set on the page of subjects; results follow the change."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from abide_mirror import abide_server
from page_contents import array, as_shown, assert_no_error, badges, captions, figure, matrix, table_with, words
from page_hands import (
    Uploaded,
    bring,
    choose_for_ticked,
    cohort_of,
    csv_file,
    edit,
    groups_of,
    press,
    table_file,
    visit,
)

import biobgt.readers.fetch
from biobgt import Atlas, Cohort, ConnectomeSettings, InputError, Subject, functional_connectivity, load_atlas
from biobgt.base.options import Option, Plain
from biobgt.data.atlas import numbered_atlas
from biobgt.data.simulate import demo_cohort
from biobgt.hubs.measures import HubOptions
from biobgt.modules.measures import NamedModuleOptions
from biobgt.readers.project import Project, open_project, save_project
from session.cohorts import OWN, UploadedFiles, own_cohort, read_uploaded
from session.link import link_of, link_of_project, saved_view
from session.view import LoadedCohort, View, linked_options
from views.shared.widgets import escape_markdown
from views.subjects.page import _apply
from views.subjects.upload import _file_name

ATLAS = load_atlas("schaefer100")
ABSENT = (3, 10, 55, 70, 99)
N_AREAS = 8
SETTINGS = ConnectomeSettings("ledoit-wolf", "signed", "proportional", 0.25, True)
HUBS = {"gamma": 3.0, "perturbation": "remove", "hub_rule": "sd", "region": "area3"}
MODULES = {"resolution": 1.4, "consensus": True, "signed": False, "runs": 20, "seed": 7, "labelling": "network"}


def test_table_shows_groups_and_phenotypes_and_subjects_without_a_group_are_counted(own) -> None:
    table = own.data_editor[0].value
    assert table["subject"].tolist() == [f"sub-0{i}" for i in range(4)]
    assert table["group"].tolist()[:3] == ["NC", "NC", "ASD"]
    assert table["age"].tolist()[:3] == [20, 21.5, 19]
    assert not table["ticked"].any()
    assert as_shown(own.success[0].value).endswith(": 2 NC, 1 ASD, 1 without a group.")
    press(edit(own, {i: {"group": None} for i in range(3)}), "Set the groups")
    assert as_shown(own.success[0].value).endswith(": no groups.")


def test_reasons_and_remarks_are_whole_and_no_markdown(open_page, series) -> None:
    broken = "![x](example.org).csv"
    page = bring(open_page("subjects"), table_file(series, 0), (broken, b"1,2\n3,pear\n5,6\n", "text/csv"))
    refused, remarks = (table.value for table in page.table)
    assert refused["File"].tolist() == [escape_markdown(broken)]
    assert "pear" in refused["Why it was refused"][0]
    quality = page.session_state["own_cohort"].quality
    sentences = [sentence for column in ("warnings", "notes") for sentence in quality[column] if sentence]
    assert [as_shown(text) for text in remarks["What it says"]] == sentences
    assert [as_shown(text) for text in remarks["Subjects"]] == [quality["subject"][0]] * len(sentences)


def test_copied_regions_are_counted_and_named(open_page, series) -> None:
    series[0, :, 3:] = series[0, :, [3]].T
    page = bring(open_page("subjects"), *(table_file(series, i) for i in range(2)))
    quality = table_with(page, "same series").set_index("subject")
    assert quality["same series"].to_dict() == {"sub-00": 3, "sub-01": 0}
    remarks = next(table.value for table in page.table if "What it says" in table.value)
    said = [as_shown(text) for text in remarks["What it says"]]
    assert any("3 regions (area3, area4, area5) have the same series as another region" in text for text in said)


def test_demo_has_nothing_to_edit_and_a_remark_on_many_subjects_is_made_once(look_at) -> None:
    page = look_at("subjects")
    (remarks,) = (table.value for table in page.table)
    flags = page.dataframe[0].value["flag"]
    assert remarks["Flag"].tolist() == ["Note"]
    assert remarks["Subjects"].tolist() == [f"{(flags == 'note').sum()} subjects"]
    assert len(page.data_editor) == 0
    assert "Change the atlas" not in [button.label for button in page.button]


def test_groups_are_set_in_cells_and_one_of_any_name_for_all_ticked(own) -> None:
    press(edit(own, {2: {"group": "MCI"}, 3: {"group": "AD"}, 0: {"group": None}}), "Set the groups")
    assert [*groups_of(own).values()] == [None, "NC", "MCI", "AD"]
    assert list(own.selectbox(key="subject").options) == ["sub-00", "sub-01 · NC", "sub-02 · MCI", "sub-03 · AD"]
    assert "Group set by hand: 3 subjects (sub-00, sub-02, sub-03)." in captions(own)
    assert own.data_editor[0].value["group"].tolist()[1:] == ["NC", "MCI", "AD"]
    edit(own, {1: {"ticked": True}, 3: {"ticked": True}, 2: {"group": "AD"}})
    choose_for_ticked(own, " first  episode")
    press(own, "Set the groups")
    assert [*groups_of(own).values()] == [None, "first episode", "AD", "first episode"]
    assert not own.data_editor[0].value["ticked"].any()
    edit(own, {1: {"ticked": True}})
    choose_for_ticked(own, "no group")
    press(own, "Set the groups")
    assert [*groups_of(own).values()] == [None, None, "AD", "first episode"]


@pytest.mark.parametrize(
    ("ticked", "group", "said"), [(False, "AD", "No subject is ticked"), (True, "x" * 99, "99 letters")]
)
def test_group_that_cannot_be_set_is_a_sentence(own, ticked, group, said, may_fail) -> None:
    edit(own, {0: {"ticked": ticked}})
    choose_for_ticked(own, group)
    press(own, "Set the groups")
    assert said in words([*own.info, *own.error])
    assert [*groups_of(own).values()] == ["NC", "NC", "ASD", None]


def test_ticked_subjects_are_removed_and_the_view_moves_on(own, series, may_fail) -> None:
    own.selectbox(key="region_order").select("atlas")
    own.selectbox(key="subject").select("sub-01").run()
    press(edit(own, {1: {"ticked": True}, 3: {"ticked": True}, 2: {"group": "AD"}}), "Remove the ticked subjects")
    assert_no_error(own)
    assert cohort_of(own).ids == ("sub-00", "sub-02")
    assert [*groups_of(own).values()] == ["NC", "AD"]
    assert own.selectbox(key="subject").value == "sub-00"
    np.testing.assert_allclose(matrix(own), functional_connectivity(series[0]), atol=1e-6)
    assert "Removed by hand: 2 subjects (sub-01, sub-03)." in captions(own)
    press(edit(own, {0: {"ticked": True}, 1: {"ticked": True}}), "Remove the ticked subjects")
    assert "at least one subject" in own.error[0].value
    assert len(cohort_of(own)) == 2


def test_pages_follow_the_kind_of_connectivity(open_page, may_fail) -> None:
    """Streamline weights from 1e-7 to 1e-2 between six regions, of two subjects."""
    upper = [np.triu(10.0 ** -np.random.default_rng(i).uniform(2, 7, (6, 6)), 1) for i in range(2)]
    files = [csv_file(f"sub-0{i}.csv", weights + weights.T) for i, weights in enumerate(upper)]
    page = bring(open_page("subjects"), *files)
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


def series_file(subject: str, seed: int, absent: tuple[int, ...] = ()) -> tuple[str, bytes, str]:
    series = np.random.default_rng(seed).standard_normal((60, ATLAS.n_regions)).cumsum(axis=0)
    kept = [i for i in range(ATLAS.n_regions) if i not in absent]
    return csv_file(f"{subject}.csv", series[:, kept], [ATLAS.regions[i] for i in kept])


@pytest.fixture
def gaps(open_page):
    """Two subjects, of whom one lacks five parcels."""
    return bring(open_page("subjects"), series_file("s1", 1, ABSENT), series_file("s2", 2))


def warned(page) -> bool:
    return any("5 regions of 100 are missing in 1 of 2 subjects" in as_shown(box.value) for box in page.warning)


def test_a_subject_with_five_absent_parcels_is_drawn_with_gaps_until_shared_regions_are_kept(gaps):
    assert cohort_of(gaps).atlas is ATLAS
    assert warned(gaps)
    gaps.selectbox(key="region_order").select("atlas").run()
    assert np.flatnonzero(np.isnan(matrix(gaps).astype(float)).all(axis=0)).tolist() == list(ABSENT)
    press(gaps, "Keep only the 95 regions that all subjects have")
    assert cohort_of(gaps).atlas.n_regions == 95
    assert not warned(gaps)


def test_subjects_who_lack_regions_are_removed_on_request(gaps):
    press(gaps, "Remove the 1 subject with missing regions")
    assert cohort_of(gaps).ids == ("s2",)
    assert cohort_of(gaps).atlas is ATLAS


def bring_runs(open_page, *names: str):
    return bring(open_page("subjects"), *(series_file(name, i) for i, name in enumerate(names)))


def asks_which(page) -> bool:
    return "There are 3 recordings of 2 people." in words(page.markdown)


def test_runs_are_kept_apart_until_they_are_averaged_or_one_is_kept(open_page):
    names = ("sub-01_run-1", "sub-01_run-2", "sub-02_run-1")
    page = bring_runs(open_page, *names)
    assert asks_which(page)
    assert cohort_of(page).ids == names
    page = press(page, "Average each person's recordings")
    assert cohort_of(page).ids == ("sub-01", "sub-02")
    assert cohort_of(page)["sub-01"].n_timepoints == 120
    assert not asks_which(page)
    page = press(page, "Ask me again")
    assert cohort_of(page).ids == names
    page.selectbox(key="kept_run").select("run-2").run()
    page = press(page, "Keep only this one")
    assert cohort_of(page).ids == ("sub-01_run-2",)
    page = press(press(page, "Ask me again"), "Keep each person's first")
    assert cohort_of(page).ids == ("sub-01_run-1", "sub-02_run-1")


def test_a_session_with_two_runs_is_kept_once_and_the_rest_is_asked_again(open_page):
    names = ("sub-01_ses-1_run-1", "sub-01_ses-1_run-2", "sub-01_ses-2_run-1", "sub-02_ses-1_run-1")
    page = bring_runs(open_page, *names)
    page.selectbox(key="kept_run").select("ses-1").run()
    page = press(page, "Keep only this one")
    assert cohort_of(page).ids == ("sub-01_ses-1_run-1", "sub-01_ses-1_run-2", "sub-02_ses-1_run-1")
    assert asks_which(page)
    assert len(set(cohort_of(page).notes)) == len(cohort_of(page).notes)


def choose_atlas(page, name: str):
    box = next(box for box in page.selectbox if "regions are those of" in box.label)
    box.set_value(name).run()
    return box


def atlas_table(names: list[str]) -> tuple[str, bytes, str]:
    rows = [f"{10 * i},{i},{-i},{name},net{i % 2}" for i, name in enumerate(names)]
    return "lab.csv", "\n".join(["x,y,z,label,network", *rows]).encode(), "text/csv"


def test_own_atlas_is_uploaded_later_and_its_order_is_followed(own, series, may_fail) -> None:
    names = [f"area{region}" for region in (5, 0, 1, 2, 3, 4)]
    choose_atlas(own, "own table")
    press(own, "Change the atlas")
    assert "Add the atlas table first" in own.info[0].value
    uploader = next(item for item in own.file_uploader if item.key.startswith("own_atlas_table"))
    uploader.set_value(atlas_table(names[:5]))
    press(own, "Change the atlas")
    assert as_shown(own.error[0].value).startswith("The subjects have 6 regions, and lab has 5.")
    assert cohort_of(own).atlas.name == "unknown6"
    uploader = next(item for item in own.file_uploader if item.key.startswith("own_atlas_table"))
    uploader.set_value(atlas_table(names))
    press(own, "Change the atlas")
    assert_no_error(own)
    assert cohort_of(own).atlas.title == "lab"
    assert cohort_of(own).atlas.labelling("network")[:2] == ("net0", "net1")
    assert own.selectbox(key="region_order").value == "network"
    own.selectbox(key="region_order").select("atlas").run()
    heatmap = figure(own, "connectivity")["data"][0]
    assert list(heatmap["y"]) == names
    order = [5, 0, 1, 2, 3, 4]
    np.testing.assert_allclose(array(heatmap["z"]), functional_connectivity(series[0][:, order]), atol=1e-6)
    choose_atlas(own, "numbered")
    press(own, "Change the atlas")
    assert cohort_of(own).atlas.regions[0] == "Region 1"


def test_bundled_atlas_of_the_same_size_is_offered(open_page, rng) -> None:
    names = [f"place{i}" for i in range(200)]
    page = bring(open_page("subjects"), csv_file("one.csv", rng.standard_normal((30, 200)), names))
    assert cohort_of(page).atlas.name == "unknown200"
    box = choose_atlas(page, "cc200")
    assert list(box.options)[1:] == [
        "Craddock CC200",
        "Schaefer 200, 7-network order",
        "Schaefer 200, 17-network order",
        "My own atlas table",
        "Another atlas, or not known: regions are numbered",
    ]
    press(page, "Change the atlas")
    assert cohort_of(page).atlas is load_atlas("cc200")


def test_an_atlas_that_connectivity_speaks_against_is_a_warning(open_page, rng) -> None:
    """Noise has no mirrored regions: whatever the user calls it, the page warns."""
    page = open_page("subjects")
    page.selectbox(key="atlas0").set_value("cc200")
    bring(page, csv_file("one.csv", rng.standard_normal((30, 200))))
    assert "Check the atlas:" in words(page.warning)


def test_networks_are_those_of_the_atlas_unless_others_were_chosen(open_page, rng) -> None:
    """The demo starts with Dosenbach's networks; subjects on Schaefer's parcels start with Yeo's."""
    page = open_page("modules")
    assert page.selectbox(key="labelling").value == "dosenbach"
    visit(page, "hubs")
    page.selectbox(key="curve_order").select("by NE").run()
    visit(page, "subjects")
    bring(page, csv_file("one.csv", rng.standard_normal((30, 100)), ATLAS.regions))
    assert cohort_of(page).atlas.name == "schaefer100"
    assert page.selectbox(key="region_order").value == "yeo7"
    visit(page, "modules")
    assert page.selectbox(key="labelling").value == "yeo7"
    visit(page, "hubs")
    assert page.selectbox(key="curve_order").value == "by NE"


@pytest.fixture
def hostile(rng) -> Cohort:
    series = rng.standard_normal((2, 60, 8)).cumsum(axis=1)
    names = ("=1+1", "@b")
    subjects = (Subject(name, series=one, group="=NC") for name, one in zip(names, series, strict=True))
    return Cohort("two", tuple(subjects), numbered_atlas(8))


def test_tables_on_the_page_of_subjects(open_own, hostile: Cohort) -> None:
    page = open_own("subjects", hostile)
    shown = [table.value for table in page.dataframe if {"subject"} <= set(table.value.columns)]
    assert shown
    for table in shown:
        assert table["subject"].tolist() == ["'=1+1", "'@b"]
        assert set(table["group"]) == {"'=NC"}


def test_groups_that_are_set_in_the_table_come_back_as_they_were(hostile: Cohort, monkeypatch) -> None:
    changed: list[Cohort] = []
    monkeypatch.setattr("session.cohorts.change_own_cohort", changed.append)
    edited = pd.DataFrame({"ticked": [False, False], "subject": ["'=1+1", "'@b"], "group": ["'=AD", None]})
    _apply(hostile, edited, None, removing=False)
    assert {subject.id: subject.group for subject in changed[0]} == {"=1+1": "=AD", "@b": None}
    assert own_cohort() is None


@pytest.fixture
def fetched(tmp_path, monkeypatch):
    """What the server was fetched for, which is ours; files are kept in a folder of this test."""
    monkeypatch.setenv("NILEARN_DATA", str(tmp_path / "kept"))
    with abide_server(tmp_path / "server", np.random.default_rng(0)) as (address, files):
        monkeypatch.setattr(biobgt.readers.fetch, "ABIDE_SERVER", address)
        yield files


def test_fetched_subjects_are_the_users_own(open_page, fetched, tmp_path):
    page = open_page("subjects")
    said = captions(page)
    assert "asks a public server on the internet" in said
    assert "none of your data are sent" in said
    assert f"kept in {tmp_path / 'kept'} on the machine" in said
    assert fetched == []  # nothing before the button is pressed
    page.number_input(key="fetch_n_subjects").set_value(2).run()
    assert page.button(key="fetch_start").label == "Fetch 2 subjects"
    page.button(key="fetch_start").click().run()
    assert page.selectbox(key="cohort").value == OWN
    cohort = cohort_of(page)
    assert (cohort.ids, dict(cohort.group_sizes)) == (("Pitt_0050003", "Pitt_0050004"), {"ASD": 1, "NC": 1})
    assert cohort.name == "ABIDE, C-PAC"
    assert page.text_input(key="project_name_own1").value == "ABIDE, C-PAC"  # it can be saved
    assert "cohort" not in page.query_params
    assert (tmp_path / "kept" / "ABIDE_pcp" / "cpac" / "filt_global" / "Pitt_0050004_rois_cc200.1D").exists()
    assert "Pitt_0050005_rois_cc200.1D" not in fetched  # did not pass ABIDE's raters


def test_without_a_network_it_ends_with_a_sentence(open_page, tmp_path, monkeypatch, may_fail):
    monkeypatch.setenv("NILEARN_DATA", str(tmp_path / "kept"))
    monkeypatch.setattr(biobgt.readers.fetch, "ABIDE_SERVER", "http://127.0.0.1:9")
    page = open_page("subjects")
    page.button(key="fetch_start").click().run()
    (error,) = page.error
    assert "could not be fetched: its server was not reached" in as_shown(error.value)
    assert page.selectbox(key="cohort").value == "asd"
    page.number_input(key="fetch_n_subjects").set_value(3).run()
    assert not page.button(key="fetch_start").disabled


def make_cohort(name: str, *, seed: int = 0) -> Cohort:
    rng = np.random.default_rng(seed)
    atlas = Atlas(
        name="lab",
        title="Our atlas",
        regions=tuple(f"area{i}" for i in range(N_AREAS)),
        coordinates=rng.standard_normal((N_AREAS, 3)) * 20,
        labels={"network": tuple(f"net{i % 3}" for i in range(N_AREAS))},
    )
    subjects = tuple(
        Subject(f"{name}-{i}", series=rng.standard_normal((60, N_AREAS)), group=group, phenotypes={"age": 20.5 + i})
        for i, group in enumerate(["NC", "patients", None])
    )
    return Cohort(name, subjects, atlas, notes=("A note *of ours*.",))


def content_of(cohort: Cohort, *, chosen=HUBS | MODULES, settings=SETTINGS) -> bytes:
    view = View(LoadedCohort("own", cohort), cohort.subjects[1], settings, chosen)
    return project_file(view)


def project_file(view: View) -> bytes:
    stream = io.BytesIO()
    save_project(view.cohort, view.settings, saved_view(view), stream)
    return stream.getvalue()


def open_in(page, content: bytes, name: str = "study.biobgt"):
    uploader = next(item for item in page.file_uploader if item.key.startswith("project"))
    return uploader.set_value((name, content, "application/octet-stream")).run()


def test_project_opens_with_its_subjects_and_its_view(open_page) -> None:
    cohort = make_cohort("lab")
    page = open_in(open_page("subjects"), content_of(cohort))
    assert not page.warning
    visit(page, "modules", "subjects")
    assert project_file(page.session_state["view"]) == content_of(cohort), "saved again it is the same file"
    assert page.selectbox(key="cohort").value == "own"
    assert list(page.selectbox(key="subject").options) == ["lab-0 · NC", "lab-1 · patients", "lab-2"]
    assert page.selectbox(key="subject").value == "lab-1"
    assert page.selectbox(key="estimator").value == "ledoit-wolf"
    assert page.slider(key="proportional_level").value == 0.25
    assert page.toggle(key="backbone").value is True
    assert "A note *of ours*." in captions(page)
    page.selectbox(key="region_order").select("atlas").run()
    expected = functional_connectivity(cohort["lab-1"].series, estimator="ledoit-wolf")
    np.testing.assert_allclose(array(figure(page, "connectivity")["data"][0]["z"]), expected, atol=1e-6)
    assert "subject" not in page.query_params
    assert "labelling" not in page.query_params  # of an atlas that nobody else has
    view = page.session_state["view"]
    assert {name: view.choices[name] for name in (*HUBS, *MODULES)} == HUBS | MODULES
    assert view.settings == SETTINGS
    visit(page, "modules")
    assert page.select_slider(key="resolution").value == 1.4
    assert page.selectbox(key="labelling").value == "network"


def other_value(one: Option, cohort: Cohort) -> Plain:
    """A value of an option that is not its default; the default where the cohort offers no other."""
    default = one.default_for(cohort)
    if one.name == "region":
        return cohort.atlas.regions[-1]
    if isinstance(default, tuple):
        return tuple(one.offered(cohort))[-1:]
    return next((value for value in one.offered(cohort) if value != default), default)


def test_project_keeps_every_choice_that_a_link_keeps() -> None:
    cohort = demo_cohort("ad", n_per_group=2)
    usual = View(LoadedCohort("ad", cohort), cohort.subjects[1], SETTINGS)
    asked = {name: usual.cohort_behind(one) for name, one in linked_options().items()}
    chosen = {name: other_value(one, asked[name]) for name, one in linked_options().items()}
    view = replace(usual, choices=chosen)
    assert len(chosen) > 40
    link = link_of_project(open_project(io.BytesIO(content_of(cohort, chosen=chosen))))
    assert not link.problems
    opened = View(LoadedCohort("ad", cohort), cohort[link.subject], link.settings, link.choices)
    assert link_of(opened) == link_of(view)
    changed = {name for name, one in linked_options().items() if chosen[name] != one.default_for(asked[name])}
    assert {name: link.choices[name] for name in changed} == {name: chosen[name] for name in changed}
    assert {"measures", "difference_unit", "compared", "brain_shown", "region", "received_group"} <= changed


@pytest.mark.parametrize(
    ("name", "file"),
    [("Our study, wave 2", "Our_study_wave_2"), ("../../etc", "etc"), ("…", "project"), ("  ", "project")],
)
def test_file_is_named_after_the_project(name, file) -> None:
    assert _file_name(name) == f"{file}.biobgt"


def test_demo_saved_and_opened_is_still_marked_as_simulated(open_page) -> None:
    cohort = demo_cohort("ad", n_per_group=2)
    page = open_in(open_page("subjects"), content_of(cohort, chosen={}))
    assert badges(page) == 1
    titles = list(page.selectbox(key="cohort").options)
    assert len(titles) == len(set(titles)) == 4


@pytest.mark.parametrize("content", [b"", b"not a zip", content_of(make_cohort("lab"))[:-200]])
def test_broken_project_is_a_sentence_and_everything_stays(open_page, content, may_fail) -> None:
    page = open_in(open_page("subjects"), content_of(make_cohort("before")))
    page = open_in(page, content)
    (error,) = page.error
    assert "not a whole project file" in as_shown(error.value)
    page.run()
    assert len(page.error) == 1
    assert page.selectbox(key="subject").value == "before-1"


def test_values_that_do_not_fit_are_replaced_and_named() -> None:
    cohort = make_cohort("lab")
    view = {"subject": "nobody", "region": "Atlantis", "gamma": 0.51, "seed": 10**9, "labelling": "x", "unknown": True}
    link = link_of_project(Project(cohort, ConnectomeSettings(level=7.0), view))
    assert (link.cohort, link.subject, link.settings.level) == ("own", "lab-0", 0.3)
    opened = View(LoadedCohort("own", cohort), cohort.subjects[0], link.settings, link.choices)
    assert opened.options(HubOptions) == HubOptions()
    assert opened.options(NamedModuleOptions) == NamedModuleOptions(labelling="network")
    assert not link.choices["region"]
    assert len(link.problems) == 6
    assert all(problem.startswith("The project's ") for problem in link.problems)


def test_changes_by_hand_are_in_the_file(open_page) -> None:
    page = open_in(open_page("subjects"), content_of(make_cohort("lab")))
    press(edit(page, {0: {"ticked": True}, 2: {"group": "AD"}}), "Remove the ticked subjects")
    saved = open_project(io.BytesIO(project_file(page.session_state["view"]))).cohort
    assert [(subject.id, subject.group) for subject in saved] == [("lab-1", "patients"), ("lab-2", "AD")]
    assert saved.notes[-1] == "Removed by hand: 1 subject (lab-0)."


def test_edits_and_results_of_a_session_are_its_own(open_page) -> None:
    """That nobody sees another's subjects is tested on a real server and in browsers."""
    mine, yours = (open_in(open_page("subjects"), content_of(make_cohort(name))) for name in ("mine", "yours"))
    press(edit(mine, {0: {"group": "AD"}}), "Set the groups")
    for page, whose, group in ((mine, "mine", "AD"), (yours, "yours", "NC")):
        visit(page, "modules", "subjects")
        subjects = list(page.selectbox(key="subject").options)
        assert subjects == [f"{whose}-0 · {group}", f"{whose}-1 · patients", f"{whose}-2"]
        assert page.data_editor[0].value["group"].tolist()[0] == group
        kept = page.session_state["own_cohort"].store._kept["modules"]
        assert {key.about[0] for key in kept} == {f"{whose}-1"}


def test_project_among_the_files_is_read_as_a_cohort() -> None:
    project = Uploaded("study.biobgt", content_of(make_cohort("lab")))
    assert read_uploaded(UploadedFiles([project]), name="Your files").ids == ("lab-0", "lab-1", "lab-2")
    with pytest.raises(InputError, match="alone"):
        read_uploaded(UploadedFiles([project, project]), name="Your files")
