"""What lies between the header and the numbers of a NIfTI-2 file: a CIFTI file's XML, which is parsed as it is opened.

A plain image may carry it too, and whoever opens the image parses it. Runs in a reading process
(:mod:`biobgt.readers.isolated`).
"""

import struct
from pathlib import Path

from nibabel.openers import ImageOpener

from biobgt.errors import InputError
from biobgt.limits import Limits

_HEADER_BYTES, _FLAG_AT, _OFFSET_AT = 544, 540, 168
_SHORTEST = 16


def check_extensions(path: Path, limits: Limits) -> None:
    """Refuse a file whose XML is longer than any atlas needs, or has no end, before it is parsed."""
    with ImageOpener(str(path)) as file:
        start = file.read(_HEADER_BYTES)
        order = "<" if start[:4] == struct.pack("<i", _FLAG_AT) else ">"
        is_nifti2 = start[:4] == struct.pack(f"{order}i", _FLAG_AT) and len(start) == _HEADER_BYTES
        if not is_nifti2 or not start[_FLAG_AT]:
            return  # nothing lies there
        (offset,) = struct.unpack_from(f"{order}q", start, _OFFSET_AT)
        left = offset - _HEADER_BYTES
        limits.check("header_bytes", left, f"The XML of '{path.name}'")
        while left >= _SHORTEST:
            n_bytes, _ = struct.unpack(f"{order}ii", file.read(8))
            if not _SHORTEST <= n_bytes <= left:
                left = -1
                break
            left -= n_bytes
            file.seek(n_bytes - 8, 1)
    if left < 0:
        raise InputError(f"The header of '{path.name}' does not end where its numbers begin; it may be damaged.")
