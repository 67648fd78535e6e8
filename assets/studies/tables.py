"""Write the tables of docs/plausibility.md from the study tables beside this script.

python assets/studies/tables.py
"""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from biobgt.base.wording import signed
from biobgt.hubs import HUB_MEASURES
from docs.tools.study_tables import write_tables

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "plausibility.md"
Row = Mapping[Hashable, Any]
OTHER_MEASURES = {
    "within_z": "within-module strength z",
    "participation": "participation coefficient",
    "attention received": "attention received (model `abide-cc200`)",
    "module": "module (AMI)",
    "role": "role (Cohen's κ)",
    "connectivity map": "connectivity, all pairs of regions (Pearson)",
    "attention map": "attention, all pairs of regions (Pearson)",
}


def main() -> None:
    """Write every table anew."""
    beyond = pd.read_csv(HERE / "plausibility_beyond_strength.csv")
    reliability = pd.read_csv(HERE / "reliability.csv")
    modules = pd.read_csv(HERE / "abide_modules.csv")
    tables = {
        "agreement": agreement_table(beyond),
        "fc strength": strength_table(beyond),
        "connectivity": connectivity_table(pd.read_csv(HERE / "plausibility_connectivity.csv")),
        "modules": modules_table(modules[modules["resolution"] == 1]),
        "resolutions": resolutions_table(modules[modules["graphs"] == "positive, at least 0.3"]),
        **{f"reliability {cohort}": reliability_rows(reliability, cohort) for cohort in ("ABIDE", "CNI-2019")},
    }
    write_tables(PAGE, tables)


def agreement_table(table: pd.DataFrame) -> str:
    """NE and VE with NEff: plain and given strength and degree, own graphs beside null graphs."""
    lines = [
        "| cohort | graphs | measure | ρ with NEff | in null graphs | given strength and degree | in null graphs |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in _rows(table, "NEff", ne_gammas=(0.5, 30)).to_dict("records"):
        cells = [_interval(row, kind) for kind in ("spearman", "spearman_null", "partial", "partial_null")]
        lines.append("| " + " | ".join([row["cohort"], row["graphs"], _measure(row), *cells]) + " |")
    return "\n".join(lines)


def strength_table(table: pd.DataFrame) -> str:
    """NE and VE with FC strength over all connections, and with strength in the graph beside its null graphs."""
    full = _rows(table, "FC strength, all connections").to_dict("records")
    graph = _rows(table, "strength in the graph").to_dict("records")
    lines = [
        "| cohort | graphs | measure | ρ with FC strength (all connections) | given strength and degree in the graph | "
        "ρ with strength in the graph | in null graphs |",
        "|---|---|---|---|---|---|---|",
    ]
    beside = {(row["cohort"], row["graphs"], _measure(row)): row for row in graph}
    for row in full:
        other = beside.get((row["cohort"], row["graphs"], _measure(row)))
        cells = [_interval(row, "spearman"), _interval(row, "partial")]
        cells += ["", ""] if other is None else [_interval(other, "spearman"), _interval(other, "spearman_null")]
        lines.append("| " + " | ".join([row["cohort"], row["graphs"], _measure(row), *cells]) + " |")
    return "\n".join(lines)


def connectivity_table(table: pd.DataFrame) -> str:
    """Where mean correlations and FC strengths lie in each cohort."""
    lines = ["| cohort | people | | lowest | median | highest |", "|---|---|---|---|---|---|"]
    for row in table.to_dict("records"):
        numbers = [signed(row[name], 3) for name in ("lowest", "median", "highest")]
        lines.append(f"| {row['cohort']} | {row['n_people']} | {row['value']} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def modules_table(table: pd.DataFrame) -> str:
    """Measures of modules in both groups, and their difference."""
    lines = [
        "| graphs | measure | NC | ASD | ASD − NC, adjusted | d [95 % interval] | p | p, unadjusted |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in table.to_dict("records"):
        cells = [row["graphs"], _module_measure(row["measure"]), _spread(row, "NC"), _spread(row, "ASD")]
        d, low, high = (signed(row[name]) for name in ("d", "d_low", "d_high"))
        plus = "+" if row["difference"] >= 0 else ""
        cells += [f"{plus}{signed(row['difference'], 4)}", f"{d} [{low}, {high}]"]
        lines.append("| " + " | ".join([*cells, f"{row['p']:.4f}", f"{row['p_unadjusted']:.4f}"]) + " |")
    return "\n".join(lines)


def resolutions_table(table: pd.DataFrame) -> str:
    """Measures of the controls' modules over resolutions."""
    measures = [name for name in dict.fromkeys(table["measure"]) if not name.startswith("ari")]
    titles = [_module_measure(name) for name in measures]
    lines = [f"| resolution | controls | {' | '.join(titles)} |", "|---|---|" + "---|" * len(measures)]
    for resolution, rows in table.groupby("resolution"):
        known = rows.set_index("measure").to_dict("index")
        spread = [_spread(known[name], "NC") for name in measures]
        lines.append(f"| {resolution:g} | {rows['n NC'].iloc[0]} | {' | '.join(spread)} |")
    return "\n".join(lines)


def _module_measure(name: str) -> str:
    measure, _, labels = name.partition(" ")
    spelt = {"dosenbach": "Dosenbach", "paper": "paper", "yeo7": "Yeo 7", "yeo17": "Yeo 17"}
    if labels in spelt:
        return f"{measure.upper()}, {spelt[labels]}"
    return {"modules": "number of modules", "q": "Q"}.get(name, name)


def _spread(row: Row, group: str) -> str:
    return f"{row[f'{group} mean']:.3f} ± {row[f'{group} sd']:.3f}"


def reliability_rows(table: pd.DataFrame, cohort: str) -> str:
    """One cohort's reliability, the hub measures first."""
    lines = [
        "| | people | one person's halves | two people | whole recording | median ICC, half (quartiles) | "
        "median ICC, whole | hubs again, one person | two people | recognised |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows = table[table["cohort"] == cohort].set_index("measure").to_dict("index")
    for name, title in _titles(table).items():
        if name in rows:
            lines.append(f"| {title} | {_reliability_cells(rows[name])} |")
    return "\n".join(lines)


def _reliability_cells(row: Row) -> str:
    icc = f"{_number(row['icc_median'])} ({_number(row['icc_q25'])} to {_number(row['icc_q75'])})"
    cells = [
        f"{row['n_people']:.0f}",
        _interval(row, "within"),
        _interval(row, "between"),
        _number(row["whole"]),
        icc if row["icc_median"] == row["icc_median"] else "",
        _number(row["icc_whole_median"]),
        _share(row["overlap_within"]),
        _share(row["overlap_between"]),
        _share(row["identified"]),
    ]
    return " | ".join(cells)


def _titles(table: pd.DataFrame) -> dict[str, str]:
    at_gamma = [name for name in dict.fromkeys(table["measure"]) if name.startswith("node_entanglement γ=")]
    others = {name: measure.title for name, measure in HUB_MEASURES.items() if name != "node_entanglement"}
    return {name: name.replace("node_entanglement γ=", "NE, γ = ") for name in at_gamma} | others | OTHER_MEASURES


def _rows(table: pd.DataFrame, reference: str, ne_gammas: Sequence[float] = (0.5,)) -> pd.DataFrame:
    """NE at some γ, ΔS at the app's γ, that of removal at γ = 3, and VE; in the order of the cohorts and graphs."""
    chosen = (
        ((table["measure"] == "NE") & table["gamma"].isin(ne_gammas))
        | (table["measure"] == "VE")
        | ((table["measure"] == "ΔS, removal") & (table["gamma"] == 3))
        | ((table["measure"] == "ΔS, control") & (table["gamma"] == 0.5))
    )
    rows = table[chosen & (table["reference"] == reference)]
    order = {"ABIDE": 0, "CNI-2019": 1}
    return rows.sort_values(["cohort", "graphs"], key=lambda column: column.map(order).fillna(2), kind="stable")


def _measure(row: Row) -> str:
    gamma = row["gamma"]
    return str(row["measure"]) if gamma != gamma else f"{row['measure']}, γ = {gamma:g}"


def _interval(row: Row, kind: str) -> str:
    if row[kind] != row[kind]:
        return ""
    return f"{_number(row[kind])} ({_number(row[f'{kind}_low'])} to {_number(row[f'{kind}_high'])})"


def _number(value: float) -> str:
    return "" if value != value else signed(value)


def _share(value: float) -> str:
    return "" if value != value else f"{value:.0%}"


if __name__ == "__main__":
    typer.run(main)
