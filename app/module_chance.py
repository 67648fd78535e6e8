"""Is it more than chance? Modularity and small-worldness against null graphs, when asked for."""

import pandas as pd
import streamlit as st
from export_list import module_request
from loaded import ModuleChoices, View
from long_work import work_through
from module_results import kept, null_key, null_modularity, null_small_world, world_key
from widgets import heading, plain, sentences, show_figure

from biobgt.figures import chance_caption, modularity_against_chance
from biobgt.modules import SmallWorld
from biobgt.modules.chance import pool_modularity_tests, pool_small_worlds
from biobgt.spreadsheets import written
from biobgt.wording import counted

NULL_GRAPHS = 100
SMALL_WORLD_GRAPHS = 5


def show_chance(view: View, choices: ModuleChoices) -> None:
    """Offer both tests, and show what was found."""
    heading("Against chance", simulated=view.subject.simulated)
    st.markdown(
        "Even random graphs have modules and short paths. Null graphs keep every region's number of connections and, "
        "nearly, its strength, and are otherwise drawn at random."
    )
    with sentences():
        _test_modularity(view, choices)
    with sentences():
        _measure_small_world(view, choices)


def _test_modularity(view: View, choices: ModuleChoices) -> None:
    numbers = range(NULL_GRAPHS)
    left = [number for number in numbers if kept(view, "null", null_key(view, choices, number)) is None]
    whole = work_through(
        left,
        lambda number: null_modularity(view, choices, number),
        key="modularity_test",
        start=f"Test modularity against {NULL_GRAPHS} null graphs",
        doing="Null graph",
        done_before=NULL_GRAPHS - len(left),
    )
    if not whole:
        return
    subject = view.subject
    test = pool_modularity_tests([null_modularity(view, choices, number) for number in numbers])
    if test.q != test.q:  # NaN
        st.info("Modularity is not defined in a graph without connections, so there is nothing to test.")
        return
    figure = modularity_against_chance(test, title=f"Modularity of {subject.id}", simulated=subject.simulated)
    caption = chance_caption(subject.id, test, simulated=subject.simulated)
    request = module_request(view, choices, "modularity_against_chance", null_graphs=NULL_GRAPHS)
    show_figure(figure, caption, key="modularity_null", file_name=f"{subject.id}_modularity_null", export=request)


def _measure_small_world(view: View, choices: ModuleChoices) -> None:
    numbers = range(SMALL_WORLD_GRAPHS)
    left = [number for number in numbers if kept(view, "small world", world_key(view, choices, number)) is None]
    whole = work_through(
        left,
        lambda number: null_small_world(view, choices, number),
        key="small_world",
        start=f"Measure small-worldness against {SMALL_WORLD_GRAPHS} random graphs and lattices",
        doing="Random graph and lattice",
        done_before=SMALL_WORLD_GRAPHS - len(left),
    )
    if whole:
        found = pool_small_worlds([null_small_world(view, choices, number) for number in numbers])
        _show_small_world(view, choices, found)


def _show_small_world(view: View, choices: ModuleChoices, found: SmallWorld) -> None:
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
            f"{choices.seed}.{left_out}"
        )
    )
