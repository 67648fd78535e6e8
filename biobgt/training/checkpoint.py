"""The state of an unfinished training run, as safetensors: no pickle is ever written or read."""

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from biobgt.errors import InputError
from biobgt.output import atomic_file

FILE = "checkpoint.safetensors"


@dataclass(frozen=True, eq=False)
class TrainingState:
    """What a run needs to go on, beside its model and optimiser."""

    epoch: int
    best_epoch: int
    best_loss: float
    best: dict[str, Tensor]
    generator: Tensor


def save_state(folder: Path, state: TrainingState, model: nn.Module, optimiser: torch.optim.AdamW) -> None:
    """Write the checkpoint; a run killed while writing keeps the one before.

    Parameters
    ----------
    folder : Path
        Of the run; made where it does not exist.
    state : TrainingState
    model : Module
    optimiser : AdamW
        Of the model's parameters.
    """
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in state.best.items()}
    for name, parameter in model.named_parameters():
        tensors |= {f"optimiser.{name}.{key}": value for key, value in optimiser.state[parameter].items()}
    tensors["generator"] = state.generator
    numbers = {"epoch": state.epoch, "best_epoch": state.best_epoch, "best_loss": state.best_loss}
    folder.mkdir(parents=True, exist_ok=True)
    copies = {name: value.detach().cpu().clone() for name, value in tensors.items()}
    with atomic_file(folder / FILE) as unfinished:
        save_file(copies, unfinished, metadata={key: repr(value) for key, value in numbers.items()})


def load_state(folder: Path, model: nn.Module, optimiser: torch.optim.AdamW) -> TrainingState | None:
    """Read the checkpoint into model and optimiser; None where there is none.

    Parameters
    ----------
    folder : Path
        Of the run.
    model : Module
        Of the same shape as the one that was saved.
    optimiser : AdamW
        Of the model's parameters.
    """
    file = folder / FILE
    if not file.exists():
        return None
    try:
        with safe_open(file, framework="pt") as stored:
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118  # not a mapping
            numbers = stored.metadata()
        model.load_state_dict(_under("model.", tensors))
    except (SafetensorError, RuntimeError):
        raise InputError(
            f"The checkpoint {FILE} in '{folder}' is damaged or of another preset. Delete it to start anew."
        ) from None
    for name, parameter in model.named_parameters():
        stored_state = _under(f"optimiser.{name}.", tensors)
        optimiser.state[parameter] = {
            key: value if key == "step" else value.to(parameter.device) for key, value in stored_state.items()
        }
    return TrainingState(
        epoch=int(numbers["epoch"]),
        best_epoch=int(numbers["best_epoch"]),
        best_loss=float(numbers["best_loss"]),
        best=_under("best.", tensors),
        generator=tensors["generator"],
    )


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
