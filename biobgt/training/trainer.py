"""Train one BioBGT, or another network: AdamW, warm-up then cosine, best validation weights kept.

Every epoch is a line in a CSV and a checkpoint (safetensors: weights, optimiser, random state; no pickle), so that a
run that is killed goes on where it was and ends as if nothing had happened. With ``torchrun`` each process takes its
share of every batch and gradients are averaged; without it none of that does anything.
"""

import csv
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, distributed, nn
from torch.nn import functional

from biobgt.base.errors import InputError
from biobgt.base.files import atomic_file
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.model.peers import GraphNetwork
from biobgt.model.presets import Preset, TrainingSettings
from biobgt.training.metrics import fit_temperature
from biobgt.training.start import AT_ONCE, Part, Readouts, initialise, own_logits, readout_parts

CHECKPOINT = "checkpoint.safetensors"
# Subjects that go through the model together on a CPU; a batch is the sum of such pieces. Attention of more does not
# fit in its caches: a batch of 128 in pieces of 16 takes 0.7 of the time.
_CPU_PIECE = 16


# Logits, and the loss that is added to the cross-entropy: of graphs, the numbers of their groups, and chance.
_Losses = Callable[[Any, Tensor, torch.Generator], tuple[Tensor, Tensor]]


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
    training: Part,
    validation: Part,
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
    torch.manual_seed(seed)
    graphs = training[0]
    n_regions, n_features = graphs.values.shape[2], graphs.features.shape[2]
    model = BioBGT(preset, n_regions=n_regions, n_groups=n_groups, n_features=n_features)
    model.standardise(graphs)
    _same_on_all(*model.state_dict().values())
    run = _Run(
        model,
        preset,
        lambda batch, _, generator: model.losses(batch, generator),
        seed=seed,
        device=torch.device(device),
        n_subjects=len(graphs),
        readouts=readouts,
    )
    if not (resume and folder is not None and run.load(folder)):
        initialise(model, training, run.generator, device=run.device, readouts=readouts)
        _same_on_all(*model.state_dict().values())  # sums on a GPU differ in their last digits from process to process
        if preset.ridge_start:
            run.best_loss, run.best = run.validate(*validation)[0], _copy(model)
    run.to_the_end(training, validation, folder=folder, progress=progress)
    return model


def train_network(
    build: Callable[[], GraphNetwork],
    training: Part,
    validation: Part,
    settings: TrainingSettings,
    *,
    seed: int = 0,
    device: torch.device | str = "cpu",
    progress: Callable[[Epoch], None] | None = None,
) -> GraphNetwork:
    """Train a network of the benchmark in the loop of BioBGT: same optimiser, schedule and choice of the epoch.

    Parameters
    ----------
    build : callable
        Makes the network, whose weights are drawn with the seed.
    training, validation : (GraphBatch, Tensor)
        Graphs with the encodings that it takes, and the number of each one's group, shape (n_subjects,).
    settings : TrainingSettings
    seed : int
        Of the initial weights, the order of subjects and the dropout.
    device : torch.device or str
    progress : callable, optional
        Told each epoch.
    """
    torch.manual_seed(seed)
    network = build().to(device)
    run = _Run(
        network,
        settings,
        lambda batch, groups, _: network.losses(batch, groups),
        seed=seed,
        device=torch.device(device),
        n_subjects=len(training[0]),
    )
    run.to_the_end(training, validation, progress=progress)
    return network


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
    starts = range(0, len(graphs), AT_ONCE)
    parts = [model(graphs[slice(start, start + AT_ONCE)].to(device)) for start in starts]
    return torch.cat(parts).float().cpu()


class _Run:
    """One training run of any network: optimiser, random state, and the best weights so far."""

    def __init__(
        self,
        model: nn.Module,
        settings: TrainingSettings,
        losses: _Losses,
        *,
        seed: int,
        device: torch.device,
        n_subjects: int,
        readouts: Readouts = (),
    ) -> None:
        self.model, self.settings, self.losses = model.to(device), settings, losses
        self.device, self.readouts = device, readouts
        self.optimiser = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=settings.weight_decay)
        self.generator = torch.Generator().manual_seed(seed)
        self.steps_an_epoch = math.ceil(n_subjects / settings.batch_size)
        self.epoch, self.best_epoch, self.best_loss = 0, 0, math.inf
        self.best = _copy(model)

    def to_the_end(
        self,
        training: Part,
        validation: Part,
        *,
        folder: Path | None = None,
        progress: Callable[[Epoch], None] | None = None,
    ) -> None:
        """Train the epochs that are left, until validation has not improved for long, and put the best weights back."""
        written = folder if is_first() else None
        if written is not None:  # a resumed run keeps the lines of epochs that it does not repeat
            written.mkdir(parents=True, exist_ok=True)
            log = written / "epochs.csv"
            lines = log.read_text().splitlines()[1 : self.epoch + 1] if self.epoch and log.exists() else []
            log.write_text("\n".join([",".join(Epoch.__dataclass_fields__), *lines]) + "\n")
        patience = self.settings.patience or math.inf
        while self.epoch < self.settings.epochs and self.epoch - self.best_epoch < patience:
            epoch = self._one_epoch(training, validation)
            if written is not None:
                with log.open("a", newline="") as stream:
                    line = [f"{value:.6g}" if isinstance(value, float) else value for value in asdict(epoch).values()]
                    csv.writer(stream, lineterminator="\n").writerow(line)
                self._save(written)
            if progress is not None:
                progress(epoch)
        self.model.load_state_dict(self.best)
        self.model.eval()

    def _one_epoch(self, training: Part, validation: Part) -> Epoch:
        """Show every training subject once, then validate."""
        start = time.perf_counter()
        graphs, groups = training
        chance = self.generator.get_state()  # shares of unequal size have drawn unequally
        _same_on_all(chance)
        self.generator.set_state(chance)
        order = torch.randperm(len(graphs), generator=self.generator)
        # Dropout draws from the global stream: seed it by epoch, so that a resumed run draws the same.
        torch.manual_seed(int(torch.randint(2**31, (1,), generator=self.generator)))
        self.model.train()
        sums = torch.zeros(2)
        for step, rows in enumerate(torch.split(order, self.settings.batch_size)):
            sums += self._step(graphs[rows], groups[rows], self.epoch * self.steps_an_epoch + step) * len(rows)
        self.epoch += 1
        loss, accuracy = self.validate(*validation)
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
        """Learn from one batch, at a rate that warms up and then falls as a cosine; return its two losses."""
        settings, warmup = self.settings, self.settings.warmup_epochs * self.steps_an_epoch
        rate = settings.learning_rate * (step + 1) / max(1, warmup)
        if step >= warmup:
            rest = max(1, settings.epochs * self.steps_an_epoch - warmup)
            rate = settings.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - warmup) / rest))
        for parameters in self.optimiser.param_groups:
            parameters["lr"] = rate
        rows = _own_share(len(graphs))
        self.optimiser.zero_grad()
        losses = torch.zeros(2)
        for piece in torch.split(rows, _CPU_PIECE if self.device.type == "cpu" else len(rows)):
            share, own = len(piece) / len(rows), groups[piece].to(self.device)
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.device.type == "cuda"):
                logits, contrast = self.losses(graphs[piece].to(self.device), own, self.generator)
                classify = functional.cross_entropy(own_logits(logits.float(), own, self.readouts), own)
                loss = share * (classify + settings.contrast_weight * contrast)
            loss.backward()  # type: ignore[no-untyped-call]
            losses += share * torch.stack([classify.detach(), contrast.detach()]).cpu().float()
        _average_gradients(self.model)
        if settings.clip:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip)
        self.optimiser.step()
        return losses

    def validate(self, graphs: GraphBatch, groups: Tensor) -> tuple[float, float]:
        """Cross-entropy after temperature scaling, since overconfidence is put right afterwards, and accuracy."""
        logits = predict_logits(self.model, graphs, device=self.device)
        if not bool(torch.isfinite(logits).all()):
            return math.nan, math.nan
        loss, right = torch.zeros((), dtype=torch.float64), 0
        for part in readout_parts(groups.numpy(), logits.shape[1], self.readouts):
            own, truth = logits[part.rows][:, part.columns], torch.from_numpy(part.labels)
            temperature = fit_temperature(own.double().numpy(), part.labels)
            loss += len(truth) / len(groups) * float(functional.cross_entropy(own / temperature, truth))
            right += int((own.argmax(dim=1) == truth).sum())
        _same_on_all(loss)  # all processes must stop at the same epoch
        return float(loss), right / len(groups)

    def _save(self, folder: Path) -> None:
        """Write the checkpoint; a run killed while writing keeps the one before."""
        tensors = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"best.{name}": value for name, value in self.best.items()}
        for name, parameter in self.model.named_parameters():
            tensors |= {f"optimiser.{name}.{key}": value for key, value in self.optimiser.state[parameter].items()}
        tensors["generator"] = self.generator.get_state()
        numbers = {"epoch": self.epoch, "best_epoch": self.best_epoch, "best_loss": self.best_loss}
        copies = {name: value.detach().cpu().clone() for name, value in tensors.items()}
        with atomic_file(folder / CHECKPOINT) as unfinished:
            save_file(copies, unfinished, metadata={key: repr(value) for key, value in numbers.items()})

    def load(self, folder: Path) -> bool:
        """Go on from the checkpoint in a folder, when there is one."""
        file = folder / CHECKPOINT
        if not file.exists():
            return False
        try:
            with safe_open(file, framework="pt") as stored:
                tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118  # not a mapping
                numbers = stored.metadata()
            self.model.load_state_dict(_under("model.", tensors))
        except (SafetensorError, RuntimeError):
            raise InputError(
                f"The checkpoint {CHECKPOINT} in '{folder}' is damaged or of another preset. Delete it to start anew."
            ) from None
        for name, parameter in self.model.named_parameters():
            self.optimiser.state[parameter] = {
                key: value if key == "step" else value.to(parameter.device)
                for key, value in _under(f"optimiser.{name}.", tensors).items()
            }
        self.epoch, self.best_epoch = int(numbers["epoch"]), int(numbers["best_epoch"])
        self.best_loss, self.best = float(numbers["best_loss"]), _under("best.", tensors)
        self.generator.set_state(tensors["generator"])
        return True


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.state_dict().items()}


# More than one GPU with ``torchrun``. The views' chance is drawn per process, so that two GPUs give close to, and not
# exactly, what one gives.


@contextmanager
def process_group() -> Iterator[None]:
    """Join the processes that ``torchrun`` started, if it did."""
    if _n_started() < 2:
        yield
        return
    # The first weights and the generator's state are on the CPU, where NCCL cannot go.
    distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    try:
        yield
    finally:
        distributed.destroy_process_group()


def refuse_processes(command: str) -> None:
    """Refuse to run a command in several processes at once, where all of them would write the same files."""
    if _n_started() > 1:
        raise InputError(
            f"'{command}' runs in one process. Start it without torchrun; one GPU is used when there is one."
        )


def is_first() -> bool:
    """Whether this process is the one that writes files."""
    return not _together() or distributed.get_rank() == 0


def _n_started() -> int:
    """How many processes ``torchrun`` started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def _together() -> bool:
    return distributed.is_available() and distributed.is_initialized()


def _same_on_all(*values: Tensor) -> None:
    """Give every process the first one's numbers, in place."""
    if _together():
        for value in values:
            distributed.broadcast(value, src=0)


def _own_share(n: int) -> Tensor:
    """The rows of a batch that this process takes; at least one, so that nobody waits for nothing."""
    size, rank = (distributed.get_world_size(), distributed.get_rank()) if _together() else (1, 0)
    first = min(rank * n // size, n - 1)
    return torch.arange(first, max(first + 1, (rank + 1) * n // size))


def _average_gradients(model: nn.Module) -> None:
    """Average the gradients over processes."""
    if not _together():
        return
    for parameter in model.parameters():
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        distributed.all_reduce(parameter.grad)
        parameter.grad /= distributed.get_world_size()
