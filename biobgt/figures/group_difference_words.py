"""Words that figures of two groups' differences share: how they were measured and tested, and what to cite."""

from typing import TYPE_CHECKING, Any

from biobgt.base.references import in_brackets
from biobgt.base.wording import adjusted_for
from biobgt.data.atlas import named_labelling
from biobgt.figures.graph_words import estimated_with
from biobgt.figures.hub_words import hub_words
from biobgt.figures.modules import module_words
from biobgt.groups.compare import HUBS, NETWORKS, ComparisonOptions
from biobgt.modules.measures import MODULE_MEASURES, ModuleOptions

if TYPE_CHECKING:
    from biobgt.groups.compare import GroupComparison
    from biobgt.results.measured import Measured


def comparison_words(measured: "Measured", options: ComparisonOptions, found: "GroupComparison") -> dict[str, Any]:
    """Methods and citations of a figure of two groups' differences.

    Parameters
    ----------
    measured : Measured
    options : ComparisonOptions
    found : GroupComparison
    """
    words = _measure_words(measured, options)
    first, second = found.between
    sizes = " and ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    test = (
        f"{second} and {first} ({sizes}) were compared with a linear model and a two-sided permutation test (Freedman "
        f"and Lane 1983; {found.permutations:,} permutations, seed {found.seed}) of Welch's t, in which each group has "
        f"its own variance, {adjusted_for(found.covariates)}. The false discovery rate was controlled over all "
        "features (Benjamini and Hochberg 1995). Effect sizes d are adjusted differences in residual standard "
        "deviations. Several recordings of one person were averaged first."
    )
    return {
        "methods": (*words["methods"], test),
        "citations": (*words["citations"], "freedman1983", "benjamini1995"),
    }


def _measure_words(measured: "Measured", options: ComparisonOptions) -> dict[str, Any]:
    """How the features were measured."""
    if options.of == HUBS:
        return hub_words(measured, options, (options.measure,))
    if options.of == NETWORKS:
        atlas = measured.atlas
        named, keys = named_labelling(options.labelling or next(iter(atlas.labels)))
        cites = estimated_with(measured)
        how = f"estimated as Pearson's correlation with nilearn{in_brackets(cites)}" if cites else "given"
        transformed = ", Fisher-transformed" if measured.kind.functional else ""
        sentence = (
            f"{measured.kind.title} between the {atlas.n_regions} regions of {atlas.title}{in_brackets(atlas.cites)} "
            f"was {how}{transformed} and averaged within and between {named}."
        )
        return {"methods": (sentence,), "citations": (*atlas.cites, *cites, *keys)}
    compared = [measure for measure in MODULE_MEASURES.values() if measure.compared]
    definitions = " ".join(dict.fromkeys(measure.definition for measure in compared))
    cited = dict.fromkeys(citation for measure in compared for citation in measure.citations)
    return module_words(measured, options.part(ModuleOptions), definitions, cited=cited)
