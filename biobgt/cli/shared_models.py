"""Jobs about a network that several cohorts share: train it, and measure its card again."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biobgt.cli.results import results_folder, typed_command
from biobgt.cli.screen import print_line
from biobgt.cli.training_steps import complete_card, prepare_graphs, tell, write_reading_beside
from biobgt.cohort import Cohort
from biobgt.signals import keeping
from biobgt.workplaces import UNFINISHED

if TYPE_CHECKING:  # torch takes seconds to import, and other jobs do not need it
    import torch

    from biobgt.model.presets import Preset


def train_shared(
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
    from biobgt.training.distributed import is_first
    from biobgt.training.folds import train_members
    from biobgt.training.joined_cohorts import join_training_cohorts
    from biobgt.training.protocols import CROSS_VALIDATION
    from biobgt.training.shared_cards import write_shared_model
    from biobgt.training.training_cohorts import protocol_splits

    joined = join_training_cohorts(cohorts)
    splits = protocol_splits(joined.whole, CROSS_VALIDATION, n=folds, seed=seed)  # refuses before the long work
    write_reading_beside(joined.whole, runs)
    with keeping(kept):
        data = prepare_graphs(joined.whole, settings, runs / "features", readouts=joined.readouts)
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
            for part, cohort in zip(data.parts, joined.parts, strict=True):
                tell(f"Checks of {cohort.name}")
                own = tuple(split.within(part.rows) for split in splits)
                complete_card(
                    place / cohort.name, cohort, data.of_readout(part), own, seed=seed, features=runs / "features"
                )
    print_line(written["headline"])
    print_line(f"Model written to {out}")


def shared_card(folder: Path, known: dict[str, Any], cohorts: Sequence[Cohort], *, features: Path | None) -> None:
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
    from biobgt.model.group_results import load_groups
    from biobgt.model.pretrained import load_pretrained
    from biobgt.training.group_tests import check_same_attention, out_of_fold_attention
    from biobgt.training.joined_cohorts import join_training_cohorts
    from biobgt.training.protocols import CROSS_VALIDATION
    from biobgt.training.shared_cards import measure_shared_again
    from biobgt.training.training_cohorts import protocol_splits

    ensemble, seed = load_pretrained(folder, "cpu"), known["training"]["seed"]
    joined = join_training_cohorts(cohorts)
    splits = protocol_splits(joined.whole, CROSS_VALIDATION, n=len(ensemble.members), seed=seed)
    data = prepare_graphs(joined.whole, ensemble.preset, features, readouts=joined.readouts)
    attention = out_of_fold_attention(ensemble.members, data, splits)
    check_same_attention(attention, data, load_groups(folder))
    with results_folder(folder, job="card", manifest=False) as place:
        # The place is a folder within: it does not go into itself.
        shutil.copytree(folder, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns(f"{UNFINISHED}*"))
        measure_shared_again(place, joined, data, ensemble.members, splits, attention=attention)
        for part, cohort in zip(data.parts, joined.parts, strict=True):
            tell(f"Checks of {cohort.name}")
            own = tuple(split.within(part.rows) for split in splits)
            complete_card(place / cohort.name, cohort, data.of_readout(part), own, seed=seed, features=features)
    print_line(f"Cards and tests written to {folder}")
