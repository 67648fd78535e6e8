"""What a report says of people, quality and provenance, from a study's folder alone; and the table of COBIDAS.

COBIDAS [@nichols2017] lists what a paper on MRI must report. What the files tell is filled in; what only the authors
know is marked.
"""

import hashlib
import json
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biobgt
from biobgt.base.wording import counted, listed, percent
from biobgt.data.cohort import counted_people, people_in_order
from biobgt.export.bundle import PACKAGES
from biobgt.export.report.parts import Bullets, Part, Run, Table, said, table_of
from biobgt.inference.covariates import known_characteristics
from biobgt.study.finished import FinishedStudy
from biobgt.study.folder import FAILED, RECORDINGS, REFUSED, WAITING

_TITLES = {"age": "Age", "mean_fd": "Mean FD (mm)", "sex": "Sex", "site": "Sites"}


def people_parts(study: FinishedStudy, folder: Path) -> list[Part]:
    """Who was measured: people, age, sex and motion by group; who was left out and why."""
    table, persons = study.data.table, study.data.persons
    _, first = people_in_order(persons)
    known = known_characteristics(table).iloc[first].reset_index(drop=True)
    groups = (
        table["group"].fillna("").astype(str).to_numpy()[first] if "group" in table else np.array([""] * len(first))
    )
    rows = [_group_row(group, known[groups == group], groups == group) for group in dict.fromkeys(groups)]
    if len(rows) > 1:
        rows.append(_group_row("All", known, np.ones(len(first), bool)))
    parts: list[Part] = [
        said(f"{counted_people(len(set(persons)), len(persons))} were measured."),
        table_of("People by group; one value per person", rows),
    ]
    return [*parts, *_left_out(folder)]


def _group_row(name: str, known: pd.DataFrame, own: "np.ndarray[Any, np.dtype[np.bool_]]") -> dict[str, object]:
    row: dict[str, object] = {"Group": name or "(no group)", "People": int(own.sum())}
    for column, title in _TITLES.items():
        if column not in known:
            continue
        values = known[column].dropna()
        if column in ("age", "mean_fd") and pd.api.types.is_numeric_dtype(values) and len(values):
            row[title] = f"{values.mean():.3g} ± {values.std():.2g} ({values.min():.3g} to {values.max():.3g})"
        else:
            counts = values.astype(str).value_counts()
            row[title] = (
                f"{len(counts)}" if column == "site" else ", ".join(f"{n} {word}" for word, n in counts.items())
            )
    return row


def _left_out(folder: Path) -> Iterator[Part]:
    """Recordings that failed or wait, and files that were refused, with reasons."""
    recordings = pd.read_csv(folder / f"{RECORDINGS}.tsv", sep="\t", dtype=str, keep_default_na=False)
    refused = pd.read_csv(folder / f"{REFUSED}.tsv", sep="\t", dtype=str, keep_default_na=False)
    failed, waiting = recordings[recordings["status"] == FAILED], recordings[recordings["status"] == WAITING]
    if len(waiting):
        yield said(f"{counted(len(waiting), 'recording')} not measured yet, and in no result.", note=True)
    if len(failed):
        yield table_of("Recordings that failed", failed[["subject", "reason"]])
    if len(refused):
        yield table_of("Files that were refused", refused[["file", "reason"]])
    if not len(failed) and not len(refused) and not len(waiting):
        yield said("No file was refused, and no recording failed.")


def quality_parts(study: FinishedStudy) -> list[Part]:
    """Length of recordings, regions without signal, overall connectivity."""
    data, facts = study.data, []
    points = pd.to_numeric(data.table.get("time points", pd.Series(dtype=float)), errors="coerce").dropna()
    if len(points):
        low, high = points.min(), points.max()
        facts.append(
            f"Recordings have {low:,.0f} to {high:,.0f} time points (median {points.median():,.0f})."
            if low < high
            else f"Every recording has {low:,.0f} time points."
        )
    silent = data.silent
    has = data.kind.of_region
    covered = percent(1 - silent.mean(), 1)
    n_gaps = int(silent.any(axis=1).sum())
    gaps = f"{counted(n_gaps, 'recording')} with a region without {has}" if n_gaps else "no recording lacks a region"
    facts.append(f"Coverage: {covered} of all regions in all recordings have {has}; {gaps}.")
    low, high = np.nanmin(data.overall), np.nanmax(data.overall)
    facts.append(
        f"Overall connectivity is {np.nanmean(data.overall):.3g} ± {np.nanstd(data.overall, ddof=1):.2g} "
        f"(range {low:.3g} to {high:.3g})."
    )
    parts: list[Part] = [Bullets(tuple(facts))]
    if n_gaps:
        lacking = pd.DataFrame({"Region": data.atlas.regions, f"Recordings without {has}": silent.sum(axis=0)})
        lacking = lacking[lacking[f"Recordings without {has}"] > 0]
        parts.append(
            table_of(
                f"Regions without {has}", lacking.sort_values(f"Recordings without {has}", ascending=False), most=15
            )
        )
    return parts


CENTILES = "centiles/centiles.csv"  # as ``biobgt centiles INPUT --out OUT/centiles`` writes it


def centile_parts(folder: Path) -> list[Part]:
    """Where people stand among others of their age and sex; nothing where the study's folder has no centiles."""
    if not (folder / CENTILES).is_file():
        return []
    table = pd.read_csv(folder / CENTILES, keep_default_na=True)
    known, names = table[table["centile"].notna()], [name for name in ("measure", "place") if name in table]
    rows = []
    for about, own in known.groupby(names, sort=False):
        centiles = own["centile"]
        row: dict[str, object] = dict(zip(map(str.capitalize, names), map(str, about), strict=True))
        row |= {"Recordings": len(own), "Median centile": float(centiles.median())}
        low, high = percent((centiles < 5).mean(), 1), percent((centiles > 95).mean(), 1)
        rows.append({**row, "Below the 5th": low, "Above the 95th": high})
    parts: list[Part] = [table_of("Centiles among people of the same age and sex; 5 % are expected at each end", rows)]
    if "why_not" in table:
        reasons = table.loc[table["centile"].isna(), "why_not"].dropna().value_counts()
        why = [{"Without a centile": int(n), "Because": str(reason)} for reason, n in reasons.items()]
        parts += [table_of("Values without a centile", why)] if why else []
    return parts


def cobidas_table(study: FinishedStudy) -> Table:
    """What COBIDAS asks for, with what is known, and what the authors are to complete."""
    data, findings, design = study.data, study.findings, study.findings.designs[0]
    sizes = ", ".join(f"{n} {level}" for level, n in design.sizes.items())
    known = set(known_characteristics(data.table).columns)
    smallest = "; ".join(f"{one.name}: {one.effect} {one.smallest:.2g}" for one in design.contrasts)
    rows: list[tuple[str, str, str, str]] = [
        ("Participants", "Number", counted_people(len(set(data.persons)), len(data.persons)), ""),
        ("Participants", "Groups tested", sizes or f"one sample; {design.test} is tested", ""),
        ("Participants", "Age, sex, motion", _known_words(known), _unknown_words(known)),
        ("Participants", "Recruitment, inclusion, diagnosis", "", "how participants were recruited and diagnosed"),
        ("Participants", "Ethics", "", "approval and consent"),
        ("Acquisition", "Scanner, field strength, sequence, voxels", "", "scanner and sequence"),
        ("Acquisition", "Instructions", "", "eyes open or closed, awake or asleep"),
        ("Preprocessing", "Software and steps", "", "software with version, nuisance regression, filter, scrubbing"),
        ("Preprocessing", "Regions", f"{data.atlas.n_regions} regions of {data.atlas.title}", ""),
        ("Connectivity", "Kind and estimator", data.kind.source(data.settings.estimator), ""),
        ("Connectivity", "Graphs", study.graph_words, ""),
        ("Statistics", "Model", f"{design.formula}; tested: {design.test}", ""),
        (
            "Statistics",
            "Inference",
            f"{findings.options.permutations:,} permutations, seed {findings.options.seed}",
            "",
        ),
        ("Statistics", "Correction of edges", str(findings.options.method), ""),
        ("Statistics", "Effect sizes with intervals", "in every table", ""),
        ("Statistics", "Smallest effect with 80 % power at 5 %", smallest, ""),
        ("Statistics", "Harmonisation", _harmonised_words(study), ""),
        ("Sharing", "Data", "", "where the data can be obtained"),
        ("Sharing", "Code", f"BioBGT Explorer {biobgt.__version__}", ""),
    ]
    plain = table_of("COBIDAS checklist", [{"Section": one[0], "Item": one[1], "Reported": ""} for one in rows])
    cells = tuple(
        (
            Run(section),
            Run(item),
            Run(told) if told and not todo else Run(f"{told} [To complete: {todo}]".strip(), True),
        )
        for section, item, told, todo in rows
    )
    return Table(plain.title, plain.columns, cells)


def _known_words(known: set[str]) -> str:
    names = [title for column, title in (("age", "age"), ("sex", "sex"), ("mean_fd", "motion")) if column in known]
    return f"{listed(names)} known, by group in the table of people" if names else ""


def _unknown_words(known: set[str]) -> str:
    return listed(
        [title for column, title in (("age", "age"), ("sex", "sex"), ("mean_fd", "motion")) if column not in known]
    )


def _harmonised_words(study: FinishedStudy) -> str:
    options = study.findings.options
    return f"{options.harmonise}, by {options.harmonise_by}" if len(study.findings.harmonised) else "none"


def provenance_parts(study: FinishedStudy, folder: Path) -> list[Part]:
    """Versions, and the SHA-256 of what the report was made of."""
    about = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    programs = {
        "BioBGT Explorer, measured": str(about.get("version", "")),
        "BioBGT Explorer, report": biobgt.__version__,
    }
    programs |= {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    files = sorted([folder / "study.json", folder / f"{RECORDINGS}.tsv", *(folder / "group").glob("*.*")])
    hashes = [
        {"File": path.relative_to(folder).as_posix(), "SHA-256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in files
        if path.suffix in (".tsv", ".json")
    ]
    return [
        table_of("Versions", [{"Program": name, "Version": number} for name, number in programs.items()]),
        said(f"SHA-256 of all findings together: {study.sha256}"),
        table_of("Files of the study", hashes, most=60),
    ]
