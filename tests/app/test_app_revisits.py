"""Coming back to a page that was seen computes nothing again, page by page."""

import shutil
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from page_contents import assert_no_error
from start_page import start_at
from streamlit.testing.v1 import AppTest

import session.view
from biobgt import Cohort, ConnectomeSettings, Subject, load_atlas
from biobgt.data import quality
from biobgt.data.atlas import numbered_atlas
from biobgt.export import CohortRef, FigureRequest, cohort_sha256
from biobgt.groups import attention as means
from biobgt.hubs import table
from biobgt.hubs import table as explain_region
from biobgt.hubs import table as group_curves
from biobgt.hubs import table as sweep
from biobgt.hubs.entanglement import Spectra
from biobgt.model import installed, pretrained
from biobgt.modules import compare as difference
from biobgt.modules import louvain
from biobgt.modules import structure as finding
from biobgt.results import measured as measured_graph
from session import cohorts as loaded_cohorts
from session.cohorts import OWN
from session.view import EXPORT_LIST, NEXT_COHORT, OWN_COHORT, LoadedCohort
from views.export import results as export_results
from views.page_map import PAGES

HOME = Path(__file__).resolve().parents[2] / "app" / "Home.py"
TIMEOUT_S = 120
# Everything of the library that measures, draws subjects, runs a model or draws for paper, where the app calls it.
COMPUTING = (
    (measured_graph, "subject_connectivity"),
    (measured_graph, "graph_from_connectivity"),
    (quality, "mean_connectivity"),
    (session.view, "quality_table"),
    (session.view, "cohort_sha256"),
    (loaded_cohorts, "find_cohort"),
    (table, "measure_hubs"),
    (group_curves, "measure_curves"),
    (sweep, "hub_correlation"),
    (sweep, "subject_sweep"),
    (explain_region, "explain_region"),
    (Spectra, "entropy_change"),
    (finding, "measure_modules"),
    (finding, "find_modules"),
    (louvain, "resolution_step"),
    (difference, "group_module_difference"),
    (import_module("biobgt.modules.structure"), "modularity_test"),  # the package has a function of this name
    (import_module("biobgt.modules.structure"), "small_world"),
    (installed, "load_card"),
    (installed, "load_groups"),
    (installed, "load_region_weights"),
    (installed, "load_pretrained"),
    (means, "louvain_labels"),
    (export_results, "make_files"),
)
GRAPH = ["subject_connectivity", "graph_from_connectivity"]


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

    def run(cohort: Cohort) -> pd.DataFrame:
        calls["model"] += 1
        row = {"subject": cohort.ids[0], "prediction": "NC", "warning": "", "p_NC": 0.6, "p_ASD": 0.4}
        return pd.DataFrame([row])

    def explain(subjects) -> SimpleNamespace:
        calls["model"] += 1
        return SimpleNamespace(attention=np.random.default_rng(0).random((1, 2, 2, 200, 200)))

    stub = SimpleNamespace(predict=run, explain=explain, check=lambda cohort: None)
    monkeypatch.setattr(installed.InstalledModel, "ensemble", property(lambda model: stub))
    return calls


def small_cohort(n_regions: int) -> Cohort:
    rng = np.random.default_rng(0)
    series = rng.standard_normal((4, 60, n_regions)).cumsum(axis=1)
    subjects = tuple(Subject(f"s{i}", series=one, group="NC" if i < 2 else "ASD") for i, one in enumerate(series))
    return Cohort("four", subjects, load_atlas("cc200") if n_regions == 200 else numbered_atlas(n_regions))


def exported(cohort: Cohort) -> list[FigureRequest]:
    ref = CohortRef(cohort.name, sha256=cohort_sha256(cohort))
    return [FigureRequest("connectivity_heatmap", ref, "s0", ConnectomeSettings())]


@pytest.mark.parametrize(
    ("page", "n_regions", "asked", "needed"),
    [
        ("home", 8, {}, [*GRAPH, "measure_hubs"]),
        ("subjects", 8, {}, [*GRAPH, "mean_connectivity", "quality_table"]),
        ("hubs", 8, {"group_behind": True}, [*GRAPH, "measure_hubs", "measure_curves", "entropy_change"]),
        (
            "modules",
            8,
            {"sweep_wanted": True},
            [*GRAPH, "measure_modules", "resolution_step"],
        ),
        ("compare", 8, {"compared": "modules", "groups_wanted": True}, [*GRAPH, "group_module_difference"]),
        (
            "attention",
            200,
            {"own_attention": True, "attention_order": "louvain"},
            ["model"],
        ),
        ("predict", 200, {"predict_all_wanted": True}, ["model"]),
        ("models", 200, {}, []),
        ("export", 8, {}, ["make_files"]),
    ],
)
def test_nothing_is_computed_when_one_comes_back(calls, page, n_regions, asked, needed) -> None:
    cohort = small_cohort(n_regions)
    session = AppTest.from_file(str(HOME), default_timeout=TIMEOUT_S)
    session.session_state[OWN_COHORT] = LoadedCohort(OWN, cohort)
    session.session_state[NEXT_COHORT] = OWN
    session.session_state[EXPORT_LIST] = exported(cohort) if page == "export" else []
    for key, value in asked.items():
        session.session_state[key] = value
    start_at(session, page).run()
    assert_no_error(session)
    assert set(needed) <= set(calls), "the page no longer computes what this test counts"
    if page == "predict":
        session.run()  # the subject is above the cohort, and shown when that was predicted
    shown = len(session.get("plotly_chart"))
    session.switch_page("views/models.py" if page == "export" else "views/export/page.py").run()
    calls.clear()
    session.switch_page(PAGES[page].script).run()
    assert_no_error(session)
    assert not calls
    assert len(session.get("plotly_chart")) >= shown


def _model_list() -> None:
    """A page that names the models; Streamlit runs its source, so that it imports for itself."""
    import streamlit

    from biobgt.model.installed import installed_models

    streamlit.text(" ".join(installed_models()))


def test_a_new_model_is_noticed_on_the_next_run(monkeypatch, tmp_path) -> None:
    card = pretrained.pretrained_folder() / "abide-cc200" / "card.json"
    monkeypatch.setattr(pretrained, "pretrained_folder", lambda: tmp_path)
    page = AppTest.from_function(_model_list, default_timeout=TIMEOUT_S).run()
    assert page.text[0].value == ""
    (tmp_path / "new").mkdir()
    shutil.copy(card, tmp_path / "new")
    assert page.run().text[0].value == "new"
