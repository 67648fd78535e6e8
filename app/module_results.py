"""What the page of modules measured, once for each graph and each way of looking for modules.

Results are kept with the cohort. A demo cohort is shared between sessions, and so are its results; a user's own
subjects are in that user's session and nowhere else, and their results go when they go.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar, cast

import streamlit as st
from loaded import ModuleChoices, View, keep_few

from biobgt import BrainGraph, Subject
from biobgt.analysis import ModuleOptions, SubjectModules, find_modules, graph_for_modules, measure_modules
from biobgt.connectome import subject_connectivity
from biobgt.modules import ModularityTest, SmallWorld, modularity_test, small_world
from biobgt.modules.difference import ModuleDifference, group_module_difference
from biobgt.modules.resolution import resolution_step

WAITING = "Looking for modules…"
# How many of each kind are kept; with the consensus of 200 regions one subject's modules take a third of a megabyte.
KEPT = {
    "subject": 48,
    "resolution": 1024,
    "null": 2048,
    "small world": 256,
    "labels": 2048,
    "difference": 32,
    "picture": 24,
}

Result = TypeVar("Result")


def options_of(choices: ModuleChoices) -> ModuleOptions:
    """The choices as the library and the command line name them."""
    return ModuleOptions(
        resolution=choices.resolution,
        runs=choices.runs,
        seed=choices.seed,
        consensus=choices.consensus,
        signed=choices.signed,
    )


def kept(view: View, kind: str, key: tuple[object, ...]) -> object | None:
    """What was measured before, or None."""
    return view.loaded.module_results.get(kind, {}).get(key)


def keep(view: View, kind: str, key: tuple[object, ...], measure: Callable[[], Result]) -> Result:
    """Measure what was not measured before, and keep it in place of the oldest."""
    results = cast("dict[tuple[object, ...], Result]", view.loaded.module_results.setdefault(kind, {}))
    return keep_few(results, key, measure, most=KEPT[kind])


def subject_modules(view: View, choices: ModuleChoices) -> SubjectModules:
    """The modules of the view's subject."""
    options = options_of(choices)

    def measure() -> SubjectModules:
        with st.spinner(WAITING):
            return measure_modules(_graph(view), subject_connectivity(view.subject), options)

    return keep(view, "subject", (view.subject.id, view.settings, options), measure)


def graph_of_modules(view: View, choices: ModuleChoices) -> BrainGraph:
    """The graph in which the modules were sought."""
    return graph_for_modules(_graph(view), options_of(choices))


def resolution_key(view: View, choices: ModuleChoices, resolution: float) -> tuple[object, ...]:
    """What a step of the sweep depends on."""
    return (view.subject.id, view.settings, choices.signed, choices.runs, choices.seed, resolution)


def sweep_step(view: View, choices: ModuleChoices, resolution: float) -> dict[str, float]:
    """One resolution of the subject's sweep."""
    return keep(
        view,
        "resolution",
        resolution_key(view, choices, resolution),
        lambda: resolution_step(graph_of_modules(view, choices), resolution, runs=choices.runs, seed=choices.seed),
    )


def null_key(view: View, choices: ModuleChoices, number: int) -> tuple[object, ...]:
    """What a null graph's test depends on."""
    return (view.subject.id, view.settings, options_of(choices), number)


def null_modularity(view: View, choices: ModuleChoices, number: int) -> ModularityTest:
    """The subject's modularity against one null graph."""
    return keep(
        view,
        "null",
        null_key(view, choices, number),
        lambda: modularity_test(
            graph_of_modules(view, choices),
            subject_modules(view, choices).partition,
            resolution=choices.resolution,
            n_nulls=1,
            seed=choices.seed + number,
        ),
    )


def world_key(view: View, choices: ModuleChoices, number: int) -> tuple[object, ...]:
    """What small-worldness against one null graph depends on; it does not know of modules."""
    return (view.subject.id, view.settings, choices.signed, choices.seed, number)


def null_small_world(view: View, choices: ModuleChoices, number: int) -> SmallWorld:
    """The subject's small-worldness against one random graph and one lattice."""
    return keep(
        view,
        "small world",
        world_key(view, choices, number),
        lambda: small_world(graph_of_modules(view, choices), n_nulls=1, seed=choices.seed + number),
    )


def labels_key(view: View, choices: ModuleChoices, subject: str) -> tuple[object, ...]:
    """What the modules of one subject of a group depend on."""
    return (subject, view.settings, options_of(choices))


def subject_labels(view: View, choices: ModuleChoices, subject: str) -> tuple[int, ...]:
    """The modules of any subject of the cohort, as one number a region."""
    return keep(
        view,
        "labels",
        labels_key(view, choices, subject),
        lambda: tuple(find_modules(_graph(view, view.cohort[subject]), options_of(choices)).labels.tolist()),
    )


def group_difference(view: View, choices: ModuleChoices, groups: tuple[str, str]) -> ModuleDifference:
    """The modules of two groups, compared; those of their subjects were found before."""

    def compare() -> ModuleDifference:
        members = [name for group in groups for name in view.cohort.group(group).ids]
        labels = {name: subject_labels(view, choices, name) for name in members}
        with st.spinner("Comparing the groups…"):
            return group_module_difference(view.cohort, groups, labels, seed=choices.seed)

    members = tuple(view.cohort.group(group).ids for group in groups)
    return keep(view, "difference", (*groups, members, view.settings, options_of(choices)), compare)


def _graph(view: View, subject: Subject | None = None) -> BrainGraph:
    its_view = view if subject is None else replace(view, subject=subject)
    return its_view.graph(its_view.connectivity())
