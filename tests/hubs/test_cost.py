"""What is said of the time that hubs take: measured, larger for more regions, in words."""

import pytest

from biobgt.hubs.resolvents import ASK_ABOVE, MEASURED_SECONDS, _expected_seconds, cost_sentence


@pytest.mark.parametrize("n_regions", MEASURED_SECONDS)
def test_what_is_expected_is_what_was_measured(n_regions: int) -> None:
    assert _expected_seconds(n_regions) == pytest.approx(MEASURED_SECONDS[n_regions], rel=0.25)


def test_more_regions_take_longer_than_in_proportion() -> None:
    assert _expected_seconds(1200) > 1.5 * _expected_seconds(1000)
    assert 5 < _expected_seconds(ASK_ABOVE) < 15


@pytest.mark.parametrize(("n_regions", "said"), [(1001, "10 seconds"), (1700, "50 seconds"), (2500, "3 minutes")])
def test_the_sentence_says_how_long(n_regions: int, said: str) -> None:
    assert cost_sentence(n_regions).endswith(
        f"perturbs each of the {n_regions:,} regions: the first figures of one subject take about {said}."
    )
