"""Real people on the page of predictions: who cannot be predicted stops nobody, and a simulated model is marked."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loaded import LoadedCohort
from page_contents import as_shown, badges, captions
from state import NEXT_COHORT, OWN, OWN_COHORT
from streamlit.testing.v1 import AppTest
from tiny_models import write_tiny_model

from biobgt import Cohort, Subject, load_atlas
from biobgt.model import pretrained
from biobgt.model.pretrained import load_pretrained
from biobgt.simulate import demo_cohort

HOME = Path(__file__).resolve().parents[2] / "app" / "Home.py"
MODEL = "adsim-aal90"
SENTENCE = "Subject 'in z' was brought as a matrix with values beyond ±1"


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
    monkeypatch.setattr(pretrained, "pretrained_folder", lambda: tmp_path)
    in_z = Subject("in z", connectivity=np.full((90, 90), 1.5))
    drawn = demo_cohort("ad", n_per_group=1).subjects[:2]
    others = [replace(one, id=f"person {number}", simulated=False) for number, one in enumerate(drawn)]
    return Cohort("own", (in_z, *others), load_atlas("aal90"))


@pytest.fixture
def page(own, files) -> AppTest:
    session = AppTest.from_file(str(HOME), default_timeout=120)
    session.session_state[OWN_COHORT] = LoadedCohort(OWN, own)
    session.session_state[NEXT_COHORT] = OWN
    session.switch_page("views/predict.py").run()
    return session.button(key="predict_subject").click().run()


def test_one_bad_subject_stops_nobody_and_a_simulated_model_is_marked(page, own, files) -> None:
    assert SENTENCE in as_shown(page.error[0].value)
    assert not page.metric
    page.button(key="predict_all_start").click().run()
    table = page.dataframe[-1].value.set_index("Subject")
    assert tuple(table.index) == own.ids
    assert SENTENCE in table["Take care"].iloc[0]
    assert np.isnan(table["P AD"].iloc[0])
    expected = load_pretrained(MODEL, "cpu").predict(own)
    np.testing.assert_allclose(table["P AD"].iloc[1:], expected["p_AD"].iloc[1:], atol=6e-4)
    assert "predict_all_start" not in {button.key for button in page.button}, "the bad subject is not tried again"
    said = captions(page)
    assert f"2 of 3 subjects by model {MODEL}, trained on simulated patients; to be taken with care: 2." in said
    assert "Without a prediction: 1 subject; the table says why." in said
    assert [as_shown(element.value) for element in page.subheader] == [
        f"Model {MODEL}",
        "in z, by a model of simulated patients",
        "All subjects, by a model of simulated patients",
    ]
    assert badges(page.main) == 3
    written = pd.read_csv(StringIO(files[-1]), keep_default_na=False)
    assert written["note"].str.startswith("Simulated: the model was trained on simulated patients. Research").all()
    assert written["warning"].str.startswith("model trained on simulated patients").tolist() == [False, True, True]
