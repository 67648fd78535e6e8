"""Models on disk: what is damaged, wrong or missing ends in a sentence before anything runs."""

import io
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from planted_cohort import ATLAS, planted_cohort, small
from safetensors.torch import load_file, save_file

import biobgt.model.ensemble
from biobgt.base.errors import InputError
from biobgt.base.files import sha256
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.model import load_card, load_groups, load_pretrained
from biobgt.model.folder import load_region_weights
from biobgt.model.network import BioBGT, GraphBatch
from biobgt.model.presets import choose_device

PRESET = small("best", layers=2)
MEASURED = {"value": 0.5, "low": 0.4, "high": 0.6}
RESULTS = dict.fromkeys(("accuracy", "auc", "f1", "sensitivity", "specificity", "brier", "ece"), MEASURED)


@pytest.fixture(scope="module")
def whole(members: tuple[BioBGT, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    weights = {f"member{i}.{key}": value for i, one in enumerate(members) for key, value in one.state_dict().items()}
    save_file(weights, folder / "model.safetensors")
    card = {
        "format": 1,
        "name": "tiny",
        "headline": "At or near chance: it was never trained.",
        "simulated": False,
        "data": {"cohort": "folder", "title": "t", "terms": "t", "citation": "c", "subjects": {"NC": 8, "ASD": 8}},
        "atlas": ATLAS.name,
        "atlas_fingerprint": ATLAS.fingerprint,
        "n_regions": 16,
        "groups": ["NC", "ASD"],
        "preset": PRESET.as_dict(),
        "n_parameters": 1,
        "protocol": "none",
        "results": {"BioBGT": RESULTS, "ridge": RESULTS},
        "evaluation": [],
        "paper": None,
        "attention": {"NC": 1.0, "ASD": 1.0},
        "temperatures": [1.5, 0.5],
        "familiarity": {"mean_correlation": [-1, 1], "distance": [0, 99], "timepoints": [70, 90]},
        "limits": ["Research use only."],
        "training": {"command": "c", "seed": 0, "seconds_an_epoch": 1, "peak_memory_mb": 1, "versions": {}},
        "sha256": sha256(folder / "model.safetensors"),
    }
    (folder / "card.json").write_text(json.dumps(card))
    np.savez_compressed(folder / "groups.npz", **_group_arrays())
    pd.DataFrame({"feature": ["a"], "q": [1.0]}).to_csv(folder / "tests.csv", index=False)
    return folder


def _group_arrays(n_regions: int = 16, n: int = 8) -> dict[str, np.ndarray]:
    heads = (PRESET.layers, PRESET.heads)
    shapes = {"attention": (*heads, n_regions, n_regions), "connectivity": (n_regions, n_regions)}
    shapes |= {"entanglement": (n_regions,), "contrast": heads, "embedding_contrast": ()}
    arrays = {"labels": np.zeros(2 * n, int), "probabilities": np.full((2 * n, 2), 0.5)}
    for group in ("NC", "ASD"):
        arrays |= {f"{what}_{group}": np.full(shape, 3.0) for what, shape in shapes.items()}
        arrays[f"n_{group}"] = np.array(n)
    return arrays


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(whole, tmp_path / "model"))


def _change(folder: Path, **changes: Any) -> None:
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps({**card, **changes}))


def _flip(file: Path, position: int) -> None:
    content = bytearray(file.read_bytes())
    content[position] ^= 0x10
    file.write_bytes(content)


def test_the_members_vote(whole: Path, members: tuple[BioBGT, ...], cohort: Cohort, graphs: GraphBatch) -> None:
    loaded = load_pretrained(whole, "cpu")
    with torch.no_grad():
        logits = (members[0](graphs) / 1.5 + members[1](graphs) / 0.5) / 2
    expected = logits.softmax(dim=1).numpy()
    table = loaded.predict(cohort)
    np.testing.assert_allclose(table[["p_NC", "p_ASD"]].to_numpy(), expected, atol=1e-5)
    seen = loaded.explain(cohort.subjects[:3])
    maps = [member.explain(graphs[:3]).mean_attention().weights.detach().numpy() for member in members]
    np.testing.assert_allclose(seen.attention.mean(axis=(1, 2)), np.mean(maps, axis=0), atol=1e-5)
    assert seen.modules.tolist() == graphs.modules[:3].tolist()


def test_an_unfamiliar_subject_is_told(whole: Path) -> None:
    rng = np.random.default_rng(0)
    short = Subject("short", series=planted_cohort(1).subjects[0].series[:40])
    flat = rng.standard_normal((80, 1)) + 0.1 * rng.standard_normal((80, 16))
    loaded = load_pretrained(whole, "cpu")
    warnings = loaded.predict(Cohort("c", (short, Subject("flat", series=flat)), ATLAS))["warning"]
    assert warnings[0] == (
        "40 time points; fewer than 100 are unreliable; 40 time points; at least 95 % of training subjects had 70 to 90"
    )
    assert warnings[1].endswith("one global signal (motion, breathing) may dominate"), "a flag, and no range beside it"


@pytest.mark.parametrize("position", [0, 100, 20_000, -1])
def test_damaged_weights(folder: Path, position: int) -> None:
    _flip(folder / "model.safetensors", position)
    with pytest.raises(InputError, match="damaged or not those of its card \\(SHA-256 differs\\)"):
        load_pretrained(folder)


def _change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change weights, and have the card say their hash."""
    file = folder / "model.safetensors"
    tensors = {key: value.clone() for key, value in load_file(file).items()}
    change(tensors)
    save_file(tensors, file)
    _change(folder, sha256=sha256(file))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("load", [load_pretrained, load_region_weights])
def test_weights_that_are_no_finite_numbers_are_refused(folder, load, value):
    assert load(folder) is not None
    _change_weights(folder, lambda tensors: tensors["member1.region_weight"].view(-1)[:1].fill_(value))
    with pytest.raises(InputError, match="hold values that are no finite numbers"):
        load(folder)


def _to_bfloat16(folder: Path) -> None:
    name = "member0.region_weight"
    _change_weights(folder, lambda tensors: tensors.update({name: tensors[name].to(torch.bfloat16)}))


@pytest.mark.parametrize(
    "damage",
    [
        _to_bfloat16,  # which numpy does not have
        lambda folder: (folder / "model.safetensors").unlink(),
        lambda folder: (folder / "model.safetensors").write_bytes(b"not weights"),
    ],
)
def test_weights_of_regions_that_cannot_be_read_are_a_sentence(folder: Path, damage) -> None:
    damage(folder)
    with pytest.raises(InputError, match="missing or damaged"):
        load_region_weights(folder)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sha256": "0" * 64}, "SHA-256 differs"),
        ({"sha256": "short"}, "not valid at sha256"),
        ({"n_regions": 20}, "do not fit its card"),
        ({"n_regions": 10_000_000}, "do not fit its card"),
        ({"n_regions": 10**9}, "do not fit its card"),
        ({"n_regions": 10**30}, "not valid at n_regions"),
        ({"n_regions": "many"}, "not valid at n_regions"),
        ({"groups": ["NC", "MCI", "AD"]}, "do not fit its card"),
        ({"temperatures": [1.0, 1.0, 1.0]}, "do not fit its card"),
        ({"temperatures": [0.0]}, "not valid at temperatures/0"),
        ({"preset": {**PRESET.as_dict(), "wings": 2}}, "unknown setting 'wings'"),
        ({"preset": {**PRESET.as_dict(), "heads": 3}}, "cannot be shared by 3 attention heads"),
        ({"preset": {**PRESET.as_dict(), "values": "guess"}}, "no kind of values 'guess'"),
        ({"preset": {**PRESET.as_dict(), "layers": 3}}, "do not fit its card"),
        ({"preset": {**PRESET.as_dict(), "width": 16_384, "ffn": 65_536, "layers": 64}}, "do not fit its card"),
        ({"preset": {**PRESET.as_dict(), "dropout": "half"}}, "'dropout' is 'half'; it must be a number"),
        ({"preset": {**PRESET.as_dict(), "tied": "no"}}, "'tied' is 'no'; it must be true or false"),
        ({"preset": {**PRESET.as_dict(), "name": 5}}, "'name' is 5; it must be text"),
        ({"preset": {**PRESET.as_dict(), "drop_edges": [0.1, "x"]}}, "'drop_edges' must be two shares"),
        ({"preset": {"name": "p", "layers": None, "heads": {}, "width": []}}, "not valid at preset"),
        ({"temperatures": [1e7, 1.0]}, "not valid at temperatures/0"),
        ({"temperatures": [float("nan")]}, "cannot be read"),
        ({"files": {"../../secret": "0" * 64}}, "not valid at files"),
        ({"atlas_fingerprint": "short"}, "not valid at atlas_fingerprint"),
        ({"format": 2}, "not valid at format"),
        ({"surprise": 1}, "'surprise'"),
    ],
)
def test_a_card_that_does_not_hold(folder: Path, changes: dict[str, Any], sentence: str) -> None:
    _change(folder, **changes)
    with pytest.raises(InputError, match=sentence):
        load_pretrained(folder, "cpu")


def _lose_field(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps({key: card[key] for key in card if key != "headline"}))


def _lose_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"nothing that safetensors knows")
    _change(folder, sha256=sha256(folder / "model.safetensors"))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "card.json").write_text('{"format": 1, "na'), "cannot be read \\(JSONDecodeError\\)"),
        (lambda folder: (folder / "card.json").write_text('{"a":' * 100_000), "cannot be read"),
        (_lose_weights, "do not fit its card"),
        (lambda folder: (folder / "card.json").write_bytes(b"\xff\xfe\x00"), "cannot be read \\(UnicodeDecodeError\\)"),
        (_lose_field, "not valid at its top: 'headline' is a required property"),
        (lambda folder: (folder / "card.json").unlink(), "There is no model .* folder that holds a card.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "model.safetensors is missing beside its card"),
    ],
)
def test_broken_or_missing_files(folder: Path, damage: Callable[[Path], object], sentence: str) -> None:
    damage(folder)
    with pytest.raises(InputError, match=sentence):
        load_pretrained(folder, "cpu")


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "groups.npz").unlink(),
        lambda folder: (folder / "groups.npz").write_bytes(b"PK\x03\x04 no archive"),
        lambda folder: (folder / "groups.npz").write_bytes((folder / "groups.npz").read_bytes()[:400]),
        lambda folder: np.savez(folder / "groups.npz", labels=np.zeros(2)),
        lambda folder: _flip(folder / "groups.npz", 75),
        lambda folder: (folder / "tests.csv").write_text(""),
        lambda folder: np.savez(folder / "groups.npz", **_group_arrays() | {"n_NC": np.array(np.inf)}),
        lambda folder: np.savez(folder / "groups.npz", **_group_arrays() | {"n_NC": np.array(np.nan)}),
    ],
    ids=["missing", "no archive", "cut", "without arrays", "flipped", "no tests", "endless", "no number"],
)
def test_damaged_group_results(folder: Path, damage: Callable[[Path], object]) -> None:
    load_groups(folder)
    damage(folder)
    with pytest.raises(InputError, match="group results"):
        load_groups(folder)
    load_pretrained(folder, "cpu")  # the model itself is whole


@pytest.mark.parametrize("setting", [field.name for field in fields(PRESET) if field.type is int])
def test_no_whole_number_of_a_preset_is_without_end(folder: Path, setting: str) -> None:
    for value in (-1, 10**18, 10**3000, 2.5, None, "1", True):
        _change(folder, preset={**PRESET.as_dict(), setting: value})
        with pytest.raises(InputError, match=f"not valid at preset: The preset's setting '{setting}' is"):
            load_card(folder)


@pytest.mark.parametrize(
    ("arrays", "what"),
    [
        (_group_arrays(n_regions=20), "shape of attention_NC"),
        (_group_arrays(n=9), "numbers of subjects|shape of labels"),
        (_group_arrays() | {"attention_ASD": np.zeros((16, 16))}, "shape of attention_ASD"),
        (_group_arrays() | {"labels": np.array(["x"] * 16)}, "shape of labels"),
    ],
    ids=["other regions", "other subjects", "without heads", "text"],
)
def test_group_results_of_another_training_are_refused(folder, arrays, what) -> None:
    assert load_groups(folder).attention["NC"].shape == (PRESET.layers, PRESET.heads, 16, 16)
    np.savez_compressed(folder / "groups.npz", **arrays)
    with pytest.raises(InputError, match=f"another training: the ({what})"):
        load_groups(folder)


@pytest.mark.parametrize("name", ["groups.npz", "tests.csv"])
def test_a_file_of_another_training_with_the_same_shapes_is_refused(folder: Path, name: str) -> None:
    _change(folder, files={name: sha256(folder / name) for name in ("groups.npz", "tests.csv")})
    load_groups(folder)
    np.savez_compressed(folder / "groups.npz", **_group_arrays() | {"connectivity_NC": np.zeros((16, 16))})
    if name == "tests.csv":
        _change(folder, files={name: "0" * 64})
    with pytest.raises(InputError, match=f"another training: the SHA-256 of {name}"):
        load_groups(folder)


def test_a_small_file_that_declares_a_large_array_is_refused_before_it_is_read(folder: Path) -> None:
    big = io.BytesIO()
    np.lib.format.write_array_header_1_0(big, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)})
    _replace_member(folder / "groups.npz", "attention_NC.npy", big.getvalue())
    with pytest.raises(InputError, match="the shape of attention_NC differ from the card's"):
        load_groups(folder)
    _replace_member(folder / "groups.npz", "attention_NC.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': [[[[[(((")
    with pytest.raises(InputError, match="group results"):
        load_groups(folder)


def test_a_card_that_declares_more_than_a_machine_holds_is_refused(folder: Path) -> None:
    _change(folder, n_regions=100_000)
    with pytest.raises(InputError, match=r"asks for an array of .* numbers; at most 268,435,456 are read"):
        load_groups(folder)


def _replace_member(archive: Path, member: str, content: bytes) -> None:
    with zipfile.ZipFile(archive) as before:
        held = {name: before.read(name) for name in before.namelist()}
    with zipfile.ZipFile(archive, "w") as after:
        for name, old in held.items():
            after.writestr(name, content if name == member else old)


def test_another_atlas_is_told_by_order_names_and_coordinates_before_anything_runs(whole, cohort, monkeypatch):
    monkeypatch.setattr(biobgt.model.ensemble, "prepare", lambda *_, **__: pytest.fail("something ran"))
    loaded = load_pretrained(whole, "cpu")
    loaded.check(cohort)
    loaded.check(replace(cohort, atlas=replace(ATLAS, name="as-i-call-it", labels={})))
    for other, words in (
        (replace(ATLAS, regions=ATLAS.regions[::-1]), "the same name, but the names, order or coordinates"),
        (replace(ATLAS, regions=("X", *ATLAS.regions[1:])), "the same name"),
        (replace(ATLAS, coordinates=np.ones((16, 3))), "the same name"),
        (numbered_atlas(16), "is on unknown16"),
    ):
        with pytest.raises(InputError, match=words):
            loaded.predict(replace(cohort, atlas=other))
    cut = [Subject(one.id, series=one.series[:, :12]) for one in cohort]
    with pytest.raises(InputError, match="16 regions; cohort 'few' has 12"):
        loaded.predict(Cohort("few", tuple(cut), numbered_atlas(12)))


def test_unknown_names_and_devices(whole: Path) -> None:
    with pytest.raises(InputError, match="There is no model 'nobody'"):
        load_card("nobody")
    with pytest.raises(InputError, match="no device 'abacus'"):
        load_pretrained(whole, "abacus")
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="No CUDA GPU"):
            load_pretrained(whole, "cuda")
    if not torch.backends.mps.is_available():
        with pytest.raises(InputError, match="No Apple GPU"):
            load_pretrained(whole, "mps")


def test_a_gpu_beyond_those_there_are_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(InputError, match="This machine has 2 CUDA GPUs, numbered from 0"):
        choose_device("cuda:2")


READ_A_CARD = """
import sys
from biobgt.model import load_card, load_groups, load_pretrained, preset_named, pretrained_names
preset_named("best")
for name in pretrained_names():
    load_card(name), load_groups(name)
assert "torch" not in sys.modules, "torch was imported"
"""


def test_cards_are_read_without_torch() -> None:
    done = subprocess.run([sys.executable, "-c", READ_A_CARD], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
