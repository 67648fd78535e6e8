"""Writes the report of a study: sections of text, tables and figures, made of its folder alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from biobgt.base.arrays import FDR, passes
from biobgt.base.beyond import BEYOND, BEYOND_MEANS, YES, beyond_beside, beyond_title
from biobgt.base.errors import InputError
from biobgt.base.files import asset, make_folder, write_atomically
from biobgt.base.references import REFERENCES, Reference
from biobgt.base.wording import NOT_A_DIAGNOSIS, capitalised, counted, percent
from biobgt.data.cohort import counted_people
from biobgt.export.bundle import versions
from biobgt.export.methods import own_work, software_sentences
from biobgt.export.report.facts import centile_parts, cobidas_table, people_parts, provenance_parts, quality_parts
from biobgt.export.report.parts import (
    Bullets,
    Figures,
    Heading,
    Part,
    Run,
    Section,
    Text,
    link_of,
    references,
    said,
    sentences,
    table_of,
)
from biobgt.figures.paper_style import BUNDLED_FONT
from biobgt.figures.register import all_figures
from biobgt.figures.studies.shown import measure_words
from biobgt.hubs.measures import NE
from biobgt.study.findings import TestedContrast
from biobgt.study.finished import FinishedStudy, finished_study
from biobgt.study.folder import REPORT
from biobgt.study.reliability import recordings_alike
from biobgt.study.subject import simpler_than

FIGURES = "figures"
_HEADINGS = {
    "adjusted": "Adjusted for overall connectivity",
    "component": "Component",
    "contrast": "Contrast",
    "direction": "Direction",
    "effect": "Effect",
    "effect_low": "95 % interval from",
    "effect_high": "to",
    "map": "Map",
    "mean_statistic": "Mean statistic",
    "measure": "Measure",
    "n_edges": "Edges",
    "n_regions": "Regions",
    "network": "Network",
    "null": "Spatial nulls",
    "other_map": "Other map",
    "other_network": "Other network",
    "p_family": "p, family-wise",
    "rho": "Spearman's ρ",
    "size": "Size",
    "statistic": "Statistic",
    "threshold": "Threshold",
}
_MOST_MEASURES = 3  # with figures of their own; the table has all
_MOST_CONTRASTS = 4
_NAMED = 10  # regions


def write_report(folder: Path) -> Path:
    """Write the report of a study whose group level has ended, and its figures as files beside it.

    Parameters
    ----------
    folder : Path
        The study's.

    Returns
    -------
    Path
        ``report.html`` in the folder.
    """
    figures = Figures(finished_study(folder))
    content = report_of(figures, folder)
    make_folder(folder / FIGURES)
    for name, written in figures.files.items():
        write_atomically(folder / FIGURES / name, written)
    write_atomically(folder / REPORT, content)
    return folder / REPORT


def report_of(figures: Figures, folder: Path) -> str:
    """The report as HTML; the same study gives the same text.

    Parameters
    ----------
    figures : Figures
        Of the study; none is drawn yet.
    folder : Path
    """
    study = figures.study
    sections = [
        Section("people", "Participants", tuple(people_parts(study, folder))),
        Section("quality", "Quality and coverage", tuple(quality_parts(study))),
        Section("design", "Design", tuple(_design_parts(study, figures))),
        Section("cohort", "Hubs and connectivity of the cohort", tuple(_cohort_parts(study, figures))),
        *_result_sections(study, figures),
        Section("reliability", "Reliability", tuple(_reliability_parts(study))),
    ]
    if centiles := centile_parts(folder):
        sections.append(Section("centiles", "Centiles", tuple(centiles)))
    text, works = _methods_parts(figures)
    sections += [
        Section("methods", "Methods", text),
        Section("cobidas", "COBIDAS checklist", (cobidas_table(study),)),
        Section("references", "References", (references(works),)),
        Section("provenance", "Versions and hashes", tuple(provenance_parts(study, folder))),
    ]
    sections.insert(0, Section("summary", "Summary", tuple(_summary_parts(study))))
    source = asset("report.html.j2").read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
    whom = counted_people(len(set(study.data.persons)), len(study.data.persons))
    return template.render(
        name=study.cohort.name,
        whom=f"{study.kind.title} of {whom}, in {study.atlas.n_regions} regions of {study.atlas.title}.",
        simulated=study.simulated,
        disclaimer=NOT_A_DIAGNOSIS,
        font=link_of("font/ttf", asset(f"fonts/{BUNDLED_FONT.replace(' ', '')}-Regular.ttf").read_bytes()),
        sections=sections,
    )


def _summary_parts(study: FinishedStudy) -> Iterator[Part]:
    """What was tested and what was found, in a list."""
    design, findings = study.findings.designs[0], study.findings
    yield said(f"{design.test} was tested in {design.formula}, in {counted_people(design.n_people, design.n_rows)}.")
    for contrast in design.contrasts[:_MOST_CONTRASTS]:
        yield Heading(_title(contrast))
        yield Bullets(tuple(_found_lines(study, contrast)))
    if findings.notes:
        yield Text((Run(" ".join(findings.notes)),), note=True)


def _title(contrast: TestedContrast) -> str:
    return contrast.name.replace(" - ", " − ")


def _found_lines(study: FinishedStudy, contrast: TestedContrast) -> Iterator[str]:
    """A line per level of what was tested: how much is found."""
    from biobgt.figures.studies.edges import edge_words

    yield edge_words(study, contrast)
    rows = study.rows(study.findings.regions, contrast, adjusted=study.findings.designs[0].adjusted)
    rows = rows[rows["level"].isna()]
    for key in dict.fromkeys(rows["measure"]):
        own = rows[rows["measure"] == key]
        if n := int(passes(own["q"]).sum()):
            title = beyond_title(simpler_than(key, study.atlas))
            further = study.kind.named(f"{(own[BEYOND] == YES).sum() or 'none'} of them {title[0].lower()}{title[1:]}")
            of = counted(int(own["p"].notna().sum()), "region")
            yield f"{capitalised(measure_words(study, key))}: {n} of {of}, {further}."
    if not passes(rows["q"]).any():
        yield f"Measures of regions: none is found in any of {counted(rows['measure'].nunique(), 'measure')}."
    network = study.rows(study.findings.network, contrast, adjusted=study.findings.designs[0].adjusted)
    network = network[network["level"].isna()]
    passed = network[passes(network["q"])]
    found = [_with_word(study, *pair) for pair in zip(passed["measure"], passed[BEYOND], strict=True)]
    yield f"Numbers of the network: {', '.join(found) or 'none'} of {len(network)} (q ≤ {FDR:g})."


def _with_word(study: FinishedStudy, key: str, word: str) -> str:
    """A number of the network, and in brackets whether what is found goes beyond what is simpler."""
    told = beyond_beside(word).removeprefix(", ")
    return f"{measure_words(study, key)}{study.kind.named(f' ({told})') if told else ''}"


def _design_parts(study: FinishedStudy, figures: Figures) -> Iterator[Part]:
    """The formula, what is said of it, contrasts with the smallest effect, the matrix, and harmonisation."""
    for design in study.findings.designs:
        how = "Adjusted" if design.adjusted else "Not adjusted"
        yield said(
            f"{how} for overall connectivity: {design.formula}; {design.degrees:,} residual degrees of freedom; the "
            f"covariates explain {percent(design.explained)} of {design.test}."
        )
    main = study.findings.designs[0]
    if main.notes:
        yield Bullets(main.notes)
    rows = [
        {"Contrast": _title(one), "Statistic": one.statistic, "Effect": one.effect, "Smallest effect": one.smallest}
        for one in main.contrasts
    ]
    yield table_of(
        "Contrasts, with the smallest effect that this sample shows in one feature (80 % power at 5 %)", rows
    )
    yield figures.of(all_figures()["study_design"])
    if len(study.findings.harmonised):
        yield figures.of(all_figures()["study_harmonised"])


def _cohort_parts(study: FinishedStudy, figures: Figures) -> Iterator[Part]:
    """The hubs of the cohort, its mean connectivity, and numbers of the network by group."""
    if study.atlas.coordinates is not None:
        yield figures.of(all_figures()["study_hubs"])
    rows = []
    for key, values in study.data.regions.items():
        each = study.data.area(values)
        known = np.isfinite(each).any(axis=0)
        means = np.where(known, np.nanmean(np.where(known, each, 0), axis=0), np.nan)
        strongest = np.argsort(np.nan_to_num(-means, nan=np.inf), kind="stable")[:_NAMED]
        names = ", ".join(study.atlas.regions[region] for region in strongest)
        rows.append({"Measure": capitalised(measure_words(study, key)), "Highest regions": names})
    yield table_of("Regions of the highest mean, averaged over levels", rows)
    yield figures.of(all_figures()["study_connectivity"])
    yield table_of("Numbers of the network, mean ± SD over recordings, averaged over levels", _network_rows(study))


def _network_rows(study: FinishedStudy) -> list[dict[str, Any]]:
    table = study.data.table
    groups = table["group"].fillna("").astype(str) if "group" in table else pd.Series([""] * len(table))
    rows = []
    for key, values in study.data.network.items():
        own = study.data.area(values)
        row: dict[str, Any] = {"Number": capitalised(measure_words(study, key))}
        for group in dict.fromkeys(groups):
            known = own[(groups == group).to_numpy() & np.isfinite(own)]
            title = group or "All"
            row[title] = f"{known.mean():.3g} ± {known.std(ddof=1):.2g}" if len(known) > 1 else "–"
        rows.append(row)
    return rows


# What was tested.


def _result_sections(study: FinishedStudy, figures: Figures) -> Iterator[Section]:
    contrasts = study.findings.designs[0].contrasts
    for number, contrast in enumerate(contrasts[:_MOST_CONTRASTS], start=1):
        parts = [*_edge_parts(study, figures, contrast), *_region_parts(study, figures, contrast)]
        parts += _network_parts(study, figures, contrast)
        yield Section(f"result-{number}", f"Results: {_title(contrast)}", tuple(parts))
    if len(study.findings.maps):
        maps = all_figures()["study_maps"]
        pairs = table_of("Pairs of maps", study.findings.maps.rename(columns=_HEADINGS))
        yield Section("maps", "Maps over regions", (figures.of(maps), pairs))


def _edge_parts(study: FinishedStudy, figures: Figures, contrast: TestedContrast) -> Iterator[Part]:
    """Edges on a ring, in the brain and by block, and their components."""
    if not len(study.findings.edges):
        return
    yield Heading("Edges")
    keys = ["study_connectogram", "study_edge_brain", "study_blocks"]
    for key in keys:
        if (key == "study_edge_brain" and study.atlas.coordinates is None) or (
            key == "study_blocks" and not study.labelling
        ):
            continue
        yield figures.of(all_figures()[key], all_figures()[key].takes(contrast=contrast.name))
    for name, title in (("components", "Components of edges"), ("blocks", "Blocks of networks")):
        rows = getattr(study.findings, name)
        own = rows[rows["contrast"] == contrast.name].drop(columns="contrast") if len(rows) else rows
        if len(own):
            yield table_of(title, own.rename(columns=_HEADINGS), most=20)


def _region_parts(study: FinishedStudy, figures: Figures, contrast: TestedContrast) -> Iterator[Part]:
    """A table of all measures, and figures of those that find most, of node entanglement at least."""
    main = study.findings.designs[0]
    rows = study.rows(study.findings.regions, contrast, adjusted=main.adjusted)
    rows = rows[rows["level"].isna()]
    if not len(rows):
        return
    yield Heading("Regions")
    told, found = [], {}
    for key in dict.fromkeys(rows["measure"]):
        own = rows[rows["measure"] == key].sort_values("p", kind="stable")
        found[key] = int(passes(own["q"]).sum())
        told.append(
            {
                "Measure": capitalised(measure_words(study, key)),
                "Regions found": found[key],
                "Beyond what is simpler": f"{(own[BEYOND] == YES).sum()} of {found[key]}" if found[key] else "–",
                "Clearest region": own["name"].iloc[0],
                "Effect": own["effect"].iloc[0],
                "95 % interval": f"{own['effect_low'].iloc[0]:.2f} to {own['effect_high'].iloc[0]:.2f}",
                "p, family-wise": own["p_family"].iloc[0],
                "q": own["q"].iloc[0],
                "Levels alike": own["levels_alike"].iloc[0],
            }
        )
    yield table_of(f"Every measure of regions, by the area under the curve; {contrast.effect}", told)
    shown = sorted(found, key=lambda key: (-found[key], key != NE))[:_MOST_MEASURES]
    for key in shown:
        if key not in (NE, shown[0]) and not found[key]:
            continue
        for name in ("study_region_brain", "study_regions", "study_region_levels"):
            if name == "study_region_brain" and study.atlas.coordinates is None:
                continue
            figure = all_figures()[name]
            yield figures.of(figure, figure.takes(contrast=contrast.name, measure=key))


def _network_parts(study: FinishedStudy, figures: Figures, contrast: TestedContrast) -> Iterator[Part]:
    """Numbers of the network, over levels, and as a table with overall connectivity adjusted for and not."""
    rows = study.findings.network
    if not len(rows):
        return
    yield Heading("Numbers of the network")
    for name in ("study_network", "study_network_levels"):
        figure = all_figures()[name]
        try:
            yield figures.of(figure, figure.takes(contrast=contrast.name))
        except InputError:  # one level has no curve
            continue
    own = rows[(rows["contrast"] == contrast.name) & rows["level"].isna()]
    table = own.assign(measure=[capitalised(measure_words(study, key)) for key in own["measure"]])
    columns = ["measure", "adjusted", "effect", "effect_low", "effect_high", "statistic", "p", "p_family", "q", BEYOND]
    yield table_of(
        f"Numbers of the network, by the area under the curve; {contrast.effect}",
        table[columns].rename(columns={**_HEADINGS, BEYOND: study.kind.named("Beyond FC")}),
        most=80,
    )
    yield said(study.kind.named(f"Beyond FC: {BEYOND_MEANS[0].lower()}{BEYOND_MEANS[1:]}"), note=True)


def _reliability_parts(study: FinishedStudy) -> Iterator[Part]:
    alike = recordings_alike(study.data)
    if not len(alike):
        yield said(
            "Nobody was recorded twice, so how reliable these measures are in single people is not known from this "
            "study."
        )
        return
    yield said(
        f"Intraclass correlation ICC(1) of single recordings, in {counted(int(alike['people'].iloc[0]), 'person')} "
        "with several; of measures of regions the median over regions. Conditions and sessions count as error.".replace(
            "persons", "people"
        )
    )
    named = alike.assign(measure=[capitalised(measure_words(study, key)) for key in alike["measure"]])
    yield table_of("Reliability of single recordings", named.drop(columns="people"), most=60)


def _methods_parts(figures: Figures) -> tuple[tuple[Part, ...], dict[str, Reference]]:
    """The sentences of all figures, each once, the software, and the works they name."""
    text, works = sentences(figures.methods)
    own = {"biobgt": own_work()}
    software = [one for one in software_sentences(versions(())) if isinstance(one, str)]
    about, others = sentences(software, own)
    return (text, about), {**works, **others, **{key: REFERENCES[key] for key in (*figures.citations, "nichols2017")}}
