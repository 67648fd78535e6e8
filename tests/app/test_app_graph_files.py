"""The page of exports writes connectomes for other programs, in the formats that the atlas has room for."""

import networkx
from page_contents import assert_no_error

from biobgt.export.graph_files import GRAPH_FORMATS


def test_connectomes_are_written_in_the_chosen_format(open_page):
    page = open_page("export", cohort="ad")
    choice = page.selectbox(key="graph_format")
    assert choice.options == [about.title for key, about in GRAPH_FORMATS.items() if key != "pscalar"], "no cortex"
    choice.select("graphml").run()
    page.button(key="graphs_start").click().run()
    assert_no_error(page)
    (files,) = page.session_state["export_graphs"].values()
    read = networkx.parse_graphml(files[".graphml"].decode(), node_type=int)
    assert read.number_of_nodes() == 90
    assert {"name", "x", "module", "node_entanglement"} <= set(read.nodes[0])
    (download,) = page.get("download_button")
    assert download.proto.label == "Download 1 file of 1 subject"
    page.selectbox(key="graph_format").select("bids").run()
    kept = [ending for files in page.session_state["export_graphs"].values() for ending in files]
    assert ".graphml" not in kept, "what was made in another format is dropped"
