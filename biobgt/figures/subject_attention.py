"""One subject's attention beside the mean of a group."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from biobgt.base.options import option
from biobgt.base.wording import NOT_A_DIAGNOSIS, signed
from biobgt.figures.attention_options import AttentionOptions
from biobgt.figures.attention_words import BEYOND, connectivity_words
from biobgt.figures.figure import registered
from biobgt.figures.frame import whose
from biobgt.figures.maps_beside import MapsBeside, Matrix, beside_group
from biobgt.figures.model_figure import AskedModelOptions, asked_model, known_group, subject_words
from biobgt.model.attention import (
    BesideConnectivity,
    beside_connectivity,
    colour_limits,
    group_beside,
    map_correlation,
    select_attention,
)

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured


@dataclass(frozen=True)
class SubjectAttentionOptions(AttentionOptions, AskedModelOptions):
    """Which model, which part of its attention, and which group stands beside the subject."""

    group: str = option(
        "", title="Group", help="The group to compare with; by default the subject's own, or the controls."
    )


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class SubjectAttention(MapsBeside):
    """One subject's attention beside the mean of a group.

    Attributes
    ----------
    subject : str
    group : str
    maps : mapping of str to ndarray, shape (n_regions, n_regions)
        The subject's and the group's, by what stands above them.
    correlation : float
        Of the two, over all pairs of regions.
    beside : mapping of str to BesideConnectivity
        Each map beside connectivity.
    warning : str
        Why what the model says of the subject should not be believed; empty for no reason.
    subject_simulated, model_simulated : bool
    """

    key = "subject_attention"
    name = "A subject's attention beside its group's"
    takes = SubjectAttentionOptions
    of_graph = False

    options: SubjectAttentionOptions = field(default_factory=SubjectAttentionOptions)
    subject: str
    group: str
    maps: Mapping[str, Matrix]
    correlation: float
    beside: Mapping[str, BesideConnectivity]
    warning: str = ""
    subject_simulated: bool = False
    model_simulated: bool = False

    @classmethod
    def of(cls, measured: "Measured", options: SubjectAttentionOptions) -> Self:
        """Run the model on the subject."""
        subject, model = measured.subject, asked_model(options, cls.key)
        group = known_group(model, options.group or group_beside(subject.group, model.group_names))
        options.check_part(model)
        order = options.regions(measured, model)
        own = select_attention(measured.explanation(model).attention[0], **options.selected)
        mean = select_attention(model.groups.attention[group], **options.selected)
        warning = "" if model.readouts else str(measured.prediction(model)["warning"])  # a network predicts by readouts
        return cls(
            **subject_words(model, warning),
            options=options,
            title=f"Attention of {subject.id}",
            simulated=subject.simulated or model.simulated,
            subject=subject.id,
            group=group,
            maps={subject.id: own, f"mean of {group} (n = {model.groups.n[group]:,})": mean},
            correlation=map_correlation(own, mean),
            regions=measured.atlas.regions,
            order=order,
            limits=colour_limits([own, mean]),
            beside={
                subject.id: beside_connectivity(own, measured.pearson(), order.labels),
                f"mean of {group}": beside_group(model, group, mean, order),
            },
            warning=warning,
            subject_simulated=subject.simulated,
            model_simulated=model.simulated,
        )

    @property
    def panels(self) -> Mapping[str, Matrix]:
        """The two maps."""
        return self.maps

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per map and region that looks, one column per region that is looked at."""
        return self._numbers("of", self.maps)

    @property
    def caption(self) -> str:
        """How the subject's attention compares with the group's mean, and both with connectivity."""
        trained = " (trained on simulated patients)" if self.model_simulated else ""
        caution = f"Caution: {self.warning}. " if self.warning else ""
        return (
            f"{whose(self.subject, self.subject_simulated)}: attention by model {self.options.model}{trained}, "
            f"{self.options.words}, as the mean of all ensemble members, beside the mean of {self.group}, each of whom "
            f"was seen by the one member not trained on them. On one colour scale: {BEYOND}. Over all pairs of regions "
            f"the two correlate with r = {signed(self.correlation)}. {connectivity_words(self.beside)} "
            f"{caution}{NOT_A_DIAGNOSIS}"
        )
