"""Trained models: a folder each, with the members' weights, a card that says what they are worth, and group results.

A folder in ``pretrained/`` is all that a model needs to be found: by the pages, the command line, the figures and the
choices that these offer. Torch is imported when a model first runs, not before.

``model.safetensors`` holds the weights, ``card.json`` everything a reader must know (checked against a schema),
``groups.npz`` the out-of-fold group means. Nothing is unpickled, and nothing runs before the card, the weights' hash
and the shapes have been checked: no size in a card is believed before the files bear it out.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import asset, read_csv, sha256
from biobgt.base.limits import ZIP_ERRORS, current_limits, open_archive
from biobgt.base.wording import listed
from biobgt.data.atlas import Atlas, load_atlas
from biobgt.data.cohort import ATLAS_BY_COUNT, Cohort, kind_of_group

if TYPE_CHECKING:
    from biobgt.model.ensemble import Ensemble
    from biobgt.model.network import BioBGT
    from biobgt.model.presets import Preset

WEIGHTS, CARD, GROUPS, TESTS = "model.safetensors", "card.json", "groups.npz", "tests.csv"
FINGERPRINTS = "trained_on"  # among the weights: what training subjects are recognised by


def pretrained_folder() -> Path:
    """The folder of the models that come with the project."""
    installed = asset("pretrained")  # of a wheel; a clone has it beside assets/
    return installed if installed.is_dir() else asset().parent / "pretrained"


def pretrained_names() -> tuple[str, ...]:
    """Names of the shipped models."""
    folder = pretrained_folder()
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{CARD}"))) if folder.exists() else ()


def readout_names() -> tuple[str, ...]:
    """Names of the readouts of shipped networks that several cohorts share, such as ``five-groups-aal90/abide``."""
    folder = pretrained_folder()
    return tuple(sorted(path.parent.relative_to(folder).as_posix() for path in folder.glob(f"*/*/{CARD}")))


def model_folder(name: str | Path) -> Path:
    """The folder of a shipped model by its name, or of one's own by its path."""
    own = Path(name)
    if str(name) in (*pretrained_names(), *readout_names()):
        return pretrained_folder() / str(name)
    if (own / CARD).is_file():
        return own
    shipped = ", ".join(pretrained_names()) or "none"
    raise InputError(f"There is no model '{name}'. Shipped models: {shipped}; or name a folder that holds a {CARD}.")


def weights_file(folder: Path, *, shared: bool) -> Path:
    """The file of a model's weights; one readout of a shared network has them in the folder above."""
    return (folder.parent if shared else folder) / WEIGHTS


def load_card(name: str | Path) -> dict[str, Any]:
    """Read a model's card and check it against the schema."""
    import jsonschema

    from biobgt.model.presets import Preset

    file, limits, what = model_folder(name) / CARD, current_limits(), f"The card of model '{name}'"
    try:
        limits.check("document_bytes", file.stat().st_size, what)
        content = file.read_bytes()
        limits.check_document(content, what)
        card = json.loads(content.decode("utf-8"), parse_constant=_refuse_constant)
        schema = json.loads(asset("model_card.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(card)  # jsonschema.validate would check the schema each time
    except (OSError, ValueError, RecursionError) as error:  # no text, no JSON, or none that a card can be
        raise InputError(f"The card of model '{name}' cannot be read ({type(error).__name__}).") from None
    except jsonschema.ValidationError as error:
        where = "/".join(str(part) for part in error.absolute_path) or "its top"
        raise InputError(f"The card of model '{name}' is not valid at {where}: {error.message}.") from None
    try:
        Preset.from_dict(card["preset"])
    except InputError as error:
        raise InputError(f"The card of model '{name}' is not valid at preset: {error}") from None
    parts = [group for one in card.get("readouts", ()) for group in one["groups"]]
    if "readouts" in card and sorted(parts) != sorted(card["groups"]):
        raise InputError(f"The card of model '{name}' is not valid at readouts: its groups are not those of the card.")
    return dict(card)


def _checked_network(name: str | Path, card: dict[str, Any]) -> dict[str, Any]:
    """The card of the network that a model is a readout of, in the folder above; of any other model its own.

    A readout whose groups are not those of the network, or of another training of it, is refused.
    """
    if "readout" not in card:
        return card
    network, own = load_card(model_folder(name).parent), card["readout"]
    names = network["groups"]
    fits = len(names) == own["n_groups"] and max(own["columns"]) < len(names)
    if not fits or [names[column] for column in own["columns"]] != card["groups"]:
        raise InputError(f"The card of model '{name}' names groups that its network does not have.")
    if "readouts" not in network or network["sha256"] != card["sha256"]:
        raise InputError(f"Model '{name}' is a readout of another training than the network in the folder above it.")
    return network


def _load_region_weights(name: str | Path) -> NDArray[np.float32] | None:
    """Read how much each region counts in a model, without running it.

    Returns
    -------
    ndarray, shape (n_members, n_regions), or None
        None where the model takes all regions alike.
    """
    from safetensors import SafetensorError, safe_open

    card = load_card(name)
    file = weights_file(model_folder(name), shared="readout" in card)
    if not card["preset"].get("region_axes"):
        return None
    try:
        with safe_open(file, framework="np") as stored:
            weights = [stored.get_tensor(f"member{i}.region_weight") for i in range(_n_members(card))]
        stacked = np.stack(weights).astype(np.float32)
    except (OSError, SafetensorError, ValueError, TypeError):  # the last for a type that numpy does not have
        raise InputError(f"The weights of model '{name}' are missing or damaged.") from None
    if not np.isfinite(stacked).all():
        raise _not_finite(name)
    return stacked


def load_pretrained(name: str | Path, device: str = "auto") -> "Ensemble":
    """Load a shipped model by its name, or one's own by its folder, onto the GPU when there is one.

    Weights trained on a GPU load on a machine without.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from biobgt.model.ensemble import Ensemble
    from biobgt.model.out_of_distribution import TrainingRanges, read_hashes
    from biobgt.model.presets import Preset, choose_device

    card = load_card(name)
    network = _checked_network(name, card)  # trained on all cohorts
    file = weights_file(model_folder(name), shared="readout" in card)
    if not file.is_file():
        raise InputError(f"Model '{name}' has no weights: {WEIGHTS} is missing beside its card.")
    if sha256(file) != card["sha256"]:
        raise InputError(f"The weights of model '{name}' are damaged or not those of its card (SHA-256 differs).")
    chosen, preset = choose_device(device), Preset.from_dict(card["preset"])
    try:
        _check_shapes(file, card, preset)  # before members of a size that the weights do not have are built
        tensors = load_file(file)
        if not all(bool(value.isfinite().all()) for value in tensors.values()):
            raise _not_finite(name)
        members = tuple(_member(i, card, preset, tensors).to(chosen).eval() for i in range(_n_members(card)))
    except (SafetensorError, RuntimeError):
        raise InputError(f"The weights of model '{name}' do not fit its card; the folder is damaged.") from None
    return Ensemble(
        name=card["name"],
        preset=preset,
        atlas=card["atlas"],
        groups=tuple(card["groups"]),
        members=members,
        temperatures=tuple(card.get("temperatures", [1.0] * len(members))),
        ranges=TrainingRanges.from_card(card["familiarity"]) if "familiarity" in card else None,
        trained_on=tensors.get(FINGERPRINTS),
        trained_ids=read_hashes(network.get("trained_ids", "")),
        id_salt=card["sha256"],
        simulated=card["simulated"],
        device=chosen,
        atlas_fingerprint=card["atlas_fingerprint"],
        readouts={one["cohort"]: tuple(one["groups"]) for one in card.get("readouts", ())},
    )


def _not_finite(name: str | Path) -> InputError:
    return InputError(
        f"The weights of model '{name}' hold values that are no finite numbers, so it can predict nothing. Take "
        "another copy of its folder, or train it again."
    )


def _member(number: int, card: Mapping[str, Any], preset: "Preset", tensors: Mapping[str, Any]) -> "BioBGT":
    from biobgt.model.network import BioBGT

    member = BioBGT(preset, n_regions=card["n_regions"], n_groups=len(card["groups"]))
    prefix = f"member{number}."
    own = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
    if "readout" in card:
        columns = card["readout"]["columns"]
        own |= {name: own[name][columns] for name in own if name.startswith("readout.classify.")}
    member.load_state_dict(own)  # into single precision, however they are stored
    return member


def _n_members(card: Mapping[str, Any]) -> int:
    """How many members a model has."""
    return int(card["members"]) if "members" in card else len(card["temperatures"])


def _check_shapes(file: Path, card: Mapping[str, Any], preset: "Preset") -> None:
    """Refuse weights of other shapes than the card's, which is seen without building or reading any of them."""
    import torch
    from safetensors import safe_open

    from biobgt.model.network import BioBGT

    n_groups = card["readout"]["n_groups"] if "readout" in card else len(card["groups"])
    with safe_open(file, framework="pt") as stored:
        keys = list(stored.keys())
        found = {key: tuple(stored.get_slice(key).get_shape()) for key in keys if key.startswith("member")}
    with torch.device("meta"):  # shapes without numbers
        member = BioBGT(preset, n_regions=card["n_regions"], n_groups=n_groups).state_dict()
    if len(found) != _n_members(card) * len(member) or any(
        found.get(f"member{i}.{key}") != tuple(value.shape)
        for i in range(_n_members(card))
        for key, value in member.items()
    ):
        raise RuntimeError("other shapes than the card's")


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


# What a model's numbers are worth to a new subject, told from its card; light, because every page asks.


CHANCE = 0.5  # the AUC of guessing
_LITTLE = 0.65  # an AUC below it is little, though it may be more than chance
_FEWEST_A_GROUP = 20  # below it an interval over subjects says next to nothing: at an AUC of 1 it has no width at all


def model_verdict(
    results: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], *, simulated: bool
) -> Literal["simulated", "too_few", "chance", "little", "better"]:
    """Return what a model is worth, from its out-of-fold AUC.

    Parameters
    ----------
    results : mapping
        Metrics with their intervals, by model.
    sizes : mapping of str to int
        Subjects per group.
    simulated : bool
        Whether the patients are simulated.
    """
    if simulated:
        return "simulated"
    if min(sizes.values()) < _FEWEST_A_GROUP:
        return "too_few"
    auc = results["BioBGT"]["auc"]
    if auc["value"] is None or auc["low"] is None or auc["low"] <= CHANCE:
        return "chance"
    return "little" if auc["value"] < _LITTLE else "better"


def is_doubtful(card: Mapping[str, Any]) -> bool:
    """Whether a card's numbers call for a warning; not those of a network, whose readouts have cards of their own."""
    if "results" not in card:
        return False
    verdict = model_verdict(card["results"], card["data"]["subjects"], simulated=card["simulated"])
    return verdict != "better"


# How the people of a group spread around its mean attention: median and trimmed maps, standard errors, contrasts.
#
# A few people can make a mean map. What is here comes from the same out-of-fold attention as the means, over people,
# in multiples of uniform attention. Nothing here needs torch.


SPREAD_FILE = "spread.npz"
TRIMMED = 0.1  # share of people left out at each end of a trimmed mean


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


# Out-of-fold results of the groups a model was trained on: means, spread, and tests between groups.


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


# Numbers in one array of group results: 3 layers of 8 heads on 1,000 regions are a tenth of it.
_MOST_NUMBERS = 2**28


class _ResultsFolder:
    """A model's folder with the files of group results beside its card.

    The card names the SHA-256 of each. What it says of sizes is compared with the files before anything is read, so
    that no card and no file can ask for more memory than a real one needs.
    """

    def __init__(self, name: str | Path) -> None:
        self.name, self.folder, self.card = name, model_folder(name), load_card(name)
        _checked_network(name, self.card)

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


_DAMAGED_HEADER = (SyntaxError, TypeError, IndexError, KeyError, OverflowError, RecursionError, TokenError)


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


def _load_spread(name: str | Path) -> GroupSpread | None:
    """Read how people spread around a model's group means; None for a model made before that was measured."""
    own = _ResultsFolder(name)
    card, kinds = own.card, [what.name for what in fields(GroupSpread)]
    if "readouts" in card:
        parts = [_load_spread(place) for place in own.readouts()]
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


# Models that are installed here: each is one object that knows its card, its group results and how to run it.
#
# What is read from a folder is kept for as long as its card is not written anew.


# An ensemble takes tens of megabytes; cards are a few kilobytes each.
_MOST_MODELS, _MOST_CARDS = 12, 64


@dataclass(frozen=True, eq=False)
class InstalledModel:
    """A trained model; what is not in its card is read when it is first asked for.

    Attributes
    ----------
    name : str
        Of a shipped model, or the folder of one's own.
    card : mapping
    device : str
        Where it runs.
    """

    name: str
    card: Mapping[str, Any]
    device: str = "auto"

    @property
    def sha256(self) -> str:
        """Of its weights."""
        return str(self.card["sha256"])

    @cached_property
    def identity(self) -> tuple[str, str, str]:
        """What tells it from all other models, and from itself with another card."""
        of_card = hashlib.sha256(json.dumps(self.card, sort_keys=True, default=str).encode()).hexdigest()
        return self.name, self.sha256, of_card

    @property
    def simulated(self) -> bool:
        """Whether patients of this model are simulated."""
        return bool(self.card["simulated"])

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups it tells apart, controls first."""
        return tuple(self.card["groups"])

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return int(self.card["preset"]["layers"])

    @property
    def n_heads(self) -> int:
        """Number of heads in each layer."""
        return int(self.card["preset"]["heads"])

    @cached_property
    def atlas(self) -> Atlas:
        """The atlas it was trained on."""
        return load_atlas(self.card["atlas"])

    @cached_property
    def cohort(self) -> Cohort:
        """The cohort it was trained on: its subjects are not shipped, so there are none, but its atlas is known."""
        return Cohort(self.name, (), self.atlas)

    @cached_property
    def groups(self) -> GroupResults:
        """Results of its groups, out of fold."""
        return load_groups(self.name)

    @cached_property
    def spread(self) -> GroupSpread | None:
        """How people spread around the group means; None for a model made before that was measured."""
        return _load_spread(self.name)

    @property
    def readouts(self) -> Mapping[str, tuple[str, ...]]:
        """The groups of each cohort, controls first, where several cohorts share the network; else empty."""
        return {one["cohort"]: tuple(one["groups"]) for one in self.card.get("readouts", ())}

    def readout(self, cohort: str) -> "InstalledModel":
        """The network with the readout of one of its cohorts: a model that can be asked about subjects."""
        if cohort not in self.readouts:
            raise InputError(f"Model {self.name} has no readout '{cohort}'; it has: {', '.join(self.readouts)}.")
        return installed_model(f"{self.name}/{cohort}")

    def simulates(self, groups: Sequence[str]) -> bool:
        """Whether one of these groups is of a cohort with simulated patients."""
        if not self.readouts:
            return self.simulated
        cohorts = [cohort for cohort, own in self.readouts.items() if set(own) & set(groups)]
        return any(self.readout(cohort).simulated for cohort in cohorts)

    def controls_of(self, group: str) -> str:
        """The controls of the cohort that a group belongs to."""
        return next((own for own in self.readouts.values() if group in own), self.group_names)[0]

    def pair_with(self, group: str | None) -> tuple[str, str]:
        """Two groups to show side by side: a group of patients, or else the first one, after its own controls."""
        if group not in self.group_names or group is None or group == self.controls_of(group):
            group = next(iter(self.readouts.values()), self.group_names)[1]
        return self.controls_of(group), group

    @cached_property
    def region_weights(self) -> NDArray[np.float32] | None:
        """How much each region counts, shape (n_members, n_regions); None where all count alike."""
        return _load_region_weights(self.name)

    @cached_property
    def ensemble(self) -> "Ensemble":
        """The model itself, ready to run."""
        return load_pretrained(self.name, self.device)

    def refusal(self, cohort: Cohort) -> str:
        """Why it cannot be asked about a cohort, or nothing where it can; torch is not needed to tell."""
        if said := other_connectivity(self.name, cohort):
            return said
        atlas, n_regions = cohort.atlas, self.card["n_regions"]
        if atlas.name == self.card["atlas"] and atlas.n_regions == n_regions:
            return "" if cohort.atlas_is_sure else unsure_atlas(cohort)
        others = [name for name, model in installed_models().items() if model.card["atlas"] == atlas.name]
        advice = f"Choose {listed(others, last='or')} instead." if others else "No installed model is of that atlas."
        return (
            f"Model {self.name} was trained on {self.atlas.title} with {n_regions} regions; cohort '{cohort.name}' is "
            f"on {atlas.title} with {atlas.n_regions}. {advice} If only the atlas's name is wrong, set it on "
            "the page of subjects."
        )


def other_connectivity(model: str, cohort: Cohort) -> str:
    """Why a model cannot be asked about a cohort whose connectivity is not functional; nothing where it is.

    Parameters
    ----------
    model : str
        Its name.
    cohort : Cohort
    """
    if cohort.kind.functional:
        return ""
    kind = "structural" if cohort.given == "structural" else "neither region series nor functional connectivity"
    return (
        f"Model {model} was trained on correlations of fMRI signals; the matrices of cohort '{cohort.name}' are "
        f"{kind}, of which it can say nothing. If they are such correlations, choose functional as their kind of "
        "connectivity."
    )


def unsure_atlas(cohort: Cohort) -> str:
    """Say that nothing but the number of regions tells the atlas of a cohort, which is not enough for a prediction."""
    return (
        f"These {cohort.atlas.n_regions} regions were taken for those of {cohort.atlas.title} by {ATLAS_BY_COUNT}. A "
        "model predicts only where the atlas is sure: confirm it, or choose the right one on the page of subjects."
    )


def installed_model(name: str) -> InstalledModel:
    """A model by its name, or one's own by its folder."""
    folder = model_folder(name)
    return _model(name, folder, _edition(folder))


def installed_models() -> dict[str, InstalledModel]:
    """Every shipped model that can be used, by its name."""
    return {name: one for name, one in _shipped().items() if isinstance(one, InstalledModel)}


def unusable_models() -> dict[str, str]:
    """Folders of models that cannot be used, and why."""
    return {name: one for name, one in _shipped().items() if isinstance(one, str)}


def fitting_model(cohort: Cohort, models: Mapping[str, InstalledModel]) -> str:
    """The name of the model that knows the cohort's atlas and most of its groups, or an empty one.

    Parameters
    ----------
    cohort : Cohort
    models : mapping of str to InstalledModel
        Those of :func:`installed_models`.
    """
    sizes = set(cohort.group_sizes)
    known = {name: set(map(kind_of_group, model.group_names)) for name, model in models.items()}
    fits = {
        name: len(sizes & known[name]) - len(known[name] - sizes) / 10
        for name, model in models.items()
        if model.card["atlas"] == cohort.atlas.name
    }
    return max(fits, key=lambda name: fits[name], default="")


def _shipped() -> dict[str, InstalledModel | str]:
    """Every shipped model by its name, or why it cannot be used."""
    folder = pretrained_folder()
    found: dict[str, InstalledModel | str] = {}
    for name in pretrained_names():
        try:
            model = _model(name, folder / name, _edition(folder / name))
            load_atlas(model.card["atlas"])
            found[name] = model
        except InputError as error:
            found[name] = str(error)
    return found


def _edition(folder: Path) -> int:
    """When a model's card was written: one that was trained anew is another."""
    return (folder / CARD).stat().st_mtime_ns


@lru_cache(_MOST_MODELS)
def _model(name: str, folder: Path, edition: int) -> InstalledModel:
    return InstalledModel(name, _card(name, folder, edition))


@lru_cache(_MOST_CARDS)
def _card(name: str, folder: Path, edition: int) -> dict[str, Any]:
    return load_card(name)
