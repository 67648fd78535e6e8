"""Several cohorts in one network: each readout is its own cohort's, the encoder is everybody's, nobody is parted."""

from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from planted_cohort import planted_cohort, small
from torch.nn import functional

from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort
from biobgt.model.inputs import prepare
from biobgt.model.network import BioBGT
from biobgt.training.cohorts import JoinedCohorts, join_training_cohorts, protocol_splits, training_cohort
from biobgt.training.initialise import (
    initialise_readout,
    network_axes,
    own_logits,
    readout_parts,
    region_weights,
    with_readout,
)
from biobgt.training.trainer import train_model

CPU = torch.device("cpu")
READOUTS = ((0, 2), (1, 3, 4))


@pytest.fixture(scope="module")
def joined() -> JoinedCohorts:
    """Two planted cohorts; the second is simulated from the first's people."""
    first = replace(planted_cohort(8), name="abide")
    second = planted_cohort(8, groups=3, seed=1)
    subjects = tuple(replace(one, simulated=one.group != "NC") for one in second)
    return join_training_cohorts([first, replace(second, name="adsim", subjects=subjects)])


def test_subjects_are_parted_by_the_readout_of_their_group() -> None:
    labels = np.array([3, 0, 2, 4, 1])
    first, second = readout_parts(labels, 5, READOUTS)
    assert first.rows.tolist() == [1, 2]
    assert first.labels.tolist() == [0, 1]
    assert second.rows.tolist() == [0, 3, 4]
    assert second.labels.tolist() == [1, 2, 0]
    (all_of_them,) = readout_parts(labels, 5)
    assert all_of_them.labels.tolist() == labels.tolist()
    assert len(readout_parts(np.array([0, 2]), 5, READOUTS)) == 1  # nobody of the second


def test_nobody_is_told_apart_from_another_cohorts_subjects() -> None:
    logits = torch.randn(3, 5, generator=torch.Generator().manual_seed(0), requires_grad=True)
    groups = torch.tensor([2, 3, 0])
    loss = functional.cross_entropy(own_logits(logits, groups, READOUTS), groups, reduction="sum")
    own = [(0, (0, 2), 1), (1, (1, 3, 4), 1), (2, (0, 2), 0)]
    expected = sum(functional.cross_entropy(logits[i, list(c)][None], torch.tensor([k])) for i, c, k in own)
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    loss.backward()
    for row, columns, _ in own:
        others = [column for column in range(5) if column not in columns]
        assert logits.grad[row, others].abs().max() == 0
        assert logits.grad[row, list(columns)].abs().min() > 0


def test_each_readout_starts_where_its_cohort_alone_would(joined: JoinedCohorts) -> None:
    preset = small("best")
    graphs = prepare(joined.whole.subjects, preset)
    groups = [str(one.group) for one in joined.whole]
    names = list(joined.whole.group_sizes)
    labels = torch.tensor([names.index(group) for group in groups])
    readouts = [[names.index(group) for group in own] for own in joined.readouts]
    torch.manual_seed(0)
    model = BioBGT(preset, n_regions=16, n_groups=5)
    model.standardise(graphs)
    initialise_readout(model, graphs, labels, device=CPU, readouts=readouts)
    for part in readout_parts(labels.numpy(), 5, readouts):
        alone = with_readout(model, part.columns.tolist())
        expected = alone.readout.classify.weight.clone()
        torch.nn.init.zeros_(alone.readout.classify.weight)
        initialise_readout(alone, graphs[torch.from_numpy(part.rows)], torch.from_numpy(part.labels), device=CPU)
        torch.testing.assert_close(alone.readout.classify.weight, expected)


def test_two_cohorts_that_are_the_same_weigh_regions_as_one_does() -> None:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((30, 16, 16))
    values = torch.from_numpy(values + values.transpose(0, 2, 1)).float()
    targets = 2.0 * torch.eye(2).double()[torch.arange(30) % 2] - 1
    axes = network_axes(values.mean(dim=0), 3)
    *_, alone = islice(region_weights(values, axes, targets), 3)
    labels = np.concatenate([np.arange(30) % 2, 2 + np.arange(30) % 2])
    both = torch.zeros(60, 4).double()
    both[:30, :2], both[30:, 2:] = targets, targets
    parts = readout_parts(labels, 4, ((0, 1), (2, 3)))
    *_, together = islice(region_weights(torch.cat([values, values]), axes, both, parts=parts), 3)
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    assert float((alone - 1).abs().max()) > 0.01


def test_joined_cohorts_name_controls_by_their_study_and_keep_people_together(joined: JoinedCohorts) -> None:
    assert joined.whole.name == "abide+adsim"
    assert joined.readouts == (("NC (ABIDE)", "ASD (ABIDE)"), ("NC (simulated)", "ASD (simulated)", "MCI (simulated)"))
    assert joined.whole.ids[0] == "abide_NC-0"
    assert joined.parts[1].ids[0] == "abide_NC-0_ses-adsim"
    assert len(set(joined.whole.persons)) == 24  # 16 of both cohorts, 8 of the second alone
    persons = np.array(joined.whole.persons)
    for split in protocol_splits(joined.whole, "folds", n=3, seed=0):
        train, validation, test = (set(persons[rows]) for rows in (split.train, split.validation, split.test))
        assert not train & validation
        assert not (train | validation) & test
        for number, part in enumerate(joined.parts):
            own = split.within(joined.rows(number))
            assert [part.ids[row] for row in own.test] == [
                joined.whole.ids[row] for row in split.test if joined.whole.ids[row] in part.ids
            ]


def test_one_cohort_alone_or_twice_is_refused(joined: JoinedCohorts) -> None:
    for cohorts in (joined.parts[:1], (joined.parts[0], joined.parts[0])):
        with pytest.raises(InputError, match="two or more different"):
            join_training_cohorts(cohorts)


def test_training_learns_both_readouts_and_other_subjects_do_not_matter(joined: JoinedCohorts) -> None:
    """The encoder sees all, and each readout tells its own groups apart."""
    preset = small("best", epochs=1, pretrain_steps=2)
    graphs = prepare(joined.whole.subjects, preset)
    names = list(joined.whole.group_sizes)
    labels = torch.tensor([names.index(str(one.group)) for one in joined.whole])
    readouts = [[names.index(group) for group in own] for own in joined.readouts]
    model = train_model((graphs, labels), (graphs, labels), preset, n_groups=5, readouts=readouts)
    with torch.no_grad():
        logits = model(graphs)
    for part in readout_parts(labels.numpy(), 5, readouts):
        called = logits[part.rows][:, part.columns].argmax(dim=1).numpy()
        assert (called == part.labels).mean() > 0.8


def test_aal90_is_the_first_regions_of_the_shared_files(shared_data: Path) -> None:
    cut = training_cohort("cni-adhd", shared_data, atlas="aal90")
    whole = training_cohort("cni-adhd", shared_data, atlas="aal116")
    assert cut.atlas.name == "aal90"
    assert cut.ids == whole.ids
    np.testing.assert_array_equal(cut.subjects[3].series, whole.subjects[3].series[:, :90])


def test_groups_with_a_cohort_behind_them_stay_in_order(joined: JoinedCohorts) -> None:
    shuffled: Cohort = replace(joined.whole, subjects=joined.whole.subjects[::-1])
    kinds = [group.split(" (")[0] for group in shuffled.group_sizes]
    assert kinds == ["NC", "NC", "ASD", "ASD", "MCI"]
