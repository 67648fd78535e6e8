"""Results as arrays and words, and back: what is read again equals what was written.

A result is a number, a text, an array, a table, a tuple, list or mapping of these, or a frozen dataclass of the
packages that measure. It becomes one line of JSON, and behind it the bytes of its arrays. Nothing is pickled, reading
makes nothing but these, and nothing larger than what was written.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

Arrays = list[np.ndarray]
_NUMBERS_AND_TEXT = "biufU"
_WORDS = ("str", "object")  # dtypes of columns that are written as lists
_MOST_WORDS = 1 << 23  # bytes of JSON, which take up to thirty times as much once read; larger results are not kept
# Where the dataclasses of results are; no other is made again.
_MEASURING = ("biobgt.hubs.", "biobgt.modules.", "biobgt.model.", "biobgt.groups.")
_OWN = ("biobgt.atlas_regions", "biobgt.references", "biobgt.connectome", "biobgt.graph")


def to_bytes(result: Any) -> bytes:
    """A result as bytes; TypeError where it is none of those that can be written, or its words are too many."""
    arrays: Arrays = []
    words = encoded(result, arrays)
    kinds = [(one.dtype.str, one.shape, "F" if one.flags.fnc else "C") for one in arrays]  # sums depend on the order
    line = json.dumps({"words": words, "arrays": kinds}).encode()
    if len(line) > _MOST_WORDS:
        raise TypeError("The words of this result are too many to be written.")
    return b"".join((line, b"\n", *(one.tobytes("A") for one in arrays)))


def from_bytes(content: bytes) -> Any:
    """What :func:`to_bytes` wrote; ValueError where it did not write this."""
    line, _, rest = content.partition(b"\n")
    if len(line) > _MOST_WORDS:
        raise ValueError("more words than any result has")
    try:
        said = json.loads(line)
        return decoded(said["words"], _decoded_arrays(said["arrays"], rest))
    except Exception as error:  # what classes and pandas say to parts that are not theirs, whatever that is
        raise ValueError("These bytes are of no result.") from error


def _decoded_arrays(kinds: Any, content: bytes) -> Arrays:
    """Arrays that are exactly the bytes there are."""
    arrays, at = [], 0
    for named, shape, order in kinds:
        dtype = np.dtype(named)
        if dtype.kind not in _NUMBERS_AND_TEXT or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("no array of numbers or text")
        found = np.frombuffer(content, dtype, math.prod(shape), at)
        arrays.append(found.reshape(shape, order=order).copy(order))
        at += found.nbytes
    if at != len(content):
        raise ValueError("other bytes than those of the arrays")
    return arrays


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


def decoded(words: Any, arrays: Sequence[np.ndarray]) -> Any:
    """What :func:`encoded` wrote; ValueError, LookupError or TypeError where it did not write this."""
    if not isinstance(words, dict):
        return words
    match words:
        case {"array": int(number)}:
            return arrays[number]
        case {"scalar": int(number)}:
            return arrays[number].reshape(())[()]
        case {"tuple": parts}:
            return tuple(decoded(one, arrays) for one in parts)
        case {"list": parts}:
            return [decoded(one, arrays) for one in parts]
        case {"mapping": pairs}:
            return {decoded(name, arrays): decoded(one, arrays) for name, one in pairs}
        case {"table": columns, "labels": [index, names]}:
            rows = _decoded_labels(index, arrays)
            found = [_decoded_labels(column, arrays) for column in columns]
            if any(isinstance(one, pd.RangeIndex) or len(one) != len(rows) for one in found):
                raise ValueError("columns that are not as long as the table")
            table = {i: pd.Series(one.to_numpy(), index=rows, dtype=one.dtype) for i, one in enumerate(found)}
            return pd.DataFrame(table, index=rows).set_axis(_decoded_labels(names, arrays), axis="columns")
        case {"result": [module, name], "parts": parts}:
            return _result_class(module, name)(**{part: decoded(one, arrays) for part, one in parts.items()})
    raise ValueError("These words are of no result.")


def _encoded_array(values: np.ndarray, arrays: Arrays, kind: str) -> dict[str, int]:
    if values.dtype.kind not in _NUMBERS_AND_TEXT:
        raise TypeError(f"An array of {values.dtype} cannot be written without pickling.")
    arrays.append(values)
    return {kind: len(arrays) - 1}


def _encoded_labels(values: "pd.Index[Any] | pd.Series[Any]", arrays: Arrays) -> dict[str, Any]:
    """A column or the names of rows: numbers as an array, others as words."""
    about: dict[str, Any] = {"name": encoded(values.name, arrays), "dtype": str(values.dtype)}
    if isinstance(values, pd.RangeIndex):
        return about | {"range": [values.start, values.stop, values.step]}
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf":
        return about | encoded(values.to_numpy(), arrays)
    if str(values.dtype) not in _WORDS:
        raise TypeError(f"A column of {values.dtype} cannot be written.")
    return about | encoded(values.tolist(), arrays)


def _decoded_labels(words: Any, arrays: Sequence[np.ndarray]) -> "pd.Index[Any]":
    called = decoded(words["name"], arrays)
    if "range" in words:
        start, stop, step = words["range"]
        return pd.RangeIndex(start, stop, step, name=called)
    values = decoded({key: one for key, one in words.items() if key not in ("name", "dtype")}, arrays)
    if words["dtype"] not in (_WORDS if isinstance(values, list) else (str(values.dtype),)):
        raise ValueError("labels of another type than they say")
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
