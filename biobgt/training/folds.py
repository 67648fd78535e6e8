"""A cohort as models take it, an ensemble trained on its folds, and what it attends to in its groups."""

import copy
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from biobgt.base.beyond import BEYOND
from biobgt.base.errors import InputError
from biobgt.base.files import atomic_file, write_atomically
from biobgt.base.wording import listed
from biobgt.data.cohort import Cohort, average_by_person, person_of
from biobgt.data.connectivity import subject_connectivity
from biobgt.groups import compare_attention
from biobgt.groups.features import AttentionComparison
from biobgt.inference.covariates import covariates_of, one_value_per_person, overall_connectivity
from biobgt.model.group_results import GroupResults
from biobgt.model.inputs import correlations, prepare
from biobgt.model.network import BioBGT, Explanation, GraphBatch
from biobgt.model.presets import Preset
from biobgt.modules import module_contrast
from biobgt.results.store import FolderStore
from biobgt.training.cohorts import Split
from biobgt.training.metrics import calibrated, fold_temperatures
from biobgt.training.start import ReadoutPart, readout_parts
from biobgt.training.trainer import Epoch, is_first, predict_logits, train_model

SAME_ANSWER = 1e-3  # how far a probability may move by rounding of the weights
_EXPLAINED_AT_ONCE = 16
# Group means are stored with 16 bits, so that they differ from those computed again by one in two thousand.
_SAME_ATTENTION = 2e-3
_NO_TESTS = ["feature", "family", "between", "covariates", "n_subjects", "permutations"]


@dataclass(frozen=True, eq=False)
class LabelledGraphs:
    """Subjects of known groups.

    Attributes
    ----------
    graphs : GraphBatch
    matrices : ndarray, shape (n_subjects, n_regions, n_regions)
        Pearson correlations, for the baselines.
    shrunk : ndarray, shape (n_subjects, n_regions, n_regions), or None
        Ledoit-Wolf correlations, for the tangent space; None where a subject has no series.
    shrinkage : float
        Of the log-Euclidean connectivity, for the baselines too.
    labels : ndarray of int, shape (n_subjects,)
        Position in ``groups``.
    groups : tuple of str
        Controls first.
    subjects : tuple of str
    readouts : tuple of tuple of int
        The groups of each cohort, where several are trained together; empty for one readout of all groups.
    """

    graphs: GraphBatch
    matrices: NDArray[np.float32]
    shrunk: NDArray[np.float32] | None
    shrinkage: float
    labels: NDArray[np.int64]
    groups: tuple[str, ...]
    subjects: tuple[str, ...]
    readouts: tuple[tuple[int, ...], ...] = ()

    @property
    def persons(self) -> tuple[str, ...]:
        """Whose recording each subject is, in order."""
        return tuple(map(person_of, self.subjects))

    @property
    def parts(self) -> list[ReadoutPart]:
        """The subjects of each readout."""
        return readout_parts(self.labels, len(self.groups), self.readouts)

    def per_person(self, values: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Values of subjects, averaged over each person's recordings, by group; shape (n_people, ...) each."""
        persons, of_group = np.array(self.persons), {}
        for label, group in enumerate(self.groups):
            own = self.labels == label
            of_group[group] = average_by_person(values[own], persons[own].tolist())
        return of_group

    def of_readout(self, part: ReadoutPart) -> "LabelledGraphs":
        """The subjects and groups of one readout, as an ordinary cohort has them."""
        groups = tuple(self.groups[column] for column in part.columns)
        return replace(self.select(part.rows), labels=part.labels, groups=groups, readouts=())

    def splits_of(self, part: ReadoutPart, splits: Sequence[Split]) -> tuple[Split, ...]:
        """The same splits among the subjects of one readout; refused where nobody of it validates or is tested."""
        own = tuple(split.within(part.rows) for split in splits)
        for split in own:
            if not (len(split.validation) and len(split.test)):
                groups = listed([self.groups[column] for column in part.columns])
                raise InputError(
                    f"Of the cohort with {groups} nobody is left to validate or to test in '{split.name}'. Bring more "
                    "subjects of that cohort, or leave it out."
                )
        return own

    def select(self, rows: NDArray[np.int64]) -> "LabelledGraphs":
        """Some of the subjects, with the same groups."""
        return replace(
            self,
            graphs=self.graphs[torch.tensor(rows)],
            matrices=self.matrices[rows],
            shrunk=None if self.shrunk is None else self.shrunk[rows],
            labels=self.labels[rows],
            subjects=tuple(self.subjects[row] for row in rows),
        )

    def part(self, rows: NDArray[np.int64]) -> tuple[GraphBatch, Tensor]:
        """Graphs and labels of some subjects."""
        chosen = torch.tensor(rows)
        return self.graphs[chosen], torch.tensor(self.labels)[chosen]


def feature_store(folder: Path | None) -> FolderStore | None:
    """Where NE and modules are kept by content: the same matrix has the same, whatever the cohort."""
    return None if folder is None else FolderStore(folder, "any")


def label_graphs(
    cohort: Cohort,
    preset: Preset,
    *,
    readouts: Sequence[Sequence[str]] = (),
    kept: Path | None = None,
    workers: int | None = 1,
    progress: Callable[[int, int], None] | None = None,
) -> LabelledGraphs:
    """Prepare a cohort whose subjects all have a group.

    Parameters
    ----------
    cohort : Cohort
    preset : Preset
    readouts : sequence of sequence of str
        The groups of each cohort, where several are trained together.
    kept : Path, optional
        Folder in which NE and modules are kept by content, so that the next run need not compute them.
    workers : int, optional
        Processes on this machine; None is one per core.
    progress : callable, optional
        Told (done, total) after each subject.
    """
    groups, shrunk = tuple(cohort.group_sizes), None
    if all(subject.series is not None for subject in cohort):
        shrunk = np.stack([subject_connectivity(one, estimator="ledoit-wolf").astype(np.float32) for one in cohort])
    return LabelledGraphs(
        graphs=prepare(cohort.subjects, preset, store=feature_store(kept), workers=workers, progress=progress),
        matrices=np.stack([correlations(subject).astype(np.float32) for subject in cohort]),
        shrunk=shrunk,
        shrinkage=preset.shrinkage,
        labels=np.array([groups.index(str(subject.group)) for subject in cohort]),
        groups=groups,
        subjects=cohort.ids,
        readouts=tuple(tuple(groups.index(name) for name in names) for names in readouts),
    )


# What a training run was of, so that what it left behind is never taken for another's.
#
# A member, a checkpoint or a line of results may be used again only by a run with the same subjects, split, settings
# and seed: otherwise a subject that a member was trained on could be counted among those it never met.


def run_identity(data: LabelledGraphs, split: Split, settings: dict[str, Any]) -> str:
    """Twelve hexadecimal digits that change with any subject, correlation, group, part of the split or setting.

    Parameters
    ----------
    data : LabelledGraphs
    split : Split
    settings : dict
        Everything else that decides on the weights, as JSON can hold it.
    """
    digest = hashlib.sha256()
    digest.update(json.dumps([data.subjects, data.groups, data.labels.tolist()]).encode())
    digest.update(data.matrices.tobytes())
    digest.update(json.dumps([rows.tolist() for rows in (split.train, split.validation, split.test)]).encode())
    digest.update(json.dumps(settings, sort_keys=True).encode())
    return digest.hexdigest()[:12]


def _open_run(folder: Path, identity: str, *, resume: bool) -> None:
    """Go on with what a folder holds, refused where it is another's; or start anew, and leave nothing to take up."""
    file, left = folder / "run.json", list(folder.glob("*.safetensors"))
    if resume and left:
        with suppress(OSError, ValueError, KeyError, TypeError):  # no file, or a damaged one, is no proof
            if json.loads(file.read_text(encoding="utf-8"))["run"] == identity:
                return
        raise InputError(
            f"What is in '{folder}' was trained on other subjects or splits, or with other settings or another seed: "
            "this run cannot go on with it. Name another folder with --runs, or leave --resume out to start anew."
        )
    if not is_first():
        return
    for stale in left:
        stale.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(file, json.dumps({"run": identity}) + "\n")


# Train an ensemble on the folds of a cohort, and describe it by what its members say of subjects they never met.
#
# Each fold gives one member, whose test subjects nobody else in the fold has seen. What comes out is a complete model;
# :mod:`biobgt.training.cards` writes it. A run that was killed goes on with the fold and the epoch it was at.


@dataclass(frozen=True, eq=False)
class TrainedEnsemble:
    """Members of all folds, and what they said of their test subjects.

    Attributes
    ----------
    members : tuple of BioBGT
    temperature : float
        For new subjects, from the test subjects of all folds.
    logits : ndarray, shape (n_subjects, n_groups)
        Out of fold, each fold calibrated without its test subjects.
    attention : mapping of int to ndarray, shape (n_layers, n_heads, n_regions, n_regions)
        Mean out-of-fold attention of each group's people, by its number; recordings of a person are averaged first.
    mean_attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out-of-fold attention of each subject, mean over layers and heads.
    contrast : ndarray, shape (n_subjects, n_layers, n_heads)
        Out-of-fold attention within over between the subject's own Louvain modules.
    embedding_contrast : ndarray, shape (n_subjects,)
        Cosine similarity of embeddings within less between modules.
    seconds_an_epoch, peak_memory_mb : float
    """

    members: tuple[BioBGT, ...]
    temperature: float
    logits: NDArray[np.float64]
    attention: dict[int, NDArray[np.float32]]
    mean_attention: NDArray[np.float32]
    contrast: NDArray[np.float64]
    embedding_contrast: NDArray[np.float64]
    seconds_an_epoch: float
    peak_memory_mb: float

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Out-of-fold probabilities, shape (n_subjects, n_groups)."""
        return calibrated(self.logits, 1.0)


def train_members(
    data: LabelledGraphs,
    splits: tuple[Split, ...],
    preset: Preset,
    *,
    folder: Path,
    seed: int = 0,
    device: torch.device | str = "cpu",
    resume: bool = False,
    progress: Callable[[str], None] | None = None,
) -> tuple[BioBGT, ...]:
    """Train a member on every split; fold i trains with seed + i, and each has all readouts of the data.

    Parameters
    ----------
    data : LabelledGraphs
    splits : tuple of Split
        Each subject is tested in exactly one of them.
    preset : Preset
    folder : Path
        Members, logs and checkpoints go to one folder per fold in it.
    seed : int
    device : torch.device or str
    resume : bool
        Keep finished folds and go on with the unfinished one; refused where they are of another run.
    progress : callable, optional
        Told in words how far it is.
    """
    members, shared = [], {"readouts": data.readouts} if data.readouts else {}
    for part in data.parts if data.readouts else ():
        data.splits_of(part, splits)  # refuses before the long work
    for number, split in enumerate(splits, start=seed):
        place = folder / split.name
        finished = place / "member.safetensors"
        settings = {"preset": preset.as_dict(), "seed": number, **shared}
        _open_run(place, run_identity(data, split, settings), resume=resume)
        if resume and finished.exists():
            member = BioBGT(preset, n_regions=data.matrices.shape[1], n_groups=len(data.groups))
            member.load_state_dict(load_file(finished))
            members.append(member.eval())
            continue

        def tell(epoch: Epoch, name: str = split.name) -> None:
            if progress is not None:
                progress(f"{name}, epoch {epoch.epoch}: validation loss {epoch.validation_loss:.3f}")

        member = train_model(
            data.part(split.train),
            data.part(split.validation),
            preset,
            n_groups=len(data.groups),
            readouts=data.readouts,
            seed=number,
            device=device,
            folder=place,
            resume=resume,
            progress=tell,
        )
        member = _rounded(member, data, device=device).cpu()
        if is_first():
            with atomic_file(finished) as file:  # a run killed here is resumed from its checkpoint
                save_file({name: value.contiguous() for name, value in member.state_dict().items()}, file)
        members.append(member)
    return tuple(members)


def _rounded(member: BioBGT, data: LabelledGraphs, *, device: torch.device | str = "cpu") -> BioBGT:
    """A member whose matrices half precision holds exactly, if it says the same of everybody to :data:`SAME_ANSWER`.

    Rounded before anything is said of its test subjects, so that results are those of the weights that are kept.
    """
    short = copy.deepcopy(member)
    with torch.no_grad():
        for value in short.state_dict().values():
            if value.is_floating_point() and value.ndim > 1:
                value.copy_(value.half())
    long, less = (predict_logits(one, data.graphs, device=device) for one in (member, short))
    moved = [
        (long[one.rows][:, one.columns].softmax(dim=1) - less[one.rows][:, one.columns].softmax(dim=1)).abs().max()
        for one in data.parts
    ]
    return short if max(map(float, moved)) < SAME_ANSWER else member


def describe_members(
    members: Sequence[BioBGT],
    data: LabelledGraphs,
    splits: Sequence[Split],
    *,
    folder: Path,
    device: torch.device | str = "cpu",
) -> TrainedEnsemble:
    """Describe members of one readout by what each says of its fold's test subjects.

    Parameters
    ----------
    members : sequence of BioBGT
        One per split, with a logit for each group of the data.
    data : LabelledGraphs
        Of one readout.
    splits : sequence of Split
    folder : Path
        Where the members were trained, with a log in the folder of every split.
    device : torch.device or str
    """
    n, preset = len(data.labels), members[0].preset
    shape = preset.layers, preset.heads, *data.matrices.shape[1:]
    logits, mean_attention = np.full((n, len(data.groups)), np.nan), np.zeros((n, *shape[2:]), np.float32)
    contrast, embedding_contrast = np.full((n, *shape[:2]), np.nan), np.full(n, np.nan)
    attention = {label: np.zeros(shape, np.float32) for label in range(len(data.groups))}
    owners = list(zip(data.persons, data.labels.tolist(), strict=True))
    recordings = Counter(owners)
    people = Counter(label for _, label in recordings)
    for rows, modules, seen, maps in _explained(members, data, splits, device=device):
        logits[rows] = seen.logits.double().cpu().numpy()
        mean_attention[rows] = maps.mean(axis=(1, 2))
        contrast[rows] = _contrasts(maps, modules)
        embedding_contrast[rows] = _embedding_contrast(seen.embeddings.float().cpu(), modules)
        for row, one in zip(rows.tolist(), maps, strict=True):  # each recording is a share of a person's mean
            attention[owners[row][1]] += one * np.float32(1 / recordings[owners[row]])
    temperatures, shared = fold_temperatures(logits, [split.test for split in splits], data.labels)
    logs = [pd.read_csv(folder / split.name / "epochs.csv") for split in splits]  # of resumed folds too
    seconds = [taken for log in logs for taken in log["seconds"]]
    return TrainedEnsemble(
        members=tuple(members),
        temperature=shared,
        logits=logits / temperatures,
        attention={label: (total / max(1, people[label])).astype(np.float32) for label, total in attention.items()},
        mean_attention=mean_attention,
        contrast=contrast,
        embedding_contrast=embedding_contrast,
        seconds_an_epoch=float(np.median(seconds)) if seconds else float("nan"),
        peak_memory_mb=_peak_memory_mb(torch.device(device)),
    )


def out_of_fold_attention(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split]
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """What each fold's member attends to in the fold's test subjects, whom it never met.

    Parameters
    ----------
    members : sequence of BioBGT
    data : LabelledGraphs
        Of the cohort that they were trained on.
    splits : sequence of Split
        Member i was trained without the test subjects of split i.

    Returns
    -------
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Mean over layers and heads.
    contrasts : ndarray, shape (n_subjects,)
        Attention within over between each subject's own Louvain modules, mean over layers and heads.
    """
    attention, contrasts = np.full(data.matrices.shape, np.nan, np.float32), np.full(len(data.labels), np.nan)
    for rows, modules, _, maps in _explained(members, data, splits):
        attention[rows] = maps.mean(axis=(1, 2))
        contrasts[rows] = _contrasts(maps, modules).mean(axis=(1, 2))
    return attention, contrasts


@torch.no_grad()
def _explained(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split], *, device: torch.device | str = "cpu"
) -> Iterator[tuple[NDArray[np.int64], Tensor, Explanation, NDArray[np.float32]]]:
    """Some test subjects at a time: their rows and modules, what their fold's member says of them, and its maps.

    Maps have the shape (n_rows, n_layers, n_heads, n_regions, n_regions).
    """
    for member, split in zip(members, splits, strict=True):
        member.to(device)
        for start in range(0, len(split.test), _EXPLAINED_AT_ONCE):
            rows = split.test[start : start + _EXPLAINED_AT_ONCE]
            graphs, _ = data.part(rows)
            seen = member.explain(graphs.to(device))
            maps = torch.stack([layer.weights for layer in seen.attention], dim=1).float().cpu().numpy()
            shape = member.preset.layers, member.preset.heads, *maps.shape[2:]
            yield rows, graphs.modules, seen, maps.reshape(len(rows), *shape)
        member.cpu()


def _contrasts(maps: NDArray[np.float32], modules: Tensor) -> NDArray[np.float64]:
    """Attention within over between each subject's modules, shape (n_rows, n_layers, n_heads)."""
    found = np.empty(maps.shape[:3])
    for layer, head in np.ndindex(*maps.shape[1:3]):
        found[:, layer, head] = module_contrast(maps[:, layer, head], modules.numpy())
    return found


def _embedding_contrast(embeddings: Tensor, modules: Tensor) -> NDArray[np.float64]:
    """Mean cosine similarity of embeddings within less between modules, for each subject, shape (B,)."""
    unit = torch.nn.functional.normalize(embeddings, dim=-1)
    similarity = (unit @ unit.transpose(1, 2)).double()
    known = modules > 0
    pairs = known[:, :, None] & known[:, None, :] & ~torch.eye(modules.shape[1], dtype=torch.bool)
    within = pairs & (modules[:, :, None] == modules[:, None, :])
    between = pairs & ~within
    means = [(similarity * chosen).sum(dim=(1, 2)) / chosen.sum(dim=(1, 2)) for chosen in (within, between)]
    return np.asarray((means[0] - means[1]).numpy())


def _peak_memory_mb(device: torch.device) -> float:
    """The most memory held so far: the GPU's where there is one, else the process's; NaN where nobody can say."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    if sys.platform == "win32":
        return float("nan")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


# What an ensemble attends to, compared between the groups it was trained on: over people, out of fold.
#
# Attention is made from connectivity, so that a group with stronger connectivity overall differs in attention, too.
# Every test is made with mean |FC| among the covariates and without, and stands as two rows that say so; in each row
# stand beside it the connectivity of the same block, and the test given that connectivity. From a model's weights and
# its cohort the tests can be made again without training: fold i's member meets fold i's test subjects.


def group_tests(
    cohort: Cohort,
    data: LabelledGraphs,
    attention: NDArray[np.float32],
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> pd.DataFrame:
    """Compare attention between every two groups over people, block by block, adjusted for covariates.

    Whoever has recordings in both groups is left out of the test between them. Covariates that would leave too few
    residual degrees of freedom or too few people, or are confounded with the group, are not adjusted for; the note says
    so. Two groups of which one has fewer than two people left are not compared.

    Parameters
    ----------
    cohort : Cohort
        With phenotypes, for the covariates.
    data : LabelledGraphs
        Of the same subjects in the same order.
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out of fold, mean over layers and heads.
    pairs : sequence of (str, str), optional
        The groups to compare; every two by default.

    Returns
    -------
    DataFrame
        For every pair of groups one row per block and one for the contrast, with overall connectivity (mean |FC|)
        adjusted for, and the same rows without; in each, columns ending in ``_of_fc`` test the connectivity of the same
        block, and in ``_given_fc`` attention given it. ``between`` names the two groups, ``covariates`` what was
        adjusted for, ``n_<group>`` says how many people of each were used, ``permutations`` how many were drawn,
        ``note`` what must be known of the design. Without a row where the atlas has no functional modules.
    """
    chosen = list(combinations(data.groups, 2)) if pairs is None else pairs
    return attention_tests(cohort, [data.groups[label] for label in data.labels], attention, pairs=chosen)


def attention_tests(
    cohort: Cohort, whose: Sequence[str], attention: NDArray[np.float32], *, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Compare attention of recordings whose groups are named; see :func:`group_tests`.

    Parameters
    ----------
    cohort : Cohort
    whose : sequence of str, length n_subjects
        The group of each.
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
    pairs : sequence of (str, str)
    """
    if not cohort.atlas.labels:
        return pd.DataFrame(columns=_NO_TESTS)
    groups = np.array(whose)
    frames: list[pd.DataFrame] = []
    persons = np.array(cohort.persons)
    correlations = np.stack([subject_connectivity(subject).astype(np.float32) for subject in cohort])
    covariates, disagreements = one_value_per_person(covariates_of(cohort.table()).table, cohort.persons)
    for between in pairs:
        # Whoever has recordings in both groups, as one who converts from MCI to AD has, is left out.
        both = np.intersect1d(*(persons[groups == name] for name in between))
        owners = [None if who in both else str(group) for group, who in zip(groups, persons, strict=True)]
        # One cohort may lack what another has.
        own = pd.Series(owners, dtype=object)
        told = [name for name in covariates if all(covariates[name][own == group].notna().any() for group in between)]
        compared = _compare(cohort, attention, correlations, owners, between, covariates[told])
        if compared is None:
            continue
        found, refused = compared
        for comparison in (found, found.without_connectivity):
            if comparison is not None:
                frames += _rows(comparison, between, [refused, *disagreements])
    if not frames:
        return pd.DataFrame(columns=_NO_TESTS)
    tests = pd.concat(frames, ignore_index=True)
    counts = [name for group in dict.fromkeys(whose) if (name := f"n_{group}") in tests]
    return tests.astype(dict.fromkeys(counts, "Int64"))  # empty, and no decimals, where a group was not compared


def _compare(
    cohort: Cohort,
    attention: NDArray[np.float32],
    correlations: NDArray[np.float32],
    owners: list[str | None],
    between: tuple[str, str],
    covariates: pd.DataFrame,
) -> tuple[AttentionComparison, str] | None:
    """Compare with as many covariates as the design allows, and say why others were left out.

    None where there is nothing to compare even without covariates: too few people, or no two regions with modules.
    """
    labels = cohort.atlas.labelling(next(iter(cohort.atlas.labels)))
    strength, refused = overall_connectivity(cohort), ""
    for known, overall in ((covariates, strength), (None, strength), (None, None)):
        try:
            found = compare_attention(
                attention,
                labels,
                owners,
                subjects=cohort.persons,
                between=between,
                covariates=known,
                overall_connectivity=overall,
                connectivity=correlations,
            )
        except InputError as error:  # of the design, or of who has all covariates
            refused = refused or f"Not adjusted for all covariates. {error}"
        else:
            return found, refused
    return None


def _rows(found: AttentionComparison, between: tuple[str, str], notes: Sequence[str]) -> list[pd.DataFrame]:
    """The tests of two groups, each row complete in itself."""
    frames = []
    for family, comparison in (("block", found.blocks), ("contrast", found.contrast)):
        own = comparison.table.drop(columns=BEYOND, errors="ignore")  # what is read back says it: BlockTests.beyond_fc
        frame = own.assign(family=family, between=" - ".join(between))
        frame["covariates"] = ", ".join(comparison.covariates)
        frame["n_subjects"] = sum(comparison.n_subjects.values())
        frame["permutations"] = comparison.permutations
        for group, n in comparison.n_subjects.items():
            frame[f"n_{group}"] = n
        frame["note"] = " ".join([*notes, *comparison.design.notes]).strip()
        frames.append(frame)
    return frames


def check_same_attention(attention: NDArray[np.float32], data: LabelledGraphs, known: GroupResults) -> None:
    """Refuse attention that is not the model's own: other subjects, other folds or other weights made it.

    Parameters
    ----------
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Out of fold, mean over layers and heads.
    data : LabelledGraphs
        Of the same subjects in the same order.
    known : GroupResults
        Those in the model's folder.
    """
    for group, maps in data.per_person(attention).items():
        mean = maps.mean(axis=0)
        stored = known.attention[group].mean(axis=(0, 1))
        if np.abs(mean - stored).max() > _SAME_ATTENTION * stored.max():
            raise InputError(
                f"The attention of {group} computed again is not the one in the model's folder. The subjects, their "
                "order or the folds are not those that it was trained on; name the data and phenotypes of its card."
            )
