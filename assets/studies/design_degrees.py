"""What few residual degrees of freedom do to an adjusted comparison: level of p, size and interval of d.

    python assets/studies/design_degrees.py

Simulated subjects in designs of random covariates (numbers, or one categorical "site"), without a group difference and
with one of d = 0.8; the rows behind ``biobgt.inference.covariates.LEAST_DEGREES``. Takes a few minutes; seed 0.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.inference.covariates import group_design, overstatement
from biobgt.inference.permutation import group_effect

HERE = Path(__file__).parent
SIZES = (8, 12, 16, 24, 40)
DEGREES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
N_DESIGNS, N_FEATURES, N_PERMUTATIONS = 20, 400, 999
TRUE_D, SEED = 0.8, 0


def main() -> None:
    """Simulate every design and write one row for each."""
    rng = np.random.default_rng(SEED)
    rows: list[dict[str, object]] = []
    for n in SIZES:
        for kind in ("numbers", "sites"):
            for degrees in DEGREES:
                found = [_measure(*design, rng) for design in _designs(n, kind, degrees, rng)]
                if found:
                    where: dict[str, object] = {
                        "n_subjects": n,
                        "covariates": kind,
                        "residual_degrees": degrees,
                        "designs": len(found),
                    }
                    rows.append({**where, **{str(name): mean for name, mean in pd.DataFrame(found).mean().items()}})
    table = pd.DataFrame(rows)
    table["overstatement_expected"] = [
        overstatement(degrees) if degrees > 1 else np.inf for degrees in table["residual_degrees"]
    ]
    table.to_csv(HERE / "design_degrees.csv", index=False, float_format="%.4f")


def _designs(
    n: int, kind: str, degrees: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.float64]]]:
    """Yield the group and the columns of random designs with so many residual degrees of freedom."""
    n_columns = n - 2 - degrees
    if n_columns < 1 or (kind == "sites" and n_columns + 1 > n // 2):
        return
    for _ in range(N_DESIGNS):
        patients = rng.permutation(np.arange(n) % 2 == 0)
        if kind == "numbers":
            covariates = pd.DataFrame(rng.standard_normal((n, n_columns))).add_prefix("c")
        else:
            everywhere = np.concatenate([np.arange(n_columns + 1), rng.integers(0, n_columns + 1, n - n_columns - 1)])
            covariates = pd.DataFrame({"site": [f"site {number}" for number in rng.permutation(everywhere)]})
        design = group_design(covariates, patients)
        if design.degrees == degrees and design.explained < 1 - 1e-9:
            yield patients, design.columns


def _measure(patients: NDArray[np.bool_], columns: NDArray[np.float64], rng: np.random.Generator) -> dict[str, float]:
    noise = rng.standard_normal((len(patients), N_FEATURES))
    heavy = rng.standard_t(3, (len(patients), N_FEATURES))
    null = group_effect(noise, patients, columns, permutations=N_PERMUTATIONS, seed=SEED)
    tailed = group_effect(heavy, patients, columns, permutations=N_PERMUTATIONS, seed=SEED)
    planted = group_effect(noise + TRUE_D * patients[:, None], patients, columns, permutations=1, seed=SEED)
    return {
        "p_at_most_0.05": float((null.p <= 0.05).mean()),
        "p_at_most_0.05_heavy_tails": float((tailed.p <= 0.05).mean()),
        "null_d_beyond_2": float((np.abs(null.d) > 2).mean()),
        "interval_holds_d": float(((planted.d_low <= TRUE_D) & (planted.d_high >= TRUE_D)).mean()),
        "overstatement": float(planted.d.mean() / TRUE_D - 1),
    }


if __name__ == "__main__":
    main()
