"""How alike recordings of the same people are: known answers, and the analysis of variance written out."""

import numpy as np
import pandas as pd
import pytest

from biobgt.study.reliability import intraclass, recordings_alike
from tests.made_study import made_data


def test_people_who_repeat_themselves_have_one_and_noise_has_none(rng):
    persons = np.repeat([f"p{i}" for i in range(200)], 2)
    own = rng.standard_normal((200, 1)).repeat(2, axis=0)
    assert intraclass(own, persons)[0] == pytest.approx(1)
    assert intraclass(rng.standard_normal((400, 1)), persons)[0] == pytest.approx(0, abs=0.15)


def test_it_is_that_of_the_analysis_of_variance_and_people_recorded_once_are_left_out(rng):
    persons = ["a", "a", "b", "b", "b", "c", "d", "d"]
    values = rng.standard_normal((8, 3))
    found = intraclass(values, persons)
    table = pd.DataFrame(values).assign(person=persons)
    table = table[table["person"] != "c"]
    for feature in range(3):
        groups = [own[feature].to_numpy() for _, own in table.groupby("person")]
        n, k = sum(map(len, groups)), len(groups)
        grand = np.concatenate(groups).mean()
        between = sum(len(own) * (own.mean() - grand) ** 2 for own in groups) / (k - 1)
        within = sum(((own - own.mean()) ** 2).sum() for own in groups) / (n - k)
        size = (n - sum(len(own) ** 2 for own in groups) / n) / (k - 1)
        assert found[feature] == pytest.approx((between - within) / (between + (size - 1) * within))


def test_of_people_recorded_once_nothing_is_known():
    assert recordings_alike(made_data()).empty
