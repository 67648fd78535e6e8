"""What the user chose: every option that a page offers, kept under the name that links give it.

Options are declared with their figures in ``biobgt``, and here and there with a page. This module only finds them:
whatever has a name in links is read from an address, kept in the session and written to the address again.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import streamlit as st

from biobgt import Cohort, ConnectomeSettings
from biobgt.base.options import Option, Options, Plain, to_text
from biobgt.data.graph import LEVELS, levels_of
from biobgt.figures.catalogue import FIGURES
from biobgt.hubs.options import HubOptions
from biobgt.modules.measures import NamedModuleOptions
from session.keys import LEVEL_KEYS
from session.page_options import ModelPageOptions, PageOptions

# Beside the settings of the graph, these stand in every link, so that it shows the same whatever a later version's
# defaults are. The others stand there where they are not the default, so that a link stays short.
IN_EVERY_LINK: tuple[type[Options], ...] = (HubOptions, NamedModuleOptions)

AnyOptions = TypeVar("AnyOptions", bound=Options)


def linked_options() -> dict[str, Option]:
    """Every option that has a name in links, by that name."""
    of_pages: list[type[Options]] = [PageOptions, ModelPageOptions]
    kinds = [*IN_EVERY_LINK, *(figure.takes for figure in FIGURES.values()), *of_pages]
    return {one.link: one for kind in kinds for one in kind.declared().values() if one.link}


def choose(settings: ConnectomeSettings, *groups: Options) -> None:
    """Put settings of the graph, and groups of options, in the place of what was chosen; for the next run."""
    values = {name: value for name, value in settings.as_dict().items() if name != "level"}
    for options in groups:
        values |= {one.link: getattr(options, one.name) for one in options.declared().values() if one.link}
    st.session_state.update({name: for_widget(one) for name, one in values.items()})
    for rule, about in LEVELS.items():
        st.session_state[LEVEL_KEYS[rule]] = settings.level if rule == settings.threshold else about.default


def follow_cohort(before: Cohort, now: Cohort) -> None:
    """Where a choice is what one cohort starts with, show what the next one starts with: its own networks, for one."""
    for name, one in linked_options().items():
        if not one.of_model and name in st.session_state and _plain(st.session_state[name]) == one.default_for(before):
            st.session_state[name] = for_widget(one.default_for(now))
    if before.kind.functional != now.kind.functional:  # a level of one is none of the other
        st.session_state["threshold"] = now.kind.threshold
        st.session_state[LEVEL_KEYS["absolute"]] = levels_of(now.kind)["absolute"].default


def session_choices() -> dict[str, Plain]:
    """What the session says, by the names of links."""
    return {name: _plain(st.session_state[name]) for name in linked_options() if name in st.session_state}


def options_of(
    choices: Mapping[str, Plain],
    kind: type[AnyOptions],
    cohort_behind: Callable[[Option], Cohort | None],
    /,
    **fixed: Plain,
) -> AnyOptions:
    """A group of options as they were chosen; what the cohort does not offer, or was not chosen, is the default.

    Parameters
    ----------
    choices : mapping of str to plain values
        By the names of links.
    kind : type of Options
    cohort_behind : callable
        From an option to the cohort on which its choices depend.
    **fixed : plain values
        Options that are not the user's choice here.
    """
    values = dict(fixed)
    for one in kind.declared().values():
        if one.link and one.name not in fixed and (of := cohort_behind(one)) is not None:
            values[one.name] = usable(one, choices.get(one.link, one.default_for(of)), of)
    return kind(**values)


def usable(one: Option, value: Plain, cohort: Cohort) -> Plain:
    """A value, or what is shown in its place where the cohort does not offer it; of several names, those it offers.

    Parameters
    ----------
    one : Option
    value : plain value
    cohort : Cohort
        That of the trained model, for options of models.
    """
    if is_offered(one, value, cohort):
        return value
    if isinstance(value, tuple):
        offered = one.offered(cohort)
        known = tuple(dict.fromkeys(str(part) for part in value if part in offered))
        return known or one.default_for(cohort)
    return one.default_for(cohort)


def is_offered(one: Option, value: Plain, cohort: Cohort) -> bool:
    """Whether a page offers a value for a cohort; of several names, each of them, once.

    Parameters
    ----------
    one : Option
    value : plain value
    cohort : Cohort
        That of the trained model, for options of models.
    """
    offered = one.offered(cohort)
    if isinstance(value, tuple):
        return len(value) >= one.fewest and len(set(value)) == len(value) and all(part in offered for part in value)
    return not offered or value in offered


def read_value(one: Option, text: str, cohort: Cohort) -> Plain | None:
    """Read a value from an address; None where it names none that is offered.

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
        return None
    whole = isinstance(one.default, int) and not isinstance(one.default, bool)
    if whole and to_text(value) != text:  # such as +5 or 05
        return None
    return value if is_offered(one, value, cohort) else None


def value_instead(one: Option, text: str, cohort: Cohort) -> Plain:
    """What is shown in place of a value that an address names and that cannot be used.

    Parameters
    ----------
    one : Option
    text : str
        As the address has it.
    cohort : Cohort
        That of the trained model, for options of models.
    """
    if not isinstance(one.default, tuple):
        return one.default_for(cohort)
    try:
        return usable(one, one.read(text), cohort)
    except ValueError:  # not even a list
        return one.default_for(cohort)


def for_widget(value: Plain) -> object:
    """An option's value as a widget takes it: several names as a list."""
    return list(value) if isinstance(value, tuple) else value


def _plain(value: object) -> Plain:
    """A widget's value as an option has it: those that hold several give lists."""
    return tuple(value) if isinstance(value, list) else value  # type: ignore[return-value]
