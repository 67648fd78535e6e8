"""Module measures: every number that is taken of a subject's modules is one object here, and every list reads it.

To add one, register a :class:`ModuleMeasure` in :data:`MODULE_MEASURES` (one number per subject) or in
:data:`REGION_MEASURES` (one number per region). It is then a column of the tables of ``biobgt modules``, a row on the
page of modules and, where it is ``compared``, a feature of ``biobgt compare --of segregation``.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from biobgt.references import Citation
from biobgt.registry import Registry, imported_later

if TYPE_CHECKING:
    from biobgt.atlas import Atlas
    from biobgt.modules.label_agreement import ModuleAgreement
    from biobgt.modules.partition import Labels, Partition

Needs = Literal["partition", "labels", "connectivity", "weights"]

N_MODULES, Q, AMI, SEGREGATION = "modules", "q", "ami", "system segregation"
WITHIN_Z, PARTICIPATION = "within_z", "participation"


@dataclass(frozen=True)
class ModuleMeasure:
    """A measure of modules, or of what a region is in its module.

    Attributes
    ----------
    key : str
        Its column in tables; of one that compares with labels, the name of the labelling follows.
    title : str
        In full, as it stands within a sentence: "modularity Q".
    short : str
        For headings and axes.
    unit : str
        What its numbers are in.
    needs : {"partition", "labels", "connectivity", "weights"}
        What ``compute`` is given. A Partition; or, once for each labelling of the atlas, the ModuleAgreement with it;
        or the full matrix of correlations, shape (n_regions, n_regions), and a module of each region, 0 for none; or,
        for a number per region, weights of at least 0, shape (n_regions, n_regions), and the module of each, none 0.
    compute : callable
        From that to one number, or to one per region.
    definition : str
        The sentence of the methods text.
    citations : tuple of Citation
    shown : bool
        Whether it stands among the few on the screen of ``biobgt modules`` and beside real groups in the app.
    compared : bool
        Whether ``biobgt compare --of segregation`` compares groups in it.
    """

    key: str
    title: str
    short: str
    unit: str
    needs: Needs
    compute: Callable[..., Any]
    definition: str
    citations: tuple[Citation, ...] = ()
    shown: bool = True
    compared: bool = True

    @property
    def counts(self) -> bool:
        """Whether its numbers are whole."""
        return self.unit in ("modules", "regions")

    def column(self, labelling: str = "") -> str:
        """Its column in a table."""
        return f"{self.key} {labelling}" if labelling else self.key


def _segregation(connectivity: NDArray[np.float64], systems: "Labels") -> float:
    from biobgt.modules.segregation import segregation

    return segregation(connectivity, systems).system_segregation


def _of_agreement(name: str) -> "Callable[[ModuleAgreement], float]":
    return lambda agreement: getattr(agreement, name)


MODULE_MEASURES: Registry[ModuleMeasure] = Registry(
    "module measure",
    ModuleMeasure(
        N_MODULES,
        "number of modules",
        "Modules",
        "modules",
        "partition",
        lambda partition: partition.n_modules,
        "The number of modules is that of the partition found.",
        ("blondel2008",),
    ),
    ModuleMeasure(
        Q,
        "modularity Q",
        "Modularity Q",
        "share of weight",
        "partition",
        lambda partition: partition.q,
        "Modularity Q is the share of the weight that lies within modules, beyond what is expected at random (Newman "
        "and Girvan 2004).",
        ("newman2004",),
    ),
    ModuleMeasure(
        "unassigned regions",
        "number of regions in no module",
        "Regions in no module",
        "regions",
        "partition",
        lambda partition: len(partition.unassigned),
        "Regions without any connection are in no module.",
        shown=False,
        compared=False,
    ),
    ModuleMeasure(
        AMI,
        "adjusted mutual information",
        "AMI",
        "1 for equal divisions",
        "labels",
        _of_agreement("ami"),
        "The adjusted mutual information (AMI; Vinh et al. 2010) compares two divisions over the regions that both "
        "include: it is 1 where they are equal and about 0 by chance.",
        ("vinh2010",),
        compared=False,
    ),
    ModuleMeasure(
        "ari",
        "adjusted Rand index",
        "ARI",
        "1 for equal divisions",
        "labels",
        _of_agreement("ari"),
        "The adjusted Rand index (ARI; Hubert and Arabie 1985) of two divisions is 1 where they are equal and about 0 "
        "by chance.",
        ("hubert1985",),
        shown=False,
        compared=False,
    ),
    ModuleMeasure(
        "vi",
        "variation of information",
        "VI",
        "bits",
        "labels",
        _of_agreement("vi"),
        "The variation of information (VI; Meilă 2007) is a distance of two divisions in bits, 0 where they are equal.",
        ("meila2007",),
        shown=False,
        compared=False,
    ),
    ModuleMeasure(
        SEGREGATION,
        "system segregation",
        "Segregation",
        "share of connectivity within",
        "connectivity",
        _segregation,
        "System segregation (Chan et al. 2014) is (within − between) / within, of the mean Fisher-z connectivity "
        "within and between modules.",
        ("chan2014",),
    ),
)

REGION_MEASURES: Registry[ModuleMeasure] = Registry(
    "measure of regions in their modules",
    ModuleMeasure(
        WITHIN_Z,
        "within-module z",
        "Within-module z",
        "standard deviations",
        "weights",
        imported_later("biobgt.modules.roles", "within_module_z"),
        "Within-module z is a region's strength within its module, as a z-score over the module's regions (Guimerà and "
        "Amaral 2005).",
        ("guimera2005",),
    ),
    ModuleMeasure(
        PARTICIPATION,
        "participation",
        "Participation",
        "0 to 1",
        "weights",
        imported_later("biobgt.modules.roles", "participation"),
        "Participation is how evenly a region's connections spread over the modules (Guimerà and Amaral 2005).",
        ("guimera2005",),
    ),
)


def measure_columns(labellings: Iterable[str]) -> dict[str, tuple[ModuleMeasure, str]]:
    """The columns of a table of modules: of each its measure, and the labelling it compares with or an empty name."""
    found = {one.column(): (one, "") for one in MODULE_MEASURES.values() if one.needs == "partition"}
    for name in labellings:
        found |= {one.column(name): (one, name) for one in MODULE_MEASURES.values() if one.needs == "labels"}
    return found | {one.column(): (one, "") for one in MODULE_MEASURES.values() if one.needs == "connectivity"}


def measure_partition(
    partition: "Partition", atlas: "Atlas", connectivity: NDArray[np.float64] | None
) -> dict[str, float]:
    """Take every measure of a subject's modules.

    Parameters
    ----------
    partition : Partition
    atlas : Atlas
        With the labellings to compare with.
    connectivity : ndarray, shape (n_regions, n_regions), or None
        The full correlations behind the graph; None where the matrix behind it holds something else.

    Returns
    -------
    dict of str to float
        By the columns of :func:`measure_columns`; without those that need correlations, where there are none.
    """
    from biobgt.modules.label_agreement import module_agreement

    agreements = {name: module_agreement(partition, atlas, name) for name in atlas.labels}
    found: dict[str, float] = {}
    for column, (measure, labelling) in measure_columns(atlas.labels).items():
        if measure.needs == "partition":
            found[column] = measure.compute(partition)
        elif measure.needs == "labels":
            found[column] = measure.compute(agreements[labelling])
        elif connectivity is not None:
            found[column] = measure.compute(connectivity, partition)
    return found
