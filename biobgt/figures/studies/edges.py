"""Connections in which a design shows an effect: on a ring of networks, in the brain, and summed up by block."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, FloatArray, passes
from biobgt.base.colours import DIVERGING
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.references import cited
from biobgt.base.wording import counted, percent
from biobgt.data.atlas import named_labelling
from biobgt.figures import drawing as draw
from biobgt.figures.brain import NODES, Brain
from biobgt.figures.connectivity import LARGEST_MATRIX_MM
from biobgt.figures.connectogram import connectogram_panel
from biobgt.figures.regions import ATLAS_ORDER, regions_in_order
from biobgt.figures.studies.shown import ShownContrast, StudyFigureOptions, study_figure
from biobgt.inference.edges import BLOCKS, EDGES, EXTENT, FAMILY, INTENSITY, LOWER, THRESHOLD_FREE

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured
    from biobgt.study.findings import TestedContrast
    from biobgt.study.finished import FinishedStudy

_MOST_CHORDS = 400
_ONE_SIDED = ("#F7F7F7", "#67001F")  # the half of the diverging scale above zero, for F
_RATE, _LEVEL = f"a false discovery rate of {percent(FDR)}", f"a family-wise p of {FAMILY:g}"
_NBS = "components of edges with {beyond} by {how} [NBS; @zalesky2010], at " + _LEVEL
_RULES = {
    EDGES: f"edge by edge, at {_RATE}",
    EXTENT: _NBS.replace("{how}", "their number of edges"),
    INTENSITY: _NBS.replace("{how}", "how far these exceed it"),
    THRESHOLD_FREE: f"support over all thresholds [TFNBS; @baggio2018], at {_LEVEL}",
    BLOCKS: f"blocks of networks [constrained NBS; @noble2020], at {_RATE}",
}


@dataclass(frozen=True)
class _EdgeFigureOptions(StudyFigureOptions):
    """Which contrast is shown, and which of its edges are drawn."""

    drawn: Literal["significant", "strongest"] = option(
        "significant",
        title="Edges",
        help="Those that the test finds, or the strongest, found or not.",
        shown={"significant": "Significant", "strongest": "Strongest"},
    )
    order: str = option(
        "", title="Order of regions", help="Labels of the atlas, or atlas. Default: the networks of the study."
    )
    most: int = option(200, title="Most edges", help="How many are drawn at most.", low=1, high=_MOST_CHORDS)


@dataclass(frozen=True, eq=False)
class _ShownEdges(ShownContrast):
    """A contrast of a study in every edge."""

    @cached_property
    def table(self) -> "pd.DataFrame":
        """A row per edge, with regions counted from 1, the test, and whether it is ``found``."""
        table = self.rows(self.study.findings.edges)
        if not len(table):
            raise InputError("The study tested no edges.")
        return table.assign(found=self._found(table))

    def _found(self, table: "pd.DataFrame") -> NDArray[np.bool_]:
        """Which edges the correction finds; of a component or block that passes, all: it is found, not each of them."""
        method, findings = self.study.findings.options.method, self.study.findings
        if method == EDGES:
            return passes(table["q"])
        if method == THRESHOLD_FREE:
            return np.asarray(table["p_score"].to_numpy(np.float64) <= FAMILY)
        if method == BLOCKS:
            tested = self.rows(findings.blocks)
            passing = tested[passes(tested["q"])]
            blocks = set(zip(passing["network"], passing["other_network"], strict=True))
            own = zip(*self.networks_of(table, self.study.labelling), strict=True)
            return table["p"].notna().to_numpy() & np.array([pair in blocks for pair in own], bool)
        components = self.rows(findings.components)
        known = components["component"][components["p_family"] <= FAMILY].tolist() if len(components) else []
        return table["component"].isin(known).to_numpy()

    def networks_of(self, table: "pd.DataFrame", labelling: str) -> tuple[list[str], list[str]]:
        """Both networks of every edge, in the order of their names; empty for none."""
        own = np.array([label or "" for label in self.study.atlas.labelling(labelling)])
        first, second = np.sort([own[table["region"] - 1], own[table["other_region"] - 1]], axis=0)
        return first.tolist(), second.tolist()

    @property
    def rule(self) -> str:
        """How the test was corrected, with citations."""
        options, statistic = self.study.findings.options, self.contrast.statistic
        sign = "-" if options.direction == LOWER else ""
        what = f"|{statistic}|" if statistic == "t" and options.direction == "both" else f"{sign}{statistic}"
        components = self.rows(self.study.findings.components)
        threshold = float(components["threshold"].iloc[0]) if len(components) else options.edge_threshold
        return _RULES[options.method].format(beyond=f"{what} above {threshold:.3g}")

    @property
    def words(self) -> str:
        """What was tested, how it was corrected, and how many edges are found."""
        n_tested, found = int(self.table["p"].notna().sum()), self.table[self.table["found"]]
        n_regions = len(np.unique(found[["region", "other_region"]]))
        result = f"{counted(len(found), 'edge')} among {n_regions} regions" if len(found) else "no edge is found"
        return f"{self.title}, {self.contrast.statistic} of {counted(n_tested, 'edge')}: {result}"

    def numbers(self) -> "pd.DataFrame":
        """Every edge with the names of its regions, the clearest first."""
        table, names = self.table.copy(), np.asarray(self.study.atlas.regions, dtype=object)
        table["region"], table["other_region"] = names[table["region"] - 1], names[table["other_region"] - 1]
        order = np.argsort(-table["statistic"].abs().fillna(-1), kind="stable")
        return table.iloc[order].reset_index(drop=True)

    def edges_drawn(self, options: _EdgeFigureOptions) -> tuple[NDArray[np.intp], FloatArray, str]:
        """Both regions of each edge that is drawn, counted from 0; the statistic; and what is said of the choice."""
        strengths = self.table["statistic"].abs().fillna(0).to_numpy()
        order = np.argsort(-strengths, kind="stable")
        significant = options.drawn == "significant"
        chosen = order[self.table["found"].to_numpy()[order] if significant else strengths[order] > 0]
        drawn = self.table.iloc[chosen[: options.most]]
        said = f"{self.words}, {self.rule}"
        if not significant:
            said += f". Drawn are the {counted(len(drawn), 'strongest edge')}, found or not"
        elif len(drawn) < len(chosen):
            said += f". Drawn are the {len(drawn)} strongest of them"
        pairs = drawn[["region", "other_region"]].to_numpy(np.intp) - 1
        return pairs, drawn["statistic"].to_numpy(np.float64), said

    @property
    def edge_methods(self) -> tuple[str, ...]:
        """How edges were tested."""
        what = "Fisher z" if self.study.kind.functional else f"{self.study.kind.key} connectivity"
        return (*self.methods, f"The {what} of all pairs of regions was tested: {self.rule}.")


@study_figure("study_connectogram", "Edges of a study on a ring", takes=_EdgeFigureOptions, least_mm=60)
def study_connectogram(measured: "Measured", options: _EdgeFigureOptions) -> draw.Drawing:
    """The edges that a contrast finds, as chords among regions on a ring of networks."""
    shown = _ShownEdges.of(measured, options)
    pairs, statistics, said = shown.edges_drawn(options)
    atlas, statistic = shown.study.atlas, shown.contrast.statistic
    order = regions_in_order(atlas, options.order or shown.study.labelling or ATLAS_ORDER)
    ring = connectogram_panel(atlas.regions, order, pairs, statistics, statistic, signs=shown.sides)
    return shown.drawing(
        f"{said}. A chord is thicker where |{statistic}| is larger",
        title=f"Edges, {shown.title}",
        line=shown.words,
        panels=[ring],
        numbers=shown.numbers,
        methods=shown.edge_methods,
        legend="above",
        height=560,
    )


@study_figure("study_edge_brain", "Edges of a study in the brain", takes=_EdgeFigureOptions)
def study_edge_brain(measured: "Measured", options: _EdgeFigureOptions) -> draw.Drawing:
    """The same edges between regions at their places; a region is larger the more of them it has."""
    shown = _ShownEdges.of(measured, options)
    pairs, statistics, said = shown.edges_drawn(options)
    atlas, statistic = shown.study.atlas, shown.contrast.statistic
    each = np.bincount(pairs.ravel(), minlength=atlas.n_regions).astype(np.float64)
    brain = Brain.of(
        atlas,
        NODES,
        sizes=each,
        values=np.where(each > 0, each, np.nan),
        quantity="edges of a region",
        limits=(0.0, float(each.max(initial=1.0))),
        edges=[(int(i), int(j), float(one)) for (i, j), one in zip(pairs, statistics, strict=True)],
        signs=shown.sides,
        texts=[counted(int(n), "edge") if n else "no edge" for n in each],
    )

    def caption(where: str) -> str:
        return (
            f"{said}. {brain.regions_in(where)}; size and colour are how many of these edges a region has, and a line "
            f"is thicker where |{statistic}| is larger.{brain.left_out}"
        )

    return shown.in_brain(
        brain,
        caption,
        title=f"Edges, {shown.title}",
        line=shown.words,
        numbers=shown.numbers,
        methods=shown.edge_methods,
    )


@dataclass(frozen=True)
class _BlockFigureOptions(StudyFigureOptions):
    """By which networks edges are summed up."""

    labelling: str = option("", title="Functional networks", help="Labels of the atlas. Default: those of the study.")


@study_figure("study_blocks", "Edges of a study by block", takes=_BlockFigureOptions, least_mm=80)
def study_blocks(measured: "Measured", options: _BlockFigureOptions) -> draw.Drawing:
    """The mean statistic in every block of networks, and how many of its edges are found."""
    shown = _ShownEdges.of(measured, options)
    atlas, labelling, statistic = (
        shown.study.atlas,
        options.labelling or shown.study.labelling,
        shown.contrast.statistic,
    )
    if not labelling:
        raise InputError(f"Atlas {atlas.name} has no functional labels, so there are no blocks to sum up.")
    networks = list(dict.fromkeys(filter(None, atlas.labelling(labelling))))
    blocks = _block_rows(shown, labelling)
    means, cells = np.full((len(networks),) * 2, np.nan), [[""] * len(networks) for _ in networks]
    for row in blocks.to_dict("records"):
        i, j = networks.index(row["network"]), networks.index(row["other_network"])
        means[[i, j], [j, i]] = row["mean_statistic"]
        cells[i][j] = cells[j][i] = str(row["n_found"] or "")
    reach = float(np.nanmax(np.abs(means), initial=0.0)) or 1.0
    several = statistic == "F"
    colours = _ONE_SIDED if several else DIVERGING
    shades = draw.Shades(quantity=f"mean {statistic}", low=0.0 if several else -reach, high=reach, colours=colours)
    axis = draw.Axis(names=networks)
    heat = draw.Heatmap(z=means, shades=shades, cells=cells, hover=f"%{{y}}\n%{{x}}\nmean {statistic} %{{z:.2f}}")
    return shown.drawing(
        f"{shown.words}, {shown.rule}. Colours are the mean {statistic} of all edges within and between networks, "
        "numbers how many of them are found",
        title=f"Edges by block, {shown.title}",
        line=f"{shown.words}; colours are means of blocks, numbers edges that are found",
        panels=[draw.Panel(marks=[heat], x=axis, y=replace(axis, reversed=True))],
        numbers=lambda: blocks,
        methods=(*shown.edge_methods, f"Edges were summed up by {named_labelling(labelling)}."),
        legend="above",
        height=520,
        square_mm=LARGEST_MATRIX_MM,
    )


def _block_rows(shown: _ShownEdges, labelling: str) -> "pd.DataFrame":
    """A row per block of networks: its edges, their mean statistic, and how many are found, in which direction."""
    first, second = shown.networks_of(shown.table, labelling)
    edges = shown.table.assign(network=first, other_network=second)
    edges = edges[(edges["network"] != "") & (edges["other_network"] != "") & edges["statistic"].notna()]
    edges = edges.assign(positive=edges["found"] & (edges["statistic"] > 0))
    return edges.groupby(["network", "other_network"], as_index=False).agg(
        n_edges=("statistic", "size"),
        mean_statistic=("statistic", "mean"),
        n_found=("found", "sum"),
        n_found_positive=("positive", "sum"),
    )


def edge_words(study: "FinishedStudy", contrast: "TestedContrast") -> str:
    """How many edges a contrast finds, in a sentence without citations."""
    shown = _ShownEdges(study, contrast, study.findings.designs[0])
    return f"Edges, {cited(shown.rule)}: {shown.words.partition(': ')[2]}."
