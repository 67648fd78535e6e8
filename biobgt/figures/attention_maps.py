"""The mean attention of every group of a trained model, map beside map."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.figures.attention_options import MEAN, MEDIAN, AttentionOptions, AverageOptions
from biobgt.figures.attention_words import BEYOND, connectivity_words, map_words
from biobgt.figures.figure import registered
from biobgt.figures.maps_beside import MapsBeside, Matrix, beside_group
from biobgt.figures.model_figure import (
    ONE_MEMBER,
    ModelFigure,
    known_group,
    model_of,
    model_words,
    spread_of_model,
    whose_model,
)
from biobgt.model.attention import BesideConnectivity, colour_limits, select_attention

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.model.installed import InstalledModel
    from biobgt.results.measured import Measured

_ROWS = "Each row of maps is one cohort, its own controls first. "


@dataclass(frozen=True)
class AttentionMapsOptions(AttentionOptions, AverageOptions):
    """The part of attention, the order of regions, the average, and the scale where other models' maps share it."""

    limits: tuple[float, ...] = option(
        (),
        title="Limits of the colour scale",
        help="Two numbers, the lower one first; by default those that suit the maps.",
    )
    groups: tuple[str, ...] = option(
        (), title="Groups", help="Names of groups of the model, in the order in which they are shown; by default all."
    )


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionMaps(ModelFigure, MapsBeside):
    """Mean attention of every group of a model.

    Attributes
    ----------
    maps : mapping of str to ndarray, shape (n_regions, n_regions)
        By group.
    sizes : mapping of str to int
        Subjects of each group.
    beside : mapping of str to BesideConnectivity
        Each group's map beside the group's mean connectivity.
    """

    key = "attention_maps"
    name = "Attention of groups"
    takes = AttentionMapsOptions

    options: AttentionMapsOptions = field(default_factory=AttentionMapsOptions)
    maps: Mapping[str, Matrix]
    sizes: Mapping[str, int]
    beside: Mapping[str, BesideConnectivity]

    @classmethod
    def of(cls, measured: "Measured", options: AttentionMapsOptions) -> Self:
        """Take the model's groups."""
        model = model_of(measured, cls.key)
        order = options.regions(measured, model)
        found = averaged_maps(model, options)
        maps = {group: found[known_group(model, group)] for group in options.groups or _in_rows(model)}
        return cls(
            **whose_model(model, options.groups),
            **model_words(model),
            options=options,
            title=f"Attention of {model.name}",
            maps=maps,
            rows=() if options.groups else tuple(map(len, model.readouts.values())),
            sizes=model.groups.n,
            regions=model.atlas.regions,
            order=order,
            limits=_asked_limits(options) or colour_limits(list(maps.values())),
            beside={group: beside_group(model, group, matrix, order) for group, matrix in maps.items()},
        )

    @property
    def panels(self) -> Mapping[str, Matrix]:
        """The groups' maps, with the number of subjects above."""
        part = "\n" if self.rows else " "  # names of cohorts are long
        return {f"{group}{part}(n = {self.sizes[group]:,})": matrix for group, matrix in self.maps.items()}

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per group and region that looks, one column per region that is looked at."""
        return self._numbers("group", self.maps)

    @property
    def caption(self) -> str:
        """What the maps show, and how much of them is mean connectivity."""
        groups = ", ".join(f"{self.sizes[group]:,} {group}" for group in self.maps)
        ends = "as chosen" if self.options.limits else BEYOND
        return (
            f"{self.by_model}: group {self.options.average_words} attention of {groups}, {self.options.words}. Every "
            f"subject was seen by {ONE_MEMBER}. {_ROWS if self.rows else ''}"
            f"{map_words(self.options.order_words)} One colour scale for all groups, from "
            f"{self.limits[0]:.2f} to {self.limits[1]:.2f}: {ends}. {connectivity_words(self.beside)}"
        )


def group_maps(model: "InstalledModel", options: AttentionOptions) -> dict[str, Matrix]:
    """A part of the attention of every group, shape (n_regions, n_regions) each."""
    options.check_part(model)
    return {group: select_attention(model.groups.attention[group], **options.selected) for group in model.group_names}


def averaged_maps(model: "InstalledModel", options: AttentionMapsOptions) -> dict[str, Matrix]:
    """The same, as mean, median or trimmed mean over people; the last two are of the mean over layers and heads."""
    if options.average == MEAN:
        return group_maps(model, options)
    options.check_whole("Median and trimmed maps")
    spread = spread_of_model(model)
    maps = spread.median if options.average == MEDIAN else spread.trimmed
    return {group: maps[group] for group in model.group_names}


def _in_rows(model: "InstalledModel") -> tuple[str, ...]:
    """The groups of a model; of one with several cohorts cohort by cohort."""
    return tuple(group for own in model.readouts.values() for group in own) or model.group_names


def _asked_limits(options: AttentionMapsOptions) -> tuple[float, float] | None:
    """The ends of the colour scale that were asked for, if any."""
    if not options.limits:
        return None
    if len(options.limits) != 2 or not options.limits[0] < options.limits[1]:
        raise InputError("The limits of the colour scale are two numbers, the lower one first.")
    return float(options.limits[0]), float(options.limits[1])
