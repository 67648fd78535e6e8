"""A model's card in words: what it is worth, what must be known before it is believed, and the README."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from biobgt.base.statistics import FDR, discovery_rates, passes
from biobgt.base.wording import NOT_A_DIAGNOSIS, code_span, counted, covariate_words, escape_markdown, listed, signed
from biobgt.data.cohort import Cohort, counted_people
from biobgt.model.benchmark.linear import kinds_of_baselines
from biobgt.model.presets import Preset
from biobgt.model.pretrained import Verdict, model_verdict
from biobgt.training.card_tables import corruption_words, motion_words, nested_words, noise_words, recordings_table
from biobgt.training.datasets import STORIES
from biobgt.training.metrics import METRICS

# The YAML header of a model's README, as model hubs read it: licence, library, tags, data and results.
#
# Every value comes from the card, so that the header says nothing that ``card.json`` does not say. Names that hold
# markup have it escaped: who does not know such headers shows them as text.


LICENCE = "research-use"  # the data's terms, which the weights inherit, are no licence that hubs know by name
_TASK = {"type": "graph-ml", "name": "Classification of brain networks"}
# Names by which hubs know the metrics of a card.
_METRICS = {"auc": "roc_auc", "accuracy": "accuracy", "f1": "f1"}


def hub_header(card: Mapping[str, Any]) -> str:
    """Write the header, between its two lines of dashes."""
    import yaml  # cards alone need it

    data = card["data"]
    tags = ["neuroscience", "fmri", "resting-state", "connectome", "brain-network", "graph-transformer"]
    header: dict[str, Any] = {
        "license": "other",
        "license_name": LICENCE,
        "license_link": "README.md",
        "library_name": "biobgt",
        "pipeline_tag": "graph-ml",
        "tags": tags + (["simulated-data"] if card["simulated"] else []),
    }
    metrics = _results(card)
    if metrics:
        dataset = {"type": data["cohort"], "name": escape_markdown(data["title"])}
        results = [{"task": _TASK, "dataset": dataset, "metrics": metrics}]
        header |= {"metrics": [one["type"] for one in metrics]}
        header |= {"model-index": [{"name": escape_markdown(card["name"]), "results": results}]}
    written: str = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{written}---\n"


def _results(card: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Results of the model itself, out of fold; nothing on the card of a network whose readouts have their own."""
    own = card.get("results", {}).get("BioBGT", {})
    return [
        {"type": name, "value": round(float(own[metric]["value"]), 3), "name": f"{metric}, out of fold"}
        for metric, name in _METRICS.items()
        if own.get(metric, {}).get("value") is not None
    ]


# A model's card in words: what it is worth, what must be known before it is believed, and the README.
#
# The first line, the headline, says what the model is worth: at chance, little above it, simulated, too few subjects
# to tell, or how far above chance.


CALIBRATED = 0.05
ALIKE = 0.01  # AUCs that differ by less are alike, where no interval of their difference is known
NE_SHUFFLED, NO_ATTENTION = "NE shuffled over regions", "attention set to zero"
NOT_MEASURED = "What node entanglement (NE) and attention do to this model's predictions was not measured."
ON_READOUTS = (
    "What node entanglement (NE) and attention do to predictions is on the card of each readout, which the page "
    "Models shows."
)
NEXT_TO_NOTHING = 0.001  # a probability that moves by less is printed the same in any table


def headline(
    results: Mapping[str, Mapping[str, Any]],
    sizes: Mapping[str, int],
    *,
    simulated: bool,
    paired: Mapping[str, Mapping[str, float | None]] | None = None,
) -> str:
    """Say in one line what the model is worth, from its out-of-fold AUC and accuracy.

    Parameters
    ----------
    results : mapping
        Metrics with their intervals, by model.
    sizes : mapping of str to int
        Subjects per group.
    simulated : bool
        Whether the patients are simulated.
    paired : mapping, optional
        By linear model, the AUC's ``difference`` from it over folds with its interval, ``low`` and ``high``.
    """
    auc, accuracy = results["BioBGT"]["auc"], results["BioBGT"]["accuracy"]
    measured = (
        f"out of fold AUC {auc['value']:.2f} [{auc['low']:.2f}, {auc['high']:.2f}], accuracy {accuracy['value']:.2f}"
    )
    told = " / ".join(sizes)
    beside = _beside_best(results, paired or {})
    verdict = model_verdict(results, sizes, simulated=simulated)
    if verdict is Verdict.SIMULATED:
        return f"Simulated: {told}, where every patient is made by a program; {measured}; {beside}."
    if verdict is Verdict.TOO_FEW:
        numbers = ", ".join(f"{n} {group}" for group, n in sizes.items())
        return f"Too few subjects to tell what this model is worth ({numbers}): {measured}; {beside}."
    if verdict is Verdict.CHANCE:
        return f"At or near chance: this model does not tell {told} apart in new subjects ({measured})."
    if verdict is Verdict.LITTLE:
        return f"Hardly tells {told} apart, though better than chance: {measured}; {beside}."
    return f"Tells {told} apart better than chance, far from well enough for a person: {measured}; {beside}."


def _beside_best(results: Mapping[str, Mapping[str, Any]], paired: Mapping[str, Mapping[str, float | None]]) -> str:
    """Say how the best baseline does on the same folds, and which kind of model it is."""
    others = {model: float(measured["auc"]["value"]) for model, measured in results.items() if model != "BioBGT"}
    title = max(others, key=others.__getitem__)
    kind = kinds_of_baselines([title]).removesuffix("s")
    article, best = "an" if kind[0] in "aeiou" else "a", others[title]
    ahead = results["BioBGT"]["auc"]["value"] - best
    low, high = (paired.get(title, {}).get(end) for end in ("low", "high"))
    alike = abs(ahead) < ALIKE if low is None or high is None else low <= 0 <= high
    if alike:
        return f"{article} {kind} does as well ({best:.2f})"
    return f"{article} {kind} is {'worse' if ahead > 0 else 'better'} ({best:.2f})"


def limits(
    cohort: Cohort,
    preset: Preset,
    attention: Mapping[str, float | None],
    calibration: Mapping[str, float | None],
) -> list[str]:
    """What a user must know before believing the model: its purpose, its cohort, its attention, its probabilities.

    Parameters
    ----------
    cohort : Cohort
        Named after a kind of :data:`biobgt.training.datasets.STORIES`.
    preset : Preset
    attention : mapping of str to float or None
        The card's entry on attention within over between modules.
    calibration : mapping of str to float or None
        The calibration error, ``value``, and what chance alone would make it, ``by_chance``.
    """
    found = [NOT_A_DIAGNOSIS, *STORIES[cohort.name].limits]
    if preset.start_contrast:
        found.append(_sharpness(preset.start_contrast, attention))
    error, by_chance = calibration["value"], calibration["by_chance"]
    if error is not None and by_chance is not None and error > CALIBRATED:
        found.append(
            f"Its probabilities are off by {error:.2f} on average in held-out subjects, where {by_chance:.2f} would be "
            "chance alone: take them for an order of subjects, not for frequencies."
        )
    return found


def _sharpness(asked: float, attention: Mapping[str, float | None]) -> str:
    """Say that the sharpness of attention was set, or that what was asked for was not reached."""
    reached = [ratio for ratio in attention.values() if ratio is not None]
    if reached and min(reached) > 1 + (asked - 1) / 2:
        return (
            "The sharpness of attention was tuned on training subjects so that attention within modules is "
            f"{asked:g} times that between them. The ratio itself is therefore a setting; that it generalises to "
            "held-out subjects is a result."
        )
    return (
        f"Attention within modules was to be {asked:g} times that between them, and is "
        f"{f'{min(reached):.2f} times' if reached else 'not defined'} in held-out subjects: the maps say little about "
        "modules."
    )


def ablation_words(card: Mapping[str, Any]) -> str:
    """Say what NE, attention and labels did to a model, in full sentences, for its card and its maps."""
    if "readouts" in card:
        return ON_READOUTS
    parts = card.get("parts")
    if parts is None:
        return NOT_MEASURED
    n, at_start = len(card["temperatures"]), parts["members_at_start"]
    said = [
        f"In held-out subjects, shuffling NE over regions {_change(parts['without'][NE_SHUFFLED])}",
        f"Setting attention to zero {_change(parts['without'][NO_ATTENTION])}",
    ]
    if at_start:
        said.append(
            f"{at_start} of {n} members took no training step from the subjects' groups, because no step lowered the "
            "validation loss: their attention was learnt without groups, from Louvain modules alone"
        )
    return ". ".join(said) + "."


def beside_words(card: Mapping[str, Any]) -> str:
    """Say what attention shows beside connectivity of the same blocks; nothing where that was not measured."""
    studied = {one["between"]: one for one in card.get("attention_study", ())}
    said = [
        sentence
        for one in card.get("beside_connectivity", ())
        for sentence in (_beside_pair(one), _studied_pair(studied.get(one["between"])))
        if sentence
    ]
    if not said:
        return ""
    return " ".join(["Attention is made from functional connectivity (FC).", *said])


def beside_line(card: Mapping[str, Any]) -> str:
    """The same in one line, over all pairs of groups; :func:`beside_words` says the rest."""
    found = card.get("beside_connectivity", ())
    if not found:
        return ""
    blocks, without, given = (sum(one[what] for one in found) for what in ("blocks", "attention", "given_connectivity"))
    return (
        f"Given functional connectivity of the same block, groups differ in attention in {given} of "
        f"{counted(blocks, 'block')}; without it, in {without}."
    )


def _beside_pair(one: Mapping[str, Any]) -> str:
    alike = (
        ""
        if one["correlation"] is None
        else (f" Over blocks, the effect sizes of attention and FC correlate at r = {signed(one['correlation'])}.")
    )
    return (
        f"{one['between'].replace(' - ', ' and ')} differ in attention in {one['attention']} of "
        f"{counted(one['blocks'], 'module block')} and in FC in {one['connectivity']}; given FC of the same block, in "
        f"attention in {one['given_connectivity']}.{alike}"
    )


def _studied_pair(found: Mapping[str, Any] | None) -> str:
    """What other predictors and other labels give, as ``assets/studies/attention_beside_connectivity.py`` found it."""
    if found is None:
        return ""
    said = (
        f"Logistic regression on the blocks of attention has an AUC of {found['auc_attention']:.2f}, on those of FC "
        f"{found['auc_connectivity']:.2f}."
    )
    if found["map_correlation"] is None or found["difference_correlation"] is None:
        return said
    return (
        f"{said} Trained with shuffled groups ({counted(found['shuffled_folds'], 'fold')}, "
        f"{counted(found['shuffled_subjects'], 'held-out subject')}), the model has maps that correlate with these at "
        f"{_alike(found['map_correlation'])}, and block differences that do at "
        f"{_alike(found['difference_correlation'])}."
    )


def _change(effect: Mapping[str, Any]) -> str:
    largest, calls = effect["largest_change"], effect["changed_calls"]
    if largest <= NEXT_TO_NOTHING:
        return f"changes no probability by more than {NEXT_TO_NOTHING:g}"
    alike = "" if effect["correlation"] is None else f" ({_alike(effect['correlation'])})"
    mean = effect["mean_change"]
    average = f"{mean:.3f}" if mean >= NEXT_TO_NOTHING / 2 else f"less than {NEXT_TO_NOTHING:g}"
    moved = f"changes probabilities by {average} on average and {largest:.3f} at most{alike}"
    return f"{moved} and puts {counted(calls, 'subject') if calls else 'no subject'} into another group"


def _alike(correlation: float) -> str:
    """How unchanged and changed probabilities correlate, never rounded up to 1."""
    return "r > 0.9999" if correlation > 0.9999 else f"r = {math.floor(correlation * 1000) / 1000:.3f}"


def readme(card: Mapping[str, Any]) -> str:
    """The card in words; names of models and groups are a user's, so that nothing in them counts as markup."""
    people, recordings = card["data"]["subjects"], card["data"].get("recordings", card["data"]["subjects"])
    subjects = ", ".join(f"{n} {group}" for group, n in people.items())
    if recordings != people:
        subjects += f" ({counted_people(sum(people.values()), sum(recordings.values()))})"
    data = f"{card['data']['title']}; {subjects}. {card['data']['terms']} Cite {card['data']['citation']}."
    lines = [f"# {escape_markdown(card['name'])}", "", escape_markdown(card["headline"]), ""]
    lines += [f"- Data: {escape_markdown(data)}"]
    lines += [f"- Protocol: {escape_markdown(card['protocol'])}"]
    lines += [f"- Made by {code_span(card['training']['command'])}, seed {card['training']['seed']}.", ""]
    lines += table_lines(
        ["out of fold", *METRICS],
        [[model, *(_cell(found[metric]) for metric in METRICS)] for model, found in card["results"].items()],
    )
    if said := paired_words(card):
        lines += ["", escape_markdown(said)]
    lines += ["", escape_markdown(nested_words(card)), "", escape_markdown(f"Noise: {noise_words(card)}"), ""]
    lines += [*_recording_lines(card), escape_markdown(motion_words(card)), ""]
    lines += [contrast_line(card)]
    lines += ["", "Limits:", ""]
    lines += [
        f"- {escape_markdown(limit)}" for limit in (*card["limits"], ablation_words(card), beside_words(card)) if limit
    ]
    return hub_header(card) + "\n".join(lines) + "\n"


def contrast_line(card: Mapping[str, Any]) -> str:
    """How much more attention stays within modules, group by group, as Markdown."""
    found = ", ".join(
        f"{group} {'not defined' if ratio is None else f'{ratio:.2f}'}" for group, ratio in card["attention"].items()
    )
    return escape_markdown(f"Attention within over between modules, held-out subjects: {found}.")


def paired_words(card: Mapping[str, Any]) -> str:
    """Say how far the model is above or below each linear model, fold by fold; nothing where that was not measured."""
    found = [
        f"{model} " + "{difference:+.3f} [{low:+.3f}, {high:+.3f}]".format(**one).replace("-", "−")
        for model, one in card.get("paired", {}).items()
        if None not in one.values()
    ]
    if not found:
        return ""
    return (
        "AUC of the model minus that of each linear model, mean over folds, with 95 % intervals corrected for training "
        f"sets that overlap: {'; '.join(found)}."
    )


def _recording_lines(card: Mapping[str, Any]) -> list[str]:
    """What worse recordings do, as a sentence and a table, where it was measured; each with an empty line after it."""
    table, lines = recordings_table(card), [escape_markdown(corruption_words(card)), ""]
    return lines if table.empty else [*lines, *table_lines(list(table.columns), table.to_numpy().tolist()), ""]


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(escape_markdown(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(columns), "|" + "---|" * len(columns), *map(line, rows)]


def _cell(measured: Mapping[str, float | None]) -> str:
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "not defined"
    return f"{value:.3f}" if low is None else f"{value:.3f} [{low:.3f}, {high:.3f}]"


# The card of a network that several cohorts share, in words: what each readout is worth, and how groups compare.


_LIKENESS = (
    "How alike the differences of disorders from their own controls are: Pearson's r over module blocks of attention "
    "of the differences in standard deviations, adjusted for covariates; what permutations of the groups give on "
    "average; and the two-sided p of a correlation as far from that."
)


def shared_headline(cards: Mapping[str, Mapping[str, Any]]) -> str:
    """Say in one line what each readout is worth out of fold.

    Parameters
    ----------
    cards : mapping of str to mapping
        The card of each readout, by its cohort.
    """
    found = []
    for card in cards.values():
        auc = card["results"]["BioBGT"]["auc"]
        simulated = " (simulated)" if card["simulated"] else ""
        told = " / ".join(group.split(" (")[0] for group in card["groups"])
        found.append(f"{told}{simulated} AUC {auc['value']:.2f} [{auc['low']:.2f}, {auc['high']:.2f}]")
    return f"One network for {len(cards)} cohorts, with a readout for each; out of fold {'; '.join(found)}."


def likeness_rows(card: Mapping[str, Any]) -> list[list[str]]:
    """How alike disorders' differences are, one row per pair, as text."""
    return [
        [
            _difference(one["first"]),
            _difference(one["second"]),
            *(_number(one[key], 2) for key in ("r", "expected")),
            _number(one["p"], 4),
        ]
        for one in card.get("likeness", ())
    ]


def likeness_words(card: Mapping[str, Any]) -> str:
    """What the numbers of :func:`likeness_rows` are, and what was adjusted for."""
    found = card.get("likeness", ())
    if not found:
        return ""
    covariates = found[0]["covariates"].items()
    adjusted = "; ".join(f"{_cohort_name(cohort)}: {_covariates(names)}" for cohort, names in covariates)
    return (
        f"{_LIKENESS} {found[0]['blocks']} blocks, {found[0]['permutations']:,} permutations. Adjusted for, by cohort: "
        f"{adjusted}. {_family_words(found)}"
    )


def _cohort_name(cohort: str) -> str:
    return STORIES[cohort].short if cohort in STORIES else cohort


def _covariates(names: str) -> str:
    return listed([covariate_words(name) for name in names.split(", ")]) if names else "none"


def _family_words(found: Sequence[Mapping[str, Any]]) -> str:
    """How many pairs stay after correction for their number."""
    known = [one["p"] for one in found if one["p"] is not None]
    if not known:
        return "No pair could be tested."
    rates = discovery_rates(known)
    passed = int(passes(rates).sum())
    many = f"{passed} of {counted(len(known), 'pair')}" if passed else f"None of {counted(len(known), 'pair')}"
    return f"{many} at a false discovery rate of {100 * FDR:g} % over all pairs; the lowest rate is {rates.min():.2f}."


def shared_readme(card: Mapping[str, Any]) -> str:
    """The card in words."""
    data = card["data"]
    subjects = ", ".join(f"{n} {group}" for group, n in data["subjects"].items())
    lines = [f"# {escape_markdown(card['name'])}", "", escape_markdown(card["headline"]), ""]
    said = f"{data['title']}; {subjects}. {data['terms']} Cite {data['citation']}."
    lines += [f"- Data: {escape_markdown(said)}"]
    lines += [f"- Protocol: {escape_markdown(card['protocol'])}"]
    lines += [f"- Made by {code_span(card['training']['command'])}, seed {card['training']['seed']}."]
    folders = listed([f"`{one['cohort']}/`" for one in card["readouts"]])
    lines += [f"- Results of each readout, beside linear models on the same folds, are in {folders}.", ""]
    lines += [contrast_line(card), ""]
    if rows := likeness_rows(card):
        columns = ["difference", "beside", "r", "r expected by chance", "p"]
        lines += [escape_markdown(likeness_words(card)), "", *table_lines(columns, rows), ""]
    lines += ["Limits:", "", *(f"- {escape_markdown(limit)}" for limit in card["limits"])]
    return hub_header(card) + "\n".join(lines) + "\n"


def _difference(between: Sequence[str]) -> str:
    return f"{between[1]} − {between[0]}"


def _number(value: float | None, digits: int) -> str:
    return signed(float("nan") if value is None else value, digits)
