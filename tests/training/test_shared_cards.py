"""A network that several cohorts share, on disk: one set of weights, an ordinary model folder for each readout."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from planted_cohort import planted_cohort, small

from biobgt.base.errors import InputError
from biobgt.base.files import sha256
from biobgt.model.folder import CARD, load_card, load_pretrained, load_region_weights
from biobgt.model.group_results import load_groups, load_spread
from biobgt.model.network import BioBGT
from biobgt.model.out_of_distribution import id_hashes
from biobgt.modules import module_contrast
from biobgt.training.card_text import CardText
from biobgt.training.cards import write_shared_model
from biobgt.training.cohorts import JoinedCohorts, Split, join_training_cohorts, protocol_splits
from biobgt.training.folds import LabelledGraphs, label_graphs, train_members

Splits = tuple[Split, ...]
PRESET = small("best", epochs=1, pretrain_steps=2)


@pytest.fixture(scope="module")
def joined() -> JoinedCohorts:
    """Two planted cohorts of different people; in the second nothing differs between its groups."""
    first = replace(planted_cohort(12), name="abide")
    second = planted_cohort(12, difference=0.0, seed=1)
    renamed = tuple(replace(one, group="ADHD" if one.group == "ASD" else one.group) for one in second)
    return join_training_cohorts([first, replace(second, name="cni-adhd", subjects=renamed)])


@pytest.fixture(scope="module")
def data(joined: JoinedCohorts) -> LabelledGraphs:
    return label_graphs(joined.whole, PRESET, readouts=joined.readouts)


@pytest.fixture(scope="module")
def splits(joined: JoinedCohorts) -> Splits:
    return protocol_splits(joined.whole, "folds", n=3, seed=0)


@pytest.fixture(scope="module")
def folder(
    joined: JoinedCohorts, data: LabelledGraphs, splits: Splits, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    place = tmp_path_factory.mktemp("shared")
    members = train_members(data, splits, PRESET, folder=place / "runs")
    write_shared_model(
        place / "two",
        name="two",
        joined=joined,
        data=data,
        members=members,
        splits=splits,
        runs=place / "runs",
        command="biobgt train --cohort abide --cohort cni-adhd",
        seed=0,
    )
    return place / "two"


def test_the_network_and_its_readouts_have_cards(folder: Path, joined: JoinedCohorts) -> None:
    card = load_card(folder)
    assert card["groups"] == ["NC (ABIDE)", "NC (CNI-2019)", "ASD", "ADHD"]
    assert [one["cohort"] for one in card["readouts"]] == ["abide", "cni-adhd"]
    assert card["headline"].startswith("One network for 2 cohorts")
    own = load_card(folder / "abide")
    assert own["groups"] == ["NC (ABIDE)", "ASD"]
    assert own["readout"] == {"of": "two", "columns": [0, 2], "n_groups": 4}
    assert own["sha256"] == card["sha256"]  # one set of weights
    assert not (folder / "abide" / "model.safetensors").exists()
    assert set(own["paired"]) == set(own["results"]) - {"BioBGT"}
    assert "shared by all cohorts" in own["protocol"]
    assert "ASD" in (folder / "README.md").read_text()
    assert "minus that of each linear model" in (folder / "abide" / "README.md").read_text()


def test_a_readout_knows_the_ids_of_all_cohorts_as_their_files_have_them(folder: Path, joined: JoinedCohorts) -> None:
    assert "trained_ids" not in load_card(folder / "abide")
    readout = load_pretrained(folder / "abide")
    assert joined.whole.ids[0] == "abide_NC-0"
    for name, known in {"NC-0": True, "nc-11_ses-2": True, "NC-12": False, "abide_NC-0": False}.items():
        assert bool(readout.trained_ids & id_hashes([name], readout.id_salt)) is known


def test_a_readout_says_what_the_networks_own_groups_say(
    folder: Path, data: LabelledGraphs, joined: JoinedCohorts
) -> None:
    network, readout = load_pretrained(folder), load_pretrained(folder / "cni-adhd")
    graphs = data.part(joined.rows(1)[:4])[0]
    expected = []
    for whole, own, temperature in zip(network.members, readout.members, readout.temperatures, strict=True):
        with torch.no_grad():
            logits = whole(graphs)[:, [1, 3]]
            torch.testing.assert_close(own(graphs), logits)
        expected.append(logits.double() / temperature)
    np.testing.assert_allclose(
        readout.probabilities(graphs), torch.stack(expected).mean(dim=0).softmax(dim=1).numpy(), atol=1e-6
    )
    both = network.probabilities(graphs)
    np.testing.assert_allclose(both[:, [0, 2]].sum(axis=1), 1, atol=1e-6)  # of each readout, not of all
    np.testing.assert_allclose(both[:, [1, 3]].sum(axis=1), 1, atol=1e-6)


def test_a_network_does_not_guess_which_controls_are_meant(folder: Path, joined: JoinedCohorts) -> None:
    with pytest.raises(InputError, match=r"Name the one whose controls.*two/cni-adhd \(NC \(CNI-2019\), ADHD\)"):
        load_pretrained(folder).predict(joined.parts[0])
    few = replace(joined.parts[0], subjects=joined.parts[0].subjects[:2])
    table = load_pretrained(folder / "abide").predict(few)
    assert list(table)[1:3] == ["p_NC (ABIDE)", "p_ASD"]
    assert table["warning"].str.contains("trained on this scan").all()


def test_group_results_of_the_network_are_those_of_its_readouts(folder: Path, joined: JoinedCohorts) -> None:
    whole, parts = load_groups(folder), [load_groups(folder / kind) for kind in ("abide", "cni-adhd")]
    assert list(whole.n) == ["NC (ABIDE)", "NC (CNI-2019)", "ASD", "ADHD"]
    np.testing.assert_array_equal(whole.attention["ADHD"], parts[1].attention["ADHD"])
    assert len(whole.labels) == 48
    np.testing.assert_allclose(whole.probabilities.sum(axis=1), 1, atol=1e-5)
    assert (whole.probabilities[whole.labels == 0][:, [1, 3]] == 0).all()
    pairs = set(whole.tests["between"])
    assert pairs == {"NC (ABIDE) - NC (CNI-2019)", "NC (ABIDE) - ASD", "NC (CNI-2019) - ADHD"}
    controls = whole.tests[whole.tests["between"] == "NC (ABIDE) - NC (CNI-2019)"]
    assert controls["covariates"].str.contains("site").any(), "adjusted for what both know"


def test_likeness_is_on_the_card(folder: Path) -> None:
    (one,) = load_card(folder)["likeness"]
    assert one["first"] == ["NC (ABIDE)", "ASD"]
    assert one["second"] == ["NC (CNI-2019)", "ADHD"]
    assert -1 <= one["r"] <= 1
    assert 0 < one["p"] <= 1
    assert abs(one["expected"]) < 0.15  # different people: nothing is expected by chance
    assert "Adjusted for, by cohort: ABIDE: " in CardText(load_card(folder)).likeness


def test_spread_is_that_of_people_and_sorted(
    folder: Path, data: LabelledGraphs, splits: Splits, joined: JoinedCohorts
) -> None:
    spread, network = load_spread(folder), load_pretrained(folder)
    assert spread is not None
    maps, contrasts = [], []
    for row in np.flatnonzero(data.labels == 2):
        (number,) = [i for i, split in enumerate(splits) if row in split.test]
        with torch.no_grad():
            seen = network.members[number].explain(data.part(np.array([row]))[0])
        maps.append(seen.mean_attention().weights[0].double().numpy() * 16)
        heads = [module_contrast(one.weights.numpy(), data.graphs.modules[[row]].numpy())[0] for one in seen.attention]
        contrasts.append(np.mean(heads))
    np.testing.assert_allclose(spread.median["ASD"], np.median(maps, axis=0), rtol=2e-3, atol=1e-3)
    error = np.std(maps, axis=0, ddof=1) / np.sqrt(len(maps))
    np.testing.assert_allclose(spread.error["ASD"], error, rtol=5e-3, atol=1e-3)
    np.testing.assert_allclose(spread.people["ASD"][:, 0], np.sort(contrasts), rtol=1e-3)


def test_damaged_readouts_are_refused(folder: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(folder, tmp_path / "two"))
    for columns in ([0, 9], [2, 0]):  # the card is all that says which of the network's numbers is whose
        _change(copied / "abide", lambda card, columns=columns: card["readout"].update(columns=columns))
        with pytest.raises(InputError, match="groups that its network does not have"):
            load_pretrained(copied / "abide")
    _change(copied, lambda card: card["readouts"][0].update(groups=["NC (ABIDE)", "nobody"]))
    with pytest.raises(InputError, match="readouts"):
        load_card(copied)


def _change(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    card = json.loads((place / CARD).read_text())
    change(card)
    (place / CARD).write_text(json.dumps(card))


def _relabel(place: Path) -> None:
    with np.load(place / "groups.npz") as stored:
        arrays = dict(stored)
    np.savez(place / "groups.npz", **{**arrays, "labels": arrays["labels"] + 7})
    _change(place, lambda card: card.pop("files"))


def _no_table(network: Path) -> None:
    (network / "tests.csv").write_bytes(b"\xff\xfe\xfd")
    _change(network, lambda card: card.pop("files"))


def _exchange(network: Path) -> None:
    (network / "abide").rename(network / "other")
    (network / "cni-adhd").rename(network / "abide")
    (network / "other").rename(network / "cni-adhd")


def _link_to_itself(network: Path) -> None:
    shutil.rmtree(network / "abide")
    (network / "abide").symlink_to(".")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda network: (network / "tests.csv").unlink(), "lack tests.csv; the folder is damaged"),
        (lambda network: (network / "tests.csv").write_bytes(b"\xff\xfe"), "SHA-256 of tests.csv differ"),
        (_no_table, r"cannot be read \(UnicodeDecodeError\)"),
        (_exchange, "'abide' of model .* is not the readout that its card tells of"),
        (_link_to_itself, "'abide' of model .* is not the readout that its card tells of"),
        (
            lambda network: _change(network / "abide", lambda card: card.update(sha256="0" * 64)),
            "a readout of another training than the network",
        ),
        (
            lambda network: _change(network / "abide", lambda card: card["readout"].update(columns=[0, 1])),
            "names groups that its network does not have",
        ),
        (
            lambda network: _change(
                network / "abide", lambda card: card["data"].update(subjects={"NC (ABIDE)": 12, "nobody": 12})
            ),
            "not valid at data: its groups are not those of the card",
        ),
        (lambda network: _relabel(network / "abide"), "of another training: the labels"),
    ],
)
def test_group_results_of_a_damaged_network_are_refused(
    folder: Path, tmp_path: Path, damage: Callable[[Path], object], sentence: str
) -> None:
    shutil.copytree(folder, tmp_path / "two")
    damage(tmp_path / "two")
    with pytest.raises(InputError, match=sentence):
        load_groups(tmp_path / "two")


def test_a_spread_that_grows_as_no_numbers_do_is_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "two")
    place = tmp_path / "two" / "abide"
    with np.load(place / "spread.npz") as stored:
        arrays = {
            name: values if name.startswith("people") else np.zeros((2000, 2000)) for name, values in stored.items()
        }
    np.savez_compressed(place / "spread.npz", **arrays)
    _change(place, lambda card: card.update(n_regions=2000, files={"spread.npz": sha256(place / "spread.npz")}))
    with pytest.raises(InputError, match=r"would grow from .* as no measured data do"):
        load_spread(place)


def test_region_weights_are_the_networks(folder: Path) -> None:
    weights = load_region_weights(folder / "abide")
    np.testing.assert_array_equal(weights, load_region_weights(folder))
    assert weights is not None
    assert weights.shape == (3, 16)


def test_a_cohort_too_small_to_be_divided_is_refused_before_training(tmp_path: Path) -> None:
    kinds = ("abide", "cni-adhd")
    joined = join_training_cohorts([replace(planted_cohort(4, seed=i), name=kind) for i, kind in enumerate(kinds)])
    data = label_graphs(joined.whole, PRESET, readouts=joined.readouts)
    splits = protocol_splits(joined.whole, "folds", n=2, seed=0)
    members = [BioBGT(PRESET, n_regions=16, n_groups=4)] * 2
    written = {"joined": joined, "data": data, "members": members, "splits": splits}
    with pytest.raises(InputError, match="nobody is left to validate"):
        write_shared_model(tmp_path, name="x", **written, runs=tmp_path, command="", seed=0)
    with pytest.raises(InputError, match="nobody is left to validate"):
        train_members(data, splits, PRESET, folder=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()
