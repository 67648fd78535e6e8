"""A cohort as models take it, an ensemble trained on its folds, and what it attends to in its groups."""

import copy
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor

from biobgt.base.errors import InputError
from biobgt.base.files import atomic_file, write_atomically, write_csv
from biobgt.data.cohort import Cohort, average_by_person, person_of
from biobgt.data.connectivity import subject_connectivity
from biobgt.groups import compare_attention, covariates_of
from biobgt.groups.design import design_notes, one_value_per_person, overall_connectivity
from biobgt.groups.features import AttentionComparison
from biobgt.model.calibration import calibrated, fold_temperatures
from biobgt.model.inputs import correlations, prepare
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.model.presets import Preset
from biobgt.model.pretrained import GROUPS, SPREAD_FILE, TESTS, TRIMMED, GroupResults, GroupSpread
from biobgt.modules import module_contrast
from biobgt.results.store import FolderStore
from biobgt.training.splits import Split
from biobgt.training.trainer import Epoch, ReadoutPart, is_first, predict_logits, readout_parts, train_model

# A cohort as models take it, and an ensemble trained on its folds.


# A cohort as models take it: graphs, matrices for the baselines, and numbered groups.


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

    def of_readout(self, part: ReadoutPart) -> "LabelledGraphs":
        """The subjects and groups of one readout, as an ordinary cohort has them."""
        groups = tuple(self.groups[column] for column in part.columns)
        return replace(self.select(part.rows), labels=part.labels, groups=groups, readouts=())

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


def feature_store(folder: Path) -> FolderStore:
    """Where NE and modules are kept by content: the same matrix has the same, whatever the cohort."""
    return FolderStore(folder, "any")


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
    groups, store = tuple(cohort.group_sizes), None if kept is None else feature_store(kept)
    has_series = all(subject.series is not None for subject in cohort)
    return LabelledGraphs(
        graphs=prepare(cohort.subjects, preset, store=store, workers=workers, progress=progress),
        matrices=np.stack([correlations(subject).astype(np.float32) for subject in cohort]),
        shrunk=np.stack([subject_connectivity(one, estimator="ledoit-wolf").astype(np.float32) for one in cohort])
        if has_series
        else None,
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


FILE = "run.json"


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
    """Go on with what a folder holds, if it is of the same run; or start anew, so that nothing in it is taken up later.

    Parameters
    ----------
    folder : Path
        Of the run.
    identity : str
        See :func:`run_identity`.
    resume : bool
        Whether to go on with what the folder holds.

    Raises
    ------
    InputError
        Where the run is to be resumed and the folder holds another's.
    """
    file, left = folder / FILE, list(folder.glob("*.safetensors"))
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


Progress = Callable[[str], None]
EXPLAINED_AT_ONCE = 16
SAME_ANSWER = 1e-3  # how far a probability may move by rounding of the weights


@dataclass(frozen=True, eq=False)
class TrainedEnsemble:
    """Members of all folds, and what they said of their test subjects.

    Attributes
    ----------
    members : tuple of BioBGT
    temperatures : tuple of float
        One a fold, for its test subjects, from the test subjects of all other folds.
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
    temperatures: tuple[float, ...]
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


def train_ensemble(
    data: LabelledGraphs,
    splits: tuple[Split, ...],
    preset: Preset,
    *,
    folder: Path,
    seed: int = 0,
    device: torch.device | str = "cpu",
    resume: bool = False,
    progress: Progress | None = None,
) -> TrainedEnsemble:
    """Train a member on every split; fold i trains with seed + i.

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
    members = train_members(
        data, splits, preset, folder=folder, seed=seed, device=device, resume=resume, progress=progress
    )
    return describe_members(members, data, splits, folder=folder, device=device)


def train_members(
    data: LabelledGraphs,
    splits: tuple[Split, ...],
    preset: Preset,
    *,
    folder: Path,
    seed: int = 0,
    device: torch.device | str = "cpu",
    resume: bool = False,
    progress: Progress | None = None,
) -> tuple[BioBGT, ...]:
    """Train a member on every split; each has all readouts of the data.

    Parameters
    ----------
    data, splits, preset, folder, seed, device, resume, progress
        See :func:`train_ensemble`.
    """
    members = []
    for number, split in enumerate(splits):

        def tell(epoch: Epoch, name: str = split.name) -> None:
            if progress is not None:
                progress(f"{name}, epoch {epoch.epoch}: validation loss {epoch.validation_loss:.3f}")

        members.append(_member(data, split, preset, folder / split.name, seed + number, device, resume, tell).cpu())
    return tuple(members)


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
    preset = members[0].preset
    out = _Gathered(data, (preset.layers, preset.heads, *data.graphs.weights.shape[1:]))
    seconds: list[float] = []
    for member, split in zip(members, splits, strict=True):
        out.explain(member.to(device), split.test, device=device)
        member.cpu()
        seconds += pd.read_csv(folder / split.name / "epochs.csv")["seconds"].tolist()  # of resumed folds too
    temperatures, shared = fold_temperatures(out.logits, [split.test for split in splits], data.labels)
    for split, temperature in zip(splits, temperatures, strict=True):
        out.logits[split.test] /= temperature
    return TrainedEnsemble(
        members=tuple(members),
        temperatures=tuple(temperatures),
        temperature=shared,
        logits=out.logits,
        attention={
            label: (total / max(1, out.people[label])).astype(np.float32) for label, total in out.attention.items()
        },
        mean_attention=out.mean_attention,
        contrast=out.contrast,
        embedding_contrast=out.embedding_contrast,
        seconds_an_epoch=float(np.median(seconds)) if seconds else float("nan"),
        peak_memory_mb=_peak_memory_mb(torch.device(device)),
    )


def _peak_memory_mb(device: torch.device) -> float:
    """The most memory held so far: the GPU's where there is one, else the process's; NaN where nobody can say."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    if sys.platform == "win32":
        return float("nan")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def _member(
    data: LabelledGraphs,
    split: Split,
    preset: Preset,
    folder: Path,
    seed: int,
    device: torch.device | str,
    resume: bool,
    tell: Callable[[Epoch], None],
) -> BioBGT:
    finished = folder / "member.safetensors"
    settings = {"preset": preset.as_dict(), "seed": seed, **({"readouts": data.readouts} if data.readouts else {})}
    _open_run(folder, run_identity(data, split, settings), resume=resume)
    if resume and finished.exists():
        member = BioBGT(preset, n_regions=data.matrices.shape[1], n_groups=len(data.groups))
        member.load_state_dict(load_file(finished))
        return member.to(device).eval()
    member = train_model(
        data.part(split.train),
        data.part(split.validation),
        preset,
        n_groups=len(data.groups),
        readouts=data.readouts,
        seed=seed,
        device=device,
        folder=folder,
        resume=resume,
        progress=tell,
    )
    member = rounded(member, data.graphs, device=device, parts=data.parts)
    if is_first():
        with atomic_file(finished) as file:  # a run killed here is resumed from its checkpoint
            save_file({name: value.cpu().contiguous() for name, value in member.state_dict().items()}, file)
    return member


def rounded(
    member: BioBGT, graphs: GraphBatch, *, device: torch.device | str = "cpu", parts: Sequence[ReadoutPart] = ()
) -> BioBGT:
    """A member whose matrices half precision holds exactly, if it says the same of everybody to :data:`SAME_ANSWER`.

    Rounded before anything is said of its test subjects, so that results are those of the weights that are kept.

    Parameters
    ----------
    member : BioBGT
    graphs : GraphBatch
        The subjects whose answers must stay the same.
    device : torch.device or str
    parts : sequence of ReadoutPart
        The subjects of each readout, where several cohorts were trained together.
    """
    short = copy.deepcopy(member)
    with torch.no_grad():
        for value in short.state_dict().values():
            if value.is_floating_point() and value.ndim > 1:
                value.copy_(value.half())
    long, less = (predict_logits(one, graphs, device=device) for one in (member, short))
    everybody = readout_parts(np.zeros(len(long), dtype=np.int64), long.shape[1])
    moved = [
        (long[one.rows][:, one.columns].softmax(dim=1) - less[one.rows][:, one.columns].softmax(dim=1)).abs().max()
        for one in parts or everybody
    ]
    return short if max(map(float, moved)) < SAME_ANSWER else member


class _Gathered:
    """Out-of-fold results, filled in fold by fold."""

    def __init__(self, data: LabelledGraphs, shape: tuple[int, ...]) -> None:
        n, n_regions = len(data.labels), shape[-1]
        self.data, self.shape = data, shape
        self.logits = np.full((n, len(data.groups)), np.nan)
        self.attention = {label: np.zeros(shape, np.float32) for label in range(len(data.groups))}
        owners = list(zip(data.persons, data.labels.tolist(), strict=True))
        recordings = Counter(owners)
        self.people = Counter(label for _, label in recordings)
        self.share = [1 / recordings[owner] for owner in owners]  # of a person's mean that each recording makes up
        self.mean_attention = np.zeros((n, n_regions, n_regions), np.float32)
        self.contrast = np.full((n, *shape[:2]), np.nan)
        self.embedding_contrast = np.full(n, np.nan)

    @torch.no_grad()
    def explain(self, member: BioBGT, rows: NDArray[np.int64], *, device: torch.device | str) -> None:
        for start in range(0, len(rows), EXPLAINED_AT_ONCE):
            part = rows[start : start + EXPLAINED_AT_ONCE]
            graphs, labels = self.data.part(part)
            seen = member.explain(graphs.to(device))
            maps = torch.stack([one.weights for one in seen.attention], dim=1).float().cpu().numpy()
            maps = maps.reshape(len(part), *self.shape)
            self.logits[part] = seen.logits.double().cpu().numpy()
            self.mean_attention[part] = maps.mean(axis=(1, 2))
            self.embedding_contrast[part] = embedding_contrast(seen.embeddings.float().cpu(), graphs)
            modules = graphs.modules.numpy()
            for layer, head in np.ndindex(*self.shape[:2]):
                self.contrast[part, layer, head] = module_contrast(maps[:, layer, head], modules)
            for row, label, one in zip(part.tolist(), labels.tolist(), maps, strict=True):
                self.attention[label] += one * np.float32(self.share[row])


def embedding_contrast(embeddings: torch.Tensor, graphs: GraphBatch) -> NDArray[np.float64]:
    """Mean cosine similarity of embeddings within less between modules, for each subject, shape (B,)."""
    unit = torch.nn.functional.normalize(embeddings, dim=-1)
    similarity = (unit @ unit.transpose(1, 2)).double()
    modules = graphs.modules
    known = modules > 0
    pairs = known[:, :, None] & known[:, None, :] & ~torch.eye(modules.shape[1], dtype=torch.bool)
    within = pairs & (modules[:, :, None] == modules[:, None, :])
    between = pairs & ~within
    means = [(similarity * chosen).sum(dim=(1, 2)) / chosen.sum(dim=(1, 2)) for chosen in (within, between)]
    return np.asarray((means[0] - means[1]).numpy())


# What an ensemble attends to in the groups it was trained on: means, spread and tests, out of fold.


# What an ensemble attends to, compared between the groups it was trained on: over people, out of fold.
#
# Attention is made from connectivity, so that a group with stronger connectivity overall differs in attention, too.
# Every test is made with mean |FC| among the covariates and without, and stands as two rows that say so; in each row
# stand beside it the connectivity of the same block, and the test given that connectivity. From a model's weights and
# its cohort the tests can be made again without training: fold i's member meets fold i's test subjects.


# Group means are stored with 16 bits, so that they differ from those computed again by one in two thousand.
_SAME_ATTENTION = 2e-3
_NO_TESTS = ["feature", "family", "between", "covariates", "n_subjects", "permutations"]


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
    if not cohort.atlas.labels:
        return pd.DataFrame(columns=_NO_TESTS)
    groups = np.array([data.groups[label] for label in data.labels])
    frames: list[pd.DataFrame] = []
    correlations = np.stack([subject_connectivity(subject).astype(np.float32) for subject in cohort])
    covariates, disagreements = one_value_per_person(covariates_of(cohort.table()).table, cohort.persons)
    for between in combinations(data.groups, 2) if pairs is None else pairs:
        owners = _of_one_group(groups, cohort.persons, between)
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
    counts = [name for group in data.groups if (name := f"n_{group}") in tests]
    return tests.astype(dict.fromkeys(counts, "Int64"))  # empty, and no decimals, where a group was not compared


def write_tests(tests: pd.DataFrame, folder: Path) -> None:
    """Write the tests of a model's groups into its folder."""
    write_atomically(folder / TESTS, write_csv(tests, index=False, float_format="%.6g", lineterminator="\n"))


def out_of_fold_attention(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split]
) -> NDArray[np.float32]:
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
    ndarray, shape (n_subjects, n_regions, n_regions)
        Mean over layers and heads.
    """
    n_regions = data.matrices.shape[1]
    found = np.full((len(data.labels), n_regions, n_regions), np.nan, np.float32)
    for rows, maps in _explained(members, data, splits):
        found[rows] = maps.mean(axis=1)
    return found


def out_of_fold_contrasts(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split]
) -> NDArray[np.float64]:
    """Attention within over between each subject's own Louvain modules, mean over layers and heads, out of fold.

    Parameters
    ----------
    members, data, splits
        See :func:`out_of_fold_attention`.

    Returns
    -------
    ndarray, shape (n_subjects,)
    """
    found = np.full(len(data.labels), np.nan)
    for rows, maps in _explained(members, data, splits):
        modules = data.graphs.modules.numpy()[rows]
        found[rows] = np.mean([module_contrast(maps[:, head], modules) for head in range(maps.shape[1])], axis=0)
    return found


@torch.no_grad()
def _explained(
    members: Sequence[BioBGT], data: LabelledGraphs, splits: Sequence[Split]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
    """Some test subjects at a time, and their maps of all layers and heads, shape (n_rows, n_maps, n, n)."""
    n_regions = data.matrices.shape[1]
    device = next(members[0].parameters()).device
    for member, split in zip(members, splits, strict=True):
        for start in range(0, len(split.test), EXPLAINED_AT_ONCE):
            rows = split.test[start : start + EXPLAINED_AT_ONCE]
            seen = member.explain(data.part(rows)[0].to(device))
            maps = torch.stack([layer.weights for layer in seen.attention], dim=1).float().cpu().numpy()
            yield rows, maps.reshape(len(rows), -1, n_regions, n_regions)


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
    persons = np.array(data.persons)
    for label, group in enumerate(data.groups):
        own = data.labels == label
        mean = average_by_person(attention[own], persons[own].tolist()).mean(axis=0)
        stored = known.attention[group].mean(axis=(0, 1))
        if np.abs(mean - stored).max() > _SAME_ATTENTION * stored.max():
            raise InputError(
                f"The attention of {group} computed again is not the one in the model's folder. The subjects, their "
                "order or the folds are not those that it was trained on; name the data and phenotypes of its card."
            )


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
        frame = comparison.table.assign(family=family, between=" - ".join(between))
        frame["covariates"] = ", ".join(comparison.covariates)
        frame["n_subjects"] = sum(comparison.n_subjects.values())
        frame["permutations"] = comparison.permutations
        for group, n in comparison.n_subjects.items():
            frame[f"n_{group}"] = n
        frame["note"] = " ".join([*notes, *design_notes(comparison.design)]).strip()
        frames.append(frame)
    return frames


def _of_one_group(groups: NDArray[np.str_], persons: Sequence[str], between: tuple[str, str]) -> list[str | None]:
    """Each row's group, None for whoever has recordings in both groups, as one who converts from MCI to AD has."""
    owners = np.array(persons)
    both = np.intersect1d(*(owners[groups == name] for name in between))
    return [None if person in both else str(group) for group, person in zip(groups, owners, strict=True)]


# Group results of a model as they are stored: means of groups, and how people of a group spread around them.
#
# A mean map says nothing of how alike people are: a few can make it. So beside each group's mean stand its median and
# trimmed map, the standard error of every entry, and every person's contrast of modules, in no order that names
# anyone.


def write_groups(folder: Path, data: LabelledGraphs, trained: TrainedEnsemble) -> None:
    """Write the out-of-fold means of groups into a model's folder.

    Parameters
    ----------
    folder : Path
        Of the model.
    data : LabelledGraphs
    trained : TrainedEnsemble
        Of the same subjects.
    """
    arrays: dict[str, NDArray[Any]] = {}
    persons = np.array(data.persons)
    for label, group in enumerate(data.groups):
        own = data.labels == label
        mean = partial(_mean_of_people, persons=persons[own].tolist())
        arrays[f"n_{group}"] = np.array(len(set(persons[own])))
        arrays[f"attention_{group}"] = trained.attention[label].astype(np.float16)
        arrays[f"connectivity_{group}"] = mean(data.matrices[own]).astype(np.float16)
        arrays[f"entanglement_{group}"] = mean(data.graphs.entanglement.numpy()[own]).astype(np.float32)
        arrays[f"contrast_{group}"] = mean(trained.contrast[own]).astype(np.float32)
        arrays[f"embedding_contrast_{group}"] = np.array(mean(trained.embedding_contrast[own]))
    order = np.random.default_rng(0).permutation(len(data.labels))  # nobody is found again by position
    arrays["labels"] = data.labels[order]
    arrays["probabilities"] = trained.probabilities[order].astype(np.float32)
    with atomic_file(folder / GROUPS) as file, file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]


def group_spread(
    cohort: Cohort, data: LabelledGraphs, attention: NDArray[np.float32], contrasts: NDArray[np.float64]
) -> GroupSpread:
    """How the people of each group spread around its mean attention, over layers and heads, out of fold.

    Parameters
    ----------
    cohort : Cohort
        With series or connectivity, for overall connectivity.
    data : LabelledGraphs
        Of the same subjects in the same order.
    attention : ndarray, shape (n_subjects, n_regions, n_regions)
        Rows sum to 1.
    contrasts : ndarray, shape (n_subjects,)
        Attention within over between the subject's own modules.
    """
    from scipy.stats import trim_mean

    found: dict[str, dict[str, Any]] = {name: {} for name in ("median", "trimmed", "error", "people")}
    persons, n_regions = np.array(data.persons), attention.shape[1]
    for label, group in enumerate(data.groups):
        own = data.labels == label
        owners = persons[own].tolist()
        maps = average_by_person(attention[own], owners) * n_regions  # in multiples of uniform attention
        found["median"][group] = np.median(maps, axis=0)
        found["trimmed"][group] = trim_mean(maps, TRIMMED, axis=0)
        n = len(maps)
        found["error"][group] = maps.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(maps.shape[1:], np.nan)
        people = average_by_person(np.column_stack([contrasts, overall_connectivity(cohort)])[own], owners)
        found["people"][group] = people[np.argsort(people[:, 0], kind="stable")]  # nobody is found again by position
    return GroupSpread(**found)


def write_spread(folder: Path, spread: GroupSpread) -> None:
    """Write how people spread around group means into a model's folder."""
    arrays = {
        f"{what}_{group}": values.astype(np.float32 if what == "people" else np.float16)
        for what in ("median", "trimmed", "error", "people")
        for group, values in getattr(spread, what).items()
    }
    with atomic_file(folder / SPREAD_FILE) as file, file.open("wb") as stream:
        np.savez_compressed(stream, **arrays)


def _mean_of_people(values: NDArray[Any], *, persons: Sequence[str]) -> NDArray[np.float64]:
    """Mean over people of what is defined, a person's recordings averaged first."""
    return np.asarray(np.nanmean(average_by_person(values, persons), axis=0))
