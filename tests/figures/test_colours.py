"""A colour is written down once: whoever needs it again takes it by its name."""

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from drawn_figures import contrast
from matplotlib import colormaps

import biobgt
from biobgt.base.colours import DIVERGING, ink_on

ROOT = Path(biobgt.__file__).parents[1]


def test_no_colour_is_written_twice():
    places = defaultdict(list)
    for path in [*ROOT.glob("biobgt/**/*.py"), *ROOT.glob("app/**/*.py")]:
        for colour in re.findall(r"[\"'](#[0-9A-Fa-f]{6})[\"']", path.read_text(encoding="utf-8")):
            places[colour.upper()].append(path.relative_to(ROOT).as_posix())
    assert {colour: found for colour, found in places.items() if len(found) > 1} == {}


@pytest.mark.parametrize("share", np.linspace(-1, 1, 201))
def test_texts_in_cells_are_read_on_every_colour_of_the_scale(share):
    assert contrast(ink_on(share), colormaps[DIVERGING](0.5 + share / 2)) > 4.4
