"""Study: a design tested in edges, regions and the whole network of everybody in the cohort.

What the design says comes before anything is computed. The work is done by a process of its own: the page can be closed
and opened again while it runs.
"""

from functools import partial

import streamlit as st

from biobgt.base.wording import counted
from biobgt.study.background import BackgroundStudy, RunState
from session.studies import background_study, forget_study, opened_study
from session.view import PageOptions, current_view
from views.shared import widgets
from views.shared.background import show_progress
from views.shared.widgets import caption, escape_markdown
from views.study.choices import show_design
from views.study.results import show_results


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    about = (
        "A formula over the phenotypes, tested in every connection, region and number of the network, with one report. "
        "It runs in the background: this page can be closed and opened again. In a terminal: `biobgt study PATH OUT`."
    )
    widgets.open_page("study", about, "covariate", "fdr", simulated=view.cohort.simulated)
    with widgets.controls():
        widgets.ask(PageOptions, "study_tab", cohort=view.cohort)
    tab, study = view.options(PageOptions).study_tab, background_study(view)
    state = study.look()
    if state.state == "running":
        show_progress(study, key="study", when_ended=forget_study)
    elif state.state in ("stopped", "failed"):
        _show_ended(state)
    if tab == "design":
        show_design(view, study, state, opened_study(study) if state.state == "finished" else None)
        if state.state in ("stopped", "failed", "finished"):
            _offer_deletion(study)
    elif state.state == "finished":
        show_results(view, study, opened_study(study), tab)
    else:
        st.info("Results will be here when the study has ended. Choose and start it on the tab Design.")


def _show_ended(state: RunState) -> None:
    """Say why there are no results, and that what was measured stays."""
    done, total = state.progress.get("done", 0), state.progress.get("total", 0)
    there = f" {done:,} of {counted(total, 'recording')} are measured, and stay." if total else ""
    if state.state == "stopped":
        st.info(escape_markdown(f"The study was stopped.{there} Start it again on the tab Design to go on."))
    else:
        st.error(escape_markdown(f"The study ended early.{there} It said: {state.said or 'nothing'}"))


def _offer_deletion(study: BackgroundStudy) -> None:
    """Offer to delete the study: it holds data of people on this machine."""
    with st.expander("Where this study is kept"):
        caption(
            "Measures, findings and a copy of the subjects are in a private folder on the machine that runs this app, "
            "until they are deleted here."
        )
        st.button("Delete this study", key="study_delete", icon=":material/delete:", on_click=partial(_delete, study))


def _delete(study: BackgroundStudy) -> None:
    study.forget()
    forget_study()


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
