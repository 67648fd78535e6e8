"""What groups of a cohort are compared in: by hand on four regions, and who is compared at all."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.groups.compare import ComparisonOptions
from biobgt.groups.features import CohortFeatures, compare_features, plan_comparison, subject_features
from biobgt.inference.covariates import complete_covariates
from biobgt.results.measured import Measured

ATLAS = Atlas(
    "four", "Four regions", ("a", "b", "c", "d"), labels={"paper": ("P", "P", "Q", None), "other": ("X", "X", "Y", "Y")}
)


def _matrix(within: float, between: float) -> np.ndarray:
    """Regions a and b, and c and d, are joined by ``within``, all others by ``between``."""
    matrix = np.full((4, 4), between)
    matrix[:2, :2] = matrix[2:, 2:] = within
    np.fill_diagonal(matrix, 1)
    return matrix


@pytest.fixture
def cohort() -> Cohort:
    def subject(i: int, group: str) -> Subject:
        matrix = _matrix(0.5 + 0.05 * i, 0.1)
        return Subject(f"s{i}", connectivity=matrix, group=group, phenotypes={"age": 20 + i, "iq": [100, None][i % 2]})

    return Cohort("eight", tuple(subject(i, "NC" if i < 4 else "ASD") for i in range(8)), ATLAS)


def features(cohort: Cohort, **options) -> CohortFeatures:
    asked = ComparisonOptions(first="NC", second="ASD", runs=1, **options)
    return CohortFeatures.of_all([subject_features(Measured(cohort).of(name), asked) for name in cohort.ids])


def compared(cohort, first, second):
    return plan_comparison(cohort, ComparisonOptions(first=first, second=second, covariates=("none",))).cohort


def test_networks_are_pairs_that_have_connections(cohort):
    found = features(cohort, of="fc-blocks")
    assert found.names == ("P – P", "P – Q")  # Q has one region, d has no network
    np.testing.assert_allclose(found.values[:, 0], np.arctanh(0.5 + 0.05 * np.arange(8)))
    np.testing.assert_allclose(found.values[:, 1], np.arctanh(0.1))
    assert features(cohort, of="fc-blocks", labelling="other").names == ("X – X", "X – Y", "Y – Y")
    with pytest.raises(InputError, match="no functional labels"):
        features(replace(cohort, atlas=replace(ATLAS, labels={})), of="fc-blocks")


def test_segregation_by_hand(cohort):
    found = features(cohort, of="segregation")
    columns = dict(zip(found.names, found.values.T, strict=True))
    within, between = np.arctanh(0.5 + 0.05 * np.arange(8)), np.arctanh(0.1)
    np.testing.assert_allclose(columns["number of modules"], 2)
    np.testing.assert_allclose(columns["modularity Q"], 0.5)  # two equal modules, nothing between them above 0.3
    np.testing.assert_allclose(columns["system segregation, own modules"], (within - between) / within)
    np.testing.assert_allclose(columns["system segregation, other"], (within - between) / within)


def test_segregation_is_not_defined_where_there_are_no_correlations(cohort):
    counts = Subject("s0", connectivity=40 * _matrix(0.5, 0.1), group="NC")
    mixed = replace(cohort, subjects=(counts, *cohort.subjects[1:]))
    found = features(mixed, of="segregation")
    np.testing.assert_array_equal(np.isnan(found.values[:, 2:]).all(axis=1), [True] + [False] * 7)
    compared = compare_features(mixed, found, ("NC", "ASD"), permutations=10)
    assert compared.table["p"].isna().tolist() == [True, False, True, True, True]  # all have two modules, Q differs
    assert any("not tested" in note for note in compared.notes)


def test_rows_say_all_that_a_reader_must_know(cohort):
    one = replace(cohort.subjects[0], simulated=True)
    groups = ["NC"] * 7 + ["ASD"] * 7
    subjects = (replace(one, id=f"s{i}", group=own, phenotypes={"age": 20 + i}) for i, own in enumerate(groups))
    drawn = replace(cohort, subjects=tuple(subjects))
    features = CohortFeatures(np.arange(14.0)[:, None] ** 2, ("x",), "squares")
    held = complete_covariates(drawn.table(), ["age"])
    found = compare_features(drawn, features, ("NC", "ASD"), covariates=held.table, seed=5)
    row = found.rows(simulated=drawn.simulated).iloc[0]
    assert (row["n_NC"], row["n_ASD"], row["covariates"], row["seed"], bool(row["simulated"])) == (7, 7, "age", 5, True)
    assert (row["mean_NC"], row["mean_ASD"]) == (13, 104)
    assert row["residual_degrees"] == 11
    # Of 14 evenly spaced ages the first seven are one group: r² is 3 · 14² / (4 (14² − 1)).
    assert row["group_explained"] == pytest.approx(3 * 196 / (4 * 195))
    assert row["p_unadjusted"] < row["p"]  # without age held the groups differ more than they do


def test_recordings_of_one_person_count_once(cohort):
    names = ["sub-01_ses-1", "sub-01_ses-2", "sub-02", "7_session_1_rest_2", "sub-03_run-1", "s5", "s6", "s7"]
    renamed = replace(cohort, subjects=tuple(replace(one, id=name) for one, name in zip(cohort, names, strict=True)))
    assert renamed.persons[:5] == ("sub-01", "sub-01", "sub-02", "7", "sub-03")
    found = compare_features(renamed, features(renamed, of="fc-blocks"), ("NC", "ASD"), permutations=10)
    assert found.n_subjects == {"NC": 3, "ASD": 4}
    assert found.n_repeated == 1
    alone = renamed.select(lambda subject: subject.group == "ASD" or subject.id.startswith("sub-01"))
    with pytest.raises(InputError, match="Group 'NC' has 1 subject"):
        compared(alone, "NC", "ASD")


@pytest.mark.parametrize(
    ("ids", "permutations", "said"),
    [
        (("s1", "s2", "s5", "s6"), 10, "only 3 ways to permute the groups, so p cannot be smaller than about 0.33"),
        (None, 100, "only 35 ways to permute the groups, so p cannot be smaller than about 0.029"),
        (None, 10, None),
    ],
)
def test_few_subjects_are_told_that_p_cannot_be_small(cohort, ids, permutations, said):
    few = cohort.select(lambda subject: ids is None or subject.id in ids)
    found = compare_features(few, features(few, of="fc-blocks"), ("NC", "ASD"), permutations=permutations)
    (note,) = [note for note in found.notes if "ways" in note] or [None]
    assert note is None if said is None else said in note


def test_only_the_two_groups_are_kept_and_must_be_there(cohort):
    more = replace(cohort, subjects=(*cohort.subjects, Subject("s8", connectivity=_matrix(0.5, 0.1), group="ADHD")))
    assert compared(more, "NC", "ASD").ids == cohort.ids
    for between, sentence in (
        (("NC", "AD"), "No subject is of group 'AD'"),
        (("ADHD", "ASD"), "Group 'ADHD' has 1 subject"),
        (("NC", "NC"), "compared with itself"),
    ):
        with pytest.raises(InputError, match=sentence):
            compared(more, *between)
    with pytest.raises(InputError, match="has a group"):
        compared(cohort.with_groups(dict.fromkeys(cohort.ids)), "NC", "ASD")


def test_covariates_are_whole_or_refused(cohort):
    table = cohort.table()
    found = complete_covariates(table)
    assert found.table["age"].tolist() == list(range(20, 28))
    assert found.absent == ("log_mean_fd", "sex", "site")
    assert complete_covariates(table, []).table.shape == (8, 0)
    with pytest.raises(InputError, match="'iq' is missing for 4 of 8 subjects, such as 's1'"):
        complete_covariates(table, ["age", "IQ"])
    assert complete_covariates(table, ["iq"], leave_out_incomplete=True).table["iq"].isna().sum() == 4
    for name in ("group", "height"):
        with pytest.raises(InputError, match=f"no covariate '{name}'. The phenotypes have: age, iq"):
            complete_covariates(table, [name])
    assert complete_covariates(table.assign(Gender="F"), ["sex"]).table["sex"].tolist() == ["F"] * 8
    known = complete_covariates(table.assign(sex=["M", "n/a"] * 4), leave_out_incomplete=True).table
    assert pd.isna(known).to_numpy().sum() == 4
