"""Measured results in a folder, so that the next command need not measure them again.

A file is the user's alone: its bytes are encrypted and authenticated with a key that lies in the user's data folder, so
that nobody else can read who was measured, or write a number that comes out as a result. A file that was not written
with this key, for exactly this result, is not read any further: the result is measured again.
"""

import hmac
import secrets
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

import biobgt
from biobgt.autosave import data_folder
from biobgt.errors import InputError
from biobgt.hubs.measures import HUB_MEASURES
from biobgt.kept_results import Key, warn_not_kept
from biobgt.modules.module_measures import MODULE_MEASURES
from biobgt.output import is_own, read_private, write_private
from biobgt.result_encoding import from_bytes, to_bytes

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
            content = read_private(self._path(key, depends), _LARGEST)
            return from_bytes(AESSIV(self._key).decrypt(content, [depends]))
        except (OSError, ValueError, InvalidTag):
            return None

    def put(self, key: Key, result: Any) -> None:
        """Keep a result, if it can be written; its file appears whole or not at all."""
        if self.trouble:
            return
        depends = self._depends(key)
        try:
            content = AESSIV(self._key).encrypt(to_bytes(result), [depends])
            if len(content) > (_LARGEST if self._room is None else min(_LARGEST, self._room)):
                return
            write_private(self._path(key, depends), content)
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
        depends = (biobgt.__version__, self.cohort, registers, key.kind.name, key.subject, key.settings, key.how)
        return hmac.digest(self._key, repr(depends).encode(errors="surrogatepass"), "sha256")

    def _path(self, key: Key, depends: bytes) -> Path:
        return self.folder / f"{key.kind.name.replace(' ', '_')}-{depends.hex()[:32]}.result"


def _user_key() -> bytes:
    """The key of this user, made when it is first needed, and anew where others may have seen it."""
    path = data_folder() / "results.key"
    try:
        found = read_private(path, _KEY_BYTES)
    except OSError:
        found = b""
    if len(found) < _KEY_BYTES:
        write_private(path, secrets.token_bytes(_KEY_BYTES))
        found = read_private(path, _KEY_BYTES)  # another process may have made it at the same time
    return found
