"""Names of regions in the brain on the screen lie on no other name, and on no hub that is named."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biobgt import load_atlas
from biobgt.figures.screen_brain import BRAIN_HEIGHT, _on_screen, cortex_mesh, name_offsets, region_names, side_names

LETTER, LINE, NODE, WIDTH = 6.0, 14.0, 8.0, 484.0  # px; a letter of the page's font, and what a page 800 px wide draws


def boxes(points: np.ndarray, letters: list[int]) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each name."""
    moved = points + np.array(name_offsets(points, letters))
    return [
        (x - LETTER * n / 2, y - LINE / 2, x + LETTER * n / 2, y + LINE / 2)
        for (x, y), n in zip(moved, letters, strict=True)
    ]


def meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(-200, 200), st.floats(-150, 150), st.integers(4, 22)), min_size=1, max_size=10))
def test_ten_names_are_all_read_wherever_their_regions_are(named) -> None:
    points, letters = np.array([place[:2] for place in named]), [place[2] for place in named]
    found = boxes(points, letters)
    assert not any(meet(one, other) for one, other in combinations(found, 2))
    nodes = [(x - NODE, y - NODE, x + NODE, y + NODE) for x, y in points]
    assert not any(meet(name, node) for name in found for node in nodes)
    assert all(left > -WIDTH / 2 and right < WIDTH / 2 for left, _, right, _ in found)


def test_a_lone_name_is_beside_its_region_and_leads_away_from_the_middle() -> None:
    ((across, down),) = name_offsets(np.array([[0.0, -100.0]]), [10])
    assert across == 0
    assert -30 < down < -15


@pytest.mark.parametrize("key", ["cc200", "4s156"])
def test_names_point_at_their_regions_and_regions_without_a_place_have_none(key) -> None:
    atlas = load_atlas(key)
    named = [*range(5), *range(atlas.n_regions - 5, atlas.n_regions)]
    placed = [i for i in named if np.isfinite(atlas.coordinates[i]).all()]
    found = region_names(atlas.coordinates, atlas.regions, named, around=cortex_mesh()[0], height=500)
    assert [one["text"] for one in found] == [atlas.regions[i] for i in placed]
    assert [(one["x"], one["y"], one["z"]) for one in found] == [tuple(atlas.coordinates[i]) for i in placed]


def test_left_and_front_are_read_whole_on_a_narrow_page() -> None:
    words = side_names()
    places = np.column_stack([words[axis] for axis in "xyz"]).astype(float)
    around = np.vstack([cortex_mesh()[0], places])
    seen = dict(zip(words["text"], _on_screen(places, around, BRAIN_HEIGHT - 48), strict=True))
    for text in ("left", "front"):
        across, down = seen[text]
        assert abs(across) + LETTER * len(text) / 2 < WIDTH / 2
        assert abs(down) + LINE / 2 < (BRAIN_HEIGHT - 48) / 2
