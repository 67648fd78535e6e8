"""Jobs about models: train one on a cohort, evaluate it beside linear models, predict, and show attention."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from biobgt.cli.arguments import AtlasOption, DeviceOption, OrientationOption, OutOption
from biobgt.cli.results import typed_command, write_reading
from biobgt.cli.screen import err, print_line, print_table, progress_bar
from biobgt.cohort import Cohort
from biobgt.output import make_folder
from biobgt.people import counted_people
from biobgt.quality import mean_connectivity, same_scans
from biobgt.readers import ReadOptions
from biobgt.readers.time_axis import Orientation

if TYPE_CHECKING:  # torch takes seconds to import, and other jobs do not need it
    import torch

    from biobgt.model.presets import Preset
    from biobgt.training.data import LabelledGraphs

CohortKind = Literal["abide", "cni-adhd", "adsim", "adni", "folder"]
PresetName = Literal["best", "paper-abide", "paper-adni", "paper-adhd"]
Protocol = Literal["random", "sites", "official", "nested"]
KindOption = Annotated[CohortKind, typer.Option("--cohort", help="Which cohort; 'folder' is any with a group table.")]
DataOption = Annotated[Path, typer.Option(help="Folder of the cohort's files.")]
PhenotypesOption = Annotated[Path | None, typer.Option(help="Table of groups, sites and covariates.")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, help="CPU threads. Default: all cores.")]
ShrinkageOption = Annotated[
    float | None,
    typer.Option(help="Share of the identity mixed with correlations before their logarithm. Default: the preset's."),
]
DirectionsOption = Annotated[
    int | None,
    typer.Option(
        "--noise-directions",
        help="Directions in which white noise moves everybody, removed from each subject, 0 to 4. Default: the "
        "preset's.",
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of splits, weights and chance.")]


def train(
    cohort: KindOption,
    data: DataOption,
    out: OutOption,
    preset: Annotated[PresetName, typer.Option(help="How the model is built and trained.")] = "best",
    phenotypes: PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: OrientationOption = None,
    name: Annotated[str | None, typer.Option(help="Name of the model. Default: that of the folder.")] = None,
    folds: Annotated[int, typer.Option(min=2, help="Folds, and members of the ensemble.")] = 10,
    epochs: Annotated[int | None, typer.Option(min=1, help="Epochs at most. Default: the preset's.")] = None,
    shrinkage: ShrinkageOption = None,
    noise_directions: DirectionsOption = None,
    runs: Annotated[Path | None, typer.Option(help="Folder of logs and checkpoints. Default: in the results.")] = None,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    resume: Annotated[bool, typer.Option(help="Go on with a run that was stopped.")] = False,
) -> None:
    """Train an ensemble over the folds of a cohort and write a model folder: weights, card, group results."""
    from biobgt.model.device import choose_device
    from biobgt.training.cards import write_model
    from biobgt.training.cohorts import protocol_splits
    from biobgt.training.distributed import is_first, process_group
    from biobgt.training.ensemble import train_ensemble
    from biobgt.training.linear import linear_out_of_fold
    from biobgt.training.parts import complete_parts

    settings = _preset(preset, epochs=epochs, shrinkage=shrinkage, noise_directions=noise_directions)
    chosen, folder = choose_device(device), runs or out / "runs"
    _use_threads(threads)
    with process_group():
        subjects = _read(cohort, data, phenotypes, atlas, orientation, seed)
        splits = protocol_splits(subjects, "folds", n=folds, seed=seed)  # refuses before the long work
        _write_reading(subjects, folder)
        prepared = _prepare(subjects, settings, folder / "features")
        trained = train_ensemble(
            prepared, splits, settings, folder=folder, seed=seed, device=chosen, resume=resume, progress=_tell
        )
        if not is_first():
            return
        written = write_model(
            out,
            name=name or out.resolve().name,
            cohort=subjects,
            data=prepared,
            preset=settings,
            trained=trained,
            linear=linear_out_of_fold(prepared, splits),
            command=typed_command(sys.argv[1:]),
            seed=seed,
        )
        complete_parts(out, prepared, splits)
        _check(out, subjects, prepared, seed=seed, features=folder / "features")
    print_line(written["headline"])
    print_line(f"Model written to {out}")


def evaluate(
    cohort: KindOption,
    data: DataOption,
    out: OutOption,
    preset: Annotated[PresetName, typer.Option(help="Preset to evaluate.")] = "best",
    protocol: Annotated[
        Protocol,
        typer.Option(
            help="Random 80/10/10 splits, sites left out, the cohort's own, or a whole ensemble for each fold (nested)."
        ),
    ] = "random",
    splits: Annotated[
        int, typer.Option(min=1, help="Number of random splits; of folds to do now, where nested, of 10.")
    ] = 10,
    linear: Annotated[bool, typer.Option(help="Linear models on the same splits beside it.")] = True,
    shrinkage: ShrinkageOption = None,
    noise_directions: DirectionsOption = None,
    phenotypes: PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: OrientationOption = None,
    model: Annotated[Path | None, typer.Option(help="Model folder whose card gets the summary.")] = None,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
) -> None:
    """Evaluate a preset beside linear models on the same splits, a line at a time; run again, it goes on."""
    from biobgt.model.device import choose_device
    from biobgt.model.pretrained import load_card, model_folder
    from biobgt.training.cards import add_evaluation, check_evaluated
    from biobgt.training.cohorts import protocol_splits
    from biobgt.training.distributed import refuse_processes
    from biobgt.training.evaluation import evaluate as run
    from biobgt.training.evaluation import paired_with_linear, read_results, summarise

    refuse_processes("biobgt evaluate")
    settings = _preset(preset, shrinkage=shrinkage, noise_directions=noise_directions)
    chosen = choose_device(device)
    of_model = None if model is None else load_card(model)
    _use_threads(threads)
    subjects = _read(cohort, data, phenotypes, atlas, orientation, seed)
    if of_model is not None:
        check_evaluated(of_model, subjects, settings)  # it gets the summary in the end: better refused now
    if protocol == "nested":
        _evaluate_nested(subjects, settings, out, model=model, n_outer=splits, seed=seed, device=chosen)
        return
    parts = protocol_splits(subjects, protocol, n=splits, seed=seed)  # refuses before the long work
    _write_reading(subjects, out)
    prepared = _prepare(subjects, settings, out / "features")
    run(
        prepared,
        parts,
        settings,
        protocol=protocol,
        folder=out,
        linear=linear,
        seed=seed,
        device=chosen,
        progress=_tell,
    )
    results = read_results(out)
    shown = summarise(results)
    columns = [f"{metric} {statistic}" for metric in ("auc", "accuracy", "ece") for statistic in ("mean", "std")]
    print_table(shown[["protocol", "model", "splits", *columns]], title="Test results")
    paired = paired_with_linear(results, settings.name)
    if len(paired):
        print_table(paired, title=f"AUC of {settings.name} less that of linear models, split by split")
    if model is not None:
        add_evaluation(model_folder(model), results)
    print_line(f"Results written to {out}")


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
    """An ensemble for each outer fold; what the mean of its members says of the fold's subjects."""
    from biobgt.model.pretrained import model_folder
    from biobgt.training.nested import NESTED, add_nested, evaluate_nested, nested_summary

    _write_reading(subjects, out)
    prepared = _prepare(subjects, settings, out / "features")
    results = evaluate_nested(
        subjects, prepared, settings, folder=out, n_outer=n_outer, seed=seed, device=device, progress=_tell
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
    print_line(f"Results written to {out / NESTED}")


def card(
    model: Annotated[str, typer.Option(help="A shipped model's name, or the folder of your own.")],
    data: DataOption,
    phenotypes: PhenotypesOption = None,
    atlas: AtlasOption = None,
    orientation: OrientationOption = None,
    runs: Annotated[Path | None, typer.Option(help="Folder that keeps NE and modules. Default: nothing kept.")] = None,
    threads: ThreadsOption = None,
) -> None:
    """Measure again, from a model's weights, what its card says beside results; nothing is trained.

    These are tests of attention between groups, what NE and attention do to predictions, familiar ranges, the answer to
    noise, and motion alone. DATA and phenotypes are those that the model was trained on: each fold's member is shown
    the fold's test subjects, and that this gives the group means in the model's folder is checked first.
    """
    from biobgt.model.pretrained import load_card, load_groups, load_pretrained, model_folder
    from biobgt.training.cards import seal_card
    from biobgt.training.cohorts import protocol_splits
    from biobgt.training.group_tests import check_same_attention, group_tests, out_of_fold_attention, write_tests
    from biobgt.training.parts import complete_parts

    known, folder, ensemble = load_card(model), model_folder(model), load_pretrained(model, "cpu")
    seed, features = known["training"]["seed"], None if runs is None else runs / "features"
    _use_threads(threads)
    subjects = _read(known["data"]["cohort"], data, phenotypes, atlas, orientation, seed)
    splits = protocol_splits(subjects, "folds", n=len(ensemble.members), seed=seed)
    prepared = _prepare(subjects, ensemble.preset, features)
    attention = out_of_fold_attention(ensemble.members, prepared, splits)
    check_same_attention(attention, prepared, load_groups(model))
    write_tests(group_tests(subjects, prepared, attention), folder)
    seal_card(folder)
    complete_parts(folder, prepared, splits)
    _check(folder, subjects, prepared, seed=seed, features=features)
    print_line(f"Card and tests written to {folder}")


def _check(folder: Path, subjects: Cohort, prepared: "LabelledGraphs", *, seed: int, features: Path | None) -> None:
    from biobgt.model.inputs import FeatureStore
    from biobgt.training.checks import check_model
    from biobgt.training.robustness_views import motion_words, noise_words

    with progress_bar("Noise") as progress:
        found = check_model(folder, subjects, prepared, seed=seed, store=FeatureStore(features), progress=progress)
    for sentence in (noise_words(found), motion_words(found)):
        print_line(sentence)


def _read(
    kind: str, data: Path, phenotypes: Path | None, atlas: str | None, orientation: Orientation | None, seed: int
) -> Cohort:
    """Read the cohort, and say who is in it and who was left out."""
    from biobgt.training.cohorts import training_cohort

    with progress_bar("Reading") as progress:
        options = ReadOptions(orientation=orientation)
        cohort = training_cohort(
            kind, data, phenotypes=phenotypes, atlas=atlas, options=options, seed=seed, progress=progress
        )
    groups = ", ".join(f"{n} {group}" for group, n in cohort.group_people.items())
    _tell(f"{counted_people(len(set(cohort.persons)), len(cohort))} on {cohort.atlas.title}: {groups}.")
    for note in cohort.notes:
        _tell(note)
    twins = same_scans(cohort, [mean_connectivity(subject) for subject in cohort])
    for name, others in twins.items():
        if name < min(others):
            _tell(
                f"Subjects {name} and {', '.join(others)} hold the same scan. No split parts them, but the scan "
                "counts more than once: leave all but one out."
            )
    return cohort


def _write_reading(cohort: Cohort, folder: Path) -> None:
    """Write where every subject came from and what was refused; beside the runs, for a model folder names nobody."""
    make_folder(folder)
    write_reading(cohort, folder)


def _prepare(subjects: Cohort, settings: "Preset", kept: Path | None) -> "LabelledGraphs":
    from biobgt.training.data import label_graphs

    with progress_bar("NE and modules") as progress:
        return label_graphs(subjects, settings, kept=kept, workers=None, progress=progress)


def _preset(name: str, **changes: float | None) -> "Preset":
    from biobgt.model.presets import preset_named

    return preset_named(name, **{setting: value for setting, value in changes.items() if value is not None})


def _use_threads(threads: int | None) -> None:
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def _tell(sentence: str) -> None:
    err.print(sentence, markup=False, highlight=False)
