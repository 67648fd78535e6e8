"""Tables of the commands are, cell by cell, those that an earlier version wrote.

``python tests/cli/test_command_tables.py`` writes them again. Large tables are kept with some of their columns. Of the
real subjects only computed tables are kept: one person's hubs and modules, what a model says of one, and a comparison
of groups.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from biobgt.cli.main import app

STORED = Path(__file__).parents[1] / "earlier" / "tables"
SHARED_DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
DEMO, RAW = "demo", "raw"

_COMPARED = ("node_entanglement", "node_efficiency", "fc_strength")
_OTHERS = ("vertex_entanglement", "local_efficiency", "degree", "betweenness", "closeness", "eigenvector")
_EVERY_HUB = ("region", *(f"{one}{part}" for one in (*_COMPARED, *_OTHERS) for part in ("", "_rank", "_z", "_hub")))
_HUBS = ("region", *_COMPARED, *(f"{measure}_hub" for measure in _COMPARED))
_GROUP_HUBS = ("group", "region", "node_entanglement_mean", "node_entanglement_sd")
_MODULES = ("region", "module", "participation", "role")
_EFFECTS = ("feature", "mean_NC", "mean_AD", "d", "p", "p_family", "q", "covariates")
_OF_MODULES = ("module_groups.csv", "module_summary.csv", "module_settings.csv")
_COMPARE = "compare {data} --groups NC AD --permutations 200"
_ONE_PERSON = "{data}/raw/abide --pattern NYU_0050952*"


# What is typed, without ``--out``, and the tables to keep of what it writes, with the columns to keep; none named: all.
# ``{data}`` is the folder of the demo's files, or of the real cohorts; the path '' is a result that is one table.
COMMANDS: dict[str, dict[str, tuple[str, Mapping[str, tuple[str, ...]]]]] = {
    DEMO: {
        "hubs": (
            "hubs {data}",
            {
                "hubs/sim-AD-001.csv": _EVERY_HUB,
                "hub_groups.csv": _GROUP_HUBS,
                **dict.fromkeys(("hub_agreement.csv", "hub_agreement_summary.csv", "hub_settings.csv"), ()),
            },
        ),
        "modules": (
            "modules {data}",
            dict.fromkeys((*(f"modules/sim-{one}.csv" for one in ("AD-001", "NC-002")), *_OF_MODULES), ()),
        ),
        "compare_blocks": (_COMPARE, {"compare_fc-blocks.csv": ()}),
        "compare_segregation": (f"{_COMPARE} --of segregation", {"compare_segregation.csv": ()}),
        "compare_hubs": (f"{_COMPARE} --of hubs", {"compare_hubs.csv": _EFFECTS}),
        "compare_modules": (
            f"{_COMPARE} --of modules",
            {"compare_modules.csv": (), "compare_modules_regions.csv": ()},
        ),
        "predictions.csv": ("predict {data} --model adsim-aal90", {"": ()}),
    },
    RAW: {
        "hubs": (f"hubs {_ONE_PERSON}", {"hubs/NYU_0050952.csv": _HUBS, "hub_agreement.csv": ()}),
        "modules": (f"modules {_ONE_PERSON}", {"modules/NYU_0050952.csv": _MODULES, "module_summary.csv": ()}),
        "compare_blocks": (
            "compare {data}/raw/abide --phenotypes {data}/abide_phenotypes.csv --groups NC ASD --covariate none"
            " --permutations 200",
            {"compare_fc-blocks.csv": ()},
        ),
        "predictions.csv": (f"predict {_ONE_PERSON} --model abide-cc200", {"": ()}),
    },
}


def written(cohort: str, name: str, data: Path, out: Path) -> dict[str, pd.DataFrame]:
    """Run a command; the tables to keep, by path, with every cell as the text that was written."""
    typed, tables = COMMANDS[cohort][name]
    how = ("--device", "cpu") if typed.startswith("predict") else ("--workers", "1")
    run(*typed.format(data=data).split(), *how, "--out", str(out))
    cells = {table: read_cells(out / table) for table in tables}
    return {table: cells[table][list(columns)] if columns else cells[table] for table, columns in tables.items()}


def run(*typed: str) -> None:
    """Run a command in this process."""
    ended = CliRunner().invoke(app, typed, env={"COLUMNS": "200"})
    assert ended.exit_code == 0, ended.output


def draw_demo(folder: Path) -> Path:
    """Write the files of two people per group of the demo cohort ``ad``."""
    run("demo", "ad", "--n-per-group", "2", "--out", str(folder))
    return folder


def read_cells(path: Path) -> pd.DataFrame:
    """A table with every cell as the text that was written."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def _write_all() -> None:
    with tempfile.TemporaryDirectory() as folder:
        places = {DEMO: draw_demo(Path(folder) / "demo"), RAW: SHARED_DATA}
        for cohort, commands in COMMANDS.items():
            if not places[cohort].is_dir():
                print(f"Left as they are: tables of {cohort}, for {places[cohort]} is not here.")
                continue
            for name in commands:
                for table, cells in written(cohort, name, places[cohort], Path(folder) / cohort / name).items():
                    path = STORED / cohort / name / table
                    path.parent.mkdir(parents=True, exist_ok=True)
                    cells.to_csv(path, index=False, lineterminator="\n")


RELATIVE = 1e-6
LAST_DIGIT = 1.01e-6  # of a prediction, which has six decimals
REMAKE = "if it is meant to differ, write it again with: python tests/cli/test_command_tables.py"


def unequal(found: pd.DataFrame, stored: pd.DataFrame, *, absolute: float = 1e-12) -> list[str]:
    """Cells that differ: numbers by more than the tolerance, all others in any letter."""
    assert list(found.columns) == list(stored.columns)
    assert len(found) == len(stored)
    different = []
    for column in stored:
        values, expected = (pd.to_numeric(table[column], errors="coerce") for table in (found, stored))
        alike = np.isclose(values, expected, rtol=RELATIVE, atol=absolute) | (found[column] == stored[column])
        different += [
            f"{column}, row {row}: {found[column][row]}, not {stored[column][row]}" for row in np.flatnonzero(~alike)
        ]
    return different


def check(cohort: str, name: str, data: Path, out: Path) -> None:
    for table, found in written(cohort, name, data, out).items():
        path = STORED / cohort / name / table
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


if __name__ == "__main__":
    _write_all()
