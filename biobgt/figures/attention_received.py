"""Which regions of the brain a trained model's groups look at."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.options import option
from biobgt.base.references import in_brackets
from biobgt.base.wording import capitalised, percent
from biobgt.figures.attention import AttentionPartOptions
from biobgt.figures.brain import CORTEX, BrainDrawing, place_words
from biobgt.figures.figure import registered
from biobgt.figures.graph_words import coordinates_of
from biobgt.figures.model_figure import ModelFigure, groups_of, known_group, model_of, model_words, whose_model
from biobgt.figures.surface import BrainKind, brain_option, not_drawn_words, surface_labels_of
from biobgt.model.attention import attention_received, select_attention, strongest_regions

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

Values = NDArray[np.float64]

RECEIVED = "attention received (1 = uniform)"


@dataclass(frozen=True)
class AttentionReceivedOptions(AttentionPartOptions):
    """Whose attention, and which part of it."""

    group: str = option(
        "",
        title="Group",
        help="The group whose attention is shown; by default the controls.",
        choices_of=groups_of,
        of_model=True,
        in_a_row=True,
        link="received_group",
    )
    brain: BrainKind = brain_option()


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionReceived(ModelFigure):
    """The attention that each region receives from all others, at its place in the brain.

    Attributes
    ----------
    group : str
    n_subjects : int
        Of the group.
    coordinates : ndarray, shape (n_regions, 3)
        MNI coordinates in mm.
    regions : sequence of str, length n_regions
    received : ndarray, shape (n_regions,)
        In multiples of uniform attention.
    surface_labels : ndarray of int, shape (20484,), or None
        Of the vertices of fsaverage5, for a painted cortex.
    """

    key = "attention_received"
    name = "Attention received, in the brain"
    takes = AttentionReceivedOptions

    options: AttentionReceivedOptions = field(default_factory=AttentionReceivedOptions)
    group: str
    n_subjects: int
    coordinates: Values
    regions: Sequence[str]
    received: Values
    surface_labels: NDArray[np.int16] | None = None

    @classmethod
    def of(cls, measured: "Measured", options: AttentionReceivedOptions) -> Self:
        """Take one of the model's groups."""
        model = model_of(measured, cls.key)
        group = known_group(model, options.group or model.group_names[0])
        options.check_part(model)
        words = model_words(model)
        return cls(
            **whose_model(model, (group,)),
            methods=(*words["methods"], f"Regions were drawn with nilearn{in_brackets(('abraham2014',))}."),
            citations=(*words["citations"], "abraham2014"),
            options=options,
            title=f"Attention received, {group}, {model.name}",
            group=group,
            n_subjects=model.groups.n[group],
            coordinates=coordinates_of(model.atlas),
            regions=model.atlas.regions,
            received=attention_received(select_attention(model.groups.attention[group], **options.selected)),
            surface_labels=surface_labels_of(model.atlas, options.brain),
        )

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per region."""
        import pandas as pd

        x, y, z = self.coordinates.T
        return pd.DataFrame({"region": self.regions, "x": x, "y": y, "z": z, "attention received": self.received})

    @property
    def caption(self) -> str:
        """What is shown, how little it may vary, and that nothing was tested."""
        return self._caption(CORTEX)

    def paper_caption(self, style: "PaperStyle") -> str:
        """The same of the glass brain."""
        return self._caption("nilearn's glass brain")

    def _caption(self, where: str) -> str:
        low, high = float(self.received.min()), float(self.received.max())
        strongest = strongest_regions(self.received, self.regions)
        painted = self.options.brain != "nodes"
        place = place_words(self.options.brain, where) if painted else f"on {where}"
        colour = "colour is" if painted else "colour and size are"
        return (
            f"{self.by_model}: attention that each region receives from all others in {self.n_subjects:,} "
            f"{self.group}, {self.options.words}, {place}; {colour} multiples of uniform attention. "
            f"{capitalised(colour)} stretched over the whole range, {low:.2f} to {high:.2f}, which is "
            f"{percent((high - low) / float(self.received.mean()))} of the mean. No region was tested; the highest "
            f"values are those of {', '.join(strongest)}.{not_drawn_words(self.coordinates, self.surface_labels)}"
        )

    @property
    def drawing(self) -> BrainDrawing:
        """The regions at their places."""
        return BrainDrawing(
            self.coordinates,
            self.regions,
            sizes=self.received,
            values=self.received,
            quantity=RECEIVED,
            title=self.title,
            simulated=self.simulated,
            brain=self.options.brain,
            surface_labels=self.surface_labels,
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen, to be turned."""
        return self.drawing.plotly()

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper, in a glass brain."""
        return self.drawing.matplotlib(style)
