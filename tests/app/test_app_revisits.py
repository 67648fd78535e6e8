"""Coming back to a page that was seen computes nothing again, page by page."""

import shutil
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import export_results
import hub_results
import loaded
import model_results
import module_results
import numpy as np
import pandas as pd
import pytest
import state
from loaded import LoadedCohort
from page_contents import assert_no_error
from state import EXPORT_LIST, NEXT_COHORT, OWN, OWN_COHORT
from streamlit.testing.v1 import AppTest

from biobgt import Cohort, ConnectomeSettings, Subject, load_atlas
from biobgt.atlas import numbered_atlas
from biobgt.export import CohortRef, FigureRequest, cohort_sha256
from biobgt.hubs.spectra import Spectra
from biobgt.model import pretrained

HOME = Path(__file__).resolve().parents[2] / "app" / "Home.py"
TIMEOUT_S = 120
# Everything of the library that measures, draws subjects, runs a model or draws for paper, where the app calls it.
COMPUTING = (
    (loaded, "subject_connectivity"),
    (loaded, "graph_from_connectivity"),
    (loaded, "mean_connectivity"),
    (loaded, "quality_table"),
    (loaded, "cohort_sha256"),
    (state, "demo_cohort"),
    (hub_results, "measure_hubs"),
    (hub_results, "measure_curves"),
    (hub_results, "hub_correlations"),
    (hub_results, "subject_connectivity"),
    (Spectra, "entropy_change"),
    (module_results, "measure_modules"),
    (module_results, "find_modules"),
    (module_results, "resolution_step"),
    (module_results, "group_module_difference"),
    (module_results, "modularity_test"),
    (module_results, "small_world"),
    (model_results, "pretrained_names"),
    (model_results, "load_card"),
    (model_results, "load_groups"),
    (model_results, "louvain_labels"),
    (model_results, "load_pretrained"),
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
    monkeypatch.setattr(model_results, "ensemble_of", lambda name: stub)
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
        ("home", 8, {}, [*GRAPH, "mean_connectivity"]),
        ("subjects", 8, {}, [*GRAPH, "mean_connectivity", "quality_table"]),
        ("hubs", 8, {"group_behind": True}, [*GRAPH, "measure_hubs", "measure_curves", "entropy_change"]),
        (
            "modules",
            8,
            {"groups_wanted": True, "sweep_wanted": True},
            [*GRAPH, "measure_modules", "resolution_step", "group_module_difference"],
        ),
        (
            "attention",
            200,
            {"own_attention": True, "attention_order": "louvain", "models_shown": ["abide-cc200"]},
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
    session.switch_page(f"views/{page}.py").run()
    assert_no_error(session)
    assert set(needed) <= set(calls), "the page no longer computes what this test counts"
    if page == "predict":
        session.run()  # the subject is above the cohort, and shown when that was predicted
    shown = len(session.get("plotly_chart"))
    session.switch_page("views/models.py" if page == "export" else "views/export.py").run()
    calls.clear()
    session.switch_page(f"views/{page}.py").run()
    assert_no_error(session)
    assert dict(calls) == {"pretrained_names": 1}, "only new models are looked for, once"
    assert len(session.get("plotly_chart")) >= shown


def _model_list() -> None:
    """A page that names the models; Streamlit runs its source, so that it imports for itself."""
    import model_results
    import streamlit

    model_results.look_for_models()
    streamlit.text(" ".join(model_results.model_names()))


def test_a_new_model_is_noticed_on_the_next_run(monkeypatch, tmp_path) -> None:
    card = pretrained.pretrained_folder() / "abide-cc200" / "card.json"
    monkeypatch.setattr(pretrained, "pretrained_folder", lambda: tmp_path)
    page = AppTest.from_function(_model_list, default_timeout=TIMEOUT_S).run()
    assert page.text[0].value == ""
    (tmp_path / "new").mkdir()
    shutil.copy(card, tmp_path / "new")
    assert page.run().text[0].value == "new"
