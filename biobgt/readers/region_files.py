"""Names and places of regions, in files that lie beside matrices: those of The Virtual Brain and of the NBS toolbox.

A connectome of The Virtual Brain is ``weights.txt``: ``centres.txt`` has the names of its regions and their places,
``tract_lengths.txt`` the lengths of tracts in mm. Each may be compressed (``.bz2``), and areas, orientations and the
like are left aside. A stack of matrices may have ``nodeLabels.txt`` and ``COG.txt`` beside it, as the NBS toolbox has:
such a file counts only where it has as many lines as the matrices have regions.
"""

import bz2
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np

from biobgt.base.arrays import FloatArray
from biobgt.base.errors import InputError, first_line
from biobgt.base.limits import current_limits
from biobgt.readers.measurement import Reading
from biobgt.readers.tables import decode, read_text

_WEIGHTS, _CENTRES, _LENGTHS = "weights", ("centres", "centers"), "tract_lengths"
_ALSO_BESIDE = ("areas", "average_orientations", "orientations", "cortical", "hemisphere", "hemispheres", "info")
_BESIDE = frozenset({*_CENTRES, _LENGTHS, *_ALSO_BESIDE})
_ENDINGS = (".txt", ".txt.bz2")
_LABELS, _PLACES = "nodelabels.txt", "cog.txt"  # of a stack
_STACKS = (".mat", ".npy", ".npz", ".h5", ".hdf5")
_FARTHEST_MM = 200.0  # from the origin, of a place in a head
_PIECE = 2**20


def is_beside_matrices(path: Path) -> bool:
    """Whether a file lies beside matrices that it belongs to, and is read with them."""
    if path.name.lower() in (_LABELS, _PLACES):
        return any(file.suffix.lower() in _STACKS for file in path.parent.iterdir())
    named = any(_is_named(path, name) for name in _BESIDE)
    weights = _beside(path, _WEIGHTS) if named else None
    return weights is not None and is_weights(weights)


# The Virtual Brain.


def unpacked(path: Path) -> BytesIO:
    """The bytes of a table, which may be compressed by bzip2; no more of them than a table may have."""
    limits = current_limits()
    limits.check("text_bytes", path.stat().st_size, "The file")
    content = path.read_bytes()
    if not content.startswith(b"BZh"):
        return BytesIO(content)
    unpacker, pieces, n_bytes = bz2.BZ2Decompressor(), [], 0
    try:
        while not unpacker.eof:
            pieces.append(unpacker.decompress(content, max_length=_PIECE))
            content = b""
            n_bytes += len(pieces[-1])
            limits.check("text_bytes", n_bytes, "The file, once unpacked,")
            if not pieces[-1] and unpacker.needs_input:
                raise EOFError("it ends too early")
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"The file cannot be unpacked ({first_line(error)}); it may have been cut off.") from None
    return BytesIO(b"".join(pieces))


def is_weights(path: Path) -> bool:
    """Whether a file holds the weights of such a connectome, by its name and the centres beside it."""
    return _is_named(path, _WEIGHTS) and any(_beside(path, name) is not None for name in _CENTRES)


def with_centres(reading: Reading, path: Path) -> Reading:
    """Give the weights their regions' names and places, and the lengths of tracts.

    Parameters
    ----------
    reading : Reading
        Of the weights.
    path : Path
        Of the weights.
    """
    n, centres = len(reading.values), next(one for name in _CENTRES if (one := _beside(path, name)) is not None)
    names, places = _read_centres(centres)
    if reading.values.shape != (n, n) or len(names) != n:
        rows, columns = reading.values.shape
        raise InputError(f"The weights are {rows} × {columns} and '{centres.name}' has {len(names)} regions.")
    placed = bool(np.abs(places).max() <= _FARTHEST_MM)
    lengths = _beside(path, _LENGTHS)
    notes = [f"Names of regions are those of '{centres.name}'."]
    if lengths is not None:
        notes.append(f"Lengths of tracts are those of '{lengths.name}'.")
    return replace(
        reading,
        region_names=names,
        row_names=names,
        coordinates=places if placed else None,
        lengths=None if lengths is None else _read_lengths(lengths, n),
        content="connectivity",
        notes=tuple(notes),
    )


def _is_named(path: Path, name: str) -> bool:
    return path.name.lower() in {f"{name}{ending}" for ending in _ENDINGS}


def _beside(path: Path, name: str) -> Path | None:
    files = (path.with_name(f"{name}{ending}") for ending in _ENDINGS)
    return next((file for file in files if file.is_file() and not file.is_symlink()), None)


def _read_centres(path: Path) -> tuple[tuple[str, ...], FloatArray]:
    """Names and places: a name and three numbers in each line."""
    text = unpacked(path).read().decode("utf-8", "replace")
    lines = [line.split() for line in text.splitlines() if line.strip()]
    current_limits().check("regions", len(lines), f"'{path.name}'")
    try:
        places = np.array([[float(cell) for cell in line[-3:]] for line in lines])
    except ValueError:
        places = np.zeros(0)
    names = tuple(" ".join(line[:-3]) for line in lines)
    if places.shape != (len(lines), 3) or not np.isfinite(places).all() or not all(names):
        raise InputError(f"'{path.name}' beside it must have a name and three coordinates in each line.")
    if len(set(names)) < len(names):
        raise InputError(f"'{path.name}' beside it names a region twice.")
    return names, places


def _read_lengths(path: Path, n_regions: int) -> FloatArray:
    lengths = read_text(unpacked(path), header="no").values
    if lengths.shape != (n_regions, n_regions) or not np.isfinite(lengths).all() or lengths.min() < 0:
        raise InputError(f"'{path.name}' beside it must have {n_regions} × {n_regions} lengths of 0 mm or more.")
    if not np.allclose(lengths, lengths.T, rtol=1e-3, atol=1e-3 * lengths.max(initial=0)):
        raise InputError(f"'{path.name}' beside it has lengths that differ between the two directions of a tract.")
    return (lengths + lengths.T) / 2


# A stack of matrices.


def with_regions(readings: Sequence[Reading], path: Path) -> list[Reading]:
    """Give matrices the names and places of regions that lie beside their file, where there are as many.

    Parameters
    ----------
    readings : sequence of Reading
        All of one file.
    path : Path
        The file.
    """
    n = len(readings[0].values)
    if any(one.values.shape != (n, n) or one.names is not None for one in readings):
        return list(readings)
    names, places = _names(path, n), _places(path, n)
    if names is None:
        return list(readings)
    return [replace(one, region_names=names, row_names=names, coordinates=places) for one in readings]


def _lines(path: Path, name: str) -> list[str]:
    found = (file for file in path.parent.iterdir() if file.name.lower() == name)
    file = next((one for one in found if one.is_file() and not one.is_symlink()), None)
    if file is None or file.stat().st_size > current_limits().table_bytes:
        return []
    try:
        return [line.strip() for line in decode(file.read_bytes()).splitlines() if line.strip()]
    except InputError:
        return []


def _names(path: Path, n_regions: int) -> tuple[str, ...] | None:
    lines = _lines(path, _LABELS)
    if len(lines) != n_regions:
        return None
    return tuple(f"{name} ({i})" if lines.count(name) > 1 else name for i, name in enumerate(lines, start=1))


def _places(path: Path, n_regions: int) -> FloatArray | None:
    try:
        places = np.array([[float(cell) for cell in line.replace(",", " ").split()] for line in _lines(path, _PLACES)])
    except ValueError:
        return None
    if places.shape != (n_regions, 3) or not np.isfinite(places).all() or np.abs(places).max() > _FARTHEST_MM:
        return None
    return places
