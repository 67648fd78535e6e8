"""Steps that jobs on models share: read a training cohort, prepare its graphs, complete a card, say how far it is."""

from pathlib import Path
from typing import TYPE_CHECKING

from biobgt.cli.results import write_reading
from biobgt.cli.screen import err, harmless, print_line, progress_bar
from biobgt.cohort import Cohort
from biobgt.output import make_folder
from biobgt.people import counted_people
from biobgt.quality import mean_connectivity, same_scans
from biobgt.readers import ReadOptions
from biobgt.readers.time_axis import Orientation

if TYPE_CHECKING:  # torch takes seconds to import, and other jobs do not need it
    from collections.abc import Sequence

    from biobgt.model.presets import Preset
    from biobgt.training.data import LabelledGraphs
    from biobgt.training.splits import Split


def complete_card(
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
    from biobgt.training.checks import check_model
    from biobgt.training.data import feature_store
    from biobgt.training.parts import complete_parts
    from biobgt.training.robustness_views import corruption_words, motion_words, noise_words

    complete_parts(folder, prepared, splits)
    with progress_bar("Worse recordings") as progress:
        found = check_model(
            folder,
            subjects,
            prepared,
            seed=seed,
            splits=tuple(splits),
            store=None if features is None else feature_store(features),
            progress=progress,
        )
    for sentence in (noise_words(found), corruption_words(found), motion_words(found)):
        print_line(sentence)


def read_training_cohort(
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
        See :func:`biobgt.training.training_cohorts.training_cohort`.
    """
    from biobgt.training.training_cohorts import training_cohort

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


def write_reading_beside(cohort: Cohort, folder: Path) -> None:
    """Write where every subject came from and what was refused; beside the runs, for a model folder names nobody."""
    make_folder(folder)
    write_reading(cohort, folder)


def prepare_graphs(
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
    from biobgt.training.data import label_graphs

    with progress_bar("NE and modules") as progress:
        return label_graphs(subjects, settings, readouts=readouts, kept=kept, workers=None, progress=progress)


def use_threads(threads: int | None) -> None:
    """Let torch use so many threads; None leaves it all cores."""
    import torch

    if threads is not None:
        torch.set_num_threads(threads)


def tell(sentence: str) -> None:
    """Say how far the work is, on the screen and not among the results."""
    err.print(harmless(sentence), markup=False, highlight=False)
