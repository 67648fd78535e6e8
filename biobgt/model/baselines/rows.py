"""The rows of the benchmark: what each is called, what it cites, and what the paper reports of it on its ABIDE cohort.

Without torch, so that pages can name rows whose networks they never build. How a row is built stands in the file of its
system, which :mod:`biobgt.model.baselines.systems` names.
"""

from dataclasses import dataclass
from typing import Literal

from biobgt.model.baselines.cited_works import (
    BREIMAN_2001,
    CHEN_2022,
    CORTES_1995,
    CUI_2023,
    DENG_2024,
    DWIVEDI_2020,
    KAN_2022,
    KREUZER_2021,
    LI_2021,
    LIU_2024_GRADFORMER,
    LIU_2024_SPARSITY,
    VELICKOVIC_2018,
    YING_2021,
)
from biobgt.model.baselines.linear_models import BASELINES
from biobgt.references import Citation
from biobgt.registry import Registry

Family = Literal["classical", "BioBGT", "graph transformers", "graph networks"]


@dataclass(frozen=True)
class Row:
    """A row of the benchmark.

    Attributes
    ----------
    key : str
        On the command line and in tables of results.
    title : str
    family : {"classical", "BioBGT", "graph transformers", "graph networks"}
    citations : tuple of Citation
    accuracy, auc : float, optional
        The paper's, between 0 and 1, on its 1,009 subjects of ABIDE; None where it has no such row.
    parameters : int, optional
        The paper's, as its table rounds it.
    why : str
        Why the row stays empty; nothing where it can be run.
    """

    key: str
    title: str
    family: Family
    citations: tuple[Citation, ...] = ()
    accuracy: float | None = None
    auc: float | None = None
    parameters: int | None = None
    why: str = ""


def _published(key: str, what: str, accuracy: float | None = None, auc: float | None = None) -> Row:
    parameters = 465_000 if key == "paper-abide" else None
    return Row(key, f"BioBGT as published, {what}", "BioBGT", ("peng2025",), accuracy, auc, parameters)


_BIOBGT = (
    Row("best", "BioBGT, preset best", "BioBGT", ("peng2025",)),
    _published("paper-abide", "preset paper-abide, stopped early", 0.740, 0.733),
    _published("paper-adni", "preset paper-adni, stopped early"),
    _published("paper-adhd", "preset paper-adhd, stopped early"),
    _published("paper-without-ne", "−NE"),
    _published("paper-without-fm-attn", "−FM-Attn"),
    _published("paper-pe", "+PE for NE", 0.606, 0.609),
    _published("paper-dc", "+DC for NE", 0.612, 0.613),
    _published("paper-pe-dc", "+PE+DC for NE", 0.630, 0.633),
    _published("paper-bc", "+BC for NE", 0.700, 0.656),
    _published("paper-cc", "+CC for NE", 0.738, 0.708),
    _published("paper-ec", "+EC for NE", 0.713, 0.667),
)
_TRANSFORMERS = (
    Row("graph-transformer", "Graph Transformer", "graph transformers", (DWIVEDI_2020,), 0.502, 0.482),
    Row("sat", "SAT without positional encoding", "graph transformers", (CHEN_2022,), 0.606, 0.591),
    Row("sat-pe", "SAT with positional encoding", "graph transformers", (CHEN_2022,), 0.588, 0.693),
    Row("san", "SAN", "graph transformers", (KREUZER_2021,), 0.498, 0.502),
    Row("graphormer", "Graphormer", "graph transformers", (YING_2021,), 0.584, 0.576),
    Row("gradformer", "Gradformer", "graph transformers", (LIU_2024_GRADFORMER,), 0.616, 0.618, 455_000),
    Row("polynormer", "Polynormer", "graph transformers", (DENG_2024,), 0.570, 0.564, 9_780_000),
    Row("brain-network-transformer", "Brain Network Transformer", "graph transformers", (KAN_2022,), 0.682, 0.784),
)
_NETWORKS = (
    Row("gat", "GAT", "graph networks", (VELICKOVIC_2018,), 0.535, 0.534),
    Row("braingnn", "BrainGNN", "graph networks", (LI_2021,), 0.513, 0.543),
    Row("braingb-gcn", "BrainGB: GCN with connection profiles", "graph networks", (CUI_2023,), 0.651, 0.703),
)
_UNBUILT = (
    Row(
        "gtsp",
        "GTSP",
        "graph transformers",
        (LIU_2024_SPARSITY,),
        0.614,
        0.604,
        427_000,
        why="GTSP prunes tokens, heads, layers or weights of three graph transformers, one at a time; the BioBGT paper "
        "names neither the transformer nor what was pruned, nor how much.",
    ),
    Row(
        "mcst-gcn",
        "MCST-GCN",
        "graph networks",
        accuracy=0.542,
        auc=0.552,
        why="The BioBGT paper names MCST-GCN without its windows of time, channels, layers and training, and the text "
        "of its own paper was not at hand.",
    ),
    Row(
        "groupbna",
        "GroupBNA",
        "graph networks",
        accuracy=0.631,
        auc=0.713,
        why="The BioBGT paper says of GroupBNA only that it augments brain networks by group; how edges are chosen and "
        "which network classifies is not said, and the text of its own paper was not at hand.",
    ),
)
ROWS: Registry[Row] = Registry(
    "row of the benchmark",
    *(Row(f"ridge-{one.key}", one.title, "classical", one.citations) for one in BASELINES.values()),
    Row("svm", "linear SVM on Fisher-z correlations", "classical", (CORTES_1995,), 0.490, 0.491),
    Row("random-forest", "random forest on Fisher-z correlations", "classical", (BREIMAN_2001,), 0.511, 0.514, 21_000),
    *_BIOBGT,
    *_TRANSFORMERS,
    *_NETWORKS,
    *_UNBUILT,
)
