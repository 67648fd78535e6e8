"""Some hundred damaged files of every format, the same ones each time; ``make fuzz`` tries 100,000."""

import logging
from collections.abc import Iterator

import pytest

from biobgt.readers.foreign import isolate as isolated
from tests.fuzz.corpus import FORMATS
from tests.fuzz.fuzzer import Finding, try_case

# An image's case takes ten times as long as any other.
CASES = {name: 8 if "nii" in name else 30 for name in FORMATS}
SEED = 2026


@pytest.fixture(autouse=True)
def _quick(monkeypatch) -> Iterator[None]:
    monkeypatch.setenv("BIOBGT_MAX_SECONDS", "20")
    monkeypatch.setattr(isolated, "KEEP_AFTER_DAMAGE", True)
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("name", FORMATS)
def test_no_damaged_file_is_more_than_a_sentence(name) -> None:
    outcomes = [try_case(name, SEED + i) for i in range(CASES[name])]
    assert [outcome for outcome in outcomes if isinstance(outcome, Finding)] == []
    assert any(outcome is not None for outcome in outcomes), "nothing was damaged"


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_not_damaged_is_read(name, monkeypatch) -> None:
    """The corpus itself is sound: else the fuzzer would only try broken files."""
    monkeypatch.setattr("tests.fuzz.fuzzer.mutate", lambda content, rng: content)
    monkeypatch.setattr("tests.fuzz.fuzzer.mutate_folder", lambda folder, rng: None)
    outcomes = [try_case(name, SEED + i) for i in range(8)]
    assert not any(isinstance(outcome, Finding) for outcome in outcomes)
    assert None in outcomes


def test_the_fuzzer_sees_what_it_looks_for(monkeypatch) -> None:
    """A reader that breaks, and one that leaves files behind, are findings."""
    import tempfile

    from tests.fuzz import fuzzer

    def breaks(path):
        raise KeyError(path)

    def litters(path):
        tempfile.mkdtemp()

    monkeypatch.setattr(fuzzer, "read_atlas", breaks)
    assert "KeyError" in try_case("node", 0).what
    monkeypatch.setattr(fuzzer, "read_atlas", litters)
    assert "temporary folder" in try_case("node", 0).what
