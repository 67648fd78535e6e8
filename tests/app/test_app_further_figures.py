"""A figure that names a page is shown on it, whichever page that is; Home says which measures it draws."""

from dataclasses import dataclass, field

import plotly.graph_objects as go
import pytest
from page_contents import assert_no_error, captions, figure

from biobgt.base.options import Options
from biobgt.figures.figure import Figure
from biobgt.figures.register import FIGURES
from views.page_map import PAGES


def figure_of(where: str) -> type[Figure]:
    @dataclass(frozen=True, eq=False, kw_only=True)
    class Edges(Figure):
        key = "edges_of_the_graph"
        name = "Edges of the graph"
        takes = Options
        page = where

        options: Options = field(default_factory=Options)
        n_edges: int

        @classmethod
        def of(cls, measured, options):
            graph = measured.graph()
            return cls(title="Edges", simulated=graph.simulated, n_edges=graph.n_edges, methods=(), citations=())

        @property
        def caption(self):
            return f"There are {self.n_edges} edges."

        @property
        def numbers(self):
            raise NotImplementedError

        def plotly(self):
            return go.Figure([{"type": "bar", "y": [self.n_edges]}])

        def matplotlib(self, style):
            raise NotImplementedError

    return Edges


@pytest.mark.parametrize("where", list(PAGES))
def test_a_figure_is_on_the_page_that_it_names_and_on_no_other(open_page, where):
    other = "subjects" if where == "export" else "export"
    with FIGURES.temporarily(figure_of(where)):
        page = open_page(where, cohort="ad")
        assert_no_error(page)
        assert figure(page, "edges_of_the_graph")["data"][0]["y"]
        assert "edges." in captions(page)
        assert "edges." not in captions(open_page(other, cohort="ad"))


def test_home_names_the_measures_that_it_draws(open_page):
    assert "Node entanglement (NE), node efficiency (NEff) and FC strength of its regions" in captions(
        open_page("home")
    )
    page = open_page("home", measures="degree,betweenness")
    assert "Degree and betweenness" in captions(page)
    assert "node efficiency (NEff) and" not in captions(page)
