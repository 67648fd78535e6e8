"""A user's own map: regions by name or number, in whatever order, and what is refused in a sentence."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biobgt import InputError, load_atlas
from biobgt.readers import read_map

ATLAS = load_atlas("aal90")


def _read(tmp_path, text, **how):
    path = tmp_path / "map.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_map(path, ATLAS, **how)


def test_regions_go_by_name_in_any_order_and_others_are_missing(tmp_path):
    found = _read(tmp_path, "Region;value\nPrecentral_R;2,5\nPrecentral_L;1\nFrontal_Sup_L;n/a\n")
    np.testing.assert_array_equal(found[:3], [1, 2.5, np.nan])
    assert np.isnan(found[2:]).all()


def test_regions_go_by_number_from_1(tmp_path):
    np.testing.assert_array_equal(
        _read(tmp_path, "number\tthickness\n90\t3\n2\t-1e3\n")[[0, 1, 89]], [np.nan, -1000, 3]
    )


def test_one_of_several_columns_is_named(tmp_path):
    text = "name,a,b\nPrecentral_L,1,2\n"
    assert _read(tmp_path, text, column="B")[0] == 2
    with pytest.raises(InputError, match="a and b"):
        _read(tmp_path, text)
    with pytest.raises(InputError, match="'c'"):
        _read(tmp_path, text, column="c")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Precentral_L,0.5\nPrecentral_R,1\n", "no header"),
        ("a,b\n1,2\n", "region"),
        ("region,value\nHeschl,1\n", "does not have: 'Heschl'"),
        ("region,value\n0,1\n", "does not have: '0'"),
        ("region,value\n91,1\n", "does not have: '91'"),
        ("region,value\n1.5,1\n", "does not have: '1.5'"),
        ("region,value\n1,1\n1,2\n", "two rows of region '1'"),
        ("region,value\n1,inf\n", "infinite"),
        ("region,value\n1,n/a\n", "column of numbers"),
        ("region,value\n1,x\n", "no column of numbers beside"),
        ("region,Value,value\n1,1,1\n", "two columns"),
        ("", "empty"),
        (b"\x00\x01\x02", "text"),
        ("region,value\n" + "1,1\n" * 300_000, "rows"),
    ],
)
def test_what_is_no_map_is_refused_in_a_sentence(tmp_path, text, word):
    with pytest.raises(InputError, match=word):
        _read(tmp_path, text)


def test_a_map_that_is_not_there_is_said(tmp_path):
    with pytest.raises(InputError, match="no map"):
        read_map(tmp_path / "none.csv", ATLAS)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300) | st.text('region,valu01\n9e.-;\t"é', max_size=120).map(str.encode))
def test_any_bytes_are_a_map_or_a_sentence(tmp_path, data):
    with suppress(InputError):
        assert np.isfinite(_read(tmp_path, b"region,value\n" + data)).any()
