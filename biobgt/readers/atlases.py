"""A user's own atlas: a table of regions with MNI coordinates, or a BrainNet Viewer ``.node`` file."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.atlas import BUNDLED, Atlas, load_atlas
from biobgt.atlas_regions import FEWEST_REGIONS
from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.readers.guarding import one_refused_file
from biobgt.readers.phenotypes import is_known, read_table_of_words, read_words
from biobgt.wording import counted, listed

_NODES = ".node"
ATLAS_SUFFIXES = (".csv", ".tsv", _NODES)


def read_atlas(path: str | Path) -> Atlas:
    """Read a user's own atlas: a CSV/TSV table with x, y, z and label, or a BrainNet Viewer ``.node`` file.

    A table may also carry any number of further columns; each becomes a functional labelling.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no atlas file '{path}'.")
    what, limits = f"Atlas '{path.name}'", current_limits()
    with one_refused_file(what):
        text = read_words(path, limits, what)
        table = _parse_node_file(text, path) if path.suffix.lower() == _NODES else _parse_table(text, path)
        limits.check("regions", len(table), what)
        return _as_atlas(table, path)


def _as_atlas(table: pd.DataFrame, path: Path) -> Atlas:
    coordinates = _numeric_coordinates(table, path)
    labellings = {
        str(column): tuple(str(label) if is_known(label) else None for label in table[column])
        for column in table.columns
        if column not in {"x", "y", "z", "label"}
    }
    return Atlas(
        name=path.stem,
        title=path.stem,
        regions=_unique_names(str(label) if is_known(label) else "" for label in table["label"]),
        coordinates=coordinates,
        labels=labellings,
    )


def find_atlas(name_or_path: str | Path | Atlas) -> Atlas:
    """Return an atlas from itself, a bundled name, or the path of a table."""
    if isinstance(name_or_path, Atlas):
        return name_or_path
    text = str(name_or_path)
    if text.lower() in BUNDLED:
        return load_atlas(text.lower())
    if Path(text).suffix:
        return read_atlas(text)
    raise InputError(
        f"There is no atlas '{text}'. Bundled: {', '.join(BUNDLED)}. Your own is the path of a "
        f"{listed(ATLAS_SUFFIXES, 'or')} file."
    )


def _parse_table(text: str, path: Path) -> pd.DataFrame:
    table = read_table_of_words(text, f"Atlas '{path.name}'")
    table.columns = pd.Index([str(column).strip().lower() for column in table.columns])
    if table.columns.has_duplicates:
        raise InputError(f"Atlas '{path.name}' has two columns named '{table.columns[table.columns.duplicated()][0]}'.")
    missing = [column for column in ("x", "y", "z", "label") if column not in table.columns]
    if missing:
        raise InputError(
            f"Atlas '{path.name}' has no column {', '.join(missing)}. It needs x, y, z and label; "
            f"it has {', '.join(map(str, table.columns[:8]))}."
        )
    return table


def _parse_node_file(text: str, path: Path) -> pd.DataFrame:
    """Parse BrainNet Viewer's x y z colour size label, by white space; '#' opens a comment line, '-' is no label."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    current_limits().check("regions", len(lines), f"Atlas '{path.name}'")
    rows = [line.split(None, 5) for line in lines]
    short = next((row for row in rows if len(row) < 3), None)
    if not rows or short is not None:
        raise InputError(
            f"'{path.name}' has a row of {len(short or [])} columns; a .node file has x, y, z, colour, size and label."
        )
    names = [row[5].strip() if len(row) > 5 and row[5].strip() != "-" else "" for row in rows]
    numbered = [name or f"Region {i}" for i, name in enumerate(names, start=1)]
    return pd.DataFrame([row[:3] for row in rows], columns=["x", "y", "z"]).assign(label=numbered)


def _numeric_coordinates(table: pd.DataFrame, path: Path) -> NDArray[np.float64]:
    coordinates = table[["x", "y", "z"]].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    bad = np.flatnonzero(~np.isfinite(coordinates).all(axis=1))
    if bad.size:
        raise InputError(f"Atlas '{path.name}': row {bad[0] + 1} has a coordinate that is not a number.")
    if len(coordinates) < FEWEST_REGIONS:
        n_regions = counted(len(coordinates), "region")
        raise InputError(f"Atlas '{path.name}' has {n_regions}; at least {FEWEST_REGIONS} are needed.")
    if np.abs(coordinates).max() > 200:
        raise InputError(
            f"Atlas '{path.name}' has a coordinate of {np.abs(coordinates).max():g}; "
            "MNI coordinates in mm stay within 200 of the origin."
        )
    return coordinates


def _unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Add the region's number to names that stand more than once."""
    names = [name.strip() or "Region" for name in names]
    repeated = {name for name, count in Counter(names).items() if count > 1}
    return tuple(f"{name} ({i})" if name in repeated else name for i, name in enumerate(names, start=1))
