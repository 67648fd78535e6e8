"""Models on disk: a folder with the members' weights, a card that says what they are worth, and group results.

``model.safetensors`` holds the weights, ``card.json`` everything a reader must know (checked against a schema),
``groups.npz`` the out-of-fold group means. Nothing is unpickled, and nothing runs before the card, the weights' hash
and the shapes have been checked: no size in a card is believed before the files bear it out.
"""

import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from biobgt.assets import asset
from biobgt.errors import InputError
from biobgt.model.group_files import check_files, read_arrays
from biobgt.output import sha256

if TYPE_CHECKING:  # a card is read without torch
    from biobgt.model.ensemble import Ensemble
    from biobgt.model.presets import Preset
    from biobgt.model.transformer import BioBGT

WEIGHTS, CARD, GROUPS, TESTS = "model.safetensors", "card.json", "groups.npz", "tests.csv"
FINGERPRINTS = "trained_on"  # among the weights: what training subjects are recognised by
SCHEMA = "model_card.schema.json"


@dataclass(frozen=True, eq=False)
class GroupResults:
    """Out-of-fold results of the groups a model was trained on: every subject seen by a member that never met it.

    Attributes
    ----------
    n : mapping of str to int
        Subjects a group.
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


def pretrained_folder() -> Path:
    """The folder of the models that come with the project."""
    installed = asset("pretrained")  # of a wheel; a clone has it beside assets/
    return installed if installed.is_dir() else asset().parent / "pretrained"


def pretrained_names() -> tuple[str, ...]:
    """Names of the shipped models."""
    folder = pretrained_folder()
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{CARD}"))) if folder.exists() else ()


def model_folder(name: str | Path) -> Path:
    """The folder of a shipped model by its name, or of one's own by its path."""
    own = Path(name)
    if str(name) in pretrained_names():
        return pretrained_folder() / str(name)
    if (own / CARD).exists():
        return own
    shipped = ", ".join(pretrained_names()) or "none"
    raise InputError(f"There is no model '{name}'. Shipped models: {shipped}; or name a folder that holds a {CARD}.")


def load_card(name: str | Path) -> dict[str, Any]:
    """Read a model's card and check it against the schema."""
    import jsonschema

    from biobgt.model.presets import Preset

    file = model_folder(name) / CARD
    try:
        card = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
        schema = json.loads(asset(SCHEMA).read_text(encoding="utf-8"))
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
    return dict(card)


def load_groups(name: str | Path) -> GroupResults:
    """Read a model's group results; those of another training are refused."""
    folder, card = model_folder(name), load_card(name)
    groups = card["groups"]
    try:
        check_files(name, folder, card)
        arrays = read_arrays(name, folder / GROUPS, card)
        tests = pd.read_csv(folder / TESTS)
    except (OSError, ValueError, EOFError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"The group results of model '{name}' cannot be read ({type(error).__name__}).") from None

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


def load_region_weights(name: str | Path) -> NDArray[np.float32] | None:
    """Read how much each region counts in a model, without running it.

    Returns
    -------
    ndarray, shape (n_members, n_regions), or None
        None where the model takes all regions alike.
    """
    from safetensors import SafetensorError, safe_open

    card, file = load_card(name), model_folder(name) / WEIGHTS
    if not card["preset"].get("region_axes"):
        return None
    try:
        with safe_open(file, framework="np") as stored:
            weights = [stored.get_tensor(f"member{i}.region_weight") for i in range(len(card["temperatures"]))]
        return np.stack(weights).astype(np.float32)
    except (OSError, SafetensorError, ValueError):
        raise InputError(f"The weights of model '{name}' are missing or damaged.") from None


def load_pretrained(name: str | Path, device: str = "auto") -> "Ensemble":
    """Load a shipped model by its name, or one's own by its folder, onto the GPU when there is one.

    Weights trained on a GPU load on a machine without.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from biobgt.model.device import choose_device
    from biobgt.model.ensemble import Ensemble
    from biobgt.model.familiarity import Familiarity
    from biobgt.model.presets import Preset

    card, file = load_card(name), model_folder(name) / WEIGHTS
    if not file.exists():
        raise InputError(f"Model '{name}' has no weights: {WEIGHTS} is missing beside its card.")
    if sha256(file) != card["sha256"]:
        raise InputError(f"The weights of model '{name}' are damaged or not those of its card (SHA-256 differs).")
    chosen, preset = choose_device(device), Preset.from_dict(card["preset"])
    try:
        _check_shapes(name, file, card, preset)  # before members of a size that the weights do not have are built
        tensors = load_file(file)
        members = tuple(_member(i, card, preset, tensors).to(chosen).eval() for i in range(len(card["temperatures"])))
    except (SafetensorError, RuntimeError):
        raise InputError(f"The weights of model '{name}' do not fit its card; the folder is damaged.") from None
    return Ensemble(
        name=card["name"],
        preset=preset,
        atlas=card["atlas"],
        groups=tuple(card["groups"]),
        members=members,
        temperatures=tuple(card["temperatures"]),
        familiarity=Familiarity.from_card(card["familiarity"]),
        trained_on=tensors.get(FINGERPRINTS),
        simulated=card["simulated"],
        device=chosen,
        atlas_fingerprint=card.get("atlas_fingerprint", ""),
    )


def _member(number: int, card: Mapping[str, Any], preset: "Preset", tensors: Mapping[str, Any]) -> "BioBGT":
    from biobgt.model.transformer import BioBGT

    member = BioBGT(preset, n_regions=card["n_regions"], n_groups=len(card["groups"]))
    member.load_state_dict(member_tensors(tensors, number))  # into single precision, however they are stored
    return member


def member_tensors(tensors: Mapping[str, Any], number: int) -> dict[str, Any]:
    """One member's weights by the names that it gives them, of :func:`biobgt.model.ensemble.ensemble_tensors`."""
    prefix = f"member{number}."
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}


def _check_shapes(name: str | Path, file: Path, card: Mapping[str, Any], preset: "Preset") -> None:
    """Refuse weights of other shapes than the card's, which is seen without building or reading any of them."""
    import torch
    from safetensors import safe_open

    from biobgt.model.transformer import BioBGT

    n_members = len(card["temperatures"])
    with safe_open(file, framework="pt") as stored:
        keys = list(stored.keys())
        found = {key: tuple(stored.get_slice(key).get_shape()) for key in keys if key.startswith("member")}
    with torch.device("meta"):  # shapes without numbers
        member = BioBGT(preset, n_regions=card["n_regions"], n_groups=len(card["groups"])).state_dict()
    if len(found) != n_members * len(member) or any(
        found.get(f"member{i}.{key}") != tuple(value.shape) for i in range(n_members) for key, value in member.items()
    ):
        raise InputError(f"The weights of model '{name}' do not fit its card; the folder is damaged.")


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
