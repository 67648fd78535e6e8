"""Connectomes, modules and hub measures as files for other programs, of one subject or of all."""

from functools import partial

import streamlit as st

from biobgt.base.files import file_names
from biobgt.base.wording import counted, listed
from biobgt.export.graph_files import GRAPH_FORMATS, graph_files, node_table, zipped
from biobgt.hubs.measures import COMPARED, HUB_MEASURES
from biobgt.hubs.options import HubOptions
from biobgt.modules.measures import NamedModuleOptions
from session.keys import EXPORT_GRAPHS
from session.long_work import work_through
from session.view import View
from views.shared.widgets import heading, input_errors_shown, plain

FILE_NAME = "biobgt_connectomes.zip"


def show_graph_files(view: View) -> None:
    """Offer the brain graphs with the modules and hub measures of their regions, as the sidebar and the pages say."""
    heading("For other programs", simulated=view.cohort.simulated)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = st.selectbox(
            "Format of connectomes",
            [key for key, about in GRAPH_FORMATS.items() if about.fits(view.atlas)],
            format_func=lambda key: GRAPH_FORMATS[key].title,
            key="graph_format",
            width=420,
        )
        everybody = st.toggle(f"All {counted(len(view.cohort), 'subject')}", key="graphs_of_all")
    ids = view.cohort.ids if everybody else (view.subject.id,)
    known = view.measured.kind.named(listed(["module", *(HUB_MEASURES[key].title for key in COMPARED)]))
    hubs, modules = view.options(HubOptions), view.options(NamedModuleOptions)
    whose, kind = "every subject" if everybody else view.subject.id, view.measured.kind
    st.caption(
        plain(
            f"The brain graph of {whose} ({view.settings.describe(kind)}), "
            f"with each region's {known}, where the format has room for them."
        )
    )
    how = (view.loaded.sha256, view.settings, hubs, modules, key)
    kept: dict[tuple[object, ...], dict[str, bytes]] = st.session_state.get(EXPORT_GRAPHS, {})
    made = st.session_state[EXPORT_GRAPHS] = {name: files for name, files in kept.items() if name[:-1] == how}

    def write(subject: str) -> None:
        one = view.loaded.measured.of(subject, view.settings)
        made[(*how, subject)] = dict(graph_files(one.graph(), key=key, nodes=node_table(one, hubs, modules)))

    with input_errors_shown():
        left = [subject for subject in ids if (*how, subject) not in made]
        start = f"Make the files of {counted(len(ids), 'subject')}"
        if not work_through(left, write, key="graphs", start=start, doing="Subject", done_before=len(ids) - len(left)):
            return
        stems = file_names(ids)
        files = {f"{stems[subject]}{end}": data for subject in ids for end, data in made[(*how, subject)].items()}
        st.download_button(
            f"Download {counted(len(files), 'file')} of {counted(len(ids), 'subject')}",
            data=partial(zipped, files),
            file_name=FILE_NAME,
            mime="application/zip",
            icon=":material/download:",
            on_click="ignore",
        )
