"""Would they survive? Known answers of specification curves on real subjects, and how often the joint test errs.

DIR holds ``abide_cc200.npz`` and ``cni2019_cc200.npz`` with their phenotypes. Agreement of NE with FC strength is
measured over people of CNI-2019, whose global signal was kept, and of ABIDE, whose makers regressed it out; segregation
is compared between the 437 ASD and 462 NC of ABIDE. Of the same 462 NC, halves that are drawn at random differ in
nothing: in as many of them as the level says the joint test may find a difference.

    python assets/studies/survival.py --data DIR --work FOLDER
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from biobgt.cli.main import progress_bar
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs.measures import FC_STRENGTH
from biobgt.readers import read_cohort
from biobgt.specifications.folder import survive
from biobgt.specifications.options import SurvivalOptions
from biobgt.specifications.people import all_ways_tested, people_tested
from biobgt.specifications.plan import plan_survival
from biobgt.specifications.run import Lines, measured_values, run_jobs
from biobgt.specifications.ways import Situation

HERE = Path(__file__).parent
SEED = 0
PEOPLE = 20  # of each cohort whose hubs are measured
NULLS, PERMUTATIONS = 500, 199
SEGREGATION: dict[str, Any] = {"finding": "segregation", "first": "NC", "second": "ASD"}


def main(
    data: Annotated[Path, typer.Option(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="What was measured of each person; outside the repository.")],
    workers: Annotated[int | None, typer.Option(help="Processes.")] = None,
) -> None:
    """Measure what is missing, and write the verdicts and the levels of the joint test."""
    abide, cni = (
        read_cohort(data / f"{name}_cc200.npz", phenotypes=data / f"{name}_phenotypes.csv")
        for name in ("abide", "cni2019")
    )
    rows = []
    agreement: dict[str, Any] = {"finding": "agreement-of-cohort", "beside": FC_STRENGTH, "most": 60}
    for name, cohort, options in (
        ("CNI-2019", _some(cni), agreement),
        ("ABIDE", _some(abide), agreement),
        ("ABIDE", abide, {**SEGREGATION, "most": 2000}),
    ):
        plan = plan_survival(cohort, ConnectomeSettings(), SurvivalOptions(**options))
        with progress_bar(name) as progress:
            curve = survive(plan, work / f"{name}-{options['finding']}", workers=workers, progress=progress)
        explained = curve.explained()
        joint = (
            {}
            if curve.joint is None
            else {f"joint_{key}": one for key, one in vars(curve.joint).items() if "curve" not in key}
        )
        most = max(explained, key=lambda key: explained[key])
        about = {"ways": len(curve.known), "possible": curve.n_possible, "holding": curve.n_holding}
        found = {"same_sign": curve.same_sign, "clear": curve.clear, "most": most, "explained": explained[most]}
        rows.append({"cohort": name, "whom": curve.whom, "sentence": curve.sentence, **about, **found, **joint})
    pd.DataFrame(rows).to_csv(HERE / "survival.csv", index=False, float_format="%.4g")
    _nulls(abide).to_csv(HERE / "survival_null.csv", index=False, float_format="%.4g")


def _some(cohort: Cohort) -> Cohort:
    chosen = set(np.random.default_rng(SEED).permutation(cohort.ids)[:PEOPLE].tolist())
    return cohort.select(lambda one: one.id in chosen)


def _nulls(abide: Cohort) -> pd.DataFrame:
    """The share of null data sets with a p below levels, for each way alone and for the curve as a whole."""
    controls = abide.group("NC")
    settings = ConnectomeSettings()
    halves = replace(controls, subjects=tuple(replace(one, group="AB"[i % 2]) for i, one in enumerate(controls)))
    asked: dict[str, Any] = {**SEGREGATION, "first": "A", "second": "B", "covariates": ("age", "sex")}
    options = SurvivalOptions(**asked, most=2000, off=("recording", "estimator"))
    plan, lines = plan_survival(halves, settings, options), Lines()
    run_jobs(plan, lines, lambda *_: None, workers=None)
    values, overall = measured_values(plan, lines)
    rng, found = np.random.default_rng(SEED), []
    for number in range(NULLS):
        labels = rng.permutation([str(one.group) for one in halves])
        drawn = replace(
            halves, subjects=tuple(replace(one, group=str(label)) for one, label in zip(halves, labels, strict=True))
        )
        situation = Situation(drawn, options.asked, settings)
        estimates, joint = all_ways_tested(
            people_tested(situation), plan.ways.every, values, overall, permutations=PERMUTATIONS, seed=number
        )
        assert joint is not None
        alone = np.array([one.p for one in estimates])
        smallest = float(np.nanmin(alone))
        found.append({"median": joint.median_p, "share": joint.share_p, "first way": alone[0], "any way": smallest})
    table = pd.DataFrame(found)
    rows = [
        {"test": name, "level": level, "found": float((table[name] <= level + 1e-9).mean()), "data_sets": NULLS}
        for name in table
        for level in (0.01, 0.05, 0.1)
    ]
    return pd.DataFrame(rows).assign(ways=len(plan.ways.every), people=len(controls), permutations=PERMUTATIONS)


if __name__ == "__main__":
    typer.run(main)
