"""How often tests between groups find a difference where there is none: motion that is skewed, variances that differ.

    python assets/studies/null_tests.py

*Motion*: 462 people and 437 who move more, as in ABIDE (log FD normal, mean −2.583 and −2.256, SD 0.695 and 0.834). A
feature rises with log FD, at r of about 0.24 or 0.45, and differs in nothing else; it is tested with mean FD and with
log mean FD as the covariate. *Variances*: 432 people and 30 whose SD is three times as large, or a third, or the same,
with equal means; they are tested by permuting the t of a pooled variance, and with the statistic of the library. Beside
this script it writes ``null_tests.csv``: shares of features with p of at most 0.05, of families of 36 features with a
family-wise p of at most 0.05, and how often the 95 % interval of d holds 0. Simulated subjects; seed 0.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.inference.covariates import group_design
from biobgt.inference.permutation import group_effect

TABLE = Path(__file__).with_name("null_tests.csv")
N_FAMILIES, N_FEATURES, N_PERMUTATIONS, SEED = 100, 36, 499, 0
LOG_FD = {"NC": (462, -2.583, 0.695), "ASD": (437, -2.256, 0.834)}
EFFECTS = (0.25, 0.5)  # of a standard deviation of log FD on a feature that has an SD of 1 without it
FEW, MANY = 30, 432


def main() -> None:
    """Simulate every family and write one row per kind of test."""
    rows = [*(row for effect in EFFECTS for row in _motion(effect)), *_variances()]
    pd.DataFrame(rows).to_csv(TABLE, index=False, float_format="%.4f")


def _motion(effect: float) -> Iterator[dict[str, object]]:
    rng = np.random.default_rng(SEED)
    patients = np.repeat([False, True], [n for n, _, _ in LOG_FD.values()])
    found: dict[str, list[tuple[float, bool]]] = {"mean_fd": [], "log_mean_fd": []}
    for number in range(N_FAMILIES):
        logs = np.concatenate([rng.normal(mean, sd, n) for n, mean, sd in LOG_FD.values()])
        common = effect * (logs - logs.mean()) / logs.std()
        values = common[:, None] + rng.standard_normal((len(logs), N_FEATURES))
        for name, motion in (("mean_fd", np.exp(logs)), ("log_mean_fd", logs)):
            columns = group_design(pd.DataFrame({name: motion}), patients).columns
            one = group_effect(values, patients, columns, permutations=N_PERMUTATIONS, seed=number)
            found[name].append((float((one.p <= 0.05).mean()), bool((one.p_family <= 0.05).any())))
    for name, each in found.items():
        features, families = np.mean(each, axis=0)
        yield {"case": "motion", "effect": effect, "test": name, "features": features, "families": families}


def _variances() -> Iterator[dict[str, object]]:
    patients = np.repeat([False, True], [MANY, FEW])
    ones = np.ones((len(patients), 1))
    for ratio in (1.0, 3.0, 1 / 3):
        rng = np.random.default_rng(SEED)
        found: dict[str, list[tuple[float, bool, float]]] = {"pooled t": [], "library": []}
        for number in range(N_FAMILIES):
            values = rng.standard_normal((len(patients), N_FEATURES)) * np.where(patients, ratio, 1)[:, None]
            one = group_effect(values, patients, ones, permutations=N_PERMUTATIONS, seed=number)
            held = float(((one.d_low <= 0) & (one.d_high >= 0)).mean())
            found["library"].append((float((one.p <= 0.05).mean()), bool((one.p_family <= 0.05).any()), held))
            p, p_family = _pooled(values, number)
            found["pooled t"].append((float((p <= 0.05).mean()), bool((p_family <= 0.05).any()), np.nan))
        for name, each in found.items():
            features, families, held = np.mean(each, axis=0)
            where = {"case": "variances", "sd_ratio": ratio, "test": name}
            yield {**where, "features": features, "families": families, "interval_holds_d": held}


def _pooled(values: NDArray[np.float64], seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Permute the difference of means, in which the t of a pooled variance rises."""
    rng = np.random.default_rng(seed)
    scaled = values - values.mean(axis=0)
    scaled /= np.linalg.norm(scaled, axis=0)
    chosen = np.array([rng.choice(len(values), FEW, replace=False) for _ in range(N_PERMUTATIONS)])
    drawn = np.abs(np.stack([scaled[rows].sum(axis=0) for rows in chosen]))
    observed = np.abs(scaled[MANY:].sum(axis=0))
    alone = (1 + (drawn >= observed).sum(axis=0)) / (1 + N_PERMUTATIONS)
    family = (1 + (drawn.max(axis=1, keepdims=True) >= observed).sum(axis=0)) / (1 + N_PERMUTATIONS)
    return alone, family


if __name__ == "__main__":
    main()
