"""Would it survive? The panel says how many ways there are before it starts, and then in how many a finding holds."""

import pytest
from page_contents import buttons, captions, words
from page_hands import press

from biobgt.specifications.background import BackgroundSurvival
from biobgt.specifications.folder import survive
from tests.planted_cohort import planted_cohort


@pytest.fixture(autouse=True)
def here_and_now(tmp_path, monkeypatch):
    """What would run in the background runs at once, in a folder of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(BackgroundSurvival, "start", lambda self: survive(self.plan, self.out))


def opened(open_own, page, key, **options):
    """A page with its panel open."""
    shown = open_own(page, planted_cohort(8), **options)
    return shown.toggle(key=f"{key}_survival").set_value(True).run()


def test_a_difference_of_groups(open_own):
    page = opened(open_own, "compare", "compare")
    assert "24 specifications: 192 graphs" in captions(page)
    page.selectbox(key="compare_finding").select("M1 – M1").run()
    page.multiselect(key="compare_varied").set_value(["global-signal", "overall"]).run()
    assert "4 specifications: 32 graphs" in captions(page)
    assert "Would" not in buttons(page)
    press(page, "Start")
    assert "Connectivity within M1 is lower in ASD than in NC: holds in 4 of 4 ways." in words(page.markdown)
    assert "p below 0.05" in captions(page)
    assert "rearrangements of people" in captions(page)
    assert "Start" not in buttons(page)


def test_other_choices_are_measured_when_they_are_asked_for(open_own):
    page = opened(open_own, "modules", "modules")
    page.multiselect(key="modules_varied").set_value(["seed"]).run()
    press(page, "Start")
    assert "of 3 ways" in words(page.markdown)
    page.multiselect(key="modules_varied").set_value(["seed", "global-signal"]).run()
    assert "6 specifications" in captions(page)
    assert "of 6 ways" not in words(page.markdown)
    press(page, "Start")
    assert "of 6 ways" in words(page.markdown)
