"""Jobs that make models: train one on a cohort, or on several together, and measure again what its card says."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from biobgt.cli.arguments import AtlasOption, DeviceOption, OrientationOption, OutOption, takes_options
from biobgt.cli.model_arguments import (
    DataOption,
    KindsOption,
    ModelOption,
    PhenotypesOption,
    ThreadsOption,
)
from biobgt.cli.results import results_folder, typed_command
from biobgt.cli.screen import print_line
from biobgt.cli.shared_models import shared_card, train_shared
from biobgt.cli.training_steps import (
    complete_card,
    prepare_graphs,
    read_training_cohort,
    tell,
    use_threads,
    write_reading_beside,
)
from biobgt.errors import InputError
from biobgt.signals import keeping
from biobgt.training.training_options import TrainingOptions


@takes_options("options", TrainingOptions, panel="Options")
def train(
    cohort: KindsOption,
    data: DataOption,
    out: OutOption,
    options: TrainingOptions,
    phenotypes: PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: OrientationOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the model. Default: the name of the folder.")] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder for logs and checkpoints. Default: runs, in the results.")
    ] = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    resume: Annotated[bool, typer.Option(help="Continue a run that was stopped.")] = False,
) -> None:
    """Train an ensemble over the folds of a cohort and write a model folder: weights, card, group results.

    Examples
    --------
    biobgt train --cohort folder --data study/ --phenotypes participants.tsv --out my-model
    biobgt train --cohort adni --data adni/ --phenotypes adni.csv --out pretrained/my-adni --resume
    """
    from biobgt.model.device import choose_device
    from biobgt.training.baseline_folds import baselines_out_of_fold
    from biobgt.training.cards import write_model
    from biobgt.training.distributed import is_first, process_group
    from biobgt.training.folds import train_ensemble
    from biobgt.training.protocols import CROSS_VALIDATION
    from biobgt.training.training_cohorts import protocol_splits

    settings, seed = options.changed_preset(), options.seed
    chosen, folder = choose_device(device), runs or out / "runs"
    use_threads(threads)
    with process_group():
        if len(cohort) > 1:
            if phenotypes is not None:
                raise InputError("Each of several cohorts has its own table of groups: leave out --phenotypes.")
            train_shared(
                [read_training_cohort(kind, data, None, atlas, orientation, seed) for kind in cohort],
                settings,
                out,
                name=name or out.resolve().name,
                folds=options.folds,
                runs=folder,
                seed=seed,
                device=chosen,
                resume=resume,
                kept=_kept_of_training(folder),
            )
            return
        subjects = read_training_cohort(cohort[0], data, phenotypes, atlas, orientation, seed)
        splits = protocol_splits(subjects, CROSS_VALIDATION, n=options.folds, seed=seed)  # refuses before the long work
        write_reading_beside(subjects, folder)
        with keeping(_kept_of_training(folder)):
            prepared = prepare_graphs(subjects, settings, folder / "features")
            trained = train_ensemble(
                prepared, splits, settings, folder=folder, seed=seed, device=chosen, resume=resume, progress=tell
            )
            if not is_first():
                return
            with results_folder(out, job="train", manifest=False) as place:  # a card names its files itself
                written = write_model(
                    place,
                    name=name or out.resolve().name,
                    cohort=subjects,
                    data=prepared,
                    preset=settings,
                    trained=trained,
                    linear=baselines_out_of_fold(prepared, splits),
                    command=typed_command(sys.argv[1:]),
                    seed=seed,
                    splits=splits,
                )
                complete_card(place, subjects, prepared, splits, seed=seed, features=folder / "features")
    print_line(written["headline"])
    print_line(f"Model written to {out}")


def _kept_of_training(folder: Path) -> str:
    return (
        f"No model was written. What was finished, up to the last epoch, is kept in '{folder}': run the same command "
        "with --resume to continue."
    )


def card(
    model: ModelOption,
    data: Annotated[Path | None, typer.Option(help="Folder of the files that the model was trained on.")] = None,
    words_only: Annotated[
        bool, typer.Option("--words-only", help="Only write the headline and README.md from card.json; needs no data.")
    ] = False,
    phenotypes: PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: OrientationOption = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder that keeps NE and modules for the next run. Default: none.")
    ] = None,
    threads: ThreadsOption = None,
) -> None:
    """Measure again, from a model's weights, what its card says beside results; nothing is trained.

    These are tests of attention between groups, what NE and attention do to predictions, familiar ranges, answers to
    worse recordings, and motion alone. DATA and phenotypes are those that the model was trained on. First it checks
    that the out-of-fold attention equals the group means in the model's folder.

    Examples
    --------
    biobgt card --model my-model --data study/ --phenotypes participants.tsv
    biobgt card --model my-model --words-only
    """
    from biobgt.model.group_results import load_groups
    from biobgt.model.pretrained import CARD, GROUPS, WEIGHTS, load_card, load_pretrained, model_folder
    from biobgt.training.cards import seal_card, write_words
    from biobgt.training.group_arrays import measure_spread
    from biobgt.training.group_tests import check_same_attention, group_tests, out_of_fold_attention, write_tests
    from biobgt.training.protocols import CROSS_VALIDATION
    from biobgt.training.training_cohorts import protocol_splits

    known, folder = load_card(model), model_folder(model)
    if words_only:
        write_words(folder, known)
        print_line(f"Headline and README.md written to {folder}")
        return
    if data is None:
        raise InputError("A card is measured from the files that its model was trained on: name them with --data.")
    seed, features = known["training"]["seed"], None if runs is None else runs / "features"
    use_threads(threads)
    if "readout" in known:
        raise InputError(f"'{model}' is a readout of {known['readout']['of']}: name that network, its readouts follow.")
    if "readouts" in known:
        kinds = [one["cohort"] for one in known["readouts"]]
        cohorts = [read_training_cohort(kind, data, None, known["atlas"], orientation, seed) for kind in kinds]
        shared_card(folder, known, cohorts, features=features)
        return
    ensemble = load_pretrained(model, "cpu")
    subjects = read_training_cohort(known["data"]["cohort"], data, phenotypes, atlas, orientation, seed)
    splits = protocol_splits(subjects, CROSS_VALIDATION, n=len(ensemble.members), seed=seed)
    prepared = prepare_graphs(subjects, ensemble.preset, features)
    attention = out_of_fold_attention(ensemble.members, prepared, splits)
    check_same_attention(attention, prepared, load_groups(model))
    with results_folder(folder, job="card", manifest=False) as place:
        for file in (WEIGHTS, CARD, GROUPS):
            shutil.copy2(folder / file, place)
        write_tests(group_tests(subjects, prepared, attention), place)
        measure_spread(place, subjects, prepared, ensemble.members, splits, attention=attention)
        seal_card(place)
        complete_card(place, subjects, prepared, splits, seed=seed, features=features)
    print_line(f"Card and tests written to {folder}")
