"""Attention of a model's groups, panel by panel: side by side, their difference, the contrast, in the brain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from export_list import model_request
from loaded import View
from model_results import atlas_of, card_of, groups_of, keep_picture, region_labels
from state import ATTENTION_GROUPS, BRAIN_KINDS, RECEIVED_BRAIN, RECEIVED_GROUP
from widgets import as_png, heading, show_figure, show_picture

from biobgt import Atlas
from biobgt.export import Plain
from biobgt.figures import brain_3d, order_regions
from biobgt.figures.attention import PAGE_WIDTH, RECEIVED, attention_difference, attention_heatmaps, contrast_points
from biobgt.figures.attention_blocks import block_effects, blocks_in_order
from biobgt.figures.attention_captions import (
    attention_caption,
    attention_part,
    contrast_caption,
    difference_caption,
    effects_caption,
    received_caption,
)
from biobgt.figures.connectivity_words import contrast_of_card
from biobgt.figures.frame import RegionOrder
from biobgt.model.attention_views import (
    WITHOUT_CONNECTIVITY,
    BesideConnectivity,
    BlockTests,
    Matrix,
    all_block_tests,
    attention_received,
    beside_connectivity,
    block_tests,
    colour_limits,
    difference_limit,
    map_correlation,
    select_attention,
    strongest_regions,
)
from biobgt.model.pretrained import GroupResults

THREE_D, GLASS = BRAIN_KINDS
PICTURE_MM = 174.0
EFFECTS = {"d": "d", "p": "p", "q": "FDR q"}
ADJUSTED = {"": "", ", without overall connectivity": WITHOUT_CONNECTIVITY, ", unadjusted": "_unadjusted"}


@dataclass(frozen=True, eq=False)
class AttentionView:
    """One model's attention, and how it is looked at."""

    name: str
    card: dict[str, Any]
    groups: GroupResults
    atlas: Atlas
    order: RegionOrder
    order_key: str
    order_words: str
    layer: int | None
    head: int | None

    @property
    def part(self) -> str:
        """Layer and head, in words."""
        return attention_part(self.layer, self.head)

    @property
    def simulated(self) -> bool:
        """Whether patients of this model are simulated."""
        return bool(self.card["simulated"])

    @property
    def how(self) -> dict[str, Plain]:
        """Order, layer and head, as an export names them."""
        return {"order": self.order_key, **self.counted_part}

    @property
    def counted_part(self) -> dict[str, Plain]:
        """Layer and head, counted from 1, with 0 for the mean."""
        return {
            name: 0 if number is None else number + 1 for name, number in (("layer", self.layer), ("head", self.head))
        }

    def map(self, group: str) -> Matrix:
        """A group's attention, shape (n_regions, n_regions)."""
        return select_attention(self.groups.attention[group], layer=self.layer, head=self.head)

    def beside_connectivity(self, group: str) -> BesideConnectivity:
        """A group's attention beside its mean connectivity, with the modules by which regions are ordered."""
        return beside_connectivity(self.map(group), self.groups.connectivity[group], self.order.labels)

    def tests(self, between: tuple[str, str]) -> BlockTests | None:
        """The comparison of two groups, where it was made."""
        return block_tests(self.groups.tests, between, self.groups.n)


def attention_view(
    name: str, order_key: str, order_words: str, *, layer: int | None = None, head: int | None = None
) -> AttentionView:
    """Gather what the figures of one model need; a layer or head that it does not have is its mean."""
    atlas, groups = atlas_of(name), groups_of(name)
    layers, heads = next(iter(groups.attention.values())).shape[:2]
    order = order_regions(atlas.n_regions, region_labels(name, order_key))
    return AttentionView(
        name,
        card_of(name),
        groups,
        atlas,
        order,
        order_key,
        order_words,
        layer if layer is not None and layer < layers else None,
        head if head is not None and head < heads else None,
    )


def shared_limits(views: Sequence[AttentionView]) -> tuple[float, float]:
    """Ends of one colour scale for all groups of these models: 1 is even attention in each, whatever its atlas."""
    low, high = colour_limits([shown.map(group) for shown in views for group in shown.groups.n])
    return round(low, 4), round(high, 4)


def show_maps(shown: AttentionView, limits: tuple[float, float] | None = None) -> None:
    """Show all groups of a model side by side on one colour scale: the model's own, or one that models share."""
    maps = {group: shown.map(group) for group in shown.groups.n}
    shared, limits = limits is not None, limits or shared_limits([shown])
    figure = attention_heatmaps(
        {f"{group} (n = {shown.groups.n[group]:,})": matrix for group, matrix in maps.items()},
        shown.atlas.regions,
        order=shown.order,
        limits=limits,
        title=f"Attention of {shown.name}",
        simulated=shown.simulated,
    )
    caption = attention_caption(
        shown.name,
        shown.groups.n,
        part=shown.part,
        order=shown.order_words,
        limits=limits,
        beside={group: shown.beside_connectivity(group) for group in maps},
        shared=shared,
        simulated=shown.simulated,
    )
    request = model_request(shown.card, "attention_maps", limits=limits if shared else (), **shown.how)
    with st.container(width=PAGE_WIDTH):
        show_figure(figure, caption, key=f"attention_{shown.name}", file_name=f"{shown.name}_attention", export=request)


def show_difference(shown: AttentionView) -> None:
    """Show the difference of two groups, and the tests of module blocks."""
    heading("Difference of two groups", simulated=shown.simulated)
    between = _pick_two(list(shown.groups.n))
    if between is None:
        return
    difference, connectivity = shown.map(between[1]) - shown.map(between[0]), shown.groups.connectivity
    limit, tests = difference_limit(difference), shown.tests(between)
    labelling = next(iter(shown.atlas.labels), "")
    framed = shown.order_key == labelling
    marked = [] if tests is None else list(zip(tests.marked["module"], tests.marked["other_module"], strict=True))
    figure = attention_difference(
        difference,
        shown.atlas.regions,
        order=shown.order,
        limit=limit,
        marked=marked if framed else [],
        title=f"{between[1]} minus {between[0]}, {shown.name}",
        simulated=shown.simulated,
    )
    caption = difference_caption(
        shown.name,
        between,
        tests,
        part=shown.part,
        limit=limit,
        framed=framed,
        whole=shown.layer is None and shown.head is None,
        connectivity=map_correlation(difference, connectivity[between[1]] - connectivity[between[0]]),
        simulated=shown.simulated,
    )
    request = model_request(shown.card, "attention_difference", first=between[0], second=between[1], **shown.how)
    show_figure(figure, caption, key="attention_difference", file_name=f"{shown.name}_difference", export=request)
    if tests is not None:
        _show_tests(shown, tests)


def _show_tests(shown: AttentionView, tests: BlockTests) -> None:
    blocks = blocks_in_order(tests.blocks, shown.atlas)
    figure = block_effects(
        blocks,
        title=f"Module blocks, {tests.between[1]} against {tests.between[0]}",
        simulated=shown.simulated,
    )
    caption = effects_caption(shown.name, tests, simulated=shown.simulated)
    request = model_request(shown.card, "attention_blocks", first=tests.between[0], second=tests.between[1])
    show_figure(figure, caption, key="block_effects", file_name=f"{shown.name}_blocks", export=request)
    columns = {"feature": "Block (looks → looked at)", "d_low": "95 % low", "d_high": "95 % high"}
    for words, ending in ADJUSTED.items():
        columns |= {f"{name}{ending}": f"{title}{words}" for name, title in EFFECTS.items()}
    columns = {name: title for name, title in columns.items() if name in blocks}
    with st.expander("All module blocks, as a table"):
        table = blocks[list(columns)].rename(columns=columns).round(4)
        st.dataframe(table, hide_index=True, key="block_table", alt="Tests of all module blocks")


def _pick_two(names: list[str]) -> tuple[str, str] | None:
    for key, default in zip(ATTENTION_GROUPS, names, strict=False):
        if st.session_state.get(key) not in names:
            st.session_state[key] = default
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first, second = (
            st.selectbox(title, names, key=key, persist_state="session", width=200)
            for title, key in zip(("From group", "to group"), ATTENTION_GROUPS, strict=True)
        )
    if first == second:
        st.info("Choose two different groups.")
        return None
    return first, second


def show_contrast(shown: AttentionView) -> None:
    """Show how closely attention keeps to modules, group by group."""
    heading("Within against between modules", simulated=shown.simulated)
    tests = all_block_tests(shown.groups.tests, shown.groups.n)
    figure = contrast_points(
        shown.groups.contrast, title=f"Module contrast of attention, {shown.name}", simulated=shown.simulated
    )
    caption = contrast_caption(
        shown.name, shown.groups.contrast, tests, **contrast_of_card(shown.card), simulated=shown.simulated
    )
    request = model_request(shown.card, "attention_contrast")
    show_figure(figure, caption, key="contrast", file_name=f"{shown.name}_contrast", export=request)


def show_received(shown: AttentionView, view: View) -> None:
    """Show on a brain which regions are looked at."""
    heading("Attention received, in the brain", simulated=shown.simulated)
    if shown.atlas.coordinates is None:
        st.info("The coordinates of this atlas are not known, so its regions cannot be drawn on a brain.")
        return
    group, kind = _pick_received(list(shown.groups.n))
    received = attention_received(shown.map(group))
    drawn: dict[str, Any] = {
        "sizes": received,
        "values": received,
        "quantity": RECEIVED,
        "title": f"Attention received, {group}, {shown.name}",
        "simulated": shown.simulated,
    }
    where = "the fsaverage5 cortex" if kind != GLASS else "nilearn's glass brain"
    caption = received_caption(
        shown.name,
        f"{shown.groups.n[group]:,} {group}",
        strongest_regions(received, shown.atlas.regions),
        part=shown.part,
        where=where,
        received=received,
        simulated=shown.simulated,
    )
    request = model_request(shown.card, "attention_received", group=group, **shown.counted_part)
    if kind != GLASS:
        figure = brain_3d(shown.atlas.coordinates, shown.atlas.regions, **drawn)
        show_figure(figure, caption, key="received", file_name=f"{shown.name}_{group}_received", export=request)
        return

    def draw() -> bytes:
        from biobgt.figures.paper import PaperStyle, glass_brain  # brings matplotlib, which only a picture needs

        style = PaperStyle(width_mm=PICTURE_MM, dpi=220)
        assert shown.atlas.coordinates is not None
        return as_png(glass_brain(shown.atlas.coordinates, shown.atlas.regions, style=style, **drawn), style=style)

    key = (shown.name, shown.card["sha256"], group, shown.layer, shown.head)
    show_picture(keep_picture(view, key, draw), caption, "received_glass", export=request)


def _pick_received(names: list[str]) -> tuple[str, str]:
    """Ask whose attention, and on which brain."""
    if st.session_state.get(RECEIVED_GROUP) not in names:
        st.session_state[RECEIVED_GROUP] = names[0]
    st.session_state.setdefault(RECEIVED_BRAIN, THREE_D)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        group = st.segmented_control("Group", names, key=RECEIVED_GROUP, required=True, persist_state="session")
        kind = st.segmented_control(
            "Brain", [THREE_D, GLASS], key=RECEIVED_BRAIN, required=True, persist_state="session"
        )
    return group or names[0], kind or THREE_D
