"""Explore, one subject: brain, matrix and curves, which follow γ in the browser, beside the people of the cohort."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import streamlit as st

from biobgt.base.errors import InputError
from biobgt.figures.attention import maps
from biobgt.figures.connectivity import connectivity_heatmap
from biobgt.figures.connectogram import connectogram
from biobgt.figures.hubs import gamma_sweep, hub_brain, hub_curves, hub_scatter
from biobgt.figures.modules import module_brain, module_heatmap, role_map
from biobgt.figures.screen import linked
from biobgt.hubs.measures import COMPARED, GAMMAS, HUB_MEASURES, NE, EntanglementOptions, HubOptions
from biobgt.model.attention import group_beside
from biobgt.modules.measures import NamedModuleOptions
from linked.component import Send
from session.view import View
from views.explore.controls import Control, threshold_control
from views.explore.screen import PEOPLE, PEOPLE_TILE, Screen, Shown
from views.page_map import PAGES
from views.shared.widgets import has_all_hubs, input_errors_shown, measure_rest_of_hubs, wants_hubs

_DRAWN_AT = "explore_drawn_at"  # under which the session keeps the γ of tiles, and of what it was


def _follows_gamma(shown: Shown) -> bool:
    """Whether γ changes it."""
    about = HUB_MEASURES.get(str(shown.fixed.get("measure", NE)))
    return (
        issubclass(shown.figure.takes, EntanglementOptions)
        and about is not None
        and (shown.figure is not hub_brain or about.depends_on_gamma)
    )


def _gamma_of_tiles(view: View, hubs: HubOptions) -> float:
    """The γ at which tiles are drawn, where the browser has every one: the same until something else changes."""
    about = (view.loaded.key, view.subject.id, view.settings, replace(hubs, gamma=GAMMAS[0]))
    before = st.session_state.get(_DRAWN_AT)
    if before is None or before[0] != about:
        st.session_state[_DRAWN_AT] = before = (about, hubs.gamma)
    return float(before[1])


class SubjectScreen(Screen):
    """The linked screen of one subject."""

    tiles: ClassVar[Mapping[str, Mapping[str, Shown]]] = {
        "explore_brain": {
            **{
                key: Shown(f"Hubs by {one.short}", hub_brain, {"measure": key}, tabs=["regions"])
                for key, one in HUB_MEASURES.items()
            },
            "modules": Shown("Modules", module_brain, tabs=["modules"]),
        },
        "explore_matrix": {
            "connectivity": Shown("Connectivity", connectivity_heatmap, {"matrix": "connectivity"}, ("order",)),
            "graph": Shown("Brain graph", connectivity_heatmap, {"matrix": "graph"}, ("order",)),
            "modules": Shown("Connectivity by module", module_heatmap, tabs=["modules"]),
            "attention": Shown("Attention", maps.subject_attention, asks=("order",), tabs=["subject"]),
            "connectogram": Shown("Connectogram", connectogram, asks=("connections", "order")),
        },
        "explore_curves": {
            "curves": Shown("Hub curves", hub_curves, {"region": ""}, ("order", "n_random"), ["regions"]),
            **{
                key: Shown(
                    f"NE against {HUB_MEASURES[key].short}",
                    hub_scatter,
                    {"region": "", "measure": key},
                    tabs=["agreement"],
                )
                for key in COMPARED
                if key != NE
            },
            "sweep": Shown("Agreement over γ", gamma_sweep, tabs=["agreement"]),
            "roles": Shown("Roles in modules", role_map, tabs=["roles"]),
        },
        PEOPLE: PEOPLE_TILE,
    }

    def __init__(self, view: View) -> None:
        self.hubs = view.options(HubOptions)
        self.live = self.hubs.gamma in GAMMAS and has_all_hubs(view)
        self.drawn_at = _gamma_of_tiles(view, self.hubs) if self.live else self.hubs.gamma
        super().__init__(view)
        with self.work:
            self.wants_hubs = wants_hubs(view)

    def own_controls(self) -> list[Control]:
        """What several tiles depend on."""
        return [
            Control.of(self.view, HubOptions, "gamma", "γ (1/mean(λ))", live=self.live),
            *threshold_control(self.view),
            Control.of(self.view, HubOptions, "perturbation"),
            Control.of(self.view, NamedModuleOptions, "resolution"),
        ]

    def about(self) -> dict[str, Any]:
        """The subjects before and after this one, where a region is explained, and the γ that is shown."""
        ids = self.view.cohort.ids
        own = ids.index(self.view.subject.id)
        return {
            "people": [ids[own - 1] if own else "", ids[own], ids[own + 1] if own + 1 < len(ids) else ""],
            "why": PAGES["hubs"].title if self.wants_hubs else "",
            "steps": {"gamma": GAMMAS.index(self.hubs.gamma)} if self.live else {},
        }

    def options(self, shown: Shown, **fixed: Any) -> Any:
        """The options of a tile's figure, as the user chose them."""
        if issubclass(shown.figure.takes, EntanglementOptions) and not self.wants_hubs:
            raise InputError("The hubs of this atlas are not measured yet.")
        if shown.figure is maps.subject_attention:
            model = self.view.chosen_model
            if model is None:
                raise InputError(f"No installed model was trained on {self.view.atlas.title}: see the page Models.")
            if said := model.refusal(self.view.cohort):
                raise InputError(said)
            beside = group_beside(self.view.subject.group, model.group_names)
            fixed = {"model": model.name, "model_sha256": model.sha256, "group": beside, **fixed}
        return self.view.options(shown.figure.takes, **shown.fixed, **self.brain_kind(shown), **fixed)

    def drawn_options(self, shown: Shown) -> Any:
        """The same as the browser first has them, at whichever γ was then chosen."""
        return self.options(shown, **({"gamma": self.drawn_at} if _follows_gamma(shown) else {}))

    def versions_of_parts(self) -> dict[str, str]:
        """The same, and of what is said of regions."""
        return {
            **super().versions_of_parts(),
            "connections": self.version("connections", self.measured),
            "facts": self.version("facts", self.measured, *self._options_of_facts()),
        }

    def send_rest(self, send: Send) -> None:
        """Send connections, facts and people, and what every γ changes."""
        send("connections", self.kept("connections", self.measured, linked.strongest_connections))
        self.send_shown(send, "connections")
        if self.wants_hubs:
            send("facts", {**self._facts(linked.region_facts), "version": self.versions["facts"]})
            self.send_shown(send, "facts")
        with input_errors_shown():
            self.send_people(send)
        with self.work:
            if self.wants_hubs and not has_all_hubs(self.view) and measure_rest_of_hubs(self.view):
                st.rerun()  # now the browser can have every γ
        if self.live:
            self._send_steps(send)

    def _facts(self, make: Callable[..., Any]) -> Any:
        return self.kept(make.__name__, self.measured, make, *self._options_of_facts())

    def _options_of_facts(self) -> tuple[HubOptions, NamedModuleOptions]:
        return replace(self.hubs, gamma=self.drawn_at), self.view.options(NamedModuleOptions)

    def _send_steps(self, send: Send) -> None:
        """Send what every γ changes, tile by tile."""
        for name in self.together:
            if name in self.drawn and _follows_gamma(shown := self.shown[name]) and shown.figure is not gamma_sweep:
                self.send_steps(send, name, self.drawn_options(shown), "gamma", GAMMAS)
        steps, version = self._facts(linked.fact_steps), self.versions["facts"]
        send("facts_gamma", {"of": "facts", "version": version, "by": "gamma", "steps": steps})
