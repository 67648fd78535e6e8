"""How faithful attention is: hand-made models whose answer is known, and a planted model's card and words."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from planted_model import PRESET, draw_model

from biobgt.model.folder import load_card
from biobgt.model.network import AttentionMap, Explanation, GraphBatch
from biobgt.model.systems import BASELINES
from biobgt.training.card_text import CardText
from biobgt.training.cohorts import Split
from biobgt.training.faithfulness import (
    _Fold,
    _mean_subject,
    complete_faithfulness,
    gradient_times_input,
    mean_maps,
    n_top,
    randomised_encoder,
    randomised_kernel,
    randomised_readout,
    without_regions,
)
from biobgt.training.faithfulness_tables import ORDERS, SHARES, likeness_points, removal_points
from biobgt.training.folds import LabelledGraphs
from biobgt.training.start import ridge_weights

N_REGIONS, N_SUBJECTS = 40, 30


class HandMade(torch.nn.Module):
    """All regions look at those with much node entanglement; the readout sums what it reads of some regions.

    Parameters
    ----------
    reads_attended : bool
        Whether it reads the regions that are looked at, or the others.
    """

    def __init__(self, *, reads_attended: bool) -> None:
        super().__init__()
        self.reads_attended = reads_attended

    def attention(self, graphs: GraphBatch) -> torch.Tensor:
        n = graphs.entanglement.shape[1]
        return (20 * graphs.entanglement).softmax(dim=1)[:, None, :].expand(-1, n, -1)

    def forward(self, graphs: GraphBatch) -> torch.Tensor:
        attended = graphs.entanglement > 0.5
        read = attended if self.reads_attended else ~attended
        odds = 2 * (graphs.values.diagonal(dim1=1, dim2=2) * read).sum(dim=1)
        return torch.stack([-odds / 2, odds / 2], dim=1)

    def explain(self, graphs: GraphBatch) -> Explanation:
        return Explanation(self(graphs), (AttentionMap(0, 0, self.attention(graphs)),), graphs.features)


@pytest.fixture
def graphs() -> GraphBatch:
    """Subjects of whom each has four regions with much node entanglement; only the diagonal of values says anything."""
    random = np.random.default_rng(0)
    features = torch.from_numpy(random.random((N_SUBJECTS, N_REGIONS, N_REGIONS)).astype(np.float32))
    entanglement = torch.zeros(N_SUBJECTS, N_REGIONS)
    for own in entanglement:
        own[torch.from_numpy(random.choice(N_REGIONS, 4, replace=False))] = 1.0
    values = torch.diag_embed(torch.from_numpy(random.choice([-1.0, 1.0], (N_SUBJECTS, 1))).float().expand(-1, 40))
    modules, mask = torch.ones(N_SUBJECTS, N_REGIONS, dtype=torch.int64), torch.ones(N_SUBJECTS, N_REGIONS) > 0
    return GraphBatch(features, values.contiguous(), features.clone(), entanglement, modules, mask)


def numbers_of(model: torch.nn.Module, graphs: GraphBatch) -> dict[str, float]:
    """Means over subjects of what one fold with this member measures."""
    mean = GraphBatch(*(torch.zeros_like(getattr(graphs[:1], name)) for name in GraphBatch.__dataclass_fields__))
    fold = _Fold((model,), 0, 1.0, mean, {}, np.ones((N_REGIONS, N_REGIONS)), np.random.default_rng(0))
    return {name: float(one.mean()) for name, one in fold._removals(graphs, mean_maps(model, graphs)).items()}


def test_attention_that_decides_everything_scores_far_above_random(graphs: GraphBatch) -> None:
    found = numbers_of(HandMade(reads_attended=True), graphs)
    certain = 1 / (1 + np.exp(-8)) - 0.5  # four regions of log-odds 2 each, all or none
    assert found["deletion attention 0.1"] == pytest.approx(certain, abs=1e-6)
    assert found["deletion gradient 0.1"] == pytest.approx(certain, abs=1e-6)
    assert found["deletion random 0.1"] < certain / 5
    assert found["insertion attention 0.1"] == pytest.approx(0, abs=1e-6), "the attended tenth is enough"
    assert found["insertion random 0.1"] > certain / 5
    assert found["ahead"] == pytest.approx(found["deletion attention 0.1"] - found["deletion random 0.1"])


def test_attention_that_the_readout_does_not_read_scores_nothing(graphs: GraphBatch) -> None:
    found = numbers_of(HandMade(reads_attended=False), graphs)
    assert found["deletion attention 0.1"] == 0
    assert found["deletion gradient 0.5"] > 0
    assert found["ahead"] <= 0


def test_gradient_times_input_of_a_linear_model_is_what_removing_a_region_changes(graphs: GraphBatch) -> None:
    random = np.random.default_rng(1)
    weights = torch.from_numpy(random.normal(size=(N_REGIONS, N_REGIONS)).astype(np.float32))

    class Linear(torch.nn.Module):
        def forward(self, batch: GraphBatch) -> torch.Tensor:
            odds = (batch.features * weights).sum(dim=(1, 2)) / 10
            return torch.stack([-odds / 2, odds / 2], dim=1)

    model, mean = Linear(), _mean_subject(graphs)
    given = gradient_times_input(model, graphs, mean)
    whole = model(graphs)
    sign = torch.where(whole[:, 1] > whole[:, 0], 1.0, -1.0)
    for region in (0, 7):
        removed = np.zeros((N_SUBJECTS, N_REGIONS), dtype=np.bool_)
        removed[:, region] = True
        lost = ((whole - model(without_regions(graphs, removed, mean))) @ torch.tensor([-1.0, 1.0])) * sign
        np.testing.assert_allclose(given[:, region], lost.numpy(), atol=1e-4)


def test_a_removed_region_is_that_of_the_mean_and_the_others_stay(graphs: GraphBatch) -> None:
    mean, removed = _mean_subject(graphs), np.zeros((N_SUBJECTS, N_REGIONS), dtype=np.bool_)
    removed[:, [2, 5]] = True
    changed, kept = without_regions(graphs, removed, mean), ~removed[0]
    for name in ("features", "values", "weights"):
        before, after, usual = (getattr(one, name) for one in (graphs, changed, mean))
        assert torch.equal(after[:, 2], usual[:, 2].expand_as(after[:, 2]))
        assert torch.equal(after[:, :, 5], usual[:, :, 5].expand_as(after[:, :, 5]))
        assert torch.equal(after[:, kept][:, :, kept], before[:, kept][:, :, kept])
    assert torch.equal(changed.entanglement[:, 2], mean.entanglement[:, 2].expand(N_SUBJECTS))
    assert torch.equal(changed.modules, graphs.modules)
    nobody = without_regions(graphs, np.zeros_like(removed), mean)
    assert torch.equal(nobody.values, graphs.values)


def test_a_share_of_regions_is_at_least_one() -> None:
    assert [n_top(0.1, n) for n in (4, 90, 200)] == [1, 9, 20]


def test_maps_do_not_know_the_readout_and_know_what_makes_them(data: LabelledGraphs) -> None:
    graphs = data.graphs[:4]
    member = draw_model(PRESET, data.graphs)
    before = {name: value.clone() for name, value in member.state_dict().items()}
    own = mean_maps(member, graphs)
    np.testing.assert_array_equal(mean_maps(randomised_readout(member, seed=0), graphs), own)
    for change in (randomised_kernel, randomised_encoder):
        assert np.abs(mean_maps(change(member, seed=0), graphs) - own).max() > 1e-6
        np.testing.assert_array_equal(
            mean_maps(change(member, seed=0), graphs), mean_maps(change(member, seed=0), graphs)
        )
    assert all(torch.equal(value, before[name]) for name, value in member.state_dict().items()), "a copy is changed"
    shuffled = randomised_kernel(member, seed=0).layers[0].attention.query.weight
    kept = member.layers[0].attention.query.weight
    assert torch.equal(shuffled.flatten().sort().values, kept.flatten().sort().values)
    assert not torch.equal(shuffled, kept)
    extractor = randomised_encoder(member, seed=0).extractor.convolutions[0].weight
    assert not torch.equal(extractor, member.extractor.convolutions[0].weight)
    assert torch.equal(
        randomised_kernel(member, seed=0).extractor.convolutions[0].weight, before["extractor.convolutions.0.weight"]
    )


def test_ridge_weights_are_those_of_the_linear_model_beside_every_model(data: LabelledGraphs) -> None:
    groups = torch.from_numpy(data.labels)
    found = ridge_weights(data.graphs.values, groups, len(data.groups))
    model = BASELINES["log"].build(data.shrinkage)
    model.fit(data.matrices.astype(np.float64), data.labels)
    rows, columns = np.triu_indices(len(found), 1)
    coefficients = np.abs(model.model_.coef_).mean(axis=0)
    expected = np.concatenate([coefficients[: len(rows)] / np.sqrt(2), coefficients[len(rows) :]])
    ours = np.concatenate([found[rows, columns], found.diagonal()])
    np.testing.assert_allclose(ours, expected, rtol=1e-2, atol=1e-3 * expected.max())


@pytest.fixture(scope="module")
def card(
    folder: Path, data: LabelledGraphs, splits: tuple[Split, ...], tmp_path_factory: pytest.TempPathFactory
) -> dict:
    """The planted model's card, once it is measured."""
    place = Path(shutil.copytree(folder, tmp_path_factory.mktemp("faithful") / "model"))
    assert load_card(place)["faithfulness"] is None
    told: list[tuple[int, int]] = []
    complete_faithfulness(place, data, splits, seed=0, progress=lambda *done: told.append(done))
    assert told[-1] == (3, 3)
    assert "Removing the most attended tenth" in (place / "README.md").read_text()
    return load_card(place)  # valid by the schema


def test_a_card_holds_every_order_and_share_with_intervals(card: dict, data: LabelledGraphs) -> None:
    found = card["faithfulness"]
    assert found["n"] == found["people"] == len(data.labels)
    points = removal_points(card)
    assert len(points) == 2 * len(ORDERS) * len(SHARES)
    assert set(points["order"]) == set(ORDERS.values())
    assert ((points["low"] <= points["value"]) & (points["value"] <= points["high"])).all()
    alike = likeness_points(card).set_index("what")
    assert alike.loc["readout shuffled", ["value", "low", "high"]].tolist() == [1, 1, 1]
    assert alike.loc["W and ψ shuffled", "value"] < 1
    assert "labels shuffled" not in alike.index, "no study measured it"
    assert 0 <= alike.loc["members: top tenth shared", "value"] <= 1


def test_the_words_say_what_the_numbers_do(card: dict) -> None:
    said = CardText(card).faithfulness
    assert "training with shuffled labels was not measured" in said
    studied = {**card, "attention_study": [{"map_correlation": 0.9999, "between": "NC - ASD"}]}
    assert "after training with shuffled labels at r = 0.999" in CardText(studied).faithfulness
    assert "labels shuffled" in set(likeness_points(studied)["what"])
    for older in ({}, {"faithfulness": None}):
        assert "has not been measured" in CardText(older).faithfulness
        assert removal_points(older).empty
        assert likeness_points(older).empty
    assert "on the card of each readout" in CardText({"readouts": []}).faithfulness


@pytest.mark.parametrize(
    ("attention", "low", "much"),
    [(0.05, -0.01, "no more than chance"), (0.06, 0.001, "hardly more than chance"), (0.1, 0.04, "2.0 times as much")],
)
def test_the_verdict_follows_the_interval_and_the_ratio(card: dict, attention: float, low: float, much: str) -> None:
    value = {"attention": attention, "random": 0.05}
    removed = [
        one | {"deletion": one["deletion"] | {"value": value.get(one["order"], 0.2)}}
        for one in card["faithfulness"]["removed"]
    ]
    ahead = {"value": attention - 0.05, "low": low, "high": 0.1}
    changed = {**card, "faithfulness": {**card["faithfulness"], "removed": removed, "ahead": ahead}}
    assert CardText(changed).faithfulness.startswith(
        f"Removing the most attended tenth of regions changes p by {attention:.3f}, a random tenth by 0.050: {much}."
    )
