"""Results as arrays and words, and back: what is read again equals what was written.

A result is a number, a text, an array, a table, a tuple, list or mapping of these, or a frozen dataclass of the
packages that measure. Its arrays are put aside; everything else becomes JSON. Nothing is pickled, and reading makes
nothing but these.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

Arrays = dict[str, np.ndarray]
# Where the dataclasses of results are; no other is made again.
_MEASURING = ("biobgt.hubs.", "biobgt.modules.", "biobgt.model.", "biobgt.groups.")
_OWN = ("biobgt.atlas_regions", "biobgt.cited_work", "biobgt.connectome", "biobgt.graph")


def encoded(value: Any, arrays: Arrays) -> Any:
    """A result as JSON, with its arrays put aside; TypeError where it is none of those that can be written."""
    if isinstance(value, np.ndarray | np.generic):
        return _encoded_array(np.asarray(value), arrays, "scalar" if isinstance(value, np.generic) else "array")
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    if isinstance(value, tuple | list):
        return {"tuple" if isinstance(value, tuple) else "list": [encoded(one, arrays) for one in value]}
    if isinstance(value, Mapping):
        return {"mapping": [[encoded(name, arrays), encoded(one, arrays)] for name, one in value.items()]}
    if isinstance(value, pd.DataFrame):
        labels = [_encoded_labels(one, arrays) for one in (value.index, value.columns)]
        return {"table": [_encoded_labels(value[name], arrays) for name in value.columns], "labels": labels}
    kind = type(value)
    if _is_result(kind):
        parts = {one.name: encoded(getattr(value, one.name), arrays) for one in fields(value) if one.init}
        return {"result": [kind.__module__, kind.__qualname__], "parts": parts}
    raise TypeError(f"A {kind.__name__} cannot be written as arrays and words.")


def decoded(words: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """What :func:`encoded` wrote; ValueError, KeyError or TypeError where it did not write this."""
    if not isinstance(words, dict):
        return words
    match words:
        case {"array": name}:
            return arrays[name]
        case {"scalar": name}:
            return arrays[name][()]
        case {"tuple": parts}:
            return tuple(decoded(one, arrays) for one in parts)
        case {"list": parts}:
            return [decoded(one, arrays) for one in parts]
        case {"mapping": pairs}:
            return {decoded(name, arrays): decoded(one, arrays) for name, one in pairs}
        case {"table": columns, "labels": [index, names]}:
            rows = _decoded_labels(index, arrays)
            found = [_decoded_labels(column, arrays) for column in columns]
            table = {i: pd.Series(one.to_numpy(), index=rows, dtype=one.dtype) for i, one in enumerate(found)}
            return pd.DataFrame(table, index=rows).set_axis(_decoded_labels(names, arrays), axis="columns")
        case {"result": [module, name], "parts": parts}:
            return _result_class(module, name)(**{part: decoded(one, arrays) for part, one in parts.items()})
    raise ValueError("These words are of no result.")


def _encoded_array(values: np.ndarray, arrays: Arrays, kind: str) -> dict[str, str]:
    if values.dtype.kind not in "biufU":
        raise TypeError(f"An array of {values.dtype} cannot be written without pickling.")
    name = f"a{len(arrays)}"
    arrays[name] = values
    return {kind: name}


def _encoded_labels(values: "pd.Index[Any] | pd.Series[Any]", arrays: Arrays) -> dict[str, Any]:
    """A column or the names of rows: numbers as an array, others as words."""
    about: dict[str, Any] = {"name": encoded(values.name, arrays), "dtype": str(values.dtype)}
    if isinstance(values, pd.RangeIndex):
        return about | {"range": [values.start, values.stop, values.step]}
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf":
        return about | encoded(values.to_numpy(), arrays)
    if str(values.dtype) not in ("str", "object"):
        raise TypeError(f"A column of {values.dtype} cannot be written.")
    return about | encoded(values.tolist(), arrays)


def _decoded_labels(words: Any, arrays: Mapping[str, np.ndarray]) -> "pd.Index[Any]":
    called = decoded(words["name"], arrays)
    if "range" in words:
        start, stop, step = words["range"]
        return pd.RangeIndex(start, stop, step, name=called)
    values = decoded({key: one for key, one in words.items() if key not in ("name", "dtype")}, arrays)
    return pd.Index(values, dtype=words["dtype"], name=called)


def _is_result(kind: type) -> bool:
    """Whether a class is one of the frozen dataclasses of results."""
    place = kind.__module__
    known = place.startswith(_MEASURING) or place in _OWN
    return known and is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]


def _result_class(module: str, name: str) -> Any:
    if not (str(module).startswith(_MEASURING) or module in _OWN):
        raise ValueError(f"No result is a {module}.{name}.")
    kind = getattr(import_module(module), name, None)
    if not (isinstance(kind, type) and _is_result(kind)):
        raise ValueError(f"No result is a {module}.{name}.")
    return kind
