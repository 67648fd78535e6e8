"""Coming back to a page that was seen computes nothing again, page by page."""

import shutil
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from page_contents import array, buttons, figure, parts, traces, words
from page_hands import N_REGIONS, bring, cohort_of, table_file, turn_to, visit
from streamlit.testing.v1 import AppTest

import biobgt.readers.cohort
import session.view
from biobgt import Cohort, ConnectomeSettings, Subject, load_atlas
from biobgt.data import quality
from biobgt.data.atlas import numbered_atlas
from biobgt.data.edits import change_atlas, remove_subjects, set_groups
from biobgt.export import CohortRef, FigureRequest, bundle, cohort_sha256
from biobgt.figures.attention import maps
from biobgt.hubs import agreement, region, table
from biobgt.hubs.entanglement import Spectra
from biobgt.hubs.measures import COMPARED, GAMMAS, HUB_MEASURES
from biobgt.hubs.table import SubjectHubs
from biobgt.model import folder as model_files
from biobgt.model import pretrained
from biobgt.model.pretrained import InstalledModel
from biobgt.modules import compare as difference
from biobgt.modules import louvain
from biobgt.modules import structure as finding
from biobgt.results import measured as measured_graph
from biobgt.results.measured import Measured
from session import cohorts as loaded_cohorts
from session.view import EXPORT_LIST, OWN_COHORT, LoadedCohort

# Everything of the library that measures, draws subjects, runs a model or draws for paper, where the app calls it.
COMPUTING = (
    (measured_graph, "subject_connectivity"),
    (measured_graph, "graph_from_connectivity"),
    (quality, "mean_connectivity"),
    (session.view, "quality_table"),
    (session.view, "cohort_sha256"),
    (loaded_cohorts, "find_cohort"),
    (table, "measure_hubs"),
    (table, "measure_curves"),
    (agreement, "hub_correlation"),
    (agreement, "subject_sweep"),
    (region, "explain_region"),
    (Spectra, "entropy_change"),
    (finding, "measure_modules"),
    (finding, "find_modules"),
    (louvain, "resolution_step"),
    (difference, "group_module_difference"),
    (finding, "modularity_test"),
    (finding, "small_world"),
    (pretrained, "load_card"),
    (pretrained, "load_groups"),
    (pretrained, "load_region_weights"),
    (pretrained, "load_pretrained"),
    (maps, "_louvain_labels"),
    (bundle, "make_files"),
)
GRAPH = ["subject_connectivity", "graph_from_connectivity"]
N_SUBJECTS = 6


@pytest.fixture
def calls(monkeypatch) -> Counter:
    """How often the library was asked to compute, by the function's name."""
    calls: Counter = Counter()

    def count(owner, name: str) -> None:
        computing = getattr(owner, name)

        def counting(*arguments, **options):
            calls[name] += 1
            return computing(*arguments, **options)

        monkeypatch.setattr(owner, name, counting)

    for owner, name in COMPUTING:
        count(owner, name)

    def explain(subjects) -> SimpleNamespace:
        calls["model"] += 1
        return SimpleNamespace(attention=np.random.default_rng(0).random((1, 2, 2, 200, 200)))

    stub = SimpleNamespace(
        predict=lambda cohort: calls.update(["model"]) or same_of_all(cohort),
        explain=explain,
        check=lambda cohort: None,
    )
    monkeypatch.setattr(InstalledModel, "ensemble", property(lambda model: stub))
    return calls


def same_of_all(cohort: Cohort) -> pd.DataFrame:
    """What a stub of a model predicts."""
    return pd.DataFrame([{"subject": cohort.ids[0], "prediction": "NC", "warning": "", "p_NC": 0.6, "p_ASD": 0.4}])


def small_cohort(n_regions: int) -> Cohort:
    rng = np.random.default_rng(0)
    series = rng.standard_normal((4, 60, n_regions)).cumsum(axis=1)
    subjects = tuple(Subject(f"s{i}", series=one, group="NC" if i < 2 else "ASD") for i, one in enumerate(series))
    return Cohort("four", subjects, load_atlas("cc200") if n_regions == 200 else numbered_atlas(n_regions))


def own_requests(
    cohort: Cohort, *subjects: str, figure: str = "connectivity_heatmap", **options
) -> list[FigureRequest]:
    ref = CohortRef(cohort.name, sha256=cohort_sha256(cohort))
    return [FigureRequest(figure, ref, name, ConnectomeSettings(), options) for name in subjects]


@pytest.mark.parametrize(
    ("page", "n_regions", "asked", "needed"),
    [
        ("home", 8, {}, [*GRAPH, "measure_hubs"]),
        ("subjects", 8, {}, [*GRAPH, "mean_connectivity", "quality_table"]),
        ("hubs", 8, {"group_behind": True}, [*GRAPH, "measure_hubs", "measure_curves", "entropy_change"]),
        ("modules", 8, {}, [*GRAPH, "measure_modules"]),
        ("modules", 8, {"sweep_wanted": True, "module_tab": "chance"}, [*GRAPH, "resolution_step"]),
        ("compare", 8, {"compared": "modules", "groups_wanted": True}, [*GRAPH, "group_module_difference"]),
        ("attention", 200, {"own_attention": True, "attention_tab": "subject"}, ["model"]),
        ("attention", 200, {"attention_order": "louvain"}, ["_louvain_labels"]),
        ("predict", 200, {"predict_all_wanted": True}, ["model"]),
        ("models", 200, {}, []),
        ("export", 8, {}, ["make_files"]),
    ],
)
def test_nothing_is_computed_when_one_comes_back(open_own, calls, page, n_regions, asked, needed) -> None:
    cohort = small_cohort(n_regions)
    listed = own_requests(cohort, "s0") if page == "export" else []
    session = open_own(page, cohort, **{EXPORT_LIST: listed}, **asked)
    assert set(needed) <= set(calls), "the page no longer computes what this test counts"
    if page == "predict":
        session.run()  # the subject is above the cohort, and shown when that was predicted
    shown = len(session.get("plotly_chart"))
    visit(session, "models" if page == "export" else "export")
    calls.clear()
    visit(session, page)
    assert not calls
    assert len(session.get("plotly_chart")) >= shown


def _model_list() -> None:
    """A page that names the models; Streamlit runs its source, so that it imports for itself."""
    import streamlit

    from biobgt.model.pretrained import installed_models

    streamlit.text(" ".join(installed_models()))


def test_a_new_model_is_noticed_on_the_next_run(monkeypatch, tmp_path) -> None:
    card = model_files.pretrained_folder() / "abide-cc200" / "card.json"
    monkeypatch.setattr(model_files, "pretrained_folder", lambda: tmp_path)
    page = AppTest.from_function(_model_list, default_timeout=120).run()
    assert page.text[0].value == ""
    (tmp_path / "new").mkdir()
    shutil.copy(card, tmp_path / "new")
    assert page.run().text[0].value == "new"


def has_hubs(loaded: LoadedCohort, subject: str) -> bool:
    return loaded.measured.of(subject, ConnectomeSettings()).is_kept(Measured.hubs, "control")


def test_what_is_kept_of_a_changed_cohort(series) -> None:
    cohort = Cohort("x", tuple(Subject(f"s{i}", series=series[i]) for i in range(3)), numbered_atlas(N_REGIONS))
    loaded = LoadedCohort("own", cohort)
    loaded.measured.of("s0", ConnectomeSettings()).hubs("control")
    loaded.measured.of("s0", ConnectomeSettings(estimator="tangent")).connectivity()
    space = loaded.measured.recall(Measured.tangent_space)
    assert space is not None
    assert loaded.quality["group"].isna().all()
    regrouped = loaded.changed_to(set_groups(cohort, {"s1": "AD"}))
    assert has_hubs(regrouped, "s0")
    assert regrouped.measured.recall(Measured.tangent_space) is space
    assert regrouped.quality["group"].tolist()[1] == "AD"
    for changed in (
        remove_subjects(cohort, ["s1"]),
        change_atlas(cohort, numbered_atlas(N_REGIONS)),
        Cohort("x", tuple(Subject(f"s{i}", series=series[i] + 1) for i in range(3)), cohort.atlas),
    ):
        after = loaded.changed_to(changed)
        assert not has_hubs(after, "s0")
        assert not after.measured.is_kept(Measured.tangent_space)


@pytest.fixture
def cohort(rng) -> Cohort:
    """Six subjects in two groups, on few regions, so that no step takes long."""
    series = rng.standard_normal((N_SUBJECTS, 60, N_REGIONS)).cumsum(axis=1)
    subjects = (Subject(f"s{i}", series=one, group="NC" if i < 3 else "ASD") for i, one in enumerate(series))
    return Cohort("six", tuple(subjects), numbered_atlas(N_REGIONS))


@pytest.fixture
def interrupt(monkeypatch):
    """Let a step end the run once, as a click on Stop does while the step before it is shown."""

    def interrupt(module, name: str, *, after: int) -> list[object]:
        done: list[object] = []
        clicks = [after]
        step = getattr(module, name)

        def interrupted(*arguments, **options):
            if clicks and len(done) == clicks[0]:
                clicks.clear()
                st.stop()
            result = step(*arguments, **options)
            done.append(arguments[0])
            return result

        monkeypatch.setattr(module, name, interrupted)
        return done

    return interrupt


def stop(page, key: str, done: list[object], *, after: int, total: int):
    """Press Stop, see that nothing more is done, and go on; all is done once."""
    assert len(done) == after
    page.button(key=f"{key}_stop").click().run()
    assert len(done) == after
    start = page.button(key=f"{key}_start")
    assert start.label.endswith(f": {total - after} of {total} left")
    page.run()  # nor does it start by itself when something else is clicked
    assert len(done) == after
    start.click().run()
    assert len(done) == total
    assert not {f"{key}_stop", f"{key}_start"} & buttons(page)
    return page


def test_rest_of_the_hubs_of_many_regions(open_own, cohort, interrupt, monkeypatch) -> None:
    monkeypatch.setattr("biobgt.hubs.resolvents.STEPS_ABOVE", N_REGIONS - 1)
    done = interrupt(SubjectHubs, "measure", after=2)
    page = open_own("hubs", cohort)
    assert figure(page, "hub_curves")  # what needs no more is there at once
    turn_to(page, "agreement")
    page.button(key="rest_of_hubs_stop").click().run()
    assert len(done) == 2
    assert "Why this region" not in words(page.subheader)
    start = page.button(key="rest_of_hubs_start")
    n_steps = len(HUB_MEASURES) - 1  # eight regions have eigenvalues, so that no γ is left
    assert start.label.startswith("Measure NE at the other diffusion times")
    start.click().run()
    assert len(done) == n_steps - len(COMPARED) + 1
    assert figure(page, "gamma_sweep")
    assert not {"rest_of_hubs_stop", "rest_of_hubs_start"} & buttons(page)


def test_explore_has_every_gamma_of_many_regions_in_the_end(open_own, cohort, interrupt, monkeypatch) -> None:
    monkeypatch.setattr("biobgt.hubs.resolvents.STEPS_ABOVE", N_REGIONS - 1)
    interrupt(SubjectHubs, "measure", after=2)
    page = open_own("explore", cohort)
    shown = parts(page)
    assert shown["explore_curves"]["figure"]  # the tiles are there
    assert "facts_gamma" not in shown
    assert shown["frame"]["steps"] == {}
    page.button(key="rest_of_hubs_stop").click().run()
    page.button(key="rest_of_hubs_start").click().run()
    whole = parts(page)
    assert len(whole["facts_gamma"]["steps"]) == len(GAMMAS)
    assert whole["frame"]["steps"] == {"gamma": GAMMAS.index(0.5)}
    assert whole["explore_curves"]["figure"] == shown["explore_curves"]["figure"]


@pytest.mark.parametrize(
    ("page", "key", "module", "name", "total"),
    [
        ("compare", "groups", finding, "find_modules", 6),
        ("compare", "compare", finding, "measure_modules", 6),
        ("modules", "sweep", louvain, "resolution_step", 16),
        ("modules", "modularity_test", finding, "modularity_test", 100),
        ("modules", "small_world", finding, "small_world", 5),
        ("hubs", "group_curves", table, "measure_curves", 3),
        ("export", "export_previews", bundle, "make_files", 3),
        ("export", "export_bundle", bundle, "make_files", 3),
    ],
)
def test_work_is_stopped_and_goes_on(open_own, cohort, interrupt, page, key, module, name, total) -> None:
    """What nobody asked for starts with the page: a group behind curves, and previews."""
    state = {"compared": "modules" if key == "groups" else "segregation", "group_behind": True, "module_tab": "chance"}
    listed = {EXPORT_LIST: own_requests(cohort, "s0", "s1", "s2"), "export_formats": ["svg"], "panel_figures": []}
    at_once = key in ("group_curves", "export_previews")
    done = interrupt(module, name, after=2) if at_once else []
    page = open_own(page, cohort, **state, **listed)
    if not at_once:
        done = interrupt(module, name, after=2)
        page.button(key=f"{key}_start").click().run()
    page = stop(page, key, done, after=2, total=total)
    if key == "sweep":
        assert len(array(figure(page, "resolution_curves")["data"][0]["x"])) == total
    elif key == "group_curves":
        assert "NC, mean ± SD" in traces(page, "hub_curves")
    elif key == "export_previews":
        assert len(page.get("image")) == 3
    elif key == "export_bundle":
        assert page.get("download_button")


def test_predictions_of_a_cohort(open_own, rng, interrupt, monkeypatch) -> None:
    subjects = tuple(Subject(f"s{i}", series=rng.standard_normal((30, 200))) for i in range(4))
    stub = SimpleNamespace(predict=same_of_all)
    monkeypatch.setattr(InstalledModel, "ensemble", property(lambda model: stub))
    page = open_own("predict", Cohort("four", subjects, load_atlas("cc200")), model="abide-cc200")
    done = interrupt(stub, "predict", after=3)
    page.button(key="predict_all_start").click().run()
    page = stop(page, "predict_all", done, after=3, total=4)
    assert page.dataframe[0].value["Subject"].tolist() == ["s0", "s1", "s2", "s3"]


def test_figure_of_a_group_is_stopped_between_two_subjects(open_own, cohort, interrupt) -> None:
    done = interrupt(table, "measure_curves", after=2)
    listed = own_requests(cohort, "s0", figure="hub_curves", group=True)
    page = open_own("export", cohort, **{EXPORT_LIST: listed})
    page.button(key="export_previews_stop").click().run()
    assert len(done) == 2
    page.button(key="export_previews_start").click().run()
    assert len(done) == 3
    assert len(page.get("image")) == 1


def test_reading(open_page, rng, interrupt) -> None:
    page = open_page("subjects")
    done = interrupt(biobgt.readers.cohort, "read_file", after=2)
    bring(page, *(table_file(rng.random((4, 20, N_REGIONS)), i) for i in range(4)))
    assert len(done) == 2
    page.button(key="reading_stop").click().run()
    assert "Reading was stopped" in page.info[0].value
    assert len(done) == 2
    assert OWN_COHORT not in page.session_state
    page.button(key="reading_start").click().run()
    assert len(done) == 2 + 4  # a cohort is read as one, from its first file
    assert cohort_of(page).ids == ("sub-00", "sub-01", "sub-02", "sub-03")
    assert np.isfinite(cohort_of(page)["sub-00"].series).all()
