"""More than one GPU with ``torchrun``: every process takes its share of each batch, gradients are averaged.

Without ``torchrun`` all of it does nothing. The views' chance is drawn per process, so that two GPUs give close to, and
not exactly, what one gives.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import distributed, nn

from biobgt.errors import InputError


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


def own_share(n: int) -> slice:
    """The rows of a batch that this process takes; at least one, so that nobody waits for nothing."""
    if not _together():
        return slice(None)
    size, rank = distributed.get_world_size(), distributed.get_rank()
    first = min(rank * n // size, n - 1)
    return slice(first, max(first + 1, (rank + 1) * n // size))


def average_gradients(model: nn.Module) -> None:
    """Average the gradients over processes."""
    if not _together():
        return
    for parameter in model.parameters():
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        distributed.all_reduce(parameter.grad)
        parameter.grad /= distributed.get_world_size()


def same_on_all(model: nn.Module) -> None:
    """Give every process the first one's weights."""
    if not _together():
        return
    for value in model.state_dict().values():
        distributed.broadcast(value, src=0)


def first_ones(value: float) -> float:
    """The first process's number, for all of them."""
    if not _together():
        return value
    shared = torch.tensor(value, dtype=torch.float64)
    distributed.broadcast(shared, src=0)
    return float(shared)


def same_chance(generator: torch.Generator) -> None:
    """Give every process the first one's random state: shares of unequal size have drawn unequally."""
    if not _together():
        return
    state = generator.get_state()
    distributed.broadcast(state, src=0)
    generator.set_state(state)


def _n_started() -> int:
    """How many processes ``torchrun`` started."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def _together() -> bool:
    return distributed.is_available() and distributed.is_initialized()
