"""The view in the address bar, so that a colleague who opens the link sees the same figure of the demo cohort.

Of a user's own subjects nothing but the settings is written there: ids are personal, and the link could not open them.
A value that cannot be used is replaced by the default, and a sentence says so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import streamlit as st
from link_values import LINKS, PROJECTS, Value, as_text, instead, read_choices, read_seed
from loaded import FITTING, STRONGEST, HubChoices, ModuleChoices, View
from page_choices import PAGE_CHOICES, link_of_pages, read_pages
from state import (
    BACKBONE,
    COHORT,
    CONSENSUS,
    DEFAULT_COHORT,
    DEFAULT_LEVELS,
    ESTIMATOR,
    GAMMA,
    GAMMAS,
    HUB_RULE,
    HUB_RULES,
    LABELLING,
    LARGEST_SEED,
    LEVEL_RANGES,
    MODEL,
    OWN,
    PERTURBATION,
    PERTURBATIONS,
    RESOLUTION,
    RESOLUTIONS,
    RUN_NUMBERS,
    RUNS,
    SEED,
    SIGN,
    SIGNED,
    SUBJECT,
    THRESHOLD,
    WHY_REGION,
)

from biobgt import Cohort, ConnectomeSettings
from biobgt.atlas import LABELLINGS
from biobgt.graph import Estimator, SignRule, ThresholdRule
from biobgt.model.pretrained import pretrained_names
from biobgt.project import Project
from biobgt.simulate import DEMO_COHORTS

LEVEL = "level"
_CHOICES: Mapping[str, tuple[str, ...]] = {
    ESTIMATOR: get_args(Estimator),
    SIGN: get_args(SignRule),
    THRESHOLD: get_args(ThresholdRule),
}


@dataclass(frozen=True)
class Link:
    """A view as an address names it, and what in the address could not be used."""

    cohort: str = DEFAULT_COHORT
    subject: str | None = None
    settings: ConnectomeSettings = field(default_factory=ConnectomeSettings)
    hubs: HubChoices = field(default_factory=HubChoices)
    modules: ModuleChoices = field(default_factory=ModuleChoices)
    problems: tuple[str, ...] = ()
    model: str = FITTING
    asked: Mapping[str, str] = field(default_factory=dict)  # of pages; what they offer depends on cohort and model
    pages: Mapping[str, Value | list[str]] = field(default_factory=dict)

    def checked(self, cohort: Cohort) -> "Link":
        """Make sure that the subject is in the cohort, the region in its atlas, and that pages offer what is asked."""
        if self.asked:
            problems = list(self.problems)
            pages = read_pages(self.asked, cohort, self.model, problems)
            return replace(self, asked={}, pages=pages, problems=tuple(problems)).checked(cohort)
        region = self.hubs.region
        if region != STRONGEST and region not in cohort.atlas.regions:
            problem = instead(WHY_REGION, region, "the strongest hub")
            link = replace(self, hubs=replace(self.hubs, region=STRONGEST), problems=(*self.problems, problem))
            return link.checked(cohort)
        if self.subject is None or self.subject in cohort.ids:
            return replace(self, subject=self.subject or cohort.ids[0])
        problem = instead(SUBJECT, self.subject, cohort.ids[0])
        return replace(self, subject=cohort.ids[0], problems=(*self.problems, problem))


def read_link(params: Mapping[str, str]) -> Link:
    """Read a view from the parameters of an address."""
    problems: list[str] = []
    cohort = params.get(COHORT, DEFAULT_COHORT)
    if cohort not in DEMO_COHORTS:
        problems.append(instead(COHORT, cohort, DEMO_COHORTS[DEFAULT_COHORT]))
        cohort = DEFAULT_COHORT
    default = ConnectomeSettings()
    values: dict[str, Any] = {}
    for name, allowed in _CHOICES.items():
        values[name] = params.get(name, getattr(default, name))
        if values[name] not in allowed:
            problems.append(instead(name, values[name], getattr(default, name)))
            values[name] = getattr(default, name)
    values[LEVEL] = _read_level(params.get(LEVEL), values[THRESHOLD], problems)
    values[BACKBONE] = _read_switch(params.get(BACKBONE), problems)
    hubs = _read_hubs(params, problems)
    modules = _read_modules(params, problems)
    model = _read_model(params.get(MODEL, FITTING), problems)
    asked = {name: params[name] for name in PAGE_CHOICES if name in params}
    return Link(cohort, params.get(SUBJECT), ConnectomeSettings(**values), hubs, modules, tuple(problems), model, asked)


def link_of(view: View) -> dict[str, str]:
    """Write a view as the parameters of an address."""
    modules = _module_values(view.modules or module_choices())
    values = view.settings.as_dict() | _hub_values(view.hubs) | modules
    settings = {name: as_text(value) for name, value in values.items()}
    if settings[LABELLING] not in LABELLINGS:
        del settings[LABELLING]  # of a user's own atlas: nobody else has it
    if view.model != FITTING:
        settings[MODEL] = view.model
    if view.loaded.key == OWN:
        return settings
    region = {WHY_REGION: view.hubs.region} if view.hubs.region in view.atlas.regions else {}
    return {COHORT: view.loaded.key, SUBJECT: view.subject.id, **settings, **region, **link_of_pages(view)}


def saved_view(view: View) -> dict[str, str]:
    """What a project keeps beside cohort and settings; it is the user's own file, and may name their subject."""
    values = _hub_values(view.hubs) | _module_values(view.modules or module_choices())
    model = {} if view.model == FITTING else {MODEL: view.model}
    return {SUBJECT: view.subject.id, WHY_REGION: view.hubs.region, **model} | {
        name: as_text(value) for name, value in values.items()
    }


def link_of_project(project: Project) -> Link:
    """The view that a project was saved with; what cannot be used in it is replaced, and named."""
    said = {name: as_text(value) for name, value in {**project.view, **project.settings.as_dict()}.items()}
    said.pop(COHORT, None)
    labelling = said.get(LABELLING, "")
    own_labelling = labelling in project.cohort.atlas.labels and labelling not in LABELLINGS
    if own_labelling:
        del said[LABELLING]
    link = read_link(said).checked(project.cohort)
    modules = replace(link.modules, labelling=labelling) if own_labelling else link.modules
    problems = tuple(problem.replace(LINKS, PROJECTS, 1) for problem in link.problems)
    return replace(link, cohort=OWN, modules=modules, problems=problems)


def keep_module_choices(modules: ModuleChoices) -> None:
    """Let the page of modules say this."""
    st.session_state.update(_module_values(modules))


def module_choices() -> ModuleChoices:
    """What the page of modules says, or the link where that page was not opened yet."""
    if RESOLUTION not in st.session_state:
        st.session_state.update(_module_values(_read_modules(st.query_params, [])))
    return ModuleChoices(*(st.session_state[name] for name in _module_values(ModuleChoices())))


def write_address(link: Mapping[str, str]) -> None:
    """Show the view in the address bar; parameters that are not of the view are left alone."""
    for name in (COHORT, SUBJECT, WHY_REGION, LABELLING, MODEL, *PAGE_CHOICES):
        if name not in link and name in st.query_params:
            del st.query_params[name]
    if any(st.query_params.get(name) != value for name, value in link.items()):
        st.query_params.update(link)


def _read_level(text: str | None, rule: str, problems: list[str]) -> float:
    if rule == "none":
        return ConnectomeSettings().level
    if text is None:
        return DEFAULT_LEVELS[rule]
    low, high = LEVEL_RANGES[rule]
    try:
        level = float(text)
    except ValueError:
        level = math.nan
    if low <= level <= high:
        return level
    problems.append(instead(LEVEL, text, f"{DEFAULT_LEVELS[rule]:g}"))
    return DEFAULT_LEVELS[rule]


def _read_model(name: str, problems: list[str]) -> str:
    if name == FITTING or name in pretrained_names():
        return name
    problems.append(instead(MODEL, name, "the one that fits the cohort"))
    return FITTING


def _read_switch(text: str | None, problems: list[str]) -> bool:
    if text not in (None, "true", "false"):
        problems.append(instead(BACKBONE, str(text), "false"))
    return text == "true"


def _hub_values(hubs: HubChoices) -> dict[str, Value]:
    return {GAMMA: hubs.gamma, PERTURBATION: hubs.perturbation, HUB_RULE: hubs.rule}


def _module_values(modules: ModuleChoices) -> dict[str, Value]:
    return {
        RESOLUTION: modules.resolution,
        CONSENSUS: modules.consensus,
        SIGNED: modules.signed,
        RUNS: modules.runs,
        SEED: modules.seed,
        LABELLING: modules.labelling,
    }


def _read_hubs(params: Mapping[str, str], problems: list[str]) -> HubChoices:
    """Read how hubs are measured; links from before the page of hubs do not say, and mean the defaults."""
    allowed: dict[str, Sequence[Value]] = {GAMMA: GAMMAS, PERTURBATION: PERTURBATIONS, HUB_RULE: HUB_RULES}
    values = read_choices(params, _hub_values(HubChoices()), allowed, problems)
    return replace(HubChoices(*values), region=params.get(WHY_REGION, STRONGEST))


def _read_modules(params: Mapping[str, str], problems: list[str]) -> ModuleChoices:
    """Read how modules are found; what the link does not say is the default."""
    seed = params.get(SEED, "0")
    allowed: dict[str, Sequence[Value]] = {
        RESOLUTION: RESOLUTIONS,
        CONSENSUS: (True, False),
        SIGNED: (True, False),
        RUNS: RUN_NUMBERS,
        SEED: read_seed(seed, LARGEST_SEED),
        LABELLING: tuple(LABELLINGS),
    }
    return ModuleChoices(*read_choices(params, _module_values(ModuleChoices()), allowed, problems))
