"""What a row of the benchmark is: one object that knows its name, its works, how it is built and how it is trained."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from torch import Tensor, nn

from biobgt.model.baselines.graph_encodings import EncodedBatch, Encoding
from biobgt.model.baselines.linear_models import Baseline
from biobgt.model.baselines.rows import Family, Row
from biobgt.model.presets import Preset
from biobgt.model.training_settings import TrainingSettings
from biobgt.references import Citation

# Short, and stopped early: a network of the benchmark is trained for minutes.
NETWORK_TRAINING = TrainingSettings(
    learning_rate=1e-4, batch_size=16, epochs=30, warmup_epochs=2, patience=6, contrast_weight=1.0
)
Importance = Literal["ne", "none", "pe", "degree", "pe+degree", "betweenness", "closeness", "eigenvector"]


class GraphNetwork(nn.Module, ABC):
    """A network over brain graphs, from a dense batch to a logit per group."""

    @abstractmethod
    def forward(self, batch: EncodedBatch) -> Tensor:
        """Return logits, shape (B, n_groups)."""

    def losses(self, batch: EncodedBatch, groups: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits and what is added to the cross-entropy in training, shape ().

        Parameters
        ----------
        batch : EncodedBatch
        groups : Tensor of int, shape (B,)
        """
        logits = self(batch)
        return logits, logits.new_zeros(())


@dataclass(frozen=True)
class System:
    """A row of the benchmark, and how it is built.

    Attributes
    ----------
    row : Row
    """

    row: Row

    @property
    def key(self) -> str:
        """On the command line and in tables of results."""
        return self.row.key

    @property
    def title(self) -> str:
        """What it is called."""
        return self.row.title

    @property
    def family(self) -> Family:
        """What kind of model it is."""
        return self.row.family

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The works that describe it."""
        return self.row.citations

    @property
    def reason(self) -> str:
        """Why the row stays empty; nothing where it can be run."""
        return self.row.why

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides on a run beside subjects, split and seed, as JSON can hold it."""
        return {"system": self.key}


@dataclass(frozen=True, kw_only=True)
class ClassicalSystem(System):
    """A model of connectivity by scikit-learn.

    Attributes
    ----------
    baseline : Baseline
    """

    baseline: Baseline


@dataclass(frozen=True, kw_only=True)
class NetworkSystem(System):
    """A network.

    Attributes
    ----------
    build : callable
        From the number of regions and of groups to a network that is not trained yet.
    training : TrainingSettings
    encoding : Encoding
        What it is given of a graph beside features and weights.
    """

    build: Callable[[int, int], GraphNetwork]
    training: TrainingSettings = NETWORK_TRAINING
    encoding: Encoding = field(default_factory=Encoding)

    @property
    def settings(self) -> dict[str, Any]:
        """The way it is trained and what it is given."""
        return {"system": self.key, "training": asdict(self.training), "encoding": asdict(self.encoding)}


@dataclass(frozen=True, kw_only=True)
class BioBGTSystem(System):
    """BioBGT, whole or with a part exchanged.

    Attributes
    ----------
    preset : Preset
    importance : str
        What the node importance encoding is given: NE, one value for all regions, a centrality, the Laplacian's
        eigenvectors, or these with degree.
    """

    preset: Preset
    importance: Importance = "ne"

    @property
    def settings(self) -> dict[str, Any]:
        """Preset and importance."""
        return {"system": self.key, "preset": self.preset.as_dict(), "importance": self.importance}


class UnbuiltSystem(System):
    """A system whose description does not suffice to build it; its row says why."""


def n_parameters(network: nn.Module) -> int:
    """How many numbers a network learns."""
    return sum(parameter.numel() for parameter in network.parameters() if parameter.requires_grad)
