"""The job that sets every system of the benchmark side by side on one cohort."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biobgt.cli.arguments import AtlasOption, DeviceOption, OrientationOption, OutOption, takes_options
from biobgt.cli.evaluations import kept_of_evaluation
from biobgt.cli.model_arguments import DataOption, KindOption, PhenotypesOption, ThreadsOption
from biobgt.cli.screen import print_line, print_table
from biobgt.cli.training_steps import prepare_graphs, read_training_cohort, tell, use_threads, write_reading_beside
from biobgt.cohort import Cohort
from biobgt.signals import keeping
from biobgt.training.training_options import BenchmarkOptions

if TYPE_CHECKING:  # torch takes seconds to import, and other jobs do not need it
    import pandas as pd

    from biobgt.model.baselines.system import System
    from biobgt.model.presets import Preset
    from biobgt.registry import Registry
    from biobgt.training.data import LabelledGraphs


@takes_options("options", BenchmarkOptions, panel="Options")
def benchmark(
    cohort: KindOption,
    data: DataOption,
    out: OutOption,
    options: BenchmarkOptions,
    models: Annotated[
        str,
        typer.Option(
            help="Keys of models, separated by commas, in the order in which they are run; 'list' prints all keys."
        ),
    ] = "all",
    features: Annotated[Path | None, typer.Option(help="Folder that keeps NE and modules. Default: in --out.")] = None,
    phenotypes: PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: OrientationOption = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
) -> None:
    """Compare models on the same splits of a cohort, one line per model and split; run again, it continues.

    Every model is fitted on the training subjects alone, and its epoch and calibration are chosen on the validation
    subjects. The splits are those of 'biobgt evaluate'.

    Examples
    --------
    biobgt benchmark --cohort folder --data study/ --phenotypes participants.tsv --out results
    biobgt benchmark --cohort abide --data abide/ --models ridge-log,best,graphormer --splits 3 --out results
    """
    from biobgt.model.baselines.systems import benchmark_systems
    from biobgt.model.device import choose_device
    from biobgt.training.benchmark import run_benchmark
    from biobgt.training.benchmark_views import benchmark_table, compare_systems
    from biobgt.training.distributed import refuse_processes
    from biobgt.training.protocols import RANDOM
    from biobgt.training.training_cohorts import protocol_splits

    known = benchmark_systems()
    if models == "list":
        print_table(_keys(known), title="Models of the benchmark", limit=len(known))
        return
    refuse_processes("biobgt benchmark")
    compared_with = known.named(options.reference)
    keys = list(known) if models == "all" else [key.strip() for key in models.split(",") if key.strip()]
    systems = [known.named(key) for key in keys]
    where = choose_device(device)
    use_threads(threads)
    subjects = read_training_cohort(cohort, data, phenotypes, atlas, orientation, options.seed)
    parts = protocol_splits(subjects, RANDOM, n=options.splits, seed=options.seed)  # refuses before the long work
    write_reading_beside(subjects, out)
    with keeping(kept_of_evaluation(out, "split")):
        prepared = _prepared_once(subjects, features or out / "features")
        results = run_benchmark(prepared, parts, systems, folder=out, seed=options.seed, device=where, progress=tell)
    shown = benchmark_table(results)
    columns = ["model", "splits", "accuracy", "auc", "auc_low", "auc_high", "f1", "sensitivity", "specificity"]
    print_table(shown[[*columns, "brier", "seconds", "parameters"]], title="Test results", limit=len(shown))
    compared = compare_systems(results, reference=options.reference)
    if len(compared):
        title = f"AUC minus that of {compared_with.title}, on the splits that both have"
        print_table(compared, title=title, limit=len(compared))
    for system in systems:
        if system.reason:
            print_line(f"{system.title}: {system.reason}")
    print_line(f"Results written to {out}")


def _keys(systems: "Registry[System]") -> "pd.DataFrame":
    """Every system with its key, and why it cannot be run where that is so."""
    import pandas as pd

    rows = [(key, system.title, system.family, system.reason) for key, system in systems.items()]
    return pd.DataFrame(rows, columns=["key", "model", "family", "not run because"])


def _prepared_once(subjects: Cohort, kept: Path) -> "Callable[[Preset], LabelledGraphs]":
    """Prepare the cohort for a preset; the last one is remembered, since one takes a gigabyte for 900 subjects."""
    last: dict[tuple[float, str, float], LabelledGraphs] = {}

    def prepared(preset: "Preset") -> "LabelledGraphs":
        inputs = preset.threshold, preset.values, preset.shrinkage
        if inputs not in last:
            last.clear()
            last[inputs] = prepare_graphs(subjects, preset, kept)
        return last[inputs]

    return prepared
