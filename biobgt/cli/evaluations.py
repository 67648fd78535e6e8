"""The job that evaluates a preset: on splits of a cohort, beside the baselines, or with a whole ensemble per fold."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biobgt.cli.arguments import AtlasOption, DeviceOption, OrientationOption, OutOption, takes_options
from biobgt.cli.model_arguments import (
    DataOption,
    KindOption,
    PhenotypesOption,
    ThreadsOption,
)
from biobgt.cli.screen import print_line, print_table
from biobgt.cli.training_steps import (
    prepare_graphs,
    read_training_cohort,
    tell,
    use_threads,
    write_reading_beside,
)
from biobgt.cohort import Cohort
from biobgt.signals import keeping
from biobgt.training.protocols import NESTED
from biobgt.training.training_options import EvaluationOptions

if TYPE_CHECKING:  # torch takes seconds to import, and other jobs do not need it
    import torch

    from biobgt.model.presets import Preset


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
    from biobgt.model.device import choose_device
    from biobgt.model.pretrained import load_card, model_folder
    from biobgt.training.cards import add_evaluation, check_evaluated
    from biobgt.training.distributed import refuse_processes
    from biobgt.training.evaluation import evaluate as run
    from biobgt.training.evaluation import paired_with_baselines, read_results, summarise
    from biobgt.training.training_cohorts import protocol_splits

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
    with keeping(kept_of_evaluation(out, "split")):
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


def kept_of_evaluation(out: Path, part: str) -> str:
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
    from biobgt.training.nested import NESTED_FILE, add_nested, evaluate_nested, nested_summary

    write_reading_beside(subjects, out)
    with keeping(kept_of_evaluation(out, "fold")):
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
