"""The design of a study from choices: what is tested, adjusted for what, in which measures; and what it says."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from biobgt import InputError
from biobgt.base.wording import USUAL_COVARIATES, capitalised, counted, covariate_words, not_ruled_out
from biobgt.data.cohort import counted_people
from biobgt.inference.design import AVERAGED, COMPARED
from biobgt.inference.edges import BLOCKS, EXTENT, INTENSITY
from biobgt.inference.formula import variables_of
from biobgt.model.pretrained import installed_models
from biobgt.study.background import BackgroundStudy, RunState
from biobgt.study.design import DesignOptions, PlannedStudy, plan_study
from biobgt.study.finished import FinishedStudy
from biobgt.study.options import DENSITIES, RecordingOptions
from session.view import View
from views.shared import widgets
from views.shared.figures import show
from views.shared.widgets import escape_markdown, heading, in_a_row, input_errors_shown

_USUAL = ("motion", "age", "sex", "site")
_NONE = "none"
_MOST_WORDS = 12  # values of a variable of words that is offered
_DENSITIES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


def show_design(view: View, study: BackgroundStudy, state: RunState, finished: FinishedStudy | None) -> None:
    """Ask for the design, say what it says, and offer to start; show the design of what was found.

    Parameters
    ----------
    view : View
    study : BackgroundStudy
        Of the view's cohort.
    state : RunState
        How far it is.
    finished : FinishedStudy or None
    """
    variables = variables_of(view.cohort.table())
    offered = _offered(variables)
    if not offered:
        st.info("There is nothing to test: the subjects have neither groups nor phenotypes.")
        return
    with input_errors_shown():
        options = _ask(view, variables, offered)
        st.code(_formula_words(options), language=None)
        planned = _show_plan(view, options)
        if planned is not None and state.state != "running":
            measured = _ask_measures(view)
            label = {"none": "Start the study", "finished": "Run it again"}.get(state.state, "Go on")
            if st.button(label, key="study_start", type="primary", icon=":material/play_arrow:"):
                study.start(view.cohort, view.settings, [measured, options])
                st.rerun()
    if finished is not None:
        from biobgt.figures.register import all_figures

        heading("Design of the finished study")
        show(view, all_figures()["study_design"], all_figures()["study_design"].takes(), measured=finished)


def _offered(variables: pd.DataFrame) -> tuple[str, ...]:
    """Variables that can be tested: groups first, then numbers and words of few values."""
    found = []
    for name in variables:
        known = variables[name].dropna()
        n_values = len(known.unique())
        if n_values > 1 and (pd.api.types.is_numeric_dtype(known) or n_values <= _MOST_WORDS):
            found.append(str(name))
    return tuple(sorted(found, key=lambda name: (name != "group", name not in _USUAL)))


def _title(name: str) -> str:
    return "None" if name == _NONE else capitalised(covariate_words(name))


def _ask(view: View, variables: pd.DataFrame, offered: Sequence[str]) -> DesignOptions:
    """The choices, side by side, as options of a design."""
    about = DesignOptions.declared()
    persons = view.cohort.persons
    with in_a_row():
        tested = st.selectbox(
            "Tested", offered, format_func=_title, key="study_tested", persist_state="session", width=220
        )
        others = [name for name in offered if name != tested and not (name == "log_mean_fd" and "motion" in offered)]
        usual = [name for name in others if name in _USUAL]
        st.session_state.setdefault("study_covariates", usual)
        st.session_state["study_covariates"] = [one for one in st.session_state["study_covariates"] if one in others]
        covariates = st.multiselect(
            "Adjusted for", others, format_func=_title, key="study_covariates", persist_state="session"
        )
        across = st.selectbox(
            "Does it differ with",
            (_NONE, *covariates),
            format_func=_title,
            key="study_interaction",
            persist_state="session",
            width=200,
            help="Tests the interaction: whether the effect of what is tested differs with another variable.",
        )
    recordings = AVERAGED
    with in_a_row():
        if len(set(persons)) < len(persons):
            recordings = widgets.ask_here(about["repeated"], key="study_repeated")
        method = widgets.ask_here(about["method"], key="study_method", width=220)
        threshold: Any = about["edge_threshold"].default
        if method in (EXTENT, INTENSITY):
            threshold = widgets.ask_here(about["edge_threshold"], key="study_threshold")
        permutations = widgets.ask_here(about["permutations"], key="study_permutations")
        seed = widgets.ask_here(about["seed"], key="study_seed")
    with in_a_row():
        overall = widgets.ask_here(about["overall"], key="study_overall")
        within = harmonise = ""
        if "site" in offered and recordings != COMPARED:
            if st.toggle(
                "Permute within sites", key="study_within", persist_state="session", help=about["within"].help
            ):
                within = "site"
            harmonise = widgets.ask_here(about["harmonise"], key="study_harmonise")
    term, formula = _formula(str(tested), covariates, None if across == _NONE else across)
    labelling = next(iter(view.atlas.labels), "") if method == BLOCKS else ""
    given: dict[str, Any] = {"harmonise": harmonise} if harmonise else {}
    return DesignOptions(
        design=formula,
        test=term,
        repeated=recordings,
        within=within,
        overall=overall,
        method=method,
        edge_threshold=float(threshold),
        permutations=int(permutations),
        seed=int(seed),
        labelling=labelling,
        **given,
    )


def _formula(tested: str, covariates: Sequence[str], across: str | None) -> tuple[str, str]:
    """The tested term and the formula.

    >>> _formula("group", ["age", "sex"], "age")
    ('group:age', '~ group * age + sex')
    """
    first = f"{tested} * {across}" if across else tested
    others = [name for name in covariates if name != across]
    return f"{tested}:{across}" if across else tested, f"~ {' + '.join([first, *others])}"


def _formula_words(options: DesignOptions) -> str:
    return f"{options.design}    tested: {options.test}"


def _show_plan(view: View, options: DesignOptions) -> PlannedStudy | None:
    """Who is in the design, and all that it says; None where it is refused, with the reason."""
    try:
        planned = plan_study(view.cohort.table(), view.cohort.persons, options)
    except InputError as error:
        st.error(escape_markdown(str(error)), icon=":material/block:")
        return None
    design = planned.main
    sizes: dict[str, Any] = (
        {f"People of {level}": n for level, n in design.sizes.items()} if len(design.sizes) <= 4 else {}
    )
    rows = counted_people(len(set(design.names)), len(design.names))
    numbers = sizes or {"In the design": rows}
    widgets.show_numbers(
        {**numbers, "Residual degrees of freedom": design.degrees, "Variance inflation": f"{design.inflation:.2f}"}
    )
    absent = [name for name in USUAL_COVARIATES if name not in planned.variables]
    said = [*planned.sentences, *filter(None, [not_ruled_out(absent)])]
    if said:
        st.markdown("\n".join(f"- {escape_markdown(sentence)}" for sentence in said))
    return planned


def _ask_measures(view: View) -> RecordingOptions:
    """What is measured of everybody."""
    about = RecordingOptions.declared()
    with st.expander("What is measured"):
        measures = widgets.ask_here(
            about["measures"], key="study_measures", offered=tuple(about["measures"].choices or ())
        )
        st.session_state.setdefault("study_levels", list(DENSITIES))
        levels = st.multiselect(
            "Densities",
            _DENSITIES,
            key="study_levels",
            persist_state="session",
            format_func=lambda level: f"{level:g}",
            help=about["levels"].help,
        )
        fitting = [name for name, model in installed_models().items() if not model.refusal(view.cohort)]
        model = st.selectbox(
            "Attention of a model",
            ("", *fitting),
            format_func=lambda name: name or "Not measured",
            key="study_model",
            persist_state="session",
            width=220,
            help=about["model"].help,
        )
        st.caption(f"{counted(len(measures), 'measure')} at {counted(len(levels), 'level')} of the threshold.")
    return RecordingOptions(measures=tuple(measures), levels=tuple(sorted(levels)), model=model)
