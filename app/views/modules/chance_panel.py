"""Is it more than chance? Modularity and small-worldness against null graphs, when asked for."""

from functools import partial

import streamlit as st

from biobgt import InputError
from biobgt.data.result_keys import NULL_MODULARITY, NULL_SMALL_WORLD
from biobgt.figures.module_chance import ModularityAgainstChance
from biobgt.figures.small_worldness import SmallWorldness
from biobgt.modules.measures import ModuleOptions, NullGraphOptions, SmallWorldOptions
from session.long_work import work_through
from session.view import View
from views.shared.widgets import heading, input_errors_shown, plain, show

NULL_GRAPHS, SMALL_WORLD_GRAPHS = NullGraphOptions.null_graphs, SmallWorldOptions.null_graphs


def show_chance(view: View) -> None:
    """Offer both tests, and show what was found."""
    heading("Compared with chance", simulated=view.subject.simulated, terms=("null-graph",))
    st.markdown("Even random graphs have modules and short paths, so this graph is compared with null graphs.")
    with input_errors_shown():
        _test_modularity(view)
    with input_errors_shown():
        _measure_small_world(view)


def _test_modularity(view: View) -> None:
    measured, options = view.measured, view.options(NullGraphOptions, null_graphs=NULL_GRAPHS)
    how = options.part(ModuleOptions)
    left = [seed for seed in options.null_seeds if not measured.has(NULL_MODULARITY, (how, seed))]
    whole = work_through(
        left,
        partial(measured.null_modularity, options),
        key="modularity_test",
        start=f"Test modularity against {NULL_GRAPHS} null graphs",
        doing="Null graph",
        done_before=NULL_GRAPHS - len(left),
    )
    if not whole:
        return
    try:
        figure = ModularityAgainstChance.of(measured, options)
    except InputError as error:  # nothing is wrong with a graph without connections
        st.info(plain(str(error)))
        return
    show(view, figure, key="modularity_null")


def _measure_small_world(view: View) -> None:
    measured, options = view.measured, view.options(SmallWorldOptions, null_graphs=SMALL_WORLD_GRAPHS)
    left = [seed for seed in options.null_seeds if not measured.has(NULL_SMALL_WORLD, (options.signed, seed))]
    whole = work_through(
        left,
        partial(measured.null_small_world, options),
        key="small_world",
        start=f"Measure small-worldness against {SMALL_WORLD_GRAPHS} random graphs and lattices",
        doing="Random graph and lattice",
        done_before=SMALL_WORLD_GRAPHS - len(left),
    )
    if whole:
        figure = SmallWorldness.of(measured, options)
        with st.container(horizontal=True):
            for title, value in figure.indices.items():
                st.metric(title, value, width="content", border=True)
        show(view, figure)
