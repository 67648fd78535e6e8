"""Known answers on real people; the same in more ways, and null data, are in assets/studies/survival.py."""

import pandas as pd
import pytest

from biobgt.base.files import asset
from biobgt.data.graph import ConnectomeSettings
from biobgt.hubs.measures import FC_STRENGTH
from biobgt.readers import read_cohort
from biobgt.results.measured import Measured
from biobgt.specifications.options import SurvivalOptions
from biobgt.specifications.run import specification_curve
from biobgt.specifications.ways import CHOICES


def but(*varied: str) -> tuple[str, ...]:
    """All choices but these."""
    return tuple(key for key in CHOICES if key not in varied)


@pytest.fixture(scope="module")
def cohorts(shared_data):
    return {
        name: read_cohort(shared_data / f"{name}_cc200.npz", phenotypes=shared_data / f"{name}_phenotypes.csv")
        for name in ("abide", "cni2019")
    }


def test_ne_agrees_with_fc_strength_and_not_once_the_global_signal_is_regressed(cohorts) -> None:
    cohort = cohorts["cni2019"]
    some = set(cohort.ids[::24])
    options = SurvivalOptions(finding="agreement-of-cohort", beside=FC_STRENGTH, off=but("global-signal", "gamma"))
    found = specification_curve(Measured(cohort.select(lambda one: one.id in some)), options)
    by_signal = found.table.groupby("global-signal")
    assert by_signal["holds"].sum().to_dict() == {"as brought": 4, "regressed": 0}
    assert by_signal["estimate"].max()["as brought"] > 0.7
    assert by_signal["estimate"].max()["regressed"] < 0.15
    assert found.sentence.endswith("holds in 4 of 8 ways; mostly not clear where the global signal is regressed.")


def test_segregation_is_lower_in_asd_however_motion_is_taken(cohorts) -> None:
    options = SurvivalOptions(finding="segregation", first="NC", second="ASD", off=but("motion", "overall"))
    found = specification_curve(Measured(cohorts["abide"], settings=ConnectomeSettings()), options)
    assert len(found.known) == 8
    assert (found.table["estimate"] < 0).all()
    assert found.n_holding >= 7
    assert found.joint.median_p < 0.01


def test_the_joint_test_keeps_its_level_in_null_data() -> None:
    """A level of 5 % is met within 3.1 to 6.9 % of 500 null data sets in 95 of 100 cases."""
    table = pd.read_csv(asset("studies", "survival_null.csv")).set_index(["test", "level"])["found"]
    for joint in ("median", "share"):
        assert 0.031 <= table[joint, 0.05] <= 0.069
    assert table["any way", 0.05] > 0.1, "the best of all ways finds something far too often"
