"""The job that plants a known lesion in one's own controls, and says which measure finds it."""

from pathlib import Path
from typing import Annotated

import typer

from biobgt.base.files import atomic_file
from biobgt.base.wording import capitalised, counted, listed
from biobgt.bench.folder import run_bench
from biobgt.bench.options import BenchOptions
from biobgt.bench.run import plan_bench
from biobgt.cli.arguments import Where, print_settings, reads_cohort, takes_options, takes_settings, takes_workers
from biobgt.cli.main import keeping, print_line, print_table, progress_bar
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.figures.bench import power_drawing
from biobgt.figures.paper.frame import save_figure
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle

FIGURE = "power.svg"
_SHOWN = ["title", "size", "people", "power", "power_low", "power_high", "strongest", "elsewhere"]


@reads_cohort
@takes_settings
@takes_workers
@takes_options("options", BenchOptions, panel="The lesion")
def bench(
    cohort: Cohort,
    settings: ConnectomeSettings,
    options: BenchOptions,
    where: Where,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of the bench; created if missing.")],
) -> None:
    """Plant a known lesion in people who have none, and say which measure finds it, where, and from how many people on.

    A run that ended early is taken up by the next one into the same folder.

    Examples
    --------
    biobgt bench demo:ad bench --lesion network --size 0 --size 0.3 --people 5 --people 10
    biobgt bench study/ bench --group NC --lesion hub --size 1 --people 20 --people 40
    """
    plan = plan_bench(cohort, settings, options)
    sizes = listed([plan.lesion.words(size) if size else "nothing is planted" for size in plan.sizes])
    print_line(f"{capitalised(sizes)}, in some of {counted(len(plan.cohort), 'control')}.")
    how = where.of(cohort)
    with keeping(f"What was measured is kept in {out}; the same command goes on with it."):
        table = run_bench(plan, out, progress=_Bars(), workers=how["workers"], scheduler=how["scheduler"])
    print_settings(cohort, settings)
    print_table(table[_SHOWN], title="Power (family-wise 5 %), and where the clearest finding is", limit=100)
    whom, style = f"{counted(len(plan.cohort), 'control')} of {cohort.name}", PaperStyle()
    paper = power_drawing(table, plan.lesion, whom, simulated=True).for_paper(style)
    with atomic_file(out / FIGURE) as unfinished:
        save_figure(draw_on_paper(paper, style), unfinished, "svg", style)
    print_line(f"Power of {counted(len(plan.measures), 'measure')} written to {out}")


class _Bars:
    """A bar for recordings, and then one for comparisons."""

    def __init__(self) -> None:
        self.what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self.what:
            self.what, self.bar = what, progress_bar(what, unit=what.lower())
            self.tell = self.bar.__enter__()
        self.tell(done, total)
        if done == total:
            self.bar.__exit__(None, None, None)
