"""Jobs that make and evaluate models: train, measure again what a card says, evaluate on splits, compare systems."""

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biobgt.base.errors import InputError
from biobgt.base.files import make_folder
from biobgt.base.folders import UNFINISHED
from biobgt.base.signals import keeping
from biobgt.cli.arguments import (
    AtlasOption,
    DataOption,
    DeviceOption,
    KindOption,
    KindsOption,
    ModelOption,
    OrientationOption,
    OutOption,
    PhenotypesOption,
    ThreadsOption,
    results_folder,
    takes_options,
    typed_command,
    write_reading,
)
from biobgt.cli.screen import err, escape_controls, print_line, print_table, progress_bar
from biobgt.data.cohort import Cohort, counted_people
from biobgt.data.quality import mean_connectivity, same_scans
from biobgt.readers import ReadOptions
from biobgt.readers.measurement import Orientation
from biobgt.training.options import NESTED, BenchmarkOptions, EvaluationOptions, TrainingOptions

if TYPE_CHECKING:
    import torch

    from biobgt.model.presets import Preset
    from biobgt.training.cohorts import JoinedCohorts
    from biobgt.training.folds import LabelledGraphs
    from biobgt.training.splits import Split

# Jobs that make models: train one on a cohort or on several, and measure again what its card says.


# Steps that jobs on models share: read a training cohort, prepare its graphs, complete a card, say how far it is.


def _complete_card(
    folder: Path,
    subjects: Cohort,
    prepared: "LabelledGraphs",
    splits: "Sequence[Split]",
    *,
    seed: int,
    features: Path | None,
) -> None:
    """Put on the card in a folder what its parts do, familiar ranges, answers to worse recordings, and motion alone.

    Parameters
    ----------
    folder : Path
        Of the model.
    subjects : Cohort
        Those that it was trained on.
    prepared : LabelledGraphs
        Of the same subjects.
    splits : sequence of Split
        The folds that it was trained on.
    seed : int
        Of the training.
    features : Path, optional
        Where NE and modules are kept.
    """
    from biobgt.training.card_text import CardText
    from biobgt.training.checks import check_model, complete_ablation

    complete_ablation(folder, prepared, splits)
    with progress_bar("Worse recordings") as progress:
        found = check_model(
            folder,
            subjects,
            prepared,
            seed=seed,
            splits=splits,
            kept=features,
            progress=progress,
        )
    text = CardText(found)
    for sentence in (text.noise, text.corruption, text.motion):
        print_line(sentence)


def _complete_readouts(
    place: Path,
    joined: "JoinedCohorts",
    data: "LabelledGraphs",
    splits: "Sequence[Split]",
    *,
    seed: int,
    features: Path | None,
) -> None:
    """Complete the card of each cohort's readout of a network."""
    for part, cohort in zip(data.parts, joined.parts, strict=True):
        tell(f"Checks of {cohort.name}")
        own = tuple(split.within(part.rows) for split in splits)
        _complete_card(place / cohort.name, cohort, data.of_readout(part), own, seed=seed, features=features)


def _read_training_cohort(
    kind: str, data: Path, phenotypes: Path | None, atlas: str | None, orientation: Orientation | None, seed: int
) -> Cohort:
    """Read the cohort, and say who is in it and who was left out.

    Parameters
    ----------
    kind : str
    data : Path
    phenotypes : Path, optional
    atlas : str, optional
    orientation : Orientation, optional
    seed : int
        See :func:`biobgt.training.cohorts.training_cohort`.
    """
    from biobgt.training.cohorts import training_cohort

    with progress_bar("Reading") as progress:
        options = ReadOptions(orientation=orientation)
        cohort = training_cohort(
            kind, data, phenotypes=phenotypes, atlas=atlas, options=options, seed=seed, progress=progress
        )
    groups = ", ".join(f"{n} {group}" for group, n in cohort.group_people.items())
    tell(f"{counted_people(len(set(cohort.persons)), len(cohort))} on {cohort.atlas.title}: {groups}.")
    for note in cohort.notes:
        tell(note)
    twins = same_scans(cohort, [mean_connectivity(subject) for subject in cohort])
    for name, others in twins.items():
        if name < min(others):
            tell(
                f"Subjects {name} and {', '.join(others)} contain the same scan. Splits keep them together, but "
                "the scan counts more than once: leave all but one out."
            )
    return cohort


def _write_reading_beside(cohort: Cohort, folder: Path) -> None:
    """Write where every subject came from and what was refused; beside the runs, for a model folder names nobody."""
    make_folder(folder)
    write_reading(cohort, folder)


def _prepare_graphs(
    subjects: Cohort, settings: "Preset", kept: Path | None, *, readouts: "Sequence[Sequence[str]]" = ()
) -> "LabelledGraphs":
    """Prepare a cohort's graphs, showing how far it is.

    Parameters
    ----------
    subjects : Cohort
    settings : Preset
    kept : Path, optional
        Where NE and modules are kept.
    readouts : sequence of sequence of str
        The groups of each cohort, where several are trained together.
    """
    from biobgt.training.folds import label_graphs

    with progress_bar("NE and modules") as progress:
        return label_graphs(subjects, settings, readouts=readouts, kept=kept, workers=None, progress=progress)


def _use_threads(threads: int | None) -> None:
    """Let torch use so many threads; None leaves it all cores."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def tell(sentence: str) -> None:
    """Say how far the work is, on the screen and not among the results."""
    err.print(escape_controls(sentence), markup=False, highlight=False)


# Jobs about a network that several cohorts share: train it, and measure its card again.


def _train_shared(
    cohorts: Sequence[Cohort],
    settings: "Preset",
    out: Path,
    *,
    name: str,
    folds: int,
    runs: Path,
    seed: int,
    device: "torch.device",
    resume: bool,
    kept: str,
) -> None:
    """Train one network on several cohorts, with a readout for each, and write its folder.

    Parameters
    ----------
    cohorts : sequence of Cohort
        Each of another kind, on one atlas.
    settings : Preset
    out : Path
        Where the network's folder goes.
    name : str
        Of the network.
    folds : int
        Folds of all cohorts together, and members.
    runs : Path
        Folder of logs and checkpoints.
    seed : int
    device : torch.device
    resume : bool
        Continue a run that was stopped.
    kept : str
        What is said where the work is stopped.
    """
    from biobgt.training.cards import write_shared_model
    from biobgt.training.cohorts import join_training_cohorts, protocol_splits
    from biobgt.training.folds import train_members
    from biobgt.training.options import CROSS_VALIDATION
    from biobgt.training.trainer import is_first

    joined = join_training_cohorts(cohorts)
    splits = protocol_splits(joined.whole, CROSS_VALIDATION, n=folds, seed=seed)  # refuses before the long work
    _write_reading_beside(joined.whole, runs)
    with keeping(kept):
        data = _prepare_graphs(joined.whole, settings, runs / "features", readouts=joined.readouts)
        members = train_members(
            data, splits, settings, folder=runs, seed=seed, device=device, resume=resume, progress=tell
        )
        if not is_first():
            return
        with results_folder(out, job="train", manifest=False) as place:  # a card names its files itself
            written = write_shared_model(
                place,
                name=name,
                joined=joined,
                data=data,
                preset=settings,
                members=members,
                splits=splits,
                runs=runs,
                command=typed_command(sys.argv[1:]),
                seed=seed,
                device=device,
                progress=tell,
            )
            _complete_readouts(place, joined, data, splits, seed=seed, features=runs / "features")
    print_line(written["headline"])
    print_line(f"Model written to {out}")


def _shared_card(folder: Path, known: dict[str, Any], cohorts: Sequence[Cohort], *, features: Path | None) -> None:
    """Measure again, from a network's weights, what its cards say beside results; nothing is trained.

    Parameters
    ----------
    folder : Path
        Of the network.
    known : dict
        Its card.
    cohorts : sequence of Cohort
        Those that it was trained on, in the order of its readouts.
    features : Path, optional
        Where NE and modules are kept.
    """
    from biobgt.model.pretrained import load_groups, load_pretrained
    from biobgt.training.cards import check_same_attention, measure_shared_again
    from biobgt.training.cohorts import join_training_cohorts, protocol_splits
    from biobgt.training.folds import out_of_fold_attention
    from biobgt.training.options import CROSS_VALIDATION

    ensemble, seed = load_pretrained(folder, "cpu"), known["training"]["seed"]
    joined = join_training_cohorts(cohorts)
    splits = protocol_splits(joined.whole, CROSS_VALIDATION, n=len(ensemble.members), seed=seed)
    data = _prepare_graphs(joined.whole, ensemble.preset, features, readouts=joined.readouts)
    attention, contrasts = out_of_fold_attention(ensemble.members, data, splits)
    check_same_attention(attention, data, load_groups(folder))
    with results_folder(folder, job="card", manifest=False) as place:
        # The place is a folder within: it does not go into itself.
        shutil.copytree(folder, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns(f"{UNFINISHED}*"))
        measure_shared_again(place, joined, data, attention, contrasts)
        _complete_readouts(place, joined, data, splits, seed=seed, features=features)
    print_line(f"Cards and tests written to {folder}")


# Jobs that make models: train one on a cohort, or on several together, and measure again what its card says.


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
    from biobgt.model.presets import choose_device
    from biobgt.training.cards import write_model
    from biobgt.training.cohorts import protocol_splits
    from biobgt.training.evaluation import baselines_out_of_fold
    from biobgt.training.folds import train_ensemble
    from biobgt.training.options import CROSS_VALIDATION
    from biobgt.training.trainer import is_first, process_group

    settings, seed = options.changed_preset(), options.seed
    chosen, folder = choose_device(device), runs or out / "runs"
    _use_threads(threads)
    with process_group():
        if len(cohort) > 1:
            if phenotypes is not None:
                raise InputError("Each of several cohorts has its own table of groups: leave out --phenotypes.")
            _train_shared(
                [_read_training_cohort(kind, data, None, atlas, orientation, seed) for kind in cohort],
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
        subjects = _read_training_cohort(cohort[0], data, phenotypes, atlas, orientation, seed)
        splits = protocol_splits(subjects, CROSS_VALIDATION, n=options.folds, seed=seed)  # refuses before the long work
        _write_reading_beside(subjects, folder)
        with keeping(_kept_of_training(folder)):
            prepared = _prepare_graphs(subjects, settings, folder / "features")
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
                _complete_card(place, subjects, prepared, splits, seed=seed, features=folder / "features")
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
    from biobgt.model.pretrained import CARD, GROUPS, WEIGHTS, load_card, load_groups, load_pretrained, model_folder
    from biobgt.training.cards import check_same_attention, measure_again, write_words
    from biobgt.training.cohorts import protocol_splits
    from biobgt.training.folds import out_of_fold_attention
    from biobgt.training.options import CROSS_VALIDATION

    known, folder = load_card(model), model_folder(model)
    if words_only:
        write_words(folder, known)
        print_line(f"Headline and README.md written to {folder}")
        return
    if data is None:
        raise InputError("A card is measured from the files that its model was trained on: name them with --data.")
    seed, features = known["training"]["seed"], None if runs is None else runs / "features"
    _use_threads(threads)
    if "readout" in known:
        raise InputError(f"'{model}' is a readout of {known['readout']['of']}: name that network, its readouts follow.")
    if "readouts" in known:
        kinds = [one["cohort"] for one in known["readouts"]]
        cohorts = [_read_training_cohort(kind, data, None, known["atlas"], orientation, seed) for kind in kinds]
        _shared_card(folder, known, cohorts, features=features)
        return
    ensemble = load_pretrained(model, "cpu")
    subjects = _read_training_cohort(known["data"]["cohort"], data, phenotypes, atlas, orientation, seed)
    splits = protocol_splits(subjects, CROSS_VALIDATION, n=len(ensemble.members), seed=seed)
    prepared = _prepare_graphs(subjects, ensemble.preset, features)
    attention, contrasts = out_of_fold_attention(ensemble.members, prepared, splits)
    check_same_attention(attention, prepared, load_groups(model))
    with results_folder(folder, job="card", manifest=False) as place:
        for file in (WEIGHTS, CARD, GROUPS):
            shutil.copy2(folder / file, place)
        measure_again(place, subjects, prepared, attention, contrasts)
        _complete_card(place, subjects, prepared, splits, seed=seed, features=features)
    print_line(f"Card and tests written to {folder}")


# Jobs that evaluate: a preset on splits of a cohort, and every system of the benchmark side by side.


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
    _use_threads(threads)
    subjects = _read_training_cohort(cohort, data, phenotypes, atlas, orientation, seed)
    if of_model is not None:
        check_evaluated(of_model, subjects, settings)  # it gets the summary in the end: better refused now
    if options.protocol == NESTED:
        _evaluate_nested(subjects, settings, out, model=model, n_outer=options.splits, seed=seed, device=chosen)
        return
    parts = protocol_splits(subjects, options.protocol, n=options.splits, seed=seed)  # refuses before the long work
    _write_reading_beside(subjects, out)
    with keeping(_kept_of_evaluation(out, "split")):
        prepared = _prepare_graphs(subjects, settings, out / "features")
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

    _write_reading_beside(subjects, out)
    with keeping(_kept_of_evaluation(out, "fold")):
        prepared = _prepare_graphs(subjects, settings, out / "features")
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
    from biobgt.training.cohorts import protocol_splits
    from biobgt.training.evaluation import run_benchmark
    from biobgt.training.options import RANDOM
    from biobgt.training.tables import BenchmarkTables
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
    _use_threads(threads)
    subjects = _read_training_cohort(cohort, data, phenotypes, atlas, orientation, options.seed)
    parts = protocol_splits(subjects, RANDOM, n=options.splits, seed=options.seed)  # refuses before the long work
    _write_reading_beside(subjects, out)
    with keeping(_kept_of_evaluation(out, "split")):
        prepared = _prepared_once(subjects, features or out / "features")
        results = run_benchmark(prepared, parts, systems, folder=out, seed=options.seed, device=where, progress=tell)
    tables = BenchmarkTables(results)
    shown = tables.over_splits()
    columns = ["model", "splits", "accuracy", "auc", "auc_low", "auc_high", "f1", "sensitivity", "specificity"]
    print_table(shown[[*columns, "brier", "seconds", "parameters"]], title="Test results", limit=len(shown))
    compared = tables.compared(reference=options.reference)
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
            last[inputs] = _prepare_graphs(subjects, preset, kept)
        return last[inputs]

    return prepared
