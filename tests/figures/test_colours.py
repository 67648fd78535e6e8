"""A colour is written down once: whoever needs it again takes it by its name."""

import re
from collections import defaultdict
from pathlib import Path

import biobgt

ROOT = Path(biobgt.__file__).parents[1]


def test_no_colour_is_written_twice():
    places = defaultdict(list)
    for path in [*ROOT.glob("biobgt/**/*.py"), *ROOT.glob("app/**/*.py")]:
        for colour in re.findall(r"[\"'](#[0-9A-Fa-f]{6})[\"']", path.read_text(encoding="utf-8")):
            places[colour.upper()].append(path.relative_to(ROOT).as_posix())
    assert {colour: found for colour, found in places.items() if len(found) > 1} == {}
