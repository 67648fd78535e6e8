"""The tabs of centiles: what they show is what the library says, and where there is none they say why."""

from dataclasses import replace

import numpy as np
import pytest
from page_contents import array, buttons, captions, table_with, traces, words

from biobgt.data.atlas import load_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.graph import ConnectomeSettings
from biobgt.groups.centiles import HubCentileOptions, places_in
from biobgt.groups.standing import standing_of
from biobgt.results.measured import Measured

DEGREE = HubCentileOptions(measure="degree")
ASKED = {"hub_tab": "centiles", "centile_measure": "degree"}


@pytest.fixture
def cohort(rng):
    series = rng.standard_normal((120, 200)) + 0.8 * rng.standard_normal((120, 8))[:, np.arange(200) % 8]
    series -= series.mean(axis=1, keepdims=True)
    one = Subject("one", series=series, phenotypes={"age": 14.5, "sex": "F"})
    return Cohort("own", (one,), load_atlas("cc200"))


def test_the_dot_and_the_table_are_those_of_the_library(open_own, cohort):
    page = open_own("hubs", cohort, **ASKED)
    found = standing_of(Measured(cohort).of("one"), DEGREE)
    dot = traces(page, "centiles")["one"]
    assert (array(dot["x"]).tolist(), array(dot["y"]).tolist()) == ([14.5], [found.value])
    assert f"Degree, whole brain: centile {found.centile:.0f} [" in captions(page)
    table = table_with(page, "Centile")
    assert len(table) == len(places_in(cohort.atlas))
    assert table.iloc[0]["Centile"] == pytest.approx(found.centile)


def test_of_other_settings_and_atlases_it_says_so_and_leads_back(open_own, cohort, open_page):
    page = open_own("hubs", cohort, **ASKED).slider(key="absolute_level").set_value(0.2).run()
    assert "graphs are Pearson correlation" in words(page.info)
    assert table_with(page, "Centile") is None
    page.button(key="centile_settings").click().run()
    assert table_with(page, "Centile") is not None
    elsewhere = open_page("modules", cohort="ad", module_tab="centiles", resolution="1.5")
    assert "measured on Craddock CC200 and Schaefer 200" in words(elsewhere.info)
    assert "centile_settings" not in buttons(elsewhere)


def test_a_group_of_ones_own_is_measured_when_asked(open_own, rng):
    atlas = load_atlas("aal90")
    subjects = [
        Subject(
            f"c{i}",
            series=rng.standard_normal((40, 90)),
            group="NC",
            phenotypes={"age": 8 + (i + 26) % 52 / 10, "sex": sex},
        )
        for i, sex in enumerate("FM" * 26)
    ]
    cohort = Cohort("own", tuple(subjects), atlas)
    page = open_own("hubs", cohort, **ASKED, centile_reference="NC")
    assert table_with(page, "Centile") is None
    page.button(key="centile_centiles_start").click().run()
    measured = Measured(cohort, settings=ConnectomeSettings()).of("c0")
    found = standing_of(measured, replace(DEGREE, reference="NC"))
    assert table_with(page, "Centile").iloc[0]["Value"] == pytest.approx(found.value)
    assert "among group NC of own (52 people)" in captions(page)
