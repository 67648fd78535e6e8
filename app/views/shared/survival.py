"""Would it survive? A panel below a finding: the choices that are varied, how far the work is, and the verdict."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from biobgt.base.options import Plain
from biobgt.base.wording import counted, percent
from biobgt.figures import specifications as figures
from biobgt.specifications.background import BackgroundSurvival
from biobgt.specifications.curve import SpecificationCurve
from biobgt.specifications.folder import finished_survival
from biobgt.specifications.options import MOST, SurvivalOptions
from biobgt.specifications.plan import SurvivalPlan, plan_survival
from biobgt.specifications.run import specification_curve
from biobgt.specifications.ways import CHOICES
from session.view import View
from views.shared.background import show_progress, time_words
from views.shared.figures import show
from views.shared.widgets import caption, escape_markdown, in_a_row, input_errors_shown

_MOST = (50, 100, MOST, 500, 1000, 2000)
_HELP = (
    "Measures the same finding in all reasonable ways: other thresholds, other connectivity, without the global "
    "signal, in each half of the recording and so on. It runs in the background and says in how many ways the finding "
    "holds."
)


def ask_survival(view: View, key: str, findings: Mapping[str, Mapping[str, Plain]]) -> None:
    """Offer to measure a finding in all reasonable ways; opened, it shows the panel.

    Parameters
    ----------
    view : View
    key : str
        Unique on the page.
    findings : mapping of str to mapping
        What may be asked about, by its name, with the options that say what it is.
    """
    if not st.toggle("Would it survive?", key=f"{key}_survival", persist_state="session", help=_HELP) or not findings:
        return
    with st.container(border=True, key=f"{key}_survival_panel"), input_errors_shown():
        name = next(iter(findings))
        if len(findings) > 1:
            if st.session_state.get(f"{key}_finding") not in findings:
                st.session_state[f"{key}_finding"] = name
            name = st.selectbox("Finding", list(findings), key=f"{key}_finding", persist_state="session")
        _show_panel(view, key, findings[name])


def _show_panel(view: View, key: str, finding: Mapping[str, Plain]) -> None:
    """The choices, the number of ways and the time, and what was found."""
    plan = _ask_plan(view, key, finding)
    run = BackgroundSurvival(plan)
    state = run.look()
    caption(_plan_words(plan))
    if state.state == "running":
        show_progress(run, key=key, noun="graph")
        return
    if state.state == "failed":
        st.error(escape_markdown(f"It ended early. It said: {state.said or 'nothing'}"))
    curve = _found(view, plan, run)
    label = "Start" if state.state == "none" else "Go on"
    if curve is None and st.button(label, key=f"{key}_start", type="primary", icon=":material/play_arrow:"):
        run.start()
        st.rerun()
    if curve is not None:
        _show_curve(view, key, plan, curve)
        if st.button("Delete what was measured", key=f"{key}_forget", icon=":material/delete:"):
            run.forget()
            st.rerun()


def _ask_plan(view: View, key: str, finding: Mapping[str, Plain]) -> SurvivalPlan:
    """Ask which choices are varied and how many ways there may be."""

    def planned(off: tuple[str, ...] = (), most: int = MOST) -> SurvivalPlan:
        options = view.options(SurvivalOptions, **finding, off=off, most=most)
        return plan_survival(view.cohort, view.settings, options, subject=view.subject.id)

    offered = list(planned().offered)
    chosen_key, about = f"{key}_varied", SurvivalOptions.declared()["most"]
    st.session_state[chosen_key] = [one for one in st.session_state.get(chosen_key, offered) if one in offered]
    with in_a_row():
        varied = st.multiselect(
            "Choices that are varied",
            offered,
            key=chosen_key,
            persist_state="session",
            format_func=lambda one: CHOICES[one].title,
        )
        st.session_state.setdefault(f"{key}_most", MOST)
        how: dict[str, Any] = {"key": f"{key}_most", "persist_state": "session", "help": about.help, "width": 180}
        most = st.selectbox(about.title, _MOST, **how)
    return planned(tuple(one for one in offered if one not in varied), int(most))


def _plan_words(plan: SurvivalPlan) -> str:
    """How many ways there are, and how long they take."""
    n, possible = len(plan.ways.every), plan.ways.n_possible
    drawn = f" of {possible:,}, drawn at random" if n < possible else ""
    return (
        f"{counted(n, 'specification')}{drawn}: {counted(plan.n_graphs, 'graph')}, about "
        f"{time_words(max(plan.seconds(), 1))} where nothing is measured yet."
    )


def _found(view: View, plan: SurvivalPlan, run: BackgroundSurvival) -> SpecificationCurve | None:
    """What was found in these ways; kept for the session, so that the figure and the export have it."""
    known = view.measured.recall(specification_curve, plan.options)
    if known is None and (known := finished_survival(plan, run.out)) is not None:
        view.measured.store.put(view.measured.key(specification_curve, plan.options), known)
    return known


def _show_curve(view: View, key: str, plan: SurvivalPlan, curve: SpecificationCurve) -> None:
    """The verdict, the figure, and which choice moves the result most."""
    st.markdown(f"**{escape_markdown(curve.sentence)}**")
    caption(curve.definition)
    if plan.finding.whom == "subject":
        show(view, figures.subject_specification_curve, plan.options, key=f"{key}_curve")
    else:
        of_people = figures.specification_curve.takes(**plan.options.as_dict())
        show(view, figures.specification_curve, of_people, key=f"{key}_curve")
    explained = curve.explained()
    most = max(explained, key=lambda one: explained[one], default="")
    moved = f"{curve.titles[most]} moves it most: {percent(explained[most])} of the variance of the estimate."
    caption(" ".join(filter(None, [moved if most and explained[most] > 0 else "", curve.joint_words])))
