"""What ``biobgt benchmark`` sets side by side; a new system is one object here.

A system knows its name, its works, how it is built and how it is trained; what the paper reports of it on its ABIDE
cohort is in ``assets/paper_results.csv``. Without torch, so that pages can name systems whose networks they never
build: networks are imported when they are built.
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

from biobgt.base.files import asset
from biobgt.base.options import Registry, imported_later
from biobgt.model.benchmark.linear import BASELINES, Baseline, BaselineModel, LinearSVM, RandomForest
from biobgt.model.presets import Preset, TrainingSettings, preset_named

if TYPE_CHECKING:
    from biobgt.model.benchmark.networks import GraphNetwork

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
    parameters : float, optional
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
    parameters: float | None = None
    epoch_seconds: float | None = None


@dataclass(frozen=True)
class System:
    """A row of the benchmark.

    Attributes
    ----------
    key : str
        On the command line and in tables of results.
    title : str
    family : {"classical", "BioBGT", "graph transformers", "graph networks"}
    citations : tuple of str
    paper : Published
        What the paper reports of it.
    reason : str
        Why the row stays empty; nothing where it can be run.
    """

    key: str
    title: str
    family: Family
    citations: tuple[str, ...] = ()
    _: KW_ONLY
    paper: Published = Published()
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
    def of(cls, baseline: Baseline) -> Self:
        """The row of a simple model."""
        return cls(baseline.system or baseline.key, baseline.title, "classical", baseline.citations, baseline=baseline)


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


# The register.


_PUBLISHED = preset_named("paper-abide", patience=10)  # docs/model.md compares this with all its 200 epochs
_NOTHING, _EIGENVECTORS, RANDOM_WALK = Encoding(), Encoding("laplacian", 10), Encoding("random-walk", 20)


def _published(key: str, what: str, importance: Importance = "ne", preset: Preset = _PUBLISHED) -> BioBGTSystem:
    """The paper's model, or that with a part exchanged (sections 4.3 and 4.4 of the paper)."""
    title = f"BioBGT as published, {what}"
    return BioBGTSystem(key, title, "BioBGT", ("peng2025",), preset=preset, importance=importance)


def _network(
    key: str, title: str, family: Family, cited: str, encoding: Encoding = _NOTHING, **about: Any
) -> NetworkSystem:
    """A network of :mod:`biobgt.model.benchmark.networks`.

    Positions that it projects have to be counted; eigenpairs are read one by one.
    """
    counted = {"positions": encoding.size} if encoding.positions in ("laplacian", "random-walk") else {}
    build = imported_later("biobgt.model.benchmark.networks", "build_network", key=key, **counted)
    return NetworkSystem(key, title, family, (cited,), build=build, encoding=encoding, **about)


def _classical(key: str, what: str, model: Callable[[], BaselineModel], cited: str) -> ClassicalSystem:
    title = f"{what} on Fisher-z correlations"
    return ClassicalSystem.of(Baseline(key, title, lambda shrinkage: model(), "classical", citations=(cited,)))


def _with_paper(rows: tuple[System, ...]) -> Iterator[System]:
    """Rows with what the paper reports of them."""
    with asset("paper_results.csv").open(encoding="utf-8", newline="") as stream:
        reported = {line.pop("key"): line for line in csv.DictReader(stream)}
    for row in rows:
        numbers: dict[str, Any] = {name: float(text) for name, text in reported.get(row.key, {}).items() if text}
        yield replace(row, paper=Published(**numbers))


_TRANSFORMER: Family = "graph transformers"
_GRAPH_NETWORK: Family = "graph networks"
_ROWS: tuple[System, ...] = (
    _classical("svm", "linear SVM", LinearSVM, "cortes1995"),
    _classical("random-forest", "random forest", RandomForest, "breiman2001"),
    BioBGTSystem("best", "BioBGT, preset best", "BioBGT", ("peng2025",), preset=preset_named("best")),
    _published("paper-abide", "preset paper-abide, stopped early"),
    # Stands for paper-adni, too, which has the same settings.
    _published("paper-adhd", "preset paper-adhd", preset=preset_named("paper-adhd", patience=_PUBLISHED.patience)),
    _published("paper-without-ne", "−NE", "none"),
    _published("paper-without-fm-attn", "−FM-Attn", preset=replace(_PUBLISHED, encoder_layers=0, contrast_weight=0.0)),
    _published("paper-pe", "+PE for NE", "pe"),
    _published("paper-dc", "+DC for NE", "degree"),
    _published("paper-pe-dc", "+PE+DC for NE", "pe+degree"),
    _published("paper-bc", "+BC for NE", "betweenness"),
    _published("paper-cc", "+CC for NE", "closeness"),
    _published("paper-ec", "+EC for NE", "eigenvector"),
    _network("graph-transformer", "Graph Transformer", _TRANSFORMER, "dwivedi2020", _EIGENVECTORS),
    _network("sat", "SAT without positional encoding", _TRANSFORMER, "chen2022"),
    _network("sat-pe", "SAT with positional encoding", _TRANSFORMER, "chen2022", RANDOM_WALK),
    _network("san", "SAN", _TRANSFORMER, "kreuzer2021", Encoding("spectrum", 10)),
    _network("graphormer", "Graphormer", _TRANSFORMER, "ying2021", Encoding(paths=True)),
    _network("gradformer", "Gradformer", _TRANSFORMER, "liu2024gradformer", replace(RANDOM_WALK, paths=True)),
    _network("polynormer", "Polynormer", _TRANSFORMER, "deng2024"),
    _network("brain-network-transformer", "Brain Network Transformer", _TRANSFORMER, "kan2022"),
    _network("gat", "GAT", _GRAPH_NETWORK, "velickovic2018"),
    _network(
        "braingnn",
        "BrainGNN",
        _GRAPH_NETWORK,
        "li2021",
        training=replace(NETWORK_TRAINING, learning_rate=1e-3, weight_decay=5e-3),
    ),
    _network("braingb-gcn", "BrainGB: GCN with connection profiles", _GRAPH_NETWORK, "cui2023"),
    # Systems of the paper's tables that could not be built from what is published about them here.
    System(
        "gtsp",
        "GTSP",
        _TRANSFORMER,
        ("liu2024sparsity",),
        reason="GTSP prunes tokens, heads, layers or weights of three graph transformers, one at a time; the BioBGT "
        "paper names neither the transformer nor what was pruned, nor how much.",
    ),
    System(
        "mcst-gcn",
        "MCST-GCN",
        _GRAPH_NETWORK,
        reason="The BioBGT paper names MCST-GCN without its windows of time, channels, layers and training, and the "
        "text of its own paper was not at hand.",
    ),
    System(
        "groupbna",
        "GroupBNA",
        _GRAPH_NETWORK,
        reason="The BioBGT paper says of GroupBNA only that it augments brain networks by group; how edges are chosen "
        "and which network classifies is not said, and the text of its own paper was not at hand.",
    ),
)
SYSTEMS: Registry[System] = Registry("model of the benchmark", *_with_paper(_ROWS))


def benchmark_systems() -> Registry[System]:
    """Every row of the benchmark, the simple models that stand beside every BioBGT first."""
    return Registry(SYSTEMS.kind, *map(ClassicalSystem.of, BASELINES.values()), *SYSTEMS.values())
