from dataclasses import replace

import numpy as np
import pytest

from biobgt.base.errors import InputError
from biobgt.data.atlas import Atlas, load_atlas, numbered_atlas
from biobgt.data.cohort import Cohort, Subject, join_cohorts


def subject(name: str, group: str | None = None, n_regions: int = 4) -> Subject:
    return Subject(id=name, group=group, series=np.random.default_rng(len(name)).standard_normal((20, n_regions)))


@pytest.fixture
def cohort() -> Cohort:
    people = (subject("a", "ASD"), subject("bb", "NC"), subject("ccc", "NC"), subject("dddd"))
    return Cohort(name="test", subjects=people, atlas=numbered_atlas(4))


def test_groups_are_counted_controls_first(cohort):
    assert list(cohort.group_sizes.items()) == [("NC", 2), ("ASD", 1)]
    assert cohort.group("NC").ids == ("bb", "ccc")


def test_selecting_and_regrouping_leave_the_original_alone(cohort):
    changed = cohort.with_groups({"dddd": "AD", "a": None})
    assert dict(changed.group_sizes) == {"NC": 2, "AD": 1}
    assert dict(cohort.group_sizes) == {"NC": 2, "ASD": 1}
    assert cohort.select(lambda person: person.id != "a").ids == ("bb", "ccc", "dddd")


def test_what_is_not_there_gets_a_sentence(cohort):
    with pytest.raises(InputError, match="no group 'MCI'"):
        cohort.group("MCI")
    with pytest.raises(InputError, match="no subject 'zz'"):
        cohort["zz"]
    with pytest.raises(InputError, match="no subject 'zz'"):
        cohort.with_groups({"zz": "NC"})


def test_ids_are_unique_and_regions_fit_the_atlas(cohort):
    with pytest.raises(InputError, match="'a' stands twice"):
        Cohort(name="x", subjects=(subject("a"), subject("a")), atlas=numbered_atlas(4))
    with pytest.raises(InputError, match="4 regions and atlas cc200 has 200"):
        replace(cohort, atlas=load_atlas("cc200"))


def test_a_subject_has_series_or_connectivity():
    with pytest.raises(ValueError, match="either"):
        Subject(id="x")
    with pytest.raises(ValueError, match="either"):
        Subject(id="x", series=np.ones((2, 2)), connectivity=np.eye(2))


def test_names_have_no_control_characters(cohort):
    odd = replace(cohort.subjects[0], id="sub\x07-01", group="N\tC\x85")
    assert (odd.id, odd.group) == ("sub-01", "N C")
    assert replace(cohort, name="a\x00b\u00a0ü").name == "ab\u00a0ü"
    assert Atlas("a", "A", ("left\x1b", "right")).regions == ("left", "right")
    with pytest.raises(InputError, match="stands twice"):
        Atlas("a", "A", ("left\x1b", "left"))


def test_silent_regions():
    series = np.random.default_rng(0).standard_normal((10, 4))
    series[:, 2] = 5.0
    assert Subject(id="x", series=series).silent_regions == (2,)
    matrix = np.eye(3)
    matrix[0, 1] = matrix[1, 0] = 0.5
    assert Subject(id="x", connectivity=matrix).silent_regions == (2,)


def test_joining(cohort):
    other = Cohort(name="b", subjects=(subject("eeeee"),), atlas=numbered_atlas(4), notes=("said",))
    joined = join_cohorts([cohort, other], name="both")
    assert len(joined) == 5
    assert joined.notes == ("said",)
    with pytest.raises(InputError, match="same atlas"):
        join_cohorts(
            [cohort, Cohort(name="c", subjects=(subject("f", n_regions=5),), atlas=numbered_atlas(5))], name="x"
        )


def test_table_has_a_row_a_subject(cohort):
    table = cohort.table()
    assert table["subject"].tolist() == list(cohort.ids)
    assert table["time points"].tolist() == [20] * 4
    assert not table["simulated"].any()
