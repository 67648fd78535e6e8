"""Where several networks look on the same test subjects, map beside map: the paper's figure 6."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from biobgt.base.errors import InputError
from biobgt.figures.attention_options import AttentionOrderOptions
from biobgt.figures.attention_words import BEYOND, map_words
from biobgt.figures.figure import registered
from biobgt.figures.maps_beside import MapsBeside, Matrix
from biobgt.figures.model_figure import ModelFigure, model_of, model_words, whose_model
from biobgt.model.attention import (
    PERMUTATIONS,
    FollowsModules,
    colour_limits,
    load_systems_attention,
    systems_follow_modules,
)

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured

# The register of the benchmark has them too, but brings torch.
_CITED = {"graphormer": "ying2021", "sat-pe": "chen2022"}


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionSystems(ModelFigure, MapsBeside):
    """Mean attention of networks that were trained and tested on the same subjects.

    Attributes
    ----------
    maps : mapping of str to ndarray, shape (n_regions, n_regions)
        By the network's title.
    follows : mapping of str to FollowsModules
        How well each map follows the modules that regions are ordered by; empty where they have no modules.
    auc : mapping of str to float
        Of each network on the test subjects.
    n_subjects : int
        Test subjects.
    split : str
    """

    key = "attention_systems"
    name = "Attention of other networks"
    takes = AttentionOrderOptions
    example_of = "abide-cc200"

    options: AttentionOrderOptions = field(default_factory=AttentionOrderOptions)
    maps: Mapping[str, Matrix]
    follows: Mapping[str, FollowsModules]
    auc: Mapping[str, float]
    n_subjects: int
    split: str

    @classmethod
    def of(cls, measured: "Measured", options: AttentionOrderOptions) -> Self:
        """Take what was measured on the cohort that the model was trained on."""
        model, found = model_of(measured, cls.key), load_systems_attention()
        if model.name != found.model:
            raise InputError(f"Other networks were trained on the subjects of model {found.model} only: choose it.")
        order = options.regions(measured, model)
        maps = dict(zip(found.titles, found.maps, strict=True))
        labelled = order.labels is not None and any(order.labels)
        words = model_words(model)
        return cls(
            **whose_model(model),
            methods=(
                "Graphormer (Ying et al. 2021), a structure-aware transformer (Chen et al. 2022) and BioBGT "
                "(Peng et al. 2025) were trained on the same subjects, each with its own settings, and the epoch of "
                f"each was chosen on the same validation subjects. Their attention is that on the {found.n_subjects} "
                "test subjects, mean over layers and heads.",
            ),
            citations=(*words["citations"], *(_CITED[key] for key in found.systems if key in _CITED)),
            options=options,
            title="Attention of three networks on the same subjects",
            maps=maps,
            follows=dict(zip(maps, systems_follow_modules(tuple(order.labels or ())), strict=True)) if labelled else {},
            auc=dict(zip(maps, map(float, found.auc), strict=True)),
            n_subjects=found.n_subjects,
            split=found.split,
            regions=model.atlas.regions,
            order=order,
            limits=colour_limits(list(maps.values())),
        )

    @property
    def panels(self) -> Mapping[str, Matrix]:
        """The maps by their networks' first names, which fit on a narrow page, with how well each follows modules."""
        ratios = {title: f"\nratio {one.ratio:.2f}" for title, one in self.follows.items()}
        return {title.split()[0].rstrip(",") + ratios.get(title, ""): matrix for title, matrix in self.maps.items()}

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per network and region that looks, one column per region that is looked at."""
        return self._numbers("network", self.maps)

    @property
    def caption(self) -> str:
        """What the maps show, how well each follows modules, and how well each tells the groups apart."""
        follow = "; ".join(
            f"{title} {one.ratio:.2f} ({one.chance:.2f} by chance, p = {one.p:.3f})"
            for title, one in self.follows.items()
        )
        ratios = (
            f" The ratio is mean attention within over between these modules: {follow}; chance is "
            f"{PERMUTATIONS:,} permutations of the labels over regions, which ignore spatial autocorrelation."
            if follow
            else ""
        )
        auc = ", ".join(f"{title} {value:.2f}" for title, value in self.auc.items())
        return (
            f"Mean attention of networks trained on the same subjects of ABIDE, on the {self.n_subjects} test subjects "
            f"of {self.split}, mean over layers and heads. {map_words(self.options.order_words)} One colour scale "
            f"for all, from {self.limits[0]:.2f} to {self.limits[1]:.2f}: {BEYOND}.{ratios} AUC on these subjects: "
            f"{auc}. BioBGT's attention was scaled before training so that it is larger within the Louvain modules of "
            "training subjects: that it follows modules is by design, and not learnt from the groups. How "
            "well attention follows modules does not say how well a network tells the groups apart."
        )
