"""Train an ensemble on the folds of a cohort, and describe it by what its members say of subjects they never met.

Each fold gives one member, whose test subjects nobody else in the fold has seen. What comes out is a complete
model; :mod:`biobgt.training.cards` writes it. A run that was killed goes on with the fold and the epoch it was at.
"""

import copy
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file

from biobgt.model.batch import GraphBatch
from biobgt.model.calibration import calibrated, fold_temperatures
from biobgt.model.presets import Preset
from biobgt.model.transformer import BioBGT
from biobgt.modules import module_contrast
from biobgt.output import atomic_file
from biobgt.training.data import LabelledGraphs
from biobgt.training.distributed import is_first
from biobgt.training.identity import open_run, run_identity
from biobgt.training.readouts import ReadoutPart, readout_parts
from biobgt.training.splits import Split
from biobgt.training.trainer import Epoch, predict_logits, train_model

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
    open_run(folder, run_identity(data, split, settings), resume=resume)
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
