"""Jobs that make and evaluate models: train, measure again what a card says, evaluate on splits, compare systems."""

import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from biobgt.base.errors import InputError
from biobgt.base.folders import UNFINISHED
from biobgt.base.options import Options, option
from biobgt.cli.arguments import (
    AtlasOption,
    DeviceOption,
    ModelOption,
    OutOption,
    results_folder,
    takes_options,
    typed_command,
    write_reading,
)
from biobgt.cli.main import keeping, print_line, print_notice, print_table, progress_bar
from biobgt.data.cohort import Cohort, counted_people
from biobgt.data.quality import mean_connectivity, same_scans
from biobgt.model.presets import (
    FOLDS,
    MOST_NOISE_DIRECTIONS,
    OWN_PRESET,
    REFERENCE,
    Preset,
    PresetName,
    choose_device,
    preset_named,
)
from biobgt.readers import ReadOptions
from biobgt.readers.measurement import Orientation
from biobgt.training.cohorts import (
    CROSS_VALIDATION,
    NESTED,
    PROTOCOLS,
    RANDOM,
    CohortKind,
    Evaluated,
    Split,
    join_training_cohorts,
    protocol_splits,
    training_cohort,
    training_concerns,
)

if TYPE_CHECKING:
    import torch

    from biobgt.training.folds import LabelledGraphs

_KIND = "Kind of cohort; 'folder' is any folder with a table of groups."
_KindsOption = Annotated[
    list[str],  # typer takes no list of literals; the reader refuses a kind that it does not know
    typer.Option(
        "--cohort",
        metavar="|".join(get_args(CohortKind)),
        help=f"{_KIND} Several, each named by its own --cohort, train one network with a readout for each.",
    ),
]
_KindOption = Annotated[CohortKind, typer.Option("--cohort", help=_KIND)]
_DataOption = Annotated[Path, typer.Option(help="Folder of the cohort's files.")]
_PhenotypesOption = Annotated[Path | None, typer.Option(help="Table of groups, sites and covariates.")]
_ThreadsOption = Annotated[int | None, typer.Option(min=1, help="CPU threads. Default: all cores.")]
_FaithfulnessOption = Annotated[
    bool,
    typer.Option(
        help="Measure how faithful attention is, by removed regions, shuffled weights and agreement of members. Takes "
        "minutes; without it a new card says 'not measured'."
    ),
]
_OrientationOption = Annotated[Orientation | None, typer.Option(help=ReadOptions.declared()["orientation"].help)]


# How models are trained, evaluated and compared.


@dataclass(frozen=True)
class _SeedOptions(Options):
    """What random numbers are drawn with."""

    seed: int = option(0, title="Seed", help="Seed of splits, initial weights and sampling.", low=0)


@dataclass(frozen=True)
class _PresetOptions(Options):
    """Which preset, and what is changed of it; the preset refuses what it cannot be."""

    preset: PresetName = option(
        OWN_PRESET, title="Preset", help="How the model is built and trained.", choices=get_args(PresetName)
    )
    shrinkage: float | None = option(
        None,
        title="Shrinkage",
        help="Shrinkage of correlations towards the identity before the matrix logarithm. Default: the preset's.",
    )
    noise_directions: int | None = option(
        None,
        title="Directions of noise",
        help=f"Number of directions, 0 to {MOST_NOISE_DIRECTIONS}, in which white noise shifts all subjects, to remove "
        "from each subject. Default: the preset's.",
    )

    def changed_preset(self) -> Preset:
        """The preset, with those of its settings changed that are among these options and were named."""
        given = {one.name: getattr(self, one.name, None) for one in fields(Preset)}
        return preset_named(self.preset, **{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True)
class _TrainingOptions(_SeedOptions, _PresetOptions):
    """How an ensemble is trained."""

    folds: int = option(FOLDS, title="Folds", help="Number of folds, each of which trains one ensemble member.", low=2)
    epochs: int | None = option(None, title="Epochs", help="Largest number of epochs. Default: the preset's.", low=1)


@dataclass(frozen=True)
class _EvaluationOptions(_SeedOptions, _PresetOptions):
    """How a preset is evaluated."""

    protocol: Evaluated = option(
        RANDOM, title="Protocol", help=" ".join(f"{key}: {PROTOCOLS[key].help}." for key in get_args(Evaluated))
    )
    splits: int = option(
        FOLDS,
        title="Splits",
        help=f"Number of random splits; for nested, how many of the {FOLDS} folds to run now.",
        low=1,
    )
    linear: bool = option(True, title="Baselines", help="Also evaluate the baselines on the same splits.")


@dataclass(frozen=True)
class _BenchmarkOptions(_SeedOptions):
    """On how many splits models are compared, and with which of them."""

    splits: int = option(FOLDS, title="Splits", help="How many random 80/10/10 splits.", low=1)
    reference: str = option(REFERENCE, title="Reference", help="Key of the model that all others are compared with.")


# Jobs that make models: train one on a cohort or on several together, and measure again what its card says.


@takes_options("options", _TrainingOptions, panel="Options")
def train(
    cohort: _KindsOption,
    data: _DataOption,
    out: OutOption,
    options: _TrainingOptions,
    phenotypes: _PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: _OrientationOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the model. Default: the name of the folder.")] = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder for logs and checkpoints. Default: runs, in the results.")
    ] = None,
    device: DeviceOption = "auto",
    threads: _ThreadsOption = None,
    resume: Annotated[bool, typer.Option(help="Continue a run that was stopped.")] = False,
    faithfulness: _FaithfulnessOption = True,
) -> None:
    """Train an ensemble over the folds of a cohort and write a model folder: weights, card, group results.

    Examples
    --------
    biobgt train --cohort folder --data study/ --phenotypes participants.tsv --out my-model
    biobgt train --cohort adni --data adni/ --phenotypes adni.csv --out pretrained/my-adni --resume
    """
    from biobgt.training.cards import write_model, write_shared_model
    from biobgt.training.evaluation import baselines_out_of_fold
    from biobgt.training.folds import describe_members, train_members
    from biobgt.training.trainer import is_first, process_group

    settings, seed, folder, chosen = options.changed_preset(), options.seed, runs or out / "runs", choose_device(device)
    _use_threads(threads)
    with process_group():
        if len(cohort) > 1 and phenotypes is not None:
            raise InputError("Each of several cohorts has its own table of groups: leave out --phenotypes.")
        read = [_read_training_cohort(kind, data, phenotypes, atlas, orientation, seed) for kind in cohort]
        for sentence in (sentence for one in read for sentence in training_concerns(one)):
            print_notice(sentence)
        joined = join_training_cohorts(read)
        subjects = joined.whole
        splits = protocol_splits(subjects, CROSS_VALIDATION, n=options.folds, seed=seed)  # refuses before the long work
        write_reading(subjects, folder)
        kept = (
            f"No model was written. What was finished, up to the last epoch, is kept in '{folder}': run the same "
            "command with --resume to continue."
        )
        with keeping(kept):
            prepared = _prepare_graphs(subjects, settings, folder / "features", readouts=joined.readouts)
            how: dict[str, Any] = {"folder": folder, "seed": seed, "device": chosen, "progress": print_notice}
            members = train_members(prepared, splits, settings, resume=resume, **how)
            if not is_first():
                return
            made: dict[str, Any] = {"name": name or out.resolve().name, "seed": seed}
            made |= {"data": prepared, "splits": splits, "command": typed_command(sys.argv[1:])}
            with results_folder(out, job="train", manifest=False) as place:  # a card names its files itself
                if not joined.readouts:
                    trained = describe_members(members, prepared, splits, folder=folder, device=chosen)
                    linear = baselines_out_of_fold(prepared, splits)
                    written = write_model(place, cohort=subjects, trained=trained, linear=linear, **made)
                else:
                    written = write_shared_model(
                        place, joined=joined, members=members, runs=folder, device=chosen, progress=print_notice, **made
                    )
                parts = _card_parts(place, joined.parts, prepared, splits)
                _complete_cards(parts, seed=seed, features=folder / "features")
                if faithfulness:
                    _complete_faithfulness(parts, seed=seed)
    print_line(written["headline"])
    print_line(f"Model written to {out}")


def card(
    model: ModelOption,
    data: Annotated[Path | None, typer.Option(help="Folder of the files that the model was trained on.")] = None,
    words_only: Annotated[
        bool, typer.Option("--words-only", help="Only write the headline and README.md from card.json; needs no data.")
    ] = False,
    phenotypes: _PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: _OrientationOption = None,
    runs: Annotated[
        Path | None, typer.Option(help="Folder that keeps NE and modules for the next run. Default: none.")
    ] = None,
    threads: _ThreadsOption = None,
    faithfulness: _FaithfulnessOption = True,
    faithfulness_only: Annotated[
        bool, typer.Option("--faithfulness-only", help="Only measure how faithful attention is; all else stays.")
    ] = False,
) -> None:
    """Measure again, from a model's weights, what its card says beside results; nothing is trained.

    These are tests of attention between groups, what NE and attention do to predictions, familiar ranges, answers to
    worse recordings, motion alone, and how faithful attention is. DATA and phenotypes are those that the model was
    trained on. First it checks that the out-of-fold attention equals the group means in the model's folder.

    Examples
    --------
    biobgt card --model my-model --data study/ --phenotypes participants.tsv
    biobgt card --model my-model --words-only
    """
    from biobgt.model.folder import CARD, WEIGHTS, load_card, load_pretrained, model_folder
    from biobgt.model.group_results import GROUPS, load_groups
    from biobgt.training.cards import measure_again, write_card
    from biobgt.training.folds import check_same_attention, out_of_fold_attention

    known, folder = load_card(model), model_folder(model)
    if words_only:
        write_card(folder, known)
        print_line(f"Headline and README.md written to {folder}")
        return
    if data is None:
        raise InputError("A card is measured from the files that its model was trained on: name them with --data.")
    if "readout" in known:
        raise InputError(f"'{model}' is a readout of {known['readout']['of']}: name that network, its readouts follow.")
    seed, features = known["training"]["seed"], None if runs is None else runs / "features"
    kinds = [one["cohort"] for one in known.get("readouts", ())]
    _use_threads(threads)
    ensemble = load_pretrained(folder, "cpu")
    if kinds:
        phenotypes, atlas = None, known["atlas"]
    joined = join_training_cohorts(
        [
            _read_training_cohort(kind, data, phenotypes, atlas, orientation, seed)
            for kind in kinds or [known["data"]["cohort"]]
        ]
    )
    splits = protocol_splits(joined.whole, CROSS_VALIDATION, n=len(ensemble.members), seed=seed)
    prepared = _prepare_graphs(joined.whole, ensemble.preset, features, readouts=joined.readouts)
    attention, contrasts = out_of_fold_attention(ensemble.members, prepared, splits)
    check_same_attention(attention, prepared, load_groups(folder))
    with results_folder(folder, job="card", manifest=False) as place:
        if kinds:
            # The place is a folder within: it does not go into itself.
            shutil.copytree(folder, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns(f"{UNFINISHED}*"))
        else:
            for file in (WEIGHTS, CARD, GROUPS):
                shutil.copy2(folder / file, place)
        parts = _card_parts(place, joined.parts, prepared, splits)
        if not faithfulness_only:
            measure_again(place, joined, prepared, attention, contrasts)
            _complete_cards(parts, seed=seed, features=features)
        if faithfulness or faithfulness_only:
            _complete_faithfulness(parts, seed=seed)
    print_line(f"{'Cards' if kinds else 'Card'} and tests written to {folder}")


_CardPart = tuple[Path, Cohort, "LabelledGraphs", tuple[Split, ...]]  # a folder with a card, and whom it is about


def _card_parts(
    place: Path, cohorts: Sequence[Cohort], data: "LabelledGraphs", splits: Sequence[Split]
) -> list[_CardPart]:
    """The card of a model, or of a network that several cohorts share that of each cohort's readout, in a folder."""
    if len(cohorts) == 1:
        return [(place, cohorts[0], data, tuple(splits))]
    return [
        (place / cohort.name, cohort, data.of_readout(part), data.splits_of(part, splits))
        for part, cohort in zip(data.parts, cohorts, strict=True)
    ]


def _complete_faithfulness(parts: Sequence[_CardPart], *, seed: int) -> None:
    """Put on cards how faithful attention is."""
    from biobgt.training.card_text import CardText
    from biobgt.training.faithfulness import complete_faithfulness

    for folder, cohort, own, folds in parts:
        if len(parts) > 1:
            print_notice(f"Faithfulness of attention, {cohort.name}")
        with progress_bar("Faithfulness of attention") as progress:
            card = complete_faithfulness(folder, own, folds, seed=seed, progress=progress)
        print_line(CardText(card).faithfulness)


def _complete_cards(parts: Sequence[_CardPart], *, seed: int, features: Path | None) -> None:
    """Put on cards what the model's parts do, familiar ranges, answers to worse recordings, and motion alone."""
    from biobgt.training.card_text import CardText
    from biobgt.training.checks import check_model, complete_ablation

    for folder, cohort, own, folds in parts:
        if len(parts) > 1:
            print_notice(f"Checks of {cohort.name}")
        complete_ablation(folder, own, folds)
        with progress_bar("Worse recordings") as progress:
            found = check_model(folder, cohort, own, seed=seed, splits=folds, kept=features, progress=progress)
        text = CardText(found)
        for sentence in (text.noise, text.corruption, text.motion):
            print_line(sentence)


# Jobs that evaluate: a preset on splits of a cohort, and every system of the benchmark side by side.


@takes_options("options", _EvaluationOptions, panel="Options")
def evaluate(
    cohort: _KindOption,
    data: _DataOption,
    out: OutOption,
    options: _EvaluationOptions,
    phenotypes: _PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: _OrientationOption = None,
    model: Annotated[Path | None, typer.Option(help="Model folder to whose card the summary is added.")] = None,
    device: DeviceOption = "auto",
    threads: _ThreadsOption = None,
) -> None:
    """Evaluate a preset and the baselines on the same splits; a run that was stopped continues when run again.

    Examples
    --------
    biobgt evaluate --cohort folder --data study/ --phenotypes participants.tsv --out results
    biobgt evaluate --cohort folder --data study/ --phenotypes participants.tsv --protocol sites --out results
    """
    from biobgt.model.folder import load_card, model_folder
    from biobgt.training.cards import add_evaluation, check_evaluated
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
    write_reading(subjects, out)
    with keeping(_kept_of_evaluation(out, "split")):
        prepared = _prepare_graphs(subjects, settings, out / "features")
        how: dict[str, Any] = {"folder": out, "seed": seed, "device": chosen, "progress": print_notice}
        run(prepared, parts, settings, protocol=options.protocol, linear=options.linear, **how)
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
    settings: Preset,
    out: Path,
    *,
    model: Path | None,
    n_outer: int,
    seed: int,
    device: "torch.device",
) -> None:
    """Train an ensemble for each outer fold, and evaluate the mean of its members on the fold's subjects."""
    from biobgt.model.folder import model_folder
    from biobgt.training.card_text import with_interval
    from biobgt.training.checks import NESTED_FILE, add_nested, evaluate_nested, nested_summary

    write_reading(subjects, out)
    with keeping(_kept_of_evaluation(out, "fold")):
        prepared = _prepare_graphs(subjects, settings, out / "features")
        results = evaluate_nested(
            subjects, prepared, settings, folder=out, n_outer=n_outer, seed=seed, device=device, progress=print_notice
        )
    found = nested_summary(results, prepared.groups)
    for name in ("mean", "single"):
        auc, accuracy = found[name]["auc"], found[name]["accuracy"]["value"]
        folds = f"{found['outer_folds']} of {found['folds']} folds, {name} of members"
        print_line(f"{folds}: AUC {with_interval(auc, 3)}, accuracy {accuracy:.3f}")
    if model is not None:
        add_nested(model_folder(model), results)
    print_line(f"Results written to {out / NESTED_FILE}")


@takes_options("options", _BenchmarkOptions, panel="Options")
def benchmark(
    cohort: _KindOption,
    data: _DataOption,
    out: OutOption,
    options: _BenchmarkOptions,
    models: Annotated[
        str,
        typer.Option(
            help="Keys of models, separated by commas, in the order in which they are run; 'list' prints all keys."
        ),
    ] = "all",
    features: Annotated[Path | None, typer.Option(help="Folder that keeps NE and modules. Default: in --out.")] = None,
    phenotypes: _PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: _OrientationOption = None,
    device: DeviceOption = "auto",
    threads: _ThreadsOption = None,
) -> None:
    """Compare models on the same splits of a cohort, one line per model and split; run again, it continues.

    Every model is fitted on the training subjects alone, and its epoch and calibration are chosen on the validation
    subjects. The splits are those of 'biobgt evaluate'.

    Examples
    --------
    biobgt benchmark --cohort folder --data study/ --phenotypes participants.tsv --out results
    biobgt benchmark --cohort abide --data abide/ --models ridge-log,best,graphormer --splits 3 --out results
    """
    from biobgt.model.systems import benchmark_systems
    from biobgt.training.evaluation import run_benchmark
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
    write_reading(subjects, out)
    with keeping(_kept_of_evaluation(out, "split")):
        prepared = _prepared_once(subjects, features or out / "features")
        results = run_benchmark(
            prepared, parts, systems, folder=out, seed=options.seed, device=where, progress=print_notice
        )
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

    def prepared(preset: Preset) -> "LabelledGraphs":
        inputs = preset.threshold, preset.values, preset.shrinkage
        if inputs not in last:
            last.clear()
            last[inputs] = _prepare_graphs(subjects, preset, kept)
        return last[inputs]

    return prepared


# What all of them do: read a training cohort, prepare its graphs, say how far it is.


def _read_training_cohort(
    kind: str, data: Path, phenotypes: Path | None, atlas: str | None, orientation: Orientation | None, seed: int
) -> Cohort:
    """Read the cohort, and say who is in it and who was left out."""
    with progress_bar("Reading") as progress:
        options = ReadOptions(orientation=orientation)
        cohort = training_cohort(
            kind, data, phenotypes=phenotypes, atlas=atlas, options=options, seed=seed, progress=progress
        )
    groups = ", ".join(f"{n} {group}" for group, n in cohort.group_people.items())
    print_notice(f"{counted_people(len(set(cohort.persons)), len(cohort))} on {cohort.atlas.title}: {groups}.")
    for note in cohort.notes:
        print_notice(note)
    twins = same_scans(cohort, [mean_connectivity(subject) for subject in cohort])
    for name, others in twins.items():
        if name < min(others):
            print_notice(
                f"Subjects {name} and {', '.join(others)} contain the same scan. Splits keep them together, but "
                "the scan counts more than once: leave all but one out."
            )
    return cohort


def _prepare_graphs(
    subjects: Cohort, settings: Preset, kept: Path | None, *, readouts: "Sequence[Sequence[str]]" = ()
) -> "LabelledGraphs":
    """Prepare a cohort's graphs, showing how far it is; ``readouts`` are the groups of each of several cohorts."""
    from biobgt.training.folds import label_graphs

    with progress_bar("NE and modules") as progress:
        return label_graphs(subjects, settings, readouts=readouts, kept=kept, workers=None, progress=progress)


def _use_threads(threads: int | None) -> None:
    """Let torch use so many threads; None leaves it all cores."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)
