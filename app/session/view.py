"""What the user looks at: cohort, subject, graph, and the options of pages; chosen by widgets, kept over pages."""

from collections.abc import Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import pandas as pd
import streamlit as st

from biobgt import Atlas, Cohort, ConnectomeSettings, Subject
from biobgt.base.kept import Key, MemoryStore
from biobgt.base.options import Option, Options, Plain, option, to_text
from biobgt.data.cortex import has_surface
from biobgt.data.edits import set_groups
from biobgt.data.graph import LEVELS
from biobgt.data.quality import quality_table
from biobgt.export import cohort_sha256
from biobgt.figures.brain import BRAIN_KINDS, NODES
from biobgt.figures.register import all_figures
from biobgt.hubs.measures import COMPARED, HUB_MEASURES, NE, HubOptions
from biobgt.model.attention import load_systems_attention
from biobgt.model.pretrained import InstalledModel, fitting_model, installed_model, installed_models
from biobgt.modules.measures import NamedModuleOptions
from biobgt.results.measured import Measured

# The names under which a session keeps what several files need; those in a link are its parameters' names too. What one
# file alone keeps has its name there.
COHORT = "cohort"
SUBJECT = "subject"
LEVEL_KEYS: Mapping[str, str] = {"absolute": "absolute_level", "proportional": "proportional_level"}
MODEL = "model"
# The region that is asked about on the page of hubs, and how modules are named; options know these names, too.
REGION = "region"
LABELLING = "labelling"
# What is no widget's value: cohorts, the view, and those that the next run shows.
OWN_COHORT = "own_cohort"
NEXT_COHORT = "next_cohort"
NEXT_LINK = "next_link"
VIEW = "view"
# On the page of exports: the list, and what was made of it.
EXPORT_LIST = "export_list"
EXPORT_MADE = "export_made"
EXPORT_MEASURED = "export_measured"
EXPORT_GRAPHS = "export_graphs"
# On the page of studies: the finished study that is shown.
FINISHED_STUDY = "finished_study"
# On the page of subjects: a number that grows with every change of the user's own cohort, so that no edit of a table is
# taken for one of the next; a number that grows when the uploaders are to be emptied; the last reading, and what it
# brought; the answers.
EDITION = "edition"
UPLOADERS = "uploaders"
ATTEMPT = "attempt"
BATCH = "batch"
ANSWERS = "answers"

# What pages let choose beyond the options of figures, as a link names it.


IN_3D, GLASS, FIVE = "3d", "glass", "five"
_NODES = {IN_3D: "Interactive 3-D", GLASS: "Glass brain"}
_PAINTED = {kind: title for kind, title in BRAIN_KINDS.items() if kind != NODES}


def _brains(cohort: Cohort) -> tuple[str, ...]:
    """The ways to draw regions in a brain; painted where the atlas has surface labels."""
    return (*_NODES, *(_PAINTED if has_surface(cohort.atlas) else ()))


def brain_kind(shown: str) -> str:
    """How a figure's brain is drawn, by what the page lets choose."""
    return shown if shown in _PAINTED else NODES


_BRAINS = _NODES | _PAINTED
_WAYS = "in an interactive 3-D brain, in a glass brain or, where the atlas has surface labels, painted on the cortex"


def _brain(what: str, link: str, *, of_model: bool = False) -> Any:
    """The option of how something is drawn in the brain."""
    return option(
        IN_3D,
        title="Brain",
        help=f"{what} {_WAYS}.",
        choices_of=_brains,
        of_model=of_model,
        in_a_row=True,
        shown=_BRAINS,
        link=link,
    )


ONE_SUBJECT, GROUP, DIFFERENCE = "subject", "group", "difference"
MODEL_GROUPS, OWN_GROUPS = "model", "own"


def _tile_option(*shown: str, title: str, of: str = "") -> Any:
    """The option of what a tile of the linked screen shows, in one of its modes."""
    return option(shown[0], title=title, choices=shown, link=f"explore_{of}{title.lower()}")


def _tab(link: str, shown: Mapping[str, str], **about: Any) -> Any:
    """The option of which part of a page is shown; only that is computed."""
    return option(next(iter(shown)), title="Show", steps=tuple(shown), shown=shown, link=link, in_a_row=True, **about)


@dataclass(frozen=True)
class PageOptions(Options):
    """What pages show."""

    hub_tab: str = _tab(
        "hub_tab",
        {
            "regions": "Brain and curves",
            "agreement": "Agreement",
            "region": "One region",
            "table": "Table",
            "centiles": "Centiles",
        },
    )
    module_tab: str = _tab(
        "module_tab",
        {
            "modules": "Modules",
            "networks": "Networks",
            "roles": "Roles",
            "groups": "Real groups",
            "chance": "Chance",
            "centiles": "Centiles",
        },
    )
    hub_brain: str = option(
        IN_3D,
        title="Brain",
        help=f"Regions {_WAYS}; or five measures side by side.",
        choices_of=lambda cohort: (*_brains(cohort), FIVE),
        in_a_row=True,
        shown={**_BRAINS, FIVE: "Five measures"},
        link="brain_shown",
    )
    model_tab: str = _tab(
        "model_tab",
        {
            "results": "Results",
            "noise": "Noise",
            "attention": "Attention",
            "data": "Data and limits",
            "all": "All models",
            "paper": "The paper again",
        },
    )
    explore_mode: str = option(
        ONE_SUBJECT,
        title="About",
        help="One subject of the cohort; the groups of the model; or the difference of two groups of the cohort.",
        choices=(ONE_SUBJECT, GROUP, DIFFERENCE),
        shown={ONE_SUBJECT: "Subject", GROUP: "Group", DIFFERENCE: "Difference"},
        link="explore_mode",
    )
    explore_whose: str = option(
        MODEL_GROUPS,
        title="Whose groups",
        help="The groups that the model was trained on; or beside them two of the cohort, on whom the model runs.",
        choices=(MODEL_GROUPS, OWN_GROUPS),
        shown={MODEL_GROUPS: "Model's", OWN_GROUPS: "And mine"},
        link="explore_whose",
    )
    explore_brain: str = _tile_option(*HUB_MEASURES, "modules", title="Brain")
    explore_brain_kind: str = option(
        NODES,
        title="Brain drawn as",
        help="Regions as nodes at their places or, where the atlas has surface labels, painted on the cortex.",
        choices_of=lambda cohort: tuple(BRAIN_KINDS) if has_surface(cohort.atlas) else (NODES,),
        shown=BRAIN_KINDS,
        link="explore_brain_kind",
    )
    explore_matrix: str = _tile_option("connectivity", "graph", "modules", "attention", "connectogram", title="Matrix")
    explore_curves: str = _tile_option(
        "curves", *(key for key in COMPARED if key != NE), "sweep", "roles", title="Curves"
    )
    explore_people: str = _tile_option("region", "brain", title="People")
    explore_difference_brain: str = _tile_option("hubs", "means", "modules", title="Brain", of="difference_")
    explore_difference_matrix: str = _tile_option(
        "connectivity", "connectogram", "attention", title="Matrix", of="difference_"
    )
    explore_difference_curves: str = _tile_option("means", "effects", title="Curves", of="difference_")
    explore_group_people: str = _tile_option("people", "heads", title="People", of="group_")
    explore_group_brain: str = _tile_option("groups", "differences", "looks", "received", title="Brain", of="group_")
    study_tab: str = _tab(
        "study_tab",
        {
            "design": "Design",
            "edges": "Edges",
            "regions": "Regions",
            "network": "Network",
            "cohort": "Cohort",
            "report": "Report",
        },
    )
    own_attention: bool = option(
        False,
        title="Run the model on the subject",
        help="Takes a few seconds the first time, when the model is loaded.",
        link="own_attention",
    )
    module_brain: str = _brain("The subject's modules", "brain_kind")
    group_brain: str = _brain("Each group's modules", "group_brain_kind")
    difference_brain: str = _brain("The differences of the regions", "difference_brain")


_ATTENTION_TABS = {
    "groups": "Groups",
    "difference": "Difference",
    "contrast": "Within modules",
    "controls": "Controls",
    "disorders": "Disorders",
    "people": "People",
    "brain": "In the brain",
    "systems": "Other networks",
    "faithful": "Is it faithful?",
    "subject": "One subject",
}


def _attention_tabs(cohort: Cohort) -> tuple[str, ...]:
    """What there is to see of a model's attention; a network of several cohorts has other tabs than one of its own."""
    model = installed_model(cohort.name)
    without = {"difference", "contrast"} if model.readouts else {"controls", "disorders"}
    without |= {"people"} if model.spread is None else set()
    # The others were measured beside one model.
    without |= {"systems"} if load_systems_attention().model != model.name else set()
    return tuple(tab for tab in _ATTENTION_TABS if tab not in without)


@dataclass(frozen=True)
class ModelPageOptions(Options):
    """What pages show of a trained model, apart from the others: which models there are is looked up on the disk."""

    attention_tab: str = _tab("attention_tab", _ATTENTION_TABS, choices_of=_attention_tabs, of_model=True)
    readout: str = option(
        "",
        title="Compare with the controls of",
        help="A network that several cohorts share has a readout for each. A probability means something only for "
        "subjects who were scanned and preprocessed as the subjects of that cohort were.",
        choices_of=lambda cohort: ("", *installed_model(cohort.name).readouts),
        of_model=True,
        shown={"": "Choose a cohort"},
        link="readout",
    )
    disorder: str = option(
        "",
        title="Disorder",
        help="It is compared with the controls of its own cohort.",
        choices_of=lambda cohort: tuple(
            group for groups in installed_model(cohort.name).readouts.values() for group in groups[1:]
        ),
        of_model=True,
        link="disorder",
    )
    received_brain: str = _brain("Regions", "received_brain", of_model=True)


FITTING = ""  # in place of a model: whichever fits the cohort


def _chosen_model(name: str, cohort: Cohort) -> InstalledModel | None:
    """The model of this name, or the one that fits the cohort; None where none does."""
    models = installed_models()
    return models.get(name if name in models else fitting_model(cohort, models))


def model_shown(name: str, cohort: Cohort) -> InstalledModel | None:
    """The model of this name, or else the one that fits the cohort, or the first; None where there is no model."""
    return _chosen_model(name, cohort) or next(iter(installed_models().values()), None)


# What the user chose: every option that a page offers, kept under the name that links give it.
#
# Options are declared with their figures in ``biobgt``, and here and there with a page. This module only finds them:
# whatever has a name in links is read from an address, kept in the session and written to the address again.


# Beside the settings of the graph, these stand in every link, so that it shows the same whatever a later version's
# defaults are. The others stand there where they are not the default, so that a link stays short.
IN_EVERY_LINK: tuple[type[Options], ...] = (HubOptions, NamedModuleOptions)

_AnyOptions = TypeVar("_AnyOptions", bound=Options)


def linked_options() -> dict[str, Option]:
    """Every option that has a name in links, by that name."""
    of_pages: list[type[Options]] = [PageOptions, ModelPageOptions]
    kinds = [*IN_EVERY_LINK, *(figure.takes for figure in all_figures().values()), *of_pages]
    return {one.link: one for kind in kinds for one in kind.declared().values() if one.link}


def choose(settings: ConnectomeSettings, *groups: Options) -> None:
    """Put settings of the graph, and groups of options, in the place of what was chosen; for the next run."""
    values = {name: value for name, value in settings.as_dict().items() if name != "level"}
    for options in groups:
        values |= {one.link: getattr(options, one.name) for one in options.declared().values() if one.link}
    st.session_state.update({name: for_widget(one) for name, one in values.items()})
    for rule, about in LEVELS.items():
        st.session_state[LEVEL_KEYS[rule]] = settings.level if rule == settings.threshold else about.default


def session_choices() -> dict[str, Plain]:
    """What the session says, by the names of links."""
    return {name: from_widget(st.session_state[name]) for name in linked_options() if name in st.session_state}


def usable(one: Option, value: Plain, cohort: Cohort) -> Plain:
    """A value, or what is shown in its place where the cohort does not offer it; of several names, those it offers.

    Parameters
    ----------
    one : Option
    value : plain value
    cohort : Cohort
        That of the trained model, for options of models.
    """
    if _is_offered(one, value, cohort):
        return value
    offered = one.offered(cohort)
    known = tuple(dict.fromkeys(str(part) for part in value if part in offered)) if isinstance(value, tuple) else ()
    return known or one.default_for(cohort)


def _is_offered(one: Option, value: Plain, cohort: Cohort) -> bool:
    """Whether a page offers a value for a cohort; of several names, each of them, once."""
    offered = one.offered(cohort)
    if isinstance(value, tuple):
        return len(value) >= one.fewest and len(set(value)) == len(value) and all(part in offered for part in value)
    return not offered or value in offered


def read_value(one: Option, text: str, cohort: Cohort) -> tuple[Plain, bool]:
    """Read a value from an address; where it names none that is offered, what is shown instead, and false.

    Parameters
    ----------
    one : Option
    text : str
        As the address has it.
    cohort : Cohort
        That of the trained model, for options of models.
    """
    try:
        value = one.read(text)
    except ValueError:
        return one.default_for(cohort), False
    whole = isinstance(one.default, int) and not isinstance(one.default, bool)
    as_written = not whole or to_text(value) == text  # unlike +5 or 05
    if as_written and _is_offered(one, value, cohort):
        return value, True
    return usable(one, value, cohort) if isinstance(one.default, tuple) else one.default_for(cohort), False


def for_widget(value: Plain) -> object:
    """An option's value as a widget takes it: several names as a list."""
    return list(value) if isinstance(value, tuple) else value


def from_widget(value: object) -> Plain:
    """A widget's value as an option has it: those that hold several give lists."""
    return tuple(value) if isinstance(value, list) else value  # type: ignore[return-value]


# A cohort with what was measured of it, and the view of it that pages show.
#
# What is kept here lives as long as the cohort does: a demo's for all sessions, a user's own in that user's session.


@dataclass(eq=False)
class LoadedCohort:
    """A cohort with what is worked out once for all of its subjects, when it is first asked for."""

    key: str
    cohort: Cohort
    store: MemoryStore = field(default_factory=MemoryStore)

    @cached_property
    def quality(self) -> pd.DataFrame:
        """The quality table, one row per subject."""
        return quality_table(self.cohort)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the cohort's numbers, by which an export recognises it."""
        return cohort_sha256(self.cohort)

    @cached_property
    def measurements_sha256(self) -> str:
        """The same whatever the groups are, on which no result depends but through the ids of a group's members."""
        return cohort_sha256(set_groups(self.cohort, dict.fromkeys(self.cohort.ids)))

    @cached_property
    def people(self) -> Hashable:
        """Who is in which group and what is known of them, on which drawings of a cohort depend."""
        return tuple((one.id, one.group, repr(one.phenotypes)) for one in self.cohort)

    @property
    def measured(self) -> Measured:
        """The cohort, to be asked for results; who waits for one sees what goes on."""
        return Measured(self.cohort, self.store, _watch_with_spinner)

    def changed_to(self, cohort: Cohort) -> "LoadedCohort":
        """The cohort after a change: what was measured is kept only where no number, no region and no kind changed.

        Groups may have. Nothing that is kept depends on them but through the ids of a group's members.
        """
        before, now = (
            [(subject.id, id(subject.series), id(subject.connectivity)) for subject in one]
            for one in (self.cohort, cohort)
        )
        same = self.cohort.atlas is cohort.atlas and self.cohort.given == cohort.given and before == now
        return replace(self, cohort=cohort) if same else LoadedCohort(self.key, cohort)


@dataclass(frozen=True, eq=False)
class View:
    """What is looked at: one subject of one cohort, how its graph is made, and what the user chose on the pages.

    Attributes
    ----------
    loaded : LoadedCohort
    subject : Subject
    settings : ConnectomeSettings
    choices : mapping of str to plain values
        By the names that links give to options; what is not in it is the default.
    model : str
    """

    loaded: LoadedCohort
    subject: Subject
    settings: ConnectomeSettings
    choices: Mapping[str, Plain] = field(default_factory=dict)
    model: str = FITTING

    @property
    def cohort(self) -> Cohort:
        """The subject's cohort."""
        return self.loaded.cohort

    @property
    def atlas(self) -> Atlas:
        """The cohort's atlas."""
        return self.cohort.atlas

    @cached_property
    def measured(self) -> Measured:
        """What is measured of the subject, with the view's graph."""
        return self.loaded.measured.of(self.subject.id, self.settings)

    @cached_property
    def chosen_model(self) -> InstalledModel | None:
        """The model that the sidebar says, or the one that fits the cohort; None where none does."""
        return _chosen_model(self.model, self.cohort)

    @cached_property
    def model_shown(self) -> InstalledModel | None:
        """The same, or the first of all; None where there is no model."""
        return model_shown(self.model, self.cohort)

    def options(self, kind: type[_AnyOptions], /, **fixed: Plain) -> _AnyOptions:
        """A group of options, as the user chose them; ``fixed`` are not the user's choice here.

        What the cohort does not offer, or was not chosen, is the default.
        """
        asked = (kind, tuple(fixed.items()))
        if asked not in self._chosen:
            values = dict(fixed)
            for one in kind.declared().values():
                if one.link and one.name not in fixed and (of := self.cohort_behind(one)) is not None:
                    values[one.name] = usable(one, self.choices.get(one.link, one.default_for(of)), of)
            self._chosen[asked] = kind(**values)
        return cast("_AnyOptions", self._chosen[asked])

    def cohort_behind(self, one: Option) -> Cohort | None:
        """The cohort on which an option's choices depend; None where that is a model's, and there is no model."""
        if not one.of_model:
            return self.cohort
        return None if self.model_shown is None else self.model_shown.cohort

    @cached_property
    def _chosen(self) -> dict[Hashable, Options]:
        """Options that were put together before: panels of a page ask for the same again and again."""
        return {}


def current_view() -> View:
    """The view that the sidebar chose in this run."""
    view: View = st.session_state[VIEW]
    return view


def _watch_with_spinner(key: Key) -> AbstractContextManager[None]:
    """Show what goes on while a result that takes long is measured."""
    return st.spinner(key.doing) if key.doing else nullcontext()


def measured_model(model: InstalledModel) -> Measured:
    """What is measured of the groups that a model was trained on; the same for all sessions."""
    return Measured(model.cohort, _model_store(model.identity), _watch_with_spinner)


@st.cache_resource(show_spinner=False, max_entries=8)
def _model_store(identity: tuple[str, ...]) -> MemoryStore:
    return MemoryStore()
