"""What it costs to read a card."""

import subprocess
import sys

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
