"""The job that measures a finding in all reasonable ways and says whether it would survive."""

from pathlib import Path
from typing import Annotated

import typer

from biobgt.base.wording import counted, listed, percent
from biobgt.cli.arguments import Where, print_settings, reads_cohort, takes_options, takes_settings, takes_workers
from biobgt.cli.main import keeping, print_line, print_notice, progress_bar
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.specifications.folder import survive as measure_into
from biobgt.specifications.options import SurvivalOptions
from biobgt.specifications.plan import plan_survival
from biobgt.specifications.ways import CHOICES


@reads_cohort
@takes_settings
@takes_workers
@takes_options("options", SurvivalOptions, panel="The finding")
def survive(
    cohort: Cohort,
    settings: ConnectomeSettings,
    options: SurvivalOptions,
    where: Where,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of the specifications; created if missing.")],
    subject: Annotated[
        str | None, typer.Option(help="Of whom a finding of one subject is. Default: the first.")
    ] = None,
    plan_only: Annotated[bool, typer.Option("--plan", help="Say what would be measured, and stop.")] = False,
) -> None:
    """Measure a finding in all reasonable ways, and say in how many it holds and where it turns.

    A run that ended early is taken up by the next one into the same folder.

    Examples
    --------
    biobgt survive demo:asd survival --finding segregation --first NC --second ASD
    biobgt survive study/ survival --finding agreement --subject sub-01 --beside fc_strength --off seed
    """
    plan = plan_survival(cohort, settings, options, subject=subject)
    _say_plan({key: len({CHOICES[key].get(way) for way in plan.ways.every}) for key in plan.offered})
    n, drawn = len(plan.ways.every), ""
    if n < plan.ways.n_possible:
        drawn = f" of {plan.ways.n_possible:,}, drawn with seed {options.seed}"
    print_line(
        f"{counted(n, 'specification')}{drawn}: {counted(plan.n_graphs, 'graph')} of "
        f"{counted(len(plan.situation.cohort), 'recording')}, about {_time_words(plan.seconds(where.workers))}."
    )
    if plan_only:
        return
    kept = f"What was measured is kept in {out}; the same command goes on with it."
    with keeping(kept), progress_bar("Measuring", unit="graphs") as progress:
        curve = measure_into(plan, out, progress=progress, **where.of(cohort))
    print_settings(cohort, settings)
    print_line(curve.sentence)
    print_line(curve.definition)
    if curve.joint_words:
        print_line(curve.joint_words)
    for key, share in sorted(curve.explained().items(), key=lambda pair: -pair[1])[:3]:
        if share >= 0.01:
            print_line(f"{CHOICES[key].title}: {percent(share)} of the variance of the estimate.")
    for note in curve.notes:
        print_line(note)
    print_line(f"Specifications of {curve.whom} written to {out}")


def _say_plan(n_values: dict[str, int]) -> None:
    """Name the choices that are varied, and those that could be."""
    varied = [f"{CHOICES[key].title.lower()} ({n}, {key})" for key, n in n_values.items() if n > 1]
    print_notice(f"Varied: {listed(varied) or 'nothing'}.")
    if stay := [CHOICES[key].title.lower() for key, n in n_values.items() if n == 1]:
        print_notice(f"Not varied: {listed(stay)}.")


def _time_words(seconds: float) -> str:
    """A time in words.

    >>> _time_words(3), _time_words(90), _time_words(7300)
    ('3 s', '2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{max(1, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
