"""How any network here is trained, BioBGT or another of the benchmark, and what commands name of it without torch."""

from dataclasses import dataclass
from typing import Literal

PresetName = Literal["best", "paper-abide", "paper-adni", "paper-adhd"]
OWN_PRESET: PresetName = "best"
REFERENCE = "ridge-log"  # the simple model that all others are compared with
FOLDS = 10  # of a cohort, each of which trains one member of an ensemble; also how many random splits are usual


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """AdamW, linear warm-up, then a cosine over all epochs; the epoch with the least validation loss is kept.

    Attributes
    ----------
    learning_rate, weight_decay : float
    batch_size, epochs, warmup_epochs : int
    patience : int
        Training ends early when validation has not improved for so many epochs; 0 trains all of them.
    clip : float
        Largest gradient norm; 0 does not clip.
    contrast_weight : float
        Of the loss that is added to the cross-entropy: the InfoNCE loss (Eq. 8) of BioBGT's ψ, or a network's own.
        BioBGT does not compute it with a weight of 0.
    """

    learning_rate: float = 3e-4
    weight_decay: float = 1e-4
    batch_size: int = 128
    epochs: int = 200
    warmup_epochs: int = 10
    patience: int = 0
    clip: float = 5.0
    contrast_weight: float = 0.1
