"""CIFTI-2 files to region series and connectivity; the work is done in a process of its own (``cifti_series``)."""

from pathlib import Path

import numpy as np

from biobgt.readers.isolated import read_isolated
from biobgt.readers.reading import Reading


def read_cifti(path: Path, *, labels: Path | str | None = None) -> Reading:
    """Read one subject's parcels.

    Parameters
    ----------
    path : Path
        A ``.ptseries.nii``, ``.pconn.nii`` or ``.dtseries.nii`` file.
    labels : path, optional
        The ``.dlabel.nii`` file that says to which parcel a grayordinate of a dense series belongs.
    """
    about = {"labels": None if labels is None else str(labels)}
    reply = read_isolated("biobgt.readers.cifti_series", path, about)
    assert reply.array is not None
    return Reading(
        values=np.asarray(reply.array, dtype=np.float64),
        region_names=tuple(reply.answer["names"]),
        columns_are_regions=True,
        tr=reply.answer["tr"],
        options=reply.answer["used"],
    )
