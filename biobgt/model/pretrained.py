"""Models on disk: a folder with the members' weights, a card that says what they are worth, and group results.

``model.safetensors`` holds the weights, ``card.json`` everything a reader must know (checked against a schema),
``groups.npz`` the out-of-fold group means. Nothing is unpickled, and nothing runs before the card, the weights' hash
and the shapes have been checked: no size in a card is believed before the files bear it out.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.assets import asset
from biobgt.errors import InputError
from biobgt.limits import current_limits
from biobgt.output import sha256

if TYPE_CHECKING:  # a card is read without torch
    from biobgt.model.ensemble import Ensemble
    from biobgt.model.presets import Preset
    from biobgt.model.transformer import BioBGT

WEIGHTS, CARD, GROUPS, TESTS = "model.safetensors", "card.json", "groups.npz", "tests.csv"
FINGERPRINTS = "trained_on"  # among the weights: what training subjects are recognised by
SCHEMA = "model_card.schema.json"


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

    file = model_folder(name) / CARD
    try:
        card = json.loads(_card_text(file, f"The card of model '{name}'"), parse_constant=_refuse_constant)
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
    parts = [group for one in card.get("readouts", ()) for group in one["groups"]]
    if "readouts" in card and sorted(parts) != sorted(card["groups"]):
        raise InputError(f"The card of model '{name}' is not valid at readouts: its groups are not those of the card.")
    return dict(card)


def _card_text(file: Path, what: str) -> str:
    limits = current_limits()
    limits.check("document_bytes", file.stat().st_size, what)
    content = file.read_bytes()
    limits.check_document(content, what)
    return content.decode("utf-8")


def check_readout(name: str | Path, card: Mapping[str, Any]) -> None:
    """Refuse a readout whose groups are not those of the network in the folder above, or of another training of it."""
    if "readout" not in card:
        return
    network, own = load_card(model_folder(name).parent), card["readout"]
    names = network["groups"]
    fits = len(names) == own["n_groups"] and max(own["columns"]) < len(names)
    if not fits or [names[column] for column in own["columns"]] != card["groups"]:
        raise InputError(f"The card of model '{name}' names groups that its network does not have.")
    if "readouts" not in network or network["sha256"] != card["sha256"]:
        raise InputError(f"Model '{name}' is a readout of another training than the network in the folder above it.")


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
            weights = [stored.get_tensor(f"member{i}.region_weight") for i in range(n_members(card))]
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

    from biobgt.model.device import choose_device
    from biobgt.model.ensemble import Ensemble
    from biobgt.model.familiarity import Familiarity
    from biobgt.model.fingerprint import read_hashes
    from biobgt.model.presets import Preset

    card = load_card(name)
    check_readout(name, card)
    network = load_card(model_folder(name).parent) if "readout" in card else card  # trained on all cohorts
    file = weights_file(model_folder(name), shared="readout" in card)
    if not file.is_file():
        raise InputError(f"Model '{name}' has no weights: {WEIGHTS} is missing beside its card.")
    if sha256(file) != card["sha256"]:
        raise InputError(f"The weights of model '{name}' are damaged or not those of its card (SHA-256 differs).")
    chosen, preset = choose_device(device), Preset.from_dict(card["preset"])
    try:
        _check_shapes(name, file, card, preset)  # before members of a size that the weights do not have are built
        tensors = load_file(file)
        if not all(bool(value.isfinite().all()) for value in tensors.values()):
            raise _not_finite(name)
        members = tuple(_member(i, card, preset, tensors).to(chosen).eval() for i in range(n_members(card)))
    except (SafetensorError, RuntimeError):
        raise _unfitting(name) from None
    return Ensemble(
        name=card["name"],
        preset=preset,
        atlas=card["atlas"],
        groups=tuple(card["groups"]),
        members=members,
        temperatures=tuple(card.get("temperatures", [1.0] * len(members))),
        familiarity=Familiarity.from_card(card["familiarity"]) if "familiarity" in card else None,
        trained_on=tensors.get(FINGERPRINTS),
        trained_ids=read_hashes(network.get("trained_ids", "")),
        id_salt=card["sha256"],
        simulated=card["simulated"],
        device=chosen,
        atlas_fingerprint=card.get("atlas_fingerprint", ""),
        readouts={one["cohort"]: tuple(one["groups"]) for one in card.get("readouts", ())},
    )


def _not_finite(name: str | Path) -> InputError:
    return InputError(
        f"The weights of model '{name}' hold values that are no finite numbers, so it can predict nothing. Take "
        "another copy of its folder, or train it again."
    )


def _member(number: int, card: Mapping[str, Any], preset: "Preset", tensors: Mapping[str, Any]) -> "BioBGT":
    from biobgt.model.transformer import BioBGT

    member = BioBGT(preset, n_regions=card["n_regions"], n_groups=len(card["groups"]))
    own = member_tensors(tensors, number)
    if "readout" in card:
        columns = card["readout"]["columns"]
        own |= {name: own[name][columns] for name in own if name.startswith("readout.classify.")}
    member.load_state_dict(own)  # into single precision, however they are stored
    return member


def n_members(card: Mapping[str, Any]) -> int:
    """How many members a model has."""
    return int(card["members"]) if "members" in card else len(card["temperatures"])


def member_tensors(tensors: Mapping[str, Any], number: int) -> dict[str, Any]:
    """One member's weights by the names that it gives them, of :func:`biobgt.model.ensemble.ensemble_tensors`."""
    prefix = f"member{number}."
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}


def _check_shapes(name: str | Path, file: Path, card: Mapping[str, Any], preset: "Preset") -> None:
    """Refuse weights of other shapes than the card's, which is seen without building or reading any of them."""
    import torch
    from safetensors import safe_open

    from biobgt.model.transformer import BioBGT

    n_groups = card["readout"]["n_groups"] if "readout" in card else len(card["groups"])
    with safe_open(file, framework="pt") as stored:
        keys = list(stored.keys())
        found = {key: tuple(stored.get_slice(key).get_shape()) for key in keys if key.startswith("member")}
    with torch.device("meta"):  # shapes without numbers
        member = BioBGT(preset, n_regions=card["n_regions"], n_groups=n_groups).state_dict()
    if len(found) != n_members(card) * len(member) or any(
        found.get(f"member{i}.{key}") != tuple(value.shape)
        for i in range(n_members(card))
        for key, value in member.items()
    ):
        raise _unfitting(name)


def _unfitting(name: str | Path) -> InputError:
    return InputError(f"The weights of model '{name}' do not fit its card; the folder is damaged.")


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
