"""Words that figures of hubs share: how hubs were measured, what to cite, and a remark on FC strength."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from biobgt.base.colours import LINE_GREY, PURPLE, VERMILION
from biobgt.base.wording import signed, whose
from biobgt.figures.graph_words import graph_citations, graph_methods
from biobgt.hubs.measures import HUB_MEASURES, LITTLE_MEAN_CONNECTIVITY, NE, has_little_fc_strength, notes_on
from biobgt.hubs.options import PERTURBATIONS, EntanglementOptions, HubOptions

if TYPE_CHECKING:
    from biobgt.results.measured import Measured

# Colours of what is marked, whatever the measure; Okabe and Ito's, and never the only way to tell two things apart.
HUB_COLOUR = VERMILION
CHOSEN_COLOUR = PURPLE
GROUP_COLOUR = LINE_GREY
RANK_1 = "1 is the strongest hub"


def hub_words(measured: "Measured", options: EntanglementOptions, measures: Sequence[str]) -> dict[str, Any]:
    """Methods and citations of a figure that shows some hub measures, node entanglement among them or not.

    Parameters
    ----------
    measured : Measured
    options : EntanglementOptions
    measures : sequence of str
        Keys of :data:`biobgt.hubs.HUB_MEASURES`.
    """
    definitions = [HUB_MEASURES[key].in_words_of(measured.kind).definition for key in measures]
    if NE in measures:
        definitions.insert(
            1 + list(measures).index(NE),
            f"Under the perturbation, {PERTURBATIONS[options.perturbation]}; the diffusion time was "
            f"γ = {options.gamma:g}/mean(λ), with λ the eigenvalues of the graph's Laplacian.",
        )
    cited = dict.fromkeys(citation for key in measures for citation in HUB_MEASURES[key].citations)
    return {
        "methods": (*graph_methods(measured), *definitions, *notes_on(measures)),
        "citations": (*cited, *graph_citations(measured)),
    }


def entanglement_words(options: EntanglementOptions) -> str:
    """What NE is, within a caption."""
    return f"NE is |ΔS| at γ = {options.gamma:g}/mean(λ) when {PERTURBATIONS[options.perturbation]}"


def strength_remark(measured: "Measured") -> str:
    """On FC strength, where it has little to compare with; ends a caption."""
    sentence = little_strength_sentence(measured)
    return f" {sentence}" if sentence else ""


def table_caption(subject: str, n_hubs: Mapping[str, int], options: HubOptions, *, simulated: bool = False) -> str:
    """Say in words what the hub table shows.

    Parameters
    ----------
    subject : str
    n_hubs : mapping of str to int
        Number of hubs by each measure that stands in the table, by its short name.
    options : HubOptions
    simulated : bool
    """
    counts = ", ".join(f"{count} by {measure}" for measure, count in n_hubs.items()) or "none is shown"
    return (
        f"{whose(subject, simulated)}: hubs are {options.hubs_are}, by each measure on its own: {counts}. Rank "
        f"{RANK_1}. NE is |ΔS| in bits at γ = {options.gamma:g}/mean(λ), perturbation {options.perturbation}. "
        "Click a column header to sort."
    )


def little_strength_sentence(measured: "Measured") -> str:
    """Say that FC strength has little left to compare with; nothing where it has enough or is none.

    Parameters
    ----------
    measured : Measured
        One subject.
    """
    mean = measured.mean_connectivity()[0]
    if not (measured.kind.functional and has_little_fc_strength(mean)):
        return ""
    return little_strength(f"this subject's mean connectivity is {signed(mean, 3)}")


def little_strength(why: str) -> str:
    """The sentence on FC strength, with whose mean connectivity is how low."""
    return f"FC strength has little left to compare NE with: {why}, near zero, as after global-signal regression."


def little_strength_reason(measured: "Measured") -> str:
    """Say the same with its reason and with the criterion, for the page; nothing where FC strength has enough."""
    if not (sentence := little_strength_sentence(measured)):
        return ""
    from biobgt.hubs.reliability import ABIDE, CNI_2019, study_people

    regressed, others = (f"all {study_people()[cohort]} {cohort} subjects" for cohort in (ABIDE, CNI_2019))
    return (
        f"{sentence} FC strength is the mean over all connections of a region, in which positive and negative "
        f"connections then cancel out. This note appears below {LITTLE_MEAN_CONNECTIVITY:g}: {regressed}, with "
        f"global-signal regression, are below it, and {others}, without, are above."
    )
