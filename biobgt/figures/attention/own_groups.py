"""A cohort's own groups beside those that a model was trained on: attention in one row, and differences on one scale.

The model's groups are out of fold; the cohort's own subjects are seen by all members of the ensemble.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biobgt.base.errors import InputError
from biobgt.base.kept import kept
from biobgt.base.wording import adjusted_for, counted, signed
from biobgt.data.cohort import average_by_person
from biobgt.data.quality import OVERALL_CONNECTIVITY
from biobgt.figures import drawing as draw
from biobgt.figures import which_model
from biobgt.figures.attention.disorders import (
    Pair,
    compared_controls,
    difference_maps,
    difference_name,
    difference_words,
    groups_in_a_row,
    in_rows,
    model_differences,
    named,
    reach,
)
from biobgt.figures.attention.maps import (
    AttentionOrderOptions,
    AttentionPartOptions,
    Matrix,
    colour_limits,
    group_maps,
    map_grid,
    maps_table,
)
from biobgt.figures.attention.tested import marked_frames, tested_blocks
from biobgt.figures.register import figure
from biobgt.groups.compare import TwoGroups, check_groups, compare_groups
from biobgt.groups.connections import block_mean
from biobgt.inference.covariates import covariates_of, overall_connectivity
from biobgt.model.attention import BlockTests, block_tests
from biobgt.model.pretrained import InstalledModel

if TYPE_CHECKING:
    from biobgt.results.measured import Measured

_WHOLE = AttentionPartOptions()


@dataclass(frozen=True)
class _OwnGroupsOptions(AttentionOrderOptions, which_model.ChosenModelOptions, TwoGroups):
    """Which two groups of the cohort stand beside those of which model, and the order of regions."""


def own_name(group: str) -> str:
    """What a group of the cohort is called beside those of a model."""
    return f"own {group}"


def own_maps(measured: "Measured", model: InstalledModel, groups: Pair) -> dict[str, Matrix]:
    """Mean attention of groups of a cohort over people, in multiples of uniform attention.

    Parameters
    ----------
    measured : Measured
        Of the cohort; subjects on whom the model has not run yet are run.
    model : InstalledModel
    groups : (str, str)

    Returns
    -------
    dict of str to ndarray, shape (n_regions, n_regions)
    """
    cohort = measured.cohort
    if said := model.refusal(cohort):
        raise InputError(f"{said} biobgt train makes a model of your own subjects.")
    check_groups(groups, cohort.group_sizes)
    found = {}
    for group in groups:
        people = cohort.group(group)
        maps = np.stack([measured.of(one).attention_map(model) for one in people.ids])
        found[group] = average_by_person(maps, people.persons).mean(axis=0)
    return found


@kept(
    "Permuting the groups…",
    most=8,
    subject=False,
    graph=False,
    by=lambda measured, model, groups: (
        (model.identity, groups, tuple((one.id, one.group, repr(one.phenotypes)) for one in measured.cohort))
    ),
)
def own_tests(measured: "Measured", model: InstalledModel, groups: Pair) -> BlockTests:
    """Two groups of a cohort compared in attention between functional modules, as a model's own groups are.

    Parameters
    ----------
    measured : Measured
    model : InstalledModel
    groups : (str, str)
    """
    from biobgt.training.folds import attention_tests

    cohort = measured.cohort.select(lambda one: one.group in groups)
    maps = np.stack([measured.of(one).attention_map(model).astype(np.float32) for one in cohort.ids])
    rows = attention_tests(cohort, [str(one.group) for one in cohort], maps, pairs=[groups])
    found = block_tests(rows, groups, dict(cohort.group_people))
    if found is None:
        raise InputError(f"{groups[0]} and {groups[1]} have too few people to be compared block by block.")
    return found


@kept(
    "Comparing a block…",
    most=64,
    subject=False,
    graph=False,
    by=lambda measured, model, groups, rows, columns: (
        (
            model.identity,
            groups,
            rows,
            columns,
            tuple((one.id, one.group, repr(one.phenotypes)) for one in measured.cohort),
        )
    ),
)
def own_block_words(
    measured: "Measured", model: InstalledModel, groups: Pair, rows: tuple[int, ...], columns: tuple[int, ...]
) -> str:
    """Say how two groups of a cohort differ in mean attention of a block: the effect and the test, in a sentence.

    Parameters
    ----------
    measured : Measured
    model : InstalledModel
    groups : (str, str)
    rows, columns : tuple of int
        Regions that look, and that are looked at, counted from 0.
    """
    cohort = measured.cohort.select(lambda one: one.group in groups)
    means = [block_mean(measured.of(one).attention_map(model).astype(np.float64), rows, columns) for one in cohort.ids]
    strength = pd.DataFrame({OVERALL_CONNECTIVITY: overall_connectivity(cohort)})
    refused = ""
    for known in (strength.join(covariates_of(cohort.table()).table.reset_index(drop=True)), strength, None):
        try:
            found = compare_groups(
                np.array(means)[:, None],
                [one.group for one in cohort],
                subjects=cohort.persons,
                between=groups,
                covariates=known,
            )
        except InputError as error:  # with fewer covariates it may be possible; what was adjusted for is said
            refused = f" {error}"
            continue
        break
    else:
        return refused.strip()
    tested, (first, second) = found.table.iloc[0], map(own_name, groups)
    sizes = ", ".join(f"{n} {group}" for group, n in found.n_subjects.items())
    if np.isnan(tested["p"]):
        return f"{second} − {first}: the same in all, or not known of everybody."
    return (
        f"{second} − {first}: d = {signed(tested['d'], 2)} [{signed(tested['d_low'], 2)}, "
        f"{signed(tested['d_high'], 2)}], p = {tested['p']:.2g} ({sizes}; this block alone, not "
        f"corrected for its choice, {adjusted_for(found.covariates)}).{refused}"
    )


@figure(
    "own_attention",
    "My groups' attention beside the model's",
    takes=_OwnGroupsOptions,
    of_subject=False,
    of_graph=False,
    least_mm=80,
)
def own_attention(measured: "Measured", options: _OwnGroupsOptions) -> draw.Drawing:
    """Mean attention of two groups of the cohort in one row with the groups of a model, on one colour scale."""
    model = which_model.asked_model(options, "own_attention")
    own, order, regions = (
        own_maps(measured, model, options.groups),
        options.regions(measured, model),
        model.atlas.regions,
    )
    of_model, sizes = group_maps(model, _WHOLE), measured.cohort.group_people
    maps = {f"{group} (n = {model.groups.n[group]:,})": of_model[group] for group in groups_in_a_row(model)}
    maps |= {f"{own_name(group)} (n = {sizes[group]:,})": matrix for group, matrix in own.items()}
    limits = colour_limits(list(maps.values()))
    people = " and ".join(f"{sizes[group]:,} {group}" for group in own)
    screen = draw.Drawing(
        title=f"Attention of {measured.cohort.name} beside {model.name}",
        simulated=_simulated(measured, model),
        caption=(
            f"Mean attention of {people} of {measured.cohort.name}, behind the groups of model {model.name}; mean over "
            "layers and heads. Own subjects were seen by all ensemble members, each of the model's by "
            f"{which_model.ONE_MEMBER}. Rows are regions that attend, columns regions that are attended to; 1 is "
            f"uniform attention. Regions are ordered by {options.order_words}."
        ),
        line=f"Own groups ({people}) behind the model's, on one scale; 1 is uniform attention",
        numbers=lambda: maps_table("group", maps, regions, order),
        methods=which_model.subject_methods(model),
        **map_grid(maps, regions, order, limits),
    )
    return replace(screen, on_paper=lambda style: in_rows(screen))


@figure(
    "own_attention_difference",
    "My groups' difference beside the model's",
    takes=_OwnGroupsOptions,
    of_subject=False,
    of_graph=False,
    least_mm=80,
)
def own_attention_difference(measured: "Measured", options: _OwnGroupsOptions) -> draw.Drawing:
    """Two groups of the cohort subtracted, beside disorders minus controls of a model, on one colour scale."""
    model = which_model.asked_model(options, "own_attention_difference")
    first, second = options.groups
    own = own_maps(measured, model, options.groups)
    mine = (own_name(first), own_name(second))
    differences: Mapping[Pair, Matrix] = {**model_differences(model, _WHOLE), mine: own[second] - own[first]}
    order, tests = options.regions(measured, model), own_tests(measured, model, options.groups)
    framed = options.order == next(iter(model.atlas.labels), "")
    frames = {pair: marked_frames(tested_blocks(model, pair), order) if framed else [] for pair in differences}
    frames[mine] = marked_frames(tests, order) if framed else []
    people = ", ".join(f"{n} {group}" for group, n in tests.n_subjects.items())
    found = f"{counted(len(tests.marked), 'block')} of {len(tests.blocks)} at a false discovery rate of 5 %"
    screen = draw.Drawing(
        title=f"{second} minus {first} of {measured.cohort.name} beside {model.name}",
        simulated=_simulated(measured, model),
        caption=(
            f"Attention of {second} minus {first} of {measured.cohort.name} ({people}), behind the disorders of model "
            f"{model.name} minus the controls of their own cohorts; mean over layers and heads. "
            f"{difference_words(differences, compared_controls(model))} Permutation tests of own groups, "
            f"{adjusted_for(tests.covariates)}: {found}, which are framed.{f' {tests.note}' if tests.note else ''}"
        ),
        line=f"{difference_name(mine)}: ±{reach(differences[mine]):.2f} in {people}; {found}",
        numbers=lambda: maps_table("difference", named(differences), model.atlas.regions, order),
        methods=(*which_model.subject_methods(model), *which_model.compared_methods(model)[1:]),
        **difference_maps(differences, model.atlas.regions, order, frames),
    )
    return replace(screen, on_paper=lambda style: in_rows(screen))


def _simulated(measured: "Measured", model: InstalledModel) -> bool:
    return measured.cohort.simulated or model.simulates(model.group_names)
