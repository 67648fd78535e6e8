"""The roles of one subject's regions by participation and within-module z (Guimerà and Amaral 2005)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Self

import numpy as np

from biobgt.base.colours import LINE_GREY, MODULE_COLOURS
from biobgt.figures.brain import SYMBOLS
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import horizontal_line, layout, note_at_right, whose
from biobgt.figures.modules import module_colours, module_words, named_modules
from biobgt.modules.measures import HUB_Z, PARTICIPATION, REGION_MEASURES, WITHIN_Z, NamedModuleOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

HUB_LINE = LINE_GREY
HUBS_ABOVE = "hubs above"


@dataclass(frozen=True)
class DrawnModule:
    """The regions of one module, as they are drawn: their places in the table, colour and symbol."""

    name: str
    members: Sequence[int]
    colour: str
    symbol: str


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class RoleMap(Figure):
    """Every region by participation and within-module z, coloured by module.

    Attributes
    ----------
    subject : str
    roles : DataFrame
        One row per region, see :func:`biobgt.modules.node_roles`; regions in no module are not drawn.
    names : mapping of int to str
        What each module is called; by default by its number.
    hub_z : float
        Where the line between hubs and others lies.
    """

    key = "role_map"
    name = "Roles of regions"
    takes = NamedModuleOptions

    options: NamedModuleOptions = field(default_factory=NamedModuleOptions)
    subject: str = ""
    roles: "pd.DataFrame"
    names: Mapping[int, str] = field(default_factory=dict)
    hub_z: float = HUB_Z

    @classmethod
    def of(cls, measured: "Measured", options: NamedModuleOptions) -> Self:
        """Take the roles of the subject's regions."""
        subject, found = measured.subject, measured.modules(options)
        sentence = (
            f"Regions have roles by participation and within-module z, with hubs from z = {options.hub_z:g} (Guimerà "
            "and Amaral 2005)."
        )
        return cls(
            options=options,
            title=f"Roles of the regions of {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            roles=found.roles,
            names=named_modules(measured.atlas, options.labelling, found.partition),
            hub_z=options.hub_z,
            **module_words(measured, options, sentence, cited=REGION_MEASURES[PARTICIPATION].citations),
        )

    @property
    def drawn(self) -> list[DrawnModule]:
        """The modules, in the order of their numbers; a colour that comes again comes with another symbol."""
        labels = self.roles["module"].to_numpy()
        return [
            DrawnModule(
                self.names.get(module, f"Module {module}"),
                np.flatnonzero(labels == module).tolist(),
                colour,
                SYMBOLS[((module - 1) // len(MODULE_COLOURS)) % len(SYMBOLS)],
            )
            for module, colour in module_colours(sorted(set(labels.tolist()) - {0})).items()
        ]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region."""
        return self.roles

    @property
    def caption(self) -> str:
        """What the axes are, and how many hubs there are."""
        return (
            f"{whose(self.subject, self.simulated)}: every region by participation (how evenly its connections spread "
            f"over the modules) and within-module z (how strongly it is connected in its own), after Guimerà and "
            f"Amaral (2005). Hubs, with a z of at least {self.hub_z:g}: {int(self.roles['hub'].sum())}; "
            "graphs of this size have few."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        x, y = self.roles[PARTICIPATION].to_numpy(), self.roles[WITHIN_Z].to_numpy()
        regions = self.roles["region"].to_numpy()
        traces = [
            {
                "type": "scatter",
                "x": x[module.members],
                "y": y[module.members],
                "text": [escape(regions[i], quote=False) for i in module.members],
                "mode": "markers",
                "name": escape(module.name, quote=False),
                "marker": {"color": module.colour, "symbol": module.symbol, "size": 8},
                "hovertemplate": "%{text}<br>participation %{x:.2f}, z %{y:.2f}",
            }
            for module in self.drawn
        ]
        frame = {
            **layout(self.title, self.simulated, height=520),
            "xaxis": {"title": {"text": REGION_MEASURES[PARTICIPATION].short}, "range": [-0.03, 1]},
            "yaxis": {"title": {"text": REGION_MEASURES[WITHIN_Z].short}},
            "shapes": [horizontal_line(self.hub_z, {"dash": "dot", "color": HUB_LINE})],
            "annotations": [note_at_right(self.hub_z, HUBS_ABOVE)],
            "legend": {"orientation": "h", "yanchor": "top", "y": -0.2, "x": 0},
        }
        return go.Figure(traces, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.module_drawings import draw_role_map

        return draw_role_map(self, style)
