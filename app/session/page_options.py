"""What pages let choose beyond the options of figures, as a link names it."""

from dataclasses import dataclass
from typing import Any

from biobgt import Cohort
from biobgt.base.options import Options, option
from biobgt.figures.surface import BRAIN_KINDS, NODES, has_surface
from biobgt.model.installed import installed_model

IN_3D, GLASS, FIVE = "3d", "glass", "five"
_NODES = {IN_3D: "Interactive 3-D", GLASS: "Glass brain"}
_PAINTED = {kind: title for kind, title in BRAIN_KINDS.items() if kind != NODES}


def _brains(cohort: Cohort) -> tuple[str, ...]:
    """The ways to draw regions in a brain; painted where the atlas has surface labels."""
    return (*_NODES, *(_PAINTED if has_surface(cohort.atlas) else ()))


def _hub_brains(cohort: Cohort) -> tuple[str, ...]:
    return (*_brains(cohort), FIVE)


def brain_kind(shown: str) -> str:
    """How a figure's brain is drawn, by what the page lets choose."""
    return shown if shown in _PAINTED else NODES


_BRAINS = _NODES | _PAINTED
_WAYS = "in an interactive 3-D brain, in a glass brain or, where the atlas has surface labels, painted on the cortex"


def _readouts(cohort: Cohort) -> tuple[str, ...]:
    return ("", *installed_model(cohort.name).readouts)


def _disorders(cohort: Cohort) -> tuple[str, ...]:
    return tuple(group for own in installed_model(cohort.name).readouts.values() for group in own[1:])


def _brain(what: str, link: str, *, of_model: bool = False) -> Any:
    """The option of how something is drawn in the brain."""
    return option(
        IN_3D,
        title="Brain",
        help=f"{what} {_WAYS}.",
        choices_of=_brains,
        of_model=of_model,
        in_a_row=True,
        shown=_BRAINS,
        link=link,
    )


@dataclass(frozen=True)
class PageOptions(Options):
    """What pages show."""

    hub_brain: str = option(
        IN_3D,
        title="Brain",
        help=f"Regions {_WAYS}; or five measures side by side.",
        choices_of=_hub_brains,
        in_a_row=True,
        shown={**_BRAINS, FIVE: "Five measures"},
        link="brain_shown",
    )
    own_attention: bool = option(
        False,
        title="Run the model on the subject",
        help="Takes a few seconds the first time, when the model is loaded.",
        link="own_attention",
    )
    module_brain: str = _brain("The subject's modules", "brain_kind")
    group_brain: str = _brain("Each group's modules", "group_brain_kind")
    difference_brain: str = _brain("The differences of the regions", "difference_brain")


@dataclass(frozen=True)
class ModelPageOptions(Options):
    """What pages show of a trained model, apart from the others: which models there are is looked up on the disk."""

    readout: str = option(
        "",
        title="Compare with the controls of",
        help="A network that several cohorts share has a readout for each. A probability means something only for "
        "subjects who were scanned and preprocessed as the subjects of that cohort were.",
        choices_of=_readouts,
        of_model=True,
        shown={"": "Choose a cohort"},
        link="readout",
    )
    disorder: str = option(
        "",
        title="Disorder",
        help="It is compared with the controls of its own cohort.",
        choices_of=_disorders,
        of_model=True,
        link="disorder",
    )
    received_brain: str = _brain("Regions", "received_brain", of_model=True)
