"""Where every setting of the ``paper-*`` presets comes from: the paper's own words, or a choice of ours.

The page of the model shows it as a table, :func:`sources_table`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biobgt.model.presets import PRESETS

PAPER_PRESETS = ("paper-abide", "paper-adni", "paper-adhd")
_TABLE, _UNUSED = "table of appendix D.1", "not used by these presets"


@dataclass(frozen=True)
class Source:
    """Where one setting comes from.

    Attributes
    ----------
    paper : str
        What the paper says of it; empty where it says nothing.
    ours : str
        What we chose, where the paper leaves it open, and why; empty where it is the paper's.
    """

    paper: str = ""
    ours: str = ""


_STARTS = Source(ours=_UNUSED)
SOURCES: Mapping[str, Source] = {
    "layers": Source(_TABLE),
    "heads": Source(_TABLE),
    "width": Source(_TABLE),
    "ffn": Source(_TABLE),
    "dropout": Source(_TABLE, "in the feed-forward network and before the classifier; the paper does not say where"),
    "attention_dropout": Source("one dropout is given", "the same share on attention weights"),
    "threshold": Source(_TABLE, "positive correlations only; the paper does not say what becomes of negative ones"),
    "values": Source("Eq. 9: f(h), a linear function of the embeddings"),
    "shrinkage": _STARTS,
    "bounded": Source("Theorem 2 assumes ψ bounded", "embeddings are not scaled: the paper gives no way to bound ψ"),
    "tied": Source("Eq. 9: W_Q and W_K"),
    "start_contrast": _STARTS,
    "start_attended": _STARTS,
    "region_axes": _STARTS,
    "region_steps": _STARTS,
    "noise_directions": _STARTS,
    "readout": Source(_TABLE),
    "entanglement_bins": Source("Eq. 7: a learnable vector specified by NE", "one vector per quantile of training NE"),
    "encoder_layers": Source("a graph neural network", "graph convolutions, one ψ shared by all layers"),
    "drop_edges": Source("appendix C: edges between modules first", "the share each view loses, and some chance"),
    "contrast_weight": Source("", "weight of the InfoNCE loss beside the cross-entropy"),
    "contrast_temperature": Source("Eq. 8: Sim(·), not defined", "cosine similarity over this temperature"),
    "contrast_anchors": Source("Eq. 8: the mean over all n regions", "regions drawn per graph, for speed"),
    "contrast_graphs": Source("", "all graphs of a batch"),
    "learning_rate": Source(_TABLE, "AdamW as in the paper; after the warm-up it falls along a cosine"),
    "weight_decay": Source(_TABLE),
    "batch_size": Source(_TABLE),
    "epochs": Source(_TABLE, "tested is the epoch with the least validation loss; the paper does not say which"),
    "warmup_epochs": Source("10 warm-up steps", "taken for epochs; ten steps are less than two epochs of ABIDE"),
    "patience": Source("", "0: all epochs are trained, none is stopped early"),
    "clip": Source("", "largest gradient norm"),
    "pretrain_steps": _STARTS,
    "pretrain_rate": _STARTS,
    "ridge_start": _STARTS,
}
# What no field of a preset says, in the order of the model.
UNWRITTEN: Mapping[str, Source] = {
    "node features x": Source("", "a region's correlations with all regions, its own set to 0, linearly projected"),
    "NE given to the model": Source("Eq. 6", "first-order approximation, control graph, γ = 0.5 / mean(λ)"),
    "Louvain modules": Source("section 3.2.1", "one run at resolution 1 with a fixed seed"),
    "layer normalisation": Source("", "after attention and after the feed-forward network"),
    "residual connections": Source("Eq. 4: around attention", "none around the feed-forward network"),
    "positives of Eq. 8": Source("regions of the anchor's module in both views", "their losses are averaged"),
    "splits": Source("80/10/10 at random, 10 runs", "stratified by site and group; one person, one scan on one side"),
    "calibration": Source("", "a temperature fitted on validation subjects; AUC and accuracy do not depend on it"),
}


def sources_table() -> str:
    """The sources of all settings as a table in Markdown; settings that these presets do not use are left out."""
    rows = ["| setting | value | the paper says | we chose |", "|---|---|---|---|"]
    for name, source in SOURCES.items():
        if source.ours != _UNUSED:
            rows.append(f"| `{name}` | {_values(name)} | {_words(source)} |")
    rows += [f"| {what} | – | {_words(source)} |" for what, source in UNWRITTEN.items()]
    return "\n".join(rows)


def _words(source: Source) -> str:
    return f"{source.paper or 'nothing'} | {source.ours or '–'}"


def _values(name: str) -> str:
    """The value in the three presets: one where they agree."""
    values: list[Any] = [getattr(PRESETS[preset], name) for preset in PAPER_PRESETS]
    written = [
        ", ".join(f"{one:g}" for one in value) if isinstance(value, tuple) else _plain(value) for value in values
    ]
    return written[0] if len(set(written)) == 1 else " / ".join(written)


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_plain, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
