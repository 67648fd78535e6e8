"""Where a model runs: the GPU when there is one, the CPU otherwise."""

import torch

from biobgt.errors import InputError


def choose_device(name: str = "auto") -> torch.device:
    """Return the named device, or the best one there is for ``auto``."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError(f"There is no device '{name}'. Choose auto, cpu or cuda.") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError("No CUDA GPU was found on this machine. Choose the device 'auto' or 'cpu'.")
    return device
