"""No text of a figure for the paper is cut or lies on another, at a journal's column and at its page."""

import numpy as np
import pandas as pd
import pytest
from drawn_figures import (
    RELIABILITY,
    brain_of,
    brains_on_one_scale,
    curves_of,
    drawing_of,
    drawn_by_both,
    entropies_of,
    glass_brain,
    group_behind,
    measured_matrix,
    scatter_of,
    spectra_of,
    surroundings_of,
    sweep_of,
)
from paper_texts import drawn_texts, texts_inside_and_apart

from biobgt.data.atlas import Atlas, load_atlas
from biobgt.data.cohort import Cohort, Subject
from biobgt.figures import connectivity_distribution, connectivity_heatmap, order_by_value, order_regions, series_carpet
from biobgt.figures.drawing import Drawing
from biobgt.figures.hubs import BY_NE
from biobgt.figures.models import (
    OBSERVED,
    _benchmark_panel,
    _group_shares,
    _noise_panel,
    _observed_shares,
    _probability_panel,
    _reliability_of,
    _results_panels,
)
from biobgt.figures.paper.pen import _spread, draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.regions import RegionOrderOptions
from biobgt.figures.register import NoOptions
from biobgt.figures.why_region import MOST_DRAWN
from biobgt.results.measured import Measured
from biobgt.results.studies import study_table
from biobgt.training.tables import BenchmarkTables

N = 120
LONG = "Connectivity of subject 0051234 from a site with a long name, sorted by the functional networks of Dosenbach"
FIFTH = "NE: node entanglement, the change of the graph's spectral entropy when its neighbourhood is lost"
NETWORKS = ("occipital", "cingulo-opercular", "default", "fronto-parietal", "sensorimotor", "cerebellum", None)
REGIONS = [f"Temporal_Sup_Pole_L ({i})" for i in range(N)]
REFERENCES = ("node efficiency", "FC strength")
MEASURES = ("node_entanglement", "node_efficiency", "fc_strength")


def data():
    rng = np.random.default_rng(0)
    gammas = np.geomspace(0.1, 100, 9)
    sweeps = [pd.DataFrame({"reference": name, "gamma": gammas, "spearman": 0.5}) for name in REFERENCES]
    study = [pd.DataFrame({"reference": name, "gamma": gammas, "mean": 0.4, "sd": 0.1}) for name in REFERENCES]
    series = rng.standard_normal((80, N))
    return {
        "series": series,
        "matrix": np.corrcoef(series.T),
        "networks": order_regions(N, [NETWORKS[k] for k in np.sort(rng.integers(0, 7, N))]),
        # Many of a region or two: their names need to be moved apart, and some have no room.
        "modules": order_regions(N, [f"Module {k}" for k in np.sort(rng.integers(1, 60, N) ** 2 // 60)]),
        "curves": {measure: 1000 * rng.standard_normal(N) for measure in MEASURES},
        "hubs": rng.random(N) < 0.1,
        "sweep": pd.concat(sweeps),
        "study": pd.concat(study),
        "places": rng.uniform(-1, 1, (N, 3)) * (60, 80, 50),
        "numbers": rng.integers(0, 15, N),
    }


D = data()


def heatmap(networks=None, **about):
    order = connectivity_heatmap.takes("atlas" if networks is None else "networks")
    return connectivity_heatmap(measured_matrix(D["matrix"], REGIONS, networks=networks, **about), order)


def carpet():
    atlas = Atlas("toy", "a toy", tuple(REGIONS), labels={"networks": tuple(D["networks"].labels)})
    subject = Subject(LONG, D["series"], tr=2.0, simulated=True)
    return series_carpet(Measured(Cohort("toy", (subject,), atlas)).of(LONG), RegionOrderOptions("networks"))


HUB_DATA = {name: D[name] for name in ("curves", "hubs")}
OF_LONG = {"subject": LONG, "simulated": True, "estimator": "fisher-z"}
TITLED = {"title": LONG, "simulated": True}
BEHIND = {measure: np.abs(values) for measure, values in D["curves"].items()}
STRENGTH = D["curves"]["fc_strength"]
CASES = {
    "heatmap by network": heatmap(D["networks"].labels, **OF_LONG),
    "heatmap of many modules": heatmap(D["modules"].labels),
    "heatmap in atlas order": heatmap(),
    "carpet": carpet(),
    "distribution": connectivity_distribution(measured_matrix(D["matrix"], REGIONS, **OF_LONG), NoOptions()),
    "curves by network": curves_of(REGIONS, **HUB_DATA, order=D["networks"], subject="Hubs", simulated=True),
    "curves of many modules": curves_of(REGIONS, **HUB_DATA, scale="rank", order=D["modules"]),
    "curves in panels": curves_of(
        REGIONS,
        **HUB_DATA,
        scale="raw",
        order=order_by_value(STRENGTH),
        in_order=BY_NE,
        group=group_behind("112 controls of the same site and scanner", 112, D["curves"], BEHIND),
        region=REGIONS[3],
        subject=LONG,
    ),
    "scatter": scatter_of(REGIONS, -0.12, -0.3, 0.06, **HUB_DATA, region=REGIONS[5], simulated=True),
    "sweep": sweep_of(0.5, sweep=D["sweep"], study=D["study"], subject=LONG, simulated=True),
    "brain with values": drawing_of(
        brain_of(
            D["places"],
            REGIONS,
            sizes=STRENGTH,
            values=np.where(D["hubs"], np.nan, STRENGTH),
            quantity="FC strength, in z-scores over regions",
        ),
        **TITLED,
    ),
    "brain with modules": drawing_of(
        brain_of(
            D["places"],
            REGIONS,
            groups=[f"Module {k}, mostly fronto-parietal" if k else None for k in D["numbers"]],
            edges=[(0, 1, 1.0)],
        )
    ),
    "five brains": brains_on_one_scale(
        dict.fromkeys(("DC", "BC", "CC", "EC", FIFTH), D["places"][:, 0]),
        D["places"],
        REGIONS,
        quantity="z-score",
        **TITLED,
    ),
}


MODEL_NAMES = (
    "BioBGT",
    "ridge on tangent space (Ledoit-Wolf)",
    "ridge on log-Euclidean connectivity",
    "Paper (its own)",
)


def points() -> pd.DataFrame:
    rows = [(metric, model, 0.7, 0.65, 0.75) for metric in ("auc", "accuracy") for model in MODEL_NAMES]
    return pd.DataFrame(rows, columns=["metric", "model", "value", "low", "high"])


LEVELS = ("none", "SD 0.25", "SD 0.5", "SD 1", "SD 2", "noise alone")
NOISE = pd.DataFrame(
    [(level, group, 0.4, 0.9) for level in LEVELS for group in ("NC", "MCI", "AD")],
    columns=["noise", "group", "probability", "warned"],
)


BENCHMARK = BenchmarkTables(study_table("benchmark_abide"))
OF_MODELS = {
    "noise": Drawing(panels=[_noise_panel(NOISE)], **TITLED),
    "benchmark": Drawing(panels=[_benchmark_panel(BENCHMARK.beside_paper)], **TITLED),
    "results": Drawing(panels=_results_panels(points(), {"auc": 0.5}), columns=2, legend="none", **TITLED),
    "reliability": Drawing(
        **_reliability_of("the most probable group", _observed_shares(OBSERVED, RELIABILITY, "#0072B2")), **TITLED
    ),
    "probabilities": Drawing(
        panels=[
            _probability_panel(
                _group_shares(np.random.default_rng(0).random(90), np.repeat([0, 1, 2], 30), ("NC", "MCI", "AD")),
                "sub-0051234 of a site with a long name",
                "MCI",
                0.5,
            )
        ],
        **TITLED,
    ),
}


MANY = [f"Temporal_Sup_Pole_L ({i})" for i in range(MOST_DRAWN + 1)]
GAMMAS = np.array([0.1, 1.0, 10.0])
ABOUT_A_REGION = ("surroundings", "one neighbour")
CASES |= OF_MODELS | {
    "surroundings": surroundings_of(MANY, np.ones((17, 17)) - np.eye(17), simulated=True),
    "one neighbour": surroundings_of(MANY[:2], np.ones((2, 2)) - np.eye(2), simulated=True),
    "spectra": spectra_of(np.linspace(0, 30, 200), np.linspace(0, 29, 200), simulated=True),
    "entropies": entropies_of(GAMMAS, GAMMAS / 1e4, GAMMAS / 2e4, typical=GAMMAS / 1e6, gamma=0.5, simulated=True),
}


@pytest.mark.parametrize(("width", "font_size"), [(85, 7), (85, 10), (174, 7)])
@pytest.mark.parametrize("case", CASES)
def test_texts_lie_inside_the_figure_and_apart(case, width, font_size, monkeypatch):
    style = PaperStyle(width_mm=width, font_size=font_size, dpi=150, titles=True)
    figure = draw_on_paper(CASES[case], style)
    assert figure.get_figwidth() * 25.4 == pytest.approx(width)
    texts = texts_inside_and_apart(figure, monkeypatch, style)
    assert any("simulated" in text for text in texts) == CASES[case].simulated


@pytest.mark.parametrize("case", [case for case in CASES if "brain" not in case and case not in ABOUT_A_REGION])
def test_both_pens_draw_the_numbers_of_every_mark(case):
    drawn_by_both(CASES[case])


def test_every_block_is_named_where_there_is_room(monkeypatch):
    figure = draw_on_paper(heatmap(D["networks"].labels), PaperStyle(dpi=150))
    texts = {text for text, _ in drawn_texts(figure, monkeypatch)}
    assert {name for name, _, _ in D["networks"].blocks} <= texts


def test_brains_reach_the_sides_of_the_figure():
    """No white borders: the outermost brains end within 3 mm of the figure's sides."""
    style = PaperStyle(dpi=150)
    figure = glass_brain(D["places"], REGIONS, style=style)
    figure.canvas.draw()
    inked = (np.asarray(figure.canvas.buffer_rgba())[..., :3] < 250).any(axis=2)
    for axis in (0, 1):
        filled = np.flatnonzero(inked.any(axis=axis))
        length = inked.shape[1 - axis]
        assert filled[0] / 150 * 25.4 < 3
        assert (length - 1 - filled[-1]) / 150 * 25.4 < 3


@pytest.mark.parametrize("name", ["cc200", "aal116", "power264", "4s156", "glasser360", "harvard_oxford112"])
def test_every_region_of_the_bundled_atlases_lies_in_the_picture(name):
    atlas = load_atlas(name)
    figure = glass_brain(atlas.coordinates, atlas.regions, groups=atlas.labelling("paper"), style=PaperStyle(dpi=72))
    figure.canvas.draw()
    drawn = 0
    for axes in figure.axes:
        for dots in axes.collections:
            x, y = np.asarray(dots.get_offsets()).T
            if not len(x):  # a network of one hemisphere, seen from the other side
                continue
            assert x.min() > min(axes.get_xlim())
            assert x.max() < max(axes.get_xlim())
            assert y.min() > min(axes.get_ylim())
            assert y.max() < max(axes.get_ylim())
            drawn += len(x)
    assert drawn >= 3 * atlas.placed.sum(), "each from the front, from above and from its side"


@pytest.mark.parametrize(
    ("positions", "expected"),
    [
        ([1.0, 5.0, 9.0], [1, 5, 9]),
        ([4.0, 5.0, 6.0], [3, 5, 7]),
        ([0.0, 0.0, 9.0], [0, 2, 9]),
        ([9.0, 10.0, 10.0], [6, 8, 10]),
        ([], []),
    ],
)
def test_names_move_apart_as_little_as_needed(positions, expected):
    assert _spread(positions, 2.0, 0.0, 10.0) == pytest.approx(expected)
