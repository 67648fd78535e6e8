"""The folder of a trained model: its card and its weights, read with care.

A folder in ``pretrained/``, or among the user's own models (:mod:`biobgt.model.own`), is all that a model needs to be
found: by the pages, the command line, the figures and the choices that these offer. ``model.safetensors`` holds the
weights, ``card.json`` everything a reader must know (checked against a schema). Nothing is unpickled, and nothing runs
before the card, the weights' hash and the shapes have been checked: no size in a card is believed before the files bear
it out. Torch is imported when a model is loaded, not before.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.files import asset, data_folder, sha256
from biobgt.base.limits import current_limits

if TYPE_CHECKING:
    from biobgt.model.ensemble import Ensemble
    from biobgt.model.network import BioBGT
    from biobgt.model.presets import Preset

WEIGHTS, CARD = "model.safetensors", "card.json"
PLAIN_NAME = re.compile(
    r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,58}[A-Za-z0-9])?"
)  # of one's own model: nothing that a path means
FINGERPRINTS = "trained_on"  # among the weights: what training subjects are recognised by


def pretrained_folder() -> Path:
    """The folder of the models that come with the project."""
    installed = asset("pretrained")  # of a wheel; a clone has it beside assets/
    return installed if installed.is_dir() else asset().parent / "pretrained"


def shipped_folders() -> dict[str, Path]:
    """The folders of the shipped models, by their names."""
    return {path.parent.name: path.parent for path in sorted(pretrained_folder().glob(f"*/{CARD}"))}


def own_models_folder() -> Path:
    """The user's private folder of their own models; it may not be there yet."""
    return data_folder() / "models"


def own_folders() -> dict[str, Path]:
    """The folders of the user's own models, by their names; links are not followed, and no shipped name is taken."""
    root, taken = own_models_folder(), {name.lower() for name in shipped_folders()}
    try:
        found = [] if root.is_symlink() else [path.parent for path in sorted(root.glob(f"*/{CARD}"))]
    except OSError:  # a user whose data folder cannot be looked into has none
        return {}
    plain = [one for one in found if PLAIN_NAME.fullmatch(one.name) and not one.is_symlink()]
    return {one.name: one for one in plain if one.name.lower() not in taken}


def installed_folders() -> dict[str, Path]:
    """The folders of all models that are installed here, by their names: those shipped, then the user's own."""
    return shipped_folders() | own_folders()


def pretrained_names() -> tuple[str, ...]:
    """Names of the models that are installed here: those shipped, then the user's own."""
    return tuple(installed_folders())


def readout_names() -> tuple[str, ...]:
    """Names of the readouts of installed networks that several cohorts share, such as ``five-groups-aal90/abide``."""
    return tuple(
        f"{name}/{path.parent.name}"
        for name, folder in sorted(installed_folders().items())
        for path in sorted(folder.glob(f"*/{CARD}"))
    )


def model_folder(name: str | Path) -> Path:
    """The folder of an installed model by its name, or of any other by its path."""
    other, installed = Path(name), installed_folders()
    if str(name) in (*installed, *readout_names()):
        network, _, readout = str(name).partition("/")
        return installed[network] / readout
    if (other / CARD).is_file():
        return other
    known = ", ".join(installed) or "none"
    raise InputError(f"There is no model '{name}'. Installed models: {known}; or name a folder that holds a {CARD}.")


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


def checked_network(name: str | Path, card: dict[str, Any]) -> dict[str, Any]:
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


def load_region_weights(name: str | Path) -> NDArray[np.float32] | None:
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
    """Load an installed model by its name, or any other by its folder, onto the GPU when there is one.

    Weights trained on a GPU load on a machine without.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    from biobgt.model.ensemble import Ensemble
    from biobgt.model.out_of_distribution import TrainingRanges, read_hashes
    from biobgt.model.presets import Preset, choose_device

    card = load_card(name)
    network = checked_network(name, card)  # trained on all cohorts
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
