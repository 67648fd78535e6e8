"""Which part of a model's attention is shown, in which order of regions, and between which groups."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from biobgt.base.errors import InputError
from biobgt.base.kept import kept
from biobgt.base.options import Options, option
from biobgt.base.wording import percent
from biobgt.data.atlas import LABELLINGS
from biobgt.figures.graph_words import ATLAS_ORDER
from biobgt.figures.model_figure import groups_of
from biobgt.figures.region_order import RegionOrder, order_regions
from biobgt.figures.shared_options import AS_IN_ATLAS, order_option
from biobgt.model.installed import InstalledModel, installed_models
from biobgt.model.pretrained import TRIMMED

if TYPE_CHECKING:
    from biobgt.data.cohort import Cohort
    from biobgt.results.measured import Measured

LOUVAIN = "louvain"
MOST_NUMBERED = 64  # layers or heads with a title


def _layers(cohort: "Cohort") -> range:
    """The mean and the layers that any model has: models stand side by side."""
    return range(1 + max(model.n_layers for model in installed_models().values()))


def _heads(cohort: "Cohort") -> range:
    return range(1 + max(model.n_heads for model in installed_models().values()))


def _numbered(what: str) -> Mapping[int, str]:
    return {0: "Mean", **{number: f"{what} {number}" for number in range(1, MOST_NUMBERED)}}


@dataclass(frozen=True)
class AttentionPartOptions(Options):
    """A layer and a head, counted from 1; 0 is their mean."""

    layer: int = option(
        0,
        title="Layer",
        help="A layer of the model, or the mean over layers.",
        choices_of=_layers,
        of_model=True,
        low=0,
        shown=_numbered("Layer"),
        link="attention_layer",
    )
    head: int = option(
        0,
        title="Head",
        help="A head of attention, or the mean over heads.",
        choices_of=_heads,
        of_model=True,
        low=0,
        shown=_numbered("Head"),
        link="attention_head",
    )

    @property
    def selected(self) -> dict[str, int | None]:
        """Layer and head, counted from 0, as :func:`biobgt.model.attention.select_attention` takes them."""
        return {"layer": self.layer - 1 if self.layer else None, "head": self.head - 1 if self.head else None}

    @property
    def words(self) -> str:
        """Layer and head in words."""
        if not self.layer:
            return f"head {self.head}, mean over layers" if self.head else "mean over layers and heads"
        return f"layer {self.layer}, " + (f"head {self.head}" if self.head else "mean over heads")

    def check_whole(self, what: str) -> None:
        """Refuse a single layer or head for what is known of their mean only."""
        if self.layer or self.head:
            raise InputError(f"{what} are of the mean over layers and heads: choose the mean of both.")

    def check_part(self, model: InstalledModel) -> None:
        """Refuse a layer or head that a model does not have."""
        for what, number, most in (("layer", self.layer, model.n_layers), ("head", self.head, model.n_heads)):
            if number > most:
                raise InputError(f"Model {model.name} has no {what} {number}; choose 1 to {most}, or 0 for their mean.")


MEAN, MEDIAN, TRIMMED_MEAN = "mean", "median", "trimmed"
_TRIMMED = f"mean without the lowest and highest {percent(TRIMMED)} of people"


@dataclass(frozen=True)
class AverageOptions(Options):
    """How the people of a group are put together in one map."""

    average: str = option(
        MEAN,
        title="Average over people",
        help=f"A few people with strong attention can make a mean map. The median, and the {_TRIMMED}, cannot be made "
        "by a few.",
        choices=(MEAN, MEDIAN, TRIMMED_MEAN),
        shown={MEAN: "Mean", MEDIAN: "Median", TRIMMED_MEAN: "Trimmed mean"},
        link="attention_average",
    )

    @property
    def average_words(self) -> str:
        """The average in words."""
        return {MEAN: "mean", MEDIAN: "median", TRIMMED_MEAN: _TRIMMED}[self.average]


@dataclass(frozen=True)
class AttentionOrderOptions(Options):
    """The order of regions."""

    order: str = order_option(
        next(iter(LABELLINGS)),
        others={LOUVAIN: "By Louvain modules of the controls", **AS_IN_ATLAS},
        help="By functional module, by the Louvain modules of the controls' mean connectivity, or as in the atlas.",
        of_model=True,
        link="attention_order",
    )

    @property
    def order_words(self) -> str:
        """What a caption says after 'ordered by'."""
        if self.order == LOUVAIN:
            return "Louvain modules of the controls' mean connectivity"
        if self.order == ATLAS_ORDER:
            return "their number in the atlas"
        return f"functional module ({LABELLINGS.get(self.order, self.order)})"

    def regions(self, measured: "Measured", model: InstalledModel) -> RegionOrder:
        """The order of the model's regions."""
        from biobgt.model.attention import functional_labels

        n_regions = model.atlas.n_regions
        if self.order == ATLAS_ORDER:
            return order_regions(n_regions)
        if self.order == LOUVAIN:
            return order_regions(n_regions, cast("list[str | None]", _modules_of_controls(measured, model)))
        return order_regions(n_regions, functional_labels(model.atlas, self.order))


@dataclass(frozen=True)
class AttentionOptions(AttentionOrderOptions, AttentionPartOptions):
    """A layer and a head, and the order of regions."""


@kept("Looking for modules…", most=8, subject=False, graph=False, by=lambda measured, model: model.identity)
def _modules_of_controls(measured: "Measured", model: InstalledModel) -> list[str]:
    """Louvain modules of the mean connectivity of a model's controls, one name per region."""
    from biobgt.groups.attention import louvain_labels

    return louvain_labels(model.groups.connectivity[model.group_names[0]], model.atlas)


def _second_group(cohort: "Cohort") -> str:
    return groups_of(cohort)[1]


@dataclass(frozen=True)
class AttentionGroupsOptions(Options):
    """Two groups of a model that are compared."""

    first: str = option(
        "",
        title="Reference group",
        help="Its attention is subtracted from that of the other group.",
        choices_of=groups_of,
        of_model=True,
        link="attention_first_group",
    )
    second: str = option(
        "",
        title="Compared group",
        help="A positive difference is more attention in this group.",
        choices_of=groups_of,
        default_of=_second_group,
        of_model=True,
        link="attention_second_group",
    )

    def between(self, model: InstalledModel) -> tuple[str, str]:
        """The two groups, if they are two of the model's."""
        if self.first == self.second or not {self.first, self.second} <= set(model.group_names):
            raise InputError(f"Name two different groups of model {model.name}: {', '.join(model.group_names)}.")
        return self.first, self.second
