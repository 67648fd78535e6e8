"""Two processes against one, on the tables of a whole cohort."""

from benchmarks.timing import Ratio, print_ratios, timed
from biobgt.data.simulate import demo_cohort
from biobgt.results.tables import analyse_hubs, analyse_modules


def run() -> None:
    """Print how much faster two processes make the hub tables and modules of 100 subjects."""
    cohort = demo_cohort("asd", n_per_group=50)

    def tables(workers: int) -> None:
        analyse_hubs(cohort, workers=workers)
        analyse_modules(cohort, workers=workers)

    alone, _ = timed(lambda: tables(1), repeats=1)
    together, _ = timed(lambda: tables(2), repeats=1)
    ratio = Ratio("hubs and modules of 100 subjects, one process", "two processes", alone / together, "≥ 1.7")
    print_ratios("Whole cohorts", [ratio])
