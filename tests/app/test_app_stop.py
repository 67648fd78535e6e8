"""Long work is stopped by its button, keeps what was done, and goes on from there, on every page that has any."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from page_contents import array, assert_no_error, figure
from start_page import start_at
from streamlit.testing.v1 import AppTest

import biobgt.readers.cohort
from biobgt import Cohort, ConnectomeSettings, Subject, load_atlas
from biobgt.data.atlas import numbered_atlas
from biobgt.export import CohortRef, FigureRequest, cohort_sha256
from biobgt.hubs import table as group_curves
from biobgt.hubs.measures import COMPARED, HUB_MEASURES
from biobgt.hubs.table import SubjectHubs
from biobgt.model.installed import InstalledModel
from biobgt.modules import louvain
from session.cohorts import OWN
from session.view import EXPORT_FORMATS, EXPORT_LIST, NEXT_COHORT, OWN_COHORT, LoadedCohort
from views.export import results as export_results

HOME = Path(__file__).resolve().parents[2] / "app" / "Home.py"
TIMEOUT_S = 120
N_SUBJECTS, N_REGIONS = 6, 8


@pytest.fixture
def cohort(rng) -> Cohort:
    """Six subjects in two groups, on few regions, so that no step takes long."""
    series = rng.standard_normal((N_SUBJECTS, 60, N_REGIONS)).cumsum(axis=1)
    subjects = (Subject(f"s{i}", series=one, group="NC" if i < 3 else "ASD") for i, one in enumerate(series))
    return Cohort("six", tuple(subjects), numbered_atlas(N_REGIONS))


@pytest.fixture
def open_own():
    """Open a page with a cohort of one's own."""

    def open_own(page: str, cohort: Cohort, **state: object):
        session = AppTest.from_file(str(HOME), default_timeout=TIMEOUT_S)
        session.session_state[OWN_COHORT] = LoadedCohort(OWN, cohort)
        session.session_state[NEXT_COHORT] = OWN
        for key, value in state.items():
            session.session_state[key] = value
        return start_at(session, page).run()

    return open_own


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
    assert_no_error(page)
    assert len(done) == after
    start = page.button(key=f"{key}_start")
    assert start.label.endswith(f": {total - after} of {total} left")
    page.run()  # nor does it start by itself when something else is clicked
    assert len(done) == after
    start.click().run()
    assert_no_error(page)
    assert len(done) == total
    assert not [button for button in page.button if button.key in (f"{key}_stop", f"{key}_start")]
    return page


def test_group_behind_the_hub_curves(open_own, cohort, interrupt) -> None:
    done = interrupt(group_curves, "measure_curves", after=1)
    page = open_own("hubs", cohort, group_behind=True)
    page = stop(page, "group_curves", done, after=1, total=3)
    assert "NC, mean ± SD" in [trace.get("name") for trace in figure(page, "hub_curves")["data"]]


def test_rest_of_the_hubs_of_many_regions(open_own, cohort, interrupt, monkeypatch) -> None:
    monkeypatch.setattr("biobgt.hubs.resolvents.STEPS_ABOVE", N_REGIONS - 1)
    done = interrupt(SubjectHubs, "measure", after=2)
    page = open_own("hubs", cohort)
    assert figure(page, "hub_curves")  # the first figures are there, and what needs no more
    assert page.dataframe
    page.button(key="rest_of_hubs_stop").click().run()
    assert_no_error(page)
    assert len(done) == 2
    headings = [heading.value for heading in page.subheader]
    assert not [heading for heading in headings if "Why this region" in heading]
    start = page.button(key="rest_of_hubs_start")
    n_steps = len(HUB_MEASURES) - 1  # eight regions have eigenvalues, so that no γ is left
    assert start.label.startswith("Measure NE at the other diffusion times")
    start.click().run()
    assert_no_error(page)
    assert len(done) == n_steps - len(COMPARED) + 1
    assert figure(page, "gamma_sweep")
    assert not [button for button in page.button if button.key in ("rest_of_hubs_stop", "rest_of_hubs_start")]


def test_resolution_sweep(open_own, cohort, interrupt) -> None:
    page = open_own("modules", cohort)
    done = interrupt(louvain, "resolution_step", after=5)
    page.button(key="sweep_start").click().run()
    page = stop(page, "sweep", done, after=5, total=16)
    assert len(array(figure(page, "resolution_curves")["data"][0]["x"])) == 16


@pytest.mark.parametrize(
    ("page", "key", "name", "total"),
    [
        ("compare", "groups", "structure.find_modules", 6),
        ("compare", "compare", "structure.measure_modules", 6),
        ("modules", "modularity_test", "structure.modularity_test", 100),
        ("modules", "small_world", "structure.small_world", 5),
    ],
)
def test_work_that_was_asked_for(open_own, cohort, interrupt, page, key, name, total) -> None:
    page = open_own(page, cohort, compared="modules" if key == "groups" else "segregation")
    place, name = name.split(".")
    done = interrupt(import_module(f"biobgt.modules.{place}"), name, after=2)
    page.button(key=f"{key}_start").click().run()
    stop(page, key, done, after=2, total=total)


class StubModel:
    """Says the same of everybody."""

    def predict(self, cohort: Cohort) -> pd.DataFrame:
        row = {"subject": cohort.ids[0], "prediction": "NC", "warning": "", "p_NC": 0.6, "p_ASD": 0.4}
        return pd.DataFrame([row])


def test_predictions_of_a_cohort(open_own, rng, interrupt, monkeypatch) -> None:
    subjects = tuple(Subject(f"s{i}", series=rng.standard_normal((30, 200))) for i in range(4))
    monkeypatch.setattr(InstalledModel, "ensemble", property(lambda model: StubModel()))
    page = open_own("predict", Cohort("four", subjects, load_atlas("cc200")), model="abide-cc200")
    done = interrupt(StubModel, "predict", after=3)
    page.button(key="predict_all_start").click().run()
    page = stop(page, "predict_all", done, after=3, total=4)
    assert page.dataframe[0].value["Subject"].tolist() == ["s0", "s1", "s2", "s3"]


def own_requests(cohort: Cohort) -> list[FigureRequest]:
    ref = CohortRef(cohort.name, sha256=cohort_sha256(cohort))
    return [FigureRequest("connectivity_heatmap", ref, name, ConnectomeSettings()) for name in ("s0", "s1", "s2")]


def test_previews_of_the_export(open_own, cohort, interrupt) -> None:
    done = interrupt(export_results, "make_files", after=1)
    page = open_own("export", cohort, **{EXPORT_LIST: own_requests(cohort)})
    assert len(page.get("image")) == 1
    page = stop(page, "export_previews", done, after=1, total=3)
    assert len(page.get("image")) == 3


def test_zip_of_the_export(open_own, cohort, interrupt) -> None:
    page = open_own("export", cohort, **{EXPORT_LIST: own_requests(cohort), EXPORT_FORMATS: ["svg"]})
    done = interrupt(export_results, "make_files", after=2)
    page.button(key="export_bundle_start").click().run()
    page = stop(page, "export_bundle", done, after=2, total=3)
    assert page.get("download_button")


def test_figure_of_a_group_is_stopped_between_two_subjects(open_own, cohort, interrupt) -> None:
    done = interrupt(group_curves, "measure_curves", after=2)
    ref = CohortRef(cohort.name, sha256=cohort_sha256(cohort))
    request = FigureRequest("hub_curves", ref, "s0", ConnectomeSettings(), {"group": True})
    page = open_own("export", cohort, **{EXPORT_LIST: [request]})
    page.button(key="export_previews_stop").click().run()
    assert len(done) == 2
    page.button(key="export_previews_start").click().run()
    assert_no_error(page)
    assert len(done) == 3
    assert len(page.get("image")) == 1


def test_reading(open_page, rng, interrupt) -> None:
    page = open_page("subjects")
    header = ",".join(f"area{region}" for region in range(N_REGIONS))
    tables = ["\n".join([header, *(",".join(map(str, row)) for row in rng.random((20, N_REGIONS)))]) for _ in range(4)]
    done = interrupt(biobgt.readers.cohort, "read_file", after=2)
    files = [(f"sub-0{i}.csv", table.encode(), "text/csv") for i, table in enumerate(tables)]
    page.file_uploader(key="files0").set_value(files)
    page.run()
    assert len(done) == 2
    page.button(key="reading_stop").click().run()
    assert_no_error(page)
    assert "Reading was stopped" in page.info[0].value
    assert len(done) == 2
    assert OWN_COHORT not in page.session_state
    page.button(key="reading_start").click().run()
    assert_no_error(page)
    assert len(done) == 2 + 4  # a cohort is read as one, from its first file
    assert page.session_state[OWN_COHORT].cohort.ids == ("sub-00", "sub-01", "sub-02", "sub-03")
    assert np.isfinite(page.session_state[OWN_COHORT].cohort["sub-00"].series).all()
