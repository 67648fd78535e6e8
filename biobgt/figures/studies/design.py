"""What a study rests on: its design matrix with leverage, what harmonisation took away, its cohort's hubs and edges."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biobgt.base.arrays import FDR, passes
from biobgt.base.colours import BLUE, LINE_GREY, ORANGE, VERMILION
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.references import in_brackets
from biobgt.base.wording import capitalised, counted, percent
from biobgt.data.cohort import counted_people
from biobgt.figures.brain import MOST_NAMED, Brain, BrainKind, brain_option, in_brain
from biobgt.figures.connectivity import LARGEST_MATRIX_MM, connectivity_shades, matrix_panel, shades_words
from biobgt.figures.drawing import Axis, Drawing, Heatmap, Mark, Panel, Points, Rule, Shades, table
from biobgt.figures.regions import ATLAS_ORDER, matrix_numbers, regions_in_order
from biobgt.figures.register import NoOptions
from biobgt.figures.studies.shown import ShownContrast, StudyFigureOptions, measure_words, study_figure, study_of
from biobgt.hubs.measures import HUB_MEASURES, NE
from biobgt.inference.formula import INTERCEPT
from biobgt.study.design import COMBAT
from biobgt.study.options import ATTENTION
from biobgt.study.subject import attention_definition

if TYPE_CHECKING:
    from biobgt.results.measured import Measured
    from biobgt.study.finished import FinishedStudy

_MOST_ROWS = 400  # people, as columns of the picture; of more, evenly spaced ones are drawn
_MOST_MAPS = 30  # pairs; more cannot be read
_HIGH_LEVERAGE = 3.0  # times the mean, from which on the design itself speaks of it


@study_figure("study_design", "Design of a study", takes=NoOptions, least_mm=70)
def study_design(measured: "Measured", options: NoOptions) -> Drawing:
    """The design matrix, a column per person, and below it how much each decides their own fitted value."""
    shown = ShownContrast.of(measured, StudyFigureOptions())
    model = shown.study.model
    names = [name for term, own in model.terms.items() for name in _column_names(term, own)]
    order = np.lexsort([*model.columns.T[::-1], model.columns[:, model.terms[model.tested]][:, 0]])
    drawn = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), _MOST_ROWS)).round().astype(int))]
    columns, places = model.columns[drawn], np.arange(len(drawn))
    scaled = columns / np.maximum(np.abs(model.columns).max(axis=0), 1e-300)
    leverage, mean = model.leverage[drawn], float(model.leverage.mean())
    people = [model.names[row] for row in drawn]
    heat = Heatmap(
        z=scaled.T,
        x=places,
        shades=Shades(quantity="value, in units of the column's largest", low=-1, high=1),
        hover="%{y}\n%{text}",
        hovers=[[f"{who}: {value:.3g}" for who, value in zip(people, row, strict=True)] for row in columns.T],
    )
    dots = Points(
        colour=BLUE, x=places, y=leverage, size=5, people=people, texts=people, hover="%{text}\nleverage %{y:.3f}"
    )
    lines: list[Mark] = [Rule(y=mean, name="mean", colour=LINE_GREY, dash="dot")]
    if leverage.max() > _HIGH_LEVERAGE * mean:
        lines.append(Rule(y=_HIGH_LEVERAGE * mean, name="3 × mean", colour=VERMILION, dash="dash"))
    rows = "recordings" if len(set(model.names)) < len(model.names) else "people"
    few = f"; {len(drawn)} of {len(order):,}, evenly spaced" if len(drawn) < len(order) else ""
    said = f"{counted(len(names), 'column')} of the design {model.formula}, over {rows} sorted by {model.tested}{few}"
    return shown.drawing(
        f"{said}. Numbers are centred, and values of words add up to zero. Below, the leverage of each; the mean is "
        f"{mean:.2g}",
        title="Design",
        line=said,
        panels=[
            Panel(marks=[heat], y=Axis(names=names, reversed=True), height=1.4),
            Panel(marks=[*lines, dots], x=Axis(title=capitalised(rows)), y=Axis(title="Leverage", limits=(0, None))),
        ],
        numbers=table(
            {rows[:-1] if rows == "recordings" else "person": model.names}
            | {name: model.columns[:, i] for i, name in enumerate(names)}
            | {"leverage": model.leverage}
        ),
        legend="none",
        height=320 + 24 * len(names),
        aspect=0.35,
        methods=shown.methods,
    )


def _column_names(term: str, own: slice) -> list[str]:
    """The columns of a term, numbered where there are several."""
    n = own.stop - own.start
    name = "intercept" if term == INTERCEPT else term
    return [name] if n == 1 else [f"{name}, {number} of {n}" for number in range(1, n + 1)]


# What harmonisation took away.


@study_figure("study_harmonised", "Harmonisation of a study", takes=NoOptions, least_mm=80)
def study_harmonised(measured: "Measured", options: NoOptions) -> Drawing:
    """How much of every measure sites explain, before and after, and overall connectivity by site."""
    shown = ShownContrast.of(measured, StudyFigureOptions())
    shares, overall = shown.study.findings.harmonised, shown.study.findings.overall_by_site
    if not len(shares):
        raise InputError("The study was not harmonised. Run biobgt study with --harmonise combat to do it.")
    means = shares.groupby("measure", sort=False)[["before", "after"]].mean()
    names = [capitalised(measure_words(shown.study, str(key))) for key in means.index]
    rows = np.arange(len(names))
    marks: list[Mark] = [
        Points(name=when, colour=colour, symbol=symbol, x=means[when].to_numpy(float), y=rows, size=9, hover="%{x:.1%}")
        for when, colour, symbol in (("before", ORANGE, "circle"), ("after", BLUE, "diamond"))
    ]
    sites = list(dict.fromkeys(overall["site"]))
    strips: list[Mark] = []
    for when, colour, symbol, aside in (("before", ORANGE, "circle", -0.18), ("after", BLUE, "diamond", 0.18)):
        x = np.array([sites.index(site) for site in overall["site"]]) + aside
        who = overall["subject"].astype(str).tolist()
        look: dict[str, Any] = {"name": when, "colour": colour, "symbol": symbol, "size": 5, "opacity": 0.7}
        strips.append(Points(x=x, y=overall[when].to_numpy(float), people=who, texts=who, hover="%{text}", **look))
    said = (
        f"Variance that {counted(len(sites), 'site')} explain beyond the design: {percent(means['before'].mean(), 1)} "
        f"before harmonisation and {percent(means['after'].mean(), 1)} after, on average over measures"
    )
    ticks = Axis(names=sites, ticks=range(len(sites)), limits=(-0.5, len(sites) - 0.5))
    return shown.drawing(
        f"{said}. Left: the mean over features of each measure. Right: overall connectivity of each recording",
        title="Harmonisation",
        line=said,
        panels=[
            Panel(
                marks=marks,
                x=Axis(title="Variance that sites explain", limits=(0, None), percent=True),
                y=Axis(names=names, reversed=True, limits=(-0.6, len(names) - 0.4)),
            ),
            Panel(marks=strips, x=ticks, y=Axis(title="Overall connectivity")),
        ],
        columns=2,
        own_y=True,
        numbers=lambda: shares,
        legend="above",
        height=260 + 22 * len(names),
        methods=(*shown.methods, *_harmonised_methods(shown.study)),
    )


def _harmonised_methods(study: "FinishedStudy") -> tuple[str, ...]:
    how = "ComBat" if study.findings.options.harmonise == COMBAT else "a robust form of ComBat"
    return (f"Measures were harmonised by {study.findings.options.harmonise_by} with {how} [@johnson2007; @yu2018].",)


# Whom the study is about: the cohort's hubs, its mean connectivity, and maps that go together.


@dataclass(frozen=True)
class _CohortBrainOptions(StudyFigureOptions):
    """Which measure is averaged, and how its brain is drawn."""

    measure: str = option("", title="Measure", help="A measure of regions. Default: node entanglement.")
    brain: BrainKind = brain_option()


@study_figure("study_hubs", "Hubs of a study's cohort", takes=_CohortBrainOptions)
def study_hubs(measured: "Measured", options: _CohortBrainOptions) -> Drawing:
    """The mean of a hub measure over everybody, in the brain; its strongest regions are named."""
    study = study_of(measured)
    known = list(study.data.regions)
    key = options.measure or (NE if NE in known else known[0])
    if key not in known:
        raise InputError(f"The study measured no '{key}'. It measured: {', '.join(known)}.")
    each = study.data.area(study.data.regions[key])
    n_known = np.isfinite(each).sum(axis=0)
    means = np.where(n_known > 0, np.nansum(each, axis=0) / np.maximum(n_known, 1), np.nan)
    low_in_hubs = key in HUB_MEASURES and HUB_MEASURES[key].low_in_hubs
    ranked = np.argsort(np.where(np.isnan(means), np.inf, means if low_in_hubs else -means), kind="stable")
    strongest = [int(region) for region in ranked[:MOST_NAMED] if np.isfinite(means[region])]
    words = measure_words(study, key)
    whom = counted_people(len(set(study.data.persons)), len(study.data.persons))
    brain = Brain.of(study.atlas, options.brain, sizes=means, values=means, quantity=f"mean {words}", named=strongest)
    names = ", ".join(study.atlas.regions[region] for region in strongest)
    said = f"Mean {words} of {whom} of {study.cohort.name}"

    def caption(where: str) -> str:
        over = f", averaged over {len(study.data.levels)} levels of the threshold" if len(study.data.levels) > 1 else ""
        return (
            f"{said}{over}. {brain.regions_in(where)}. {capitalised(_extreme(low_in_hubs))}: {names}.{brain.left_out}"
        )

    table_of_regions = {"region": study.atlas.regions, key: means, "recordings": n_known}
    return in_brain(
        brain,
        caption,
        title=f"Mean {words}",
        simulated=study.simulated,
        line=said,
        numbers=table(table_of_regions),
        methods=_measured_methods(study, key),
    )


def _extreme(low_in_hubs: bool) -> str:
    return "lowest" if low_in_hubs else "highest"


def _measured_methods(study: "FinishedStudy", key: str) -> tuple[str, ...]:
    if key == ATTENTION:
        return (attention_definition(study.data.model),)
    definition = (HUB_MEASURES[key].in_words_of(study.kind).definition,) if key in HUB_MEASURES else ()
    return (*_graph_sentences(study), *definition)


def _graph_sentences(study: "FinishedStudy") -> tuple[str, ...]:
    """How graphs were made, in a sentence."""
    atlas = study.atlas
    return (
        f"Brain graphs had the {atlas.n_regions} regions of {atlas.title}{in_brackets(atlas.cites)} as nodes, "
        f"and their connections were: {study.graph_words}.",
    )


@study_figure("study_connectivity", "Mean connectivity of a study", takes=NoOptions, least_mm=55)
def study_connectivity(measured: "Measured", options: NoOptions) -> Drawing:
    """Mean connectivity of all pairs of regions, in blocks of networks."""
    study = study_of(measured)
    means = study.mean_connectivity_matrix
    order = regions_in_order(study.atlas, study.labelling or ATLAS_ORDER)
    quantity = "r" if study.kind.functional else study.kind.quantity_of(None, study.settings.estimator)
    shades = connectivity_shades(np.nan_to_num(means), quantity)
    whom = counted_people(len(set(study.data.persons)), len(study.data.persons))
    said = f"Mean {study.kind.title[:1].lower()}{study.kind.title[1:]} of {whom} of {study.cohort.name}"
    shown = np.array(means)
    np.fill_diagonal(shown, 1.0 if study.kind.functional else 0.0)
    return Drawing(
        title="Mean connectivity",
        simulated=study.simulated,
        caption=f"{said}. {shades_words(shades)}",
        line=said,
        panels=[matrix_panel(shown, study.atlas.regions, order, shades)],
        numbers=lambda: matrix_numbers(shown, study.atlas.regions, order),
        methods=(f"Matrices were averaged over recordings{', as Fisher z' if study.kind.functional else ''}.",),
        height=520,
        square_mm=LARGEST_MATRIX_MM,
    )


@study_figure("study_maps", "Maps of a study that go together", takes=StudyFigureOptions, least_mm=60)
def study_maps(measured: "Measured", options: StudyFigureOptions) -> Drawing:
    """Correlations of maps over regions, of the whole cohort and of a contrast's effects, with p of spatial nulls."""
    shown = ShownContrast.of(measured, options)
    study, maps = shown.study, shown.study.findings.maps
    of_contrast = (maps["contrast"] == shown.contrast.name) & (maps["adjusted"] == shown.design.adjusted)
    maps = maps[(maps["contrast"] == "") | of_contrast]
    if not len(maps):
        raise InputError("The study compared no maps over regions.")
    rows = maps.sort_values("p", kind="stable").reset_index(drop=True)[:_MOST_MAPS]
    names = [_map_names(study, row) for row in rows.to_dict("records")]
    found = passes(rows["q"])
    marks: list[Mark] = [Rule(x=0, colour=LINE_GREY, dash="dot")]
    for chosen, name, look in (
        (found, f"q ≤ {FDR:g}", {"colour": VERMILION, "symbol": "diamond"}),
        (~found, f"q > {FDR:g}", {"colour": LINE_GREY, "hollow": True}),
    ):
        if chosen.any():
            about: dict[str, Any] = {"name": name, "size": 9, "hover": "%{text}", **look}
            own = rows[chosen]
            texts = [
                f"ρ {rho:.2f}, p {p:.2g}; were regions independent, p {naive:.2g}"
                for rho, p, naive in zip(own["rho"], own["p"], own["naive_p"], strict=True)
            ]
            marks.append(Points(x=own["rho"].to_numpy(float), y=np.flatnonzero(chosen), texts=texts, **about))
    few = f", the {_MOST_MAPS} of the smallest p" if len(maps) > _MOST_MAPS else ""
    said = f"Spearman's ρ of {counted(len(maps), 'pair')} of maps over regions, with spatial nulls{few}"
    return Drawing(
        title="Maps",
        simulated=study.simulated,
        caption=f"{said} ({', '.join(sorted(set(rows['null'])))}); filled where q is at most {FDR:g}.",
        line=said,
        panels=[
            Panel(
                marks=marks,
                x=Axis(title="Spearman's ρ", limits=(-1.05, 1.05)),
                y=Axis(
                    names=names,
                    beside=[f"p {p:.2g}" for p in rows["p"]],
                    reversed=True,
                    limits=(-0.6, len(rows) - 0.4),
                ),
            )
        ],
        numbers=lambda: maps,
        legend="above",
        height=170 + 30 * len(rows),
        methods=(
            "Maps over regions were compared by Spearman's correlation, with p of maps that keep the spatial "
            "autocorrelation: spins of the sphere [@alexanderbloch2018], or surrogates by Moran spectral randomisation "
            "[@wagner2015].",
        ),
    )


def _map_names(study: "FinishedStudy", row: dict[Any, Any]) -> str:
    where = f", {row['contrast']}" if row["contrast"] else ""
    return f"{capitalised(measure_words(study, row['map']))} and {measure_words(study, row['other_map'])}{where}"
