"""The sidebar that every page shares: which cohort, which subject, and how the brain graph is made.

Its choices open from the link, last for the session whatever page is shown, and are written back to the address bar.
"""

from typing import get_args

import streamlit as st
from link import Link, keep_module_choices, link_of, read_link, write_address
from loaded import FITTING, View
from model_results import fitting_model, look_for_models, model_names
from state import (
    BACKBONE,
    COHORT,
    DEFAULT_LEVELS,
    ESTIMATOR,
    GAMMA,
    HUB_RULE,
    LEVEL_RANGES,
    LEVELS,
    LINK_OPENED,
    LINK_PROBLEMS,
    MODEL,
    NEXT_COHORT,
    NEXT_LINK,
    PERTURBATION,
    SIGN,
    SUBJECT,
    THRESHOLD,
    VIEW,
    WHY_REGION,
    cohort_titles,
    hub_choices,
    load,
)
from widgets import plain, simulated_badge

from biobgt import Cohort, ConnectomeSettings
from biobgt.graph import Estimator, SignRule, ThresholdRule

_ESTIMATOR_TITLES = {
    "pearson": "Pearson correlation",
    "fisher-z": "Fisher z",
    "partial": "Partial correlation",
    "ledoit-wolf": "Ledoit-Wolf correlation",
    "tangent": "Tangent space of the cohort",
}
_THRESHOLD_TITLES = {"absolute": "Weight", "proportional": "Share", "none": "None"}


def show_sidebar() -> View:
    """Show the sidebar and return what it says; pages find it with :func:`state.current_view`."""
    _open_link()
    with st.sidebar:
        titles = cohort_titles()
        key = st.selectbox(
            "Cohort",
            list(titles),
            format_func=titles.__getitem__,
            key=COHORT,
            persist_state="session",
            help="Simulated demo cohorts, and yours: on the page Subjects you bring your files, fetch a public cohort "
            "or open a saved project.",
        )
        loaded = load(key)
        if loaded.cohort.simulated:
            simulated_badge()
        subject = loaded.cohort[_pick_subject(loaded.cohort)]
        st.caption(plain(f"Atlas: {loaded.cohort.atlas.title}, {loaded.cohort.atlas.n_regions} regions"))
        model = _pick_model(loaded.cohort)
        view = View(loaded, subject, _pick_settings(), hub_choices(), model=model)
        st.caption("Research use only, not a diagnostic device.")
    st.session_state[VIEW] = view
    _share(view)
    return view


def _open_link() -> None:
    """Take the first run's choices from the address, and a page's request for another view from its last run."""
    if COHORT not in st.session_state:
        link = read_link(st.query_params)
        _follow(link.checked(load(link.cohort).cohort))
    if NEXT_COHORT in st.session_state:
        st.session_state[COHORT] = st.session_state.pop(NEXT_COHORT)
    if NEXT_LINK in st.session_state:
        link = st.session_state.pop(NEXT_LINK)
        _follow(link)
        keep_module_choices(link.modules)
        st.session_state[WHY_REGION] = link.hubs.region
        st.session_state.pop(LINK_OPENED, None)  # what could not be used is said again until the view changes


def _follow(link: Link) -> None:
    settings = link.settings
    st.session_state.update({COHORT: link.cohort, SUBJECT: link.subject, LINK_PROBLEMS: link.problems})
    st.session_state.update(
        {ESTIMATOR: settings.estimator, SIGN: settings.sign, THRESHOLD: settings.threshold}
        | {BACKBONE: settings.backbone, MODEL: link.model}
        | {GAMMA: link.hubs.gamma, PERTURBATION: link.hubs.perturbation, HUB_RULE: link.hubs.rule}
        | dict(link.pages)
    )
    for rule, level in LEVELS.items():
        st.session_state[level] = settings.level if rule == settings.threshold else DEFAULT_LEVELS[rule]


def _pick_subject(cohort: Cohort) -> str:
    if st.session_state.get(SUBJECT) not in cohort.ids:
        st.session_state[SUBJECT] = cohort.ids[0]
    groups = {subject.id: subject.group for subject in cohort}
    return st.selectbox(
        "Subject",
        cohort.ids,
        format_func=lambda name: f"{name} · {groups[name]}" if groups[name] else name,
        key=SUBJECT,
        persist_state="session",
    )


def _pick_model(cohort: Cohort) -> str:
    """Ask for the model; which one fits a cohort depends on its atlas and groups."""
    look_for_models()
    names = model_names()
    if st.session_state.get(MODEL, FITTING) not in names:
        st.session_state[MODEL] = FITTING
    fitting = fitting_model(cohort)
    if not names:
        return FITTING
    return st.selectbox(
        "Model",
        [FITTING, *names],
        format_func=lambda name: name or (f"{fitting} (fits the cohort)" if fitting else "none fits the cohort"),
        key=MODEL,
        persist_state="session",
    )


def _pick_settings() -> ConnectomeSettings:
    st.markdown("**Brain graph**")
    estimator: Estimator = st.selectbox(
        "Connectivity",
        get_args(Estimator),
        format_func=_ESTIMATOR_TITLES.__getitem__,
        key=ESTIMATOR,
        persist_state="session",
    )
    sign: SignRule | None = st.segmented_control(
        "Sign rule",
        get_args(SignRule),
        format_func=str.capitalize,
        key=SIGN,
        required=True,
        persist_state="session",
        help="Keep positive connections only, take absolute values, or keep both signs.",
    )
    threshold: ThresholdRule | None = st.segmented_control(
        "Threshold",
        get_args(ThresholdRule),
        format_func=_THRESHOLD_TITLES.__getitem__,
        key=THRESHOLD,
        required=True,
        persist_state="session",
        help="Drop connections below a weight, keep the strongest share of all pairs, or keep all.",
    )
    settings = ConnectomeSettings()
    sign, threshold = sign or settings.sign, threshold or settings.threshold
    level = _pick_level(threshold)
    backbone = st.toggle(
        "Keep the spanning tree",
        key=BACKBONE,
        persist_state="session",
        help="Keep the maximum spanning tree whatever the threshold, so that no region is cut off needlessly.",
    )
    return ConnectomeSettings(estimator=estimator, sign=sign, threshold=threshold, level=level, backbone=backbone)


def _pick_level(threshold: ThresholdRule) -> float:
    """Each rule remembers its own level: 0.3 is a usual weight and an unusual share."""
    if threshold == "none":
        return ConnectomeSettings().level
    low, high = LEVEL_RANGES[threshold]
    return st.slider(
        "Weakest connection kept" if threshold == "absolute" else "Share of pairs kept",
        min_value=low,
        max_value=high,
        step=0.01,
        format="%.2f" if threshold == "absolute" else "percent",
        key=LEVELS[threshold],
        persist_state="session",
    )


def _share(view: View) -> None:
    """Write the view to the address, and say what of the opened link could not be used, until the view changes."""
    link = link_of(view)
    write_address(link)
    opened = st.session_state.setdefault(LINK_OPENED, link)
    if link == opened and st.session_state[LINK_PROBLEMS]:
        st.warning(plain(" ".join(st.session_state[LINK_PROBLEMS])), icon=":material/link_off:")
