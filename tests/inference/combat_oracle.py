"""What neuroCombat and neuroHarmonize make of small synthetic data: the numbers behind ``combat_oracle.npz``.

    python -m venv oracle && oracle/bin/pip install neuroCombat==0.2.12 neuroHarmonize==2.5.2 "numpy<2"
    oracle/bin/python tests/inference/combat_oracle.py

Neither package is needed by the project: they pin numpy below 2. neuroCombat stops when nothing changes by more than
1e-4 of itself; ``exact`` is the same with 1e-10.
"""

from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent


def main() -> None:
    """Make the data, harmonise them, and store both."""
    from neuroCombat import neuroCombat
    from neuroCombat.neuroCombat import it_sol
    from neuroHarmonize import harmonizationApply, harmonizationLearn

    rng = np.random.default_rng(7)
    sites = np.repeat(["a", "b", "c"], [9, 14, 11])
    age, sex = rng.integers(6, 60, 34).astype(float), rng.choice(["F", "M"], 34)
    values = rng.standard_normal((34, 20)) * rng.uniform(0.5, 2, 20) + rng.uniform(-3, 3, 20)
    values += 0.05 * age[:, None] * rng.standard_normal(20) + 0.7 * (sex == "M")[:, None]
    values = values * np.repeat([0.6, 1, 1.8], [9, 14, 11])[:, None]
    values += np.repeat([0, 1.5, -2], [9, 14, 11])[:, None] + rng.standard_normal((3, 20)).repeat([9, 14, 11], axis=0)
    covariates = pd.DataFrame({"site": sites, "age": age, "sex": sex})
    how = {"covars": covariates, "batch_col": "site", "categorical_cols": ["sex"], "continuous_cols": ["age"]}
    published = neuroCombat(values.T, **how)["data"].T
    unshrunk = neuroCombat(values.T, **how, eb=False)["data"].T
    it_sol.__defaults__ = (1e-10,)
    exact = neuroCombat(values.T, **how)["data"].T
    fitted = np.arange(34) % 4 != 0
    numbers = pd.DataFrame({"SITE": sites, "AGE": age, "MALE": (sex == "M").astype(float)})
    model, _ = harmonizationLearn(values[fitted], numbers[fitted].reset_index(drop=True))
    applied = harmonizationApply(values[~fitted], numbers[~fitted].reset_index(drop=True), model)
    found = {"published": published, "unshrunk": unshrunk, "exact": exact, "applied": applied, "fitted": fitted}
    np.savez_compressed(HERE / "combat_oracle.npz", values=values, sites=sites, age=age, sex=sex, **found)


if __name__ == "__main__":
    main()
