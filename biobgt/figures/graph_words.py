"""Words that figures of brain graphs share: how a graph was made, what to cite, in which order regions are drawn."""

from typing import TYPE_CHECKING

from biobgt.errors import InputError
from biobgt.figures.region_order import RegionOrder, order_regions
from biobgt.graph import ESTIMATORS, SIGN_RULES
from biobgt.references import Citation, in_brackets
from biobgt.wording import capitalised

if TYPE_CHECKING:
    from biobgt.atlas import Atlas
    from biobgt.graph import ConnectomeSettings, Matrix

ATLAS_ORDER = "atlas"
NULL_GRAPHS_KEEP = "keep every region's number of connections and, closely, its strength"


def regions_in_order(atlas: "Atlas", order: str) -> RegionOrder:
    """The atlas's order, or that of one of its labellings."""
    return order_regions(atlas.n_regions, None if order == ATLAS_ORDER else atlas.labelling(order))


def graph_methods(atlas: "Atlas", settings: "ConnectomeSettings") -> tuple[str, ...]:
    """Say how brain graphs were made, one sentence per decision."""
    kept = "No threshold was applied." if settings.threshold == "none" else f"{capitalised(settings.kept)} were kept."
    tree = "The maximum spanning tree was kept whatever the threshold, so that no region was cut off needlessly."
    return (
        f"The nodes of the brain graphs were the {atlas.n_regions} regions of {atlas.title}{in_brackets(atlas.cites)}.",
        f"Functional connectivity was estimated as {ESTIMATORS[settings.estimator].words} with nilearn"
        f"{in_brackets(_estimated_with(settings))}.",
        f"Negative connections were {SIGN_RULES[settings.sign]}. {kept}",
        *([tree] if settings.backbone and settings.threshold != "none" else []),
    )


def graph_citations(atlas: "Atlas", settings: "ConnectomeSettings") -> tuple[Citation, ...]:
    """What to cite for them."""
    return (*atlas.cites, *_estimated_with(settings))


def _estimated_with(settings: "ConnectomeSettings") -> tuple[Citation, ...]:
    return ("abraham2014", *(["ledoit2004"] if ESTIMATORS[settings.estimator].shrunk else []))


def region_number(atlas: "Atlas", name: str) -> int | None:
    """A region by its name, counted from 0; an empty name is none."""
    if name and name not in atlas.regions:
        raise InputError(f"Atlas {atlas.name} has no region '{name}'.")
    return atlas.regions.index(name) if name else None


def coordinates_of(atlas: "Atlas") -> "Matrix":
    """MNI coordinates of the regions, shape (n_regions, 3), or a sentence where they are not known."""
    if atlas.coordinates is None:
        raise InputError(f"The coordinates of atlas {atlas.name} are not known, so nothing can be drawn on a brain.")
    return atlas.coordinates
