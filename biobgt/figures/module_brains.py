"""Modules in the brain: one subject's, with the strongest connections that hold them together, and a group's."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import counted
from biobgt.figures.brain import CORTEX, GLASS_BRAIN, IN_NONE, BrainDrawing, brain_caption, place_words
from biobgt.figures.brain_nodes import Edges
from biobgt.figures.figure import Figure, registered
from biobgt.figures.graph_words import coordinates_of
from biobgt.figures.module_groups import ModuleComparisonOptions, compared_modules, group_words
from biobgt.figures.modules import module_colours, module_words, named_modules
from biobgt.figures.surface import BrainKind, brain_option, n_drawn, not_drawn_words, surface_labels_of
from biobgt.modules.measures import NamedModuleOptions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.data.atlas import Atlas
    from biobgt.figures.paper_style import PaperStyle
    from biobgt.modules.partition import Labels
    from biobgt.results.measured import Measured

EDGE_NUMBERS = tuple(range(0, 301, 10))
_FARTHER = 1.3  # so that a whole brain fits on half a page


@dataclass(frozen=True)
class ModuleBrainOptions(NamedModuleOptions):
    """How many connections are drawn with the modules."""

    connections: int = option(
        0,
        title="Strongest connections within modules",
        help="The strongest positive connections whose two regions are in the same module.",
        steps=EDGE_NUMBERS,
        low=0,
        link="brain_edges",
    )
    brain: BrainKind = brain_option()


@dataclass(frozen=True)
class GroupBrainOptions(ModuleComparisonOptions):
    """Which of two groups is drawn; by default the first."""

    group: str = option("", title="Group shown")
    brain: BrainKind = brain_option()

    @property
    def shown(self) -> str:
        """The group that is drawn."""
        if self.group and self.group not in self.groups:
            raise InputError(f"'{self.group}' is not one of the compared groups: name {self.first} or {self.second}.")
        return self.group or self.first


@dataclass(frozen=True, eq=False, kw_only=True)
class BrainOfModules(Figure, ABC):
    """Regions in the brain, in the colours of their modules.

    Attributes
    ----------
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    regions : sequence of str, length n_regions
    modules : sequence of int, length n_regions
        0 is a region in no module.
    names : mapping of int to str
        What each module is called.
    edges : sequence of (int, int, float)
        Connections: two regions, counted from 0, and a weight.
    brain : {"nodes", "inflated", "pial"}
        How the brain is drawn.
    surface_labels : ndarray of int, shape (20484,), or None
        Of the vertices of fsaverage5, for a painted cortex.
    """

    coordinates: NDArray[np.float64]
    regions: Sequence[str]
    modules: Sequence[int]
    names: Mapping[int, str]
    edges: Edges = ()
    brain: BrainKind = "nodes"
    surface_labels: NDArray[np.int16] | None = None

    @property
    def called(self) -> list[str | None]:
        """What the module of each region is called."""
        return [self.names[module] if module else None for module in self.modules]

    @property
    def drawing(self) -> BrainDrawing:
        """What is drawn, on the screen and on paper."""
        return BrainDrawing(
            self.coordinates,
            self.regions,
            groups=self.called,
            group_colours={self.names[number]: colour for number, colour in module_colours(sorted(self.names)).items()},
            edges=self.edges,
            title=self.title,
            simulated=self.simulated,
            brain=self.brain,
            surface_labels=self.surface_labels,
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region."""
        import pandas as pd

        x, y, z = self.coordinates.T
        names = [name or "" for name in self.called]
        return pd.DataFrame(
            {"region": self.regions, "module": list(self.modules), "name": names, "x": x, "y": y, "z": z}
        )

    @property
    def caption(self) -> str:
        """Of the brain on the screen."""
        return self._caption(CORTEX)

    def paper_caption(self, style: "PaperStyle") -> str:
        """The same of the glass brain."""
        return self._caption(GLASS_BRAIN)

    @abstractmethod
    def _caption(self, where: str) -> str:
        """The caption, in one brain or the other."""

    def plotly(self) -> "go.Figure":
        """Draw it for the screen, to be turned."""
        return self.drawing.plotly()

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper, in a glass brain."""
        return self.drawing.matplotlib(style)


def _places(
    atlas: "Atlas", options: ModuleBrainOptions | GroupBrainOptions, partition: "Labels", modules: Sequence[int]
) -> dict[str, Any]:
    return {
        "coordinates": coordinates_of(atlas),
        "regions": atlas.regions,
        "modules": modules,
        "names": named_modules(atlas, options.labelling, partition),
        "brain": options.brain,
        "surface_labels": surface_labels_of(atlas, options.brain),
    }


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class ModuleBrain(BrainOfModules):
    """One subject's modules in the brain."""

    key = "module_brain"
    name = "Modules in the brain"
    takes = ModuleBrainOptions

    options: ModuleBrainOptions = field(default_factory=ModuleBrainOptions)
    subject: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: ModuleBrainOptions) -> Self:
        """Put the subject's modules at their places, with the strongest connections within them."""
        from biobgt.modules.partition import strongest_within_modules

        subject, partition = measured.subject, measured.modules(options).partition
        return cls(
            options=options,
            title=f"Modules of {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            **_places(measured.atlas, options, partition, partition.labels.tolist()),
            edges=strongest_within_modules(measured.graph_of_modules(options), partition, most=options.connections),
            **module_words(measured, options),
        )

    def _caption(self, where: str) -> str:
        said = brain_caption(
            self.subject,
            n_drawn(self.coordinates, self.surface_labels),
            n_groups=len(self.names),
            some_in_none=0 in self.modules,
            n_edges=len(self.drawing.connections),
            where=where,
            brain=self.brain,
            simulated=self.simulated,
        )
        return said + not_drawn_words(self.coordinates, self.surface_labels)


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class GroupModuleBrain(BrainOfModules):
    """The modules that the subjects of one of two groups agree on, in the brain.

    Attributes
    ----------
    n_subjects : int
        People of the group.
    """

    key = "group_module_brain"
    name = "A group's modules in the brain"
    takes = GroupBrainOptions
    of_subject = False

    options: GroupBrainOptions = field(default_factory=GroupBrainOptions)
    n_subjects: int

    @classmethod
    def of(cls, measured: "Measured", options: GroupBrainOptions) -> Self:
        """Put the group's modules at their places."""
        coordinates_of(measured.atlas)  # groups take long to compare, and all in vain where there are none
        surface_labels_of(measured.atlas, options.brain)
        found, shown = compared_modules(measured, options), options.shown
        labels = (found.first if shown == options.first else found.second).tolist()
        return cls(
            options=options,
            title=f"Modules of {shown}",
            simulated=measured.cohort.simulated,
            **_places(measured.atlas, options, labels, labels),
            n_subjects=found.n_subjects[options.groups.index(shown)],
            **group_words(measured, options, found),
        )

    def _caption(self, where: str) -> str:
        shown, (first, second) = self.options.shown, self.options.groups
        whom = counted(self.n_subjects, "simulated subject" if self.simulated else "subject")
        drawn = counted(n_drawn(self.coordinates, self.surface_labels), "region")
        return (
            f"{shown}: {counted(len(self.names), 'module')} that its {whom} agree on, as {drawn} "
            f"{place_words(self.brain, where)}{IN_NONE if 0 in self.modules else ''}."
            f"{not_drawn_words(self.coordinates, self.surface_labels)}"
            f" Modules are numbered and coloured as those of {second if shown == first else first} with which they "
            "share the most regions."
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen, to be turned, from farther off: two groups stand side by side."""
        return self.drawing.plotly(distance=_FARTHER)
