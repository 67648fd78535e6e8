"""What differs between two groups, once every subject is measured: effect sizes, regions in the brain, the table."""

import pandas as pd
import streamlit as st

from biobgt.base.files import safe_table, write_csv
from biobgt.base.wording import counted
from biobgt.figures.group_differences import DifferenceBrainOptions, GroupDifferenceBrain, GroupDifferences
from biobgt.groups.compare import HUBS, NETWORKS, ComparisonOptions
from biobgt.groups.features import has_features, subject_features
from session.long_work import work_through
from session.page_options import GLASS, PageOptions, brain_kind
from session.view import View
from views.shared.option_widgets import ask
from views.shared.widgets import heading, show

_SHOWN = {"difference": "Difference", "d": "d", "d_low": "d, low", "d_high": "d, high", "p": "p", "q": "q"}


def show_differences(view: View, options: ComparisonOptions) -> None:
    """Measure every subject of the two groups, when asked to, and show what differs."""
    members = [name for group in options.groups for name in view.cohort.group(group).ids]
    left = [name for name in members if not has_features(view.measured.of(name), options)]
    whole = work_through(
        left,
        lambda name: subject_features(view.measured.of(name), options),
        key="compare",
        start=f"Compare {counted(len(members), 'subject')}",
        doing="Subject",
        automatic=options.of == NETWORKS,  # some hundredths of a second each
        done_before=len(members) - len(left),
    )
    if not whole:
        return
    heading("What differs", simulated=view.cohort.simulated, terms=("effect-size", "fdr"))
    figure = GroupDifferences.of(view.measured, options)
    show(view, figure, key="group_differences")
    if options.of == HUBS and view.atlas.coordinates is not None:
        _show_brain(view)
    _show_table(figure, options)


def _show_brain(view: View) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        ask(PageOptions, "difference_brain", cohort=view.cohort)
        ask(DifferenceBrainOptions, "effect", "only_different", cohort=view.cohort)
    shown = view.options(PageOptions).difference_brain
    glass = shown == GLASS
    brain = GroupDifferenceBrain.of(view.measured, view.options(DifferenceBrainOptions, brain=brain_kind(shown)))
    show(view, brain, key="difference_glass" if glass else "difference_brain_shown", as_picture=glass)


def _show_table(figure: GroupDifferences, options: ComparisonOptions) -> None:
    """All features, the clearest first, and the whole table as a file."""
    found = figure.table.sort_values("p", kind="stable")
    means = {f"Mean {group}": found[f"mean_{group}"] for group in options.groups}
    table = pd.DataFrame({"Feature": found["feature"], **means, **{name: found[key] for key, name in _SHOWN.items()}})
    st.dataframe(
        safe_table(table),
        hide_index=True,
        key="differences_table",
        column_config={name: st.column_config.NumberColumn(format="%.3g") for name in table.columns[1:]},
        alt="Differences of the two groups, one row per feature",
    )
    st.download_button(
        f"Download the table of {counted(len(table), 'feature')}",
        data=write_csv(figure.numbers, index=False).encode(),
        file_name=f"compare_{options.of}.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
        key="differences_download",
    )
