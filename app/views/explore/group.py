"""Explore, the groups of a model in one row: attention, disorders minus their own controls, and one region of it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from biobgt.base.errors import InputError
from biobgt.base.wording import counted
from biobgt.figures.attention import disorders
from biobgt.figures.attention.disorders import attention_minus_controls, groups_in_a_row
from biobgt.figures.attention.maps import attention_in_brain, attention_maps
from biobgt.figures.attention.own_groups import own_attention, own_attention_difference, own_block_words
from biobgt.figures.attention.region import own_region_attention, region_attention, region_attention_by_group
from biobgt.figures.attention.tested import attention_contrast, attention_spread
from biobgt.figures.register import Figure
from biobgt.figures.screen import linked
from biobgt.groups.compare import TwoGroups
from biobgt.model.pretrained import InstalledModel, installed_models
from biobgt.results.measured import Measured
from linked.component import Send
from session.view import View, measured_model
from views.explore.controls import Control, whose_control
from views.explore.screen import DIFFERENCE_TABS, Screen, Shown
from views.shared.widgets import measure_all

MAPS, DIFFERENCES, BRAIN = "explore_group_maps", "explore_group_difference", "explore_group_brain"
_BY_GROUP = {"groups": "The region, group by group", "differences": "The region, minus own controls"}
_MOST_BESIDE = 2  # groups whose maps have room beside their differences


def _by_group(figure: Figure[Any]) -> dict[str, Shown]:
    """The attention of one region in all groups, and in all differences."""
    return {key: Shown(title, figure, {"compared": key}, ["side"], ["brain"]) for key, title in _BY_GROUP.items()}


class GroupScreen(Screen):
    """The linked screen of the groups that a model was trained on."""

    tiles: ClassVar[Mapping[str, Mapping[str, Shown]]] = {
        MAPS: {"groups": Shown("Attention of groups", attention_maps, asks=("average",), tabs=["groups"])},
        DIFFERENCES: {
            "controls": Shown("Disorders minus their own controls", attention_minus_controls, tabs=DIFFERENCE_TABS)
        },
        BRAIN: {
            **_by_group(region_attention_by_group),
            "looks": Shown("Where the region looks", region_attention, asks=("shown",), tabs=["brain"]),
            "received": Shown("Attention received", attention_in_brain, asks=("group",), tabs=["brain"]),
        },
        "explore_group_people": {
            "people": Shown("Within / between modules, by person", attention_spread, tabs=["people"]),
            "heads": Shown("Within / between modules, by head", attention_contrast, tabs=["contrast", "people"]),
        },
    }

    def __init__(self, view: View) -> None:
        assert view.model_shown is not None
        self.model: InstalledModel = view.model_shown
        super().__init__(view)

    def own_controls(self) -> list[Control]:
        """The order of regions, and the part of attention, where a model has several."""
        several = {"layer": self.model.n_layers > 1, "head": self.model.n_heads > 1}
        names = ("order", *(name for name, more in several.items() if more))
        return [whose_control(self.view), *(Control.of(self.view, attention_maps.takes, name) for name in names)]

    @property
    def regions(self) -> tuple[str, ...]:
        """The model's regions, whatever the cohort's are."""
        return self.model.atlas.regions

    @property
    def simulated(self) -> bool:
        """Whether patients of the model are."""
        return self.model.simulates(self.model.group_names)

    def about(self) -> dict[str, Any]:
        """Which tiles need the whole width."""
        n_maps = len(groups_in_a_row(self.model))
        hint = "Point at a cell: it is told of every group. Click to keep a region; drag for the mean of a block."
        wide = {"wide": [MAPS, DIFFERENCES], "broad": [BRAIN]} if n_maps > _MOST_BESIDE else {}
        return {**wide, "maps": n_maps, "hint": hint, "cells": True}

    def options(self, shown: Shown) -> Any:
        """The options of a tile's figure: all groups in one row, and the region that the browser starts with."""
        fixed = dict(shown.fixed)
        if shown.figure is attention_maps:
            fixed["groups"] = groups_in_a_row(self.model)
        if "region" in shown.figure.takes.declared():
            fixed["region"] = self.regions[0]
        return self.view.options(shown.figure.takes, **fixed)

    def block_words(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> str:
        """What was tested of a block when the model was made."""
        return disorders.block_words(self.model, rows, columns)

    def cells(self) -> Any:
        """What stands beside the value of a cell in every map."""
        return self.kept("cells", measured_model(self.model), _cells, self.model)

    def send_rest(self, send: Send) -> None:
        """Send what is known of regions and cells, and where every region looks."""
        send("facts", linked.model_facts(self.model))
        cells = self.cells()
        send("cells", {"beside": {MAPS: cells["groups"], DIFFERENCES: cells["differences"]}, "steps": []})
        shown = self.shown[BRAIN]
        if "region" in shown.figure.takes.declared() and BRAIN in self.drawn:
            self.send_steps(send, BRAIN, self.options(shown), "region", self.regions)


def _cells(measured: object, model: InstalledModel) -> dict[str, Any]:
    return linked.map_cells(model)


class OwnGroupScreen(GroupScreen):
    """The same with two groups of the cohort beside the model's, once the model has run on everybody in them."""

    tiles: ClassVar[Mapping[str, Mapping[str, Shown]]] = {
        **GroupScreen.tiles,
        MAPS: {"own": Shown("Attention of the model's groups and mine", own_attention)},
        DIFFERENCES: {"own": Shown("Disorders minus controls, and my groups", own_attention_difference)},
        BRAIN: {**GroupScreen.tiles[BRAIN], **_by_group(own_region_attention)},
    }

    def own_controls(self) -> list[Control]:
        """Which groups of the cohort stand there; attention is the mean over layers and heads."""
        names = ("first", "second", "order")
        return [whose_control(self.view), *(Control.of(self.view, own_attention.takes, name) for name in names)]

    @property
    def simulated(self) -> bool:
        """Whether patients of the model or subjects of the cohort are."""
        return super().simulated or self.view.cohort.simulated

    def about(self) -> dict[str, Any]:
        """All maps need the whole width."""
        n_maps = len(groups_in_a_row(self.model)) + len(self.groups)
        return {**super().about(), "wide": [MAPS, DIFFERENCES], "broad": [BRAIN], "maps": n_maps}

    def show(self) -> None:
        """Show the screen; the model runs first on all subjects of the two groups, when asked to."""
        self.groups = self.view.options(TwoGroups).groups
        self.refused = self._refusal()
        self.run_on_all = not self.refused and self._run()
        super().show()

    def _refusal(self) -> str:
        if said := self.model.refusal(self.view.cohort):
            fits = any(not one.refusal(self.view.cohort) for one in installed_models().values())
            return said if fits else f"{said} biobgt train makes a model of your own subjects."
        if len(set(self.groups) - {""}) < 2:
            return "Choose two different groups; groups are set on the page Subjects."
        return ""

    def _run(self) -> bool:
        members = [name for group in self.groups for name in self.view.cohort.group(group).ids]
        with self.work:
            return measure_all(
                Measured.attention_map,
                [(self.measured.of(name), self.model) for name in members],
                key=f"own_attention_{self.model.name}",
                start=f"Run {self.model.name} on {counted(len(members), 'subject')}",
                doing="Subject",
            )

    def options(self, shown: Shown) -> Any:
        """The options of a tile's figure."""
        if shown.figure.of_model:
            return super().options(shown)
        if self.refused:
            raise InputError(self.refused)
        if not self.run_on_all:
            raise InputError(f"{self.model.name} has not run on all subjects of the two groups yet.")
        fixed = {**shown.fixed, "model": self.model.name, "model_sha256": self.model.sha256}
        if "region" in shown.figure.takes.declared():
            fixed["region"] = self.regions[0]
        return self.view.options(shown.figure.takes, **fixed)

    def block_words(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> str:
        """The same, and how the groups of the cohort differ there."""
        said = super().block_words(rows, columns)
        return (
            f"{own_block_words(self.measured, self.model, self.groups, rows, columns)} {said}"
            if self.run_on_all
            else said
        )

    def cells(self) -> Any:
        """The same for the cohort's groups, too."""
        known = super().cells()
        return self.kept("own_cells", self.measured, _own_cells, self.model, self.groups) if self.run_on_all else known


def _own_cells(measured: Measured, model: InstalledModel, groups: tuple[str, str]) -> dict[str, Any]:
    return linked.own_cells(measured, model, groups)
