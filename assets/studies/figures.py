"""Draw the figures of docs/plausibility.md from the study tables beside this script.

python assets/studies/figures.py
"""

from pathlib import Path

import pandas as pd
import typer
from matplotlib.axes import Axes
from matplotlib.figure import Figure

HERE = Path(__file__).parent
IMAGES = HERE.parents[1] / "docs" / "img"
# Colour-blind-safe (Okabe & Ito), one a threshold.
COLOURS = {0.0: "#999999", 0.2: "#56B4E9", 0.3: "#D55E00", 0.4: "#009E73"}
ROWS = (("control", False), ("remove", False), ("remove", True))
TITLES = {
    ("control", False): "control graph, |ΔS|: the paper's NE",
    ("remove", False): "region removed, |ΔS|",
    ("remove", True): "region removed, ΔS with its sign",
}
COHORTS = {
    "ABIDE": ("ABIDE (global signal regressed out)", "#0072B2"),
    "CNI-2019": ("CNI-2019 as released (global signal kept)", "#D55E00"),
    "CNI-2019, global signal regressed": ("CNI-2019, the same people, global signal regressed out", "#009E73"),
}
PANELS = (
    ("NEff", "spearman", "NE with NEff"),
    ("NEff", "partial", "NE with NEff,\ngiven strength and degree"),
    ("FC strength, all connections", "spearman", "NE with FC strength\n(mean over all connections)"),
)


def main() -> None:
    """Write one picture per figure."""
    _draw_beyond_strength().savefig(IMAGES / "plausibility.png", dpi=150)
    _draw_scales().savefig(IMAGES / "plausibility_gamma.png", dpi=150)


def _draw_beyond_strength() -> Figure:
    """Agreement in subjects and in their null graphs, with and without strength and degree, in each cohort."""
    table = pd.read_csv(HERE / "plausibility_beyond_strength.csv")
    table = table[(table["measure"] == "NE") & (table["gamma"] == 0.5)]
    graphs = list(dict.fromkeys(table["graphs"]))
    figure = Figure(figsize=(8.6, 4.4), layout="constrained")
    axes = figure.subplots(1, len(PANELS), sharey=True)
    for (reference, kind, title), axis in zip(PANELS, axes, strict=True):
        for place, (cohort, (_, colour)) in enumerate(COHORTS.items()):
            rows = table[(table["cohort"] == cohort) & (table["reference"] == reference)].set_index("graphs")
            rows = rows.reindex(graphs)
            x = [i + 0.22 * (place - 1) for i in range(len(graphs))]
            _points(axis, x, rows, kind, colour, filled=True)
            if rows[f"{kind}_null"].notna().all():
                _points(axis, [at + 0.08 for at in x], rows, f"{kind}_null", colour, filled=False)
        axis.set_title(title, fontsize=9)
        names = [name.replace("at least", "≥").replace("strongest ", "strongest\n") for name in graphs]
        axis.set_xticks(range(len(graphs)), names, fontsize=8)
        axis.axhline(0, color="black", linewidth=0.6)
    axes[0].set_ylabel("Spearman ρ over regions,\nmean over people and 95 % interval")
    axes[1].set_xlabel("connections that are kept (positive Pearson correlations)", fontsize=9)
    for title, colour in COHORTS.values():
        axes[0].plot([], [], "o", color=colour, label=title)
    axes[0].plot([], [], "o", color="black", markerfacecolor="white", label="null graphs of the same people")
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return figure


def _points(axis: Axes, x: list[float], rows: pd.DataFrame, kind: str, colour: str, *, filled: bool) -> None:
    below, above = rows[kind] - rows[f"{kind}_low"], rows[f"{kind}_high"] - rows[kind]
    axis.errorbar(
        x,
        rows[kind],
        yerr=[below, above],
        fmt="o",
        markersize=5,
        color=colour,
        markerfacecolor=colour if filled else "white",
        linewidth=1,
    )


def _draw_scales() -> Figure:
    """Agreement over diffusion times, by threshold and perturbation."""
    table = pd.read_csv(HERE / "abide_plausibility.csv")
    own = table[(table["group"] == "all") & (table["measure"] == "spearman")]
    figure = Figure(figsize=(7.5, 7.2), layout="constrained")
    axes = figure.subplots(len(ROWS), 2, sharex=True, sharey=True)
    for (perturbation, signed), row in zip(ROWS, axes, strict=True):
        way = own[(own["perturbation"] == perturbation) & (own["signed"] == signed)]
        for reference, axis in zip(("node efficiency", "FC strength"), row, strict=True):
            _curves(axis, way[way["reference"] == reference])
            axis.set_title(f"against {reference}\n{TITLES[perturbation, signed]}", fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("diffusion time γ, in units of 1/mean(λ)")
    axes[1, 0].set_ylabel("Spearman ρ over regions, mean over subjects ± 1 SD")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


def _curves(axis: Axes, chosen: pd.DataFrame) -> None:
    for level, rows in chosen.groupby("level"):
        colour = COLOURS[float(level)]  # type: ignore[arg-type]
        axis.plot(rows["gamma"], rows["mean"], color=colour, marker="o", markersize=3, label=f"FC ≥ {level:g}")
        axis.fill_between(rows["gamma"], rows["mean"] - rows["sd"], rows["mean"] + rows["sd"], color=colour, alpha=0.15)
    axis.axhline(0, color="black", linewidth=0.6)
    axis.axvline(0.5, color="black", linewidth=0.6, linestyle=":")
    axis.set_xscale("log")
    axis.set_ylim(-1, 1)
    axis.tick_params(labelsize=8)


if __name__ == "__main__":
    typer.run(main)
