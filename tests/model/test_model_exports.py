"""What ``biobgt.model`` offers, and what it costs to import."""

import subprocess
import sys

import pytest

import biobgt.model

READ_A_CARD = """
import sys
from biobgt.model import load_card, load_groups, load_pretrained, preset_named, pretrained_names
preset_named("best")
for name in pretrained_names():
    load_card(name), load_groups(name)
assert "torch" not in sys.modules, "torch was imported"
"""


def test_cards_are_read_without_torch() -> None:
    done = subprocess.run([sys.executable, "-c", READ_A_CARD], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", biobgt.model.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(biobgt.model, name) is not None


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = biobgt.model.nothing
