"""Real people on the page of predictions: who cannot be predicted stops nobody, and a simulated model is marked."""

from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from page_contents import as_shown, badges, buttons, captions, figure, words
from streamlit.testing.v1 import AppTest
from tiny_models import write_tiny_model

from biobgt import Cohort, Subject, load_atlas
from biobgt.data.cohort import Source
from biobgt.data.connectivity import functional_connectivity
from biobgt.data.simulate import demo_cohort
from biobgt.export.bundle import _make_figure
from biobgt.model import folder as model_files
from biobgt.model.folder import load_pretrained
from session.view import EXPORT_LIST, OWN_COHORT

MODEL = "adsim-aal90"
SENTENCE = "Subject 'in z' has a matrix with values beyond ±1"


@pytest.fixture
def files(monkeypatch) -> list[str]:
    """What the page offers for download, the newest last."""
    offered: list[str] = []
    monkeypatch.setattr("streamlit.download_button", lambda label, data, **_: offered.append(data))
    return offered


@pytest.fixture
def own(tmp_path, monkeypatch) -> Cohort:
    """Three real people, the first with a matrix in Fisher z; the only model here is of simulated patients."""
    write_tiny_model(tmp_path / MODEL, "ad", "adsim", simulated=True, n_per_group=2)
    monkeypatch.setattr(model_files, "pretrained_folder", lambda: tmp_path)
    in_z = Subject("in z", connectivity=np.full((90, 90), 1.5))
    drawn = demo_cohort("ad", n_per_group=1).subjects[:2]
    others = [replace(one, id=f"person {number}", simulated=False) for number, one in enumerate(drawn)]
    return Cohort("own", (in_z, *others), load_atlas("aal90"))


@pytest.fixture
def page(open_own, own, files) -> AppTest:
    session = open_own("predict", own)
    return session.button(key="predict_subject").click().run()


def test_an_atlas_told_by_its_number_alone_is_confirmed_before_anything_is_predicted(open_own, own, files) -> None:
    source = Source("s.csv", 1, "0", "csv", {"atlas decided by": "the number of regions alone"})
    guessed = replace(own, subjects=tuple(replace(one, source=source) for one in own.subjects[1:]))
    session = open_own("predict", guessed)
    assert "by the number of regions alone" in words(session.warning)
    assert "predict_subject" not in buttons(session)
    session.button("confirm_atlas_predict").click().run()
    assert "predict_subject" in buttons(session)
    assert session.session_state[OWN_COHORT].cohort.atlas_decided_by == "the user"


def test_one_bad_subject_stops_nobody_and_a_simulated_model_is_marked(page, own, files, may_fail) -> None:
    assert SENTENCE in as_shown(page.error[0].value)
    assert not page.metric
    page.button(key="predict_all_start").click().run()
    table = page.dataframe[-1].value.set_index("Subject")
    assert tuple(table.index) == own.ids
    assert table["Flag"].tolist() == ["no prediction", "warning", "warning"]
    in_full = page.table[-1].value
    assert in_full["Flag"].tolist()[0] == "No prediction"
    assert SENTENCE in as_shown(in_full["What it says"].iloc[0])
    assert set(in_full["Flag"].iloc[1:]) == {"Warning"}
    assert np.isnan(table["P AD"].iloc[0])
    expected = load_pretrained(MODEL, "cpu").predict(own)
    np.testing.assert_allclose(table["P AD"].iloc[1:], expected["p_AD"].iloc[1:], atol=6e-4)
    assert "predict_all_start" not in buttons(page), "the bad subject is not tried again"
    said = captions(page)
    assert f"Predicted by model {MODEL}, trained on simulated patients: 2 of 3 subjects, 2 with a warning." in said
    assert "Without a prediction: 1 subject; the table below says why." in said
    assert [as_shown(element.value) for element in page.subheader] == [
        f"Model {MODEL}",
        "in z, by a model of simulated patients",
        "All subjects, by a model of simulated patients",
    ]
    assert badges(page) == 1
    written = pd.read_csv(StringIO(files[-1]), keep_default_na=False)
    assert written["note"].str.startswith("Simulated: the model was trained on simulated patients. Research").all()
    assert written["warning"].str.startswith("model trained on simulated patients").tolist() == [False, True, True]
    assert "5 subjects of every group of the model are needed" in said


def test_known_groups_are_set_beside_the_card_and_the_subject_is_not_stale(open_own, own, files) -> None:
    cohort = demo_cohort("ad", n_per_group=5)
    session = open_own("predict", cohort)
    assert not session.metric
    session.button(key="predict_all_start").click().run()
    assert len(session.metric) == 3, "the subject above was among them"
    assert "predict_subject" not in buttons(session)
    in_full, metrics, confusion = session.table
    assert set(in_full.value["Flag"]) == {"Warning"}
    assert list(metrics.value.columns) == ["Metric", "This cohort", "The model's card"]
    assert confusion.value.to_numpy().astype(int).sum(axis=1).tolist() == [5, 5, 5]
    curves = [trace["name"] for trace in figure(session, "cohort_roc")["data"]]
    assert [name.rpartition(", ")[2] for name in curves[1:]] == ["card"] * 3 + ["this cohort"] * 3
    assert len(figure(session, "cohort_reliability")["data"]) == 3
    for key in ("cohort_roc", "cohort_reliability"):
        session.button(key=f"{key}_export").click().run()
        request = session.session_state[EXPORT_LIST][-1]
        made = _make_figure(session.session_state[OWN_COHORT].measured, request)
        assert (request.figure, request.subject, request.options["model"]) == (key, None, "adsim-aal90")
        assert as_shown(made.caption) in captions(session)
        assert set(made.numbers.columns) & {"curve", "of"}
    written = pd.read_csv(StringIO(files[-1]), keep_default_na=False)
    assert written["group"].tolist() == [subject.group for subject in cohort]


def test_what_flips_the_call_is_asked_of_series_and_not_of_matrices(open_own, own, files) -> None:
    first = own.subjects[1]
    matrix = Subject("matrix", connectivity=functional_connectivity(first.series))
    page = open_own("predict", replace(own, subjects=(first, matrix)))
    page.button(key="predict_subject").click().run()
    page.button(key="passport_subject").click().run()
    axes = [axis for name, axis in figure(page, "passport")["layout"].items() if name.startswith("xaxis")]
    assert axes[0]["title"]["text"] == "Left out at the end (%)"
    assert any(said in captions(page) for said in ("The call flips when", "No corruption that was tried"))
    assert badges(page), "the model is of simulated patients"
    page.selectbox(key="subject").select("matrix").run()
    page.button(key="predict_subject").click().run()
    assert "passport_subject" not in buttons(page)
    assert "can be asked of region series alone" in words(page.markdown)
