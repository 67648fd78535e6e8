"""Explore: the brain, the matrix, the curves and the people of a cohort on one screen, linked by region.

Tiles show figures of the register. The browser holds what it needs to follow the cursor and γ; the rest is asked.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from biobgt.base.errors import InputError
from biobgt.base.kept import Key
from biobgt.base.options import Option, Plain
from biobgt.data.graph import levels_of
from biobgt.figures import attention
from biobgt.figures.connectivity import connectivity_heatmap
from biobgt.figures.groups import people
from biobgt.figures.hubs import gamma_sweep, hub_brain, hub_curves, hub_scatter
from biobgt.figures.modules import module_brain, module_heatmap, role_map
from biobgt.figures.register import Figure
from biobgt.figures.screen import linked
from biobgt.groups.features import regional_hubs
from biobgt.hubs import resolvents as cost
from biobgt.hubs.measures import COMPARED, GAMMAS, HUB_MEASURES, NE, EntanglementOptions, HubOptions
from biobgt.model.attention import group_beside
from biobgt.modules.measures import NamedModuleOptions
from linked.component import Send, show_screen
from session.view import LEVEL_KEYS, REGION, SUBJECT, PageOptions, View, current_view, for_widget, usable
from views.shared.figures import add_to_export, figure_request
from views.shared.widgets import input_errors_shown, measure_all

_SCREEN, _PEOPLE = "explore", "people"
# The screen takes the width and the height of the window, so that nothing is scrolled.
_WHOLE_WINDOW = """<style>
[data-testid="stMainBlockContainer"] {padding: 2.6rem 1rem 0 1rem; max-width: none}
.st-key-explore_parts {height: 0; overflow: hidden; position: absolute}
</style>"""


@dataclass(frozen=True, eq=False)
class _Shown:
    """What a tile can show: a figure, the options that are not the user's choice there, and those to choose in it."""

    title: str
    figure: Figure[Any]
    fixed: Mapping[str, Plain] = field(default_factory=dict)
    asks: Sequence[str] = ()

    @property
    def follows_gamma(self) -> bool:
        """Whether γ changes it."""
        about = HUB_MEASURES.get(str(self.fixed.get("measure", NE)))
        return (
            issubclass(self.figure.takes, EntanglementOptions)
            and about is not None
            and (self.figure is not hub_brain or about.depends_on_gamma)
        )


# By the option that says what a tile shows, and its choices.
_TILES: Mapping[str, Mapping[str, _Shown]] = {
    "explore_brain": {
        **{key: _Shown(f"Hubs by {one.short}", hub_brain, {"measure": key}) for key, one in HUB_MEASURES.items()},
        "modules": _Shown("Modules", module_brain),
    },
    "explore_matrix": {
        "connectivity": _Shown("Connectivity", connectivity_heatmap, {"matrix": "connectivity"}, ("order",)),
        "graph": _Shown("Brain graph", connectivity_heatmap, {"matrix": "graph"}, ("order",)),
        "modules": _Shown("Connectivity by module", module_heatmap),
        "attention": _Shown("Attention", attention.subject_attention, asks=("order",)),
    },
    "explore_curves": {
        "curves": _Shown("Hub curves", hub_curves, {"region": ""}, ("order", "n_random")),
        **{
            key: _Shown(f"NE against {HUB_MEASURES[key].short}", hub_scatter, {"region": "", "measure": key})
            for key in COMPARED
            if key != NE
        },
        "sweep": _Shown("Agreement over γ", gamma_sweep),
        "roles": _Shown("Roles in modules", role_map),
    },
}


def _show_page() -> None:
    """Show the page."""
    view = current_view()
    st.html(_WHOLE_WINDOW)
    with input_errors_shown():
        _Screen(view).show()


class _Screen:
    """The linked screen of one view."""

    def __init__(self, view: View) -> None:
        self.view, self.measured, self.hubs = view, view.measured, view.options(HubOptions)
        # Where the browser can have every γ, tiles are drawn at the same one whatever is chosen, and not sent again.
        self.live = view.atlas.n_regions <= cost.STEPS_ABOVE and self.hubs.gamma in GAMMAS
        self.drawn_at = HubOptions().gamma if self.live else self.hubs.gamma
        chosen = view.options(PageOptions)
        self.shown = {name: choices[getattr(chosen, name)] for name, choices in _TILES.items()}
        self.controls = self._controls()
        self.asked = {name: self._asked(shown.figure, shown.asks) for name, shown in self.shown.items()}
        self.asked[_PEOPLE] = self._asked(people, ("measure",))

    def show(self) -> None:
        """Show tiles first, and then what they need to follow γ and the cursor, which takes longer."""
        names, ids = self.view.atlas.regions, self.view.cohort.ids
        region, own = st.session_state.get(REGION, ""), ids.index(self.view.subject.id)
        frame = {
            "tiles": [*_TILES, _PEOPLE],
            "regions": list(names),
            "pinned": [names.index(region)] if region in names else [],
            "controls": [control.contents for control in self.controls],
            "steps": {"gamma": GAMMAS.index(self.hubs.gamma)} if self.live else {},
            "people": [ids[own - 1] if own else "", ids[own], ids[own + 1] if own + 1 < len(ids) else ""],
            "simulated": self.view.subject.simulated or self.view.cohort.simulated,
            "hint": "Point at a region in any picture; click to keep it.",
        }
        with show_screen(_SCREEN, frame, on_said_change=self.hear) as send:
            for name, shown in self.shown.items():
                titles = [self.measured.kind.named(one.title) for one in _TILES[name].values()]
                place = list(_TILES[name].values()).index(shown)
                send(name, {"choices": titles, "value": place, **self._asks(name), **self._tile(shown)})
            send("connections", self._kept("connections", linked.strongest_connections))
            send("facts", self._facts(linked.region_facts))
            with input_errors_shown():
                self._show_people(send)
            if self.live:
                self._send_steps(send)

    def options(self, shown: _Shown, **fixed: Plain) -> Any:
        """The options of a tile's figure, as the user chose them."""
        if shown.figure is attention.subject_attention:
            model = self.view.chosen_model
            if model is None:
                raise InputError(f"No installed model was trained on {self.view.atlas.title}: see the page Models.")
            if said := model.refusal(self.view.cohort):
                raise InputError(said)
            beside = group_beside(self.view.subject.group, model.group_names)
            fixed = {"model": model.name, "model_sha256": model.sha256, "group": beside, **fixed}
        return self.view.options(shown.figure.takes, **shown.fixed, **fixed)

    def _drawn_options(self, shown: _Shown) -> Any:
        """The same as the browser first has them: at one γ."""
        return self.options(shown, **({"gamma": self.drawn_at} if shown.follows_gamma else {}))

    def _kept(self, name: str, make: Callable[..., Any], *about: Any) -> Any:
        """Make once for all visits what is shown of the subject; some of it depends on who is in which group."""
        whose = (self.view.subject.id, self.view.settings, self.view.loaded.people)
        return self.measured.keep(Key(f"explore_{name}", (whose, about), most=64), lambda: make(self.measured, *about))

    def _tile(self, shown: _Shown) -> dict[str, Any]:
        """A tile's figure, or why there is none."""
        try:
            return self._kept("tile", _drawn, shown.figure, self._drawn_options(shown))
        except InputError as error:
            return {"note": str(error)}

    def _facts(self, make: Callable[..., Any]) -> Any:
        options = replace(self.hubs, gamma=self.drawn_at)
        return self._kept(make.__name__, make, options, self.view.options(NamedModuleOptions))

    def _send_steps(self, send: Send) -> None:
        """Send what every γ changes, tile by tile."""
        for name, shown in self.shown.items():
            if shown.follows_gamma and shown.figure is not gamma_sweep:
                steps = self._kept("steps", _steps, shown.figure, self._drawn_options(shown), "gamma", GAMMAS)
                send(f"{name}_gamma", {"of": name, "by": "gamma", "steps": steps})
        send("facts_gamma", {"of": "facts", "by": "gamma", "steps": self._facts(linked.fact_steps)})

    def _show_people(self, send: Send) -> None:
        """Show one dot per subject, once all of them are measured."""
        options, regions = self.view.options(people.takes, region=self.view.atlas.regions[0]), self.view.atlas.regions
        about, near = HUB_MEASURES[options.measure].in_words_of(self.measured.kind), options.part(EntanglementOptions)
        done = measure_all(
            regional_hubs,
            [(self.measured.of(name), near, options.measure) for name in self.view.cohort.ids],
            key=f"people_{options.measure}",
            start=f"Measure {about.title} in all subjects",
            doing="Subject",
            automatic=not about.depends_on_gamma,
        )
        if not done:
            note = f"{about.heading} is not measured in all subjects yet."
            send(_PEOPLE, {"title": people.name, **self._asks(_PEOPLE), "note": note})
            return
        send(_PEOPLE, {"title": people.name, **self._asks(_PEOPLE), **self._kept("tile", _drawn, people, options)})
        steps = self._kept("people", _steps, people, options, "region", tuple(regions))
        send("people_region", {"of": _PEOPLE, "by": "region", "steps": steps})

    # What can be chosen, and what was.

    def _controls(self) -> "list[_Control]":
        named = [
            _Control.of(self.view, HubOptions, "gamma", "γ (1/mean(λ))", live=self.live),
            _Control.of(self.view, HubOptions, "perturbation"),
            _Control.of(self.view, NamedModuleOptions, "resolution"),
        ]
        rule = self.view.settings.threshold
        if rule in LEVEL_KEYS and (level := levels_of(self.view.cohort.kind)[rule]).high <= 1:
            n_steps = round((level.high - level.low) / level.step)
            values = tuple(round(level.low + step * level.step, 6) for step in range(n_steps + 1))
            texts = tuple(f"{value:.0%}" if level.in_percent else f"{value:g}" for value in values)
            at = min(range(len(values)), key=lambda i: abs(values[i] - self.view.settings.level))
            named.insert(1, _Control(LEVEL_KEYS[rule], level.title, "", values, texts, at, slides=True))
        return named

    def _asked(self, figure: Figure[Any], names: Sequence[str]) -> "list[_Control]":
        return [_Control.of(self.view, figure.takes, name) for name in names]

    def _asks(self, name: str) -> dict[str, Any]:
        """What is to be chosen in a tile, beside what it shows."""
        return {"asks": [control.contents for control in self.asked[name]]}

    def hear(self) -> None:
        """Take what the user chose on the screen; the run that follows shows it."""
        said, names = st.session_state[_SCREEN].said or {}, self.view.atlas.regions
        if "pinned" in said:
            st.session_state[REGION] = names[said["pinned"][-1]] if said["pinned"] else ""
        of_tiles = [control for controls in self.asked.values() for control in controls]
        known = {control.name: control.values for control in (*self.controls, *of_tiles)}
        known |= {name: tuple(choices) for name, choices in _TILES.items()}
        for name, place in said.get("choices", {}).items():
            st.session_state[name] = for_widget(known[name][place])
        if said.get("person") in self.view.cohort.ids:
            st.session_state[SUBJECT] = said["person"]
        if said.get("export") == _PEOPLE:
            add_to_export(figure_request(self.view, people, self.view.options(people.takes)))
        elif said.get("export") in self.shown:
            shown = self.shown[said["export"]]
            add_to_export(figure_request(self.view, shown.figure, self.options(shown)))


def _drawn(measured: Any, figure: Figure[Any], options: Any) -> dict[str, Any]:
    return linked.tile_contents(figure(measured, options))


def _steps(measured: Any, figure: Figure[Any], options: Any, name: str, steps: tuple[Any, ...]) -> Any:
    return linked.steps_of(figure, measured, options, name, steps)


@dataclass(frozen=True)
class _Control:
    """Something to choose above the tiles; the browser tells the place of a value among all."""

    name: str
    title: str
    help: str
    values: tuple[Plain, ...]
    texts: tuple[str, ...]
    at: int
    live: bool = False
    slides: bool = False

    @classmethod
    def of(cls, view: View, kind: type[Any], name: str, title: str = "", *, live: bool = False) -> "_Control":
        """One for an option that links name."""
        one: Option = kind.declared()[name]
        values = tuple(one.offered(view.cohort))
        chosen = usable(one, view.choices.get(one.link, one.default_for(view.cohort)), view.cohort)
        texts = tuple(view.cohort.kind.named(one.text(value)) for value in values)
        at = values.index(chosen) if chosen in values else 0
        return cls(one.link, title or one.title, one.help, values, texts, at, live, one.steps is not None)

    @property
    def contents(self) -> dict[str, Any]:
        """What the browser is told."""
        about = {"name": self.name, "title": self.title, "help": self.help, "choices": list(self.texts)}
        return {**about, "value": self.at, "live": self.live, "slides": self.slides}


if __name__ == "__main__":  # Streamlit runs the file anew for every look at the page
    _show_page()
