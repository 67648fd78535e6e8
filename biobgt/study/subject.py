"""What a study measures of one recording: its edges, and at every level of the threshold its regions and its network.

All of it comes from :class:`biobgt.results.measured.Measured`, so what a session has measured is not measured again.
Regions without signal have no numbers (NaN): a zero would be taken for a measurement.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.beyond import DEGREE, MODULE_SIZE, STRENGTH
from biobgt.base.beyond import OVERALL as OVERALL_CONNECTIVITY
from biobgt.base.references import cited
from biobgt.data.atlas import Atlas
from biobgt.data.connectivity import fisher_z
from biobgt.data.graph import ConnectivityKind, is_correlation
from biobgt.hubs.agreement import strength_and_degree
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.modules.measures import (
    MODULE_MEASURES,
    PARTICIPATION,
    REGION_MEASURES,
    SEGREGATION,
    ModuleOptions,
    measure_columns,
)
from biobgt.modules.partition import module_sizes
from biobgt.modules.structure import segregation
from biobgt.results.measured import Measured
from biobgt.study.options import ATTENTION, RecordingOptions

if TYPE_CHECKING:
    from biobgt.model.pretrained import InstalledModel

LEVEL, REGION = "level", "region"
MEAN, OVERALL = "mean_connectivity", "mean_absolute_connectivity"
_MEAN_PARTICIPATION = f"mean_{PARTICIPATION}"
# What is simpler than measures of regions, and columns of every table of regions.
MEASURED_SIMPLER = {
    STRENGTH: "Strength: sum of the weights of the region's connections.",
    DEGREE: "Degree: number of the region's connections.",
    MODULE_SIZE: "Number of regions in the region's module; 0 for none.",
}
SMALL_WORLD = {
    "clustering": "Mean clustering coefficient of the largest component.",
    "path_length": "Mean shortest path length of the largest component.",
    "sigma": "Small-worldness σ: clustering over that of random graphs, divided by path length over that of theirs.",
    "omega": "Small-worldness ω: random graphs' path length over the graph's, less clustering over that of lattices.",
}


@dataclass(frozen=True, eq=False)
class RecordingMeasures:
    """What was measured of one recording.

    Attributes
    ----------
    edges : ndarray, shape (n_regions, n_regions)
        Fisher z of correlations, other weights as they are; NaN for regions without signal, zero on the diagonal.
    regions : DataFrame
        A row per level and region: ``level``, ``region``, the hub measures, ``module`` (0 for none), ``role``, the
        measures of :data:`biobgt.modules.measures.REGION_MEASURES` and, of a model, ``attention_received``.
    network : DataFrame
        A row per level: see :func:`network_columns`.
    """

    edges: NDArray[np.float32]
    regions: pd.DataFrame
    network: pd.DataFrame


def measure_recording(measured: Measured, options: RecordingOptions) -> RecordingMeasures:
    """Measure one recording at every level.

    Parameters
    ----------
    measured : Measured
        Of one subject; its settings say how graphs are made, but for the level.
    options : RecordingOptions
    """
    silent = np.array(measured.subject.silent_regions, dtype=np.int64)
    mean, overall = measured.mean_connectivity()
    fixed = {**_segregation_of_labellings(measured), MEAN: mean, OVERALL: overall}
    received = _attention_received(measured, options)
    regions, network = [], []
    for settings in options.settings_at_levels(measured.settings):
        at_level = measured.of(measured.subject.id, settings)
        regions.append(_regions(at_level, options, silent).assign(**received))
        network.append({LEVEL: settings.level, **_network(at_level, options), **fixed})
    return RecordingMeasures(_edges(measured, silent), pd.concat(regions, ignore_index=True), pd.DataFrame(network))


def _edges(measured: Measured, silent: NDArray[np.int64]) -> NDArray[np.float32]:
    whole = measured.connectivity()
    correlated = measured.kind.functional and measured.settings.estimator != "fisher-z" and is_correlation(whole)
    edges = (fisher_z(whole) if correlated else whole).astype(np.float32)
    edges[silent], edges[:, silent] = np.nan, np.nan
    np.fill_diagonal(edges, 0)
    return edges


def _regions(measured: Measured, options: RecordingOptions, silent: NDArray[np.int64]) -> pd.DataFrame:
    hubs = measured.hubs(options.perturbation).values(options.gamma, options.measures)
    table = pd.DataFrame({REGION: measured.atlas.regions, **{key: hubs[key].astype(float) for key in options.measures}})
    roles = measured.modules(options.part(ModuleOptions)).roles.reset_index(drop=True)
    table[["module", "role", *REGION_MEASURES]] = roles[["module", "role", *REGION_MEASURES]]
    table[STRENGTH], table[DEGREE] = strength_and_degree(measured.graph())
    table[MODULE_SIZE] = module_sizes(roles["module"].to_numpy(np.int64))
    table.loc[silent, list(dict.fromkeys([*options.measures, *REGION_MEASURES, *MEASURED_SIMPLER]))] = np.nan
    table.insert(0, LEVEL, measured.settings.level)
    return table


def model_of(options: RecordingOptions) -> "InstalledModel":
    """The model whose attention is measured; on the processor, for the same numbers on every machine of a cluster."""
    from biobgt.model.pretrained import installed_model

    return _on_processor(installed_model(options.model))


@lru_cache(2)
def _on_processor(model: "InstalledModel") -> "InstalledModel":
    return replace(model, device="cpu")


def _attention_received(measured: Measured, options: RecordingOptions) -> dict[str, FloatArray]:
    """What each region receives from the others, by its column; nothing where no model was chosen."""
    if not options.model:
        return {}
    from biobgt.model.attention import attention_received

    received = attention_received(measured.attention_map(model_of(options)).astype(np.float64))
    received[list(measured.subject.silent_regions)] = np.nan
    return {ATTENTION: received}


def _network(measured: Measured, options: RecordingOptions) -> dict[str, float]:
    modules = measured.modules(options.part(ModuleOptions))
    found: dict[str, float] = {"edges": measured.graph().n_edges, **modules.measures}
    participation = modules.roles[PARTICIPATION].to_numpy(float)
    found[_MEAN_PARTICIPATION] = float(np.nanmean(participation)) if np.isfinite(participation).any() else np.nan
    if options.small_world:
        nulls = [measured.null_small_world(options, options.seed + number) for number in range(options.small_world)]
        pooled = nulls[0].pooled_with(nulls[1:])
        found |= {name: float(getattr(pooled, name)) for name in SMALL_WORLD}
    return found


def _segregation_of_labellings(measured: Measured) -> dict[str, float]:
    """System segregation of the functional networks of the atlas, on correlations."""
    whole = measured.pearson()
    if not measured.kind.functional or not is_correlation(whole):
        return {}
    found = {}
    for name, labels in measured.atlas.labels.items():
        numbers = {label: number for number, label in enumerate(sorted(set(filter(None, labels))), start=1)}
        systems = np.array([numbers[label] if label else 0 for label in labels])
        systems[list(measured.subject.silent_regions)] = 0
        found[f"{SEGREGATION} {name}"] = segregation(whole, systems).system_segregation
    return found


def tested_numbers(atlas: Atlas) -> tuple[str, ...]:
    """The columns of the tables of networks in which people are compared."""
    modules = [column for column, (measure, _) in measure_columns(atlas.labels).items() if measure.shown]
    labelled = [f"{SEGREGATION} {name}" for name in atlas.labels]
    return (*modules, _MEAN_PARTICIPATION, *SMALL_WORLD, *labelled, MEAN, OVERALL)


def simpler_than(column: str, atlas: Atlas) -> tuple[str, ...]:
    """What is simpler than a column of the tables of regions or networks, of :data:`biobgt.base.beyond.SIMPLER`."""
    if column in (MEAN, OVERALL):
        return ()
    known = {key: one.simpler for key, one in HUB_MEASURES.items()}
    known |= {key: one.simpler for key, one in REGION_MEASURES.items()}
    known |= {name: one.simpler for name, (one, _) in measure_columns(atlas.labels).items()}
    known[ATTENTION] = (STRENGTH, DEGREE)
    return known.get(column, (OVERALL_CONNECTIVITY,))


# What the columns of the tables are, for their dictionaries.


def region_columns(kind: ConnectivityKind, options: RecordingOptions) -> dict[str, str]:
    """What each column of the tables of regions holds, in a sentence."""
    hubs = {key: cited(HUB_MEASURES[key].in_words_of(kind).definition) for key in options.measures}
    return {
        LEVEL: "Level of the threshold: share of pairs that are kept, or weight, as study.json says.",
        REGION: "Name of the region, as in atlas.tsv.",
        **hubs,
        "module": "Module of the region, found anew at every level; 0 for none.",
        "role": "Role of the region in its module (R1 to R7).",
        **{key: cited(measure.definition) for key, measure in REGION_MEASURES.items()},
        **({ATTENTION: attention_definition(options.model)} if options.model else {}),
        **MEASURED_SIMPLER,
    }


def attention_definition(model: str) -> str:
    """What attention received is, in a sentence.

    Parameters
    ----------
    model : str
        Whose attention it is.
    """
    return (
        f"Attention that the region receives from the others on average in model {model}, in multiples of uniform "
        "attention; the same at every level."
    )


def network_columns(kind: ConnectivityKind, labellings: Iterable[str], options: RecordingOptions) -> dict[str, str]:
    """What each column of the tables of networks holds, in a sentence.

    Parameters
    ----------
    kind : ConnectivityKind
    labellings : iterable of str
        Functional networks of the atlas.
    options : RecordingOptions
    """
    over = f"over all pairs of regions with {kind.of_region}; the same at every level."
    columns = measure_columns(labellings)
    modules = {
        column: cited(measure.definition) + (f" With the labels {name}." if name else "")
        for column, (measure, name) in columns.items()
    }
    definition = cited(MODULE_MEASURES[SEGREGATION].definition)
    labelled = {f"{SEGREGATION} {name}": f"{definition} Here of the functional networks {name}." for name in labellings}
    return {
        LEVEL: "Level of the threshold: share of pairs that are kept, or weight, as study.json says.",
        "edges": "Number of connections of the graph.",
        **modules,
        _MEAN_PARTICIPATION: "Mean participation of the regions that are in a module.",
        **(SMALL_WORLD if options.small_world else {}),
        **labelled,
        MEAN: f"Mean connectivity {over}",
        OVERALL: f"Mean absolute connectivity {over}",
    }
