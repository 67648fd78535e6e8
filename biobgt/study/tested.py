"""The group level of a study: its design tested in edges, regions, numbers of the network, and maps.

Of a measure at several levels of the threshold the area under its curve is tested, and each level: a result that holds
at one threshold only, or changes its direction, is seen as such.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.arrays import FloatArray
from biobgt.base.beyond import BEYOND, NOTHING_FOUND, beyond
from biobgt.inference.design import Contrast, StudyDesign
from biobgt.inference.edges import BLOCKS, BOTH, EdgeEffects, EdgeOptions, edge_effects
from biobgt.inference.effects import effect_kind, effects_of, smallest_effect
from biobgt.study.data import StudyData
from biobgt.study.design import NONE, DesignOptions, PlannedStudy, plan_study
from biobgt.study.findings import TABLES, StudyFindings, TestedContrast, TestedDesign, typed
from biobgt.study.harmonised import harmonise_study
from biobgt.study.left_out import in_consensus, without_gaps, without_modules_zero
from biobgt.study.maps import maps_compared, own_maps
from biobgt.study.subject import simpler_than

Tell = Callable[[str], None]


def study_findings(data: StudyData, options: DesignOptions, *, tell: Tell = lambda sentence: None) -> StudyFindings:
    """Test the design of a study at every level.

    Parameters
    ----------
    data : StudyData
    options : DesignOptions
    tell : callable
        Told in a sentence what is going on.
    """
    options = options.part(DesignOptions)
    own = own_maps(data, options)
    data, notes = without_gaps(data, options)
    plan = plan_study(data.table, data.persons, options, data.overall)
    for sentence in (*plan.sentences, *notes):
        tell(sentence)
    data, filled = without_modules_zero(data)
    harmonised = pd.DataFrame(columns=TABLES["harmonised"])
    overall_by_site = pd.DataFrame(columns=TABLES["overall_by_site"])
    if options.harmonise != NONE:
        tell("Harmonising sites…")
        found = harmonise_study(data, plan, options)
        harmonised, overall_by_site, data = found.shares, found.overall, found.data
        notes += found.notes
        plan = plan_study(data.table, data.persons, options, data.overall)
    if options.edge_consensus != NONE:
        data, said = in_consensus(data, plan.main, options)
        notes.append(said)
    labelling = (options.labelling or next(iter(data.atlas.labels), "")) if options.method == BLOCKS else ""
    each = [_tests(data, adjusted, design, options, labelling, tell) for adjusted, design in plan.designs.items()]
    tables = {name: typed(pd.concat([one.tables[name] for one in each], ignore_index=True)) for name in each[0].tables}
    tell("Comparing maps…")
    maps, of_maps = maps_compared(data, plan.main, tables["regions"], own, options)
    return StudyFindings(
        designs=tuple(one.design for one in each),
        harmonised=typed(harmonised),
        overall_by_site=typed(overall_by_site),
        maps=typed(maps),
        labelling=labelling,
        options=options,
        notes=tuple(dict.fromkeys([*plan.notes, *notes, *filled, *_families(plan), *of_maps])),
        **tables,
    )


@dataclass(frozen=True, eq=False)
class _Tests:
    """What one design found."""

    design: TestedDesign
    tables: Mapping[str, pd.DataFrame]


def _tests(
    data: StudyData, adjusted: bool, design: StudyDesign, options: DesignOptions, labelling: str, tell: Tell
) -> _Tests:
    with_or_not = f"{'with' if adjusted else 'without'} overall connectivity as a covariate"
    tell(f"Testing edges, {with_or_not}…")
    edges = [_edges_of(data, design, contrast, options, labelling) for contrast in design.contrasts]
    tell(f"Testing regions and the network, {with_or_not}…")
    regions, notes_of_regions = _regions(data, design, options)
    network, notes_of_network = _network(data, design, options, adjusted)
    tables = {
        "edges": _table("edges", [_named(one.contrast, one.table) for one in edges]),
        "components": _table(
            "components", [_named(one.contrast, _components(one)) for one in edges if "component" in one.networks]
        ),
        "blocks": _table("blocks", [_named(one.contrast, one.networks) for one in edges if "network" in one.networks]),
        "regions": regions,
        "network": network,
    }
    notes = [
        f"{what}: {note}"
        for what, own in (
            ("Edges", [note for one in edges for note in one.notes]),
            ("Regions", notes_of_regions),
            ("Network", notes_of_network),
        )
        for note in own
        if note not in design.notes
    ]
    for table in tables.values():
        table.insert(0, "adjusted", adjusted)
    return _Tests(_described(design, adjusted, tuple(dict.fromkeys([*design.notes, *notes]))), tables)


def _described(design: StudyDesign, adjusted: bool, notes: tuple[str, ...]) -> TestedDesign:
    return TestedDesign(
        adjusted=adjusted,
        formula=design.formula,
        test=design.tested,
        recordings=design.recordings,
        contrasts=tuple(
            TestedContrast(
                name=one.name,
                levels=one.levels,
                statistic="F" if len(one.weights) > 1 else "t",
                effect=effect_kind(design, one),
                smallest=smallest_effect(design, one),
            )
            for one in design.contrasts
        ),
        sizes=dict(design.sizes),
        n_people=len(set(design.names)),
        n_rows=len(design.names),
        degrees=design.degrees,
        explained=design.explained,
        covariates=design.covariates,
        notes=notes,
    )


def _named(contrast: Contrast, table: pd.DataFrame) -> pd.DataFrame:
    found = table.copy()
    found.insert(0, "contrast", contrast.name)
    return found


# Edges.


def _edges_of(
    data: StudyData, design: StudyDesign, contrast: Contrast, options: DesignOptions, labelling: str
) -> EdgeEffects:
    """One contrast in every edge; an F has no direction, and a threshold as improbable as that of t."""
    own = options.part(EdgeOptions)
    if len(contrast.weights) > 1:
        own = replace(own, direction=BOTH, edge_threshold=_threshold_of_f(own.edge_threshold, design, contrast))
    labels = data.atlas.labelling(labelling) if labelling else None
    found = edge_effects(design, data.edges, own, contrast=contrast.name, labels=labels)
    if "component" in found.table:
        found.table["component"] = found.table["component"].fillna(0).astype(np.int64)
    return found


def _threshold_of_f(threshold: float, design: StudyDesign, contrast: Contrast) -> float:
    """The F that chance exceeds as often as it exceeds a |t|."""
    from scipy import stats

    degrees = design.model(contrast).degrees
    return float(stats.f.isf(2 * stats.t.sf(threshold, degrees), len(contrast.weights), degrees))


def _components(one: EdgeEffects) -> pd.DataFrame:
    return one.networks.assign(threshold=one.options.edge_threshold)


def _table(name: str, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Parts of a table of findings below each other: its columns, or none of its rows, and those that methods add."""
    columns = [column for column in TABLES[name] if column != "adjusted"]
    more = [column for column in dict.fromkeys(column for part in parts for column in part) if column not in columns]
    return (
        pd.concat([part[[*columns, *more]] for part in parts], ignore_index=True)
        if parts
        else pd.DataFrame(columns=columns)
    )


# Regions and the network, over levels.


def _regions(data: StudyData, design: StudyDesign, options: DesignOptions) -> tuple[pd.DataFrame, list[str]]:
    notes: list[str] = []
    parts, names = [], np.array(data.atlas.regions, object)
    for measure, values in data.regions.items():
        every = np.full(len(names), _change(values).any())
        given = data.given(simpler_than(measure, data.atlas), (len(values), len(names)))
        for table, levels, said in _over_levels(values, every, data, design, options, given):
            region = np.tile(np.arange(len(names)), len(levels) * len(design.contrasts))
            level = np.tile(np.repeat(levels, len(names)), len(design.contrasts))
            parts.append(table.assign(measure=measure, level=level, region=region + 1, name=names[region]))
            notes += said
    columns = list(TABLES["regions"][1:])
    return _table("regions", [part[columns] for part in parts]), notes


def _network(
    data: StudyData, design: StudyDesign, options: DesignOptions, adjusted: bool
) -> tuple[pd.DataFrame, list[str]]:
    """Numbers of the network; what is the same in all people has no row, nor has overall connectivity given itself."""
    chosen = {
        measure: values
        for measure, values in data.network.items()
        if np.nanmin(values, initial=np.inf) < np.nanmax(values, initial=-np.inf)
        and not (adjusted and np.allclose(values.T, data.overall, rtol=1e-5))
    }
    if not chosen:
        return _table("network", []), []
    notes: list[str] = []
    parts, names = [], np.array(list(chosen), object)
    values = np.stack(list(chosen.values()), axis=2)
    changing = _change(values)
    each = [data.given(simpler_than(measure, data.atlas), (len(values), 1)) for measure in names]
    lacking = np.full((len(values), 1, 1), np.nan)
    given = np.hstack([lacking if one is None else one for one in each])
    for table, levels, said in _over_levels(values, changing, data, design, options, given):
        own = names if np.isnan(levels).all() else names[changing]
        level = np.tile(np.repeat(levels, len(own)), len(design.contrasts))
        parts.append(table.assign(level=level, measure=np.tile(own, len(levels) * len(design.contrasts))))
        notes += said
    columns = list(TABLES["network"][1:])
    table = _table("network", [part[columns] for part in parts])
    nothing_simpler = table["measure"].isin([measure for measure in names if not simpler_than(measure, data.atlas)])
    table[BEYOND] = table[BEYOND].where(~nothing_simpler | table["level"].notna(), NOTHING_FOUND)
    return table, notes


def _change(values: FloatArray) -> NDArray[np.bool_]:
    """Which features, the last axis, are others at other levels, the second axis."""
    differs = np.nanmax(values, axis=1, initial=-np.inf) > np.nanmin(values, axis=1, initial=np.inf)
    return np.asarray(differs.any(axis=0))


def _over_levels(
    values: FloatArray,
    changing: NDArray[np.bool_],
    data: StudyData,
    design: StudyDesign,
    options: DesignOptions,
    given: FloatArray | None,
) -> Iterator[tuple[pd.DataFrame, FloatArray, tuple[str, ...]]]:
    """Tests of the areas of features, and of every level of those that change: the table, its levels, and notes.

    Parameters
    ----------
    values : ndarray, shape (n_recordings, n_levels, n_features)
    changing : ndarray of bool, shape (n_features,)
    given : ndarray, shape (n_recordings, n_features, n_simpler), or None
        What is simpler than each feature; given it the areas are tested again.
    """
    test = partial(effects_of, design, permutations=options.permutations, seed=options.seed, tail=options.tail)
    found = test(data.area(values))
    table, alike = found.table, np.full((len(design.contrasts), values.shape[2]), np.nan)
    if changing.any():
        each = test(values[:, :, changing].reshape(len(values), -1))
        signs = np.sign(each.table["estimate"].to_numpy()).reshape(len(design.contrasts), len(data.levels), -1)
        of_area = np.sign(table["estimate"].to_numpy()).reshape(len(design.contrasts), 1, -1)[..., changing]
        known = np.isfinite(of_area + signs).all(axis=1)
        alike[:, changing] = np.where(known, (signs == of_area).mean(axis=1), np.nan)
    again = None if given is None else test(data.area(values), beside=given).table
    yield _with_given(table.assign(levels_alike=alike.ravel()), again), np.array([np.nan]), found.notes
    if changing.any():
        at_levels = _with_given(each.table.assign(levels_alike=np.nan), None).assign(**{BEYOND: ""})
        yield at_levels, np.array(data.levels), ()  # notes are those on the areas


def _with_given(table: pd.DataFrame, again: pd.DataFrame | None) -> pd.DataFrame:
    """A table of tests, and beside each the same given what is simpler."""
    columns = ["effect", "p", "q"]
    given = pd.DataFrame(np.nan, table.index, columns) if again is None else again[columns]
    words = beyond(table["q"], given["q"], table["effect"], given["effect"])
    return pd.concat([table, given.add_suffix("_given")], axis=1).assign(**{BEYOND: words})


def _families(plan: PlannedStudy) -> list[str]:
    """What is corrected for together, in sentences."""
    notes = [
        "Family-wise p of regions are corrected for the regions of one measure, at single levels for all levels "
        "together; measures are not corrected for each other. Numbers of the network are one family."
    ]
    if len(plan.main.contrasts) > 1:
        notes.append(
            "Edges are corrected within each contrast: groups all at once (F) come first, and pairs say which of them "
            "differ. In regions and networks all pairs are one family."
        )
    return notes
