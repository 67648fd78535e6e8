"""How far real subjects are from noise: mean |FC| over that of independent signals, whole series and cut ones.

    python assets/studies/noise_strength.py --data DIR

DIR holds the four ``.npz`` archives of both cohorts. Independent signals of n time points have a mean |r| of
sqrt(2 / (π n)). A subject's mean |FC| is divided by it twice: with n its time points, and with n its independent time
points (:func:`biobgt.data.quality.effective_timepoints`), which tells filtered noise too. The same for white and
band-passed noise. It is what the limits ``NOISE_FACTOR`` and ``FILTERED_NOISE_FACTOR`` of ``biobgt/data/quality.py``
come from. Only summaries are written, to ``noise_strength.csv`` beside this script. One core, about five minutes.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray
from scipy.signal import butter, sosfiltfilt

from biobgt.data.cohort import Subject
from biobgt.data.quality import FILTERED_NOISE_FACTOR, NOISE_FACTOR, effective_timepoints, mean_connectivity

Series = NDArray[np.float64]
HERE = Path(__file__).parent
ARCHIVES = ("abide_cc200", "abide_aal116", "cni2019_cc200", "cni2019_aal116")
LENGTHS = (60, 80, 100, 120, 150, 200, 300)
BANDS = {"0.009 to 0.08 Hz": (0.009, 0.08), "0.01 to 0.1 Hz": (0.01, 0.1)}
SAMPLING = 0.5  # Hz: TR 2 s
N_REGIONS, N_DRAWS, SEED = 200, 100, 0


def ratios(series: Series) -> tuple[float, float]:
    """Mean |FC| over that of independent signals, by time points and by independent time points."""
    strength = mean_connectivity(Subject("s", series=series))[1]
    by_length, by_independent = (
        strength / np.sqrt(2 / (np.pi * n)) for n in (len(series), effective_timepoints(series))
    )
    return float(by_length), float(by_independent)


def real_series(path: Path) -> Iterator[Series]:
    """Yield one subject after another, shape (n_timepoints, n_regions)."""
    with np.load(path, allow_pickle=False) as archive:
        series, lengths = archive["series"], archive["n_timepoints"]
    for length, end in zip(lengths, np.cumsum(lengths), strict=True):
        yield series[end - length : end].astype(float)


def noise(kind: str, length: int, rng: np.random.Generator) -> Series:
    """Independent noise, white or band-passed, shape (length, N_REGIONS)."""
    white = rng.standard_normal((length, N_REGIONS))
    if kind not in BANDS:
        return white
    return np.asarray(sosfiltfilt(butter(2, BANDS[kind], "bandpass", fs=SAMPLING, output="sos"), white, axis=0))


def main(data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")]) -> None:
    """Measure real subjects, whole and cut to each length, and noise of each length."""
    rows = []
    for name in ARCHIVES:
        people = list(real_series(data / f"{name}.npz"))
        rows.append(_summary(name, "whole", people))
        for length in LENGTHS:
            if long := [series[:length] for series in people if len(series) >= length]:
                rows.append(_summary(name, str(length), long))
    for kind in ("white", *BANDS):
        for length in LENGTHS:
            rng = np.random.default_rng([SEED, length])
            title = "white noise" if kind == "white" else f"noise of {kind}"
            rows.append(_summary(title, str(length), [noise(kind, length, rng) for _ in range(N_DRAWS)]))
    pd.DataFrame(rows).to_csv(HERE / "noise_strength.csv", index=False, float_format="%.3f")


def _summary(name: str, length: str, people: Iterable[Series]) -> dict[str, object]:
    """One row: where both ratios lie, and how many series the two limits together take for noise."""
    found = np.array([ratios(series) for series in people])
    taken = ((found[:, 0] < NOISE_FACTOR) | (found[:, 1] < FILTERED_NOISE_FACTOR)).sum()
    row: dict[str, object] = {"series": name, "time points": length, "n": len(found), "taken for noise": int(taken)}
    for column, title in enumerate(("by time points", "by independent time points")):
        for statistic, share in (("lowest", 0), ("1st percentile", 1), ("median", 50), ("highest", 100)):
            row[f"{title}: {statistic}"] = np.percentile(found[:, column], share)
    return row


if __name__ == "__main__":
    typer.run(main)
