"""Tables of the commands are, cell by cell, those that an earlier version wrote."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_tables import COMMANDS, DEMO, RAW, STORED, draw_demo, read_cells, stored_path

RELATIVE = 1e-6
LAST_DIGIT = 1.01e-6  # of a prediction, which has six decimals
REMAKE = "if it is meant to differ, write it again with: python tests/command_tables.py"


def numbers(cells: pd.Series) -> pd.Series:
    return pd.to_numeric(cells, errors="coerce")


def unequal(found: pd.DataFrame, stored: pd.DataFrame, *, absolute: float = 1e-12) -> list[str]:
    """Cells that differ: numbers by more than the tolerance, all others in any letter."""
    assert list(found.columns) == list(stored.columns)
    assert len(found) == len(stored)
    different = []
    for column in stored:
        values, expected = numbers(found[column]), numbers(stored[column])
        alike = np.isclose(values, expected, rtol=RELATIVE, atol=absolute) | (found[column] == stored[column])
        different += [
            f"{column}, row {row}: {found[column][row]}, not {stored[column][row]}" for row in np.flatnonzero(~alike)
        ]
    return different


def check(cohort: str, name: str, data: Path, out: Path) -> None:
    for table, found in COMMANDS[cohort][name].run(data, out).items():
        path = stored_path(cohort, name, table)
        absolute = LAST_DIGIT if name == "predictions.csv" else 1e-12
        different = unequal(found, read_cells(path), absolute=absolute)
        assert not different, f"{path.relative_to(STORED)}: {REMAKE}"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people per group of the demo cohort ``ad``; its name stands in the tables of settings."""
    return draw_demo(tmp_path_factory.mktemp("cohort") / "demo")


@pytest.mark.parametrize("name", COMMANDS[DEMO])
def test_tables_of_the_demo(name: str, demo: Path, tmp_path: Path) -> None:
    check(DEMO, name, demo, tmp_path / name)


@pytest.mark.parametrize("name", COMMANDS[RAW])
def test_tables_of_real_subjects(name: str, shared_data: Path, tmp_path: Path) -> None:
    check(RAW, name, shared_data, tmp_path / name)


def test_a_changed_cell_is_seen() -> None:
    stored = pd.DataFrame({"region": ["a", "b"], "value": ["0.25", ""], "hub": ["True", "False"]})
    assert unequal(stored.assign(value=["0.2500001", ""]), stored) == []
    assert unequal(stored.assign(value=["0.250001", ""]), stored) == ["value, row 0: 0.250001, not 0.25"]
    assert unequal(stored.assign(value=["", "0.25"]), stored) == [
        "value, row 0: , not 0.25",
        "value, row 1: 0.25, not ",
    ]
    assert unequal(stored.assign(region=["b", "a"]), stored)[0] == "region, row 0: b, not a"
