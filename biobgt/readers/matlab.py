"""MATLAB files of version 5 (and 4), read by SciPy.

Only the variable that holds the data is read. Runs in a reading process (:mod:`biobgt.readers.isolated`): SciPy's
reader crashes on damaged headers and on cells within cells within cells.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import Limits
from biobgt.readers.foreign import allow_memory, library
from biobgt.readers.variables import Declared, check_variable, choose_variable, structure_error

_STRUCTURES = frozenset({"struct", "cell", "object", "function", "opaque"})
_KINDS = {"double": "f", "single": "f", "sparse": "f", "logical": "u", "char": "U"}
_KINDS |= {f"int{bits}": "i" for bits in (8, 16, 32, 64)} | {f"uint{bits}": "u" for bits in (8, 16, 32, 64)}
_UNPACKED, _WRITTEN_OUT = "Save it without compression", "Save it as a full matrix (in MATLAB: full), uncompressed"
_COPIES = 3  # the bytes as packed, as unpacked, and the array


def read(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], NDArray[Any]]:
    """Read the one variable that holds the data.

    Parameters
    ----------
    path : Path
    options : mapping
        ``variable``: the user's word on which one, or None.
    limits : Limits

    Returns
    -------
    dict
        ``variable``: its name.
    ndarray
    """
    with library("MATLAB data", ". Save it again with -v7."), path.open("rb") as file:
        classes = {name: (shape, kind) for name, shape, kind in scipy.io.whosmat(file)}
        limits.check("objects", len(classes), "The file")
        _refuse_structures({name: kind for name, (_, kind) in classes.items()}, options["variable"])
        declared = {
            name: Declared(tuple(int(n) for n in shape), _KINDS.get(kind, "O"), kind)
            for name, (shape, kind) in classes.items()
        }
        name = choose_variable(declared, options["variable"], limits)
        n_bytes = 8 * int(np.prod(declared[name].shape, dtype=object))
        advice = _WRITTEN_OUT if declared[name].type_name == "sparse" else _UNPACKED
        limits.check_growth(path.stat().st_size, n_bytes, f"The variable '{name[:80]}'", advice=advice)
        allow_memory(_COPIES * n_bytes, limits)
        file.seek(0)
        array = _dense(scipy.io.loadmat(file, mat_dtype=False, variable_names=[name])[name], name)
        found = Declared(array.shape, array.dtype.kind, str(array.dtype))
    check_variable(name, found, limits)
    return {"variable": name}, array


def _refuse_structures(kinds: Mapping[str, str], variable: str | None) -> None:
    chosen = {name: kind for name, kind in kinds.items() if variable is None or name == variable}
    if chosen and all(kind in _STRUCTURES for kind in chosen.values()):
        name, kind = next(iter(chosen.items()))
        raise structure_error(name, kind)


def _dense(value: Any, name: str) -> NDArray[Any]:
    """Write a sparse matrix out, once its indices are known to lie within it."""
    if not scipy.sparse.issparse(value):
        return np.asarray(value)
    try:
        value.check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise InputError(f"The sparse matrix '{name[:80]}' is damaged ({str(error)[:80]}). Save it again.") from None
    return np.asarray(value.toarray())
