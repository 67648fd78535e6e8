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


def main() -> None:
    """Write one picture a figure."""
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
    figure.savefig(IMAGES / "plausibility.png", dpi=150)


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
