"""Every limit is stated once, checked on declared sizes, and its sentence says how to raise it."""

import pickle
from dataclasses import fields

import pytest

from biobgt.base.errors import InputError, ReaderFault
from biobgt.base.limits import Limits, _variable_of, current_limits


def test_a_sentence_names_the_limit_what_was_found_and_how_to_raise_it() -> None:
    with pytest.raises(InputError) as caught:
        Limits().check("regions", 1500, "The atlas")
    assert str(caught.value) == (
        "The atlas has 1,500 regions; at most 1,200 regions are read. If it is meant to be so large, set "
        "BIOBGT_MAX_REGIONS=1500 in the environment before BioBGT Explorer is started."
    )


@pytest.mark.parametrize("limit", [item.name for item in fields(Limits)])
def test_every_limit_is_raised_as_its_sentence_says(limit, monkeypatch) -> None:
    found = getattr(Limits(), limit) + 1
    with pytest.raises(InputError) as caught:
        Limits().check(limit, found, "The file")
    variable, _, value = next(word for word in str(caught.value).split() if "=" in word).partition("=")
    monkeypatch.setenv(variable, value)
    current_limits().check(limit, found, "The file")
    assert variable == _variable_of(limit)


@pytest.mark.parametrize("value", ["", "many", "-1", "0", "1e3", "²", "9" * 30])
def test_a_limit_that_is_no_whole_number_is_refused(value, monkeypatch) -> None:
    monkeypatch.setenv("BIOBGT_MAX_REGIONS", value)
    with pytest.raises(InputError, match=r"BIOBGT_MAX_REGIONS is .* whole number above 0"):
        current_limits()


def test_the_largest_real_data_pass() -> None:
    limits = Limits()
    limits.check_table((5_000, 1_000), "Schaefer-1000 over 5,000 time points")
    limits.check_table((1_000, 5_000), "the same, transposed")
    limits.check("voxels", 91 * 109 * 91 * 1200, "an HCP run")
    limits.check_array((1_200, 400, 400), "1,200 matrices of Schaefer-400")


@pytest.mark.parametrize("shape", [(22_000, 22_000), (1_300, 1_300), (2, 100_001), (2**40, 2**40)])
def test_tables_too_large_on_either_axis_are_refused(shape) -> None:
    for turned in (shape, shape[::-1]):
        with pytest.raises(InputError, match="at most"):
            Limits().check_table(turned, "The table")


def test_small_data_may_grow_as_they_like_and_large_ones_not() -> None:
    Limits().check_growth(1_000, 2**26, "A label image of mostly zeros")
    Limits().check_growth(2**24, 2**29, "A brain in a black box")
    with pytest.raises(InputError, match=r"from 17 MB to 4\.1 GB, 247 times its size"):
        Limits().check_growth(17 * 2**20, int(4.1 * 2**30), "The image")


def test_a_readers_fault_survives_the_way_to_another_process() -> None:
    fault = pickle.loads(pickle.dumps(ReaderFault("KeyError")))
    assert ReaderFault.FAULT in str(fault)
    assert fault.kind == "KeyError"
