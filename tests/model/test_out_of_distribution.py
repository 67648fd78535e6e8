"""Is a subject like those a model was trained on: both ends of every range, and noise of any colour and length."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import butter, sosfiltfilt
from shipped_predictions import asked_names

from biobgt.base.errors import InputError
from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.quality import effective_timepoints
from biobgt.model import load_pretrained, out_of_distribution
from biobgt.model.ensemble import OF_SIMULATED
from biobgt.model.out_of_distribution import UNCHECKED, TrainingRanges, scan_measures

loaded = cache(load_pretrained)
TYPICAL = {"mean_correlation": 0.1, "distance": 1.0}
RANGES = {"mean_correlation": (0.0, 0.2), "distance": (0.8, 1.2), "timepoints": (40, 90)}


def ranges_of(scans, monkeypatch):
    """The ranges of scans whose connectivity is all alike."""
    monkeypatch.setattr(out_of_distribution, "position", lambda *_: (np.zeros(len(scans)), np.ones(len(scans))))
    return TrainingRanges.of(None, None, scans)


@pytest.fixture
def subject(rng) -> Subject:
    return Subject("s", series=rng.standard_normal((50, 20)))


@pytest.mark.parametrize(
    ("ranges", "changes", "words"),
    [
        ({}, {"distance": 0.8}, None),
        ({}, {"distance": 1.2}, None),
        (
            {},
            {"distance": 0.79},
            "is closer to the training mean than that of 99.5 % of training subjects (0.79; thei",
        ),
        ({}, {"distance": 1.21}, "is farther from the training mean than that of 99.5 % of training subjects (1.21; t"),
        ({}, {"mean_correlation": 0.0}, None),
        ({}, {"mean_correlation": -0.004}, "mean correlation -0.004 is outside 0.000 to 0.200"),
        ({}, {"mean_correlation": 0.2004}, "mean correlation 0.200 is outside 0.000 to 0.200"),
        ({"strength": (0.2, 0.4)}, {}, "mean |FC| 0.1"),
        ({"strength": (0.0, 0.05)}, {}, "is outside 0.000 to 0.050"),
        ({"timepoints": (60, 90)}, {}, "50 time points; at least 95 % of training subjects had 60 to 90"),
        ({"effective_timepoints": (10, 30)}, {}, "independent time points, those of training"),
        ({"independent_share": (0.2, 0.5)}, {}, "20 % to 50 %, which points to white noise"),
        ({"fast_share": (0.0, 0.01)}, {}, "of its power is in the fastest quarter"),
        ({"fast_share": (0.3, 0.4)}, {}, None),
        ({"trend_share": (0.0, 0.001)}, {}, "which points to drift"),
        ({"largest_frame": (1.0, 1.2)}, {}, "which points to motion"),
        ({"strength": (0.0, 0.4), "effective_timepoints": (10, 60)}, {}, None),
    ],
)
def test_ends_of_ranges_that_count_are_warned_of(subject: Subject, ranges, changes, words: str | None) -> None:
    found = TrainingRanges(**{**RANGES, **ranges}).warnings(subject, **{**TYPICAL, **changes})
    assert len(found) == (words is not None)
    assert words is None or words in found[0]


def test_of_a_matrix_it_is_said_what_cannot_be_checked(rng) -> None:
    matrix = Subject("m", connectivity=np.corrcoef(rng.standard_normal((50, 20)).T))
    assert TrainingRanges(**RANGES).warnings(matrix, **TYPICAL) == [UNCHECKED]
    assert TrainingRanges((0.0, 0.2), (0.8, 1.2)).warnings(matrix, **TYPICAL) == []


def test_ranges_are_those_of_the_subjects_and_go_through_a_card(rng, monkeypatch) -> None:
    subjects = [Subject(str(n), series=rng.standard_normal((n, 20))) for n in (50, 70, 90)]
    found = ranges_of([scan_measures(one) for one in subjects], monkeypatch)
    assert found.timepoints == (50, 90)
    assert 45 < found.effective_timepoints[0] < 51 < 85 < found.effective_timepoints[1] < 90
    assert 0.9 < found.independent_share[0] < found.independent_share[1] <= 1
    assert TrainingRanges.from_card(found.as_dict()) == found
    old = {"mean_correlation": [-1, 1], "distance": [0, 9], "timepoints": None}
    assert TrainingRanges.from_card(old) == TrainingRanges((-1, 1), (0, 9))


def test_what_is_measured_of_a_scan() -> None:
    n, times = 64, np.arange(64)
    slow, fast = np.cos(2 * np.pi * 4 * times / n), np.cos(2 * np.pi * 28 * times / n)
    found = scan_measures(Subject("s", series=np.stack([slow, slow + 0.5 * fast, np.zeros(n)], axis=1)))
    # Power 1 of the first, 1 + 0.25 of the second; both z-scored: a fifth of the second's, a tenth of all.
    assert found["fast_share"] == pytest.approx(0.1)
    # At time 0 both are at their peaks, √2 and 1.5 / √(1.25 / 2); the silent region does not count.
    assert found["largest_frame"] == pytest.approx(np.sqrt((2 + 2.25 / 0.625) / 2))
    line = Subject("line", series=np.stack([times, -2.0 * times, np.tile([1, -1, -1, 1], 16)], axis=1))
    assert scan_measures(line)["trend_share"] == pytest.approx(2 / 3)
    assert set(scan_measures(Subject("m", connectivity=np.eye(4)))) == {"strength"}


def test_a_length_that_hardly_any_training_scan_had_is_warned_of(monkeypatch) -> None:
    scans = [
        {"strength": 0.1, "timepoints": float(n), "effective_timepoints": 30.0, "independent_share": 0.3}
        | {"fast_share": 1e-8, "trend_share": 1e-8, "largest_frame": 2.0}
        for n in [78] * 3 + [116] * 97
    ]
    found = ranges_of(scans, monkeypatch)
    assert found.timepoints == (116, 116)
    assert found.fast_share[1] == 0.001, "a scan written with fewer digits is not warned of"


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_independent_time_points_of_an_autoregression(rng, memory: float) -> None:
    # Bartlett: the correlation of two AR(1) series varies as that of N (1 − φ²) / (1 + φ²) independent points.
    series = np.zeros((4000, 30))
    for t in range(1, 4000):
        series[t] = memory * series[t - 1] + rng.standard_normal(30)
    assert effective_timepoints(series) == pytest.approx(4000 * (1 - memory**2) / (1 + memory**2), rel=0.05)


def test_silent_regions_do_not_count(rng) -> None:
    series = rng.standard_normal((100, 20))
    with_silent = np.hstack([series, np.zeros((100, 5))])
    assert effective_timepoints(with_silent) == pytest.approx(effective_timepoints(series))
    assert effective_timepoints(np.zeros((100, 5))) == 0


@pytest.mark.parametrize("name", asked_names())
@settings(max_examples=8, deadline=None)
@given(n=st.integers(60, 400), band=st.sampled_from([None, (0.009, 0.08), (0.02, 0.2)]), seed=st.integers(0, 2**32 - 1))
def test_noise_is_always_warned_of(name: str, n: int, band: tuple[float, float] | None, seed: int) -> None:
    model = loaded(name)
    series = np.random.default_rng(seed).standard_normal((n, model.n_regions))
    if band is not None:
        series = sosfiltfilt(butter(2, band, "bandpass", fs=0.5, output="sos"), series, axis=0)
    asked = Cohort("noise", (Subject("noise", series=series),), load_atlas(model.atlas))
    try:
        row = model.predict(asked).iloc[0]
    except InputError:  # no edge: a model that cannot say anything says so
        return
    assert row["warning"] not in ("", OF_SIMULATED)
    assert n < 150 or "close to that of independent noise" in row["warning"]
