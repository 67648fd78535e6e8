"""What BioBGT is compared with, one small file per system.

The simple models of :data:`BASELINES` stand beside every BioBGT, in ``biobgt evaluate``, in ``biobgt train`` and on its
card; they are listed here without torch, which takes seconds to import. :data:`biobgt.model.baselines.systems.SYSTEMS`
holds every other row of ``biobgt benchmark``. Each is written anew from its paper.
"""

from biobgt.model.baselines.linear_models import (
    BASELINES,
    PENALTIES,
    Baseline,
    BaselineModel,
    LinearBaseline,
    LinearFeatures,
    baseline_titles,
    kinds_of_baselines,
)

__all__ = [
    "BASELINES",
    "PENALTIES",
    "Baseline",
    "BaselineModel",
    "LinearBaseline",
    "LinearFeatures",
    "baseline_titles",
    "kinds_of_baselines",
]
