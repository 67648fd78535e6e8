"""A model's card in words: what it is worth, what must be known before it is believed, and the README.

The sentences are in ``assets/card_sentences.toml``, the README is ``assets/card.md``; here they are chosen and given
their numbers. Without torch.
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, discovery_rates, passes
from biobgt.base.files import asset
from biobgt.base.wording import (
    NOT_A_DIAGNOSIS,
    code_span,
    counted,
    covariate_words,
    escape_markdown,
    listed,
    percent,
    signed,
)
from biobgt.data.cohort import Cohort, counted_people
from biobgt.model.benchmark.linear import kinds_of_baselines
from biobgt.model.presets import OWN_PRESET, Preset
from biobgt.model.pretrained import model_verdict
from biobgt.training.cohorts import DATASETS
from biobgt.training.metrics import CALIBRATION_BINS, METRICS, reliability_curve
from biobgt.training.options import PROTOCOLS
from biobgt.training.tables import paper_results, recordings_table, shown_share

Card = Mapping[str, Any]
CALIBRATED = 0.05  # a larger calibration error is among the limits
ALIKE = 0.01  # AUCs that differ by less are alike, where no interval of their difference is known
NEXT_TO_NOTHING = 0.001  # a probability that moves by less is printed the same in any table
NE_SHUFFLED, NO_ATTENTION = "NE shuffled over regions", "attention set to zero"


@cache
def _sentences() -> dict[str, dict[str, str]]:
    return tomllib.loads(asset("card_sentences.toml").read_text(encoding="utf-8"))


def say(about: str, which: str, /, **values: Any) -> str:
    """A sentence of ``assets/card_sentences.toml``, by its table and its name, with its numbers."""
    return _sentences()[about][which].format(**values)


# The first line, and the limits.


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
    return say(
        "headline",
        model_verdict(results, sizes, simulated=simulated),
        measured=say("headline", "measured", **results["BioBGT"]),
        told=" / ".join(sizes),
        numbers=", ".join(f"{n} {group}" for group, n in sizes.items()),
        beside=_beside_best(results, paired or {}),
    )


def _beside_best(results: Mapping[str, Mapping[str, Any]], paired: Mapping[str, Mapping[str, float | None]]) -> str:
    """Say how the best baseline does on the same folds, and which kind of model it is."""
    others = {model: float(measured["auc"]["value"]) for model, measured in results.items() if model != "BioBGT"}
    title = max(others, key=others.__getitem__)
    kind = kinds_of_baselines([title]).removesuffix("s")
    ahead = results["BioBGT"]["auc"]["value"] - others[title]
    low, high = (paired.get(title, {}).get(end) for end in ("low", "high"))
    alike = abs(ahead) < ALIKE if low is None or high is None else low <= 0 <= high
    does = "does as well" if alike else "is worse" if ahead > 0 else "is better"
    article = "an" if kind[0] in "aeiou" else "a"
    return say("headline", "baseline", article=article, kind=kind, does=does, auc=others[title])


def shared_headline(cards: Mapping[str, Card]) -> str:
    """Say in one line what each readout of a network is worth out of fold, from their cards by cohort."""
    found = []
    for card in cards.values():
        told = " / ".join(group.split(" (")[0] for group in card["groups"])
        told += " (simulated)" if card["simulated"] else ""
        found.append(say("headline", "readout", told=told, auc=card["results"]["BioBGT"]["auc"]))
    return say("headline", "shared", n=len(cards), found="; ".join(found))


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
        Named after a kind of :data:`biobgt.training.cohorts.DATASETS`.
    preset : Preset
    attention : mapping of str to float or None
        The card's entry on attention within over between modules.
    calibration : mapping of str to float or None
        The calibration error, ``value``, and what chance alone would make it, ``by_chance``.
    """
    found, asked = [NOT_A_DIAGNOSIS, *DATASETS[cohort.name].limits], preset.start_contrast
    if asked:
        least = min((ratio for ratio in attention.values() if ratio is not None), default=None)
        reached = "not defined" if least is None else f"{least:.2f} times"
        is_set = least is not None and least > 1 + (asked - 1) / 2
        found.append(say("limits", "sharpened" if is_set else "not_sharpened", asked=asked, reached=reached))
    error, by_chance = calibration["value"], calibration["by_chance"]
    if error is not None and by_chance is not None and error > CALIBRATED:
        found.append(say("limits", "calibration", value=error, by_chance=by_chance))
    return found


def shared_limits(*, simulated: bool) -> list[str]:
    """What must be known before groups of different cohorts are compared, one of them perhaps simulated."""
    names = ("across_cohorts", *(("simulated_cohort",) if simulated else ()), "of_readouts")
    return [NOT_A_DIAGNOSIS, *(say("limits", name) for name in names)]


# What parts of the model do, and what attention shows beside connectivity.


def ablation_words(card: Card) -> str:
    """Say what NE, attention and labels did to a model, in full sentences, for its card and its maps."""
    found = card.get("parts")
    if "readouts" in card or found is None:
        return say("ablation", "on_readouts" if "readouts" in card else "not_measured")
    effects = {"ne_shuffled": found["without"][NE_SHUFFLED], "no_attention": found["without"][NO_ATTENTION]}
    said = [say("ablation", "measured", **{name: _change(effect) for name, effect in effects.items()})]
    if at_start := found["members_at_start"]:
        said.append(say("ablation", "at_start", at_start=at_start, n=len(card["temperatures"])))
    return " ".join(said)


def _change(effect: Card) -> str:
    largest, mean, calls = effect["largest_change"], effect["mean_change"], effect["changed_calls"]
    if largest <= NEXT_TO_NOTHING:
        return say("ablation", "no_change", least=NEXT_TO_NOTHING)
    return say(
        "ablation",
        "change",
        mean=f"{mean:.3f}" if mean >= NEXT_TO_NOTHING / 2 else f"less than {NEXT_TO_NOTHING:g}",
        largest=largest,
        alike="" if effect["correlation"] is None else f" ({_alike(effect['correlation'])})",
        calls=counted(calls, "subject") if calls else "no subject",
    )


def _alike(correlation: float) -> str:
    """A correlation of two sets of results, never rounded up to 1."""
    return "r > 0.9999" if correlation > 0.9999 else f"r = {math.floor(correlation * 1000) / 1000:.3f}"


def beside_words(card: Card) -> str:
    """Say what attention shows beside connectivity of the same blocks; nothing where that was not measured."""
    studied = {one["between"]: one for one in card.get("attention_study", ())}
    said = []
    for one in card.get("beside_connectivity", ()):
        pair, blocks = one["between"].replace(" - ", " and "), counted(one["blocks"], "module block")
        said.append(say("beside_connectivity", "pair", **{**one, "pair": pair, "blocks": blocks}))
        if one["correlation"] is not None:
            said.append(say("beside_connectivity", "correlation", correlation=signed(one["correlation"])))
        if one["between"] in studied:
            said += _studied(studied[one["between"]])
    return " ".join([say("beside_connectivity", "opening"), *said]) if said else ""


def _studied(found: Card) -> list[str]:
    """What other predictors and other labels give, as ``assets/studies/attention_beside_connectivity.py`` found it."""
    said = [say("beside_connectivity", "auc", **found)]
    if None not in (found["map_correlation"], found["difference_correlation"]):
        values = {
            "folds": counted(found["shuffled_folds"], "fold"),
            "subjects": counted(found["shuffled_subjects"], "held-out subject"),
            "maps": _alike(found["map_correlation"]),
            "differences": _alike(found["difference_correlation"]),
        }
        said.append(say("beside_connectivity", "shuffled", **values))
    return said


def beside_line(card: Card) -> str:
    """The same in one line, over all pairs of groups; :func:`beside_words` says the rest."""
    found = card.get("beside_connectivity", ())
    if not found:
        return ""
    blocks, without, given = (sum(one[what] for one in found) for what in ("blocks", "attention", "given_connectivity"))
    return say("beside_connectivity", "line", given=given, blocks=counted(blocks, "block"), without=without)


def likeness_rows(card: Card) -> list[list[str]]:
    """How alike disorders' differences are, one row per pair, as text."""

    def number(value: float | None, digits: int) -> str:
        return signed(float("nan") if value is None else value, digits)

    return [
        [
            *(f"{one[which][1]} − {one[which][0]}" for which in ("first", "second")),
            *(number(one[key], 2) for key in ("r", "expected")),
            number(one["p"], 4),
        ]
        for one in card.get("likeness", ())
    ]


def likeness_words(card: Card) -> str:
    """What the numbers of :func:`likeness_rows` are, what was adjusted for, and how many pairs stay."""
    found = card.get("likeness", ())
    if not found:
        return ""
    adjusted = [
        (DATASETS[cohort].short if cohort in DATASETS else cohort)
        + ": "
        + (listed([covariate_words(name) for name in names.split(", ")]) if names else "none")
        for cohort, names in found[0]["covariates"].items()
    ]
    known = [one["p"] for one in found if one["p"] is not None]
    family = say("likeness", "not_tested")
    if known:
        rates = discovery_rates(known)
        many = f"{int(passes(rates).sum()) or 'None'} of {counted(len(known), 'pair')}"
        family = say("likeness", "family", many=many, rate=100 * FDR, lowest=rates.min())
    return say("likeness", "measured", **{**found[0], "adjusted": "; ".join(adjusted), "family": family})


# Results, and what becomes of them in new subjects and worse recordings.


def _paired_words(card: Card) -> str:
    """Say how far the model is above or below each linear model, fold by fold; nothing where that was not measured."""
    found = [
        f"{model} " + "{difference:+.3f} [{low:+.3f}, {high:+.3f}]".format(**one).replace("-", "−")
        for model, one in card.get("paired", {}).items()
        if None not in one.values()
    ]
    return say("paired", "measured", found="; ".join(found)) if found else ""


def _nested_words(card: Card) -> str:
    """Say what new subjects get, and what that is worth."""
    said = say("nested", "members", members=counted(len(card["temperatures"]), "ensemble member"))
    nested = card.get("nested")
    if not nested:
        return f"{said} {say('nested', 'not_measured')}"
    which = "all" if nested["outer_folds"] == nested["folds"] else f"{nested['outer_folds']} of"
    auc, accuracy = (_interval(nested["mean"][name], 2) for name in ("auc", "accuracy"))
    return f"{said} {say('nested', 'measured', which=which, auc=auc, accuracy=accuracy, **nested)}"


def members_words(card: Card) -> str:
    """Say what members are, and whose probabilities are whose."""
    members = counted(len(card["temperatures"]), "member")
    return say("nested", "all_members", members=members, nested=_nested_words(card))


def noise_words(card: Card) -> str:
    """Say what happens to probabilities and calls when noise as strong as the signal is added."""
    answers = {one["sd"]: one for one in card.get("noise") or ()}
    if not answers:
        return say("noise", "not_measured")
    controls, group = card["groups"][0], card["groups"][-1]
    shares = {sd: one["probability"][group] for sd, one in answers.items()}
    quiet, equal, pure = next(iter(answers.values())), answers.get(1.0), answers.get(None)
    subjects = counted(quiet["n"], "subject")
    said = say("noise", "quiet", subjects=subjects, group=group, share=shown_share(shares[quiet["sd"]]))
    if equal is not None:
        changed = {key: percent(equal[key]) for key in ("to_patient", "to_control")}
        said += say("noise", "equal", share=shown_share(shares[1.0]), controls=controls, **changed)
    if pure is not None and shares[None] is not None:
        said += say("noise", "pure", share=shown_share(shares[None]), warned=percent(pure["warned"]))
    return f"{said}."


def corruption_words(card: Card) -> str:
    """Say which way corrupted scans lean, and how many changed and unchanged predictions carry a warning."""
    answers = card.get("corruption")
    if not answers:
        return say("corruption", "not_measured")
    away, back = (
        sum(round(one[key] * (one["n"] - one["refused"])) for one in answers) for key in ("to_patient", "to_control")
    )
    return say(
        "corruption",
        "measured",
        kinds=len(answers),
        subjects=counted(max(one["n"] for one in answers), "held-out subject"),
        flips=sum(one["flips"] for one in answers),
        warned=sum(one["flips_warned"] for one in answers),
        away=away,
        back=back,
        controls=card["groups"][0],
        alarms=percent(card["noise"][0]["warned"]),
    )


def motion_words(card: Card) -> str:
    """Say what motion alone gives."""
    motion = card.get("motion")
    return str(motion["words"]) if motion else say("motion", "not_measured")


def range_words(card: Card) -> str:
    """Where the training subjects lie: whoever lies elsewhere is warned of."""
    ranges = card["familiarity"]
    shown = (
        ("mean_correlation", "mean correlation {} to {}", "{:.2f}"),
        ("strength", "mean |FC| {} to {}", "{:.2f}"),
        ("timepoints", "{} to {} time points (95 % of them)", "{:.0f}"),
        ("effective_timepoints", "worth {} to {} independent ones", "{:.0f}"),
    )
    known = [(words, form, ranges[name]) for name, words, form in shown if ranges.get(name)]
    # + 0.0: no minus zero
    return ", ".join(words.format(*(form.format(round(end, 2) + 0.0) for end in ends)) for words, form, ends in known)


def metrics_words(card: Card) -> str:
    """Say what the less familiar metrics of a table mean, for two groups or more."""
    groups, f1 = card["groups"], say("metrics", "f1")
    bins, n = say("metrics", "bins", bins=CALIBRATION_BINS), len(groups)
    if n == 2:
        return say("metrics", "two", patients=groups[1], controls=groups[0], f1=f1, bins=bins)
    return say("metrics", "more", n=n, f1=f1, bins=bins, even=(n - 1) / n)


def calibration_words(card: Card) -> str:
    """What the card says of the probabilities: how far off they are on average, and how well groups are told apart."""
    error, auc = card["results"]["BioBGT"]["ece"], card["results"]["BioBGT"]["auc"]
    off = say("calibration", "not_known")
    if error["value"] is not None:
        off = say("calibration", "off", points=100 * error["value"])
        if error.get("by_chance") is not None:
            off += say("calibration", "by_chance", points=100 * error["by_chance"])
    said = say("calibration", "single", off=off)
    if auc["value"] is not None:
        interval = "" if auc["low"] is None else say("calibration", "interval", **auc)
        said += say("calibration", "auc", value=auc["value"], interval=interval)
    of_mean = (card.get("nested") or {"mean": {"ece": {}}})["mean"]["ece"]
    if of_mean.get("value") is None:
        return f"{said} {say('calibration', 'mean_not_measured')}"
    points, by_chance = 100 * of_mean["value"], 100 * of_mean["by_chance"]
    return f"{said} {say('calibration', 'mean', points=points, by_chance=by_chance)}"


def observed_share(
    labels: NDArray[np.int64], probabilities: NDArray[np.float64], groups: Sequence[str], claimed: float, group: str
) -> str:
    """Say what became of subjects to whom a member that they were left out of gave a like probability.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
    probabilities : ndarray, shape (n_subjects, n_groups)
        Out of fold, each of one member.
    groups : sequence of str, length n_groups
    claimed : float
        A new subject's probability of ``group``, by the mean of all members.
    group : str
        One of them.
    """
    k = list(groups).index(group)
    curve = reliability_curve((labels == k).astype(np.int64), probabilities[:, k])
    rows = curve[(curve["low"] < claimed) & (claimed <= curve["high"])].to_dict("records")
    said = say("observed", "claimed", group=group, claimed=percent(claimed))
    if not rows:
        return f"{said} {say('observed', 'nobody')}"
    shares = {name: percent(rows[0][name]) for name in ("low", "high", "observed", "observed_low", "observed_high")}
    return f"{said} {say('observed', 'share', n=rows[0]['n'], group=group, **shares)}"


def share_below(labels: NDArray[np.int64], values: NDArray[np.float64], groups: Sequence[str], at: float) -> str:
    """Say which share of each group's training subjects lies below a probability.

    Parameters
    ----------
    labels : ndarray of int, shape (n_subjects,)
        Positions of the true groups.
    values : ndarray, shape (n_subjects,)
        Out-of-fold probabilities of one group.
    groups : sequence of str
    at : float
        The probability of a new subject.
    """
    shares = {group: (values[labels == k] < at).mean() for k, group in enumerate(groups) if (labels == k).any()}
    return f"{', '.join(f'{percent(share)} of {group}' for group, share in shares.items())} lie below."


def evaluation_words(card: Card) -> str:
    """Say how the table of evaluations on repeated splits was made, for the kinds of splits that it holds."""
    rows = card["evaluation"]
    kinds = dict.fromkeys(row["protocol"] for row in rows)
    spread = any(row["splits"] > 1 for row in rows)
    said = [say("evaluation", "single"), say("evaluation", "splits" if spread else "one_split")]
    return " ".join([*said, *(PROTOCOLS[kind].sentence for kind in kinds if kind in PROTOCOLS)])


def preset_words(name: str) -> str:
    """Whose settings a preset's are."""
    if name == OWN_PRESET:
        return "BioBGT with this project's settings"
    return "BioBGT with the paper's settings" if name.startswith("paper-") else f"BioBGT with the settings '{name}'"


def paper_note(card: Card) -> str:
    """What to say of the paper's numbers beside a model's; nothing where they are not shown."""
    return say("paper", "note") if paper_results(card) else ""


# The README: assets/card.md, of which a line whose places are all empty is left out.

_PLACE = re.compile(r"{(\w+)}")


def card_readme(card: Card) -> str:
    """The card in words, of a model or of a network; names are a user's, so nothing in them counts as markup."""
    ratios = {group: "not defined" if ratio is None else f"{ratio:.2f}" for group, ratio in card["attention"].items()}
    plain = {
        "name": card["name"],
        "headline": card["headline"],
        "data": _data_words(card["data"]),
        "protocol": card["protocol"],
        "contrast": ", ".join(f"{group} {ratio}" for group, ratio in ratios.items()),
        **(_words_of_network(card) if "readouts" in card else _words_of_model(card)),
    }
    said = [*card["limits"], *(() if "readouts" in card else (ablation_words(card), beside_words(card)))]
    values = {
        **{name: escape_markdown(words) for name, words in plain.items()},
        "command": code_span(card["training"]["command"]),
        "seed": str(card["training"]["seed"]),
        "limits": "\n".join(f"- {escape_markdown(limit)}" for limit in said if limit),
        **(_tables_of_network(card) if "readouts" in card else _tables_of_model(card)),
    }
    lines = asset("card.md").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if all(values.get(place) for place in _PLACE.findall(line))]
    return _hub_header(card) + re.sub(r"\n{3,}", "\n\n", "\n".join(line.format_map(values) for line in kept)) + "\n"


def _data_words(data: Card) -> str:
    people, recordings = data["subjects"], data.get("recordings", data["subjects"])
    subjects = ", ".join(f"{n} {group}" for group, n in people.items())
    if recordings != people:
        subjects += f" ({counted_people(sum(people.values()), sum(recordings.values()))})"
    return f"{data['title']}; {subjects}. {data['terms']} Cite {data['citation']}."


def _words_of_model(card: Card) -> dict[str, str]:
    return {
        "paired": _paired_words(card),
        "nested": _nested_words(card),
        "noise": noise_words(card),
        "corruption": corruption_words(card),
        "motion": motion_words(card),
    }


def _words_of_network(card: Card) -> dict[str, str]:
    return {"likeness": likeness_words(card)}


def _tables_of_model(card: Card) -> dict[str, str]:
    results = [
        [model, *(_interval(found[metric], 3) for metric in METRICS)] for model, found in card["results"].items()
    ]
    worse = recordings_table(card)
    return {
        "results": _table(["out of fold", *METRICS], results),
        "recordings": "" if worse.empty else _table(list(worse.columns), worse.to_numpy().tolist()),
    }


def _tables_of_network(card: Card) -> dict[str, str]:
    rows, columns = likeness_rows(card), ["difference", "beside", "r", "r expected by chance", "p"]
    return {
        "folders": listed([f"`{one['cohort']}/`" for one in card["readouts"]]),
        "likeness_table": _table(columns, rows) if rows else "",
    }


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(escape_markdown(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(columns), "|" + "---|" * len(columns), *map(line, rows)])


def _interval(measured: Mapping[str, float | None], digits: int) -> str:
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "not defined"
    return f"{value:.{digits}f}" + ("" if low is None else f" [{low:.{digits}f}, {high:.{digits}f}]")


def _hub_header(card: Card) -> str:
    """The YAML header by which model hubs know licence, library, tags, data and results, all of them the card's."""
    import yaml  # cards alone need it

    tags = ["neuroscience", "fmri", "resting-state", "connectome", "brain-network", "graph-transformer"]
    header: dict[str, Any] = {
        "license": "other",
        "license_name": "research-use",  # the data's terms, which the weights inherit, are no licence that hubs know
        "license_link": "README.md",
        "library_name": "biobgt",
        "pipeline_tag": "graph-ml",
        "tags": tags + (["simulated-data"] if card["simulated"] else []),
    }
    own = card.get("results", {}).get("BioBGT", {})  # a network's readouts have their own
    metrics = [
        {"type": name, "value": round(float(own[metric]["value"]), 3), "name": f"{metric}, out of fold"}
        for metric, name in (("auc", "roc_auc"), ("accuracy", "accuracy"), ("f1", "f1"))
        if own.get(metric, {}).get("value") is not None
    ]
    if metrics:
        task = {"type": "graph-ml", "name": "Classification of brain networks"}
        dataset = {"type": card["data"]["cohort"], "name": escape_markdown(card["data"]["title"])}
        results = [{"task": task, "dataset": dataset, "metrics": metrics}]
        header |= {"metrics": [one["type"] for one in metrics]}
        header |= {"model-index": [{"name": escape_markdown(card["name"]), "results": results}]}
    written: str = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{written}---\n"
