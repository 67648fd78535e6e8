"""What figures of modules share: colours, names, how modules were found and what to cite.

A module has one colour in all figures, that of its number, so that groups whose modules are numbered alike compare.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from biobgt.base.colours import MODULE_COLOURS, PALE_GREY
from biobgt.base.references import Citation
from biobgt.data.atlas import PAPER_MODULES
from biobgt.figures.graph_words import graph_citations, graph_methods
from biobgt.figures.region_order import RegionOrder
from biobgt.modules.measures import NEGATIVE_WEIGHTS, ModuleOptions

if TYPE_CHECKING:  # some of it brings scikit-learn, which the start of the app does without
    from biobgt.data.atlas import Atlas
    from biobgt.modules.partition import Labels
    from biobgt.results.measured import Measured

NO_COLOUR = PALE_GREY


def module_colours(modules: Iterable[int]) -> dict[int, str]:
    """Colour of each module, by its number from 1; grey for 0, in no module."""
    return {module: MODULE_COLOURS[(module - 1) % len(MODULE_COLOURS)] if module else NO_COLOUR for module in modules}


def networks_of(atlas: "Atlas", labelling: str) -> list[str | None] | None:
    """The functional network of each region, in words; None where the atlas has no such labels."""
    labels = atlas.labels.get(labelling)
    return None if labels is None else [label and PAPER_MODULES.get(label, label) for label in labels]


def named_modules(atlas: "Atlas", labelling: str, partition: "Labels") -> dict[int, str]:
    """What modules are called, by the functional labels where the atlas has any.

    Parameters
    ----------
    atlas : Atlas
    labelling : str
        The functional labels that give the names.
    partition : Partition, sequence of int or ndarray, shape (n_regions,)
        The module of each region.
    """
    from biobgt.modules.partition import module_names

    return module_names(partition, networks_of(atlas, labelling))


def module_words(
    measured: "Measured", options: ModuleOptions, *sentences: str, cited: Iterable[Citation] = ()
) -> dict[str, Any]:
    """Methods and citations of a figure of modules.

    Parameters
    ----------
    measured : Measured
    options : ModuleOptions
    *sentences : str
        What else its methods say.
    cited : iterable of Citation
        What else to cite.
    """
    settings = measured.settings
    kept = "their consensus (Lancichinetti and Fortunato 2012)" if options.consensus else "the one of highest Q"
    signs = f" {NEGATIVE_WEIGHTS[options.signed]}" if settings.sign == "signed" else ""
    found = (
        f"Modules were found with the Louvain method (Blondel et al. 2008) as implemented in the Brain Connectivity "
        f"Toolbox for Python (Rubinov and Sporns 2010), at resolution {options.resolution:g}; of "
        f"{options.runs} runs (seed {options.seed}), {kept} was kept.{signs}"
    )
    keys = ["blondel2008", "rubinov2010", *graph_citations(measured)]
    keys += ["lancichinetti2012"] if options.consensus else []
    keys += ["rubinov2011"] if signs and options.signed else []
    return {"methods": (*graph_methods(measured), found, *sentences), "citations": (*keys, *cited)}


def label_rows(order: RegionOrder, share: float) -> list[int]:
    """The row at which each bracket's name stands: its middle, moved where small modules would write over another."""
    n = len(order.order)
    step = max(1, round(n * share))
    rows = [(start + end - 1) // 2 for _, start, end in order.blocks]
    for i in range(1, len(rows)):
        rows[i] = max(rows[i], rows[i - 1] + step)
    last = n - 1
    for i in reversed(range(len(rows))):
        rows[i] = min(rows[i], last)
        last = rows[i] - step
    return [max(0, row) for row in rows]
