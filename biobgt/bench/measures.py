"""The measures that look for a planted lesion: what each takes of a recording, and where it finds a difference.

A measure finds a lesion where a family-wise p over its features is at most 5 %: regions, blocks of attention, or
components of edges (NBS). Numbers of the whole brain are one feature each, and cannot say where.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.beyond import DEGREE, STRENGTH
from biobgt.base.colours import BLUE, BROWN, GREEN, MAGENTA, OLIVE, ORANGE, PURPLE, SKY, VERMILION, WINE
from biobgt.base.options import Registry
from biobgt.bench.options import BenchOptions
from biobgt.data.connectivity import fisher_z
from biobgt.data.lesions import SEGREGATION, Lesion
from biobgt.hubs.agreement import strength_and_degree
from biobgt.hubs.measures import FC_STRENGTH, HUB_MEASURES, NE, NEFF
from biobgt.inference.design import study_design
from biobgt.inference.edges import EdgeOptions, edge_effects
from biobgt.inference.effects import ALPHA
from biobgt.inference.permutation import group_effect
from biobgt.model.pretrained import installed_model
from biobgt.modules.measures import MODULE_MEASURES, ModuleOptions, Q
from biobgt.modules.measures import SEGREGATION as SYSTEM
from biobgt.modules.partition import module_blocks
from biobgt.modules.structure import segregation
from biobgt.results.measured import Measured

EDGES, ATTENTION, FC_BLOCKS, GIVEN = "edges", "attention", "fc_blocks", "_given"


@dataclass(frozen=True)
class BenchMeasure:
    """A measure that looks for a lesion.

    Attributes
    ----------
    key : str
    title : str
        As it stands in a legend.
    colour : str
    takes : str
        The values it tests: the key of what was measured.
    needs : {"regions", "number", "edges", "blocks"}
        What its features are.
    given : tuple of str
        Covariates of each feature: what else was measured of the same region or block.
    """

    key: str
    title: str
    colour: str
    takes: str
    needs: str
    given: tuple[str, ...] = ()


BENCH_MEASURES: Registry[BenchMeasure] = Registry(
    "measure of the bench",
    BenchMeasure(FC_STRENGTH, HUB_MEASURES[FC_STRENGTH].short, GREEN, FC_STRENGTH, "regions"),
    BenchMeasure(NE, HUB_MEASURES[NE].short, BLUE, NE, "regions"),
    BenchMeasure(NE + GIVEN, "NE given strength and degree", SKY, NE, "regions", (STRENGTH, DEGREE)),
    BenchMeasure(NEFF, HUB_MEASURES[NEFF].short, ORANGE, NEFF, "regions"),
    BenchMeasure(Q, MODULE_MEASURES[Q].short, WINE, Q, "number"),
    BenchMeasure(SYSTEM, MODULE_MEASURES[SYSTEM].short, MAGENTA, SYSTEM, "number"),
    BenchMeasure(EDGES, "edges (NBS)", BROWN, EDGES, "edges"),
    BenchMeasure(FC_BLOCKS, "FC between networks", OLIVE, FC_BLOCKS, "blocks"),
    BenchMeasure(ATTENTION, "attention", PURPLE, ATTENTION, "blocks"),
    BenchMeasure(ATTENTION + GIVEN, "attention given FC", VERMILION, ATTENTION, "blocks", (FC_BLOCKS,)),
)


def measures_of(options: BenchOptions, *, labelled: bool, functional: bool) -> tuple[BenchMeasure, ...]:
    """The measures that are asked for.

    Parameters
    ----------
    options : BenchOptions
    labelled : bool
        Whether the atlas has functional networks, which blocks and segregation need.
    functional : bool
        Whether connectivity is one of correlations, which segregation and models need.
    """
    left_out = {FC_BLOCKS} if not labelled else set()
    left_out |= set() if labelled and functional else {SYSTEM}
    left_out |= set() if options.edges else {EDGES}
    left_out |= set() if options.model and labelled else {ATTENTION}
    return tuple(one for one in BENCH_MEASURES.values() if one.takes not in left_out)


def values_of(
    measured: Measured, options: BenchOptions, labelling: str, *, cut_off: Sequence[int] = ()
) -> dict[str, FloatArray]:
    """What is measured of one recording, by key, each of shape (n_features,); edges are taken when they are tested.

    Parameters
    ----------
    measured : Measured
        Of one subject.
    options : BenchOptions
    labelling : str
        Functional networks; empty where the atlas has none.
    cut_off : sequence of int
        Regions that may have no connection because of the lesion: that is then measured, and no missing signal.
    """
    from biobgt.hubs.table import measure_curves

    graph, whole = measured.graph(), measured.pearson()
    curves = measure_curves(
        graph, whole, (options.gamma,), measures=(NE, NEFF, FC_STRENGTH), perturbation=options.perturbation
    ).at(options.gamma)
    found = {key: np.asarray(curves[key], np.float64) for key in (NE, NEFF, FC_STRENGTH)}
    found[STRENGTH], found[DEGREE] = strength_and_degree(graph)
    silent = [region for region in measured.subject.silent_regions if region not in cut_off]
    for key in (NE, NEFF, FC_STRENGTH, STRENGTH, DEGREE):
        found[key][silent] = np.nan
    found[Q] = np.array([measured.modules(options.part(ModuleOptions)).measures[Q]])
    if not labelling:
        return found
    labels = measured.atlas.labelling(labelling)
    numbers = {label: i for i, label in enumerate(sorted({label for label in labels if label}), start=1)}
    systems = np.array([numbers.get(label or "", 0) for label in labels])
    functional = measured.kind.functional
    if functional:
        found[SYSTEM] = np.array([segregation(whole, systems).system_segregation])
    found[FC_BLOCKS] = module_blocks([fisher_z(whole) if functional else whole], labels).values[0].ravel()
    if options.model:
        attention = measured.attention_map(installed_model(options.model)).astype(np.float64)
        found[ATTENTION] = module_blocks([attention], labels).values[0].ravel()
    return found


# Where a measure finds a difference of people with and without the lesion.


@dataclass(frozen=True)
class Looked:
    """What one comparison found.

    Attributes
    ----------
    found : bool
        Whether anything was found at a family-wise level of 5 %.
    planted : bool or None
        Whether anything was found where the lesion is; None of a number, or of a lesion of the whole brain.
    strongest : bool or None
        Whether what was found most clearly is where the lesion is; None where nothing was found.
    elsewhere : bool or None
        Whether anything was found where the lesion is not.
    """

    found: bool
    planted: bool | None = None
    strongest: bool | None = None
    elsewhere: bool | None = None


def look(
    measure: BenchMeasure,
    values: Mapping[str, FloatArray],
    patients: NDArray[np.bool_],
    place: NDArray[np.bool_] | None,
    *,
    permutations: int,
    seed: int,
) -> Looked:
    """Compare people with and without the lesion in one measure.

    Parameters
    ----------
    measure : BenchMeasure
    values : mapping of str to ndarray, shape (n_people, n_features)
    patients : ndarray of bool, shape (n_people,)
    place : ndarray of bool, shape (n_features,), or None
        Which features are lesioned; None where none or all are.
    permutations, seed : int
    """
    test = _edges_found if measure.needs == "edges" else _features_found
    found, size = test(measure, values, patients, permutations, seed)
    if place is None or measure.needs == "number":
        return Looked(bool(found.any()))
    inside = found & place
    clearest = bool(place[int(np.argmax(np.where(found, size, -1)))]) if found.any() else None
    return Looked(bool(found.any()), bool(inside.any()), clearest, bool((found & ~place).any()))


Found = tuple[NDArray[np.bool_], FloatArray]  # which features are found, and how clearly, |t|


def _features_found(
    measure: BenchMeasure,
    values: Mapping[str, FloatArray],
    patients: NDArray[np.bool_],
    permutations: int,
    seed: int,
) -> Found:
    own = np.asarray(values[measure.takes], np.float64)
    beside = np.stack([values[key] for key in measure.given], axis=-1) if measure.given else None
    ones = np.ones((len(own), 1))
    table = group_effect(own, patients, ones, beside=beside, permutations=permutations, seed=seed)
    return (table["p_family"] <= ALPHA).to_numpy(), table["t"].abs().fillna(-1).to_numpy(np.float64)


def _edges_found(
    measure: BenchMeasure,
    values: Mapping[str, FloatArray],
    patients: NDArray[np.bool_],
    permutations: int,
    seed: int,
) -> Found:
    names = [f"person {number}" for number in range(len(patients))]
    table = pd.DataFrame({"group": np.where(patients, "lesion", "control")})
    design = study_design(table, "~ group", test="group", persons=names)
    tested = edge_effects(design, values[EDGES], EdgeOptions(permutations=permutations, seed=seed))
    networks = tested.networks
    significant = networks["component"][networks["p_family"] <= ALPHA].tolist() if len(networks) else []
    found = np.isin(tested.table["component"].to_numpy(), significant)
    return found, tested.table["statistic"].abs().fillna(-1).to_numpy(np.float64)


def place_of(
    measure: BenchMeasure, lesion: Lesion, labels: list[str | None], n_regions: int
) -> NDArray[np.bool_] | None:
    """Which features of a measure are lesioned; None where segregation falls, everywhere.

    Parameters
    ----------
    measure : BenchMeasure
    lesion : Lesion
    labels : list of str or None
        The functional network of each region.
    n_regions : int
    """
    if lesion.kind == SEGREGATION or measure.needs == "number":
        return None
    regions = np.isin(np.arange(n_regions), lesion.regions)
    if measure.needs == "regions":
        return regions
    if measure.needs == "edges":
        first, second = np.triu_indices(n_regions, 1)
        return np.asarray(regions[first] | regions[second])
    networks = sorted({label for label in labels if label})
    hit = np.isin(networks, [labels[region] or "" for region in lesion.regions])
    return np.asarray(hit[:, None] | hit[None]).ravel()
