"""Words that figures of brain graphs share: how a graph was made, what to cite, in which order regions are drawn."""

from typing import TYPE_CHECKING

from biobgt.base.errors import InputError
from biobgt.base.references import Citation, in_brackets
from biobgt.base.wording import capitalised
from biobgt.data.graph import ESTIMATED, ESTIMATORS, PEARSON, SIGN_RULES
from biobgt.figures.region_order import RegionOrder, order_regions

if TYPE_CHECKING:
    from biobgt.data.atlas import Atlas
    from biobgt.results.measured import Measured

ATLAS_ORDER = "atlas"
NULL_GRAPHS_KEEP = "keep every region's number of connections and, closely, its strength"


def regions_in_order(atlas: "Atlas", order: str) -> RegionOrder:
    """The atlas's order, or that of one of its labellings."""
    return order_regions(atlas.n_regions, None if order == ATLAS_ORDER else atlas.labelling(order))


def graph_methods(measured: "Measured") -> tuple[str, ...]:
    """Say how brain graphs were made, one sentence per decision."""
    atlas, settings, kind = measured.atlas, measured.settings, measured.kind
    kept = "No threshold was applied." if settings.threshold == "none" else f"{capitalised(settings.kept)} were kept."
    signs = "" if kind.key == "structural" else f"Negative connections were {SIGN_RULES[settings.sign]}. "
    tree = "The maximum spanning tree was kept whatever the threshold, so that no region was cut off needlessly."
    return (
        f"The nodes of the brain graphs were the {atlas.n_regions} regions of {atlas.title}{in_brackets(atlas.cites)}.",
        _connectivity_sentence(measured),
        f"{signs}{kept}",
        *([tree] if settings.backbone and settings.threshold != "none" else []),
    )


def connectivity_words(measured: "Measured") -> str:
    """What the subject's connectivity is, with where it came from, within a sentence of a caption."""
    kind, source = measured.kind, measured.kind.source(measured.settings.estimator)
    return f"{kind.title[:1].lower()}{kind.title[1:]} ({source})" if kind.key == ESTIMATED else source


def graph_citations(measured: "Measured") -> tuple[Citation, ...]:
    """What to cite for them."""
    return (*measured.atlas.cites, *estimated_with(measured))


def _connectivity_sentence(measured: "Measured") -> str:
    """How connectivity was estimated, or that it was given; a cohort may hold both."""
    estimator, kind, cites = ESTIMATORS[measured.settings.estimator], measured.kind, estimated_with(measured)
    estimated = f"Functional connectivity was estimated as {estimator.words} with nilearn{in_brackets(cites)}"
    if kind.key == ESTIMATED:
        return f"{estimated}."
    used = "" if estimator.key == PEARSON else ", Fisher-z transformed"
    if cites:
        return f"{estimated} where series were given, and taken from the given matrices otherwise{used}."
    return f"Weights of connections were those of the given {kind.data}{used}."


def estimated_with(measured: "Measured") -> tuple[Citation, ...]:
    """The works behind estimates; none where no series were given."""
    subjects = measured.cohort.subjects if measured.one is None else (measured.one,)
    if all(subject.series is None for subject in subjects):
        return ()
    return ("abraham2014", *(["ledoit2004"] if ESTIMATORS[measured.settings.estimator].shrunk else []))


def region_number(atlas: "Atlas", name: str) -> int | None:
    """A region by its name, counted from 0; an empty name is none."""
    if name and name not in atlas.regions:
        raise InputError(f"Atlas {atlas.name} has no region '{name}'.")
    return atlas.regions.index(name) if name else None
