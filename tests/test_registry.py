"""Registers keep their order, refuse a key that is taken, and say what there is."""

from dataclasses import dataclass

import pytest

from biobgt import InputError
from biobgt.base.options import Registry


@dataclass(frozen=True)
class Thing:
    key: str
    weight: int = 0


def things():
    return Registry("thing", Thing("b", 1), Thing("a", 2))


def test_a_register_is_a_mapping_in_the_order_of_registration():
    register = things()
    assert register.register(Thing("0")) == Thing("0")
    assert list(register) == ["b", "a", "0"]
    assert len(register) == 3
    assert register["a"].weight == 2
    assert "a" in register
    assert "c" not in register
    assert [thing.weight for thing in register.values()] == [1, 2, 0]


def test_a_key_that_is_taken_is_refused_and_the_first_stays():
    register = things()
    with pytest.raises(ValueError, match="There is a thing 'a' already"):
        register.register(Thing("a", 9))
    assert register["a"].weight == 2
    with pytest.raises(ValueError, match="already"):
        Registry("thing", Thing("a"), Thing("a"))


def test_an_unknown_key_is_answered_with_what_there_is():
    register = things()
    assert register.named("b") is register["b"]
    with pytest.raises(InputError, match=r"There is no thing 'c'\. Choose one of: b, a\."):
        register.named("c")
    with pytest.raises(KeyError):
        register["c"]


def test_what_is_added_for_a_while_goes_again_whatever_happens():
    register = things()
    with register.temporarily(Thing("c", 3)) as added:
        assert register.named("c") is added
        assert list(register) == ["b", "a", "c"]
    assert list(register) == ["b", "a"]
    with pytest.raises(RuntimeError), register.temporarily(Thing("c")):
        raise RuntimeError
    assert "c" not in register
    with pytest.raises(ValueError, match="already"), register.temporarily(Thing("a")):
        pass
    assert register["a"].weight == 2, "the one that was there before stays"
