"""A user's own atlas: a table of regions with MNI coordinates, or a BrainNet Viewer ``.node`` file."""

from collections.abc import Iterable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.atlas import BUNDLED, Atlas, load_atlas
from biobgt.errors import InputError
from biobgt.readers.text import decode, find_separator


def read_atlas(path: str | Path) -> Atlas:
    """Read a user's own atlas: a CSV/TSV table with x, y, z and label, or a BrainNet Viewer ``.node`` file.

    A table may also carry any number of further text columns; each becomes a functional labelling.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no atlas file '{path}'.")
    try:
        text = decode(path.read_bytes())
        table = _parse_node_file(text, path) if path.suffix.lower() == ".node" else _parse_table(text, path)
    except pd.errors.ParserError:
        raise InputError(
            f"'{path.name}' is not a table. An atlas is a CSV or TSV with the columns x, y, z and label, "
            "or a BrainNet Viewer .node file."
        ) from None
    coordinates = _numeric_coordinates(table, path)
    labellings = {
        str(column): tuple(None if label == "" else str(label) for label in table[column])
        for column in table.columns
        if column not in {"x", "y", "z", "label"} and table[column].dtype.kind not in "fiu"
    }
    return Atlas(
        name=path.stem,
        title=path.stem,
        regions=_unique_names(table["label"].astype(str)),
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
        f"There is no atlas '{text}'. Bundled: {', '.join(BUNDLED)}. Your own is the path of a CSV, TSV or .node file."
    )


def _parse_table(text: str, path: Path) -> pd.DataFrame:
    separator, decimal = find_separator(text.splitlines()[0])
    table = pd.read_csv(StringIO(text), sep=separator, decimal=decimal, keep_default_na=False)
    table.columns = table.columns.str.strip().str.lower()
    missing = [column for column in ("x", "y", "z", "label") if column not in table.columns]
    if missing:
        raise InputError(
            f"Atlas '{path.name}' has no column {', '.join(missing)}. It needs x, y, z and label; "
            f"it has {', '.join(map(str, table.columns[:8]))}."
        )
    return table


def _parse_node_file(text: str, path: Path) -> pd.DataFrame:
    # BrainNet Viewer: x y z colour size label, by white space; '#' comments; '-' for no label.
    table = pd.read_csv(StringIO(text), sep=r"\s+", header=None, comment="#", keep_default_na=False)
    if table.shape[1] < 3:
        raise InputError(
            f"'{path.name}' has {table.shape[1]} columns; a .node file has x, y, z, colour, size and label."
        )
    columns = ["x", "y", "z", "colour", "size", "label"][: table.shape[1]]
    table = table.iloc[:, :6].set_axis(columns, axis=1)
    numbers = pd.Series([f"Region {i}" for i in range(1, len(table) + 1)])
    names = table["label"].astype(str) if "label" in table else numbers
    table["label"] = names.where(names != "-", numbers)
    return table


def _numeric_coordinates(table: pd.DataFrame, path: Path) -> NDArray[np.float64]:
    coordinates = table[["x", "y", "z"]].apply(pd.to_numeric, errors="coerce").to_numpy(float)
    bad = np.flatnonzero(~np.isfinite(coordinates).all(axis=1))
    if bad.size:
        raise InputError(f"Atlas '{path.name}': row {bad[0] + 1} has a coordinate that is not a number.")
    if len(coordinates) < 2:
        raise InputError(f"Atlas '{path.name}' has {len(coordinates)} regions; at least 2 are needed.")
    if np.abs(coordinates).max() > 200:
        raise InputError(
            f"Atlas '{path.name}' has a coordinate of {np.abs(coordinates).max():g}; "
            "MNI coordinates in mm stay within 200 of the origin."
        )
    return coordinates


def _unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Number the names that stand more than once: ``Insula``, ``Insula`` become ``Insula (1)``, ``Insula (2)``."""
    names = [name.strip() for name in names]
    repeated = {name for name in names if names.count(name) > 1}
    return tuple(f"{name} ({i})" if name in repeated else name for i, name in enumerate(names, start=1))
