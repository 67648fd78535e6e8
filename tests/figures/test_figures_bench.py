"""Figures of the bench: power and where findings are, by both pens, of the study that ships and of a table by hand."""

import numpy as np
import pandas as pd
import pytest
from drawn_figures import drawn_by_both
from scipy import stats

from biobgt.bench.power import COLUMNS
from biobgt.data.lesions import LESIONS, Lesion
from biobgt.data.simulate import demo_cohort
from biobgt.figures.bench import bench_power, power_drawing
from biobgt.figures.drawing import Band, Curve
from biobgt.figures.paper_style import PaperStyle
from biobgt.results.measured import Measured
from biobgt.results.studies import study_table


def _table(people=(10, 20), sizes=(0.3,)):
    rows = [
        ["fc_strength", "FC strength", size, n, 40, 0.5, 0.35, 0.65, 0.4, 0.8, 0.1] for size in sizes for n in people
    ]
    rows += [
        ["q", "Modularity Q", size, n, 40, 0.1, 0.04, 0.23, np.nan, np.nan, np.nan] for size in sizes for n in people
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_power_stands_with_its_interval_and_where_its_findings_are():
    drawing = power_drawing(_table(), Lesion("network", "default", (0,)), "20 controls", simulated=True)
    drawn_by_both(drawing, PaperStyle(width_mm=174))
    first, second = drawing.panels
    band = next(mark for mark in first.marks if isinstance(mark, Band))
    assert (list(band.low), list(band.high)) == ([0.35, 0.35], [0.65, 0.65])
    curves = [mark for mark in first.marks if isinstance(mark, Curve)]
    assert [list(one.y) for one in curves] == [[0.5, 0.5], [0.8, 0.8]]
    assert len([mark for mark in second.marks if isinstance(mark, Curve)]) == 1, "Q cannot say where"
    assert "default loses 30 % of the connections within it" in drawing.caption
    assert "40 times" in drawing.caption


def test_one_number_of_people_is_drawn_over_sizes():
    drawing = power_drawing(_table((10,), (0.0, 0.3)), Lesion("hub", "R1", (0,)), "20 controls", simulated=True)
    assert drawing.panels[0].x.title == "Size of the lesion"
    assert "10 people with and as many without" in drawing.caption
    drawn_by_both(drawing)


@pytest.mark.parametrize("cohort", ["abide", "demo"])
@pytest.mark.parametrize("lesion", LESIONS)
def test_the_study_has_every_lesion(lesion, cohort):
    drawing = bench_power(Measured(demo_cohort("ad", n_per_group=1)), bench_power.takes(lesion=lesion, cohort=cohort))
    own = study_table("bench")
    own = own[(own["cohort"] == cohort) & (own["lesion"] == lesion)]
    assert len(drawing.numbers()) == len(own)
    assert f"{own['controls'].iloc[0]} " in drawing.caption


def test_without_a_lesion_the_study_found_what_chance_gives():
    null = study_table("bench").query("size == 0")
    by_measure = null.assign(hits=null["power"] * null["repetitions"]).groupby("measure")[["hits", "repetitions"]].sum()
    most = stats.binom.ppf(0.9995, by_measure["repetitions"], 0.05)
    assert (by_measure["hits"].round() <= most).all()
