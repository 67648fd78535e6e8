"""The view in the address bar, so that a colleague who opens the link sees the same figure of the demo cohort.

Of a user's own subjects nothing but the settings is written there: ids are personal, and the link could not open them.
A value that cannot be used is replaced by the default, and a sentence says so.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from biobgt import Cohort, ConnectomeSettings
from biobgt.base.options import Plain, to_text
from biobgt.data.atlas import LABELLINGS
from biobgt.data.graph import ESTIMATED, KINDS, LEVELS, ConnectivityKind, levels_of
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.model.folder import pretrained_names
from biobgt.readers.project import Project
from session.cohorts import DEFAULT_COHORT, OWN
from session.view import (
    COHORT,
    FITTING,
    IN_EVERY_LINK,
    LABELLING,
    MODEL,
    REGION,
    SUBJECT,
    View,
    linked_options,
    model_shown,
    read_value,
)

_LINKS, _PROJECTS = "The link's", "The project's"
_LEVEL = "level"


@dataclass(frozen=True)
class Link:
    """A view as an address names it, and what in the address could not be used.

    Attributes
    ----------
    cohort : str
    subject : str or None
    settings : ConnectomeSettings
    said : mapping of str to str
        What else the address says, by name; what that means depends on the cohort.
    choices : mapping of str to plain values
        The same once :meth:`checked` has read it.
    problems : tuple of str
    model : str
    """

    cohort: str = DEFAULT_COHORT
    subject: str | None = None
    settings: ConnectomeSettings = field(default_factory=ConnectomeSettings)
    said: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Plain] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    model: str = FITTING

    def checked(self, cohort: Cohort) -> "Link":
        """Read what depends on the cohort: its subject, the regions of its atlas, its labels, its groups."""
        problems, choices, model = list(self.problems), dict[str, Plain](), model_shown(self.model, cohort)
        for name, one in linked_options().items():
            of = cohort if not one.of_model else None if model is None else model.cohort
            if name not in self.said or of is None:
                continue
            text = self.said[name]
            choices[name], found = read_value(one, text, of)
            if name == REGION and text and text not in cohort.atlas.regions:
                choices[name] = one.default
                problems.append(_shown_instead(name, text, ""))
            elif not found:
                problems.append(_shown_instead(name, text, to_text(choices[name])))
        subject = self.subject or cohort.ids[0]
        if subject not in cohort.ids:
            problems.append(_shown_instead(SUBJECT, subject, cohort.ids[0]))
            subject = cohort.ids[0]
        return replace(self, subject=subject, said={}, choices=choices, problems=tuple(problems))


def read_link(params: Mapping[str, str], kind: ConnectivityKind = KINDS[ESTIMATED]) -> Link:
    """Read a view from the parameters of an address; :meth:`Link.checked` reads the rest for its cohort.

    Parameters
    ----------
    params : mapping of str to str
    kind : ConnectivityKind
        Of the cohort's connectivity, on which defaults and bounds of thresholds depend.
    """
    problems: list[str] = []
    cohort = params.get(COHORT, DEFAULT_COHORT)
    if cohort not in DEMO_COHORTS:
        problems.append(_shown_instead(COHORT, cohort, DEMO_COHORTS[DEFAULT_COHORT]))
        cohort = DEFAULT_COHORT
    settings = _read_settings(params, kind, problems)
    model = params.get(MODEL, FITTING)
    if model != FITTING and model not in pretrained_names():
        problems.append(_shown_instead(MODEL, model, "the one that fits the cohort"))
        model = FITTING
    known = linked_options()
    said = {name: params[name] for name in params if name in known}
    return Link(cohort, params.get(SUBJECT), settings, said, problems=tuple(problems), model=model)


def link_of(view: View) -> dict[str, str]:
    """Write a view as the parameters of an address."""
    said = {name: to_text(value) for name, value in view.settings.as_dict().items()} | _always(view)
    if said[LABELLING] not in LABELLINGS:
        del said[LABELLING]  # of a user's own atlas: nobody else has it
    if view.model != FITTING:
        said[MODEL] = view.model
    if view.loaded.key == OWN:
        return said
    return {COHORT: view.loaded.key, SUBJECT: view.subject.id, **said, **_chosen(view)}


def saved_view(view: View) -> dict[str, str]:
    """What a project keeps beside cohort and settings; it is the user's own file, and may name their subject."""
    model = {} if view.model == FITTING else {MODEL: view.model}
    return {SUBJECT: view.subject.id, **model, **_always(view), **_chosen(view)}


def link_of_project(project: Project) -> Link:
    """The view that a project was saved with; what cannot be used in it is replaced, and named."""
    said = {
        name: to_text(value) if isinstance(value, str | int | float | bool) else str(value)
        for name, value in {**project.view, **project.settings.as_dict()}.items()
    }
    said.pop(COHORT, None)
    link = read_link(said, project.cohort.kind).checked(project.cohort)
    problems = tuple(problem.replace(_LINKS, _PROJECTS, 1) for problem in link.problems)
    return replace(link, cohort=OWN, problems=problems)


def write_address(link: Mapping[str, str]) -> None:
    """Show the view in the address bar; parameters that are not of the view are left alone.

    It is said in every run: what the browser told of its address may be older than what was said in the run before.
    """
    for name in (COHORT, SUBJECT, MODEL, *linked_options()):
        if name not in link and name in st.query_params:
            del st.query_params[name]
    st.query_params.update(link)


def _always(view: View) -> dict[str, str]:
    """What stands in every link, whether it is the default or not."""
    return {
        one.link: to_text(getattr(view.options(kind), one.name))
        for kind in IN_EVERY_LINK
        for one in kind.declared().values()
        if one.link
    }


def _chosen(view: View) -> dict[str, str]:
    """What else the user chose, where it is not the default, and one that the cohort offers."""
    always, found = _always(view), {}
    for name, one in linked_options().items():
        if name in always or name not in view.choices or (of := view.cohort_behind(one)) is None:
            continue
        value, known = view.choices[name], name != REGION or view.choices[name] in view.atlas.regions
        if known and value != one.default_for(of) and read_value(one, to_text(value), of)[1]:
            found[name] = to_text(value)
    return found


def _read_settings(params: Mapping[str, str], kind: ConnectivityKind, problems: list[str]) -> ConnectomeSettings:
    values: dict[str, Any] = {}
    for name, one in ConnectomeSettings.declared().items():
        if name == _LEVEL or name not in params:  # what a level means depends on the threshold
            continue
        try:
            value = one.read(params[name])
            one.check(value)
        except ValueError:
            problems.append(_shown_instead(name, params[name], to_text(one.default)))
        else:
            values[name] = value
    made = ConnectomeSettings.usual(kind, **values)
    if made.threshold not in LEVELS:
        return replace(made, level=ConnectomeSettings().level)
    about, text = levels_of(kind)[made.threshold], params.get(_LEVEL)
    try:
        level = about.default if text is None else float(text)
    except ValueError:
        level = math.nan
    if text is not None and not about.low <= level <= about.high:
        problems.append(_shown_instead(_LEVEL, text, f"{about.default:g}"))
        level = about.default
    return replace(made, level=level)


def _shown_instead(what: str, found: str, used: str) -> str:
    """Say that a value cannot be used, and what is shown in its place."""
    return f"{_LINKS} {what} '{found[:40]}' is not available here, so {used or 'none'} is shown instead."
