"""What the model is given of a subject: the same from series and matrix, kept by content, or refused."""

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from planted_cohort import N_REGIONS, small

import biobgt.model.inputs
from biobgt.base.errors import InputError
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.connectivity import functional_connectivity
from biobgt.hubs import gamma_unit, node_entanglement
from biobgt.model.inputs import correlations, log_connectivity, prepare
from biobgt.model.network import GraphBatch
from biobgt.model.presets import preset_named
from biobgt.modules import louvain_modules
from biobgt.results.store import FolderStore

PRESET = small("best")


def _as_matrix(subject: Subject) -> Subject:
    return Subject(subject.id, connectivity=functional_connectivity(subject.series), group=subject.group)


def test_series_and_matrix_of_one_subject_are_the_same_input(cohort: Cohort, graphs: GraphBatch) -> None:
    others = prepare([_as_matrix(subject) for subject in cohort], PRESET)
    for name in ("features", "values", "weights", "entanglement", "modules", "mask"):
        torch.testing.assert_close(getattr(others, name), getattr(graphs, name))


def test_a_matrix_without_its_diagonal_is_the_same_subject(cohort: Cohort) -> None:
    subject = _as_matrix(cohort.subjects[0])
    bare = Subject("bare", connectivity=subject.connectivity * (1 - np.eye(N_REGIONS)))
    np.testing.assert_array_equal(correlations(bare), correlations(subject))


def test_features_are_what_they_say(cohort: Cohort, graphs: GraphBatch) -> None:
    matrix = functional_connectivity(cohort.subjects[0].series)
    off_diagonal = ~np.eye(N_REGIONS, dtype=bool)
    np.testing.assert_allclose(graphs.features[0].numpy()[off_diagonal], matrix[off_diagonal], atol=1e-6)
    assert (graphs.features[0].diagonal() == 0).all()
    kept = np.where((matrix >= 0.3) & off_diagonal, matrix, 0)
    np.testing.assert_allclose(graphs.weights[0], kept, atol=1e-6)
    entanglement = node_entanglement(kept, absolute_gamma=0.5 * gamma_unit(kept), method="first-order")
    np.testing.assert_allclose(graphs.entanglement[0], entanglement, rtol=1e-4, atol=1e-6)
    assert graphs.modules[0].tolist() == louvain_modules(kept, seed=0, runs=1).labels.tolist()


@pytest.mark.parametrize("shrinkage", [0.1, 0.5])
def test_log_connectivity_is_the_matrix_logarithm(shrinkage: float, cohort: Cohort) -> None:
    matrix = functional_connectivity(cohort.subjects[0].series)
    found = torch.matrix_exp(torch.from_numpy(log_connectivity(matrix, shrinkage=shrinkage))).numpy()
    np.testing.assert_allclose(found, (1 - shrinkage) * matrix + shrinkage * np.eye(N_REGIONS), atol=1e-10)


@pytest.mark.parametrize("level", [0.2, 0.3, 0.4])
def test_a_thresholded_matrix_of_a_real_subject_is_refused(level: float, abide_series) -> None:
    for one in abide_series:
        matrix = functional_connectivity(one)
        correlations(Subject("whole", connectivity=matrix))
        cut = np.where(matrix >= level, matrix, 0)
        with pytest.raises(InputError, match=r"'cut' cannot be of Pearson correlations.*add the full"):
            correlations(Subject("cut", connectivity=cut))


def test_fisher_z_is_refused() -> None:
    matrix = np.array([[0, 1.5], [1.5, 0]])
    with pytest.raises(InputError, match="values beyond ±1; the model needs Pearson correlations"):
        correlations(Subject("z", connectivity=matrix))


def test_a_subject_without_edges_is_refused_by_its_name(cohort: Cohort) -> None:
    flat = Subject("flat", connectivity=np.eye(N_REGIONS))
    with pytest.raises(InputError, match=r"^Subject 'flat' has no correlation of at least 0\.3"):
        prepare([cohort.subjects[0], flat], PRESET)


def test_features_are_computed_once(cohort: Cohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Mock(side_effect=biobgt.model.inputs._network_features)
    monkeypatch.setattr(biobgt.model.inputs, "_network_features", counted)
    first = prepare([*cohort.subjects[:3], cohort.subjects[0]], PRESET, store=FolderStore(tmp_path, "any"))
    assert counted.call_count == 3  # the fourth is the first again
    again = prepare(cohort.subjects[:4], PRESET, store=FolderStore(tmp_path, "any"))
    assert counted.call_count == 4
    torch.testing.assert_close(again.entanglement[:3], first.entanglement[:3])
    prepare(cohort.subjects[:1], preset_named("paper-adni"), store=FolderStore(tmp_path, "any"))
    assert counted.call_count == 5  # another threshold is another graph
    assert {path.suffix for path in tmp_path.iterdir()} == {".result"}
