"""A user's own map over regions: a table with a region and a value in each row, put in the order of an atlas."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError
from biobgt.base.wording import counted, listed
from biobgt.data.atlas import Atlas
from biobgt.readers.foreign.isolate import one_refused_file
from biobgt.readers.tables import is_number, read_table_of_words, read_words

_REGION_COLUMNS = ("region", "name", "label", "roi", "parcel", "number", "index")
_MOST_NAMED = 5


def read_map(path: str | Path, atlas: Atlas, *, column: str = "") -> FloatArray:
    """Read a map from a text table with a header, such as ``region,value``.

    Parameters
    ----------
    path : str or Path
    atlas : Atlas
        Regions go by its names, or by their numbers from 1.
    column : str
        The column of values, where the table has several of numbers.

    Returns
    -------
    ndarray, shape (n_regions,)
        NaN where a region is not in the table or its value is missing.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no map '{path}'.")
    what = f"Map '{path.name}'"
    with one_refused_file(what):
        table = read_table_of_words(read_words(path, what), what)
        if any(is_number(str(name), ".") for name in table.columns):
            raise InputError(f"{what} has no header. Its first line names the columns: region,value.")
        regions, values = _columns(table, column, what)
        places = _places(regions, atlas, what)
        found = np.full(atlas.n_regions, np.nan)
        found[places] = values
    if not np.isfinite(found).any():
        raise InputError(f"{what} has no value for any region of atlas {atlas.name}.")
    return found


def _columns(table: pd.DataFrame, column: str, what: str) -> tuple[list[str], FloatArray]:
    """The region and the value of each row."""
    lower = [str(name).strip().lower() for name in table.columns]
    if len(set(lower)) < len(lower):
        raise InputError(f"{what} has two columns of the same name.")
    named = [name for name in _REGION_COLUMNS if name in lower]
    if not named:
        raise InputError(f"{what} does not say which region a row is: it needs a column 'region' of names or numbers.")
    table = table.set_axis(lower, axis=1)
    others = [name for name in lower if name not in named and pd.api.types.is_numeric_dtype(table[name])]
    chosen = (
        column.strip().lower() if column else "value" if "value" in others else others[0] if len(others) == 1 else ""
    )
    if chosen not in others:
        if not others:
            raise InputError(f"{what} has no column of numbers beside that of regions.")
        wanted = f"There is no column of numbers '{column}'" if column else "It is not clear which are the values"
        raise InputError(f"{what} has the columns of numbers {listed(others)}. {wanted}: name one of them (`column`).")
    values = table[chosen].to_numpy(np.float64)
    if np.isinf(values).any():
        raise InputError(f"{what} has an infinite value in row {int(np.argmax(np.isinf(values))) + 2}.")
    regions = table[named[0]].tolist()
    return [f"{one:g}" if isinstance(one, float) else str(one).strip() for one in regions], values


def _places(words: list[str], atlas: Atlas, what: str) -> list[int]:
    """The place of each row in the atlas."""
    place = {str(number): number - 1 for number in range(1, atlas.n_regions + 1)}
    if not all(word in place for word in words):
        place = {name: number for number, name in enumerate(atlas.regions)}
        words = list(atlas.own_names(words))
    if strange := [word for word in words if word not in place]:
        more = f" and {len(strange) - _MOST_NAMED:,} more" if len(strange) > _MOST_NAMED else ""
        raise InputError(
            f"{what} has {counted(len(strange), 'row')} of regions that atlas {atlas.name} does not have: "
            f"{', '.join(repr(one[:40]) for one in strange[:_MOST_NAMED])}{more}. Choose its own atlas, or its names."
        )
    if repeated := [word for word, n in Counter(words).items() if n > 1]:
        raise InputError(f"{what} has two rows of region '{repeated[0]}'; keep one.")
    return [place[word] for word in words]
