"""Jobs that evaluate: a preset on splits of a cohort, and every system of the benchmark side by side."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biobgt.base.signals import keeping
from biobgt.cli.arguments import (
    AtlasOption,
    DataOption,
    DeviceOption,
    KindOption,
    OrientationOption,
    OutOption,
    PhenotypesOption,
    ThreadsOption,
    takes_options,
)
from biobgt.cli.models import prepare_graphs, read_training_cohort, tell, use_threads, write_reading_beside
from biobgt.cli.screen import print_line, print_table
from biobgt.data.cohort import Cohort
from biobgt.training.options import NESTED, BenchmarkOptions, EvaluationOptions

if TYPE_CHECKING:
    import torch

    from biobgt.model.presets import Preset
    from biobgt.training.folds import LabelledGraphs

# The job that evaluates a preset: on splits of a cohort, beside the baselines, or with a whole ensemble per fold.


@takes_options("options", EvaluationOptions, panel="Options")
def evaluate(
    cohort: KindOption,
    data: DataOption,
    out: OutOption,
    options: EvaluationOptions,
    phenotypes: PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: OrientationOption = None,
    model: Annotated[Path | None, typer.Option(help="Model folder to whose card the summary is added.")] = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
) -> None:
    """Evaluate a preset and the baselines on the same splits; a run that was stopped continues when run again.

    Examples
    --------
    biobgt evaluate --cohort folder --data study/ --phenotypes participants.tsv --out results
    biobgt evaluate --cohort folder --data study/ --phenotypes participants.tsv --protocol sites --out results
    """
    from biobgt.model.presets import choose_device
    from biobgt.model.pretrained import load_card, model_folder
    from biobgt.training.cards import add_evaluation, check_evaluated
    from biobgt.training.cohorts import protocol_splits
    from biobgt.training.evaluation import evaluate as run
    from biobgt.training.evaluation import paired_with_baselines, read_results, summarise
    from biobgt.training.trainer import refuse_processes

    refuse_processes("biobgt evaluate")
    settings, seed, chosen = options.changed_preset(), options.seed, choose_device(device)
    of_model = None if model is None else load_card(model)
    use_threads(threads)
    subjects = read_training_cohort(cohort, data, phenotypes, atlas, orientation, seed)
    if of_model is not None:
        check_evaluated(of_model, subjects, settings)  # it gets the summary in the end: better refused now
    if options.protocol == NESTED:
        _evaluate_nested(subjects, settings, out, model=model, n_outer=options.splits, seed=seed, device=chosen)
        return
    parts = protocol_splits(subjects, options.protocol, n=options.splits, seed=seed)  # refuses before the long work
    write_reading_beside(subjects, out)
    with keeping(_kept_of_evaluation(out, "split")):
        prepared = prepare_graphs(subjects, settings, out / "features")
        run(
            prepared,
            parts,
            settings,
            protocol=options.protocol,
            folder=out,
            linear=options.linear,
            seed=seed,
            device=chosen,
            progress=tell,
        )
    results = read_results(out)
    shown = summarise(results)
    columns = [f"{metric} {statistic}" for metric in ("auc", "accuracy", "ece") for statistic in ("mean", "std")]
    print_table(shown[["protocol", "model", "splits", *columns]], title="Test results")
    paired = paired_with_baselines(results, settings.name)
    if len(paired):
        print_table(paired, title=f"AUC of {settings.name} minus that of each baseline, split by split")
    if model is not None:
        add_evaluation(model_folder(model), results)
    print_line(f"Results written to {out}")


def _kept_of_evaluation(out: Path, part: str) -> str:
    """What is left of an evaluation that was stopped."""
    return (
        f"The lines of every {part} that was finished are kept in '{out}': run the same command again to continue "
        "with the others."
    )


def _evaluate_nested(
    subjects: Cohort,
    settings: "Preset",
    out: Path,
    *,
    model: Path | None,
    n_outer: int,
    seed: int,
    device: "torch.device",
) -> None:
    """Train an ensemble for each outer fold, and evaluate the mean of its members on the fold's subjects."""
    from biobgt.model.pretrained import model_folder
    from biobgt.training.checks import NESTED_FILE, add_nested, evaluate_nested, nested_summary

    write_reading_beside(subjects, out)
    with keeping(_kept_of_evaluation(out, "fold")):
        prepared = prepare_graphs(subjects, settings, out / "features")
        results = evaluate_nested(
            subjects, prepared, settings, folder=out, n_outer=n_outer, seed=seed, device=device, progress=tell
        )
    found = nested_summary(results, prepared.groups)
    for name in ("mean", "single"):
        auc, accuracy = found[name]["auc"], found[name]["accuracy"]
        print_line(
            f"{found['outer_folds']} of {found['folds']} folds, {name} of members: AUC {auc['value']:.3f} "
            f"[{auc['low']:.3f}, {auc['high']:.3f}], accuracy {accuracy['value']:.3f}"
        )
    if model is not None:
        add_nested(model_folder(model), results)
    print_line(f"Results written to {out / NESTED_FILE}")


# The job that sets every system of the benchmark side by side on one cohort.


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
    from biobgt.model.benchmark.systems import benchmark_systems
    from biobgt.model.presets import choose_device
    from biobgt.training.benchmark_tables import benchmark_table, compare_systems
    from biobgt.training.cohorts import protocol_splits
    from biobgt.training.evaluation import run_benchmark
    from biobgt.training.options import RANDOM
    from biobgt.training.trainer import refuse_processes

    known = benchmark_systems()
    if models == "list":
        import pandas as pd

        rows = [(key, system.title, system.family, system.reason) for key, system in known.items()]
        keys_of_all = pd.DataFrame(rows, columns=["key", "model", "family", "not run because"])
        print_table(keys_of_all, title="Models of the benchmark", limit=len(known))
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
    with keeping(_kept_of_evaluation(out, "split")):
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
