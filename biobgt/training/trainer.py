"""Train one BioBGT: AdamW, warm-up then cosine, best validation weights kept, resumable to the same result.

Every epoch is a line in a CSV and a checkpoint (safetensors: weights, optimiser, random state), so that a run that is
killed goes on where it was and ends as if nothing had happened. With ``torchrun`` each process takes its share of
every batch and gradients are averaged.
"""

import csv
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from biobgt.errors import InputError
from biobgt.model.batch import GraphBatch
from biobgt.model.calibration import fit_temperature
from biobgt.model.presets import Preset
from biobgt.model.training_settings import TrainingSettings
from biobgt.model.transformer import BioBGT
from biobgt.training.checkpoint import TrainingState, load_state, save_state
from biobgt.training.distributed import average_gradients, first_ones, is_first, own_share, same_chance, same_on_all
from biobgt.training.readouts import Readouts, own_logits, readout_parts
from biobgt.training.start import pretrain_extractor, sharpen_attention, start_at_ridge, weigh_regions

EVALUATION_BATCH = 64
# Subjects that go through the model together on a CPU; a batch is the sum of such pieces. Attention of more does not
# fit in its caches: a batch of 128 in pieces of 16 takes 0.7 of the time.
CPU_PIECE = 16


@dataclass(frozen=True)
class Epoch:
    """One line of the training log; losses are means over subjects."""

    epoch: int
    learning_rate: float
    train_loss: float
    contrast_loss: float
    validation_loss: float
    validation_accuracy: float
    seconds: float


def train_model(
    training: tuple[GraphBatch, Tensor],
    validation: tuple[GraphBatch, Tensor],
    preset: Preset,
    *,
    n_groups: int,
    readouts: Readouts = (),
    seed: int = 0,
    device: torch.device | str = "cpu",
    folder: Path | None = None,
    resume: bool = False,
    progress: Callable[[Epoch], None] | None = None,
) -> BioBGT:
    """Train and return the model with the best validation loss.

    Parameters
    ----------
    training, validation : (GraphBatch, Tensor)
        Graphs, and the number of each one's group, shape (n_subjects,).
    preset : Preset
    n_groups : int
    readouts : sequence of sequence of int
        The groups of each cohort, where several are trained together.
    seed : int
        Of the initial weights, the order of subjects, the dropout and the views.
    device : torch.device or str
    folder : Path, optional
        Where the log and the checkpoint go; without one nothing is written.
    resume : bool
        Go on from the checkpoint in the folder, when there is one.
    progress : callable, optional
        Told each epoch.
    """
    run = _Run.start(training, preset, n_groups=n_groups, seed=seed, device=torch.device(device))
    run.readouts = readouts
    if resume and folder is not None and (state := load_state(folder, run.model, run.optimiser)) is not None:
        run.restore(state)
    else:
        run.warm_start(training, validation)
    run.to_the_end(training, validation, folder=folder, progress=progress)
    return run.model


class Run(ABC):
    """One training run of any network: optimiser, random state, and the best weights so far.

    Parameters
    ----------
    model : Module
        From a batch of graphs to logits.
    settings : TrainingSettings
    seed : int
        Of the order of subjects, the dropout and the views.
    device : torch.device
    n_subjects : int
        In training.
    """

    model: nn.Module

    def __init__(
        self, model: nn.Module, settings: TrainingSettings, *, seed: int, device: torch.device, n_subjects: int
    ) -> None:
        self.model, self.settings, self.device = model, settings, device
        self.optimiser = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=settings.weight_decay)
        self.generator = torch.Generator().manual_seed(seed)
        self.steps_an_epoch = math.ceil(n_subjects / settings.batch_size)
        self.epoch, self.best_epoch, self.best_loss = 0, 0, math.inf
        self.best = _copy(model)
        self.readouts: Readouts = ()

    @property
    def ended(self) -> bool:
        """Whether all epochs are done, or validation has not improved for as long as the preset waits."""
        waited = self.epoch - self.best_epoch
        return self.epoch >= self.settings.epochs or 0 < self.settings.patience <= waited

    @abstractmethod
    def losses(self, graphs: GraphBatch, groups: Tensor) -> tuple[Tensor, Tensor]:
        """Logits, and the loss that is added to the cross-entropy."""

    def to_the_end(
        self,
        training: tuple[GraphBatch, Tensor],
        validation: tuple[GraphBatch, Tensor],
        *,
        folder: Path | None = None,
        progress: Callable[[Epoch], None] | None = None,
    ) -> None:
        """Train the epochs that are left, and put the best weights back.

        Parameters
        ----------
        training, validation : (GraphBatch, Tensor)
            Graphs, and the number of each one's group, shape (n_subjects,).
        folder : Path, optional
            Where the log and the checkpoint go.
        progress : callable, optional
            Told each epoch.
        """
        log = _Log(folder)
        log.open(keep=self.epoch)
        while not self.ended:
            epoch = self.one_epoch(training, validation)
            log.write(epoch)
            if folder is not None and is_first():
                save_state(folder, self.state(), self.model, self.optimiser)
            if progress is not None:
                progress(epoch)
        self.model.load_state_dict(self.best)
        self.model.eval()

    def one_epoch(self, training: tuple[GraphBatch, Tensor], validation: tuple[GraphBatch, Tensor]) -> Epoch:
        """Show every training subject once, then validate."""
        start = time.perf_counter()
        graphs, groups = training
        same_chance(self.generator)
        order = torch.randperm(len(graphs), generator=self.generator)
        # Dropout draws from the global stream: seed it by epoch, so that a resumed run draws the same.
        torch.manual_seed(int(torch.randint(2**31, (1,), generator=self.generator)))
        self.model.train()
        sums = torch.zeros(2)
        for step, rows in enumerate(torch.split(order, self.settings.batch_size)):
            sums += self._step(graphs[rows], groups[rows], self.epoch * self.steps_an_epoch + step) * len(rows)
        self.epoch += 1
        loss, accuracy = self._validate(*validation)
        if not math.isfinite(loss):
            raise InputError(
                f"Training diverged in epoch {self.epoch}: the validation loss is {loss}. Lower the learning rate."
            )
        if loss < self.best_loss:
            self.best_loss, self.best_epoch, self.best = loss, self.epoch, _copy(self.model)
        train_loss, contrast_loss = (sums / len(graphs)).tolist()
        rate = self.optimiser.param_groups[0]["lr"]
        return Epoch(self.epoch, rate, train_loss, contrast_loss, loss, accuracy, time.perf_counter() - start)

    def _step(self, graphs: GraphBatch, groups: Tensor, step: int) -> Tensor:
        for parameters in self.optimiser.param_groups:
            parameters["lr"] = self._learning_rate(step)
        rows = torch.arange(len(graphs))[own_share(len(graphs))]
        self.optimiser.zero_grad()
        losses = torch.zeros(2)
        for piece in torch.split(rows, CPU_PIECE if self.device.type == "cpu" else len(rows)):
            share = len(piece) / len(rows)
            losses += share * self._backward(graphs[piece].to(self.device), groups[piece].to(self.device), share)
        average_gradients(self.model)
        if self.settings.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimiser.step()
        return losses

    def _backward(self, graphs: GraphBatch, groups: Tensor, share: float) -> Tensor:
        """Add the gradients of a share of a batch; return its two losses."""
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
            logits, contrast = self.losses(graphs, groups)
            classify = functional.cross_entropy(own_logits(logits.float(), groups, self.readouts), groups)
            loss = share * (classify + self.settings.contrast_weight * contrast)
        loss.backward()  # type: ignore[no-untyped-call]
        return torch.stack([classify.detach(), contrast.detach()]).cpu().float()

    def _learning_rate(self, step: int) -> float:
        warmup = self.settings.warmup_epochs * self.steps_an_epoch
        total = self.settings.epochs * self.steps_an_epoch
        if step < warmup:
            return self.settings.learning_rate * (step + 1) / warmup
        return self.settings.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total - warmup)))

    def _validate(self, graphs: GraphBatch, groups: Tensor) -> tuple[float, float]:
        """Cross-entropy after temperature scaling, since overconfidence is put right afterwards, and accuracy."""
        logits = predict_logits(self.model, graphs, device=self.device)
        if not bool(torch.isfinite(logits).all()):
            return math.nan, math.nan
        loss, right = 0.0, 0
        for part in readout_parts(groups.numpy(), logits.shape[1], self.readouts):
            own, truth = logits[part.rows][:, part.columns], torch.from_numpy(part.labels)
            temperature = fit_temperature(own.double().numpy(), part.labels)
            loss += len(truth) / len(groups) * float(functional.cross_entropy(own / temperature, truth))
            right += int((own.argmax(dim=1) == truth).sum())
        # All processes must stop at the same epoch.
        return first_ones(loss), right / len(groups)

    def state(self) -> TrainingState:
        """What a checkpoint holds beside model and optimiser."""
        return TrainingState(self.epoch, self.best_epoch, self.best_loss, self.best, self.generator.get_state())

    def restore(self, state: TrainingState) -> None:
        """Go on from a checkpoint."""
        self.epoch, self.best_epoch, self.best_loss = state.epoch, state.best_epoch, state.best_loss
        self.best = state.best
        self.generator.set_state(state.generator)


class _Run(Run):
    """A run of BioBGT."""

    model: BioBGT

    @classmethod
    def start(
        cls, training: tuple[GraphBatch, Tensor], preset: Preset, *, n_groups: int, seed: int, device: torch.device
    ) -> "_Run":
        torch.manual_seed(seed)
        graphs = training[0]
        n_regions, n_features = graphs.values.shape[2], graphs.features.shape[2]
        model = BioBGT(preset, n_regions=n_regions, n_groups=n_groups, n_features=n_features)
        model.standardise(graphs)
        same_on_all(model)
        return cls(model.to(device), preset, seed=seed, device=device, n_subjects=len(graphs))

    def warm_start(self, training: tuple[GraphBatch, Tensor], validation: tuple[GraphBatch, Tensor]) -> None:
        """Teach ψ without labels, sharpen attention, weigh regions, start the readout at ridge: all epoch 0."""
        if self.model.preset.pretrain_steps:
            pretrain_extractor(self.model, training[0], self.generator, device=self.device)
        if self.model.preset.start_contrast:
            sharpen_attention(self.model, training[0], self.generator, device=self.device)
        if self.model.preset.region_axes:
            weigh_regions(self.model, *training, device=self.device, readouts=self.readouts)
        if self.model.preset.ridge_start:
            start_at_ridge(self.model, *training, device=self.device, readouts=self.readouts)
        same_on_all(self.model)  # sums on a GPU differ in their last digits from process to process
        if self.model.preset.ridge_start:
            self.best_loss, self.best = self._validate(*validation)[0], _copy(self.model)

    def losses(self, graphs: GraphBatch, groups: Tensor) -> tuple[Tensor, Tensor]:
        return self.model.losses(graphs, self.generator)


class _Log:
    """The CSV of epochs; without a folder it writes nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.file = None if folder is None or not is_first() else folder / "epochs.csv"

    def open(self, *, keep: int) -> None:
        """Start the file, keeping the lines of the epochs that a resumed run does not repeat."""
        if self.file is None:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        lines = self.file.read_text().splitlines()[1 : keep + 1] if keep and self.file.exists() else []
        self.file.write_text("\n".join([",".join(Epoch.__dataclass_fields__), *lines]) + "\n")

    def write(self, epoch: Epoch) -> None:
        if self.file is None:
            return
        with self.file.open("a", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerow(
                [f"{value:.6g}" if isinstance(value, float) else value for value in asdict(epoch).values()]
            )


@torch.no_grad()
def predict_logits(model: nn.Module, graphs: GraphBatch, *, device: torch.device | str = "cpu") -> Tensor:
    """Logits of many graphs, on the CPU, shape (B, n_groups).

    Parameters
    ----------
    model : Module
        BioBGT, or a network of the benchmark.
    graphs : GraphBatch
        Of B subjects; they are taken in parts.
    device : torch.device or str
        Where the model is.
    """
    model.eval()
    parts = [model(graphs[slice(i, i + EVALUATION_BATCH)].to(device)) for i in _starts(len(graphs))]
    return torch.cat(parts).float().cpu()


def _starts(n: int) -> range:
    return range(0, n, EVALUATION_BATCH)


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}
