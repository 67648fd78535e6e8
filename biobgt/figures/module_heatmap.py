"""One subject's connectivity sorted by module, with a named bracket beside each module's rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.wording import counted
from biobgt.figures.connectivity_heatmap import ColourScale, colour_scale, heatmap_parts
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import block_brackets, layout, whose
from biobgt.figures.modules import label_rows, module_colours, module_words, named_modules
from biobgt.figures.region_order import RegionOrder, matrix_numbers, order_regions
from biobgt.modules.measures import NamedModuleOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

NO_MODULE = "no module"
_MOST_TWO_LINED = 8  # brackets; the names of more have one line
_LABEL_SHARE = {1: 1 / 19, 2: 1 / 9}  # of the matrix's height on a narrow page, for a name of so many lines


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ModuleHeatmap(Figure):
    """Connectivity sorted by module.

    Attributes
    ----------
    subject : str
    matrix : ndarray, shape (n_regions, n_regions)
    regions : sequence of str, length n_regions
    modules : sequence of int, length n_regions
        0 is a region in no module; these come last.
    names : mapping of int to str
        What each module is called.
    q : float
        Modularity of the modules.
    scale : ColourScale
    quantity : str
        What the matrix holds.
    """

    key = "module_heatmap"
    name = "Connectivity by module"
    least_mm = 75
    takes = NamedModuleOptions

    options: NamedModuleOptions = field(default_factory=NamedModuleOptions)
    subject: str = ""
    matrix: NDArray[np.float64]
    regions: Sequence[str]
    modules: Sequence[int]
    names: Mapping[int, str]
    q: float = float("nan")
    scale: ColourScale = field(default_factory=ColourScale)
    quantity: str = "r"

    @classmethod
    def of(cls, measured: "Measured", options: NamedModuleOptions) -> Self:
        """Sort the subject's connectivity by its modules."""
        subject, atlas, matrix = measured.subject, measured.atlas, measured.connectivity()
        partition = measured.modules(options).partition
        return cls(
            options=options,
            title=f"Connectivity of {subject.id} by module",
            simulated=subject.simulated,
            subject=subject.id,
            matrix=matrix,
            regions=atlas.regions,
            modules=partition.labels.tolist(),
            names=named_modules(atlas, options.labelling, partition),
            q=partition.q,
            scale=colour_scale(matrix, measured.quantity, measured.settings.estimator),
            quantity=measured.quantity,
            **module_words(measured, options),
        )

    @cached_property
    def order(self) -> RegionOrder:
        """Regions by module, in the order of the modules' numbers; those in none come last."""
        numbers = sorted(set(self.modules) - {0})
        called = [self.names[module] if module else NO_MODULE for module in self.modules]
        return order_regions(len(self.modules), called, first=[self.names[number] for number in numbers])

    def colour_of(self, start: int) -> str:
        """The colour of the block that starts at a position of the order."""
        module = self.modules[self.order.order[start]]
        return module_colours([module])[module]

    @property
    def numbers(self) -> "pd.DataFrame":
        """The matrix as it is drawn: one row and one column per region, with the module of each row."""
        order = self.order
        numbers = matrix_numbers(self.matrix, self.regions, order)
        numbers.insert(1, "module", [self.modules[region] for region in order.order], allow_duplicates=True)
        return numbers

    @property
    def caption(self) -> str:
        """How many modules of which size, and what the colours stand for."""
        numbers = sorted(set(self.modules) - {0})
        sizes = ", ".join(str(list(self.modules).count(number)) for number in numbers) or "none"
        n_alone = list(self.modules).count(0)
        alone = f" In no module: {counted(n_alone, 'region')} without connections." if n_alone else ""
        return (
            f"{whose(self.subject, self.simulated)}: connectivity sorted by {counted(len(numbers), 'Louvain module')} "
            f"at resolution {self.options.resolution:g}, of {sizes} regions, Q = {self.q:.2f}.{alone} "
            f"{self.scale.words}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        order = self.order
        heatmap, square = heatmap_parts(self.matrix, self.regions, order, scale=self.scale, quantity=self.quantity)
        colours = [self.colour_of(start) for _, start, _ in order.blocks]
        square["shapes"] += block_brackets(order, colours)
        lines = 2 if len(order.blocks) <= _MOST_TWO_LINED else 1
        square["yaxis"] |= {
            "tickvals": [heatmap["y"][row] for row in label_rows(order, _LABEL_SHARE[lines])],
            "ticktext": [
                f'<span style="color:{colour}">■</span> {_bracket_name(name, lines)}'
                for (name, _, _), colour in zip(order.blocks, colours, strict=True)
            ],
            "ticklabelstandoff": 14,
            "tickfont": {"size": 11},
            "ticks": "",
        }
        return go.Figure([heatmap], {**layout(self.title, self.simulated, height=520), **square})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.module_drawings import draw_module_heatmap

        return draw_module_heatmap(self, style)


def _bracket_name(name: str, lines: int) -> str:
    """A name in two lines, or without the word that all share in one."""
    return escape(name, quote=False).replace(" · ", "<br>") if lines == 2 else escape(name.removeprefix("Module "))
