"""Is it more than chance? Modularity and small-worldness against null graphs, when asked for."""

from functools import partial

import pandas as pd
import streamlit as st

from biobgt import InputError
from biobgt.figures.module_chance import NULL_GRAPHS, ChanceOptions, ModularityAgainstChance
from biobgt.kept_results import NULL_MODULARITY, NULL_SMALL_WORLD
from biobgt.modules import SmallWorld
from biobgt.modules.module_options import ModuleOptions
from biobgt.modules.small_world import pool_small_worlds
from biobgt.spreadsheets import written
from biobgt.wording import counted
from session.long_work import work_through
from session.view import View
from views.shared.widgets import heading, input_errors_shown, plain, show

SMALL_WORLD_GRAPHS = 5


def show_chance(view: View) -> None:
    """Offer both tests, and show what was found."""
    heading("Compared with chance", simulated=view.subject.simulated, terms=("null-graph",))
    st.markdown(
        "Even random graphs have modules and short paths. Null graphs keep every region's number of connections and, "
        "nearly, its strength, and are otherwise drawn at random."
    )
    with input_errors_shown():
        _test_modularity(view)
    with input_errors_shown():
        _measure_small_world(view)


def _test_modularity(view: View) -> None:
    measured, options = view.measured, view.options(ChanceOptions, null_graphs=NULL_GRAPHS)
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
    measured, options = view.measured, view.options(ModuleOptions)
    seeds = range(options.seed, options.seed + SMALL_WORLD_GRAPHS)
    left = [seed for seed in seeds if not measured.has(NULL_SMALL_WORLD, (options.signed, seed))]
    whole = work_through(
        left,
        partial(measured.null_small_world, options),
        key="small_world",
        start=f"Measure small-worldness against {SMALL_WORLD_GRAPHS} random graphs and lattices",
        doing="Random graph and lattice",
        done_before=SMALL_WORLD_GRAPHS - len(left),
    )
    if whole:
        found = pool_small_worlds([measured.null_small_world(options, seed) for seed in seeds])
        _show_small_world(view, options, found)


def _show_small_world(view: View, options: ModuleOptions, found: SmallWorld) -> None:
    rows = [
        ("Clustering C", *(f"{c:.3f}" for c in (found.clustering, found.random_clustering, found.lattice_clustering))),
        ("Path length L", f"{found.path_length:.3f}", f"{found.random_path_length:.3f}", "not used"),
    ]
    with st.container(horizontal=True):
        for title, value in (("Small-world σ", found.sigma), ("Small-world ω", found.omega)):
            st.metric(title, "not defined" if value != value else f"{value:.2f}", width="content", border=True)
        columns = ["Measure", view.subject.id, "Random graphs", "Lattices"]
        st.dataframe(
            written(pd.DataFrame(rows, columns=columns)),
            hide_index=True,
            key="small_world_table",
            width="content",
            alt="Clustering and path length beside those of null graphs",
        )
    whom = "Simulated subject" if view.subject.simulated else "Subject"
    left_out = (
        f" {counted(found.n_left_out, 'region')} outside the largest component left out." if found.n_left_out else ""
    )
    st.caption(
        plain(
            f"{whom} {view.subject.id}: σ = (C/C random) / (L/L random), above 1 in a small world (Humphries and "
            f"Gurney 2008); ω = L random/L − C/C lattice, near 0 in a small world, −1 in a lattice and 1 in a random "
            f"graph (Telesford et al. 2011). Means over {found.n_nulls} null graphs of each kind, seed "
            f"{options.seed}.{left_out}"
        )
    )
