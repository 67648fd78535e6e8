"""Mean series of regions out of GIfTI files, one time point after another: a recording need not fit in memory.

A GIfTI file is XML. One that names another file as the place of its numbers is refused, as are declared entities and
numbers that the file's size does not explain. Runs in a reading process (:mod:`biobgt.readers.isolated`).
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from nibabel.gifti.parse_gifti_fast import GiftiImageParser
from nibabel.nifti1 import intent_codes
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import Limits
from biobgt.readers.foreign import allow_memory, library

_COPIES = 6  # as text, decoded, unpacked, as an array, turned, and the one that is being made
_ADVICE = "; it may be damaged or cut off."
_SURFACES = frozenset({"NIFTI_INTENT_POINTSET", "NIFTI_INTENT_TRIANGLE"})
_NO_REGION = re.compile(
    r"(?:[LR]_|[lr]h[._])?(?:\?+|unknown|medial[_ .]?wall|corpuscallosum|background.*)", re.IGNORECASE
)
_MOST_LEFT_OUT = 100  # of their names are told
_SIDES = {"L": "CortexLeft", "R": "CortexRight"}


@dataclass(frozen=True, eq=False)
class Parcels:
    """The regions of one hemisphere: their names, and of each vertex the place of its own among them, or -1."""

    names: tuple[str, ...]
    own: NDArray[np.int64]
    left_out: tuple[str, ...] = ()


def read(path: Path, options: Mapping[str, Any], limits: Limits) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """Read one subject's regions.

    Parameters
    ----------
    path : Path
        Not used: the files are among the options.
    options : mapping
        ``files``: path and side of each hemisphere; ``labels``: path of each one's label file, or ``numbers``,
        ``names`` and ``of`` of bundled labels.
    limits : Limits

    Returns
    -------
    dict
        ``names`` of the regions and ``used``.
    ndarray, shape (n_timepoints, n_regions)
    """
    files = options["files"]
    parcels = [_parcels(options, place, limits) for place in range(len(files))]
    limits.check("regions", sum(len(part.names) for part in parcels), "The labels")
    means = [_means(Path(file["path"]), file["side"], part, limits) for file, part in zip(files, parcels, strict=True)]
    if len({len(part) for part in means}) > 1:
        raise InputError(
            f"The left hemisphere has {len(means[0])} time points and the right one {len(means[1])}; the two files are "
            "not of the same recording."
        )
    used = {"regions": _said_labels(options)}
    if left_out := sorted({name for part in parcels for name in part.left_out}):
        used["labels that are no region"] = ", ".join(name[:80] for name in left_out[:_MOST_LEFT_OUT])
    return {"names": _all_names(parcels), "used": used}, np.concatenate(means, axis=1)


def _said_labels(options: Mapping[str, Any]) -> str:
    if "labels" not in options:
        return f"surface labels of {options['of']}"
    return "labels of " + " and ".join(Path(label).name for label in options["labels"])


def _all_names(parcels: list[Parcels]) -> list[str]:
    """Names of both hemispheres' regions; where both use the same ones, as FreeSurfer does, with the side before."""
    if len(parcels) == 2 and set(parcels[0].names) & set(parcels[1].names):
        return [f"{side}_{name}" for side, part in zip(("lh", "rh"), parcels, strict=True) for name in part.names]
    return [name for part in parcels for name in part.names]


def _parcels(options: Mapping[str, Any], place: int, limits: Limits) -> Parcels:
    if "labels" not in options:
        numbers = np.array(options["numbers"][place], dtype=np.int64)
        return _as_parcels(numbers, dict(enumerate(options["names"], start=1)), "The bundled labels", limits)
    label, side = Path(options["labels"][place]), options["files"][place]["side"]
    parser = _Parser(label, limits)
    image = parser.read()
    _check_side(image, side, label.name)
    if len(parser.arrays) != 1 or parser.arrays[0].ndim != 1:
        raise InputError(f"'{label.name}' has {len(parser.arrays)} maps; a label file of one map is needed.")
    values = parser.arrays[0]
    if not np.array_equal(values, np.round(values)):
        raise InputError(f"'{label.name}' holds values that are no whole numbers, so they are no labels.")
    table = {int(item.key): str(item.label or "") for item in image.labeltable.labels}
    return _as_parcels(values.astype(np.int64), table, f"'{label.name}'", limits)


def _as_parcels(numbers: NDArray[np.int64], table: Mapping[int, str], what: str, limits: Limits) -> Parcels:
    """Take the labels that vertices carry, in the order of their numbers; 0 and the medial wall are no regions."""
    carried = [int(key) for key in np.unique(numbers) if key > 0]
    unnamed = next((key for key in carried if not table.get(key)), None)
    if unnamed is not None:
        raise InputError(f"{what}: vertices carry the label {unnamed}, which the label table does not name.")
    regions = [key for key in carried if not _NO_REGION.fullmatch(table[key])]
    if not regions:
        raise InputError(f"{what}: no vertex carries the label of a region.")
    limits.check("regions", len(regions), what)
    names = tuple(table[key] for key in regions)
    twice, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise InputError(f"{what}: the name '{twice[:80]}' stands twice in the label table; names must differ.")
    places = np.minimum(np.searchsorted(regions, numbers), len(regions) - 1)  # a label may be any number
    own = np.where(np.asarray(regions)[places] == numbers, places, -1)
    kept = set(regions)
    left_out = tuple(table[key] for key in carried if key not in kept)
    return Parcels(names, own, left_out)


def _means(path: Path, side: str | None, parcels: Parcels, limits: Limits) -> NDArray[np.float64]:
    """Mean series of each region of one file, shape (n_timepoints, n_regions)."""
    parser = _Parser(path, limits, parcels)
    image = parser.read()
    _check_side(image, side, path.name)
    if not parser.arrays:
        raise InputError(f"'{path.name}' holds no series.")
    means = np.concatenate(parser.arrays)
    limits.check("timepoints", len(means), f"'{path.name}'")
    return means


def _check_side(image: Any, side: str | None, name: str) -> None:
    """Refuse a file that says itself that it is of the other hemisphere."""
    said = {str(item.get("AnatomicalStructurePrimary", "")) for item in (image.meta, *(a.meta for a in image.darrays))}
    own, other = _SIDES.get(side or "", ""), _SIDES.get({"L": "R", "R": "L"}.get(side or "", ""), "")
    if other and other in said and own not in said:
        raise InputError(f"'{name}' says that it is of {other}, and its name says the other hemisphere.")


_NibabelParser: Any = GiftiImageParser  # which has no types


class _Parser(_NibabelParser):  # type: ignore[misc]
    """nibabel's parser, which reads nothing but its file and keeps of a time point only the means of regions."""

    HANDLER_NAMES = [*_NibabelParser.HANDLER_NAMES, "EntityDeclHandler"]  # noqa: RUF012 - as nibabel declares it

    def __init__(self, path: Path, limits: Limits, parcels: Parcels | None = None) -> None:
        super().__init__(mmap=False)
        self.arrays: list[NDArray[np.float64]] = []
        self._path, self._limits, self._parcels = path, limits, parcels
        self._declared = 0

    def read(self) -> Any:
        """Parse the file; numbers are in :attr:`arrays`."""
        if not self._path.is_file():
            raise InputError(f"There is no file '{self._path.name}'.")
        self._limits.check("image_file_bytes", self._path.stat().st_size, f"'{self._path.name}'")
        with library("a GIfTI file", _ADVICE), self._path.open("rb") as file:
            self.parse(fptr=file)
        if self.img is None:
            raise InputError(f"'{self._path.name}' is XML and no GIfTI file.")
        return self.img

    def EntityDeclHandler(self, *_: object) -> None:  # noqa: N802 - expat's name
        """Refuse entities: they may grow, or stand for another file, and no GIfTI file needs one."""
        raise InputError(f"'{self._path.name}' declares XML entities, which no GIfTI file needs.")

    def StartElementHandler(self, name: str, attrs: dict[str, str]) -> None:  # noqa: N802 - expat's name
        """Refuse numbers that lie elsewhere, or that the file's size does not explain, before they are read."""
        super().StartElementHandler(name, attrs)
        if name != "DataArray":
            return
        if attrs.get("ExternalFileName") or attrs.get("Encoding") == "ExternalFileBinary":
            raise InputError(f"The numbers of '{self._path.name}' lie in another file; save it with its numbers in it.")
        if intent_codes.niistring[self.da.intent] in _SURFACES:
            raise InputError(f"'{self._path.name}' holds a surface, not values of its vertices.")
        dtype = np.dtype(attrs.get("DataType", "NIFTI_TYPE_FLOAT32").removeprefix("NIFTI_TYPE_").lower())
        if dtype.kind not in "fiu" or len(self.da.dims) not in (1, 2) or min(self.da.dims) < 1:
            raise InputError(f"'{self._path.name}' holds a data array that is no table of real numbers.")
        self._limits.check_array(self.da.dims, f"'{self._path.name}'")
        n_values = math.prod(self.da.dims)
        self._declared += n_values * dtype.itemsize
        self._limits.check("voxels", self._declared // dtype.itemsize, f"'{self._path.name}'")
        self._limits.check_growth(self._path.stat().st_size, self._declared, f"'{self._path.name}'")
        allow_memory(_COPIES * 8 * n_values, self._limits)

    def EndElementHandler(self, name: str) -> None:  # noqa: N802 - expat's name
        """Keep what is needed of a data array, and let go of the rest."""
        super().EndElementHandler(name)
        if name != "DataArray":
            return
        if self.da.data is None:
            raise InputError(f"'{self._path.name}' has a data array without numbers.")
        values = np.asarray(self.da.data, dtype=np.float64)
        self.da.data = None
        self.arrays.append(values if self._parcels is None else self._averaged(values))

    def _averaged(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means of regions over vertices that have a value, shape (n_timepoints, n_regions)."""
        assert self._parcels is not None
        own, n_regions = self._parcels.own, len(self._parcels.names)
        table = values.reshape(len(values), -1)  # vertices by time points, of which there may be one
        if len(table) != len(own) and table.shape[1] == len(own):
            table = table.T
        if len(table) != len(own):
            raise InputError(
                f"'{self._path.name}' has {max(values.shape):,} vertices and its labels have {len(own):,}; they are of "
                "different meshes. Give labels of the mesh of the series."
            )
        means = np.full((table.shape[1], n_regions), np.nan)
        for time, column in enumerate(table.T):
            known = (own >= 0) & np.isfinite(column)
            counts = np.bincount(own[known], minlength=n_regions)
            sums = np.bincount(own[known], weights=column[known], minlength=n_regions)
            np.divide(sums, counts, out=means[time], where=counts > 0)
        return means
