"""Exported figures of a trained model have the numbers of its folder, and those of a subject what the model says."""

from dataclasses import replace

import numpy as np
import pytest
from export_requests import DEMO, MODEL, SUBJECT

from biobgt import InputError
from biobgt.base.references import REFERENCES, cited
from biobgt.base.wording import percent
from biobgt.export import CohortRef, FigureRequest
from biobgt.export.bundle import _make_figure
from biobgt.export.methods import _model_paragraphs
from biobgt.figures.paper.frame import MM_PER_INCH
from biobgt.figures.paper_style import PaperStyle
from biobgt.model.folder import load_card, load_pretrained, pretrained_names
from biobgt.model.group_results import load_groups

NOT_A_DIAGNOSIS = "Research use only, not a diagnostic device."


@pytest.fixture(scope="module")
def results(model):
    return load_groups(MODEL)


def make(model, figure, **options):
    ref, measured = model
    made = _make_figure(measured, FigureRequest(figure, ref, options=options), PaperStyle(width_mm=174, dpi=72))
    assert made.figure.get_figwidth() * MM_PER_INCH == pytest.approx(174)
    assert_words(made)
    return made


def assert_words(made):
    """Simulated patients are said to be so, and the methods cite works that there are."""
    assert "simulated" in made.caption
    assert set(made.citations) <= set(REFERENCES)
    assert "@" not in cited(" ".join(made.methods))


def test_maps_take_the_scale_that_is_asked_for(model):
    own = make(model, "attention_maps")
    assert "as chosen" not in own.caption
    shared = make(model, "attention_maps", limits=(0.25, 3.5))
    (image,) = {drawn.get_clim() for ax in shared.figure.axes for drawn in ax.images}
    assert image == (0.25, 3.5)
    assert "One colour scale for all groups, from 0.25 to 3.50: as chosen" in shared.caption


def asked(figure, **options):
    given = {"model": MODEL, "model_sha256": load_card(MODEL)["sha256"], **options}
    return FigureRequest(figure, DEMO, SUBJECT, options=given)


@pytest.mark.parametrize("figure", ["attention_maps", "attention_difference", "attention_contrast", "roc"])
def test_figures_of_a_model_have_its_numbers(model, results, figure):
    groups = {"first": "NC", "second": "AD"} if figure == "attention_difference" else {}
    numbers, regions = make(model, figure, **groups).numbers, list(model[1].atlas.regions)
    if figure == "attention_maps":
        drawn = numbers[numbers["group"] == "MCI"].set_index("region").loc[regions, regions]
        np.testing.assert_allclose(drawn, 90 * results.attention["MCI"].mean(axis=(0, 1)), rtol=1e-5)  # 1 is uniform
    elif figure == "attention_difference":
        expected = 90 * (results.attention["AD"] - results.attention["NC"]).mean(axis=(0, 1))
        np.testing.assert_allclose(numbers.set_index("region").loc[regions, regions], expected, atol=1e-5)
    elif figure == "attention_contrast":
        at = (numbers["group"] == "AD") & (numbers["layer"] == 1) & (numbers["head"] == 1)
        assert numbers.loc[at, "within / between"].item() == pytest.approx(float(results.contrast["AD"][0, 0]))
    else:
        assert numbers.groupby("curve")["true_positive_rate"].max().eq(1).all()


def test_blocks_are_the_models_tests_and_turn_their_sign_with_the_groups(model, results):
    made = make(model, "attention_blocks", first="NC", second="AD")
    rows = results.tests
    rows = rows[(rows["between"] == "NC - AD") & (rows["family"] == "block")].set_index("feature")
    adjusted = rows["covariates"].str.contains("mean_abs_fc")
    assert adjusted.sum() == (~adjusted).sum() == 25
    without, rows = rows[~adjusted], rows[adjusted]
    numbers = made.numbers.set_index("feature")
    for column in ("d", "d_high", "p", "q"):
        found = numbers[f"{column}_without_connectivity"]
        np.testing.assert_array_equal(found, without.loc[numbers.index, column])
    assert len(made.figure.axes) == 5  # adjusted, given FC, FC, unadjusted, and the colours
    for column in ("mean_NC", "mean_AD", "d", "d_low", "p", "q_unadjusted"):
        np.testing.assert_array_equal(numbers[column], rows.loc[numbers.index, column])
    modules = [text.get_text() for text in made.figure.axes[0].get_yticklabels()]
    drawn = made.figure.axes[0].images[0].get_array()
    at = modules.index("default"), modules.index("occipital")
    assert drawn[at] == rows.loc["default → occipital", "d"]
    stars = sum(text.get_text().endswith("*") for text in made.figure.axes[0].texts)
    assert stars == (rows["q"] <= 0.05).sum() > 0
    turned = make(model, "attention_blocks", first="AD", second="NC").numbers.set_index("feature")
    np.testing.assert_array_equal(turned["d"], -numbers["d"])
    np.testing.assert_array_equal(turned["d_low"], -numbers["d_high"])
    np.testing.assert_array_equal(turned["q"], numbers["q"])
    assert "and the test without it stands beside. False discovery rates are over all" in " ".join(made.methods)
    assert "Without adjusting for overall connectivity (mean |FC|), 4 differ; unadjusted" in made.caption


@pytest.mark.parametrize(("figure", "with_rates"), [("attention_difference", True), ("attention_contrast", False)])
def test_works_behind_a_group_test_are_cited(model, figure, with_rates):
    made = make(model, figure, **({"first": "NC", "second": "AD"} if with_rates else {}))
    assert "@freedman1983" in made.methods[-1]
    assert ("@benjamini1995" in made.methods[-1]) == with_rates


@pytest.mark.parametrize("part", [(0, 0), (1, 2)])
def test_attention_received_is_the_mean_of_the_others_columns(model, results, part):
    layer, head = part
    made = make(model, "attention_received", group="MCI", layer=layer, head=head)
    attention = results.attention["MCI"].astype(float)
    shown = attention.mean(axis=(0, 1)) if part == (0, 0) else attention[layer - 1, head - 1]
    expected = [90 * np.delete(shown[:, region], region).mean() for region in range(90)]
    np.testing.assert_allclose(made.numbers["attention received"], expected, rtol=1e-6)
    assert made.numbers["region"].tolist() == list(model[1].atlas.regions)
    assert "154 MCI" in made.caption


def test_results_and_reliability_are_the_cards_and_out_of_fold(model, results):
    card = load_card(MODEL)
    made = make(model, "model_results")
    found = made.numbers[made.numbers["metric"] == "accuracy"].set_index("model")
    for name, measured in card["results"].items():
        assert found.loc[name, "value"] == measured["accuracy"]["value"]
    assert (found["chance"] == 154 / 462).all()
    assert "ledoit2004" in made.citations, "the works behind the baselines are cited"
    made = make(model, "reliability")
    best = results.probabilities.argmax(axis=1)
    claimed = results.probabilities.max(axis=1)
    for row in made.numbers.itertuples():
        here = (claimed > row.low) & (claimed <= row.high)
        assert row.n == here.sum()
        assert row.observed == pytest.approx((best == results.labels)[here].mean())
    assert made.numbers["n"].sum() == 462


def test_subjects_attention_is_the_ensembles(model, measured, results):
    made = _make_figure(measured, asked("subject_attention", group="MCI", order="atlas", layer=1))
    seen = load_pretrained(MODEL).explain([measured.cohort[SUBJECT]]).attention[0]
    own, beside = (part.drop(columns=["of", "region"]) for _, part in made.numbers.groupby("of", sort=False))
    np.testing.assert_allclose(own, 90 * seen[0].mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(beside, 90 * results.attention["MCI"][0].mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(made.figure.axes[0].images[0].get_array(), own)
    assert made.caption.startswith(f"Simulated subject {SUBJECT}")
    assert made.caption.endswith(NOT_A_DIAGNOSIS)
    assert_words(made)
    by_default = _make_figure(measured, asked("subject_attention")).numbers
    assert by_default["of"].unique().tolist() == [SUBJECT, "mean of AD (n = 154)"]


def test_subjects_probability_is_the_ensembles_among_out_of_fold_ones(model, measured, results):
    made = _make_figure(measured, asked("subject_probability", group="MCI"))
    alone = measured.cohort.select(lambda subject: subject.id == SUBJECT)
    expected = load_pretrained(MODEL).predict(alone).iloc[0]
    (line,) = [line for line in made.figure.axes[0].lines if line.get_label() == SUBJECT]
    assert line.get_xdata()[0] == pytest.approx(expected["p_MCI"], rel=1e-5)
    assert made.numbers["p_AD of the subject"].iloc[0] == pytest.approx(expected["p_AD"], rel=1e-5)
    given = results.probabilities[results.labels == 2, 1]
    shares = made.numbers[made.numbers["group"] == "AD"]
    assert shares["share"].tolist() == pytest.approx(
        [((given >= low) & (given < low + 0.05)).mean() for low in np.arange(20) / 20], abs=1.01 / 154
    )
    assert shares["subjects"].sum() == 154
    assert f"given {percent(expected['p_MCI'])}" in made.caption
    assert made.caption.endswith(NOT_A_DIAGNOSIS)
    assert_words(made)


def test_own_subject_asked_of_a_simulated_model_is_marked_and_warned_of(model, measured):
    subject = measured.cohort[SUBJECT]
    short = replace(subject, series=subject.series[:40], simulated=False)
    cohort = replace(measured.cohort, subjects=(short,))
    request = replace(asked("subject_probability"), cohort=CohortRef("mine"))
    made = _make_figure(cohort, request)
    assert made.figure.get_suptitle().replace("\n", " ").endswith("simulated")
    assert "with simulated patients" in made.caption
    assert "Its probability may be meaningless" in made.caption
    assert "40 time points" in made.caption
    assert f"is subject {SUBJECT}" in made.caption
    (told,) = _model_paragraphs([MODEL])
    assert "Its simulated patients are not measurements of people" in " ".join(map(str, told))


def test_what_a_model_cannot_be_asked_is_refused(model, measured):
    ref, own = model
    for cohort, request, said in (
        (measured, asked("subject_attention", model_sha256="0" * 64), "SHA-256 of its weights differs"),
        (measured, asked("subject_attention", layer=99), "no layer 99"),
        (measured, asked("subject_probability", model="nothing"), f"Installed: .*{MODEL}"),
        (measured, asked("subject_probability", model="../secret"), "needs a model"),
        (measured, asked("subject_probability", group="ASD"), "no group 'ASD'"),
        (measured, FigureRequest("subject_attention", DEMO, options={"model": MODEL}), "name the subject"),
        (measured, FigureRequest("roc", DEMO), "shows a model"),
        (own, FigureRequest("hub_curves", ref, "sim-AD-001"), "no subject"),
        (own, FigureRequest("attention_maps", ref, options={"layer": 99}), "no layer 99"),
        (own, FigureRequest("attention_maps", ref, options={"limits": (2.0, 1.0)}), "the lower one first"),
        (own, FigureRequest("attention_received", ref, options={"group": "ASD"}), "no group 'ASD'"),
        (own, FigureRequest("attention_difference", ref, options={"first": "NC", "second": "XY"}), "two different"),
        (own, FigureRequest("attention_blocks", ref, options={"first": "AD", "second": "AD"}), "two different"),
    ):
        with pytest.raises(InputError, match=said):
            _make_figure(cohort, request)
    with pytest.raises(InputError, match="trained anew"):
        CohortRef(MODEL, model=True, sha256="0" * 64).draw()


@pytest.mark.skipif("abide-cc200" not in pretrained_names(), reason="the trained model is not on this machine")
def test_model_of_another_atlas_is_refused(measured):
    with pytest.raises(InputError, match="with 200 regions"):
        _make_figure(measured, FigureRequest("subject_probability", DEMO, SUBJECT, options={"model": "abide-cc200"}))
