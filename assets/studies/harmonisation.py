"""What ComBat takes away of ABIDE's 19 sites, and what tests find after it where there is nothing.

    python assets/studies/harmonisation.py --data DIR

899 subjects on CC200 (``abide_cc200.npz``, ``abide_phenotypes.csv``): overall connectivity, the mean absolute
correlation of all pairs of regions with signal, and that of each region. Group, age, sex and log mean FD are preserved.
``harmonisation.csv`` has the shares of variance that sites explain beyond these, of means and of spreads
(``biobgt.inference.site_shares``, median over regions): as measured; fitted on everybody; on controls alone; robustly;
and each fifth of the subjects fitted on the other four. ``harmonisation_nulls.csv``: 400 random groups without any
difference among the controls, a quarter or three quarters of each site; how often the t of a least squares model has p
of at most 0.05 in a region, with and without ComBat and sites as covariates. Seed 0.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from biobgt.base.arrays import FloatArray
from biobgt.inference import fit_combat, site_shares, variables_of

HERE = Path(__file__).parent
PRESERVED = ["group", "age", "sex", "motion"]
SETS, FOLDS, SEED = 400, 5, 0


def main() -> None:
    """Write both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    strength = _strength(folder / "abide_cc200.npz")
    table = variables_of(pd.read_csv(folder / "abide_phenotypes.csv"))
    known = table[[*PRESERVED, "site"]].notna().all(axis=1).to_numpy()
    strength, table = strength[known], table[known].reset_index(drop=True)
    print(f"{known.sum()} subjects, {np.isfinite(strength).all(axis=0).sum()} regions with signal in all")
    rows = list(_shares(strength, table))
    pd.DataFrame(rows).to_csv(HERE / "harmonisation.csv", index=False, float_format="%.4f")
    pd.DataFrame(_nulls(strength, table)).to_csv(HERE / "harmonisation_nulls.csv", index=False, float_format="%.4f")


def _strength(archive: Path) -> FloatArray:
    """Mean absolute correlation of each region with all others that have signal, shape (n_subjects, n_regions)."""
    with np.load(archive) as stored:
        series, ends = stored["series"], np.cumsum(stored["n_timepoints"])
    found = np.full((len(ends), series.shape[1]), np.nan)
    for row, own in zip(found, np.split(series, ends[:-1]), strict=True):
        scaled = own.astype(np.float64) - own.mean(axis=0, dtype=np.float64)
        lengths = np.linalg.norm(scaled, axis=0)
        signal = lengths > 0
        scaled = scaled[:, signal] / lengths[signal]
        row[signal] = (np.abs(scaled.T @ scaled).sum(axis=1) - 1) / (signal.sum() - 1)
    return found


def _shares(strength: FloatArray, table: pd.DataFrame) -> Iterator[dict[str, object]]:
    """What sites explain, as measured and after each way to fit."""
    sites, preserved = table["site"].tolist(), table[PRESERVED]
    controls = (table["group"] == "NC").to_numpy()
    everybody = np.ones(len(table), bool)
    folds = np.random.default_rng(SEED).permutation(np.arange(len(table)) % FOLDS)
    overall = np.nanmean(strength, axis=1, keepdims=True)

    def fitted(values: FloatArray, on: NDArray[np.bool_], *, robust: bool = False) -> FloatArray:
        combat = fit_combat(values[on], table["site"][on].tolist(), preserved[on], robust=robust)
        return combat.harmonised(values, sites, preserved)

    def held_out(values: FloatArray) -> FloatArray:
        found = np.empty_like(values)
        for fold in range(FOLDS):
            found[folds == fold] = fitted(values, folds != fold)[folds == fold]
        return found

    for measure, values in (("overall connectivity", overall), ("strength of regions", strength)):
        ways = {
            "as measured": values,
            "fitted on everybody": fitted(values, everybody),
            "fitted on everybody, robust": fitted(values, everybody, robust=True),
            "fitted on controls": fitted(values, controls),
            "fitted on other subjects": held_out(values),
        }
        for name, harmonised in ways.items():
            some = np.isfinite(harmonised).all(axis=0)
            means, spreads = site_shares(harmonised[:, some], sites, preserved)
            yield {
                "measure": measure,
                "harmonised": name,
                "features": int(some.sum()),
                "of_means": float(np.median(means)),
                "of_means_largest": float(means.max()),
                "of_spreads": float(np.median(spreads)),
            }


def _nulls(strength: FloatArray, table: pd.DataFrame) -> list[dict[str, object]]:
    """Shares of tests of random groups with p of at most 0.05."""
    controls = (table["group"] == "NC").to_numpy()
    some = np.isfinite(strength).all(axis=0)
    values, own = strength[np.ix_(controls, some)], table[controls].reset_index(drop=True)
    codes, sites = np.unique(own["site"].to_numpy(str), return_inverse=True)[1], own["site"].tolist()
    adjusted = np.column_stack([own["age"], own["sex"] == "M", own["motion"]]).astype(np.float64)
    dummies = np.eye(codes.max() + 1)[codes]
    found: dict[tuple[str, str], list[float]] = {}
    for number in range(SETS):
        rng = np.random.default_rng(number)
        share = rng.permutation(np.resize([0.25, 0.75], codes.max() + 1))
        patient = (rng.random(len(own)) < share[codes]).astype(float)
        preserved = own[["age", "sex", "motion"]].assign(patient=patient)
        harmonised = fit_combat(values, sites, preserved).harmonised(values, sites, preserved)
        blind = fit_combat(values, sites, own[["age", "sex", "motion"]]).harmonised(
            values, sites, own[["age", "sex", "motion"]]
        )
        for name, y in (("no", values), ("group preserved", harmonised), ("group not preserved", blind)):
            for how, columns in (("no", adjusted), ("yes", np.hstack([adjusted, dummies[:, 1:]]))):
                p = _p_of(patient, np.column_stack([np.ones(len(own)), columns]), y)
                found.setdefault((name, how), []).append(float((p <= 0.05).mean()))
    return [
        {"combat": name, "sites_as_covariate": how, "p_at_most_0.05": float(np.mean(shares))}
        for (name, how), shares in found.items()
    ]


def _p_of(group: FloatArray, columns: FloatArray, values: FloatArray) -> FloatArray:
    """P of the t of a group beside other columns, in each feature."""
    design = np.column_stack([group, columns])
    solving = np.linalg.pinv(design)
    coefficients = solving @ values
    degrees = len(values) - np.linalg.matrix_rank(design)
    variance = ((values - design @ coefficients) ** 2).sum(axis=0) / degrees * (solving[0] ** 2).sum()
    return np.asarray(2 * stats.t.sf(np.abs(coefficients[0]) / np.sqrt(variance), degrees))


if __name__ == "__main__":
    main()
