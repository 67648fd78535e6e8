"""What figures of modules share: colours, names, how modules were found and what to cite.

A module has one colour in all figures, that of its number, so that groups whose modules are numbered alike compare.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biobgt.base.colours import MODULE_COLOURS, PALE_GREY
from biobgt.base.references import Citation
from biobgt.base.wording import counted, whose
from biobgt.data.atlas import PAPER_MODULES
from biobgt.figures.connectivity import LARGEST_MATRIX_MM, connectivity_shades, matrix_panel, shades_words
from biobgt.figures.drawing import Drawing, Panel
from biobgt.figures.graph_words import graph_citations, graph_methods
from biobgt.figures.region_order import RegionOrder, matrix_numbers, order_regions
from biobgt.figures.register import figure
from biobgt.modules.measures import NEGATIVE_WEIGHTS, ModuleOptions, NamedModuleOptions

if TYPE_CHECKING:  # some of it brings scikit-learn, which the start of the app does without
    import pandas as pd

    from biobgt.data.atlas import Atlas
    from biobgt.modules.partition import Labels
    from biobgt.results.measured import Measured

NO_COLOUR = PALE_GREY
NO_MODULE = "no module"
_MOST_TWO_LINED = 8  # modules beside a matrix; the names of more have one line


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


@figure("module_heatmap", "Connectivity by module", takes=NamedModuleOptions, least_mm=75)
def module_heatmap(measured: "Measured", options: NamedModuleOptions) -> Drawing:
    """One subject's connectivity sorted by module, with a named bar beside each module's rows."""
    subject, atlas, matrix = measured.subject, measured.atlas, measured.connectivity()
    partition = measured.modules(options).partition
    shades = connectivity_shades(matrix, measured.quantity, measured.settings.estimator)
    modules = partition.labels.tolist()
    numbered = sorted(set(modules) - {0})
    names = named_modules(atlas, options.labelling, partition) | {0: NO_MODULE}
    called = [names[module] for module in modules]
    order = order_regions(len(modules), called, first=[names[number] for number in numbered])
    blocks_of = [modules[order.order[start]] for _, start, _ in order.blocks]
    colours = [module_colours([module])[module] for module in blocks_of]

    def panel(shown: Callable[[str], str]) -> Panel:
        blocks = tuple((shown(name), start, end) for name, start, end in order.blocks)
        return matrix_panel(matrix, atlas.regions, replace(order, blocks=blocks), shades, colours=colours)

    def numbers() -> "pd.DataFrame":
        numbers = matrix_numbers(matrix, atlas.regions, order)
        numbers.insert(1, "module", [modules[region] for region in order.order], allow_duplicates=True)
        return numbers

    sizes = ", ".join(str(modules.count(number)) for number in numbered) or "none"
    n_alone = modules.count(0)
    alone = f" In no module: {counted(n_alone, 'region')} without connections." if n_alone else ""
    few = len(order.blocks) <= _MOST_TWO_LINED
    # Names in two lines, or without the word that all of them share: it would take room from the matrix.
    brief = panel(lambda name: name.removeprefix("Module "))
    screen = Drawing(
        title=f"Connectivity of {subject.id} by module",
        simulated=subject.simulated,
        panels=[panel(lambda name: name.replace(" · ", "\n")) if few else brief],
        caption=(
            f"{whose(subject.id, subject.simulated)}: connectivity sorted by "
            f"{counted(len(numbered), 'Louvain module')} at resolution {options.resolution:g}, of {sizes} regions, "
            f"Q = {partition.q:.2f}.{alone} {shades_words(shades)}"
        ),
        numbers=numbers,
        height=520,
        square_mm=LARGEST_MATRIX_MM,
        **module_words(measured, options),
    )
    return replace(screen, on_paper=lambda style: replace(screen, panels=[brief]))


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
