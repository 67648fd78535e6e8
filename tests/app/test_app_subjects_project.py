"""A cohort and its settings are saved from the page of subjects and opened there again, in one's own session only."""

import io

import numpy as np
import pytest
from page_contents import array, as_shown, assert_no_error, badges, captions, figure

from biobgt import Atlas, Cohort, ConnectomeSettings, InputError, Subject, functional_connectivity
from biobgt.base.options import Option, Plain
from biobgt.data.simulate import demo_cohort
from biobgt.hubs.options import HubOptions
from biobgt.modules.measures import NamedModuleOptions
from biobgt.readers.project import Project, open_project
from session.cohorts import UploadedFiles, read_uploaded
from session.link import link_of, link_of_project, saved_view
from session.view import FITTING, LoadedCohort, View, cohort_behind, linked_options
from views.subjects.upload import file_name, project_file

N_REGIONS = 8
SETTINGS = ConnectomeSettings("ledoit-wolf", "signed", "proportional", 0.25, True)
HUBS = {"gamma": 3.0, "perturbation": "remove", "hub_rule": "sd", "region": "area3"}
MODULES = {"resolution": 1.4, "consensus": True, "signed": False, "runs": 20, "seed": 7, "labelling": "network"}


def make_cohort(name: str, *, seed: int = 0) -> Cohort:
    rng = np.random.default_rng(seed)
    atlas = Atlas(
        name="lab",
        title="Our atlas",
        regions=tuple(f"area{i}" for i in range(N_REGIONS)),
        coordinates=rng.standard_normal((N_REGIONS, 3)) * 20,
        labels={"network": tuple(f"net{i % 3}" for i in range(N_REGIONS))},
    )
    subjects = tuple(
        Subject(f"{name}-{i}", series=rng.standard_normal((60, N_REGIONS)), group=group, phenotypes={"age": 20.5 + i})
        for i, group in enumerate(["NC", "patients", None])
    )
    return Cohort(name, subjects, atlas, notes=("A note *of ours*.",))


def content_of(cohort: Cohort, *, chosen=HUBS | MODULES, settings=SETTINGS) -> bytes:
    view = View(LoadedCohort("own", cohort), cohort.subjects[1], settings, chosen)
    return project_file(cohort, settings, saved_view(view), cohort.name)


def open_in(page, content: bytes, name: str = "study.biobgt"):
    uploader = next(item for item in page.file_uploader if item.key.startswith("project"))
    uploader.set_value((name, content, "application/octet-stream")).run()
    return page


def test_project_opens_with_its_subjects_and_its_view(open_page) -> None:
    cohort = make_cohort("lab")
    page = open_in(open_page("subjects"), content_of(cohort))
    assert_no_error(page)
    assert not page.warning
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
    page.switch_page("views/modules.py").run()
    assert_no_error(page)
    assert page.select_slider(key="resolution").value == 1.4
    assert page.selectbox(key="labelling").value == "network"


def test_saving_what_was_opened_gives_the_same_file(open_page) -> None:
    content = content_of(make_cohort("lab"))
    page = open_in(open_page("subjects"), content)
    page.switch_page("views/modules.py").run()
    page.switch_page("views/subjects/page.py").run()
    view = page.session_state["view"]
    again = project_file(view.cohort, view.settings, saved_view(view), view.cohort.name)
    assert again == content


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
    asked = {name: cohort_behind(one, FITTING, cohort) for name, one in linked_options().items()}
    chosen = {name: other_value(one, asked[name]) for name, one in linked_options().items()}
    view = View(LoadedCohort("ad", cohort), cohort.subjects[1], SETTINGS, chosen)
    assert len(chosen) > 40
    link = link_of_project(open_project(io.BytesIO(content_of(cohort, chosen=chosen))))
    assert not link.problems
    opened = View(LoadedCohort("ad", cohort), cohort[link.subject], link.settings, link.choices)
    assert link_of(opened) == link_of(view)
    changed = {name for name, one in linked_options().items() if chosen[name] != one.default_for(asked[name])}
    assert {name: link.choices[name] for name in changed} == {name: chosen[name] for name in changed}
    assert {"measures", "difference_unit", "compared", "brain_shown", "region", "received_group"} <= changed


def test_every_cohort_can_be_saved_under_a_name(open_page) -> None:
    page = open_page("subjects")
    (button,) = page.get("download_button")
    assert button.label == "Save the project"
    name = next(item for item in page.text_input if item.label == "Name of the project")
    assert name.value == page.session_state["view"].cohort.name
    name.set_value("  ").run()
    assert_no_error(page)


@pytest.mark.parametrize(
    ("name", "file"),
    [("Our study, wave 2", "Our_study_wave_2.biobgt"), ("../../etc", "etc.biobgt"), ("…", "project.biobgt")],
)
def test_file_is_named_after_the_project(name, file) -> None:
    assert file_name(name) == file


def test_demo_saved_and_opened_is_still_marked_as_simulated(open_page) -> None:
    cohort = demo_cohort("ad", n_per_group=2)
    page = open_in(open_page("subjects"), content_of(cohort, chosen={}))
    assert_no_error(page)
    assert badges(page) >= 1
    assert badges(page.sidebar) == 1
    titles = list(page.selectbox(key="cohort").options)
    assert len(titles) == len(set(titles)) == 4


@pytest.mark.parametrize("content", [b"", b"not a zip", content_of(make_cohort("lab"))[:-200]])
def test_broken_project_is_a_sentence_and_everything_stays(open_page, content) -> None:
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
    (editor,) = page.data_editor
    page.session_state[editor.key] = {
        "edited_rows": {0: {"ticked": True}, 2: {"group": "AD"}},
        "added_rows": [],
        "deleted_rows": [],
    }
    next(button for button in page.button if button.label == "Remove the ticked subjects").click().run()
    assert_no_error(page)
    view = page.session_state["view"]
    saved = open_project(io.BytesIO(project_file(view.cohort, view.settings, {}, "second"))).cohort
    assert [(subject.id, subject.group) for subject in saved] == [("lab-1", "patients"), ("lab-2", "AD")]
    assert saved.notes[-1] == "Removed by hand: 1 subject (lab-0)."


def test_two_sessions_never_see_each_other(open_page) -> None:
    mine = open_in(open_page("subjects"), content_of(make_cohort("mine", seed=1)))
    yours = open_in(open_page("subjects"), content_of(make_cohort("yours", seed=2)))
    third = open_page("subjects")
    (editor,) = mine.data_editor
    mine.session_state[editor.key] = {"edited_rows": {0: {"group": "AD"}}, "added_rows": [], "deleted_rows": []}
    next(button for button in mine.button if button.label == "Set the groups").click().run()
    for page in (mine, yours, third):
        page.switch_page("views/modules.py").run()
        page.switch_page("views/subjects/page.py").run()
        assert_no_error(page)
    assert list(mine.selectbox(key="subject").options) == ["mine-0 · AD", "mine-1 · patients", "mine-2"]
    assert list(yours.selectbox(key="subject").options) == ["yours-0 · NC", "yours-1 · patients", "yours-2"]
    assert yours.data_editor[0].value["group"].tolist()[0] == "NC"
    assert third.selectbox(key="cohort").value == "asd"
    assert len(third.selectbox(key="cohort").options) == 3
    for page, others in ((mine, "yours-"), (yours, "mine-"), (third, "mine-"), (third, "yours-")):
        shown = captions(page) + str([table.value for table in page.dataframe])
        assert others not in shown
    for page, whose in ((mine, "mine"), (yours, "yours")):
        kept = page.session_state["own_cohort"].store._kept["modules"]
        assert {key.about[0] for key in kept} == {f"{whose}-1"}


def test_project_among_the_files_is_read_as_a_cohort() -> None:
    class Dropped:
        file_id = name = "study.biobgt"

        def getbuffer(self) -> memoryview:
            return memoryview(content_of(make_cohort("lab")))

    assert read_uploaded(UploadedFiles([Dropped()]), name="Your files").ids == ("lab-0", "lab-1", "lab-2")
    with pytest.raises(InputError, match="alone"):
        read_uploaded(UploadedFiles([Dropped(), Dropped()]), name="Your files")
