"""How far a recording may be worse before the call flips: of stand-ins for models whose answers are known."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Subject
from biobgt.data.corruptions import WORSENINGS
from biobgt.model.passport import AS_RECORDED, Limit, limits_of, measure_passport, verdict

ATLAS = load_atlas("aal90")
N = 200


@pytest.fixture
def subject() -> Subject:
    return Subject("s", series=np.random.default_rng(0).standard_normal((N, 12)))


def asking(p_of, warning_of=lambda one: ""):
    """A stand-in for a model that gives each recording a probability of patients, and a warning."""

    def predict_each(subjects, atlas, *, progress=None):
        shares = np.array([p_of(one) for one in subjects])
        calls = np.where(np.isnan(shares), "", np.where(shares > 0.5, "ASD", "NC"))
        said = [warning_of(one) for one in subjects]
        return pd.DataFrame({"subject": "s", "p_NC": 1 - shares, "p_ASD": shares, "prediction": calls, "warning": said})

    return SimpleNamespace(predict_each=predict_each)


def limits(table: pd.DataFrame) -> dict[str, Limit]:
    return {one.kind: one for one in limits_of(table)}


def test_a_call_that_hangs_on_the_length_flips_where_it_is_too_short(subject: Subject) -> None:
    table = measure_passport(asking(lambda one: 0.9 if one.n_timepoints <= 0.6 * N else 0.1), subject, ATLAS)
    assert table["kind"].iloc[0] == AS_RECORDED
    assert len(table) == 1 + sum(len(one.strengths) for one in WORSENINGS.values())
    assert limits(table)["short"] == Limit("short", 0.4, "ASD", None)
    assert all(one.flips_at is None for kind, one in limits(table).items() if kind != "short")
    assert verdict(table) == "The call flips when 40 % of the recording is left out; no warning would say so."


def test_a_warning_counts_only_where_the_recording_itself_has_none_of_its_kind(subject: Subject) -> None:
    def warning(one: Subject) -> str:
        own = f"mean |FC| 0.{one.n_timepoints} is outside 0.1 to 0.2"
        return f"{own}; it is short" if one.n_timepoints <= 0.7 * N else own

    table = measure_passport(asking(lambda one: 0.9 if one.n_timepoints <= 0.6 * N else 0.1, warning), subject, ATLAS)
    assert table["warning"].iloc[0] == ""
    assert set(table["warning"]) == {"", "it is short"}
    found = limits(table)
    assert found["short"].warned_at == pytest.approx(0.3)
    assert not found["short"].unseen
    assert found["noise"].warned_at is None
    assert verdict(table) == "The call flips when 40 % of the recording is left out; a warning would say so."


def test_flips_that_nobody_is_warned_of_are_said_first(subject: Subject) -> None:
    def p(one: Subject) -> float:
        power = float(np.square(one.series).mean())
        return 0.1 if 0.9 < power < 1.2 else 0.9

    table = measure_passport(asking(p, lambda one: "odd" if len(one.series) < N else ""), subject, ATLAS)
    unseen = [kind for kind, one in limits(table).items() if one.unseen]
    assert unseen == ["noise", "spikes", "global", "filter"]
    said = "The call flips when white noise of SD 0.5 is added, and in 3 other ways; no warning would say so."
    assert verdict(table) == said


def test_nothing_that_flips_the_call_and_nothing_that_can_be_asked(subject: Subject) -> None:
    steady = measure_passport(asking(lambda one: 0.2), subject, ATLAS)
    assert verdict(steady) == "No corruption that was tried flips the call."
    short = asking(lambda one: np.nan if one.n_timepoints < N / 2 else 0.2)
    found = limits(measure_passport(short, subject, ATLAS))["short"]
    assert found.flips_at is None, "no call is no other call"
    assert found.warned_at == pytest.approx(0.6), "and counts as a warning"


def test_matrices_and_recordings_that_cannot_be_asked_are_refused() -> None:
    with pytest.raises(InputError, match="region series alone"):
        measure_passport(asking(lambda one: 0.2), Subject("m", connectivity=np.eye(4)), ATLAS)
    silent = Subject("z", series=np.zeros((50, 4)))
    with pytest.raises(InputError, match="no edge"):
        measure_passport(asking(lambda one: np.nan, lambda one: "no edge"), silent, ATLAS)
