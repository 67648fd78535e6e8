"""Out-of-fold results of the groups a model was trained on: means, spread, and tests between groups."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.errors import InputError
from biobgt.model.group_files import check_files, read_arrays, read_spread
from biobgt.model.group_spread import SPREAD_FILE, GroupSpread
from biobgt.model.pretrained import GROUPS, TESTS, check_readout, load_card, model_folder
from biobgt.readers.archives import ZIP_ERRORS
from biobgt.spreadsheets import read_csv


@dataclass(frozen=True, eq=False)
class GroupResults:
    """Out-of-fold results of the groups a model was trained on: every subject seen by a member that never met it.

    Attributes
    ----------
    n : mapping of str to int
        Subjects per group.
    attention : mapping of str to ndarray, shape (n_layers, n_heads, n_regions, n_regions)
        Group mean.
    connectivity : mapping of str to ndarray, shape (n_regions, n_regions)
        Mean correlation.
    entanglement : mapping of str to ndarray, shape (n_regions,)
        Mean NE.
    contrast : mapping of str to ndarray, shape (n_layers, n_heads)
        Mean ratio of attention within to between each subject's own Louvain modules.
    embedding_contrast : mapping of str to float
        Mean cosine similarity of embeddings within less between modules.
    labels : ndarray of int, shape (n_subjects,)
    probabilities : ndarray, shape (n_subjects, n_groups)
        Out-of-fold, calibrated, in no particular order of subjects.
    tests : DataFrame
        Module blocks compared between groups.
    """

    n: Mapping[str, int]
    attention: Mapping[str, NDArray[np.float32]]
    connectivity: Mapping[str, NDArray[np.float32]]
    entanglement: Mapping[str, NDArray[np.float32]]
    contrast: Mapping[str, NDArray[np.float32]]
    embedding_contrast: Mapping[str, float]
    labels: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    tests: pd.DataFrame


def load_groups(name: str | Path) -> GroupResults:
    """Read a model's group results; those of another training are refused."""
    folder, card = model_folder(name), load_card(name)
    if "readouts" in card:
        return _joined_groups(name, folder, card)
    groups = card["groups"]
    check_readout(name, card)
    with _reading(f"The group results of model '{name}'"):
        check_files(name, folder, card)
        arrays = read_arrays(name, folder / GROUPS, card)
        tests = read_csv(folder / TESTS)

    def by_group(what: str) -> dict[str, NDArray[np.float32]]:
        return {group: arrays[f"{what}_{group}"].astype(np.float32) for group in groups}

    return GroupResults(
        n={group: int(arrays[f"n_{group}"]) for group in groups},
        attention=by_group("attention"),
        connectivity=by_group("connectivity"),
        entanglement=by_group("entanglement"),
        contrast=by_group("contrast"),
        embedding_contrast={group: float(arrays[f"embedding_contrast_{group}"]) for group in groups},
        labels=arrays["labels"].astype(np.int64),
        probabilities=arrays["probabilities"].astype(np.float64),
        tests=tests,
    )


def _joined_groups(name: str | Path, folder: Path, card: Mapping[str, Any]) -> GroupResults:
    """The groups of all readouts of a network, and its tests between cohorts; each subject has its own cohort's p."""
    parts = [load_groups(place) for place in _readout_folders(name, folder, card)]
    with _reading(f"The group results of model '{name}'"):
        check_files(name, folder, card)
        tests = read_csv(folder / TESTS)
    groups = list(card["groups"])
    places = [np.array([groups.index(group) for group in part.n]) for part in parts]
    probabilities = [np.zeros((len(part.labels), len(groups))) for part in parts]
    for own, place, part in zip(probabilities, places, parts, strict=True):
        own[:, place] = part.probabilities

    def of_all(what: str) -> dict[str, Any]:
        found = {group: values for part in parts for group, values in getattr(part, what).items()}
        return {group: found[group] for group in groups}

    return GroupResults(
        **{what: of_all(what) for what in ("n", "attention", "connectivity", "entanglement", "contrast")},
        embedding_contrast=of_all("embedding_contrast"),
        labels=np.concatenate([place[part.labels] for place, part in zip(places, parts, strict=True)]),
        probabilities=np.concatenate(probabilities),
        tests=pd.concat([tests, *(part.tests for part in parts)], ignore_index=True),
    )


def load_spread(name: str | Path) -> GroupSpread | None:
    """Read how people spread around a model's group means; None for a model made before that was measured."""
    folder, card = model_folder(name), load_card(name)
    if "readouts" in card:
        return _joined_spread(name, folder, card)
    check_readout(name, card)
    if SPREAD_FILE not in card.get("files", {}):
        return None
    with _reading(f"The spread of model '{name}'"):
        check_files(name, folder, card)
        return read_spread(name, folder / SPREAD_FILE, card)


def _joined_spread(name: str | Path, folder: Path, card: Mapping[str, Any]) -> GroupSpread | None:
    """The groups of all readouts of a network."""
    parts = [load_spread(place) for place in _readout_folders(name, folder, card)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return GroupSpread(
        *(
            {group: values for part in known for group, values in getattr(part, what.name).items()}
            for what in fields(GroupSpread)
        )
    )


def _readout_folders(name: str | Path, folder: Path, card: Mapping[str, Any]) -> list[Path]:
    """The folders of a network's readouts, each of which must be the one that its card tells of."""
    places = [folder / one["cohort"] for one in card["readouts"]]
    for place, one in zip(places, card["readouts"], strict=True):
        own = load_card(place)
        if "readout" not in own or own["groups"] != one["groups"]:
            raise InputError(f"The folder '{place.name}' of model '{name}' is not the readout that its card tells of.")
    return places


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Turn whatever a damaged file raises into a sentence."""
    try:
        yield
    except InputError:
        raise
    except (*ZIP_ERRORS, ValueError, OverflowError, MemoryError) as error:
        raise InputError(f"{what} cannot be read ({type(error).__name__}).") from None
