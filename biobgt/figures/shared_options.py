"""Options that several figures have: the region that is asked about, diffusion times, the order of regions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biobgt.base.options import Options, option
from biobgt.data.atlas import LABELLINGS
from biobgt.figures.graph_words import ATLAS_ORDER
from biobgt.hubs.options import GAMMAS

if TYPE_CHECKING:
    from biobgt.data.cohort import Cohort

AS_IN_ATLAS: Mapping[str, str] = {ATLAS_ORDER: "Atlas order"}


def region_option(*, help: str = "Name of a region to mark with a ring.") -> Any:
    """The option of a figure: a region, by its name."""
    return option("", title="Region", help=help, link="region")


def gammas_option() -> Any:
    """The option of a figure: over which diffusion times something is drawn."""
    return option(GAMMAS, title="Diffusion times", help="In units of 1/mean(λ).", above=0.0, fewest=1)


def order_option(
    default: str = ATLAS_ORDER, *, others: Mapping[str, str] = AS_IN_ATLAS, help: str, link: str, **about: Any
) -> Any:
    """The option of a figure: the order of regions, by one of the atlas's labellings or one of ``others``.

    Parameters
    ----------
    default : str
    others : mapping of str to str
        Titles of the orders that do not follow a labelling; pages offer them behind the labellings.
    help, link : str
        As of any option.
    **about : further attributes of :class:`biobgt.base.options.Option`
    """

    def orders(cohort: "Cohort") -> tuple[str, ...]:
        return (*cohort.atlas.labels, *others)

    def title(order: str) -> str:
        return others[order] if order in others else f"By {LABELLINGS.get(order, order)}"

    return option(default, title="Order of regions", help=help, choices_of=orders, shown=title, link=link, **about)


def first_labelling(cohort: "Cohort") -> str:
    """What a page orders regions by at first, so that its axes name networks."""
    return next(iter(cohort.atlas.labels), ATLAS_ORDER)


@dataclass(frozen=True)
class RegionOrderOptions(Options):
    """In which order regions are drawn."""

    order: str = order_option(
        help="By functional network, or the atlas's order.", default_of=first_labelling, link="region_order"
    )
