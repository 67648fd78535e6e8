"""The linked screen of a view: what all its modes share, from the frame around the tiles to what was chosen on it."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, ClassVar

import streamlit as st

from biobgt.base.errors import InputError
from biobgt.base.kept import Key
from biobgt.base.options import Plain
from biobgt.base.wording import capitalised
from biobgt.figures.people import people, people_brain
from biobgt.figures.register import Figure
from biobgt.figures.screen import linked
from biobgt.groups.compare import HUBS, SEGREGATION, ComparedOptions, ComparisonOptions, comparable_groups
from biobgt.groups.connections import block_words
from biobgt.groups.features import regional_hubs
from biobgt.groups.people import brain_measure_title, brain_value
from biobgt.hubs.measures import HUB_MEASURES, EntanglementOptions
from biobgt.results.measured import Measured
from linked.component import Send, show_screen
from session.view import REGION, SUBJECT, ModelPageOptions, PageOptions, View, for_widget, measured_model
from views.explore.controls import Control, mode_control, model_control
from views.page_map import PAGES
from views.shared.figures import add_to_export, figure_request
from views.shared.widgets import measure_all

PEOPLE = "explore_people"  # the tile that comes last, since everybody is measured for it
_HEARD = "explore_heard"  # when the browser told what was last heard
_BLOCK = "explore_block"  # regions of the rows and of the columns of a matrix, as the browser told them
DETAILS = "explore_details"  # under which the session keeps the page to go to in the next run
# The page with the details behind a figure, by its family; of the others it is that of the subjects.
_PAGES = {
    **{family: family for family in ("hubs", "modules", "attention")},
    **dict.fromkeys(("groups", "group_maps", "people"), "compare"),
}
_TABS = {  # which part of a page is shown
    "hubs": PageOptions.declared()["hub_tab"],
    "modules": PageOptions.declared()["module_tab"],
    "attention": ModelPageOptions.declared()["attention_tab"],
    "compare": ComparedOptions.declared()["of"],
}


@dataclass(frozen=True, eq=False)
class Shown:
    """What a tile can show: a figure, options that are not the user's choice there, those to choose, its page's tabs.

    Of several tabs the first that the page has is opened; a model of several cohorts has others than one of its own.
    """

    title: str
    figure: Figure[Any]
    fixed: Mapping[str, Plain] = field(default_factory=dict)
    asks: Sequence[str] = ()
    tabs: Sequence[str] = ()

    @property
    def page(self) -> str:
        """The page with the details behind it."""
        return _PAGES.get(self.figure.draw.__module__.split(".")[2], "subjects")  # behind biobgt.figures


DIFFERENCE_TABS = ("difference", "disorders")  # of models of one cohort, and of several
PEOPLE_TILE = {
    "region": Shown("People, in one region", people, asks=("measure",), tabs=[HUBS]),
    "brain": Shown("People, whole brain", people_brain, asks=("brain_measure",), tabs=[SEGREGATION]),
}


class Screen(ABC):
    """The linked screen of one view, in one of its modes.

    Attributes
    ----------
    tiles : mapping of str to mapping of str to Shown
        By the option that says what a tile shows, and its choices; a tile with one choice has no option.
    """

    tiles: ClassVar[Mapping[str, Mapping[str, Shown]]]

    def __init__(self, view: View) -> None:
        self.view, self.measured = view, view.measured
        self.work = st.container(key="explore_work")  # in a corner, where work shows how far it is
        chosen = view.options(PageOptions)
        self.name = f"explore_{chosen.explore_mode}"
        self.shown = {
            name: choices[getattr(chosen, name)] if len(choices) > 1 else next(iter(choices.values()))
            for name, choices in self.tiles.items()
        }
        self.together = [name for name in self.tiles if name != PEOPLE]  # the tiles that change in one step
        self.of_a_region: set[str] = set()  # tiles that the browser shows of the region that is lit
        self.drawn: dict[str, dict[str, Any]] = {}  # what is sent of the tiles that show their figure, and no note
        self.heads = [mode_control(view), model_control(view)]
        self.controls = self.own_controls()
        self.asked = {
            name: [*self._asked(shown.figure, shown.asks), *self._brain_control(shown)]
            for name, shown in self.shown.items()
        }

    # What each mode says of itself.

    @abstractmethod
    def own_controls(self) -> list[Control]:
        """What can be chosen beside the mode and the model."""

    @abstractmethod
    def send_rest(self, send: Send) -> None:
        """Send what tiles need to follow γ and the cursor, which takes longer than the tiles."""

    @property
    def regions(self) -> tuple[str, ...]:
        """Names of the regions that tiles share."""
        return self.view.atlas.regions

    @property
    def simulated(self) -> bool:
        """Whether anybody in sight is."""
        return self.view.subject.simulated or self.view.cohort.simulated

    def about(self) -> dict[str, Any]:
        """What the frame says in this mode alone."""
        return {}

    def options(self, shown: Shown) -> Any:
        """The options of a tile's figure, as the user chose them."""
        return self.view.options(shown.figure.takes, **shown.fixed, **self.brain_kind(shown))

    def brain_kind(self, shown: Shown) -> dict[str, str]:
        """How the brain is drawn, where that can be chosen of a tile's figure."""
        chosen = "brain" in shown.figure.takes.declared() and not shown.figure.of_model
        return {"brain": self.view.options(PageOptions).explore_brain_kind} if chosen else {}

    def _brain_control(self, shown: Shown) -> list[Control]:
        """The choice of it, where the atlas leaves one."""
        control = Control.of(self.view, PageOptions, "explore_brain_kind")
        return [control] if self.brain_kind(shown) and len(control.values) > 1 else []

    def drawn_options(self, shown: Shown) -> Any:
        """The same as the browser first has them."""
        return self.options(shown)

    def source(self, figure: Figure[Any]) -> Measured:
        """Of what a figure is drawn."""
        if not figure.of_model:
            return self.measured
        if self.view.model_shown is None:
            raise InputError("No trained model is installed. Train one with biobgt train.")
        return measured_model(self.view.model_shown)

    # The same in all modes.

    def show(self) -> None:
        """Show tiles first, and then what they need to follow γ and the cursor."""
        self.versions = self.versions_of_parts()
        region = st.session_state.get(REGION, "")
        frame = {
            "tiles": list(self.tiles),
            "regions": list(self.regions),
            "heard": st.session_state.get(_HEARD, 0.0),
            "pinned": [self.regions.index(region)] if region in self.regions else [],
            "heads": [control.contents for control in self.heads],
            "controls": [control.contents for control in self.controls],
            "together": self.together,
            "versions": self.versions,
            "steps": {},
            "wide": [],
            "broad": [],
            "maps": 0,
            "cells": False,
            "simulated": self.simulated,
            "hint": "Point at a region in any picture; click to keep it. Drag over a matrix for the mean of a block.",
            **self.about(),
        }
        with show_screen(self.name, frame, on_said_change=self.hear) as send:
            for name in self.together:
                send(name, {**self._head(name), **self._tile(name)})
            self.send_shown(send, *self.together)
            if any("part" in trace for tile in self.drawn.values() for trace in tile["figure"]["data"]):
                send(linked.CORTEX, linked.cortex_part())
            self._send_block(send)
            self.send_rest(send)

    def versions_of_parts(self) -> dict[str, str]:
        """A name for what each part shows in this run, by which the browser knows what is of an earlier choice.

        A part with the same numbers as before is not sent again, so that the names are sent apart from them.
        """
        versions = {}
        for name, shown in self.shown.items():
            try:
                options = self.drawn_people_options() if name == PEOPLE else self.drawn_options(shown)
                versions[name] = self.version("tile", self.source(shown.figure), shown.figure, options)
            except InputError as error:
                versions[name] = str(error)
        return versions

    def send_shown(self, send: Send, *parts: str) -> None:
        """Say that parts are of this run, once they are sent."""
        send(f"shown_{parts[0]}", {"versions": {part: self.versions[part] for part in parts}})

    def _send_block(self, send: Send) -> None:
        """Send how the two groups of the cohort differ in the block of the matrix that was chosen."""
        chosen = st.session_state.get(_BLOCK)
        if not chosen:
            return
        rows, columns = (tuple(map(int, chosen[side])) for side in ("rows", "columns"))
        known = rows and columns and set(rows + columns) <= set(range(len(self.regions)))
        if known and (words := self.block_words(rows, columns)):
            send("block", {"rows": rows, "columns": columns, "words": words})

    def block_words(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> str:
        """How two groups of the cohort differ in a block of connectivity; empty where there are none."""
        options = self.view.options(ComparisonOptions)
        several = len(comparable_groups(self.view.cohort)) > 1 and options.first != options.second
        return block_words(self.measured, options, rows, columns) if several else ""

    def _head(self, name: str) -> dict[str, Any]:
        shown = self.shown[name]
        choices = list(self.tiles[name].values())
        titles = [self.measured.kind.named(one.title) for one in choices]
        head = {"choices": titles, "value": choices.index(shown)} if len(choices) > 1 else {"title": titles[0]}
        return {**head, **self._asks(name), "details": PAGES[shown.page].title}

    def _asked(self, figure: Figure[Any], names: Sequence[str]) -> list[Control]:
        return [Control.of(self.view, figure.takes, name) for name in names]

    def _asks(self, name: str) -> dict[str, Any]:
        """What is to be chosen in a tile, beside what it shows."""
        return {"asks": [control.contents for control in self.asked[name]]}

    def kept(self, name: str, source: Measured, make: Callable[..., Any], *about: Any) -> Any:
        """Make once for all visits what is shown; some of it depends on who is in which group.

        Parameters
        ----------
        name : str
            Of what is made.
        source : Measured
        make : callable
            Gets the source and what follows.
        *about : hashable
        """
        return source.keep(self._key(name, source, *about), lambda: make(source, *about))

    def version(self, name: str, source: Measured, *about: Any) -> str:
        """A name for what is kept so, of this cohort and this model.

        Parameters
        ----------
        name : str
        source : Measured
        *about : hashable
        """
        model = self.view.model_shown and self.view.model_shown.identity
        return str(hash((self._key(name, source, *about), self.view.loaded.measurements_sha256, model)))

    def _key(self, name: str, source: Measured, *about: Any) -> Key:
        whose = (self.view.subject.id, self.view.settings, self.view.loaded.people) if source.one else ()
        return Key(f"explore_{name}", (whose, about), most=64)

    def send_steps(self, send: Send, name: str, options: Any, by: str, steps: Sequence[Any]) -> None:
        """Send what each step of one option changes in a tile.

        Parameters
        ----------
        send : callable
        name : str
            Of the tile.
        options : options of its figure
            With which the browser has it.
        by : str
            The option.
        steps : sequence of plain values
        """
        if by == "region":
            self.of_a_region.add(name)
        figure, version = self.shown[name].figure, self.drawn[name]["version"]
        found = self.kept("steps", self.source(figure), steps_of, figure, options, by, tuple(steps))
        send(f"{name}_{by}", {"of": name, "version": version, "by": by, "steps": found})

    def _tile(self, name: str) -> dict[str, Any]:
        """A tile's figure, or why there is none."""
        try:
            return self._drawn(name, self.drawn_options(self.shown[name]))
        except InputError as error:
            return {"note": str(error)}

    def _drawn(self, name: str, options: Any) -> dict[str, Any]:
        figure = self.shown[name].figure
        self.drawn[name] = self.kept("tile", self.source(figure), drawn, figure, options)
        return self.drawn[name]

    def measure_regions(self) -> bool:
        """Measure all subjects in the hub measure of people, or offer to; true when all are."""
        options = self.view.options(people.takes)
        about, near = HUB_MEASURES[options.measure].in_words_of(self.measured.kind), options.part(EntanglementOptions)
        asked = (near, options.measure)
        return self._measure_all(regional_hubs, about.title, asked, automatic=not about.depends_on_gamma)

    def _measure_all(self, method: Callable[..., Any], what: str, arguments: tuple[Any, ...], **about: Any) -> bool:
        with self.work:
            return measure_all(
                method,
                [(self.measured.of(name), *arguments) for name in self.view.cohort.ids],
                key=f"people_{what}",
                start=f"Measure {what} in all subjects",
                doing="Subject",
                **about,
            )

    def send_people(self, send: Send) -> None:
        """Send one dot per subject, once all of them are measured."""
        options = self.drawn_people_options()
        of_regions = self.shown[PEOPLE].figure is people
        if of_regions:
            what = HUB_MEASURES[options.measure].in_words_of(self.measured.kind).heading
            measured_all = self.measure_regions()
        else:
            what = brain_measure_title(self.measured, options)
            measured_all = self._measure_all(brain_value, what, (options,))
        none = {"note": f"{capitalised(what)} is not measured in all subjects yet."}
        send(PEOPLE, {**self._head(PEOPLE), **(self._drawn(PEOPLE, options) if measured_all else none)})
        self.send_shown(send, PEOPLE)
        if measured_all and of_regions:
            self.send_steps(send, PEOPLE, options, "region", self.view.atlas.regions)

    def people_options(self) -> Any:
        """In what people are shown."""
        return self.view.options(self.shown[PEOPLE].figure.takes)

    def drawn_people_options(self) -> Any:
        """The same as the browser first has them: of the first region, because it gets all of them."""
        options = self.people_options()
        first = {"region": self.view.atlas.regions[0]} if self.shown[PEOPLE].figure is people else {}
        return replace(options, **first)

    def hear(self) -> None:
        """Take what the user chose on the screen; the run that follows shows it, and tells the browser that it does.

        What no run has shown is told again and taken again: widgets of the frame may have set it back meanwhile.
        """
        heard = st.session_state.get(_HEARD, 0.0)
        for said in st.session_state[self.name].said or ():
            self._take(said)
            if said["at"] > heard:
                st.session_state[_HEARD] = said["at"]
                self._do(said)

    def _take(self, said: Mapping[str, Any]) -> None:
        """Take what was chosen."""
        if "pinned" in said:
            st.session_state[REGION] = self.regions[said["pinned"][-1]] if said["pinned"] else ""
        of_tiles = [control for controls in self.asked.values() for control in controls]
        known = {control.name: control.values for control in (*self.heads, *self.controls, *of_tiles)}
        known |= {name: tuple(choices) for name, choices in self.tiles.items()}
        if "block" in said:
            st.session_state[_BLOCK] = said["block"]
        for name, place in said.get("choices", {}).items():
            st.session_state[name] = for_widget(known[name][place])
        if said.get("person") in self.view.cohort.ids:
            st.session_state[SUBJECT] = said["person"]

    def _do(self, said: Mapping[str, Any]) -> None:
        """Do what was asked for, once."""
        if (name := said.get("details")) in self.shown:
            self._go_to(self.shown[name].page, self.shown[name].tabs)
        if said.get("why"):
            self._go_to("hubs", ["region"])
        if (name := said.get("export")) in self.shown:
            shown = self.shown[name]
            source = self.source(shown.figure) if shown.figure.of_model else None
            options = self.people_options() if name == PEOPLE else self.options(shown)
            if name in self.of_a_region:
                options = replace(options, region=self.regions[said["region"]])
            add_to_export(figure_request(self.view, shown.figure, options, source))

    def _go_to(self, page: str, tabs: Sequence[str]) -> None:
        """Go to a page in the run that follows, and there to the first of these tabs that it has."""
        st.session_state[DETAILS] = page
        if tabs:
            one = _TABS[page]
            behind = self.view.cohort_behind(one)
            offered = one.offered(self.view.cohort if behind is None else behind)  # a model's has no subjects
            st.session_state[one.link] = next((tab for tab in tabs if tab in offered), one.default)
        if page == "compare":
            st.session_state[ComparedOptions.declared()["measure"].link] = self.view.options(people.takes).measure


def drawn(measured: Measured, figure: Figure[Any], options: Any) -> dict[str, Any]:
    """A figure as a tile, and a name for what it holds.

    Parameters
    ----------
    measured : Measured
    figure : Figure
    options : options of the figure
    """
    contents = linked.tile_contents(figure(measured, options))
    return {**contents, "version": sha256(json.dumps(contents).encode()).hexdigest()[:12]}


def steps_of(measured: Measured, figure: Figure[Any], options: Any, name: str, steps: tuple[Any, ...]) -> Any:
    """What each step of one option changes in a figure's tile.

    Parameters
    ----------
    measured : Measured
    figure : Figure
    options : options of the figure
        Of the tile that the browser has.
    name : str
        Of the option.
    steps : tuple of plain values
    """
    return linked.steps_of(figure, measured, options, name, steps)
