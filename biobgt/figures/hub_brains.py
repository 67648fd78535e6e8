"""One subject's hubs in the brain: node entanglement at the regions' places, and five measures side by side."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biobgt.base.colours import PALE_GREY
from biobgt.base.options import option
from biobgt.base.wording import whose
from biobgt.figures.brain import CORTEX, GLASS_BRAIN, Brain, brain_caption
from biobgt.figures.brain_nodes import left_out_words
from biobgt.figures.drawing import Drawing, Panel
from biobgt.figures.gaps import GAP_COLOUR, gap_words, with_gaps
from biobgt.figures.graph_words import coordinates_of
from biobgt.figures.hub_words import HUB_COLOUR, RANK_1, hub_words
from biobgt.figures.register import figure
from biobgt.figures.surface import NODES, BrainKind, brain_option, n_drawn, not_drawn_words, surface_labels_of
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.hubs.options import EntanglementOptions, HubOptions

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured

MOST_NAMED = 10  # names in a brain; more would lie on each other
# The paper's five, by their names there.
PAPERS_FIVE: Mapping[str, str] = {
    "degree": "DC",
    "betweenness": "BC",
    "closeness": "CC",
    "eigenvector": "EC",
    NE: "NE",
}


@dataclass(frozen=True)
class HubBrainOptions(HubOptions):
    """By which measure regions are sized, and which of them are hubs."""

    measure: str = option(NE, title="Hub measure", help="The measure that is shown in the brain.", choices=HUB_MEASURES)
    brain: BrainKind = brain_option()


@figure("hub_brain", "Hubs in the brain", takes=HubBrainOptions)
def hub_brain(measured: "Measured", options: HubBrainOptions) -> Drawing:
    """Regions in the brain, sized by a hub measure: hubs stand out and the strongest are named, others are grey."""
    subject, key, regions = measured.subject, options.measure, measured.atlas.regions
    coordinates, labels = coordinates_of(measured.atlas), surface_labels_of(measured.atlas, options.brain)
    table = measured.hub_table(options.part(HubOptions), (key,))
    values, ranks = (with_gaps(table[column].to_numpy(float), subject) for column in (key, f"{key}_rank"))
    hubs = table[f"{key}_hub"].to_numpy(bool)
    strongest = [int(region) for region in np.argsort(ranks, kind="stable") if hubs[region]][:MOST_NAMED]
    about, painted = HUB_MEASURES[key].in_words_of(measured.kind), options.brain != NODES
    hub, other, none = f"hubs by {about.short}", "other regions", "no data"
    groups = [none if np.isnan(rank) else hub if is_hub else other for rank, is_hub in zip(ranks, hubs, strict=True)]
    brain = Brain(
        coordinates=coordinates,
        regions=regions,
        sizes=-values if about.low_in_hubs else values,
        values=ranks,
        groups=None if painted else groups,  # a cortex has no sizes, so that its colours are what is measured
        group_colours={none: GAP_COLOUR, other: PALE_GREY, hub: HUB_COLOUR},
        ranked=painted,
        quantity=f"rank by {about.short}",
        named=strongest,
        brain=options.brain,
        surface_labels=labels,
    )

    def numbers() -> "pd.DataFrame":
        import pandas as pd

        columns = {"region": regions, **dict(zip("xyz", coordinates.T, strict=True)), key: values, f"{key}_rank": ranks}
        return pd.DataFrame(columns | {f"{key}_hub": hubs}).astype({f"{key}_rank": "Int64"})

    def caption(where: str) -> str:
        at = f" at γ = {options.gamma:g}/mean(λ)" if key == NE else ""
        named = f"orange for the {int(hubs.sum())} {hub}{at} ({options.hubs_are}) and grey for the others"
        said = brain_caption(
            subject.id,
            n_drawn(coordinates, labels),
            quantity=f"the rank by {about.short}{at} ({RANK_1})" if painted else named,
            size=f"{about.short} itself",
            where=where,
            brain=options.brain,
            simulated=subject.simulated,
        )
        names = f" The strongest: {', '.join(regions[region] for region in strongest)}." if strongest else ""
        return f"{said}{names}{not_drawn_words(coordinates, labels)}{gap_words(subject)}"

    screen = Drawing(
        title=f"Hubs of {subject.id}",
        simulated=subject.simulated,
        panels=[Panel(marks=[brain])],
        caption=caption(CORTEX),
        numbers=numbers,
        **hub_words(measured, options, (key,)),
    )
    return replace(screen, on_paper=lambda style: replace(screen, caption=caption(GLASS_BRAIN)))


@figure(
    "five_brains",
    "Five hub measures in the brain",
    takes=EntanglementOptions,
    least_mm=55,
    on_paper_only=True,  # five brains to be turned are too many for a browser
)
def five_brains(measured: "Measured", options: EntanglementOptions) -> Drawing:
    """The paper's five hub measures, each in a brain of its own, on one colour scale."""
    subject, regions, coordinates = measured.subject, measured.atlas.regions, coordinates_of(measured.atlas)
    table = measured.hub_table(HubOptions(options.gamma, options.perturbation), tuple(PAPERS_FIVE))
    values = {key: table[f"{key}_z"].to_numpy() for key in PAPERS_FIVE}

    def numbers() -> "pd.DataFrame":
        import pandas as pd

        places = dict(zip("xyz", coordinates.T, strict=True))
        return pd.DataFrame({"region": regions, **places, **{PAPERS_FIVE[key]: z for key, z in values.items()}})

    about: dict[str, Any] = {"coordinates": coordinates, "regions": regions, "quantity": "z-score over regions"}
    names = ", ".join(f"{name} ({HUB_MEASURES[key].title})" for key, name in PAPERS_FIVE.items())
    return Drawing(
        title=f"Five hub measures of {subject.id}",
        simulated=subject.simulated,
        panels=[
            Panel(title=f"{PAPERS_FIVE[key]}: {HUB_MEASURES[key].title}", marks=[Brain(sizes=z, values=z, **about)])
            for key, z in values.items()
        ],
        caption=(
            f"{whose(subject.id, subject.simulated)}: {names}, as z-scores over regions in nilearn's glass brain. "
            f"Larger and redder is higher, on one colour scale for all. NE is |ΔS| at γ = "
            f"{options.gamma:g}/mean(λ), perturbation {options.perturbation}.{left_out_words(coordinates)}"
        ),
        numbers=numbers,
        **hub_words(measured, options, tuple(PAPERS_FIVE)),
    )
