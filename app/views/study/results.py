"""What a study found, as pictures by tab; every one can be enlarged and exported, and the report taken home."""

from typing import Any

import streamlit as st

from biobgt.base.options import Plain
from biobgt.base.wording import capitalised
from biobgt.figures.register import Figure, all_figures
from biobgt.figures.studies.shown import measure_words
from biobgt.groups.compare import NOTHING
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.inference.design import COMPARED
from biobgt.specifications.findings import FINDINGS
from biobgt.study.background import BackgroundStudy
from biobgt.study.design import OVERALL
from biobgt.study.finished import FinishedStudy
from session.view import View
from views.shared.figures import show, show_no_places
from views.shared.survival import ask_survival
from views.shared.widgets import columns, input_errors_shown, offer_file

_FEW = 4  # contrasts side by side


def show_results(view: View, study: BackgroundStudy, finished: FinishedStudy, tab: str) -> None:
    """Show one tab.

    Parameters
    ----------
    view : View
    study : BackgroundStudy
    finished : FinishedStudy
        What it found.
    tab : str
    """
    {"edges": _edges, "regions": _regions, "network": _network, "cohort": _cohort}.get(tab, _report)(
        view, study, finished
    )


def _contrast(finished: FinishedStudy) -> dict[str, str]:
    """Ask for the contrast, where there are several, and whether overall connectivity is adjusted for."""
    names = [one.name for one in finished.findings.designs[0].contrasts]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = names[0]
        if len(names) > 1:
            if st.session_state.get("study_contrast") not in names:
                st.session_state["study_contrast"] = names[0]
            about: dict[str, Any] = {"key": "study_contrast", "persist_state": "session"}
            if len(names) <= _FEW:
                chosen = str(st.segmented_control("Contrast", names, required=True, **about))
            else:
                chosen = str(st.selectbox("Contrast", names, width=260, **about))
        overall = "as asked"
        if len(finished.findings.designs) > 1:
            main = finished.findings.designs[0].adjusted
            adjusted = st.toggle("Adjust for overall connectivity", main, key="study_adjusted", persist_state="session")
            overall = "adjusted" if adjusted else "not adjusted"
    return {"contrast": chosen, "overall": overall}


def _show(view: View, finished: FinishedStudy, name: str, **fixed: Any) -> None:
    figure: Figure[Any] = all_figures()[name]
    known = figure.takes.declared()
    with st.container(), input_errors_shown():
        options = figure.takes(**{key: value for key, value in fixed.items() if key in known})
        show(view, figure, options, measured=finished)


def _edges(view: View, study: BackgroundStudy, finished: FinishedStudy) -> None:
    chosen = _contrast(finished)
    with columns("study_edges"):
        _show(view, finished, "study_connectogram", **chosen)
        if view.atlas.coordinates is None:
            show_no_places()
        else:
            _show(view, finished, "study_edge_brain", **chosen)
    if finished.labelling:
        _show(view, finished, "study_blocks", **chosen)


def _regions(view: View, study: BackgroundStudy, finished: FinishedStudy) -> None:
    keys = list(dict.fromkeys(finished.findings.regions["measure"]))
    if st.session_state.get("study_measure") not in keys:
        st.session_state["study_measure"] = NE if NE in keys else keys[0]
    measure = st.selectbox(
        "Measure",
        keys,
        format_func=lambda key: capitalised(measure_words(finished, key)),
        key="study_measure",
        persist_state="session",
        width=300,
    )
    chosen = {**_contrast(finished), "measure": measure}
    with columns("study_regions"):
        if view.atlas.coordinates is None:
            show_no_places()
        else:
            _show(view, finished, "study_region_brain", **chosen)
        _show(view, finished, "study_regions", **chosen)
    with columns("study_region_levels"):
        _show(view, finished, "study_region_levels", **chosen)
        _show(view, finished, "study_region_curve", **chosen)
    if measure in HUB_MEASURES and (tested := _tested(finished, chosen["contrast"])):
        rows = finished.findings.regions
        rows = rows[(rows["contrast"] == chosen["contrast"]) & (rows["measure"] == measure) & rows["level"].isna()]
        names = dict.fromkeys(rows.sort_values("p", kind="stable")["name"].astype(str))
        about = {"finding": "hub-measure", "measure": measure, **tested}
        ask_survival(view, "study_region", {name: {**about, "region": name} for name in names})


def _network(view: View, study: BackgroundStudy, finished: FinishedStudy) -> None:
    chosen = _contrast(finished)
    _show(view, finished, "study_network", **chosen)
    _show(view, finished, "study_network_levels", **chosen)
    if tested := _tested(finished, chosen["contrast"]):
        findings = {key: {"finding": key, **tested} for key in ("segregation", "modularity", "mean-connectivity")}
        ask_survival(view, "study_network", {FINDINGS[key].title: about for key, about in findings.items()})


def _tested(finished: FinishedStudy, contrast: str) -> dict[str, Plain]:
    """What is tested, as a finding has it: two groups, or a score; nothing for other contrasts."""
    design, levels = finished.findings.designs[0], finished.contrast(contrast).levels
    motion, others = ("log_mean_fd", "motion"), {"log_mean_fd", "motion", OVERALL}
    about: dict[str, Plain] = {
        "covariates": tuple(name for name in design.covariates if name not in others) or (NOTHING,),
        "motion": "log" if any(name in design.covariates for name in motion) else "none",
        "overall": design.adjusted,
    }
    if any(not name.isidentifier() for name in design.covariates) or design.recordings == COMPARED:
        return {}  # interactions, and people who are their own controls
    if design.test == "group" and len(levels) == 2:
        return {"first": levels[0], "second": levels[1], **about}
    return {"score": design.test, **about} if not levels and design.test.isidentifier() else {}


def _cohort(view: View, study: BackgroundStudy, finished: FinishedStudy) -> None:
    with columns("study_cohort"):
        if view.atlas.coordinates is None:
            show_no_places()
        else:
            _show(view, finished, "study_hubs")
        _show(view, finished, "study_connectivity")
    if len(finished.findings.maps):
        _show(view, finished, "study_maps")
    if len(finished.findings.harmonised):
        _show(view, finished, "study_harmonised")


def _report(view: View, study: BackgroundStudy, finished: FinishedStudy) -> None:
    """Offer the report, and what the study says of itself."""
    st.markdown(
        "One file that opens in any browser, offline: people, quality, results as tables and figures with their "
        "numbers, methods with citations, a COBIDAS checklist, versions and hashes."
    )
    offer_file("Download the report", study.report.read_bytes, "report.html", key="study_report", type="primary")
    _show(view, finished, "study_design")
