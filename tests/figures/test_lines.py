"""A caption on the screen is one line: every registered figure has one of few words, of whatever subjects it is."""

import re
from dataclasses import replace

import numpy as np
import pytest

from biobgt.base.errors import InputError
from biobgt.data.atlas import numbered_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.data.simulate import DEMO_COHORTS, demo_cohort
from biobgt.figures.drawing import MOST_WORDS
from biobgt.figures.register import all_figures
from biobgt.model.pretrained import fitting_model, installed_model, installed_models
from biobgt.results.measured import Measured


def structural_cohort() -> Cohort:
    """Two subjects with streamline counts on an atlas of their own."""
    rng, subjects = np.random.default_rng(0), []
    for number in range(2):
        counts = np.triu(rng.integers(0, 400, (20, 20)) * (rng.random((20, 20)) < 0.6), 1).astype(float)
        subjects.append(Subject(f"sub-{number}", connectivity=counts + counts.T, group=("NC", "AD")[number]))
    return Cohort("structural", tuple(subjects), numbered_atlas(20), given="structural")


def lone_cohort() -> Cohort:
    """One person without a group."""
    demo = demo_cohort("ad", n_per_group=1)
    return replace(demo, name="alone", subjects=(replace(demo.subjects[0], group=None),))


COHORTS = {
    **{name: lambda name=name: demo_cohort(name, n_per_group=5) for name in DEMO_COHORTS},
    "structural": structural_cohort,
    "one person": lone_cohort,
}
# Of a structural cohort and of one person not everything can be drawn: models, groups and places are wanting. Of people
# on AAL-90 nobody's centiles are known.
FEWEST = {"structural": 14, "one person": 20}


def names_of_places(mark, panel) -> set[str]:
    """What a mark's points are called, by whatever says it."""
    own = [getattr(mark, name, ()) for name in ("texts", "names", "regions", "labels")]
    called = [*panel.x.names, *panel.y.names, *(one for each in own if not callable(each) for one in each)]
    return {str(name).split("\n")[0] for name in called}


def drawn(measured: Measured, model: str):
    """Every figure that can be drawn, by its key; what cannot says why in a sentence."""
    for figure in (one for one in all_figures().values() if not one.of_study):  # these have tests of their own
        declared, of = figure.takes.declared(), measured
        if figure.of_model:
            of = Measured(installed_model(figure.example_of or model).cohort)
        given = {name: declared[name].default_for(of.cohort) for name in ("first", "second") if name in declared}
        given |= {"model": model} if "model" in declared else {}
        given |= {name: 2 for name in ("null_graphs", "runs", "most") if name in declared}  # for words alike
        try:
            yield figure.key, figure(of, figure.takes(**given))
        except InputError:
            continue


@pytest.mark.parametrize("name", COHORTS)
def test_a_caption_on_the_screen_is_one_line_of_few_words(name, monkeypatch):
    for module in ("results.measured", "modules.measures"):
        monkeypatch.setattr(f"biobgt.{module}.SHUFFLES", 2)
    cohort = COHORTS[name]()
    model = fitting_model(cohort, installed_models()) or "abide-cc200"
    lines, regions = {}, {name for name in cohort.atlas.regions if not name.isdigit()}
    for key, drawing in drawn(Measured(cohort).of(cohort.ids[0]), model):
        lines[key] = drawing.line
        for panel in drawing.panels:
            without = [mark for mark in panel.marks if mark.ids is None]
            assert not any(regions & names_of_places(mark, panel) for mark in without), (
                f"{key}: which regions are they?"
            )
    assert len(lines) >= FEWEST.get(name, sum(not one.of_study for one in all_figures().values()) - 3)
    for key, line in lines.items():
        assert 3 <= len(line.split()) <= MOST_WORDS, f"{key}: {line}"
        assert line.count("(") == line.count(")"), f"{key}: {line}"
        assert not re.search(r"[^.\d]\. ", line), f"{key}, one sentence: {line}"
