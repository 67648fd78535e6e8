"""What networks found on the paper's citation networks, as a table beside its numbers.

``benchmark_tables.py`` writes it into docs/benchmark.md and, for the app's Models page, ``citation_networks.json``.
"""

from collections.abc import Mapping

import pandas as pd

from biobgt.base.wording import listed, percent
from biobgt.model.systems import SYSTEMS

SEEDS, SEEDS_TO_CHOOSE = 10, 2  # of the settings chosen, and of all
CITATION_METRICS = ("f1", "accuracy", "auc")
NETWORKS = {"citeseer": "Citeseer", "cora": "Cora"}
TITLES = {
    "words": "linear model of a paper's words",
    "sgc": "linear model of words averaged over citations (SGC)",
    **{key: SYSTEMS[key].title for key in ("gat", "sat-pe")},
    "biobgt": "BioBGT",
}
# F1, accuracy and AUC in percent, as in the paper's last table.
CITATION_PAPER: Mapping[tuple[str, str], tuple[float, float, float]] = {
    ("citeseer", "gat"): (45.45, 70.01, 81.06),
    ("citeseer", "sat-pe"): (64.04, 68.80, 87.69),
    ("citeseer", "biobgt"): (64.80, 69.02, 88.04),
    ("cora", "gat"): (81.02, 81.74, 97.38),
    ("cora", "sat-pe"): (81.62, 82.84, 94.63),
    ("cora", "biobgt"): (82.03, 83.14, 94.58),
}


def chosen_settings(results: pd.DataFrame) -> pd.DataFrame:
    """Lines of the settings that did best on validation, by the mean over the seeds that all settings have.

    Parameters
    ----------
    results : DataFrame
        ``data``, ``system``, ``settings``, ``seed``, ``validation_accuracy`` and test results, a line per run.
    """
    parts = []
    for _, lines in results.groupby(["data", "system"], sort=False):
        by_seed = lines.pivot_table(index="seed", columns="settings", values="validation_accuracy", sort=False)
        best = by_seed.dropna().mean().idxmax()
        parts.append(lines[lines["settings"] == best])
    return pd.concat(parts, ignore_index=True)


def shown_citations(results: pd.DataFrame) -> pd.DataFrame:
    """One row of texts per network and system: mean ± SD over seeds in percent, beside the paper's.

    Parameters
    ----------
    results : DataFrame
        Lines of all runs, of which those of :func:`chosen_settings` are shown.
    """
    chosen = chosen_settings(results).groupby(["data", "system"])
    runs = {
        (data, system): chosen.get_group((data, system))
        for data in NETWORKS
        for system in TITLES
        if (data, system) in chosen.groups
    }
    return pd.DataFrame([_citation_texts(data, system, lines) for (data, system), lines in runs.items()])


def _citation_texts(data: str, system: str, lines: pd.DataFrame) -> dict[str, str]:
    paper = CITATION_PAPER.get((data, system))
    return {
        "network": NETWORKS[data],
        "system": TITLES[system],
        "settings": str(lines["settings"].iloc[0]),
        "seeds": str(len(lines)),
        **{
            title: _citation_spread(lines[name])
            for title, name in zip(("F1", "accuracy", "AUC"), CITATION_METRICS, strict=True)
        },
        "parameters": f"{lines['parameters'].iloc[0]:,}",
        "paper: F1 / acc. / AUC": "–" if paper is None else " / ".join(f"{value:.1f}" for value in paper),
    }


def _citation_spread(values: "pd.Series[float]") -> str:
    spread = f" ± {100 * values.std():.1f}" if len(values) > 1 else ""
    return f"{100 * values.mean():.1f}{spread}"


def citation_words(results: pd.DataFrame) -> str:
    """What was classified, how settings were chosen, and which system did best.

    Parameters
    ----------
    results : DataFrame
        Lines of all runs.
    """
    means = chosen_settings(results).groupby(["data", "system"])["accuracy"].mean()
    best = [
        f"{percent(means[data].max(), 1)} on {title} ({TITLES[str(means[data].idxmax())]}; BioBGT has "
        f"{percent(means[data, 'biobgt'], 1)})"
        for data, title in NETWORKS.items()
    ]
    return (
        "Papers of two citation networks, classified by topic on Planetoid's public split: 20 training papers per "
        "class, 500 for validation, 1,000 for testing. In percent; F1 and AUC are means over classes, ± is the SD over "
        f"seeds. Settings were chosen by validation accuracy on {SEEDS_TO_CHOOSE} seeds. The highest mean accuracy is "
        f"{listed(best)}. The paper does not say how its model was built for these networks. "
        "docs/benchmark.md says how it was done here."
    )
