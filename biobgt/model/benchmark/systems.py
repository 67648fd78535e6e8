"""What ``biobgt benchmark`` sets side by side; a new system is one object here."""

from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from biobgt.base.options import Registry, imported_later
from biobgt.base.references import Citation
from biobgt.model.benchmark.linear import BASELINES, Baseline, LinearSVM, RandomForest
from biobgt.model.presets import Preset, TrainingSettings, preset_named

if TYPE_CHECKING:
    from biobgt.model.benchmark.networks import GraphNetwork

# What a system of the benchmark is: one object that knows its name, its works, how it is built and how it is trained.
#
# Without torch, so that pages can name systems whose networks they never build.


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


# The register of what ``biobgt benchmark`` sets side by side; a new system is one object here.
#
# Each has its name, the works it cites, what the paper reports of it on its ABIDE cohort, and how it is built. Without
# torch: networks are imported when they are built, each from its own file beside this one.


EPOCHS_WITHOUT_GAIN = 10  # after which the published BioBGT stops; docs/model.md compares this with its 200 epochs
_PUBLISHED = preset_named("paper-abide", patience=EPOCHS_WITHOUT_GAIN)
_NOTHING, RANDOM_WALK = Encoding(), Encoding("random-walk", 20)


def _published(
    key: str,
    what: str,
    importance: Importance = "ne",
    preset: Preset = _PUBLISHED,
    paper: Published = NOT_IN_PAPER,
) -> BioBGTSystem:
    """The paper's model, or that with a part exchanged (sections 4.3 and 4.4 of the paper)."""
    title = f"BioBGT as published, {what}"
    return BioBGTSystem(key, title, "BioBGT", ("peng2025",), preset=preset, importance=importance, paper=paper)


def _network(
    key: str,
    title: str,
    family: Family,
    cited: Citation,
    paper: Published,
    name: str,
    encoding: Encoding = _NOTHING,
    **about: Any,
) -> NetworkSystem:
    """A network of :mod:`biobgt.model.benchmark.networks`, with what the paper reports of it.

    Positions that it projects have to be counted; eigenpairs are read one by one.
    """
    counted = {"positions": encoding.size} if encoding.positions in ("laplacian", "random-walk") else {}
    return NetworkSystem(
        key,
        title,
        family,
        (cited,),
        paper=paper,
        build=imported_later("biobgt.model.benchmark.networks", name, **counted),
        encoding=encoding,
        **about,
    )


_CLASSICAL = (
    ClassicalSystem.of(
        Baseline(
            "svm",
            "linear SVM on Fisher-z correlations",
            lambda shrinkage: LinearSVM(),
            "classical",
            citations=("cortes1995",),
        ),
        Published(0.4901, 0.4905, 0.5202, 0.5441, 0.4369),
    ),
    ClassicalSystem.of(
        Baseline(
            "random-forest",
            "random forest on Fisher-z correlations",
            lambda shrinkage: RandomForest(),
            "classical",
            citations=("breiman2001",),
        ),
        Published(0.5114, 0.5141, 0.5146, 0.5123, 0.5158, parameters=21_000),
    ),
)
_BIOBGT = (
    BioBGTSystem("best", "BioBGT, preset best", "BioBGT", ("peng2025",), preset=preset_named("best")),
    _published(
        "paper-abide",
        "preset paper-abide, stopped early",
        paper=Published(0.7400, 0.7333, 0.6841, 0.7000, 0.7667, parameters=465_000, epoch_seconds=650),
    ),
    _published(  # stands for paper-adni, too, which has the same settings
        "paper-adhd",
        "preset paper-adhd",
        preset=preset_named("paper-adhd", patience=EPOCHS_WITHOUT_GAIN),
    ),
    _published("paper-without-ne", "−NE", "none"),
    _published("paper-without-fm-attn", "−FM-Attn", preset=replace(_PUBLISHED, encoder_layers=0, contrast_weight=0.0)),
    _published("paper-pe", "+PE for NE", "pe", paper=Published(0.6060, 0.6091, 0.5400, 0.4549, 0.7633)),
    _published("paper-dc", "+DC for NE", "degree", paper=Published(0.6120, 0.6128, 0.5973, 0.5726, 0.6531)),
    _published("paper-pe-dc", "+PE+DC for NE", "pe+degree", paper=Published(0.6300, 0.6332, 0.5664, 0.4745, 0.7918)),
    _published("paper-bc", "+BC for NE", "betweenness", paper=Published(0.7000, 0.6562, 0.5277, 0.4375, 0.8750)),
    _published("paper-cc", "+CC for NE", "closeness", paper=Published(0.7375, 0.7084, 0.6243, 0.5625, 0.8541)),
    _published("paper-ec", "+EC for NE", "eigenvector", paper=Published(0.7125, 0.6667, 0.5313, 0.4375, 0.8958)),
)
_TRANSFORMERS = (
    _network(
        "graph-transformer",
        "Graph Transformer",
        "graph transformers",
        "dwivedi2020",
        Published(0.5020, 0.4820, 0.5798, 0.6738, 0.3232),
        "GraphTransformer",
        encoding=Encoding("laplacian", 10),
    ),
    _network(
        "sat",
        "SAT without positional encoding",
        "graph transformers",
        "chen2022",
        Published(0.6060, 0.5914, 0.6721, 0.6476, 0.5352),
        "StructureAwareTransformer",
    ),
    _network(
        "sat-pe",
        "SAT with positional encoding",
        "graph transformers",
        "chen2022",
        Published(0.5876, 0.6929, 0.6833, 0.6929, 0.4324),
        "StructureAwareTransformer",
        encoding=RANDOM_WALK,
    ),
    _network(
        "san",
        "SAN",
        "graph transformers",
        "kreuzer2021",
        Published(0.4980, 0.5020, 0.4752, 0.4495, 0.5485),
        "SpectralAttentionNetwork",
        encoding=Encoding("spectrum", 10),
    ),
    _network(
        "graphormer",
        "Graphormer",
        "graph transformers",
        "ying2021",
        Published(0.5840, 0.5761, 0.6417, 0.7064, 0.4649),
        "Graphormer",
        encoding=Encoding(paths=True),
    ),
    _network(
        "gradformer",
        "Gradformer",
        "graph transformers",
        "liu2024gradformer",
        Published(0.6156, 0.6175, 0.6212, 0.5916, 0.6435, parameters=455_000),
        "Gradformer",
        encoding=replace(RANDOM_WALK, paths=True),
    ),
    _network(
        "polynormer",
        "Polynormer",
        "graph transformers",
        "deng2024",
        Published(0.5703, 0.5642, 0.4420, 0.3816, 0.7468, parameters=9_780_000),
        "Polynormer",
    ),
    _network(
        "brain-network-transformer",
        "Brain Network Transformer",
        "graph transformers",
        "kan2022",
        Published(0.6824, 0.7838, 0.6820, 0.6939, 0.6695),
        "BrainNetworkTransformer",
    ),
)
_NETWORKS = (
    _network(
        "gat",
        "GAT",
        "graph networks",
        "velickovic2018",
        Published(0.5351, 0.5341, 0.5612, 0.5773, 0.4813),
        "GraphAttentionNetwork",
    ),
    _network(
        "braingnn",
        "BrainGNN",
        "graph networks",
        "li2021",
        Published(0.5134, 0.5427, 0.5009, 0.5485, 0.4796),
        "BrainGNN",
        training=replace(NETWORK_TRAINING, learning_rate=1e-3, weight_decay=5e-3),
    ),
    _network(
        "braingb-gcn",
        "BrainGB: GCN with connection profiles",
        "graph networks",
        "cui2023",
        Published(0.6512, 0.7032, 0.6695, 0.6701, 0.6007),
        "ConnectionProfileNetwork",
    ),
)
# Systems of the paper's tables that could not be built from what is published about them here.
_UNBUILT = (
    System(
        "gtsp",
        "GTSP",
        "graph transformers",
        ("liu2024sparsity",),
        paper=Published(0.6137, 0.6043, 0.6536, 0.6986, 0.5099, parameters=427_000),
        reason="GTSP prunes tokens, heads, layers or weights of three graph transformers, one at a time; the BioBGT "
        "paper names neither the transformer nor what was pruned, nor how much.",
    ),
    System(
        "mcst-gcn",
        "MCST-GCN",
        "graph networks",
        paper=Published(0.5422, 0.5518, 0.5263, 0.4880, 0.4585),
        reason="The BioBGT paper names MCST-GCN without its windows of time, channels, layers and training, and the "
        "text of its own paper was not at hand.",
    ),
    System(
        "groupbna",
        "GroupBNA",
        "graph networks",
        paper=Published(0.6314, 0.7130, 0.6164, 0.6472, 0.6528),
        reason="The BioBGT paper says of GroupBNA only that it augments brain networks by group; how edges are chosen "
        "and which network classifies is not said, and the text of its own paper was not at hand.",
    ),
)
SYSTEMS: Registry[System] = Registry(
    "model of the benchmark", *_CLASSICAL, *_BIOBGT, *_TRANSFORMERS, *_NETWORKS, *_UNBUILT
)


def benchmark_systems() -> Registry[System]:
    """Every row of the benchmark, the simple models that stand beside every BioBGT first."""
    return Registry(SYSTEMS.kind, *map(ClassicalSystem.of, BASELINES.values()), *SYSTEMS.values())
