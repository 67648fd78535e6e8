"""The user's own models: what is a model is listed, what was made to do harm is refused and leaves nothing."""

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file
from tiny_models import write_tiny_model, write_tiny_network

from biobgt.base.errors import InputError
from biobgt.base.files import sha256
from biobgt.model import installed_model, installed_models, load_card, load_groups, load_pretrained, pretrained_names
from biobgt.model.folder import model_folder, own_folders, own_models_folder, readout_names, shipped_folders
from biobgt.model.own import add_model, remove_model, zip_model

WHOLE = {"card.json", "model.safetensors", "groups.npz", "spread.npz", "tests.csv", "README.md"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    folder.mkdir()
    write_tiny_model(folder, "asd", "folder", simulated=True)
    return folder


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks") / "shared"
    folder.mkdir()
    write_tiny_network(folder)
    return folder


@pytest.fixture
def model(whole: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(whole, tmp_path / "copy"))


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test has a data folder of its own, in which no half of a model is left."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield
    root = own_models_folder()
    assert {path.name for path in root.glob("*")} == set(own_folders()) if root.exists() else True


def _refused(source: Path, word: str, name: str | None = "mine") -> None:
    with pytest.raises(InputError, match=word) as refusal:
        add_model(source, name)
    assert str(own_models_folder()) not in str(refusal.value)
    assert own_folders() == {}


def _zip(target: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_an_added_model_is_listed_beside_the_shipped_ones(whole: Path) -> None:
    shipped = pretrained_names()
    assert add_model(whole, "mine") == "mine"
    assert pretrained_names() == (*shipped, "mine")
    assert set(installed_models()) >= {"mine"}
    assert installed_model("mine").card["name"] == "mine"
    assert load_pretrained("mine", "cpu").name == "mine"
    np.testing.assert_array_equal(load_groups("mine").probabilities, load_groups(whole).probabilities)
    assert own_models_folder().stat().st_mode & 0o777 == 0o700
    remove_model("mine")
    assert pretrained_names() == shipped
    with pytest.raises(InputError, match="There is no model"):
        load_card("mine")


def test_its_name_is_that_of_the_folder_or_the_zip(whole: Path, tmp_path: Path) -> None:
    assert add_model(whole) == "tiny"
    (tmp_path / "other.zip").write_bytes(zip_model(model_folder("tiny")))
    assert add_model(tmp_path / "other.zip") == "other"
    one, other = (_contents(model_folder(name)) for name in ("tiny", "other"))
    assert {name for name in one if one[name] != other[name]} == {"card.json"}
    assert set(one) == WHOLE


def test_a_zip_of_the_folder_itself_is_taken(whole: Path, tmp_path: Path) -> None:
    files = {f"tiny/{name}": content for name, content in _contents(whole).items()}
    assert add_model(_zip(tmp_path / "a.zip", files)) == "a"


def test_a_network_comes_with_its_readouts(network: Path) -> None:
    add_model(network, "net")
    assert {"net/abide", "net/cni-adhd"} <= set(readout_names())
    own = installed_model("net").readout("abide")
    assert (own.card["name"], own.card["readout"]["of"]) == ("net/abide", "net")
    assert load_pretrained("net/abide", "cpu").groups == own.group_names
    _ = installed_model("net").groups


def test_what_else_lies_in_the_folder_stays_there(model: Path) -> None:
    (model / "runs").mkdir()
    (model / "runs" / "checkpoint.pt").write_bytes(b"subjects")
    (model / "notes.txt").write_text("private")
    add_model(model, "mine")
    assert {path.name for path in model_folder("mine").iterdir()} == WHOLE


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", " ", "a b", "ä", "x" * 61, "a\x1b[31m", "end."])
def test_a_name_is_plain(whole: Path, name: str) -> None:
    if name:
        _refused(whole, "cannot be the name", name)
    else:
        assert add_model(whole, name) == "tiny"
        remove_model("tiny")


def test_a_taken_name_is_refused_and_no_shipped_model_is_shadowed_or_removed(whole: Path) -> None:
    shipped = next(iter(shipped_folders()), None)
    if shipped is None:
        pytest.skip("the shipped models are not on this machine")
    _refused(whole, "comes with", shipped)
    _refused(whole, "comes with", shipped.upper())
    shutil.copytree(whole, own_models_folder() / shipped)  # by hand
    assert model_folder(shipped) == shipped_folders()[shipped]
    shutil.rmtree(own_models_folder() / shipped)
    with pytest.raises(InputError, match="not removed"):
        remove_model(shipped)
    add_model(whole, "mine")
    with pytest.raises(InputError, match="already"):
        add_model(whole, "Mine")
    with pytest.raises(InputError, match="no model"):
        remove_model("../mine")


@pytest.mark.parametrize("name", ["card.json", "model.safetensors", "README.md"])
def test_links_are_not_followed(model: Path, tmp_path: Path, name: str) -> None:
    moved = (model / name).rename(tmp_path / "outside")
    (model / name).symlink_to(moved)
    _refused(model, "link")


def test_a_link_to_a_readout_is_not_followed(network: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(network, tmp_path / "net"))
    (copy / "abide").rename(tmp_path / "outside")
    (copy / "abide").symlink_to(tmp_path / "outside")
    _refused(copy, "link")


def test_a_pipe_is_not_waited_for(model: Path) -> None:
    import os

    (model / "tests.csv").unlink()
    os.mkfifo(model / "tests.csv")
    _refused(model, "pipe")


def test_a_listed_folder_is_no_link(whole: Path) -> None:
    own_models_folder().mkdir(parents=True)
    (own_models_folder() / "linked").symlink_to(whole)
    assert own_folders() == {}
    (own_models_folder() / "linked").unlink()


def test_a_huge_card_is_refused_before_it_is_read(model: Path) -> None:
    with (model / "card.json").open("r+b") as file:
        file.truncate(2**40)  # a hole: no disk is taken
    _refused(model, "at most")


def test_huge_weights_are_refused_before_they_are_copied(model: Path) -> None:
    with (model / "model.safetensors").open("r+b") as file:
        file.truncate(2**40)
    _refused(model, "at most")


def _change_card(model: Path, **changes: Any) -> None:
    card = json.loads((model / "card.json").read_text())
    (model / "card.json").write_text(json.dumps(card | changes))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"sha256": "0" * 64}, "SHA-256"),
        ({"format": "x"}, "not valid"),
        ({"n_regions": 10**8}, "do not fit|other shapes|numbers"),
        ({"n_regions": 100}, "do not fit"),
        ({"atlas": "../../etc/passwd"}, "atlas"),
        ({"atlas": "aal90"}, "regions"),
        ({"groups": ["NC", "XX"]}, "groups"),
        ({"readout": {"of": "x", "columns": [0, 1], "n_groups": 2}}, "whole network|no model"),
    ],
)
def test_a_card_that_says_otherwise_is_refused(model: Path, changes: dict[str, Any], word: str) -> None:
    _change_card(model, **changes)
    _refused(model, word)


def _change_weights(model: Path, change: Callable[[dict[str, Any]], None]) -> None:
    tensors = load_file(model / "model.safetensors")
    change(tensors)
    save_file(tensors, model / "model.safetensors")
    _change_card(model, sha256=sha256(model / "model.safetensors"))


def test_weights_that_are_no_numbers_are_refused(model: Path) -> None:
    def spoil(tensors: dict[str, Any]) -> None:
        next(iter(tensors.values())).view(-1)[0] = float("nan")

    _change_weights(model, spoil)
    _refused(model, "finite")


def test_group_results_of_another_training_are_refused(model: Path) -> None:
    content = bytearray((model / "groups.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (model / "groups.npz").write_bytes(content)
    _refused(model, "another training")


def test_group_results_that_are_no_numbers_are_refused(model: Path) -> None:
    with np.load(model / "groups.npz") as held:
        arrays = dict(held)
    arrays["probabilities"] = np.full_like(arrays["probabilities"], np.nan)
    np.savez_compressed(model / "groups.npz", **arrays)
    files = load_card(model)["files"] | {"groups.npz": sha256(model / "groups.npz")}
    _change_card(model, files=files)
    _refused(model, "finite")


def test_nothing_is_unpickled(model: Path) -> None:
    np.savez(model / "groups.npz", labels=np.array([{"a": 1}], dtype=object))
    files = load_card(model)["files"] | {"groups.npz": sha256(model / "groups.npz")}
    _change_card(model, files=files)
    _refused(model, "group results|lack|damaged")


@pytest.mark.parametrize("missing", ["card.json", "model.safetensors", "groups.npz", "tests.csv"])
def test_what_lacks_a_file_is_refused(model: Path, missing: str) -> None:
    (model / missing).unlink()
    _refused(model, missing)


def test_a_zip_that_slips_out_writes_nothing_outside(whole: Path, tmp_path: Path) -> None:
    files = _contents(whole)
    add_model(_zip(tmp_path / "a.zip", files | {"../evil.txt": b"x", "/tmp/evil.txt": b"x", "../tests.csv": b"x"}))
    assert {path.name for path in model_folder("a").iterdir()} == WHOLE
    assert not list(tmp_path.rglob("evil.txt"))
    remove_model("a")
    _refused(_zip(tmp_path / "b.zip", {f"../{name}": one for name, one in files.items()}), "no zip of a model")
    _refused(_zip(tmp_path / "c.zip", {f"a/b/{name}": one for name, one in files.items()}), "no zip of a model")


def test_a_zip_with_a_link_or_an_entry_twice_is_refused(whole: Path, tmp_path: Path) -> None:
    files = _contents(whole)
    linked = _zip(tmp_path / "a.zip", {name: one for name, one in files.items() if name != "README.md"})
    entry = zipfile.ZipInfo("README.md")
    entry.external_attr = 0o120777 << 16
    with zipfile.ZipFile(linked, "a") as archive:
        archive.writestr(entry, "/etc/passwd")
    _refused(linked, "link")
    twice = _zip(tmp_path / "b.zip", files)
    with zipfile.ZipFile(twice, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("card.json", "{}")
    _refused(twice, "twice")


def test_a_zip_that_is_mostly_air_or_none_is_refused(whole: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(whole / "card.json", "card.json")
        archive.writestr("model.safetensors", bytes(2**27))
    _refused(tmp_path / "bomb.zip", "times")
    (tmp_path / "text.zip").write_text("no zip")
    _refused(tmp_path / "text.zip", "no zip")
    cut = zip_model(whole)
    (tmp_path / "cut.zip").write_bytes(cut[: len(cut) // 2])
    _refused(tmp_path / "cut.zip", "cut off")
    _refused(tmp_path / "absent", "no folder and no zip")
    _refused(tmp_path, "no model")


def test_a_data_folder_behind_a_link_is_refused(whole: Path, tmp_path: Path) -> None:
    own_models_folder().parent.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    own_models_folder().symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="link"):
        add_model(whole, "mine")
    assert list((tmp_path / "elsewhere").iterdir()) == []
