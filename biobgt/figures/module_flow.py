"""Two divisions of the brain as a flow diagram (Sankey): which modules go where, and with how many regions."""

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.wording import ANY_USUAL_COVARIATE, counted, listed
from biobgt.data.atlas import LABELLINGS, PAPER_MODULES, named_labelling
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import Trace, layout, whose
from biobgt.figures.module_groups import ModuleComparisonOptions, changed_modules, changed_words, group_words
from biobgt.figures.modules import NO_COLOUR, module_colours, module_words, named_modules
from biobgt.modules.measures import AMI, MODULE_MEASURES, NamedModuleOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.modules.compare import ModuleDifference
    from biobgt.modules.partition import ModuleAgreement
    from biobgt.results.measured import Measured

FLOW_OPACITY = 0.45
_TOP, _BOTTOM = 84, 16  # px
_LINE = 14  # px; names of several lines need as many between small nodes
_LETTER = 6.4  # px, of the names' font
_BESIDE = 12  # px from the diagram to the names


@dataclass(frozen=True, eq=False, kw_only=True)
class Flow(Figure, ABC):
    """The regions' way from modules, on the left, to another division, on the right.

    Attributes
    ----------
    agreement : ModuleAgreement
        Its table has one row per module and one column per label or module of the other division.
    names : mapping of int to str
        What each module on the left is called.
    targets : mapping of (int or str) to str
        What each column is called, where not by its own name.
    matched : mapping of (int or str) to int
        The module whose colour a column takes; columns that are not there are grey.
    sides : tuple of str
        What stands on the left and on the right.
    """

    least_mm = 70

    agreement: "ModuleAgreement"
    names: Mapping[int, str]
    targets: Mapping[Any, str] = field(default_factory=dict)
    matched: Mapping[Any, int]
    sides: tuple[str, str]

    def __post_init__(self) -> None:
        if not self.counts.any():
            raise InputError("No region is in both divisions, so no flow between them can be drawn.")

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of regions, shape (n_left, n_right)."""
        counts: NDArray[np.int64] = self.agreement.contingency.to_numpy()
        return counts

    @property
    def called(self) -> tuple[list[str], list[str]]:
        """What stands on the left and on the right is called."""
        table = self.agreement.contingency
        return (
            [self.names[module] for module in table.index],
            [str(self.targets.get(column, column)) for column in table.columns],
        )

    @property
    def colours(self) -> tuple[list[str], list[str]]:
        """The colours of both sides."""
        table = self.agreement.contingency
        shades = module_colours({*table.index, *self.matched.values()})
        right = [shades[self.matched[column]] if column in self.matched else NO_COLOUR for column in table.columns]
        return [shades[module] for module in table.index], right

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        counts, called, (left, right) = self.counts, self.called, self.colours
        flows = [(int(i), len(left) + int(j), int(counts[i, j])) for i, j in zip(*counts.nonzero(), strict=True)]
        pad = 2 + _LINE * max(_in_lines(name).count("<br>") + 1 for side in called for name in side)
        height = _TOP + _BOTTOM + (pad + 18) * max(len(left), len(right), 4)
        heights = _node_places(counts, height - _TOP - _BOTTOM, pad)
        nodes = {
            "label": [escape(name, quote=False) for side in called for name in side],
            "color": [*left, *right],
            "x": [0.001] * len(left) + [0.999] * len(right),
            "y": [*heights[0], *heights[1]],
            "pad": pad,
        }
        frame = layout(self.title, self.simulated, height=height, top=_TOP)
        frame["margin"] |= {"l": _room(called[0]), "r": _room(called[1]), "b": _BOTTOM}
        return go.Figure([_sankey(nodes, flows)], {**frame, "annotations": _side_names(called, heights, self.sides)})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.flow_drawing import draw_flow

        return draw_flow(self, style)


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ModuleFlow(Flow):
    """Where the regions of one subject's modules go among functional networks."""

    key = "module_flow"
    name = "Modules beside functional networks"
    takes = NamedModuleOptions

    options: NamedModuleOptions = field(default_factory=NamedModuleOptions)
    subject: str = ""
    sides: tuple[str, str] = ("Modules", "Networks")

    @classmethod
    def of(cls, measured: "Measured", options: NamedModuleOptions) -> Self:
        """Compare the subject's modules with the labels that name them."""
        from biobgt.modules.partition import match_labels

        subject, atlas = measured.subject, measured.atlas
        partition = measured.modules(options).partition
        agreement = measured.module_agreement(options, options.labelling)
        named, keys = named_labelling(options.labelling)
        sentence = f"Modules were compared with {named}. {MODULE_MEASURES[AMI].definition}"
        return cls(
            options=options,
            title=f"Modules and networks of {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            agreement=agreement,
            names=named_modules(atlas, options.labelling, partition),
            targets=PAPER_MODULES,
            matched=match_labels(agreement.contingency),
            **module_words(measured, options, sentence, cited=("vinh2010", *keys)),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per module and label that share regions."""
        import pandas as pd

        table = self.agreement.contingency
        rows = [
            {"module": module, "name": self.names[module], "label": label, "regions": int(table.loc[module, label])}
            for module in table.index
            for label in table.columns
        ]
        return pd.DataFrame(rows).query("regions > 0")

    @property
    def caption(self) -> str:
        """Which regions are compared, and how far both divisions agree."""
        found, labelling = self.agreement, self.options.labelling
        return (
            f"{whose(self.subject, self.simulated)}: the {counted(found.n_compared, 'region')} that have a module and "
            f"a label, from Louvain modules to {LABELLINGS.get(labelling, labelling)}. Modules "
            f"and networks are paired one to one so that all pairs together share most regions, and a pair has one "
            f"colour; a pair need not be a network's largest share, and networks without a pair are grey. "
            f"{self._left_out}AMI = {found.ami:.2f}."
        )

    @property
    def _left_out(self) -> str:
        """Which regions are not compared, as a sentence; nothing where all are."""
        missing = {"without a label": self.agreement.n_unlabelled, "in no module": self.agreement.n_unassigned}
        said = [f"{counted(n, 'region')} {why}" for why, n in missing.items() if n]
        return f"Left out: {listed(said)}. " if said else ""


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class GroupModuleFlow(Flow):
    """Where the regions of one group's modules go among another group's.

    Attributes
    ----------
    regions : sequence of str, length n_regions
    difference : ModuleDifference
    """

    key = "group_module_flow"
    name = "Modules of two groups"
    takes = ModuleComparisonOptions
    of_subject = False

    options: ModuleComparisonOptions = field(default_factory=ModuleComparisonOptions)
    regions: Sequence[str]
    difference: "ModuleDifference"

    @classmethod
    def of(cls, measured: "Measured", options: ModuleComparisonOptions) -> Self:
        """Compare the modules that each group's subjects agree on."""
        found, groups, atlas = changed_modules(measured, options), options.groups, measured.atlas
        names = [named_modules(atlas, options.labelling, side) for side in (found.first, found.second)]
        return cls(
            options=options,
            title=f"Modules of {groups[0]} and {groups[1]}",
            simulated=measured.cohort.simulated,
            agreement=found.agreement,
            names=names[0],
            targets=names[1],
            matched={module: module for module in names[1]},
            sides=groups,
            regions=atlas.regions,
            difference=found,
            **group_words(measured, options, found),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region: its module in each group."""
        import pandas as pd

        first, second = self.options.groups
        return pd.DataFrame({"region": self.regions, first: self.difference.first, second: self.difference.second})

    @property
    def caption(self) -> str:
        """How many regions are in another module."""
        whom = "simulated subjects" if self.simulated else "subjects"
        first, second = self.options.groups
        return (
            f"Consensus modules of the {whom} of {first} (left) and {second} (right), numbered and coloured alike "
            f"where they share the most regions. {changed_words(self.difference)}; AMI = {self.agreement.ami:.2f}. "
            f"The comparison is not adjusted for {ANY_USUAL_COVARIATE}."
        )


def _sankey(nodes: Mapping[str, Any], flows: Sequence[tuple[int, int, int]]) -> Trace:
    """Nodes, and flows of so many regions from one to another, each in the colour of where it comes from."""
    return {
        "type": "sankey",
        "arrangement": "fixed",
        "node": {
            **nodes,
            "thickness": 16,
            "line": {"width": 0},
            "hovertemplate": "%{label}<br>%{value} regions<extra></extra>",
        },
        "link": {
            "source": [flow[0] for flow in flows],
            "target": [flow[1] for flow in flows],
            "value": [flow[2] for flow in flows],
            "color": [_faded(nodes["color"][flow[0]]) for flow in flows],
            "hovertemplate": "%{source.label} → %{target.label}<br>%{value} regions<extra></extra>",
        },
        "valueformat": "d",
        # plotly writes names onto the flows; they stand beside the nodes instead.
        "textfont": {"color": "rgba(0, 0, 0, 0)", "size": 1, "shadow": "none"},
    }


def _node_places(counts: NDArray[np.int64], height: float, pad: float) -> tuple[list[float], list[float]]:
    """Centre of each node from the top, as a share of the height; the right side in the order of what flows there."""
    order = np.argsort((counts * np.arange(len(counts))[:, None]).sum(axis=0) / counts.sum(axis=0), kind="stable")
    sizes = counts.sum(axis=1), counts.sum(axis=0)[order]
    scale = min((height - pad * (len(size) - 1)) / size.sum() for size in sizes)
    centres = []
    for size in sizes:
        ends = np.cumsum(size * scale + pad) - pad
        centres.append((ends - size * scale / 2 + (height - ends[-1]) / 2) / height)
    placed = np.empty(len(order))
    placed[order] = centres[1]
    return centres[0].tolist(), placed.tolist()


def _side_names(
    called: tuple[Sequence[str], Sequence[str]],
    heights: tuple[Sequence[float], Sequence[float]],
    sides: tuple[str, str],
) -> list[dict[str, object]]:
    """Names beside the nodes, and above them what each side is."""
    notes: list[dict[str, object]] = []
    for x, anchor, names, centres, side in zip((0, 1), ("right", "left"), called, heights, sides, strict=True):
        beside = {"x": x, "xref": "paper", "yref": "paper", "xanchor": anchor, "showarrow": False}
        shift = -_BESIDE if x == 0 else _BESIDE
        for name, centre in zip(names, centres, strict=True):
            notes.append(
                beside
                | {"text": _in_lines(name), "y": 1 - centre, "yanchor": "middle", "xshift": shift, "align": anchor}
            )
        title = f"<b>{escape(side, quote=False)}</b>"
        notes.append(beside | {"text": title, "y": 1, "yanchor": "bottom", "yshift": 8, "xshift": shift})
    return notes


def _room(names: Sequence[str]) -> int:
    """Width of the longest line of the names."""
    longest = max(len(line) for name in names for line in _in_lines(name).split("<br>"))
    return _BESIDE + 6 + round(_LETTER * longest)


def _in_lines(name: str) -> str:
    """A name with each of its parts on a line, so that a narrow page keeps room for the flows."""
    return escape(name, quote=False).replace(" · ", "<br>").replace(", ", ",<br>")


def _faded(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {FLOW_OPACITY})"
