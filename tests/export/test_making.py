"""Figures of requests give the library's numbers, draw them, and refuse what they cannot make with a sentence."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from export_requests import DEMO, OPTIONS, SUBJECT, request_of

from biobgt import Cohort, ConnectomeSettings, InputError, Subject, load_atlas
from biobgt.base.references import REFERENCES, cited
from biobgt.data.connectivity import subject_connectivity
from biobgt.export import CohortRef, FigureRequest, cohort_sha256
from biobgt.export.bundle import _make_figure
from biobgt.figures.paper.frame import MM_PER_INCH
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import all_figures
from biobgt.hubs.measures import HubAnalysisOptions
from biobgt.modules.measures import ModuleOptions
from biobgt.results.tables import analyse_hubs, analyse_modules

BRAINS = {"hub_brain", "five_brains", "module_brain", "group_module_brain"}
# Those of a trained model need one, and centiles people of the same atlas; they have tests of their own.
OF_SUBJECTS = {
    key
    for key, figure in all_figures().items()
    if not (figure.of_model or figure.of_study or "model" in figure.takes.declared())
} - {"centiles", "centiles_brain"}


@pytest.fixture(scope="module")
def one(measured):
    """The subject alone, as the command line analyses it."""
    return measured.cohort.select(lambda subject: subject.id == SUBJECT)


@pytest.mark.parametrize("figure", sorted(OF_SUBJECTS - BRAINS))
def test_figure_is_made_at_its_width_with_numbers_words_and_known_citations(measured, figure):
    made = _make_figure(measured, request_of(figure), PaperStyle(width_mm=114))
    assert made.figure.get_figwidth() * MM_PER_INCH == pytest.approx(114)
    assert len(made.numbers) > 0
    assert "imulated" in made.caption
    assert set(made.citations) <= set(REFERENCES)
    assert "@" not in cited(" ".join(made.methods)), "every key is that of a work"
    assert all(sentence.endswith(".") for sentence in made.methods)


def test_hub_numbers_are_the_command_lines(measured, one):
    options = {"gamma": 3.0, "perturbation": "remove"}
    table = analyse_hubs(one, ConnectomeSettings(), HubAnalysisOptions(**options)).tables[SUBJECT].set_index("region")
    request = FigureRequest("hub_curves", DEMO, SUBJECT, options={**options, "scale": "raw", "order": "by NE"})
    numbers = _make_figure(measured, request).numbers.set_index("region")
    assert numbers["node_entanglement"].is_monotonic_decreasing
    for measure in ("node_entanglement", "node_efficiency", "fc_strength"):
        np.testing.assert_allclose(numbers[measure], table.loc[numbers.index, measure], rtol=1e-9, atol=1e-12)
    assert numbers["hub by NE"].sum() == table["node_entanglement_hub"].sum() == 9


def test_group_band_is_the_mean_of_its_members(measured):
    request = FigureRequest("hub_curves", DEMO, SUBJECT, options={"group": True, "scale": "raw"})
    numbers = _make_figure(measured, request).numbers
    members = measured.cohort.group("AD")
    strengths = []
    for subject in members:
        full = subject_connectivity(subject)
        strengths.append((full.sum(axis=0) - np.diag(full)) / (len(full) - 1))
    np.testing.assert_allclose(numbers["fc_strength group mean"], np.mean(strengths, axis=0), rtol=1e-10)


def test_module_numbers_are_the_command_lines(measured, one):
    partition = analyse_modules(one, options=ModuleOptions(resolution=1.2, seed=5)).partitions[SUBJECT]
    request = FigureRequest("module_heatmap", DEMO, SUBJECT, options={"resolution": 1.2, "seed": 5})
    numbers = _make_figure(measured, request).numbers.set_index("region")
    regions = measured.atlas.regions
    assert dict(numbers["module"]) == dict(zip(regions, partition.labels.tolist(), strict=True))
    assert numbers["module"].replace(0, 99).is_monotonic_increasing  # regions in no module come last
    full = pd.DataFrame(subject_connectivity(one[SUBJECT]), regions, regions)
    np.testing.assert_array_equal(numbers.drop(columns="module"), full.loc[numbers.index, numbers.index])


def test_flow_ribbons_carry_the_regions(measured):
    made = _make_figure(measured, request_of("module_flow"))
    roles = _make_figure(measured, request_of("role_map")).numbers
    labels = measured.atlas.labelling("dosenbach")
    pairs = [(m, label) for m, label in zip(roles["module"], labels, strict=True) if label is not None and m]
    expected = pd.Series(pairs).value_counts()
    found = {(row.module, row.label): row.regions for row in made.numbers.itertuples()}
    assert found == expected.to_dict()
    ribbons = [patch for patch in made.figure.axes[0].patches if patch.get_alpha() is not None]
    assert len(ribbons) == len(found)
    widths = sorted(patch.get_path().vertices[7, 1] - patch.get_path().vertices[0, 1] for patch in ribbons)
    counts = np.array(sorted(found.values()))
    np.testing.assert_allclose(widths, counts * widths[0] / counts[0], rtol=1e-9)


@pytest.mark.parametrize(
    ("labelling", "named"), [("dosenbach", "six networks [@dosenbach2010]"), ("paper", "paper [@peng2025]")]
)
def test_functional_labels_are_cited_as_whose_they_are(measured, labelling, named):
    made = _make_figure(measured, request_of("module_flow", labelling=labelling))
    assert named in made.methods[-1]


def test_resolution_sweep_draws_its_numbers(measured):
    made = _make_figure(measured, request_of("resolution_sweep"))
    lines = {line.get_label(): line for axes in made.figure.axes for line in axes.lines}
    np.testing.assert_array_equal(lines["Number of modules"].get_ydata(), made.numbers["n_modules"])
    np.testing.assert_array_equal(lines["Modularity Q"].get_ydata(), made.numbers["q"])
    assert list(made.numbers["resolution"]) == [0.8, 1.0]


def test_request_survives_json_and_tells_what_is_damaged():
    request = FigureRequest(
        "gamma_sweep",
        CohortRef("Ä 'own' $cohort", sha256="ab" * 32),
        "sub 1",
        ConnectomeSettings("partial", "signed", "proportional", 0.2, True),
        {"gamma": 0.5, "gammas": (0.1, 1.0), "perturbation": "remove"},
    )
    again = FigureRequest.from_json(request.to_json())
    assert again == request
    assert hash(again) == hash(request)
    assert again.to_json() == request.to_json()
    document = request.as_dict()
    for change, said in (
        ({"format": "other"}, "no request"),
        ({"version": 2}, "newer version"),
        ({"settings": {"estimator": "pearson"}}, "damaged"),
        ({"settings": document["settings"] | {"level": "0.3"}}, "damaged"),
        ({"settings": document["settings"] | {"estimator": "magic"}}, "estimator"),
        ({"options": {"gamma": None}}, "damaged"),
        ({"cohort": document["cohort"] | {"demo": True}}, "no demo cohort"),
    ):
        with pytest.raises(InputError, match=said):
            FigureRequest.from_json(json.dumps(document | change))
    with pytest.raises(InputError, match="no request"):
        FigureRequest.from_json("{")


def test_labels_that_came_later_do_not_make_other_subjects(rng):
    """Figures that were exported before bundled atlases had Yeo's networks can be made again."""
    atlas = load_atlas("aal90")
    earlier = replace(atlas, labels={name: atlas.labels[name] for name in ("dosenbach", "paper")})
    subjects = (Subject("s", series=rng.standard_normal((5, 90))),)
    assert cohort_sha256(Cohort("now", subjects, atlas)) == cohort_sha256(Cohort("then", subjects, earlier))
    other = replace(atlas, labels={**atlas.labels, "paper": (None,) * 90})
    assert cohort_sha256(Cohort("now", subjects, atlas)) != cohort_sha256(Cohort("other", subjects, other))


def test_cohort_hash_tells_numbers_groups_and_order_apart(measured):
    cohort = measured.cohort
    first = cohort_sha256(cohort)
    assert cohort_sha256(DEMO.draw()) == first
    assert cohort_sha256(cohort.with_groups({SUBJECT: "NC"})) != first
    assert cohort_sha256(cohort.select(lambda subject: subject.id != SUBJECT)) != first
    ref = CohortRef("mine", sha256=first)
    ref.check(cohort)
    with pytest.raises(InputError, match="not the subjects"):
        ref.check(cohort.with_groups({SUBJECT: "NC"}))


@pytest.mark.parametrize(
    ("figure", "options", "word"),
    [
        ("portrait", {}, "portrait"),
        ("hub_curves", {"colour": "red"}, "colour"),
        ("hub_curves", {"gamma": "1"}, "gamma"),
        ("hub_curves", {"group": 1}, "group"),
        ("hub_curves", {"scale": "log"}, "scale"),
        ("hub_curves", {"region": "Atlantis"}, "Atlantis"),
        ("modularity_against_chance", {"null_graphs": 0}, "null_graphs"),
        ("group_module_brain", {"group": "MCI"}, "NC or AD"),
        ("group_module_flow", {"first": "NC", "second": "NC"}, "different"),
        ("group_module_brain", {"second": "XY"}, "XY"),
    ],
)
def test_options_that_cannot_be_end_with_a_sentence(measured, figure, options, word):
    subject = None if figure.startswith("group") else SUBJECT
    with pytest.raises(InputError, match=word):
        _make_figure(measured, FigureRequest(figure, DEMO, subject, options=OPTIONS.get(figure, {}) | options))


@pytest.mark.parametrize("figure", ["region_surroundings", "modularity_against_chance"])
def test_a_graph_without_connections_ends_with_a_sentence(measured, figure):
    settings = ConnectomeSettings(threshold="absolute", level=1.0)
    with pytest.raises(InputError, match="no connection left"):
        _make_figure(measured, FigureRequest(figure, DEMO, SUBJECT, settings))
