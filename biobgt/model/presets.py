"""Every choice that makes a BioBGT, as data: architecture, training, and where it runs."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, get_args

from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.data.graph import ConnectomeSettings, check_choice

if TYPE_CHECKING:
    import torch

# How any network here is trained, BioBGT or another of the benchmark, and what commands name of it without torch.


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


# Every choice that makes a BioBGT, as data: architecture and training in one frozen record, saved with the weights.
#
# ``paper-abide``, ``paper-adni`` and ``paper-adhd`` hold the hyperparameters of the paper's table (appendix D.1).
# ``best`` is the same model made to work on real subjects; docs/model.md says what each departure gave.


Values = Literal["embeddings", "log"]
Readout = Literal["mean", "regions"]
MOST_NOISE_DIRECTIONS = 4
# Smallest and largest value of each setting that is a whole number, so that no card can ask for a model that no machine
# holds: far beyond any that was trained. Those that are not named are counts of steps, graphs or regions.
_RANGES: Mapping[str, tuple[int, int]] = {
    "layers": (1, 64),
    "heads": (1, 256),
    "width": (1, 16_384),
    "ffn": (1, 65_536),
    "encoder_layers": (0, 64),
    "entanglement_bins": (1, 10_000),
    "batch_size": (1, 1_000_000),
}
_COUNT = (0, 1_000_000)


@dataclass(frozen=True)
class Preset(TrainingSettings):
    """How a BioBGT is built and trained: its own settings beside those of any training.

    Attributes
    ----------
    name : str
    layers, heads, width, ffn : int
        Transformer layers, attention heads, hidden and feed-forward dimensions.
    dropout : float
    attention_dropout : float
        Of attention weights; drawing them takes a third of a training step on a CPU.
    threshold : float
        Positive correlations below it are no edges of the brain graph (NE, Louvain, ψ).
    values : {"embeddings", "log"}
        What attention averages and the residual stream carries: the embeddings h and features x of the paper, or a
        region's row of log-Euclidean connectivity, the matrix logarithm of correlations shrunk towards the identity.
        Queries and keys come from ψ on the correlation profiles in both.
    shrinkage : float
        Share of the identity that correlations are mixed with before the logarithm, for log-Euclidean values.
    bounded : bool
        Scale embeddings h to one length before attention, so that ψ is bounded as Theorem 2 assumes.
    tied : bool
        One W for queries and keys, a symmetric kernel, instead of two.
    start_contrast : float
        W_Q is scaled after pretraining so that training subjects attend this much more within their modules than
        between them; 0 leaves it as it was drawn.
    start_attended : float
        With log-Euclidean values, how much of what a region attends to is added to its own values at the start; below
        0 a region is set against its module.
    region_axes, region_steps : int
        With log-Euclidean values, how much each region counts is learnt at the start, along this many axes of the mean
        connectivity and in so many steps; 0 axes leave all regions alike.
    noise_directions : int
        With log-Euclidean values, how many directions in which white noise moves a subject are removed from everybody,
        so that a noisy scan is not taken for a patient's: 1 is the training subjects' mean, since noise weakens all
        connections, and each further one what that mean becomes under noise of SD 1, 2 and 4; 0 removes none.
    readout : {"mean", "regions"}
        Mean over regions, or a linear layer that keeps the regions apart.
    entanglement_bins : int
        NE is embedded by quantile of the training subjects' values.
    encoder_layers : int
        Graph convolutions of ψ; without any, attention is the usual one, over the encoded features.
    drop_edges : (float, float)
        Share of edges that each of the two views loses.
    contrast_temperature : float
        Of the InfoNCE loss (Eq. 8) of ψ.
    contrast_anchors : int
        Anchor regions drawn a graph; 0 takes all.
    contrast_graphs : int
        Graphs of a batch that the loss is computed on; 0 takes all.
    pretrain_steps : int
        Batches from which ψ learns by its contrastive loss alone, without labels, before anything else. Steps, not
        epochs: a small cohort needs as many of them.
    pretrain_rate : float
        Learning rate of these.
    ridge_start : bool
        Start the readout at the ridge solution on the training subjects, its penalty chosen by leave-one-out.
    """

    name: str
    layers: int = 3
    heads: int = 8
    width: int = 128
    ffn: int = 256
    dropout: float = 0.5
    attention_dropout: float = 0.5
    threshold: float = 0.3
    values: Values = "embeddings"
    shrinkage: float = 0.5
    bounded: bool = False
    tied: bool = False
    start_contrast: float = 0.0
    start_attended: float = -0.5
    region_axes: int = 0
    region_steps: int = 4
    noise_directions: int = 0
    readout: Readout = "mean"
    entanglement_bins: int = 20
    encoder_layers: int = 2
    drop_edges: tuple[float, float] = (0.2, 0.4)
    contrast_temperature: float = 0.5
    contrast_anchors: int = 64
    contrast_graphs: int = 0
    pretrain_steps: int = 0
    pretrain_rate: float = 5e-4
    ridge_start: bool = False

    def __post_init__(self) -> None:
        self._check_numbers()
        check_choice("kind of values", self.values, get_args(Values))
        check_choice("readout", self.readout, get_args(Readout))
        object.__setattr__(self, "drop_edges", tuple(self.drop_edges))
        if not 0 < self.shrinkage < 1:
            raise InputError(f"The shrinkage is {self.shrinkage:g}; it must be above 0 and below 1.")
        if self.ridge_start and self.readout != "regions":
            raise InputError("Only the readout that keeps the regions apart can start at the ridge solution.")
        if self.region_axes and (self.values != "log" or self.region_steps < 1):
            raise InputError("Only log-Euclidean values can be weighed by region, in one step or more.")
        if not 0 <= self.noise_directions <= MOST_NOISE_DIRECTIONS:
            raise InputError(
                f"{self.noise_directions} directions of noise cannot be removed; choose 0 to {MOST_NOISE_DIRECTIONS}."
            )
        if self.noise_directions and self.values != "log":
            raise InputError("Directions of noise can only be removed from log-Euclidean values.")
        if self.width % self.heads:
            raise InputError(f"A width of {self.width} cannot be shared by {self.heads} attention heads.")

    def _check_numbers(self) -> None:
        """Refuse what is no number, or too large for any machine, before anything is built of it."""
        for setting in fields(self):
            value = getattr(self, setting.name)
            if setting.type is int:
                low, high = _RANGES.get(setting.name, _COUNT)
                if not _is_number(value, Integral) or not low <= value <= high:
                    raise InputError(
                        f"The preset's setting '{setting.name}' is {_shown(value)}; it must be a whole number from "
                        f"{low} to {high:,}."
                    )
            elif setting.type is float:
                if not _is_number(value, Real) or not math.isfinite(value):
                    raise InputError(f"The preset's setting '{setting.name}' is {_shown(value)}; it must be a number.")
            elif setting.type in (bool, str) and not isinstance(value, setting.type):
                kind = "true or false" if setting.type is bool else "text"
                raise InputError(f"The preset's setting '{setting.name}' is {_shown(value)}; it must be {kind}.")
        shares = self.drop_edges
        if (
            not isinstance(shares, list | tuple)
            or len(shares) != 2
            or not all(_is_number(share, Real) and 0 <= share <= 1 for share in shares)
        ):
            raise InputError("The preset's setting 'drop_edges' must be two shares between 0 and 1.")

    @property
    def graph_settings(self) -> ConnectomeSettings:
        """How the brain graphs are made."""
        rule: Literal["absolute", "none"] = "absolute" if self.threshold > 0 else "none"
        return ConnectomeSettings(sign="positive", threshold=rule, level=self.threshold)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for the card."""
        return {**asdict(self), "drop_edges": list(self.drop_edges)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Preset":
        """Read a preset from a card."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(values) - known):
            raise InputError(f"The preset has an unknown setting '{unknown[0]}'; it was made by another version.")
        if missing := sorted(known - set(values)):
            raise InputError(f"The preset lacks the setting '{missing[0]}'; it was made by another version.")
        return cls(**values)


def _is_number(value: Any, kind: type) -> bool:
    """Whether a value is a number of this kind, NumPy's too; true and false are none."""
    return isinstance(value, kind) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """A value as it stands in a card, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("paper-abide"),
        Preset("paper-adni", dropout=0.1, attention_dropout=0.1, threshold=0.0),
        Preset("paper-adhd", dropout=0.1, attention_dropout=0.1, threshold=0.0),
        Preset(
            "best",
            layers=1,
            attention_dropout=0.0,
            values="log",
            shrinkage=0.7,
            bounded=True,
            tied=True,
            start_contrast=3.0,
            region_axes=4,
            noise_directions=1,
            readout="regions",
            contrast_graphs=4,
            learning_rate=2e-5,
            weight_decay=0.01,
            batch_size=16,
            epochs=3,
            warmup_epochs=0,
            patience=3,
            pretrain_steps=90,
            ridge_start=True,
        ),
    )
}


def preset_named(name: str, **changes: Any) -> Preset:
    """Return a preset by its name, with changes."""
    check_choice("preset", name, tuple(PRESETS))
    return replace(PRESETS[name], **changes)


# Where a model runs: the GPU when there is one, the CPU otherwise.


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
