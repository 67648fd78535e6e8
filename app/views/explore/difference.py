"""Explore, the difference of two groups of the cohort: region by region in the brain, as effects, person by person."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar

from biobgt.base.errors import InputError
from biobgt.data.cohort import FEWEST_COMPARED
from biobgt.figures.attention.tested import attention_difference
from biobgt.figures.group_maps import (
    connection_differences,
    connectivity_difference,
    group_mean_brains,
    group_means,
    group_module_brains,
)
from biobgt.figures.groups import group_difference_brain, group_differences
from biobgt.figures.people import people
from biobgt.figures.screen import linked
from biobgt.groups.compare import HUBS, MODULES, NETWORKS, ComparisonOptions, comparable_groups
from linked.component import Send
from views.explore.controls import Control
from views.explore.screen import DIFFERENCE_TABS, PEOPLE, PEOPLE_TILE, Screen, Shown
from views.shared.widgets import input_errors_shown


class DifferenceScreen(Screen):
    """The linked screen of two groups of the cohort."""

    tiles: ClassVar[Mapping[str, Mapping[str, Shown]]] = {
        "explore_difference_brain": {
            "hubs": Shown("Difference in every region", group_difference_brain, asks=("effect",), tabs=[HUBS]),
            "means": Shown("Means, group by group", group_mean_brains, asks=("side",), tabs=[HUBS]),
            "modules": Shown("Modules, group by group", group_module_brains, asks=("side",), tabs=[MODULES]),
        },
        "explore_difference_matrix": {
            "connectivity": Shown("Connectivity", connectivity_difference, {"of": NETWORKS}, ["order"], [NETWORKS]),
            "connectogram": Shown(
                "Connectogram", connection_differences, {"of": NETWORKS}, ["chosen", "connections"], [NETWORKS]
            ),
            "attention": Shown(
                "Attention, in the model's groups",
                attention_difference,
                asks=("order",),
                tabs=DIFFERENCE_TABS,
            ),
        },
        "explore_difference_curves": {
            "means": Shown("Group means", group_means, asks=("order",), tabs=[HUBS]),
            "effects": Shown("Clearest differences", group_differences, tabs=[HUBS]),
        },
        PEOPLE: PEOPLE_TILE,
    }

    def own_controls(self) -> list[Control]:
        """The two groups, and in what they are compared."""
        return [
            *(Control.of(self.view, ComparisonOptions, name) for name in ("first", "second")),
            Control.of(self.view, people.takes, "gamma", "γ (1/mean(λ))"),
        ]

    def options(self, shown: Shown) -> Any:
        """The options of a tile's figure: the hub measure is the one that people are shown in."""
        if shown.figure.of_model:
            return super().options(shown)
        if shown.figure in (connectivity_difference, connection_differences, group_module_brains):
            self._check_groups()
            return self.view.options(shown.figure.takes, **shown.fixed)
        self._check()
        fixed = {"of": HUBS, "measure": self.view.options(people.takes).measure}
        return self.view.options(shown.figure.takes, **fixed, **self.brain_kind(shown))

    def _check_groups(self) -> None:
        """Refuse what are no two groups."""
        options, known = self.view.options(ComparisonOptions), comparable_groups(self.view.cohort)
        if len(known) < 2:
            raise InputError(
                f"Two groups of at least {FEWEST_COMPARED} people each are needed. Set groups on the page Subjects."
            )
        if options.first == options.second:
            raise InputError("Choose two different groups.")

    def _check(self) -> None:
        """Refuse what cannot be compared region by region."""
        self._check_groups()
        if not self.measured_all:
            raise InputError("Not all subjects are measured yet.")

    def show(self) -> None:
        """Show the screen; subjects are measured first."""
        self.measured_all = self.measure_regions()
        super().show()

    def _options_of_facts(self) -> ComparisonOptions:
        return self.view.options(ComparisonOptions, of=HUBS, measure=self.view.options(people.takes).measure)

    def versions_of_parts(self) -> dict[str, str]:
        """The same, and of what is said of regions."""
        facts = self.version("difference", self.measured, self._options_of_facts())
        return {**super().versions_of_parts(), "facts": facts}

    def send_rest(self, send: Send) -> None:
        """Send what is known of regions, and people."""
        with suppress(InputError):  # the tiles say it
            self._check()
            send("facts", self.kept("difference", self.measured, linked.difference_facts, self._options_of_facts()))
            self.send_shown(send, "facts")
        with input_errors_shown():
            self.send_people(send)
