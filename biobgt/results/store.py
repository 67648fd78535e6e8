"""Measured results in a folder, as arrays and words, so that the next command need not measure them again."""

import errno
import hmac
import json
import math
import os
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import import_module
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

import biobgt
from biobgt.base.errors import InputError
from biobgt.base.files import data_folder, is_own, open_regular, private_file
from biobgt.base.kept import Key, warn_not_kept
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.modules.measures import MODULE_MEASURES

# Results as arrays and words, and back: what is read again equals what was written.
#
# A result is a number, a text, an array, a table, a tuple, list or mapping of these, or a frozen dataclass of the
# packages that measure. It becomes one line of JSON, and behind it the bytes of its arrays. Nothing is pickled,
# reading makes nothing but these, and nothing larger than what was written.


Arrays = list[np.ndarray]
_NUMBERS_AND_TEXT = "biufU"
_WORDS = ("str", "object")  # dtypes of columns that are written as lists
_MOST_WORDS = 1 << 23  # bytes of JSON, which take up to thirty times as much once read; larger results are not kept
# Where the dataclasses of results are; no other is made again.
_MEASURING = ("biobgt.hubs.", "biobgt.modules.", "biobgt.model.", "biobgt.inference.", "biobgt.groups.")
_OWN = ("biobgt.data.atlas", "biobgt.base.references", "biobgt.data.connectivity", "biobgt.data.graph")


def _to_bytes(result: Any) -> bytes:
    """A result as bytes; TypeError where it is none of those that can be written, or its words are too many."""
    arrays: Arrays = []
    words = _encoded(result, arrays)
    kinds = [(one.dtype.str, one.shape, "F" if one.flags.fnc else "C") for one in arrays]  # sums depend on the order
    line = json.dumps({"words": words, "arrays": kinds}).encode()
    if len(line) > _MOST_WORDS:
        raise TypeError("The words of this result are too many to be written.")
    return b"".join((line, b"\n", *(one.tobytes("A") for one in arrays)))


def _from_bytes(content: bytes) -> Any:
    """What :func:`_to_bytes` wrote; ValueError where it did not write this."""
    line, _, rest = content.partition(b"\n")
    if len(line) > _MOST_WORDS:
        raise ValueError("more words than any result has")
    try:
        said = json.loads(line)
        return _decoded(said["words"], _decoded_arrays(said["arrays"], rest))
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


def _encoded(value: Any, arrays: Arrays) -> Any:
    """A result as JSON, with its arrays put aside; TypeError where it is none of those that can be written."""
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind not in _NUMBERS_AND_TEXT:
            raise TypeError(f"An array of {value.dtype} cannot be written without pickling.")
        arrays.append(np.asarray(value))
        return {"scalar" if isinstance(value, np.generic) else "array": len(arrays) - 1}
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    if isinstance(value, tuple | list):
        return {"tuple" if isinstance(value, tuple) else "list": [_encoded(one, arrays) for one in value]}
    if isinstance(value, Mapping):
        return {"mapping": [[_encoded(name, arrays), _encoded(one, arrays)] for name, one in value.items()]}
    if isinstance(value, pd.DataFrame):
        labels = [_encoded_labels(one, arrays) for one in (value.index, value.columns)]
        return {"table": [_encoded_labels(value[name], arrays) for name in value.columns], "labels": labels}
    kind = type(value)
    if _is_result(kind):
        parts = {one.name: _encoded(getattr(value, one.name), arrays) for one in fields(value) if one.init}
        return {"result": [kind.__module__, kind.__qualname__], "parts": parts}
    raise TypeError(f"A {kind.__name__} cannot be written as arrays and words.")


def _decoded(words: Any, arrays: Sequence[np.ndarray]) -> Any:
    """What :func:`_encoded` wrote; ValueError, LookupError or TypeError where it did not write this."""
    if not isinstance(words, dict):
        return words
    match words:
        case {"array": int(number)}:
            return arrays[number]
        case {"scalar": int(number)}:
            return arrays[number].reshape(())[()]
        case {"tuple": parts}:
            return tuple(_decoded(one, arrays) for one in parts)
        case {"list": parts}:
            return [_decoded(one, arrays) for one in parts]
        case {"mapping": pairs}:
            return {_decoded(name, arrays): _decoded(one, arrays) for name, one in pairs}
        case {"table": columns, "labels": [index, names]}:
            rows = _decoded_labels(index, arrays)
            found = [_decoded_labels(column, arrays) for column in columns]
            if any(isinstance(one, pd.RangeIndex) or len(one) != len(rows) for one in found):
                raise ValueError("columns that are not as long as the table")
            table = {i: pd.Series(one.to_numpy(), index=rows, dtype=one.dtype) for i, one in enumerate(found)}
            return pd.DataFrame(table, index=rows).set_axis(_decoded_labels(names, arrays), axis="columns")
        case {"result": [module, name], "parts": parts}:
            kind: Any = getattr(import_module(module), name, None) if _is_of_results(str(module)) else None
            if not _is_result(kind):
                raise ValueError(f"No result is a {module}.{name}.")
            return kind(**{part: _decoded(one, arrays) for part, one in parts.items()})
    raise ValueError("These words are of no result.")


def _encoded_labels(values: "pd.Index[Any] | pd.Series[Any]", arrays: Arrays) -> dict[str, Any]:
    """A column or the names of rows: numbers as an array, others as words."""
    about: dict[str, Any] = {"name": _encoded(values.name, arrays), "dtype": str(values.dtype)}
    if isinstance(values, pd.RangeIndex):
        return about | {"range": [values.start, values.stop, values.step]}
    if isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf":
        return about | _encoded(values.to_numpy(), arrays)
    if str(values.dtype) not in _WORDS:
        raise TypeError(f"A column of {values.dtype} cannot be written.")
    return about | _encoded(values.tolist(), arrays)


def _decoded_labels(words: Any, arrays: Sequence[np.ndarray]) -> "pd.Index[Any]":
    called = _decoded(words["name"], arrays)
    if "range" in words:
        start, stop, step = words["range"]
        return pd.RangeIndex(start, stop, step, name=called)
    values = _decoded({key: one for key, one in words.items() if key not in ("name", "dtype")}, arrays)
    if words["dtype"] not in (_WORDS if isinstance(values, list) else (str(values.dtype),)):
        raise ValueError("labels of another type than they say")
    return pd.Index(values, dtype=words["dtype"], name=called)


def _is_result(kind: Any) -> bool:
    """Whether it is one of the frozen dataclasses of results."""
    known = isinstance(kind, type) and _is_of_results(kind.__module__) and is_dataclass(kind)
    return known and kind.__dataclass_params__.frozen


def _is_of_results(module: str) -> bool:
    return module.startswith(_MEASURING) or module in _OWN


# Measured results in a folder, so that the next command need not measure them again.
#
# A file is the user's alone: its bytes are encrypted and authenticated with a key that lies in the user's data folder,
# so that nobody else can read who was measured, or write a number that comes out as a result. A file that was not
# written with this key, for exactly this result, is not read any further: the result is measured again.


_LARGEST = 1 << 30  # bytes of a result; a larger file is none of ours
_KEY_BYTES = 64  # of AES-SIV (RFC 5297) with AES-256, whose files need no nonce: the same result gives the same file


class FolderStore:
    """Results of one cohort in a folder.

    Parameters
    ----------
    folder : Path
        Made when something is first kept in it, for this user alone.
    cohort : str
        What tells the cohort's numbers from any other's, such as their SHA-256.
    room : int, optional
        Bytes that all files of the folder may take; what does not fit is not kept.

    Attributes
    ----------
    trouble : str
        Why results are no longer kept, such as a full disk; empty while they are.

    Raises
    ------
    InputError
        For a folder that is another user's, or that others can write to.
    """

    def __init__(self, folder: Path, cohort: str, *, room: int | None = None) -> None:
        self.folder, self.cohort, self.trouble = folder, cohort, ""
        if folder.exists() and not is_own(folder.stat()):
            raise InputError(
                f"The folder '{folder}' belongs to somebody else, or others can write to it. Results are kept in a "
                "folder of your own: name a new one, or take the right to write from others (chmod go-w)."
            )
        self._room = None if room is None else room - sum(one.stat().st_size for one in folder.glob("*.result"))
        try:
            self._key = _user_key()  # goes along to other machines of a cluster, whatever their data folders
        except OSError as error:
            self._key = secrets.token_bytes(_KEY_BYTES)
            self._stop_keeping(f"the key for them cannot be kept in '{data_folder()}' ({error.strerror})")

    def get(self, key: Key) -> Any | None:
        """A result, or None where it is not kept, or its file is damaged or another's."""
        depends = self._depends(key)
        try:
            content = _read_private(self._path(key, depends), _LARGEST)
            return _from_bytes(AESSIV(self._key).decrypt(content, [depends]))
        except (OSError, ValueError, InvalidTag):
            return None

    def put(self, key: Key, result: Any) -> None:
        """Keep a result, if it can be written; its file appears whole or not at all."""
        if self.trouble:
            return
        depends = self._depends(key)
        try:
            content = AESSIV(self._key).encrypt(_to_bytes(result), [depends])
            if len(content) > (_LARGEST if self._room is None else min(_LARGEST, self._room)):
                return
            with private_file(self._path(key, depends)) as stream:
                stream.write(content)
            if self._room is not None:
                self._room -= len(content)
        except TypeError:
            return
        except OSError as error:
            self._stop_keeping(f"'{self.folder}' cannot be written to ({error.strerror})")

    def _stop_keeping(self, why: str) -> None:
        """Keep no further results and say so; processes that a job started leave it to the job to say it once."""
        self.trouble = why
        if parent_process() is None:
            warn_not_kept(why)

    def _depends(self, key: Key) -> bytes:
        """All that a result depends on: tables also on which measures there are."""
        registers = (tuple(HUB_MEASURES), tuple(MODULE_MEASURES))
        depends = (biobgt.__version__, self.cohort, registers, key.name, key.about)
        return hmac.digest(self._key, repr(depends).encode(errors="surrogatepass"), "sha256")

    def _path(self, key: Key, depends: bytes) -> Path:
        return self.folder / f"{key.name}-{depends.hex()[:32]}.result"


def _user_key() -> bytes:
    """The key of this user, made when it is first needed, and anew where others may have seen it."""
    path = data_folder() / "results.key"
    try:
        found = _read_private(path, _KEY_BYTES)
    except OSError:
        found = b""
    if len(found) < _KEY_BYTES:
        with private_file(path) as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
        found = _read_private(path, _KEY_BYTES)  # another process may have made it at the same time
    return found


def _read_private(path: Path, most: int) -> bytes:
    """Read what ``private_file`` wrote; OSError for what others own or can read, links, pipes and larger files."""
    with open_regular(path) as stream:
        about = os.fstat(stream.fileno())
        if not is_own(about, 0o077) or about.st_size > most:
            raise PermissionError(errno.EPERM, "not a file of this user's alone", str(path))
        return stream.read(most)
