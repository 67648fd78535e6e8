"""Which measure finds which lesion? Known lesions planted in 462 controls of ABIDE and in the demo's controls.

    python assets/studies/bench.py DIR --work FOLDER

DIR holds ``abide_cc200.npz`` and ``abide_phenotypes.csv``; FOLDER keeps every line as soon as it is known, so that a
run that was stopped goes on. It writes ``bench.csv`` beside this script: power of every measure by lesion, size and
people of each half, with Wilson intervals over repetitions. Size 0 plants nothing: its power is the rate of false
findings. Attention is that of a shipped model, which was trained on these controls; those of the demo are drawn like
them. Seed 0. About a quarter of an hour of one core.
"""

from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from biobgt.bench.folder import run_bench
from biobgt.bench.options import BenchOptions
from biobgt.bench.run import plan_bench
from biobgt.cli.main import print_line
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.data.simulate import demo_cohort
from biobgt.readers import read_cohort

TABLE = Path(__file__).with_name("bench.csv")
LESIONS = {"network": (0.0, 0.2), "hub": (0.5,), "segregation": (0.2,)}
# By cohort: the model whose attention is tested, people of each half, repetitions.
COHORTS = {"abide": ("abide-cc200", (20, 40, 80, 160), 30), "demo": ("abide-cc200", (10, 20, 40), 30)}
DEMO_CONTROLS = 80
PERMUTATIONS = 99


def main(
    data: Annotated[Path, typer.Argument(help="Folder of the real cohorts.")],
    work: Annotated[Path, typer.Option(help="Folder for what is measured.")],
    cohort: Annotated[list[str] | None, typer.Option(help="Only these of abide and demo.")] = None,
) -> None:
    """Plant every lesion in every cohort."""
    for name in cohort or COHORTS:
        table = pd.concat([_power(name, lesion, data, work / name) for lesion in LESIONS], ignore_index=True)
        if TABLE.exists():
            other = pd.read_csv(TABLE)
            table = pd.concat([other[other["cohort"] != name], table], ignore_index=True)
        table.to_csv(TABLE, index=False, float_format="%.4f")


def _power(name: str, lesion: str, data: Path, work: Path) -> pd.DataFrame:
    """Power of every measure for one lesion in one cohort."""
    model, people, repetitions = COHORTS[name]
    options = BenchOptions(
        lesion=lesion,  # type: ignore[arg-type]
        size=LESIONS[lesion],
        people=people,
        repetitions=repetitions,
        permutations=PERMUTATIONS,
        model=model,
        group="NC",
    )
    plan = plan_bench(_cohort(name, data), ConnectomeSettings(), options)
    print_line(f"{name}: {plan.lesion.words(max(plan.sizes))}, in {len(plan.cohort)} controls")
    table = run_bench(plan, work, progress=lambda what, done, total: _say(what, done, total))
    for column, value in (("place", plan.lesion.place), ("lesion", lesion), ("cohort", name)):
        table.insert(0, column, value)
    return table.assign(controls=len(plan.cohort))


def _cohort(name: str, data: Path) -> Cohort:
    if name == "demo":
        return demo_cohort("asd", n_per_group=DEMO_CONTROLS)
    return read_cohort(data / "abide_cc200.npz", phenotypes=data / "abide_phenotypes.csv")


def _say(what: str, done: int, total: int) -> None:
    if done % 100 == 0 or done == total:
        print_line(f"{what}: {done:,} of {total:,}")


if __name__ == "__main__":
    typer.run(main)
