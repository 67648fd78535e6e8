"""How often each measure found the lesion: power with intervals, where it was found, and false findings."""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from biobgt.bench.measures import BENCH_MEASURES
from biobgt.bench.run import Outcome, Repetition

COLUMNS = {
    "measure": "Key of the measure.",
    "title": "The measure in words.",
    "size": "Size of the lesion, from 0 to 1.",
    "people": "People with the lesion, and as many without.",
    "repetitions": "How often people were drawn and compared.",
    "power": "Share of the repetitions in which the measure finds a difference at a family-wise level of 5 %.",
    "power_low": "Lower end of its 95 % interval (Wilson).",
    "power_high": "Upper end of it.",
    "planted": "Share of the repetitions in which it finds one where the lesion is; empty of whole-brain numbers.",
    "strongest": "Of the findings, the share whose clearest is where the lesion is.",
    "elsewhere": "Share of the repetitions in which it finds one where the lesion is not.",
}


def power_table(outcomes: Iterable[tuple[Repetition, Outcome]]) -> pd.DataFrame:
    """Power of every measure at each size of the lesion and number of people.

    Parameters
    ----------
    outcomes : iterable of (Repetition, Outcome)

    Returns
    -------
    DataFrame
        With :data:`COLUMNS`.
    """
    rows = [
        {"measure": key, "size": one.size, "people": one.people, **vars(looked)}
        for one, outcome in outcomes
        for key, looked in outcome.items()
    ]
    found = []
    for (size, people, measure), own in pd.DataFrame(rows).groupby(["size", "people", "measure"], sort=True):
        n, hits = len(own), int(own["found"].sum())
        low, high = wilson(hits, n)
        row: Mapping[str, object] = {
            "measure": measure,
            "title": BENCH_MEASURES[str(measure)].title,
            "size": size,
            "people": people,
            "repetitions": n,
            "power": hits / n,
            "power_low": low,
            "power_high": high,
            **{name: _share(own[name]) for name in ("planted", "strongest", "elsewhere")},
        }
        found.append(row)
    table = pd.DataFrame(found, columns=list(COLUMNS))
    place = {key: number for number, key in enumerate(BENCH_MEASURES)}
    ordered = table.assign(_place=table["measure"].map(place)).sort_values(["size", "_place", "people"])
    return ordered.drop(columns="_place").reset_index(drop=True)


def _share(values: "pd.Series[bool]") -> float:
    known = values.dropna()
    return float(known.astype(bool).mean()) if len(known) else np.nan


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share.

    >>> [round(end, 3) for end in wilson(2, 40)]
    [0.014, 0.165]
    """
    from scipy import stats

    interval = stats.binomtest(hits, n).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)
