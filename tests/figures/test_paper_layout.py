"""No text of a figure for the paper is cut or lies on another, at a journal's column and at its page."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from biobgt.atlas import BUNDLED, load_atlas
from biobgt.figures import order_by_value, order_regions
from biobgt.figures import paper as p
from biobgt.figures.paper.frame import spread

N = 120
LONG = "Connectivity of subject 0051234 from a site with a long name, sorted by the functional networks of Dosenbach"
NETWORKS = ("occipital", "cingulo-opercular", "default", "fronto-parietal", "sensorimotor", "cerebellum", None)
REGIONS = [f"Temporal_Sup_Pole_L ({i})" for i in range(N)]
REFERENCES = {"node_efficiency": "node efficiency", "fc_strength": "FC strength"}
MEASURES = ("node_entanglement", "node_efficiency", "fc_strength")


def data():
    rng = np.random.default_rng(0)
    gammas = np.geomspace(0.1, 100, 9)
    sweeps = [pd.DataFrame({"reference": name, "gamma": gammas, "spearman": 0.5}) for name in REFERENCES.values()]
    study = [pd.DataFrame({"reference": name, "gamma": gammas, "mean": 0.4, "sd": 0.1}) for name in REFERENCES.values()]
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
CASES = {
    "heatmap by network": lambda s: p.connectivity_heatmap(
        D["matrix"], REGIONS, order=D["networks"], quantity="Pearson r", title=LONG, simulated=True, style=s
    ),
    "heatmap of many modules": lambda s: p.connectivity_heatmap(D["matrix"], REGIONS, order=D["modules"], style=s),
    "heatmap in atlas order": lambda s: p.connectivity_heatmap(D["matrix"], REGIONS, title="A", style=s),
    "carpet": lambda s: p.series_carpet(
        D["series"], REGIONS, order=D["networks"], tr=2.0, title=LONG, simulated=True, style=s
    ),
    "distribution": lambda s: p.connectivity_distribution(
        D["matrix"], D["matrix"] > 0, quantity="Pearson r", title=LONG, simulated=True, style=s
    ),
    "curves by network": lambda s: p.hub_curves(
        D["curves"], REGIONS, D["hubs"], order=D["networks"], title="Hubs", simulated=True, style=s
    ),
    "curves of many modules": lambda s: p.hub_curves(
        D["curves"], REGIONS, D["hubs"], scale="rank", order=D["modules"], style=s
    ),
    "curves in panels": lambda s: p.hub_curves(
        D["curves"],
        REGIONS,
        D["hubs"],
        scale="raw",
        order=order_by_value(D["curves"]["fc_strength"]),
        order_title="by FC strength",
        group={measure: (values, np.abs(values)) for measure, values in D["curves"].items()},
        group_name="112 controls of the same site and scanner",
        picked=3,
        title=LONG,
        style=s,
    ),
    "scatter": lambda s: p.hub_scatter(
        D["curves"]["fc_strength"],
        D["curves"]["node_entanglement"],
        REGIONS,
        D["hubs"],
        measure="fc_strength",
        subtitle="ρ = −0.12, 95% interval −0.30 to 0.06",
        picked=5,
        simulated=True,
        style=s,
    ),
    "sweep": lambda s: p.gamma_sweep(
        D["sweep"], REFERENCES, chosen=0.5, study=D["study"], title=LONG, simulated=True, style=s
    ),
    "roles": lambda s: p.role_map(
        np.linspace(0, 0.99, N), np.linspace(-2, 3, N), D["numbers"], REGIONS, hub_z=1.5, title=LONG, style=s
    ),
    "brain with values": lambda s: p.glass_brain(
        D["places"],
        REGIONS,
        sizes=D["curves"]["fc_strength"],
        values=np.where(D["hubs"], np.nan, D["curves"]["fc_strength"]),
        quantity="FC strength, in z-scores over regions",
        title=LONG,
        simulated=True,
        style=s,
    ),
    "brain with modules": lambda s: p.glass_brain(
        D["places"],
        REGIONS,
        groups=[f"Module {k}, mostly fronto-parietal" if k else None for k in D["numbers"]],
        edges=[(0, 1, 1.0)],
        display_mode="ortho",
        style=s,
    ),
    "five brains": lambda s: p.five_brains(
        dict.fromkeys(("DC", "BC", "CC", "EC", "NE"), D["places"][:, 0]),
        D["places"],
        REGIONS,
        captions={"NE": "node entanglement, the change of the graph's spectral entropy when its neighbourhood is lost"},
        quantity="z-score",
        title=LONG,
        simulated=True,
        style=s,
    ),
}
SIMULATED = {"heatmap by network", "carpet", "distribution", "curves by network", "scatter", "sweep"} | {
    "brain with values",
    "five brains",
}


def drawn_texts(figure, monkeypatch):
    """Every text that is really drawn, with its place in pixels."""
    found = []
    draw = Text.draw

    def record(self, renderer):
        if self.get_visible() and self.get_text().strip():
            found.append((self.get_text(), self.get_window_extent(renderer)))
        return draw(self, renderer)

    with monkeypatch.context() as patch:
        patch.setattr(Text, "draw", record)
        figure.canvas.draw()
    return found


@pytest.mark.parametrize(("width", "font_size"), [(85, 7), (85, 10), (174, 7)])
@pytest.mark.parametrize("case", CASES)
def test_texts_lie_inside_the_figure_and_apart(case, width, font_size, monkeypatch):
    figure = CASES[case](p.PaperStyle(width_mm=width, font_size=font_size, dpi=150))
    assert figure.get_figwidth() * 25.4 == pytest.approx(width)
    texts = drawn_texts(figure, monkeypatch)
    assert texts
    for text, box in texts:
        assert box.x0 >= 0, f"'{text}' is cut on the left"
        assert box.y0 >= 0, f"'{text}' is cut at the bottom"
        assert box.x1 <= figure.bbox.x1, f"'{text}' is cut on the right"
        assert box.y1 <= figure.bbox.y1, f"'{text}' is cut at the top"
    for (one, here), (other, there) in combinations(texts, 2):
        across = min(here.x1, there.x1) - max(here.x0, there.x0)
        along = min(here.y1, there.y1) - max(here.y0, there.y0)
        assert min(across, along) <= 1, f"'{one}' lies on '{other}'"
    assert any("simulated" in text for text, _ in texts) == (case in SIMULATED)


def test_every_block_is_named_where_there_is_room(monkeypatch):
    figure = p.connectivity_heatmap(D["matrix"], REGIONS, order=D["networks"], style=p.PaperStyle(dpi=150))
    texts = {text for text, _ in drawn_texts(figure, monkeypatch)}
    assert {name for name, _, _ in D["networks"].blocks} <= texts


def test_brains_reach_the_sides_of_the_figure():
    """No white borders: the outermost brains end within 3 mm of the figure's sides."""
    style = p.PaperStyle(dpi=150)
    figure = p.glass_brain(D["places"], REGIONS, style=style)
    figure.canvas.draw()
    inked = (np.asarray(figure.canvas.buffer_rgba())[..., :3] < 250).any(axis=2)
    for axis in (0, 1):
        filled = np.flatnonzero(inked.any(axis=axis))
        length = inked.shape[1 - axis]
        assert filled[0] / 150 * 25.4 < 3
        assert (length - 1 - filled[-1]) / 150 * 25.4 < 3


@pytest.mark.parametrize("name", BUNDLED)
def test_every_region_of_the_bundled_atlases_lies_in_the_picture(name):
    atlas = load_atlas(name)
    figure = p.glass_brain(
        atlas.coordinates, atlas.regions, groups=atlas.labelling("paper"), style=p.PaperStyle(dpi=72)
    )
    figure.canvas.draw()
    drawn = 0
    for axes in figure.axes:
        for dots in axes.collections:
            x, y = np.asarray(dots.get_offsets()).T
            assert x.min() > min(axes.get_xlim())
            assert x.max() < max(axes.get_xlim())
            assert y.min() > min(axes.get_ylim())
            assert y.max() < max(axes.get_ylim())
            drawn += len(x)
    assert drawn >= 3 * atlas.n_regions, "each from the front, from above and from its side"


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
    assert spread(positions, 2.0, 0.0, 10.0) == pytest.approx(expected)
