"""Explore, the groups of a model: attention of each, of disorders minus their controls, and in the brain."""

from collections.abc import Mapping
from typing import ClassVar

from biobgt.figures.attention import attention_in_brain, attention_maps
from biobgt.figures.attention_groups import attention_blocks, attention_difference, attention_spread
from biobgt.figures.screen import linked
from linked.component import Send
from views.explore.controls import Control
from views.explore.screen import Screen, Shown
from views.shared.widgets import no_models


class GroupScreen(Screen):
    """The linked screen of the groups that a model was trained on."""

    tiles: ClassVar[Mapping[str, Mapping[str, Shown]]] = {
        "explore_group_maps": {"groups": Shown("Attention of groups", attention_maps)},
        "explore_group_difference": {"difference": Shown("Difference of attention", attention_difference)},
        "explore_group_brain": {"received": Shown("Attention received", attention_in_brain, asks=("group",))},
        "explore_group_people": {
            "people": Shown("Within / between modules, person by person", attention_spread),
            "blocks": Shown("Attention between modules, tested", attention_blocks),
        },
    }
    with_people = False

    def own_controls(self) -> list[Control]:
        """Which groups are compared, and how maps are drawn."""
        if self.view.model_shown is None:
            return []
        return [
            *(Control.of(self.view, attention_difference.takes, name) for name in ("first", "second", "order")),
        ]

    @property
    def regions(self) -> tuple[str, ...]:
        """The model's regions, whatever the cohort's are."""
        model = self.view.model_shown
        return () if model is None else model.atlas.regions

    @property
    def simulated(self) -> bool:
        """Whether patients of the model are."""
        model = self.view.model_shown
        return model is not None and model.simulates(model.group_names)

    def show(self) -> None:
        """Show the screen, where there is a model."""
        if self.view.model_shown is None:
            no_models()
        else:
            super().show()

    def send_rest(self, send: Send) -> None:
        """Send what is known of the regions."""
        assert self.view.model_shown is not None
        send("facts", linked.model_facts(self.view.model_shown))
