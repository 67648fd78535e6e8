"""The YAML header of a model's README, as model hubs read it: licence, library, tags, data and results.

Every value comes from the card, so that the header says nothing that ``card.json`` does not say. Names that hold markup
have it escaped: who does not know such headers shows them as text.
"""

from collections.abc import Mapping
from typing import Any

from biobgt.wording import plain_markdown

LICENCE = "research-use"  # the data's terms, which the weights inherit, are no licence that hubs know by name
_TASK = {"type": "graph-ml", "name": "Classification of brain networks"}
# Names by which hubs know the metrics of a card.
_METRICS = {"auc": "roc_auc", "accuracy": "accuracy", "f1": "f1"}


def hub_header(card: Mapping[str, Any]) -> str:
    """Write the header, between its two lines of dashes."""
    import yaml  # cards alone need it

    data = card["data"]
    tags = ["neuroscience", "fmri", "resting-state", "connectome", "brain-network", "graph-transformer"]
    header: dict[str, Any] = {
        "license": "other",
        "license_name": LICENCE,
        "license_link": "README.md",
        "library_name": "biobgt",
        "pipeline_tag": "graph-ml",
        "tags": tags + (["simulated-data"] if card["simulated"] else []),
    }
    metrics = _results(card)
    if metrics:
        dataset = {"type": data["cohort"], "name": plain_markdown(data["title"])}
        results = [{"task": _TASK, "dataset": dataset, "metrics": metrics}]
        header |= {"metrics": [one["type"] for one in metrics]}
        header |= {"model-index": [{"name": plain_markdown(card["name"]), "results": results}]}
    written: str = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{written}---\n"


def _results(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Results of the model itself, out of fold; nothing on the card of a network whose readouts have their own."""
    own = card.get("results", {}).get("BioBGT", {})
    return [
        {"type": name, "value": round(float(own[metric]["value"]), 3), "name": f"{metric}, out of fold"}
        for metric, name in _METRICS.items()
        if own.get(metric, {}).get("value") is not None
    ]
