"""What a system of the benchmark is: one object that knows its name, its works, how it is built and how it is trained.

Without torch, so that pages can name systems whose networks they never build.
"""

from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from biobgt.model.baselines.linear_models import Baseline
from biobgt.model.presets import Preset
from biobgt.model.training_settings import TrainingSettings
from biobgt.references import Citation

if TYPE_CHECKING:
    from biobgt.model.baselines.graph_network import GraphNetwork

Family = Literal["classical", "BioBGT", "graph transformers", "graph networks"]
Importance = Literal["ne", "none", "pe", "degree", "pe+degree", "betweenness", "closeness", "eigenvector"]
Positions = Literal["", "laplacian", "spectrum", "random-walk"]
# Short, and stopped early: a network of the benchmark is trained for minutes.
NETWORK_TRAINING = TrainingSettings(
    learning_rate=1e-4, batch_size=16, epochs=30, warmup_epochs=2, patience=6, contrast_weight=1.0
)


@dataclass(frozen=True)
class Encoding:
    """What a network is given of a graph beside features and weights.

    Attributes
    ----------
    positions : {"", "laplacian", "spectrum", "random-walk"}
        Eigenvectors of the normalised Laplacian, these with their eigenvalues, or return probabilities of a random
        walk after 1, 2, … steps.
    size : int
        Of how many eigenvectors, or steps.
    paths : bool
        Whether hop distances and mean weights along shortest paths are needed.
    """

    positions: Positions = ""
    size: int = 0
    paths: bool = False


@dataclass(frozen=True)
class Published:
    """What the paper reports of a system on its 1,009 subjects of ABIDE; None where it has no such number.

    Attributes
    ----------
    accuracy, auc, f1, sensitivity, specificity : float, optional
        Between 0 and 1, in the digits of its tables.
    parameters : int, optional
        As its table rounds it.
    epoch_seconds : float, optional
        Of training, on a GPU.
    """

    accuracy: float | None = None
    auc: float | None = None
    f1: float | None = None
    sensitivity: float | None = None
    specificity: float | None = None
    _: KW_ONLY
    parameters: int | None = None
    epoch_seconds: float | None = None


NOT_IN_PAPER = Published()


@dataclass(frozen=True)
class System:
    """A row of the benchmark.

    Attributes
    ----------
    key : str
        On the command line and in tables of results.
    title : str
    family : {"classical", "BioBGT", "graph transformers", "graph networks"}
    citations : tuple of Citation
    paper : Published
        What the paper reports of it.
    reason : str
        Why the row stays empty; nothing where it can be run.
    """

    key: str
    title: str
    family: Family
    citations: tuple[Citation, ...] = ()
    _: KW_ONLY
    paper: Published = NOT_IN_PAPER
    reason: str = ""

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

    @classmethod
    def of(cls, baseline: Baseline, paper: Published = NOT_IN_PAPER) -> Self:
        """The row of a simple model, with the paper's numbers where it has them."""
        key = baseline.system or baseline.key
        return cls(key, baseline.title, "classical", baseline.citations, baseline=baseline, paper=paper)


@dataclass(frozen=True, kw_only=True)
class NetworkSystem(System):
    """A network.

    Attributes
    ----------
    build : callable
        From the number of regions and of groups to a network that is not trained yet.
    training : TrainingSettings
    encoding : Encoding
    """

    build: Callable[[int, int], "GraphNetwork"]
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
