"""The files of group results beside a model's card: are they the card's, and what is in them.

A card names the SHA-256 of each. What it says of sizes is compared with the files before anything is read, so that no
card and no file can ask for more memory than a real one needs.
"""

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.model.group_spread import GroupSpread
from biobgt.output import sha256
from biobgt.readers.archives import open_archive

# Numbers in one array of group results: 3 layers of 8 heads on 1,000 regions are a tenth of it.
MOST_NUMBERS = 2**28


def check_files(name: str | Path, folder: Path, card: Mapping[str, Any]) -> None:
    """Refuse files beside a card that are not those it was written with; older cards name none.

    Parameters
    ----------
    name : str or path
        Of the model, for the sentence.
    folder : Path
        Of the model.
    card : mapping
    """
    for file, digest in card.get("files", {}).items():
        if not (folder / file).is_file():
            raise _lacking(name, file)
        if sha256(folder / file) != digest:
            raise InputError(_of_another_training(name, f"SHA-256 of {file}"))


def _of_another_training(name: str | Path, what: str) -> str:
    return f"The group results of model '{name}' are damaged or of another training: the {what} differ from the card's."


def _group_shapes(name: str | Path, card: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays in ``groups.npz`` as the card has them."""
    _check_groups(name, card)
    n, heads = card["n_regions"], (card["preset"]["layers"], card["preset"]["heads"])
    of_group = {
        "n": (),
        "attention": (*heads, n, n),
        "connectivity": (n, n),
        "entanglement": (n,),
        "contrast": heads,
        "embedding_contrast": (),
    }
    n_recordings = sum(card["data"].get("recordings", card["data"]["subjects"]).values())
    shapes: dict[str, tuple[int, ...]] = {
        f"{what}_{group}": shape for group in card["groups"] for what, shape in of_group.items()
    }
    shapes |= {"labels": (n_recordings,), "probabilities": (n_recordings, len(card["groups"]))}
    return _bounded(name, shapes)


def _spread_shapes(name: str | Path, card: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays in ``spread.npz`` as the card has them."""
    _check_groups(name, card)
    n = card["n_regions"]
    shapes: dict[str, tuple[int, ...]] = {
        f"{what}_{group}": (n, n) for group in card["groups"] for what in ("median", "trimmed", "error")
    }
    shapes |= {f"people_{group}": (people, 2) for group, people in card["data"]["subjects"].items()}
    return _bounded(name, shapes)


def _check_groups(name: str | Path, card: Mapping[str, Any]) -> None:
    """Refuse a card that counts the people of other groups than its own."""
    data, groups = card["data"], set(card["groups"])
    if set(data["subjects"]) != groups or set(data.get("recordings", groups)) != groups:
        raise InputError(f"The card of model '{name}' is not valid at data: its groups are not those of the card.")


def _bounded(name: str | Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """The shapes, if none asks for more memory than a real model needs."""
    if (largest := max(math.prod(shape) for shape in shapes.values())) > MOST_NUMBERS:
        raise InputError(
            f"The card of model '{name}' asks for an array of {largest:,} numbers; at most {MOST_NUMBERS:,} are read."
        )
    return shapes


def read_arrays(name: str | Path, file: Path, card: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Read the arrays of ``groups.npz`` that a card tells of; their shapes are seen before any is read.

    Parameters
    ----------
    name : str or path
        Of the model, for the sentence.
    file : Path
        The model's ``groups.npz``.
    card : mapping
    """
    arrays = _read_shapes(name, file, _group_shapes(name, card))
    if not np.isin(arrays["labels"], np.arange(len(card["groups"]))).all():
        raise InputError(_of_another_training(name, "labels"))
    if any(int(arrays[f"n_{group}"]) != n for group, n in card["data"]["subjects"].items()):
        raise InputError(_of_another_training(name, "numbers of subjects"))
    return arrays


def read_spread(name: str | Path, file: Path, card: Mapping[str, Any]) -> GroupSpread:
    """Read ``spread.npz``; shapes are seen before any array is read.

    Parameters
    ----------
    name : str or path
        Of the model, for the sentence.
    file : Path
        The model's ``spread.npz``.
    card : mapping
    """
    arrays = _read_shapes(name, file, _spread_shapes(name, card))
    return GroupSpread(
        *(
            {group: arrays[f"{what.name}_{group}"].astype(np.float64) for group in card["groups"]}
            for what in fields(GroupSpread)
        )
    )


def _lacking(name: str | Path, what: str) -> InputError:
    return InputError(f"The group results of model '{name}' lack {what}; the folder is damaged.")


def _read_shapes(name: str | Path, file: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
    """Arrays of these names and shapes from an archive."""
    arrays = {}
    with open_archive(file, current_limits()) as archive:
        held = set(archive.namelist())
        for key, shape in shapes.items():
            if f"{key}.npy" not in held:
                raise _lacking(name, key)
            with archive.open(f"{key}.npy") as stream:
                _check_header(name, key, stream, shape)
            with archive.open(f"{key}.npy") as stream:
                arrays[key] = np.lib.format.read_array(stream, allow_pickle=False)  # type: ignore[no-untyped-call]
    return arrays


def _check_header(name: str | Path, key: str, stream: Any, shape: tuple[int, ...]) -> None:
    """Refuse an array of another shape, or of no numbers."""
    if np.lib.format.read_magic(stream) != (1, 0):  # type: ignore[no-untyped-call]
        raise ValueError(f"{key} is in a format that NumPy does not write such arrays in")
    try:
        found, _, dtype = np.lib.format.read_array_header_1_0(stream)  # type: ignore[no-untyped-call]
    except (
        SyntaxError,
        TypeError,
        IndexError,
        KeyError,
        OverflowError,
        RecursionError,
        TokenError,
    ):  # a damaged header
        raise InputError(f"The group results of model '{name}' cannot be read: {key} is damaged.") from None
    if found != shape or dtype.kind not in "fiu":
        raise InputError(_of_another_training(name, f"shape of {key}"))
