"""Is degree fragile, and NE not? The paper's toy graph (its appendix on NE), built anew, in two versions.

    python assets/studies/degree_fragility.py

The paper draws a graph in which a node a of degree 4 matters more to the spread of information than a node b of degree
6, and says that degree misses this where NE does not. Its picture is not part of the text, so the graph is built from
the words: a bridges two modules, b sits in a corner of one of them. What b's six neighbours are is not said; here they
are strangers to one another (a star) or all connected (a clique). Writes ``degree_fragility.csv`` beside this script
and ``docs/img/degree_fragility.png``. Nothing is random.
"""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import typer
from matplotlib.figure import Figure
from scipy.stats import rankdata

from biobgt.hubs import betweenness, degree, node_efficiency, node_entanglement

HERE = Path(__file__).parent
PICTURE = HERE.parents[1] / "docs" / "img" / "degree_fragility.png"
GAMMAS = (0.1, 0.5, 1.0, 3.0, 10.0)
CORNERS = ("star", "clique")


def toy_graph(corner: str) -> nx.Graph:
    """Two modules of eight nodes, joined by a; b and five of its neighbours hang on one of them.

    >>> graph = toy_graph("star")
    >>> graph.degree("a"), graph.degree("b")
    (4, 6)
    """
    graph = nx.Graph()
    modules = [[f"{side}{i}" for i in range(8)] for side in "lr"]
    for module in modules:
        graph.add_edges_from((module[i], module[(i + step) % 8]) for i in range(8) for step in (1, 2, 3))
    graph.add_edges_from(("a", module[i]) for module in modules for i in (0, 1))
    around = [f"c{i}" for i in range(5)]
    graph.add_edges_from(("b", node) for node in (*around, modules[1][4]))
    if corner == "clique":
        graph.add_edges_from(combinations((*around, modules[1][4]), 2))
    return graph


def measured(corner: str) -> Iterator[dict[str, object]]:
    """Values and ranks (1 is the highest) of a and b by each measure."""
    graph = toy_graph(corner)
    weights = nx.to_numpy_array(graph)
    values = {
        "degree": degree(weights),
        "betweenness": betweenness(weights),
        "NEff": node_efficiency(weights),
        **{f"NE, γ = {gamma:g}": node_entanglement(weights, gamma=gamma) for gamma in GAMMAS},
    }
    at = {node: i for i, node in enumerate(graph)}
    for measure, found in values.items():
        ranks = rankdata(-np.round(found, 12), method="min")
        a, b = (at[node] for node in "ab")
        row = {"neighbours_of_b": corner, "measure": measure, "a": found[a], "b": found[b]}
        yield {**row, "rank_a": int(ranks[a]), "rank_b": int(ranks[b]), "higher": "a" if found[a] > found[b] else "b"}


def main() -> None:
    """Write the table and the picture."""
    table = pd.DataFrame([row for corner in CORNERS for row in measured(corner)])
    table.to_csv(HERE / "degree_fragility.csv", index=False, float_format="%.6g")
    _draw().savefig(PICTURE, dpi=150)


def _draw() -> Figure:
    """Both graphs by degree and by NE at γ = 0.5."""
    figure = Figure(figsize=(8.6, 4.6), layout="constrained")
    rows = figure.subplots(2, 2)
    for corner, pair in zip(CORNERS, rows, strict=True):
        graph = toy_graph(corner)
        weights = nx.to_numpy_array(graph)
        places = nx.kamada_kawai_layout(graph)
        shown = {"degree": degree(weights), "NE, γ = 0.5": node_entanglement(weights)}
        for axis, (title, found) in zip(pair, shown.items(), strict=True):
            found = np.asarray(found, dtype=float)
            shade = (found - found.min()) / (found.max() - found.min())
            nx.draw_networkx_edges(graph, places, ax=axis, edge_color="#B5BEC3", width=0.7)
            nx.draw_networkx_nodes(graph, places, ax=axis, node_color=shade, cmap="viridis", node_size=90)
            named = {node: places[node] + np.array([-0.1, 0.06]) for node in "ab"}
            nx.draw_networkx_labels(
                graph.subgraph("ab"), named, ax=axis, font_size=11, font_weight="bold", clip_on=False
            )
            axis.set_title(f"{title} (b in a {corner})", fontsize=9)
            axis.margins(0.12)
            axis.axis("off")
    return figure


if __name__ == "__main__":
    typer.run(main)
