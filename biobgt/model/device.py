"""Where a model runs: the GPU when there is one, the CPU otherwise."""

import re
from typing import TYPE_CHECKING

from biobgt.errors import InputError
from biobgt.wording import counted

if TYPE_CHECKING:  # torch takes seconds to import, and a name is checked without
    import torch

DEVICES = "auto, cpu or cuda"
_NAMES = re.compile(r"auto|cpu|mps|cuda(?::\d+)?")


def known_device(name: str) -> str:
    """Return the name of a device, or say which there are."""
    if not _NAMES.fullmatch(name):
        raise InputError(f"There is no device '{name}'. Choose {DEVICES}.")
    return name


def choose_device(name: str = "auto") -> "torch.device":
    """Return the named device, or the best one there is for ``auto``."""
    import torch

    if known_device(name) == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        found = torch.cuda.device_count()
        said = (
            f"This machine has {counted(found, 'CUDA GPU')}, numbered from 0"
            if found
            else "No CUDA GPU was found on this machine"
        )
        raise InputError(f"{said}. Choose the device 'auto' or 'cpu'.")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise InputError("No Apple GPU was found on this machine. Choose the device 'auto' or 'cpu'.")
    return device
