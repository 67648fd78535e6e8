"""GIfTI series of the cortex's vertices to region series: which files belong together, and whose labels hold.

A recording is two files, one per hemisphere, which are joined. Regions come from label files (``.label.gii``), named by
the user or lying with the data, or from the bundled surface labels of an atlas (fsaverage5). The work is done by
:mod:`biobgt.readers.gifti_series`, in a process of its own.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biobgt.atlas import BUNDLED
from biobgt.errors import InputError
from biobgt.readers.hemispheres import Side, file_of_other_side, side_of
from biobgt.readers.images import ImageOptions
from biobgt.readers.isolated import read_isolated
from biobgt.readers.label_tables import folders_above
from biobgt.readers.reading import Reading

LABEL_SUFFIX = ".label.gii"
_SIDES: dict[Side, str] = {"L": "left", "R": "right"}
_NAME_THEM = "name the hemisphere in the file's name (hemi-L, lh or .L.)"


def is_surface_labels(path: Path) -> bool:
    """Whether a file holds labels of vertices, by its name."""
    return path.name.lower().endswith(LABEL_SUFFIX)


def read_gifti(path: Path, *, options: ImageOptions | None = None, root: Path | None = None) -> Reading:
    """Read one subject's mean series of regions from both hemispheres, or from the one there is.

    Parameters
    ----------
    path : Path
        A ``.func.gii`` or ``.time.gii`` file; the other hemisphere's lies beside it.
    options : ImageOptions, optional
        ``labels``: a label file of either hemisphere, or the name of an atlas with bundled surface labels. ``tr``:
        seconds between time points, which such files do not give in a known unit.
    root : Path, optional
        The folder that the user named, where the file was found in one.
    """
    options = options or ImageOptions()
    other = file_of_other_side(path, root)
    files = sorted([path, *([other] if other else [])], key=lambda file: side_of(file.name) or "")
    about: dict[str, Any] = {"files": [_described(file) for file in files], **_labels(files, options, root)}
    reply = read_isolated("biobgt.readers.gifti_series", path, about)
    assert reply.array is not None
    used = dict(reply.answer["used"])
    for file in files:
        if file != path:
            used["joined with"] = f"{file.name} (SHA-256 {_sha256(file)})"
    if other is None and (side := side_of(path.name)) is not None:
        used["hemispheres"] = f"the {_SIDES[side]} one alone: no file of the other lies beside it"
    return Reading(
        values=np.asarray(reply.array, dtype=np.float64),
        region_names=tuple(reply.answer["names"]),
        columns_are_regions=True,
        tr=options.tr,
        options=used,
    )


def _described(file: Path) -> dict[str, str | None]:
    return {"path": str(file), "side": side_of(file.name)}


def _labels(files: Sequence[Path], options: ImageOptions, root: Path | None) -> dict[str, Any]:
    """Where the labels of each file are: the user's word, or what lies with the data."""
    if options.bundled is not None:
        return _bundled_labels(files, options.bundled.key)
    label = Path(options.labels) if options.labels is not None else _labels_beside(files[0], root)
    if not is_surface_labels(label):
        raise InputError(
            f"'{label.name}' is no label file of vertices. Give one that ends in {LABEL_SUFFIX}, or the name of an "
            "atlas with surface labels."
        )
    return {"labels": [str(_label_of(file, label, n_files=len(files))) for file in files]}


def _bundled_labels(files: Sequence[Path], key: str) -> dict[str, Any]:
    about = BUNDLED.named(key)
    numbers = about.surface_labels
    if numbers is None:
        there = ", ".join(name for name, atlas in BUNDLED.items() if atlas.surface)
        raise InputError(f"No surface labels of {about.title} are bundled. There are surface labels of: {there}.")
    unmarked = next((file for file in files if side_of(file.name) is None), None)
    if unmarked is not None:
        raise _without_side(unmarked)
    halves = dict(zip(_SIDES, np.split(numbers, 2), strict=True))
    own = [halves[side].tolist() for file in files if (side := side_of(file.name)) is not None]
    return {"numbers": own, "names": list(about.atlas.regions), "of": f"{about.title} on fsaverage5"}


def _labels_beside(path: Path, root: Path | None) -> Path:
    """The label file that lies with the data: in the file's folder, or the nearest one above it."""
    for folder in folders_above(path, root):
        there = folder.glob(f"*{LABEL_SUFFIX}")
        found = sorted(file for file in there if file.is_file() and not file.is_symlink())
        parcellations = {_pair(file): file for file in found}
        if len(parcellations) > 1:
            raise InputError(
                f"Several label files lie beside it: {', '.join(file.name for file in found[:4])}. Name the one that "
                "is meant as label image, or leave only that one."
            )
        if parcellations:
            return next(iter(parcellations.values()))
    raise InputError(
        "Series of vertices need their regions: put a label file of each hemisphere, which ends in "
        f"{LABEL_SUFFIX}, beside them, or name an atlas with surface labels as label image."
    )


def _pair(label: Path) -> frozenset[str]:
    other = file_of_other_side(label, None)
    return frozenset({label.name, other.name if other is not None else label.name})


def _without_side(file: Path) -> InputError:
    return InputError(f"'{file.name}' does not say which hemisphere it is of: {_NAME_THEM}.")


def _label_of(file: Path, label: Path, *, n_files: int) -> Path:
    """The label file of one hemisphere's series."""
    own, named = side_of(file.name), side_of(label.name)
    if own == named or (n_files == 1 and None in (own, named)):
        return label
    if named is None:
        raise _without_side(label)
    other = file_of_other_side(label, None)
    if own is None or other is None:
        raise InputError(
            f"The label file '{label.name}' is of the {_SIDES[named]} hemisphere, and the one of the other hemisphere "
            "does not lie beside it."
        )
    return other


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
