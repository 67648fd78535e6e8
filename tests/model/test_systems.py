"""Every system of the benchmark: it learns a planted difference and not labels by lot, and keeps what it promises."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from planted_cohort import N_REGIONS, planted_cohort, small
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.metrics import roc_auc_score
from torch_geometric.nn import GATConv

from biobgt.model.inputs import correlations
from biobgt.model.network import BioBGT
from biobgt.model.peers import (
    MOST_HOPS,
    _DenseAttention,
    _DenseGraphAttention,
    _EncodedBatch,
    _shortest_paths,
    encode,
    n_parameters,
    with_importance,
)
from biobgt.model.presets import preset_named
from biobgt.model.systems import (
    BASELINES,
    NETWORK_TRAINING,
    PENALTIES,
    BioBGTSystem,
    ClassicalSystem,
    NetworkSystem,
    System,
    _LinearFeatures,
    _LinearSVM,
    _RandomForest,
    _Ridge,
    benchmark_systems,
    margins_to_logits,
)
from biobgt.training.folds import LabelledGraphs, label_graphs
from biobgt.training.trainer import predict_logits, train_network

SHRINKAGE = preset_named("best").shrinkage


def _matrices(groups: int) -> tuple[np.ndarray, np.ndarray]:
    cohort = planted_cohort(24, difference=0.1, groups=groups, seed=3)
    return np.stack([correlations(subject) for subject in cohort]), np.arange(groups).repeat(24)


@pytest.mark.parametrize("features", ["fisher-z", "tangent", "log"])
def test_two_groups_are_scikit_learns_ridge_classifier_up_to_a_scale(features: _LinearFeatures) -> None:
    matrices, groups = _matrices(2)
    train = np.arange(48) % 4 > 0
    model = _Ridge(features, SHRINKAGE).fit(matrices[train], groups[train])
    vectors = model._vectors(matrices) - model.mean_
    alphas = PENALTIES * np.square(vectors[train]).sum(axis=1).mean()
    expected = RidgeClassifierCV(alphas=alphas).fit(vectors[train], groups[train])
    assert model.model_.alpha_ == pytest.approx(expected.alpha_)
    logits = model.logits(matrices[~train])
    scale = model.map_[0][0, 0]
    assert scale > 0
    np.testing.assert_allclose(logits[:, 1], scale * expected.decision_function(vectors[~train]), atol=1e-8)
    np.testing.assert_allclose(logits[:, 0], -logits[:, 1], atol=1e-8)


def test_margins_of_cross_validation_are_of_subjects_left_out() -> None:
    """Fitted to labels by lot, margins that had seen their own subject would ask for a large scale."""
    matrices, _ = _matrices(2)
    scales = [
        _Ridge("fisher-z", SHRINKAGE).fit(matrices, np.random.default_rng(seed).permutation(48) % 2).map_[0][0, 0]
        for seed in range(6)
    ]
    assert np.median(scales) < 0.5


def test_the_middle_of_three_ordered_groups_is_not_masked() -> None:
    rng = np.random.default_rng(0)
    groups = np.arange(3).repeat(200)
    where = (groups + rng.normal(scale=0.35, size=600))[:, None]
    targets = 2.0 * np.eye(3)[groups] - 1
    design = np.hstack([np.ones((600, 1)), where])
    margins = design @ np.linalg.lstsq(design, targets, rcond=None)[0]
    masked = margins.argmax(axis=1)
    assert (masked == 1).mean() < 0.05
    matrix, offset = margins_to_logits(margins, groups)
    logits = margins @ matrix.T + offset
    right = (logits.argmax(axis=1) == groups).mean()
    best = LogisticRegression(C=np.inf).fit(where, groups).score(where, groups)
    assert right > best - 0.01 > (masked == groups).mean() + 0.1


def test_chance_never_turns_the_margin_of_two_groups_round() -> None:
    groups = np.array([0, 0, 1, 1])
    wrong = np.array([[-1.0, 1.0], [-0.5, 0.5], [1.0, -1.0], [0.5, -0.5]])
    matrix, offset = margins_to_logits(wrong, groups)
    assert 0 < matrix[0, 0] < 0.06
    np.testing.assert_array_equal(matrix, matrix[0, 0] * np.eye(2))
    np.testing.assert_array_equal(offset, 0)


SYSTEMS = benchmark_systems()
NETWORKS = {key: system for key, system in SYSTEMS.items() if isinstance(system, NetworkSystem)}
# Systems whose readout keeps the regions apart, or whose convolutions know them, promise no invariance.
KNOW_REGIONS = {"braingb-gcn", "braingnn"}
SHORT = replace(NETWORK_TRAINING, learning_rate=2e-3, batch_size=8, epochs=6, warmup_epochs=1, patience=0)
TRAIN, VALIDATION, TEST = np.arange(0, 32), np.arange(32, 44), np.arange(44, 80)


@pytest.fixture(scope="module")
def shuffled() -> LabelledGraphs:
    """80 subjects in random order, so that parts are cut out of it by rows."""
    data = label_graphs(planted_cohort(40, difference=0.5), small("best"))
    return data.select(np.random.default_rng(0).permutation(80))


def auc_of(system: NetworkSystem, data: LabelledGraphs) -> float:
    graphs, labels = encode(data.graphs, system.encoding), torch.from_numpy(data.labels)
    network = train_network(
        lambda: system.build(N_REGIONS, 2),
        (graphs[torch.from_numpy(TRAIN)], labels[TRAIN]),
        (graphs[torch.from_numpy(VALIDATION)], labels[VALIDATION]),
        SHORT,
        seed=1,
    )
    logits = predict_logits(network, graphs[torch.from_numpy(TEST)])
    return float(roc_auc_score(data.labels[TEST], (logits[:, 1] - logits[:, 0]).numpy()))


@pytest.mark.parametrize("key", NETWORKS)
def test_a_network_learns_the_planted_difference_and_not_labels_by_lot(key: str, shuffled: LabelledGraphs) -> None:
    assert auc_of(NETWORKS[key], shuffled) > 0.85
    lot = replace(shuffled, labels=np.random.default_rng(7).permutation(shuffled.labels))
    assert 0.2 < auc_of(NETWORKS[key], lot) < 0.8


@pytest.mark.parametrize("model", [_LinearSVM(), _RandomForest(trees=100)], ids=["svm", "forest"])
def test_a_classical_model_learns_the_planted_difference_and_not_labels_by_lot(model, shuffled):
    matrices, labels = shuffled.matrices.astype(np.float64), shuffled.labels
    lot = np.random.default_rng(7).permutation(labels)
    for given, low, high in ((labels, 0.85, 1.01), (lot, 0.2, 0.8)):
        fitted = model.fit(matrices[TRAIN], given[TRAIN])
        logits = fitted.logits(matrices[TEST])
        assert low < roc_auc_score(given[TEST], logits[:, 1] - logits[:, 0]) < high
    n_edges = N_REGIONS * (N_REGIONS - 1) // 2
    assert fitted.n_learnt() == n_edges + 1 if isinstance(model, _LinearSVM) else fitted.n_learnt() > 100


def test_three_groups_have_a_logit_each() -> None:
    data = label_graphs(planted_cohort(8, groups=3), small("best"))
    for model in (_LinearSVM(), _RandomForest(trees=40)):
        logits = model.fit(data.matrices.astype(np.float64), data.labels).logits(data.matrices.astype(np.float64))
        assert logits.shape == (24, 3)
    for system in NETWORKS.values():
        assert system.build(N_REGIONS, 3)(encode(data.graphs, system.encoding)).shape == (24, 3)


@pytest.mark.parametrize("key", NETWORKS)
def test_every_parameter_is_counted_and_learns(key: str, shuffled: LabelledGraphs) -> None:
    torch.manual_seed(0)
    system = NETWORKS[key]
    network = system.build(N_REGIONS, 2)
    assert n_parameters(network) == sum(value.numel() for value in network.parameters())
    logits, added = network.losses(
        encode(shuffled.graphs, system.encoding)[:16], torch.from_numpy(shuffled.labels[:16])
    )
    (torch.nn.functional.cross_entropy(logits, torch.from_numpy(shuffled.labels[:16])) + added).backward()
    still = [name for name, value in network.named_parameters() if value.grad is None]
    assert not still, f"{still} have no part in the result"


@pytest.mark.parametrize("key", NETWORKS)
def test_the_order_of_regions_matters_only_where_regions_are_known(key: str, shuffled: LabelledGraphs) -> None:
    """Rows and columns of the graph are put in another order, the columns of the features stay."""
    torch.manual_seed(0)
    system, order = NETWORKS[key], torch.from_numpy(np.random.default_rng(1).permutation(N_REGIONS))
    network = system.build(N_REGIONS, 2).eval()
    # All pairs are edges: with regions apart, eigenvectors of the eigenvalue 0 could be turned among themselves.
    graphs = replace(shuffled.graphs[:6], weights=shuffled.graphs.features[:6].abs())
    moved = replace(
        graphs, **{name: getattr(graphs, name)[:, order] for name in ("features", "values", "entanglement", "modules")}
    )
    moved = replace(moved, weights=graphs.weights[:, order][:, :, order])
    with torch.no_grad():
        before, after = (network(encode(one, system.encoding)) for one in (graphs, moved))
    assert torch.allclose(before, after, atol=1e-3) == (key not in KNOW_REGIONS)


def test_a_subject_does_not_depend_on_others_of_its_batch(shuffled: LabelledGraphs) -> None:
    for system in NETWORKS.values():
        torch.manual_seed(0)
        network, graphs = system.build(N_REGIONS, 2).eval(), encode(shuffled.graphs, system.encoding)
        with torch.no_grad():
            torch.testing.assert_close(network(graphs[3:4]), network(graphs[:9])[3:4], atol=1e-5, rtol=1e-4)


def test_dense_graph_attention_is_pytorch_geometrics(shuffled: LabelledGraphs) -> None:
    torch.manual_seed(0)
    ours, x = _DenseGraphAttention(N_REGIONS, 8, 2), shuffled.graphs.features[:1]
    edges = shuffled.graphs.weights[:1] > 0
    theirs = GATConv(N_REGIONS, 4, heads=2, bias=False)
    with torch.no_grad():
        theirs.lin.weight.copy_(ours.project.weight)
        theirs.att_src.copy_(ours.source[None])
        theirs.att_dst.copy_(ours.target[None])
        expected = theirs(x[0], edges[0].nonzero().T)
        torch.testing.assert_close(ours(x, edges)[0], expected, atol=1e-5, rtol=1e-4)


def test_shortest_paths_of_a_square_with_a_tail_and_an_island() -> None:
    """0-1-2 and 0-3-2 are two ways of two hops; 4 hangs on 2; 5 is alone."""
    weights = torch.zeros(1, 6, 6)
    for i, j, weight in ((0, 1, 0.2), (1, 2, 0.4), (0, 3, 0.6), (3, 2, 0.8), (2, 4, 1.0)):
        weights[0, i, j] = weights[0, j, i] = weight
    hops, means = _shortest_paths(weights)
    assert hops[0, 0].tolist() == [0, 1, 2, 1, 3, MOST_HOPS]
    assert means[0, 0].tolist() == pytest.approx([0, 0.2, 0.5, 0.6, 2 / 3, 0])
    assert torch.equal(hops, hops.transpose(1, 2))
    torch.testing.assert_close(means, means.transpose(1, 2))


def test_another_importance_stands_in_the_place_of_ne(shuffled: LabelledGraphs) -> None:
    graphs = shuffled.graphs[:3]
    assert with_importance(graphs, "ne") is graphs
    assert not with_importance(graphs, "none").entanglement.any()
    degrees = with_importance(graphs, "degree").entanglement
    assert torch.equal(degrees, (graphs.weights > 0).sum(dim=2).float())
    both = with_importance(graphs, "pe+degree")
    assert torch.equal(both.entanglement, degrees)
    assert both.features.shape == (3, N_REGIONS, N_REGIONS + 10)
    assert not with_importance(graphs, "pe").entanglement.any()
    others = [with_importance(graphs, name).entanglement for name in ("betweenness", "closeness", "eigenvector")]
    assert all(bool(torch.isfinite(one).all()) and one.shape == degrees.shape for one in others)


def test_the_register_has_every_row_and_says_why_one_is_empty() -> None:
    families = {family: [one for one in SYSTEMS.values() if one.family == family] for family in
                ("classical", "BioBGT", "graph transformers", "graph networks")}  # fmt: skip
    # Of BioBGT one row stands for the settings on ADNI and on ADHD-200, which are equal in the paper.
    assert [len(rows) for rows in families.values()] == [5, 11, 9, 5]
    assert {type(one) for one in families["BioBGT"]} == {BioBGTSystem}
    assert [one.baseline for one in families["classical"] if isinstance(one, ClassicalSystem)][:3] == [
        *BASELINES.values()
    ]
    empty = {key for key, one in SYSTEMS.items() if one.reason}
    assert empty == {key for key, one in SYSTEMS.items() if type(one) is System}
    assert empty == {"gtsp", "mcst-gcn", "groupbna"}
    assert all(one.citations or one.reason for one in SYSTEMS.values() if one.family != "classical")


def test_encodings_are_cut_with_their_subjects(shuffled: LabelledGraphs) -> None:
    whole = encode(shuffled.graphs, NETWORKS["gradformer"].encoding)
    part = whole[torch.tensor([4, 2])]
    assert isinstance(part, _EncodedBatch)
    for field in fields(_EncodedBatch):
        assert torch.equal(getattr(part, field.name), getattr(whole, field.name)[[4, 2]])


def test_told_weights_of_attention_are_those_it_uses() -> None:
    torch.manual_seed(0)
    layer, x = _DenseAttention(8, 2), torch.randn(3, 5, 8)
    bias = torch.randn(3, 1, 5, 5)
    undamped = layer(x, bias=bias, damping=torch.ones(()))
    torch.testing.assert_close(layer(x, bias=bias), undamped, atol=1e-5, rtol=1e-4)


def test_without_fm_attn_there_is_no_extractor_and_no_contrast(shuffled: LabelledGraphs) -> None:
    system = SYSTEMS["paper-without-fm-attn"]
    assert isinstance(system, BioBGTSystem)
    preset = replace(system.preset, width=16, heads=2, ffn=16)
    model, x = BioBGT(preset, n_regions=N_REGIONS, n_groups=2), torch.randn(2, N_REGIONS, 16)
    assert torch.equal(model.extractor(x, shuffled.graphs.weights[:2]), x)
    logits, contrast = model.losses(shuffled.graphs[:2], torch.Generator())
    assert logits.shape == (2, 2)
    assert contrast.item() == 0
