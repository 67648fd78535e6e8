"""Tables of the documentation that say what a register or a group of options says, so that no page repeats it.

A page asks for one with a line of its own, ``<!-- made: atlases -->`` or ``<!-- made: options hubs -->``, and
:func:`expanded` puts the table in its place.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from biobgt.base.beyond import simpler_words
from biobgt.base.files import asset, read_csv
from biobgt.base.options import Option, Options, to_text
from biobgt.base.references import GLOSSARY, REFERENCES, cited
from biobgt.base.wording import adjusted_for, capitalised, percent, signed
from biobgt.bench.options import BenchOptions
from biobgt.bench.power import wilson
from biobgt.data.atlas import BUNDLED, LABELLINGS
from biobgt.data.edits import RECORDING_RULES
from biobgt.data.graph import ESTIMATED, ESTIMATORS, KINDS, ConnectomeSettings
from biobgt.data.lesions import LESIONS
from biobgt.data.simulate import DEMO_COHORTS
from biobgt.export.graph_files import GRAPH_FORMATS
from biobgt.groups.standing import CENTILES, published_references
from biobgt.hubs.measures import HUB_MEASURES, EntanglementOptions, HubAnalysisOptions
from biobgt.inference.effects import ALPHA
from biobgt.model.attention import SIMPLER_THAN_BLOCKS, all_block_tests
from biobgt.model.folder import load_card, model_folder, readout_names, shipped_folders
from biobgt.model.group_results import TESTS
from biobgt.modules.measures import MODULE_MEASURES, REGION_MEASURES, ModuleOptions, measure_columns
from biobgt.readers import READERS
from biobgt.results.studies import study_table
from biobgt.study.design import DesignOptions
from biobgt.study.findings import MEANING, TABLES
from biobgt.study.options import RecordingOptions
from biobgt.study.subject import LEVEL, MEASURED_SIMPLER, SMALL_WORLD, network_columns
from biobgt.training.card_text import CardText
from biobgt.training.faithfulness_tables import ORDERS, TOP
from biobgt.training.tables import CardTables
from docs.tools.command_line import command_sections
from docs.tools.preset_sources import sources_table

_ASKED = re.compile(r"^<!-- made: (?P<name>[a-z ]+) -->$", re.MULTILINE)
_WHERE = "Where the atlas has these labels:"
OPTIONS: Mapping[str, type[Options]] = {
    "connectome": ConnectomeSettings,
    "entanglement": EntanglementOptions,
    "hubs": HubAnalysisOptions,
    "modules": ModuleOptions,
    "recordings": RecordingOptions,
    "designs": DesignOptions,
    "bench": BenchOptions,
}


def expanded(text: str) -> str:
    """A page with its tables made; a line that asks for an unknown one is an error."""
    return _ASKED.sub(lambda found: MADE[found["name"]](), text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table in Markdown."""
    return "\n".join([_row(head), _row(["---"] * len(head)), *map(_row, rows)])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def options_table(kind: type[Options], *, flags: bool = True) -> str:
    """The options of a class: name, default, what they may be, and what they mean; empty where it has none.

    Parameters
    ----------
    kind : type of Options
    flags : bool
        Whether the names are those of the command line.
    """
    rows = [
        (f"`{_flag(one) if flags else one.name}`", _default(one), f"{one.title}. {one.help}{_choices(one)}".strip())
        for one in kind.declared().values()
    ]
    return table(("option", "default", "what it is"), rows) if rows else ""


def _flag(one: Option) -> str:
    if one.flag:
        return one.flag
    name = one.name.replace("_", "-")
    return f"--{name}/--no-{name}" if isinstance(one.default, bool) else f"--{name}"


def _default(one: Option) -> str:
    return "–" if one.default == "" or one.default == () else f"`{to_text(one.default)}`"


def _choices(one: Option) -> str:
    listed = [f"`{to_text(choice)}`" for choice in one.choices or ()]
    return f" One of: {', '.join(listed)}." if listed else ""


def _cited(citations: Iterable[str]) -> str:
    return "; ".join(REFERENCES[citation].short for citation in citations) or "–"


def _atlases() -> str:
    rows = []
    for key, bundled in BUNDLED.items():
        atlas = bundled.atlas
        labelled = [
            f"{name} {atlas.n_regions - atlas.n_unlabelled(name)}" for name in LABELLINGS if name in atlas.labels
        ]
        placed = int(atlas.placed.sum())
        regions = str(atlas.n_regions) if placed == atlas.n_regions else f"{atlas.n_regions}, {placed} with coordinates"
        rows.append((f"`{key}`", bundled.title, regions, ", ".join(labelled), _cited(atlas.cites)))
    return table(("atlas", "title", "regions", "regions with a label", "cite"), rows)


def _labellings() -> str:
    return table(("labels", "what they are"), [(f"`{key}`", title) for key, title in LABELLINGS.items()])


def _formats() -> str:
    rows = [
        (one.title, ", ".join(f"`{suffix}`" for suffix in one.suffixes), "yes" if one.apart else "no")
        for one in READERS.values()
    ]
    return table(("what", "file names end in", "read in a process of its own"), rows)


def _recordings() -> str:
    return table(("`--recordings`", "what it does"), [(f"`{rule}`", what) for rule, what in RECORDING_RULES.items()])


def _graph_formats() -> str:
    return "\n".join(f"- `--format {one.key}`: {one.title}" for one in GRAPH_FORMATS.values())


def _hub_measures() -> str:
    rows = [(f"`{one.key}`", one.short, one.unit, cited(one.definition)) for one in HUB_MEASURES.values()]
    return table(("column", "in figures", "unit", "what it is"), rows)


def _hub_columns() -> str:
    return "\n".join(_row((f"`{one.key}`", one.unit, one.heading)) for one in HUB_MEASURES.values())


def _study_hub_columns() -> str:
    return "\n".join(
        _row((f"`{one.key}`", one.unit, f"With `--measure`, else all: {one.title}")) for one in HUB_MEASURES.values()
    )


def _study_simpler_columns() -> str:
    """What is simpler than measures of regions, without what is a hub measure as well."""
    own = {column: meaning for column, meaning in MEASURED_SIMPLER.items() if column not in HUB_MEASURES}
    return "\n".join(_row((f"`{column}`", "", meaning)) for column, meaning in own.items())


def _simpler() -> str:
    """What is simpler than each measure in which people are compared."""
    rows = [(one.heading, simpler_words(one.simpler)) for one in HUB_MEASURES.values()]
    modules = (*REGION_MEASURES.values(), *(one for one in MODULE_MEASURES.values() if one.compared))
    rows += [(capitalised(one.title), simpler_words(one.simpler)) for one in modules]
    rows.append(("Attention between two networks", simpler_words(SIMPLER_THAN_BLOCKS)))
    return table(["difference in", "is tested again given"], rows)


def _bench(lesion: str, cohort: str = "abide") -> str:
    """Power of every measure by people of each half, with its interval and where the clearest finding is."""
    whole = study_table("bench")
    own = whole[(whole["cohort"] == cohort) & (whole["lesion"] == lesion) & (whole["size"] > 0)]
    rows = []
    for title, of in own.groupby("title", sort=False):
        cells = [
            f"{percent(row['power'])} ({100 * row['power_low']:.0f}–{100 * row['power_high']:.0f})"
            for row in of.sort_values("people").to_dict("records")
        ]
        told = of[(of["power_low"] > ALPHA) & of["strongest"].notna()]
        hits = (told["power"] * told["repetitions"]).sum()
        place = percent((told["strongest"] * told["power"] * told["repetitions"]).sum() / hits) if hits else "–"
        rows.append([str(title), *cells, *([place] if own["strongest"].notna().any() else [])])
    told_where = ["clearest finding is in the lesion"] if own["strongest"].notna().any() else []
    people = [f"{n} and {n}" for n in sorted(own["people"].unique())]
    return table(["measure", *people, *told_where], rows)


def _bench_null() -> str:
    """False findings of every measure where nothing is planted, over all numbers of people."""
    null = study_table("bench").query("size == 0")
    rows = []
    for title, of in null.groupby("title", sort=False):
        n, hits = int(of["repetitions"].sum()), round((of["power"] * of["repetitions"]).sum())
        low, high = wilson(hits, n)
        rows.append([str(title), f"{hits} of {n}", f"{percent(hits / n, 1)} ({100 * low:.1f}–{100 * high:.1f})"])
    return table(["measure", "false findings", "share (95 %)"], rows)


def _study_network_columns() -> str:
    rows = []
    for column, meaning in network_columns(KINDS[ESTIMATED], LABELLINGS, RecordingOptions(small_world=1)).items():
        if column not in {LEVEL, "edges", *measure_columns(LABELLINGS)}:
            when = f"{_WHERE} " if column.endswith(tuple(LABELLINGS)) else ""
            when = "With `--small-world`: " if column in SMALL_WORLD else when
            rows.append(_row((f"`{column}`", "", f"{when}{meaning}")))
    return "\n".join(rows)


def _study_tables() -> str:
    """The tables of the group level, each with its columns."""
    parts = []
    for name, columns in TABLES.items():
        rows = [(f"`{column}`", "", MEANING[column][1]) for column in columns]
        if name == "edges":
            added = ("component", "score", "p_score")
            rows += [(f"`{column}`", "", f"With `--correction` that has it: {MEANING[column][1]}") for column in added]
        parts += [f"### `group/{name}.tsv`", "", table(("column", "unit", "what it is"), rows), ""]
        parts += [f"### `group/{name}.json`", ""]
    return "\n".join(parts).rstrip()


def _ending_columns(endings: Mapping[str, tuple[str, str]]) -> Callable[[], str]:
    """Rows for columns that every hub measure has, such as ``degree_rank``."""

    def rows() -> str:
        return "\n".join(
            _row((f"`{one.key}_{ending}`", unit or one.unit, meaning.format(one.heading)))
            for one in HUB_MEASURES.values()
            for ending, (unit, meaning) in endings.items()
        )

    return rows


def _module_columns() -> str:
    rows = []
    for column, (measure, labelling) in measure_columns(LABELLINGS).items():
        said = f"{_WHERE} {measure.title} with {LABELLINGS[labelling]}" if labelling else cited(measure.definition)
        rows.append(_row((f"`{column}`", measure.unit, said)))
    return "\n".join(rows)


def _region_columns() -> str:
    return "\n".join(_row((f"`{one.key}`", one.unit, cited(one.definition))) for one in REGION_MEASURES.values())


def _module_measures() -> str:
    rows = [
        (f"`{one.key}`", one.unit, cited(one.definition))
        for one in (*MODULE_MEASURES.values(), *REGION_MEASURES.values())
    ]
    return table(("column", "unit", "what it is"), rows)


def _label_columns() -> str:
    return "\n".join(_row((f"`{name}`", "", f"{_WHERE} {title}")) for name, title in LABELLINGS.items())


def _models() -> str:
    rows = []
    for name in shipped_folders():
        card = load_card(name)
        rows.append((f"`{name}`", card["atlas"], "yes" if card["simulated"] else "no", card["headline"]))
    return table(("model", "atlas", "simulated", "what its card says first"), rows)


def _shipped_models() -> tuple[str, ...]:
    """Names of shipped models and of their readouts: a user's own have no place in the documentation."""
    shipped = shipped_folders()
    return (*shipped, *(name for name in readout_names() if name.partition("/")[0] in shipped))


def _results() -> str:
    """How well shipped models and readouts tell groups apart, beside the best linear model on the same folds."""
    rows = []
    for name in _shipped_models():
        card = load_card(name)
        if "results" not in card:
            continue  # a network whose readouts stand below
        own, *linear = ((model, found["auc"]) for model, found in card["results"].items())
        best, of_best = max(linear, key=lambda one: one[1]["value"])
        groups = " / ".join(f"{n} {_plain_group(group)}" for group, n in card["data"]["subjects"].items())
        simulated = " **(patients simulated)**" if card["simulated"] else ""
        rows.append((f"`{name}`", f"{groups}{simulated}", _with_interval(own[1]), f"{_with_interval(of_best)}, {best}"))
    return table(("model", "groups", "AUC, out of fold", "best linear model, same folds"), rows)


def _worse_recordings() -> str:
    """What worse recordings do to predictions of the shipped models, as their cards say: white noise and the others."""
    said = []
    for name in _shipped_models():
        card = load_card(name)
        if not card.get("corruption"):
            continue  # a network, or a card from before it was measured
        rows = CardTables(card).recordings(probabilities=False)
        said.append(
            f"**`{name}`** {CardText(card).corruption}\n\n{table(list(rows.columns), rows.to_numpy().tolist())}"
        )
    return "\n\n".join(said) or CardText({}).corruption


def _attention_tests() -> str:
    """How many blocks of attention differ between groups of the shipped models, and what connectivity says of them."""
    rows = []
    for name in _shipped_models():
        for one in all_block_tests(read_csv(model_folder(name) / TESTS), load_card(name)["data"]["subjects"]):
            if one.beside is None:
                continue
            without, given_alone = one.n_marked_without_connectivity, one.beside.given_without_overall
            rows.append(
                (
                    f"`{name}`",
                    f"{one.between[0]}, {one.between[1]}",
                    adjusted_for(one.covariates).removeprefix("adjusted for "),
                    *(str(n) for n in (len(one.blocks), len(one.marked), "–" if without is None else without)),
                    *(str(n) for n in (one.beside.of_connectivity, one.beside.given_connectivity)),
                    "–" if given_alone is None else str(given_alone),
                    signed(one.beside.correlation),
                )
            )
    head = ("model", "compared", "adjusted for", "blocks", "differ in attention", "not adjusted for overall FC")
    given = ("in attention given FC", "given FC, not adjusted for overall FC")
    return table((*head, "differ in FC", *given, "r of effects"), rows)


def _attention_study() -> str:
    found = pd.read_csv(asset("studies", "attention_beside_connectivity.csv"))
    rows = [
        (
            f"`{one['model']}`",
            str(one["between"]).replace(" - ", ", "),
            f"{one['auc_attention']:.2f}",
            f"{one['auc_connectivity']:.2f}",
            f"{one['shuffled_folds']:.0f} ({one['shuffled_subjects']:.0f})",
            *(
                "–" if pd.isna(one[name]) else f"{one[name]:.4f}"
                for name in ("map_correlation", "difference_correlation")
            ),
        )
        for one in found.to_dict("records")
    ]
    head = ("model", "compared", "AUC of attention blocks", "AUC of FC blocks", "folds with shuffled groups (subjects)")
    return table((*head, "r of maps", "r of block differences"), rows)


def _attention_faithfulness() -> str:
    """What the cards of the shipped models say of how faithful attention is."""
    rows = []
    for name in _shipped_models():
        found = load_card(name).get("faithfulness")
        if found is None:
            continue
        moved = {one["order"]: one["deletion"]["value"] for one in found["removed"] if one["share"] == TOP}
        alike = [one["correlation"]["value"] for one in found["randomised"]]
        members, linear = found["agreement"]
        values = [alike[1], alike[2], *(members[what]["value"] for what in _AGREEMENT), linear["received"]["value"]]
        row = (f"`{name}`", str(found["n"]), *(f"{moved[order]:.2g}" for order in ORDERS), *map(signed, values))
        rows.append(row)
    head = ("model", "subjects", *ORDERS.values(), "r after W", "after W and ψ", "members: r of maps", "r of received")
    return table((*head, "top tenth shared", "ridge: r of received"), rows)


_AGREEMENT = ("map", "received", "top")


def _attention_truth() -> str:
    found = pd.read_csv(asset("studies", "attention_beside_truth.csv"))
    names = ("vulnerability", "d", "q", "d_of_fc", "q_of_fc", "d_given_fc", "q_given_fc")
    rows = [
        (str(one["network"]), *("–" if pd.isna(one[name]) else signed(one[name]) for name in names))
        for one in found.sort_values("vulnerability", ascending=False).to_dict("records")
    ]
    left = found["left_given_fc"].dropna()
    said = f"Blocks whose attention differs given FC: {left.iloc[0] if len(left) else 'none'}."
    head = ("network", "fades by construction", "attention: d", "q", "FC: d", "q", "attention given FC: d", "q")
    return f"{table(head, rows)}\n\n{said}"


def _null_tests() -> str:
    found = pd.read_csv(asset("studies", "null_tests.csv"))
    rows = []
    for one in found.to_dict("records"):
        motion = one["case"] == "motion"
        case = f"motion, effect {one['effect']:g} SD" if motion else f"30 and 432 people, SD × {one['sd_ratio']:.2g}"
        said = {"mean_fd": "mean FD", "log_mean_fd": "log mean FD", "library": "Welch's t, permuted"}
        shares = (percent(one[name], 1) for name in ("features", "families"))
        holds = "–" if pd.isna(one["interval_holds_d"]) else percent(one["interval_holds_d"], 1)
        rows.append((case, said.get(one["test"], f"{one['test']}, permuted"), *shares, holds))
    return table(("null case", "test", "features with p ≤ 0.05", "families with p ≤ 0.05", "interval holds d"), rows)


def _harmonisation() -> str:
    found = pd.read_csv(asset("studies", "harmonisation.csv"))
    rows = [
        (one["measure"], one["harmonised"], *(percent(max(one[name], 0), 1) for name in ("of_means", "of_spreads")))
        for one in found.to_dict("records")
    ]
    return table(("measure", "ComBat", "of means explained by sites", "of spreads"), rows)


def _harmonisation_nulls() -> str:
    found = pd.read_csv(asset("studies", "harmonisation_nulls.csv"))
    rows = [
        (one["combat"], one["sites_as_covariate"], percent(one["p_at_most_0.05"], 1))
        for one in found.to_dict("records")
    ]
    return table(("ComBat", "sites as covariate", "tests with p ≤ 0.05"), rows)


def _centile_references() -> str:
    rows = []
    for one in published_references():
        ages = ", ".join(f"{sex} {low:g} to {high:g}" for sex, (low, high) in one.ages.items())
        atlases = ", ".join(f"`{name}`" for name in one.atlases)
        rows.append((one.title, atlases, f"{one.n_people:,}", str(one.n_sites), ages))
    return table(("who", "atlas", "people", "sites", "years of age"), rows)


def _centile_calibration() -> str:
    found = pd.read_csv(asset("studies", "centile_calibration.csv"))
    shares = [f"below_{centile}" for centile in CENTILES]
    rows = []
    for (reference, left_out, form), own in found.groupby(["reference", "left_out", "form"], sort=False):
        said = [
            f"{percent(own[name].mean(), 1)} ({100 * own[name].min():.1f} to {100 * own[name].max():.1f})"
            for name in shares
        ]
        beyond = percent(own["parts_beyond"].mean(), 1) if left_out == "site" else "–"
        rows.append((str(reference), f"a {left_out}", str(form), *said, beyond))
    head = [f"below the {centile}th" for centile in CENTILES]
    return table(("people", "left out", "form", *head, "sites beyond"), rows)


def _likeness() -> str:
    card = load_card("five-groups-aal90")
    return table(("difference", "other difference", "r", "by chance", "p"), CardText(card).likeness_rows())


def _plain_group(group: str) -> str:
    """A group of a network's simulated readout: its controls are real scans, and the row says that patients are not."""
    return "NC (of the simulation, real scans)" if group == "NC (simulated)" else group.removesuffix(" (simulated)")


def _with_interval(found: Mapping[str, float]) -> str:
    return "{value:.2f} [{low:.2f}, {high:.2f}]".format(**found)


def _estimators() -> str:
    return table(("estimator", "what it is"), [(f"`{key}`", one.words) for key, one in ESTIMATORS.items()])


def _demos() -> str:
    return table(("demo", "what it is"), [(f"`{key}`", title) for key, title in DEMO_COHORTS.items()])


def _glossary() -> str:
    entries = []
    for one in GLOSSARY.values():
        works = f" *{_cited(one.citations)}*" if one.citations else ""
        entries.append(f"## {one.term} {{#{one.key}}}\n\n**{one.short}** {one.definition}{works}\n")
    return "\n".join(entries)


MADE: Mapping[str, Callable[[], str]] = {
    "atlases": _atlases,
    "labellings": _labellings,
    "attention tests": _attention_tests,
    "attention study": _attention_study,
    "attention faithfulness": _attention_faithfulness,
    "attention truth": _attention_truth,
    "null tests": _null_tests,
    "harmonisation": _harmonisation,
    "harmonisation nulls": _harmonisation_nulls,
    "centile references": _centile_references,
    "centile calibration": _centile_calibration,
    "likeness": _likeness,
    "worse recordings": _worse_recordings,
    "formats": _formats,
    "recordings": _recordings,
    "graph formats": _graph_formats,
    "hub measures": _hub_measures,
    "hub columns": _hub_columns,
    "hub table columns": _ending_columns(
        {
            "rank": ("", "{}: rank of the region, 1 is the strongest hub"),
            "z": ("standard deviations", "{}: z-score over the subject's regions; the higher, the more of a hub"),
            "hub": ("True or False", "{}: whether the region is a hub by this measure"),
        }
    ),
    "hub group columns": _ending_columns(
        {
            "mean": ("", "{}: mean over the group's subjects"),
            "sd": ("", "{}: standard deviation over the group's subjects"),
            "hub_share": ("share", "{}: share of the subjects in whom the region is a hub"),
        }
    ),
    "label columns": _label_columns,
    "module columns": _module_columns,
    "region columns": _region_columns,
    "module measures": _module_measures,
    "study hub columns": _study_hub_columns,
    "study network columns": _study_network_columns,
    "study simpler columns": _study_simpler_columns,
    "simpler": _simpler,
    "bench null": _bench_null,
    **{f"bench {lesion}": lambda lesion=lesion: _bench(lesion) for lesion in LESIONS},  # type: ignore[misc]
    **{f"bench {lesion} demo": lambda lesion=lesion: _bench(lesion, "demo") for lesion in LESIONS},  # type: ignore[misc]
    "study tables": _study_tables,
    "models": _models,
    "paper settings": sources_table,
    "results": _results,
    "estimators": _estimators,
    "demos": _demos,
    "glossary": _glossary,
    "commands": command_sections,
    **{f"options {name}": lambda kind=kind: options_table(kind) for name, kind in OPTIONS.items()},  # type: ignore[misc]
}
