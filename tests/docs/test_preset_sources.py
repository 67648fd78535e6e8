"""Every setting of the paper's presets is told to be the paper's or ours, in code and in the documentation."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from biobgt.model.presets import OWN_PRESET, PRESETS, Preset, PresetName
from docs.tools.preset_sources import PAPER_PRESETS, SOURCES, sources_table
from docs.tools.tables import expanded

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT.parent / "shared" / "paper.tex"
# Rows of the paper's table of hyperparameters, and the settings that hold them.
ROWS = {
    r"\#Layers": "layers",
    r"\#Attention heads": "heads",
    "Threshold of edge weight": "threshold",
    "Hidden dimensions": "width",
    "FFN hidden dimensions": "ffn",
    "Dropout": "dropout",
    "Readout method": "readout",
    "Learning rate": "learning_rate",
    "Batch size": "batch_size",
    r"\#Epochs": "epochs",
    "Weight decay": "weight_decay",
    "Warm-up Steps": "warmup_epochs",
}


def test_every_setting_has_a_source() -> None:
    assert set(SOURCES) == {field.name for field in fields(Preset)} - {"name"}
    for name, source in SOURCES.items():
        assert source.paper or source.ours, name


def test_the_documentation_has_the_table() -> None:
    text = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
    assert sources_table() in expanded(text)


def test_settings_that_differ_from_the_paper_are_called_ours() -> None:
    for name in ("patience", "contrast_weight", "contrast_anchors", "clip", "warmup_epochs", "contrast_temperature"):
        assert SOURCES[name].ours, name


def test_unused_settings_are_the_same_in_all_paper_presets() -> None:
    unused = [name for name, source in SOURCES.items() if source.ours.startswith("not used")]
    assert "ridge_start" in unused
    for name in unused:
        assert len({getattr(PRESETS[preset], name) for preset in PAPER_PRESETS}) == 1
        assert f"`{name}`" not in sources_table()


def test_the_paper_presets_hold_the_papers_table() -> None:
    if not PAPER.exists():
        pytest.skip("The paper's text is not beside the project.")
    table = PAPER.read_text(encoding="utf-8")
    for row, setting in ROWS.items():
        found = re.search(rf"^\s*{re.escape(row)}((?:&[^&\\]+){{3}})\\\\", table, flags=re.MULTILINE)
        assert found is not None, row
        for preset, printed in zip(PAPER_PRESETS, found[1].removeprefix("&").split("&"), strict=True):
            value = getattr(PRESETS[preset], setting)
            assert (float(printed) if setting != "readout" else printed) == value, (preset, setting)


def test_the_paper_presets_train_the_published_epochs() -> None:
    for preset in PAPER_PRESETS:
        assert (PRESETS[preset].epochs, PRESETS[preset].patience) == (200, 0)


def test_the_command_line_names_every_preset():
    assert set(get_args(PresetName)) == {*PRESETS} == {*PAPER_PRESETS, OWN_PRESET}
