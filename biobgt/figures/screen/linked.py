"""What the linked screen holds of a subject: figures as tiles, and what it needs to answer without asking.

A tile is as large as its place. What a step of γ, or another region, changes in it is sent as changed arrays; the
cortex and whatever stays is not sent again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, passes
from biobgt.base.options import Options
from biobgt.base.wording import adjusted_for, capitalised, counted, percent, signed
from biobgt.data.cohort import average_by_person
from biobgt.figures import drawing as draw
from biobgt.figures.attention import disorders
from biobgt.figures.register import Figure
from biobgt.figures.screen.brain import cortex
from biobgt.figures.screen.page import packed
from biobgt.figures.screen.pen import Dictionary, draw_on_screen
from biobgt.groups.compare import ComparisonOptions
from biobgt.hubs.measures import COMPARED, GAMMAS, HUB_MEASURES, NE, HubOptions

if TYPE_CHECKING:
    from biobgt.data.atlas import Atlas
    from biobgt.model.pretrained import InstalledModel
    from biobgt.modules.measures import NamedModuleOptions
    from biobgt.results.measured import Measured

# px around a tile, above titled panels and for a legend, of a further line of titles, and of a colour bar
_EDGE, _ABOVE, _LINE, _BAR = 4, 18, 13, 46
_LETTERS, _SLANT = 40, 20  # that fit below a tile in a row; longer names are slanted, or plotly turns them upright
_MOST_ROWS = 12  # whose names have room one below the other
_MOST_NAMED = 5  # entries of a legend that fit above a tile
_GRID = "rgba(128, 128, 128, 0.22)"
_EYE = 0.9  # how near a brain is seen
_NODES, _CROWD = 0.75, 200  # of a brain's nodes, how large they are in a tile, and from how many on they shrink further
Changes = list[tuple[tuple[str | int, ...], Any]]
_PER, _UNKNOWN = 1000, -(2**15)  # numbers of cells are sent in thousandths
CORTEX = "cortex"
_STRONGEST = 10  # connections of a region that is lit
_WIDTHS = (0.6, 3.0)  # px, of the weakest and the strongest connection


def _tile(drawing: draw.Drawing) -> Dictionary:
    """A drawing as a tile, its numbers still arrays: what is around it is left out, and said by the screen."""
    contents = draw_on_screen(drawing)
    layout, letters = contents["layout"], {"size": 10}
    lines = max((panel.title.count("\n") + 1 for panel in drawing.panels if panel.title), default=0)
    frame = {name: one for name, one in layout.items() if name not in ("title", "height")}
    margin = {"l": _EDGE, "r": _EDGE, "t": max(_ABOVE + _LINE * (lines - 1), _EDGE) if lines else _EDGE, "b": _EDGE}
    n_named = sum(bool(trace.get("name")) and trace.get("showlegend") is not False for trace in contents["data"])
    frame["showlegend"] = layout.get("showlegend") is not False and 0 < n_named <= _MOST_NAMED
    frame["legend"] = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "font": letters, "title": {"text": ""}}
    if "coloraxis" in layout:
        bar = layout["coloraxis"]["colorbar"]
        ticks = {name: one for name, one in bar.items() if name in ("tickvals", "ticktext")} | {"tickfont": letters}
        place = {"orientation": "v", "thickness": 8, "len": 1, "x": 1, "xanchor": "left", "y": 0.5, "yanchor": "middle"}
        title = {"text": bar["title"].get("text", ""), "side": "right", "font": letters}
        frame["coloraxis"] = {**layout["coloraxis"], "colorbar": {**place, **ticks, "title": title}}
        margin["r"] += _BAR
        frame["showlegend"] = False
    elif frame["showlegend"] and lines:
        frame["legend"] |= {"y": 0, "yanchor": "top"}  # above stand the titles of panels
    elif frame["showlegend"]:
        margin["t"] += _ABOVE
    if any(panel.y.beside for panel in drawing.panels):
        margin["r"] += _BAR
    if "scene" in layout and "scene2" not in layout:
        near = {axis: _EYE * place for axis, place in layout["scene"]["camera"]["eye"].items()}
        camera = {**layout["scene"]["camera"], "eye": near}
        plain = {"annotations": [], "hovermode": False}  # the screen itself says names
        frame["scene"] = {**layout["scene"], "camera": camera, **plain}
        contents["data"] = _smaller_nodes(contents["data"])
    frame["margin"] = margin
    frame["annotations"] = [note | {"font": letters} for note in layout.get("annotations", ())]
    for name in (name for name in layout if name.startswith(("xaxis", "yaxis"))):
        title = {**layout[name].get("title", {}), "font": letters}
        grid = {"gridcolor": _GRID, "zerolinecolor": _GRID}  # on light pages and on dark ones
        frame[name] = grid | layout[name] | {"tickfont": letters, "title": title, "automargin": True}
        if name.startswith("x") and sum(map(len, layout[name].get("ticktext", ()))) > _LETTERS:
            frame[name]["tickangle"] = _SLANT
        if len(layout[name].get("categoryarray", ())) > _MOST_ROWS:
            frame[name].pop("dtick", None)  # names are left out rather than drawn over each other
    said = {"caption": drawing.line, "full": drawing.caption}
    data = [{"part": CORTEX} if _is_cortex(one) else _by_region(_without_hover(one)) for one in contents["data"]]
    return {"figure": {"data": data, "layout": frame}, **said}


def _is_cortex(trace: Dictionary) -> bool:
    """Whether it is the cortex around the nodes, which is the same in all tiles and sent once."""
    return trace["type"] == "mesh3d" and "customdata" not in trace


def cortex_part() -> Dictionary:
    """The cortex around nodes, for tiles that name it as a part."""
    return {"trace": packed(cortex())}


def _without_hover(trace: Dictionary) -> Dictionary:
    """Regions in a brain, as nodes or triangles, of which the screen itself says names; others as they are."""
    if trace["type"] not in ("scatter3d", "mesh3d") or "customdata" not in trace:
        return trace
    return {name: one for name, one in trace.items() if name not in ("text", "hovertemplate")} | {"hoverinfo": "none"}


def _by_region(trace: Dictionary) -> Dictionary:
    """A painted cortex with one value per region in place of one per triangle, which the browser makes of them."""
    if trace["type"] != "mesh3d" or "coloraxis" not in trace:
        return trace
    regions, values = trace["customdata"], trace["intensity"]
    regional = np.full(int(regions.max()) + 1, np.nan, dtype=values.dtype)
    regional[regions] = values
    return {name: one for name, one in trace.items() if name != "intensity"} | {"regional": regional}


def _smaller_nodes(traces: list[Dictionary]) -> list[Dictionary]:
    """The traces of a brain with nodes for a tile, where they would hide each other."""
    sizes = {i: np.asarray(trace["marker"]["size"]) for i, trace in enumerate(traces) if "customdata" in trace}
    factor = _NODES * min(1.0, np.sqrt(_CROWD / max(1, sum(one.size for one in sizes.values()))))
    return [
        {**trace, "marker": {**trace["marker"], "size": sizes[i] * factor}} if i in sizes else trace
        for i, trace in enumerate(traces)
    ]


def tile_contents(drawing: draw.Drawing) -> Dictionary:
    """A drawing as a tile of the linked screen: its figure, its caption in one line, and in full."""
    contents: Dictionary = packed(_tile(drawing))
    return contents


def _changes(before: Any, after: Any, path: tuple[str | int, ...] = ()) -> Changes:
    """Where one drawing for the screen differs from another of the same figure, and what stands there."""
    if before is after:
        return []
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys():
        return [change for name in before for change in _changes(before[name], after[name], (*path, name))]
    lists = isinstance(before, list) and isinstance(after, list) and len(before) == len(after)
    if lists and all(isinstance(one, dict) for one in (*before, *after)):
        return [change for i in range(len(before)) for change in _changes(before[i], after[i], (*path, i))]
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        same = before.dtype == after.dtype and np.array_equal(before, after, equal_nan=before.dtype.kind == "f")
    else:
        same = type(before) is type(after) and before == after
    return [] if same else [(path, after)]


def steps_of(
    figure: Figure[Any], measured: "Measured", options: Options, name: str, steps: Sequence[str | float]
) -> list[Changes]:
    """What each step of one option changes in a figure's tile.

    Parameters
    ----------
    figure : Figure
    measured : Measured
    options : Options
        Of the tile that the browser has.
    name : str
        Of the option.
    steps : sequence of plain values
    """
    drawn = _tile(figure(measured, options))
    return [packed(_changes(drawn, _tile(figure(measured, replace(options, **{name: step}))))) for step in steps]


def strongest_connections(measured: "Measured") -> dict[str, list[list[float]]]:
    """The regions with which each region is connected most strongly in the graph, and how wide to draw that, in px."""
    weights = measured.graph().weights
    top = float(weights.max()) or 1.0
    order = np.argsort(-weights, axis=1, kind="stable")[:, :_STRONGEST]
    ends = [[int(other) for other in others if weights[region, other] > 0] for region, others in enumerate(order)]
    low, high = _WIDTHS
    return {
        "ends": [[float(other) for other in others] for others in ends],
        "widths": [
            [round(low + (high - low) * float(weights[region, other]) / top, 2) for other in others]
            for region, others in enumerate(ends)
        ],
    }


def region_facts(measured: "Measured", options: HubOptions, modules: "NamedModuleOptions") -> dict[str, Any]:
    """What one line says of each region: its network, its module and its ranks; and how far NE agrees.

    Parameters
    ----------
    measured : Measured
    options : HubOptions
    modules : NamedModuleOptions
    """
    atlas, kind = measured.atlas, measured.kind
    labels = measured.module_labels(modules)
    table = measured.hub_table(options, COMPARED)
    columns = [
        {"name": "", "values": _networks(atlas, modules.labelling)},
        {"name": "module", "values": [label or "none" for label in labels]},
    ]
    for key in COMPARED:
        about = HUB_MEASURES[key].in_words_of(kind)
        hub = table[f"{key}_hub"].to_numpy()
        ranks = table[f"{key}_rank"].tolist()
        columns.append(
            {
                "name": f"{about.short} rank",
                "values": [f"{rank:g}{' (hub)' if is_hub else ''}" for rank, is_hub in zip(ranks, hub, strict=True)],
            }
        )
    agreements = [
        f"ρ(NE, {HUB_MEASURES[key].in_words_of(kind).short}) = {signed(measured.hub_correlation(options, key).rho, 2)}"
        for key in COMPARED
        if key != NE
    ]
    verdict = f"At γ = {options.gamma:g}/mean(λ), over regions: {'; '.join(agreements)}."
    return {"columns": columns, "verdict": verdict}


def fact_steps(measured: "Measured", options: HubOptions, modules: "NamedModuleOptions") -> list[Changes]:
    """What each γ of the grid changes in :func:`region_facts`.

    Parameters
    ----------
    measured : Measured
    options : HubOptions
    modules : NamedModuleOptions
    """
    changes: list[Changes] = []
    for gamma in GAMMAS:
        facts = region_facts(measured, replace(options, gamma=gamma), modules)
        at = next(i for i, one in enumerate(facts["columns"]) if one["name"].startswith(HUB_MEASURES[NE].short))
        changes.append([(("columns", at), facts["columns"][at]), (("verdict",), facts["verdict"])])
    return changes


def difference_facts(measured: "Measured", options: ComparisonOptions) -> dict[str, Any]:
    """What one line says of each region of two groups that were compared in one hub measure.

    Parameters
    ----------
    measured : Measured
    options : ComparisonOptions
    """
    from biobgt.groups.features import compare_measured

    what, found = compare_measured(measured, options)
    table, (first, second) = found.table, found.between
    columns: list[dict[str, Any]] = [{"name": "", "values": _networks(measured.atlas)}]
    columns += [{"name": group, "values": _written(table[f"mean_{group}"], ".3g")} for group in found.between]
    columns += [{"name": name, "values": _written(table[name], how)} for name, how in (("d", "+.2f"), ("q", ".2g"))]
    sizes, n_differ = ", ".join(f"{n} {group}" for group, n in found.n_subjects.items()), int(passes(table["q"]).sum())
    verdict = (
        f"{capitalised(what)}, {second} minus {first} ({sizes}{', simulated' if measured.cohort.simulated else ''}), "
        f"{adjusted_for(found.covariates)}: {counted(n_differ, 'region')} {'differs' if n_differ == 1 else 'differ'} "
        f"at a false discovery rate of {percent(FDR)}."
    )
    return {"columns": columns, "verdict": verdict}


def model_facts(model: "InstalledModel") -> dict[str, Any]:
    """What one line says of each region of a model, and what the model is worth.

    Parameters
    ----------
    model : InstalledModel
    """
    return {"columns": [{"name": "", "values": _networks(model.atlas)}], "verdict": model.card["headline"]}


def map_cells(model: "InstalledModel") -> dict[str, Dictionary]:
    """What stands beside the values of a cell: FC in the maps of groups, and q of its block in those of differences.

    Parameters
    ----------
    model : InstalledModel

    Returns
    -------
    dict
        Under ``groups`` and ``differences``, in the order of the maps of :func:`disorders.groups_in_a_row` and
        :func:`disorders.pairs_beside`: their names, and whole numbers by which one cell is told.
    """
    connectivity, rates = _cells_of(model)
    return {"groups": _beside("FC", connectivity), "differences": _beside("q", rates, signed=True)}


def own_cells(measured: "Measured", model: "InstalledModel", groups: tuple[str, str]) -> dict[str, Dictionary]:
    """The same with two groups of a cohort behind the model's.

    Parameters
    ----------
    measured : Measured
    model : InstalledModel
    groups : (str, str)
    """
    from biobgt.figures.attention.own_groups import own_name, own_tests

    first, second = (own_name(group) for group in groups)
    connectivity, rates = _cells_of(model)
    for group, name in zip(groups, (first, second), strict=True):
        people = measured.cohort.group(group)
        matrices = np.stack([measured.of(one).pearson() for one in people.ids])
        connectivity[name] = average_by_person(matrices, people.persons).mean(axis=0)
    rates[disorders.difference_name((first, second))] = disorders.rates_of(model, own_tests(measured, model, groups))
    return {"groups": _beside("FC", connectivity), "differences": _beside("q", rates, signed=True)}


def _cells_of(model: "InstalledModel") -> tuple[dict[str, Any], dict[str, Any]]:
    groups, pairs = disorders.groups_in_a_row(model), disorders.pairs_beside(model)
    connectivity = {group: model.groups.connectivity[group] for group in groups}
    rates = {disorders.difference_name(pair): disorders.block_rates(model, pair) for pair in pairs}
    return connectivity, rates


def _beside(what: str, matrices: Mapping[str, NDArray[np.floating]], *, signed: bool = False) -> Dictionary:
    """Matrices in thousandths, two bytes a cell; what is not known is the least number there is."""
    values = [np.where(np.isfinite(one), np.round(one * _PER), _UNKNOWN).astype(np.int16) for one in matrices.values()]
    return {"what": what, "names": list(matrices), "per": _PER, "signed": signed, "values": packed(values)}


def _networks(atlas: "Atlas", labelling: str = "") -> list[str]:
    """The network of each region, by one labelling or by the first of the atlas."""
    name = labelling or next(iter(atlas.labels), "")
    labels = atlas.labelling(name) if name in atlas.labels else [None] * atlas.n_regions
    return [label or "in no network" for label in labels]


def _written(values: Iterable[float], how: str) -> list[str]:
    return [f"{value:{how}}".replace("-", "−") if np.isfinite(value) else "not known" for value in values]
