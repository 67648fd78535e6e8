"""How well lag-1 autocorrelation tells time from regions: the study on all ABIDE and CNI-2019 subjects.

    python assets/studies/time_axis.py --data DIR

DIR holds the four ``.npz`` archives of both cohorts. For every series the mean lag-1 autocorrelation along time is
compared with that along regions, as the reader of nameless tables does it: as released (band-passed, z-scored), and
where that is made harder. Only summaries over subjects are written, to ``time_axis.csv`` beside this script.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from numpy.typing import NDArray

from biobgt.readers.measurement import AS_RELEASED, CENTRED_TWICE, centred_twice, lag_one_autocorrelation

Series = NDArray[np.float64]
HERE = Path(__file__).parent
ARCHIVES = ("abide_cc200", "abide_aal116", "cni2019_cc200", "cni2019_aal116")
SEED = 0


def at_their_own_level(series: Series, _: np.random.Generator) -> Series:
    """Raw signals: each region has a level and an amplitude of its own, which rise along the atlas."""
    rising = np.linspace(1, 3, series.shape[1])
    return series * rising + 500 * rising


def with_white_noise(series: Series, rng: np.random.Generator) -> Series:
    """Add noise of SD 1 to z-scored series."""
    return series + rng.standard_normal(series.shape)


CONDITIONS: dict[str, Callable[[Series, np.random.Generator], Series]] = {
    AS_RELEASED: lambda series, _: series,
    "with shuffled regions": lambda series, rng: series[:, rng.permutation(series.shape[1])],
    "at each region's own level and amplitude": at_their_own_level,
    "every second time point": lambda series, _: series[::2],
    "every fourth time point": lambda series, _: series[::4],
    "with white noise of SD 1": with_white_noise,
    "in shuffled order of time": lambda series, rng: series[rng.permutation(len(series))],
}
TREATMENTS: dict[str, Callable[[Series], Series]] = {"as they are": lambda series: series, CENTRED_TWICE: centred_twice}


def main(data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")]) -> None:
    """Measure every series both ways and write the summary."""
    rows = []
    for name in ARCHIVES:
        rng = np.random.default_rng(SEED)
        measured: dict[tuple[str, str], list[tuple[float, float]]] = {
            (condition, treatment): [] for condition in CONDITIONS for treatment in TREATMENTS
        }
        for series in _series_of(data / f"{name}.npz"):
            for condition, change in CONDITIONS.items():
                changed = change(series, rng)
                for treatment, treat in TREATMENTS.items():
                    values = treat(changed)
                    both = lag_one_autocorrelation(values), lag_one_autocorrelation(values.T)
                    measured[condition, treatment].append(both)
        rows += [_summary(name, *key, np.array(values)) for key, values in measured.items()]
    pd.DataFrame(rows).to_csv(HERE / "time_axis.csv", index=False, float_format="%.3f")


def _series_of(path: Path) -> Iterator[Series]:
    """Yield one subject after another, shape (n_timepoints, n_regions)."""
    with np.load(path, allow_pickle=False) as archive:
        series, lengths = archive["series"], archive["n_timepoints"]
    for length, end in zip(lengths, np.cumsum(lengths), strict=True):
        yield series[end - length : end].astype(float)


def _summary(name: str, condition: str, treatment: str, measured: NDArray[np.float64]) -> dict[str, object]:
    """One row of the table, of autocorrelations along time and along regions, shape (n_series, 2)."""
    difference = measured[:, 0] - measured[:, 1]
    return {
        "archive": name,
        "series are": condition,
        "values": treatment,
        "series": len(measured),
        "larger along time": int((difference > 0).sum()),
        "mean along time": measured[:, 0].mean(),
        "mean along regions": measured[:, 1].mean(),
        "smallest difference": difference.min(),
        "1st percentile": np.percentile(difference, 1),
        "median difference": np.median(difference),
    }


if __name__ == "__main__":
    typer.run(main)
