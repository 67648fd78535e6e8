"""The user's own models: put beside the shipped ones, from a folder or a zip that may come from anybody.

Nothing of what is added is believed. Only the files that a model consists of are looked at, each no larger than it may
be, none through a link; a card must be valid, weights and group results those of the card, of its shapes, and finite.
All that is checked on a copy in a hidden folder, which becomes the model in one step or leaves nothing.
"""

import json
import re
import shutil
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import is_own, open_regular, zipped
from biobgt.base.folders import UNFINISHED, result_folder
from biobgt.base.limits import ZIP_ERRORS, current_limits, open_archive
from biobgt.data.atlas import load_atlas
from biobgt.model.folder import (
    CARD,
    PLAIN_NAME,
    WEIGHTS,
    load_card,
    load_pretrained,
    load_region_weights,
    own_folders,
    own_models_folder,
    shipped_folders,
)
from biobgt.model.group_results import GROUPS, SPREAD_FILE, TESTS, load_groups, load_spread

_README = "README.md"  # says in words what the card says
# What a model consists of, and the limit on the size of each file; all else in its folder is left where it is.
_FILES = {
    CARD: "document_bytes",
    WEIGHTS: "file_bytes",
    GROUPS: "file_bytes",
    SPREAD_FILE: "file_bytes",
    TESTS: "table_bytes",
    "evaluation.csv": "table_bytes",
    "nested.csv": "table_bytes",
    _README: "table_bytes",
}
_READOUT = re.compile(r"[a-z0-9-]{1,60}")  # as the schema of cards has them
_MOST_READOUTS = 100
_FINGERPRINT = 32  # numbers of each training subject
_PIECE = 1 << 20  # bytes
_SUFFIX = ".zip"

_Opened = Callable[[], AbstractContextManager[IO[bytes]]]


def add_model(source: str | Path, name: str | None = None) -> str:
    """Put a model beside the shipped ones, once it has been checked and was loaded.

    Parameters
    ----------
    source : str or Path
        Its folder, or a zip of it.
    name : str, optional
        By default that of the folder or the zip.

    Returns
    -------
    str
        The name by which it is listed.

    Raises
    ------
    InputError
        For a name that is taken or is none, and for whatever is no model: nothing is left of it.
    """
    place = Path(source)
    name = _free_name(name or place.resolve().name.removesuffix(_SUFFIX))
    target = _make_root() / name
    try:
        with result_folder(target, job="models add", about={}, manifest=False) as model:
            with ExitStack() as opened:
                _copy(_folder_files(place) if place.is_dir() else _zip_files(place, opened), model)
            _check(model, name)
            _rename_card(model, name)
            if target.exists():  # another process was faster
                raise _taken(name)
    except OSError as error:
        raise InputError(f"The model '{name}' could not be added ({error.strerror or type(error).__name__}).") from None
    return name


def remove_model(name: str) -> None:
    """Delete one of the user's own models; a shipped one is refused."""
    if name in shipped_folders():
        raise InputError(f"The model '{name}' comes with BioBGT Explorer and is not removed. Your own models can be.")
    own = own_folders()
    if name not in own:
        raise InputError(f"You have no model '{name}'. Your own models: {', '.join(own) or 'none'}.")
    gone = Path(mkdtemp(dir=own_models_folder(), prefix=UNFINISHED))
    try:
        own[name].rename(gone / name)  # in one step: no half of it is ever listed
    finally:
        shutil.rmtree(gone, ignore_errors=True)


def zip_model(folder: Path) -> bytes:
    """A model's files in a zip, which :func:`add_model` takes.

    Parameters
    ----------
    folder : Path
        Of the model.
    """
    contents = {}
    for path, (_, open_file) in _folder_files(folder).items():
        with open_file() as stream:
            contents[path] = stream.read()
    return zipped(contents)


def _free_name(name: str) -> str:
    """A name, if it can be that of a model and none has it."""
    if not PLAIN_NAME.fullmatch(name):
        raise InputError(
            f"'{name[:80]}' cannot be the name of a model: a name has up to 60 letters from a to z, digits, and - _ . "
            "between them. Name another."
        )
    if name.lower() in {one.lower() for one in shipped_folders()}:
        raise InputError(f"A model that comes with BioBGT Explorer is called '{name}'. Name yours otherwise.")
    if name.lower() in {one.lower() for one in own_folders()} or (own_models_folder() / name).exists():
        raise _taken(name)
    return name


def _taken(name: str) -> InputError:
    return InputError(f"You have a model '{name}' already. Name this one otherwise, or remove the other first.")


def _make_root() -> Path:
    """The folder of own models, for its owner alone; a link to another folder is not followed."""
    root = own_models_folder()
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        if root.is_symlink() or not is_own(root.lstat(), 0):
            raise InputError(f"The folder of your models, '{root}', is a link or another user's. Move it away.")
        root.chmod(0o700)
    except OSError as error:
        raise InputError(f"The folder of your models, '{root}', cannot be made ({error.strerror}).") from None
    return root


# What a model consists of, found in a folder or a zip: the size of each file, and what opens it.


def _is_known(path: PurePosixPath) -> bool:
    """Whether a path is that of a file of a model, or of a readout in a folder within."""
    within = path.parts[:-1]
    return path.name in _FILES and (not within or (len(within) == 1 and bool(_READOUT.fullmatch(within[0]))))


def _folder_files(folder: Path) -> dict[str, tuple[int, _Opened]]:
    readouts = [path.parent for path in sorted(folder.glob(f"*/{CARD}")) if _READOUT.fullmatch(path.parent.name)]
    found: dict[str, tuple[int, _Opened]] = {}
    for place in (folder, *readouts[: _MOST_READOUTS + 1]):
        for name in _FILES:
            path = place / name
            if path.is_symlink() or (place != folder and place.is_symlink()):
                raise InputError(f"'{name}' of the model is a link, or lies behind one, and links are not followed.")
            if path.exists():
                if not path.is_file():
                    raise InputError(f"'{path.name}' of the model is a folder, a pipe or a device and no file.")
                found[path.relative_to(folder).as_posix()] = (path.stat().st_size, partial(open_regular, path))
    return found


def _zip_files(source: Path, opened: ExitStack) -> dict[str, tuple[int, _Opened]]:
    """The files of a model in a zip, at its top or within one folder that all of them lie in."""
    if not source.is_file():
        raise InputError(f"There is no folder and no zip '{source}'. Name the folder of a model, or a zip of it.")
    try:
        archive = opened.enter_context(open_archive(source, current_limits()))
    except zipfile.BadZipFile:
        raise InputError(f"'{source.name}' is no zip of a model, or was cut off. Take another copy of it.") from None
    except ZIP_ERRORS as error:
        raise InputError(f"'{source.name}' cannot be read ({type(error).__name__}).") from None
    entries = {PurePosixPath(entry.filename): entry for entry in archive.infolist() if not entry.is_dir()}
    tops = [path.parent for path in entries if path.name == CARD]
    top = min(tops, key=lambda path: len(path.parts), default=PurePosixPath())
    if len(top.parts) > 1 or top.is_absolute() or ".." in top.parts:
        raise InputError(f"'{source.name}' is no zip of a model: its {CARD} lies neither at the top nor in one folder.")
    within = {path.relative_to(top): entry for path, entry in entries.items() if path.is_relative_to(top)}
    known = {path.as_posix(): entry for path, entry in within.items() if _is_known(path)}
    twice = [name for name, n in Counter(archive.namelist()).items() if n > 1]
    if twice:
        raise InputError(f"'{source.name}' holds '{twice[0][:80]}' twice, of which only one can be meant.")
    if any(stat.S_ISLNK(entry.external_attr >> 16) for entry in known.values()):
        raise InputError(f"'{source.name}' holds a link, and links are not followed. Zip the files themselves.")
    if any(entry.flag_bits & 0x1 for entry in known.values()):
        raise InputError(f"'{source.name}' is protected by a password. Zip the model without one.")
    return {name: (entry.file_size, partial(archive.open, entry)) for name, entry in known.items()}


def _copy(files: Mapping[str, tuple[int, _Opened]], model: Path) -> None:
    """Copy files of a model, none larger than it says and may be, for the owner alone."""
    if CARD not in files:
        raise InputError(f"This is no model: there is no {CARD} in it. Name the folder that 'biobgt train' wrote.")
    if sum(name.endswith(f"/{CARD}") for name in files) > _MOST_READOUTS:
        raise InputError(f"This model has more than {_MOST_READOUTS} readouts, as none has.")
    if WEIGHTS not in files:
        raise InputError(f"The model has no weights: {WEIGHTS} is missing beside its {CARD}.")
    limits = current_limits()
    for name, (n_bytes, _) in files.items():
        limits.check(_FILES[PurePosixPath(name).name], n_bytes, f"The file '{name}' of the model")
    for name, (n_bytes, open_file) in files.items():
        target = model / name
        target.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            with open_file() as stream, target.open("xb") as copy:
                left = n_bytes + 1
                while piece := stream.read(min(_PIECE, left)):
                    left -= copy.write(piece)
        except ZIP_ERRORS as error:
            raise InputError(f"The file '{name}' of the model cannot be read ({type(error).__name__}).") from None
        if left != 1:
            raise InputError(f"The file '{name}' of the model is not of the size that it was said to have.")


# What a model must be before it is listed.


def _check(model: Path, name: str) -> None:
    """Refuse what cannot be used: a model, and every readout of a network, must load as a whole."""
    try:
        card = load_card(model)
        readouts = [model / one["cohort"] for one in card.get("readouts", ())]
        if "readout" in card or {path.parent for path in model.glob(f"*/{CARD}")} != set(readouts):
            raise InputError("It is one readout of a network, or lacks one, or has another. Add the whole network.")
        for part in (model, *readouts):
            load_region_weights(part)
            ensemble = load_pretrained(part, "cpu")
            known = ensemble.trained_on
            if known is not None and (known.ndim != 2 or not len(known) or known.shape[1] != _FINGERPRINT):
                raise InputError("The fingerprints among the weights are none; the model is damaged.")
        _check_groups(model)
        load_spread(model)
        atlas = load_atlas(card["atlas"])
    except InputError as error:
        said = str(error).replace(str(model), name)  # where it is checked is nobody's concern
        raise InputError(f"The model was not added. {said}") from None
    if atlas.n_regions != card["n_regions"]:
        raise InputError(
            f"The model was not added. Its card says {card['n_regions']} regions; {atlas.title} has {atlas.n_regions}."
        )


def _check_groups(model: Path) -> None:
    """Refuse group results that are no finite numbers, which pages would draw."""
    groups = load_groups(model)
    arrays: list[NDArray[Any]] = [groups.probabilities]
    for maps in (groups.attention, groups.connectivity, groups.entanglement, groups.contrast):
        arrays += maps.values()
    if not all(np.isfinite(values).all() for values in arrays):
        raise InputError("Its group results hold values that are no finite numbers.")


def _rename_card(model: Path, name: str) -> None:
    """Let cards say the name by which the model is listed; the hashes of other files stay as they are."""
    for file in (model / CARD, *model.glob(f"*/{CARD}")):
        card = json.loads(file.read_text(encoding="utf-8"))
        if "readout" in card:
            card["readout"]["of"] = name
        card["name"] = name if file.parent == model else f"{name}/{file.parent.name}"
        file.write_text(json.dumps(card, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
