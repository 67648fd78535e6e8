"""What a session holds: the loaded cohort, the view of it, and the names under which they are kept.

Demo cohorts are nobody's data and are shared between sessions. A user's own subjects live in that user's session
and nowhere else: nothing here is cached across sessions that was read from a file.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st
from loaded import STRONGEST, HubChoices, LoadedCohort, View
from threadpoolctl import threadpool_limits

from biobgt import Cohort
from biobgt.simulate import DEMO_COHORTS, demo_cohort

if TYPE_CHECKING:  # it brings SciPy's statistics, a second of start that only the pages of hubs and modules need
    from biobgt.hubs import HubRule, Perturbation

# A few hundred regions are small matrices: several BLAS threads a session only wait for one another.
threadpool_limits(1, user_api="blas")

# Values of widgets in the sidebar.
COHORT = "cohort"
SUBJECT = "subject"
ESTIMATOR = "estimator"
SIGN = "sign"
THRESHOLD = "threshold"
LEVELS: Mapping[str, str] = {"absolute": "absolute_level", "proportional": "proportional_level"}
BACKBONE = "backbone"
MODEL = "model"
# Values of widgets that pages share.
REGION_ORDER = "region_order"
MATRIX_SHOWN = "matrix_shown"
MATRICES = ("Functional connectivity", "Brain graph")
# Values of widgets on the page of hubs; all but the table's are in the link.
GAMMA = "gamma"
PERTURBATION = "perturbation"
HUB_RULE = "hub_rule"
CURVE_SCALE = "curve_scale"
CURVE_ORDER = "curve_order"
TABLE_MEASURES = "table_measures"
CURVE_REGIONS = "curve_regions"
CURVE_SEED = "curve_seed"
GROUP_BEHIND = "group_behind"
BRAIN_SHOWN = "brain_shown"
WHY_REGION = "region"
CURVE_SCALES = ("z", "rank", "raw")
CURVE_ORDERS = ("atlas order", "by NE")  # and the atlas's labellings
CURVE_REGION_CHOICES = ("all", "random")
HUB_BRAINS = ("3d", "glass", "five")
# On the page of exports, and no widget's value: the list, and what was made of it.
EXPORT_LIST = "export_list"
EXPORT_FILES = "export_files"
EXPORT_PREVIEWS = "export_previews"
EXPORT_MEASURED = "export_measured"
# On the page of modules; all are in the link.
RESOLUTION = "resolution"
CONSENSUS = "consensus"
SIGNED = "signed"
RUNS = "runs"
SEED = "seed"
LABELLING = "labelling"
BRAIN_KIND = "brain_kind"
BRAIN_EDGES = "brain_edges"
GROUP_BRAIN = f"group_{BRAIN_KIND}"
COMPARED_GROUPS = ("first_group", "second_group")
BRAIN_KINDS = ("3-D, to turn", "Glass brain")
EDGE_NUMBERS = tuple(range(0, 301, 10))
FEWEST_COMPARED = 2
# On the page of attention; all are in the link.
MODELS_SHOWN = "models_shown"
ATTENTION_ORDER = "attention_order"
ATTENTION_LAYER, ATTENTION_HEAD = "attention_layer", "attention_head"
ATTENTION_GROUPS = ("attention_first_group", "attention_second_group")
RECEIVED_GROUP = "received_group"
RECEIVED_BRAIN = "received_brain"
OWN_ATTENTION = "own_attention"
# On the page of predictions; in the link.
PROBABILITY_OF = "probability_of"
RESOLUTIONS = tuple(round(0.5 + 0.1 * step, 1) for step in range(16))
RUN_NUMBERS = (5, 10, 20, 50, 100)
LARGEST_SEED = 9999
# What is no widget's value.
OWN_COHORT = "own_cohort"
NEXT_COHORT = "next_cohort"
VIEW = "view"
MODELS_FOUND = "models_found"
LINK_PROBLEMS = "link_problems"
LINK_OPENED = "link_opened"
NEXT_LINK = "next_link"
# On the page of subjects: a number that grows with every change of the user's own cohort, so that no edit of a table is
# taken for one of the next; a number that grows when the uploaders are to be emptied; the last reading, and what it
# brought; the answers; whether further files are added.
EDITION = "edition"
UPLOADERS = "uploaders"
ATTEMPT = "attempt"
BATCH = "batch"
ANSWERS = "answers"
ADDING = "adding"
# A public cohort that is being fetched (what was asked for), and why the last one was not.
FETCHING = "fetching"
FETCH_PROBLEM = "fetch_problem"

OWN = "own"
DEFAULT_COHORT = next(iter(DEMO_COHORTS))
DEFAULT_LEVELS: Mapping[str, float] = {"absolute": 0.3, "proportional": 0.1}
LEVEL_RANGES: Mapping[str, tuple[float, float]] = {"absolute": (0.0, 1.0), "proportional": (0.01, 1.0)}
# Ten even steps a decade, rounded to readable numbers; in units of 1/mean(λ).
GAMMAS: tuple[float, ...] = (
    *(0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8),
    *(1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
    *(10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 80.0, 100.0),
)
PERTURBATIONS: "tuple[Perturbation, ...]" = ("control", "remove")
HUB_RULES: "tuple[HubRule, ...]" = ("top", "sd")


@st.cache_resource(show_spinner="Drawing the demo cohort…")
def _demo(name: str) -> LoadedCohort:
    return LoadedCohort(name, demo_cohort(name))


def cohort_titles() -> dict[str, str]:
    """The cohorts of this session, by key, for the picker."""
    own = own_cohort()
    if own is None:
        return dict(DEMO_COHORTS)
    name = own.cohort.name
    return {**DEMO_COHORTS, OWN: f"{name}, from a project" if name in DEMO_COHORTS.values() else name}


def load(key: str) -> LoadedCohort:
    """Return a cohort by its key."""
    own = own_cohort()
    return own if key == OWN and own is not None else _demo(key)


def own_cohort() -> LoadedCohort | None:
    """The subjects this session's user brought."""
    own: LoadedCohort | None = st.session_state.get(OWN_COHORT)
    return own


def keep_own_cohort(cohort: Cohort) -> None:
    """Keep what the user brought, and show it from the next run on."""
    st.session_state[OWN_COHORT] = LoadedCohort(OWN, cohort)
    st.session_state[NEXT_COHORT] = OWN
    _next_edition()


def change_own_cohort(cohort: Cohort) -> None:
    """Keep what the user made of the own cohort; results stay where the change cannot have touched them."""
    own = own_cohort()
    st.session_state[OWN_COHORT] = LoadedCohort(OWN, cohort) if own is None else own.changed_to(cohort)
    _next_edition()


def empty_uploaders() -> None:
    """Let the page of subjects start with nothing dropped and nothing answered."""
    st.session_state[UPLOADERS] = st.session_state.get(UPLOADERS, 0) + 1
    for key in (ATTEMPT, BATCH, ANSWERS):
        st.session_state.pop(key, None)


def _next_edition() -> None:
    st.session_state[EDITION] = st.session_state.get(EDITION, 0) + 1


def forget_own_cohort() -> None:
    """Drop what the user brought."""
    st.session_state.pop(OWN_COHORT, None)
    st.session_state[NEXT_COHORT] = DEFAULT_COHORT
    # Nor does the export keep anything of them.
    exported = st.session_state.get(EXPORT_LIST, [])
    st.session_state[EXPORT_LIST] = [request for request in exported if not request.cohort.own]
    for key in (EXPORT_FILES, EXPORT_PREVIEWS, EXPORT_MEASURED):
        st.session_state.pop(key, None)


def hub_choices() -> HubChoices:
    """What the page of hubs says, or the link where that page was not opened yet."""
    region = st.session_state.setdefault(WHY_REGION, st.query_params.get(WHY_REGION, STRONGEST))
    gamma, perturbation, rule = (st.session_state[key] for key in (GAMMA, PERTURBATION, HUB_RULE))
    return HubChoices(gamma, perturbation, rule, region)


def current_view() -> View:
    """The view that the sidebar chose in this run."""
    view: View = st.session_state[VIEW]
    return view
