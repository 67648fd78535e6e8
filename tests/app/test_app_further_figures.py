"""A figure that names a page is shown on it, whichever page that is; Home says which measures it draws."""

import pytest
from page_contents import assert_no_error, captions, figure

from biobgt.figures.drawing import Bars, Drawing, Panel
from biobgt.figures.register import FIGURES, Figure
from views.page_map import PAGES


def edges(measured, options):
    graph = measured.graph()
    bar = Bars(name="edges", colour="#0072B2", x=[0], y=[graph.n_edges])
    return Drawing(title="Edges", panels=[Panel(marks=[bar])], caption=f"There are {graph.n_edges} edges.")


@pytest.mark.parametrize("where", list(PAGES))
def test_a_figure_is_on_the_page_that_it_names_and_on_no_other(open_page, where):
    other = "subjects" if where == "export" else "export"
    with FIGURES.temporarily(Figure(key="edges_of_the_graph", name="Edges of the graph", draw=edges, page=where)):
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
