"""Measured results in a folder, so that the next command need not measure them again.

A file opens with a line of JSON that says what the result depends on, and the SHA-256 of the rest; the rest is a
``.npz`` of the result's arrays and words (:mod:`biobgt.result_encoding`). A file that says something else, or is not as
it was written, is not read: the result is measured again.
"""

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

import biobgt
from biobgt.errors import InputError
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.kept_results import Key
from biobgt.modules.module_measures import MODULE_MEASURES
from biobgt.result_encoding import Arrays, decoded, encoded

_WORDS = "words"
_LARGEST = 1 << 30  # bytes of a result; a larger file is none of ours


class FolderStore:
    """Results of one cohort in a folder.

    Parameters
    ----------
    folder : Path
        Made when something is first kept in it.
    cohort : str
        What tells the cohort's numbers from any other's, such as their SHA-256.
    """

    def __init__(self, folder: Path, cohort: str) -> None:
        self.folder, self.cohort = folder, cohort

    def get(self, key: Key) -> Any | None:
        """A result, or None where it is not kept, or its file is damaged or another's."""
        depends = self._depends(key)
        path = self._path(key, depends)
        try:
            if path.stat().st_size > _LARGEST:
                return None
            opening, _, content = path.read_bytes().partition(b"\n")
            if json.loads(opening) != _opening(depends, content):
                return None
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                return decoded(json.loads(str(arrays[_WORDS])), arrays)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, zipfile.BadZipFile, InputError):
            return None

    def put(self, key: Key, result: Any) -> None:
        """Keep a result, if it can be written; its file appears whole or not at all."""
        arrays: Arrays = {}
        try:
            words = encoded(result, arrays)
        except TypeError:
            return
        buffer = io.BytesIO()
        content: dict[str, Any] = {_WORDS: np.asarray(json.dumps(words)), **arrays}
        np.savez(buffer, **content)
        depends = self._depends(key)
        path = self._path(key, depends)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        opening = json.dumps(_opening(depends, buffer.getvalue()))
        unfinished.write_bytes(opening.encode() + b"\n" + buffer.getvalue())
        unfinished.replace(path)

    def _depends(self, key: Key) -> str:
        """All that a result depends on: tables also on which measures there are."""
        registers = (tuple(HUB_MEASURES), tuple(MODULE_MEASURES))
        return repr((biobgt.__version__, self.cohort, registers, key.kind.name, key.subject, key.settings, key.how))

    def _path(self, key: Key, depends: str) -> Path:
        name = hashlib.sha256(depends.encode()).hexdigest()[:32]
        return self.folder / f"{key.kind.name.replace(' ', '_')}-{name}.result"


def _opening(depends: str, content: bytes) -> dict[str, str]:
    return {"depends": depends, "sha256": hashlib.sha256(content).hexdigest()}
