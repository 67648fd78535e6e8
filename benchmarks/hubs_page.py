"""What the Hubs page costs against the number of regions: to its first figures, and to its end.

The page's script runs in this process, as Streamlit's own tests run it, on one subject of brain-like connectivity on a
bundled atlas; told in CPU seconds of one thread. The first figures are the brain, the curves over the regions and the
scatters: all that is shown before the progress bar.
"""

import sys
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
import streamlit as st
from streamlit.testing.v1 import AppTest
from threadpoolctl import threadpool_limits

from benchmarks.app import APP
from benchmarks.graphs import brain_like_graph
from benchmarks.timing import Ratio, print_costs, print_ratios
from biobgt import Cohort, Subject, load_atlas
from biobgt.data.atlas import numbered_atlas
from biobgt.data.connectivity import graph_from_connectivity
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs.measures import COMPARED
from biobgt.hubs.table import measure_hubs

ATLASES = {90: "aal90", 200: "schaefer200", 400: "schaefer400", 1000: "schaefer1000"}
SIZES = tuple(ATLASES)
SHARE, USUAL_SHARE = 0.05, 0.14  # of pairs: as a proportional threshold keeps them, and as a weight of 0.3 does
FIRST_FIGURES = 1 + len(COMPARED)  # the brain, the curves, and a scatter for each measure but NE
TIMEOUT_S = 3600


def run() -> None:
    """Print the page's CPU seconds against n, and how much longer the first figures take at 1000 than at 200."""
    sys.path.insert(0, str(APP))
    with threadpool_limits(1):
        told = [_page(n) for n in SIZES]
        numbers = [_first_numbers(n) for n in SIZES]
    costs = {
        "to the first figures": [first for first, _ in told],
        "to the end of the page": [whole for _, whole in told],
        f"numbers of the first figures, {USUAL_SHARE:.0%} of pairs": numbers,
    }
    print_costs(f"The Hubs page, {SHARE:.0%} of pairs, one thread, CPU seconds", SIZES, costs)
    (first, whole), many = told[SIZES.index(200)], told[SIZES.index(1000)][0]
    ratios = [
        Ratio("first figures at 1000 regions", "the page at 200 regions", many / whole, "≤ 3"),
        Ratio("first figures at 1000 regions", "first figures at 200 regions", many / first, ""),
    ]
    print_ratios("The Hubs page", ratios)


def _page(n_regions: int) -> tuple[float, float]:
    """CPU seconds from the page's start to its first figures and to its end, on a subject that nothing is known of."""
    from session.cohorts import OWN
    from session.view import NEXT_COHORT, OWN_COHORT, LoadedCohort

    connectivity = brain_like_graph(n_regions, SHARE).weights + np.eye(n_regions)
    cohort = Cohort("benchmark", (Subject("s1", connectivity=connectivity),), load_atlas(ATLASES[n_regions]))
    session = AppTest.from_file(str(APP / "Home.py"), default_timeout=TIMEOUT_S).run()
    session.session_state[OWN_COHORT] = LoadedCohort(OWN, cohort)
    session.session_state[NEXT_COHORT] = OWN
    session.session_state["level"] = 0.0
    shown: list[float] = []
    draw = st.plotly_chart

    def record(figure: Any, **how: Any) -> Any:
        shown.append(process_time())
        return draw(figure, **how)

    start = process_time()
    with patch.object(st, "plotly_chart", record):
        session.switch_page("views/hubs.py").run()
    if session.exception or len(shown) < FIRST_FIGURES:
        raise AssertionError(f"The page of {n_regions} regions shows {len(shown)} figures: {session.exception}")
    return shown[FIRST_FIGURES - 1] - start, process_time() - start


def _first_numbers(n_regions: int) -> float:
    """See :data:`biobgt.hubs.resolvents.MEASURED_SECONDS`, which says this to users."""
    weights = brain_like_graph(n_regions, USUAL_SHARE).weights
    graph = graph_from_connectivity(weights, ConnectomeSettings(threshold="none"), atlas=numbered_atlas(n_regions))
    start = process_time()
    measure_hubs(graph, weights).values(0.5, COMPARED)
    return process_time() - start
