"""Out-of-fold results of the groups a model was trained on: means, spread, and tests between groups.

``groups.npz`` holds the group means, ``tests.csv`` what was tested. A few people can make a mean map, so that
``spread.npz`` has how people spread around it: from the same out-of-fold attention as the means, over people, in
multiples of uniform attention. Nothing here needs torch.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import read_csv, sha256
from biobgt.base.limits import ZIP_ERRORS, current_limits, open_archive
from biobgt.model.folder import checked_network, load_card, model_folder

GROUPS, TESTS, SPREAD_FILE = "groups.npz", "tests.csv", "spread.npz"
TRIMMED = 0.1  # share of people left out at each end of a trimmed mean
# Numbers in one array of group results: 3 layers of 8 heads on 1,000 regions are a tenth of it.
_MOST_NUMBERS = 2**28
_DAMAGED_HEADER = (SyntaxError, TypeError, IndexError, KeyError, OverflowError, RecursionError, TokenError)


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


@dataclass(frozen=True, eq=False)
class GroupSpread:
    """Of each group, mean over layers and heads.

    Attributes
    ----------
    median, trimmed : mapping of str to ndarray, shape (n_regions, n_regions)
        Median over people, and mean without the lowest and highest tenth, of every entry.
    error : mapping of str to ndarray, shape (n_regions, n_regions)
        Standard error of the mean of every entry.
    people : mapping of str to ndarray, shape (n_people, 2)
        Attention within over between each person's own Louvain modules, and mean |FC|; sorted by the first.
    """

    median: Mapping[str, NDArray[np.float64]]
    trimmed: Mapping[str, NDArray[np.float64]]
    error: Mapping[str, NDArray[np.float64]]
    people: Mapping[str, NDArray[np.float64]]


class _ResultsFolder:
    """A model's folder with the files of group results beside its card.

    The card names the SHA-256 of each. What it says of sizes is compared with the files before anything is read, so
    that no card and no file can ask for more memory than a real one needs.
    """

    def __init__(self, name: str | Path) -> None:
        self.name, self.folder, self.card = name, model_folder(name), load_card(name)
        checked_network(name, self.card)

    def readouts(self) -> list[Path]:
        """The folders of a network's readouts, each of which must be the one that its card tells of."""
        places = []
        for one in self.card["readouts"]:
            place = self.folder / one["cohort"]
            own = load_card(place)
            if "readout" not in own or own["groups"] != one["groups"]:
                raise InputError(
                    f"The folder '{place.name}' of model '{self.name}' is not the readout that its card tells of."
                )
            places.append(place)
        return places

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Check that the files are those of the card, and turn whatever a damaged one raises into a sentence."""
        try:
            for file, digest in self.card.get("files", {}).items():
                if not (self.folder / file).is_file():
                    raise self._lacking(file)
                if sha256(self.folder / file) != digest:
                    raise self.of_another_training(f"SHA-256 of {file}")
            yield
        except InputError:
            raise
        except (*ZIP_ERRORS, ValueError, OverflowError, MemoryError) as error:
            raise InputError(f"{what} of model '{self.name}' cannot be read ({type(error).__name__}).") from None

    def arrays(self, file: str, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, NDArray[Any]]:
        """Arrays of these names and shapes, which are seen before any is read."""
        data, groups = self.card["data"], set(self.card["groups"])
        if set(data["subjects"]) != groups or set(data.get("recordings", groups)) != groups:
            raise InputError(
                f"The card of model '{self.name}' is not valid at data: its groups are not those of the card."
            )
        if (largest := max(math.prod(shape) for shape in shapes.values())) > _MOST_NUMBERS:
            raise InputError(
                f"The card of model '{self.name}' asks for an array of {largest:,} numbers; at most "
                f"{_MOST_NUMBERS:,} are read."
            )
        arrays = {}
        with open_archive(self.folder / file, current_limits()) as archive:
            held = set(archive.namelist())
            for key, shape in shapes.items():
                if f"{key}.npy" not in held:
                    raise self._lacking(key)
                with archive.open(f"{key}.npy") as stream:
                    self._check_header(key, stream, shape)
                with archive.open(f"{key}.npy") as stream:
                    arrays[key] = np.lib.format.read_array(stream, allow_pickle=False)  # type: ignore[no-untyped-call]
        return arrays

    def _check_header(self, key: str, stream: Any, shape: tuple[int, ...]) -> None:
        """Refuse an array of another shape, or of no numbers."""
        if np.lib.format.read_magic(stream) != (1, 0):  # type: ignore[no-untyped-call]
            raise ValueError(f"{key} is in a format that NumPy does not write such arrays in")
        try:
            found, _, dtype = np.lib.format.read_array_header_1_0(stream)  # type: ignore[no-untyped-call]
        except _DAMAGED_HEADER:
            raise InputError(f"The group results of model '{self.name}' cannot be read: {key} is damaged.") from None
        if found != shape or dtype.kind not in "fiu":
            raise self.of_another_training(f"shape of {key}")

    def of_another_training(self, what: str) -> InputError:
        return InputError(
            f"The group results of model '{self.name}' are damaged or of another training: the {what} differ from the "
            "card's."
        )

    def _lacking(self, what: str) -> InputError:
        return InputError(f"The group results of model '{self.name}' lack {what}; the folder is damaged.")


def load_groups(name: str | Path) -> GroupResults:
    """Read a model's group results; those of another training are refused."""
    own = _ResultsFolder(name)
    card, groups = own.card, own.card["groups"]
    if "readouts" in card:
        return _joined_groups(own)
    n, heads = card["n_regions"], (card["preset"]["layers"], card["preset"]["heads"])
    maps = {"attention": (*heads, n, n), "connectivity": (n, n), "entanglement": (n,), "contrast": heads}
    of_group: dict[str, tuple[int, ...]] = {"n": (), **maps, "embedding_contrast": ()}
    n_recordings = sum(card["data"].get("recordings", card["data"]["subjects"]).values())
    shapes = {f"{what}_{group}": shape for group in groups for what, shape in of_group.items()}
    shapes |= {"labels": (n_recordings,), "probabilities": (n_recordings, len(groups))}
    with own.reading("The group results"):
        arrays = own.arrays(GROUPS, shapes)
        if not np.isin(arrays["labels"], np.arange(len(groups))).all():
            raise own.of_another_training("labels")
        if any(int(arrays[f"n_{group}"]) != people for group, people in card["data"]["subjects"].items()):
            raise own.of_another_training("numbers of subjects")
        tests = read_csv(own.folder / TESTS)
    return GroupResults(
        n={group: int(arrays[f"n_{group}"]) for group in groups},
        **{what: {group: arrays[f"{what}_{group}"].astype(np.float32) for group in groups} for what in maps},
        embedding_contrast={group: float(arrays[f"embedding_contrast_{group}"]) for group in groups},
        labels=arrays["labels"].astype(np.int64),
        probabilities=arrays["probabilities"].astype(np.float64),
        tests=tests,
    )


def _joined_groups(own: _ResultsFolder) -> GroupResults:
    """The groups of all readouts of a network, and its tests between cohorts; each subject has its own cohort's p."""
    parts = [load_groups(place) for place in own.readouts()]
    with own.reading("The group results"):
        tests = read_csv(own.folder / TESTS)
    groups = list(own.card["groups"])
    places = [np.array([groups.index(group) for group in part.n]) for part in parts]
    probabilities = [np.zeros((len(part.labels), len(groups))) for part in parts]
    for of_part, place, part in zip(probabilities, places, parts, strict=True):
        of_part[:, place] = part.probabilities

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
    own = _ResultsFolder(name)
    card, kinds = own.card, [what.name for what in fields(GroupSpread)]
    if "readouts" in card:
        parts = [load_spread(place) for place in own.readouts()]
        if None in parts:
            return None
        return GroupSpread(
            *({group: one for part in parts for group, one in getattr(part, kind).items()} for kind in kinds)
        )
    if SPREAD_FILE not in card.get("files", {}):
        return None
    n, sizes = card["n_regions"], card["data"]["subjects"]
    shapes = {f"{kind}_{group}": (n, n) for group in card["groups"] for kind in ("median", "trimmed", "error")}
    with own.reading("The spread"):
        arrays = own.arrays(SPREAD_FILE, shapes | {f"people_{group}": (people, 2) for group, people in sizes.items()})
    return GroupSpread(
        *({group: arrays[f"{kind}_{group}"].astype(np.float64) for group in card["groups"]} for kind in kinds)
    )
