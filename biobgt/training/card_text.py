"""A model's card in words: what it is worth, what must be known before it is believed, and the README.

The sentences are in ``assets/card_sentences.toml``, the README is ``assets/card.md``; here they are chosen and given
their numbers. Without torch.
"""

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.arrays import FDR, discovery_rates, passes
from biobgt.base.files import asset
from biobgt.base.wording import counted, covariate_words, escape_markdown, listed, percent, signed
from biobgt.data.cohort import counted_people
from biobgt.model.presets import OWN_PRESET
from biobgt.model.pretrained import model_verdict
from biobgt.model.systems import kinds_of_baselines
from biobgt.training.cohorts import DATASETS, PROTOCOLS
from biobgt.training.faithfulness_tables import TOP, shuffled_labels
from biobgt.training.metrics import CALIBRATION_BINS, METRICS, reliability_curve
from biobgt.training.tables import CardTables, shown_share

NE_SHUFFLED, NO_ATTENTION = "NE shuffled over regions", "attention set to zero"
_ALIKE = 0.01  # AUCs that differ by less are alike, where no interval of their difference is known
_FEWEST_FLIPS = 10  # of which it says something which way they go
_SMALL_CHANGE = 0.01  # of a probability
_HARDLY = 1.5  # times as much as chance is hardly more
_NEXT_TO_NOTHING = 0.001  # a probability that moves by less is printed the same in any table
_PLACE = re.compile(r"{(\w+)}")  # in assets/card.md


@cache
def _sentences() -> dict[str, dict[str, str]]:
    return tomllib.loads(asset("card_sentences.toml").read_text(encoding="utf-8"))


def say(about: str, which: str, /, **values: Any) -> str:
    """A sentence of ``assets/card_sentences.toml``, by its table and its name, with its numbers."""
    return _sentences()[about][which].format(**values)


@dataclass(frozen=True)
class CardText:
    """What is said of a card.

    Attributes
    ----------
    card : mapping
        Of a model, or of a network that several cohorts share.
    """

    card: Mapping[str, Any]

    @property
    def headline(self) -> str:
        """What a model is worth in one line, from its out-of-fold AUC and accuracy, beside the best baseline."""
        results, sizes = self.card["results"], self.card["data"]["subjects"]
        others = {model: float(measured["auc"]["value"]) for model, measured in results.items() if model != "BioBGT"}
        title = max(others, key=others.__getitem__)
        kind = kinds_of_baselines([title]).removesuffix("s")
        ahead = results["BioBGT"]["auc"]["value"] - others[title]
        low, high = ((self.card.get("paired") or {}).get(title, {}).get(end) for end in ("low", "high"))
        alike = abs(ahead) < _ALIKE if low is None or high is None else low <= 0 <= high
        does = "does as well" if alike else "is worse" if ahead > 0 else "is better"
        article = "an" if kind[0] in "aeiou" else "a"
        return say(
            "headline",
            model_verdict(results, sizes, simulated=self.card["simulated"]),
            measured=say("headline", "measured", **results["BioBGT"]),
            told=" / ".join(sizes),
            numbers=", ".join(f"{n} {group}" for group, n in sizes.items()),
            beside=say("headline", "baseline", article=article, kind=kind, does=does, auc=others[title]),
        )

    # What parts of the model do, and what attention shows beside connectivity.

    @property
    def ablation(self) -> str:
        """What NE, attention and labels did to a model, in full sentences, for its card and its maps."""
        found = self.card.get("parts")
        if "readouts" in self.card or found is None:
            return say("ablation", "on_readouts" if "readouts" in self.card else "not_measured")
        effects = {"ne_shuffled": found["without"][NE_SHUFFLED], "no_attention": found["without"][NO_ATTENTION]}
        said = [say("ablation", "measured", **{name: _change(effect) for name, effect in effects.items()})]
        if at_start := found["members_at_start"]:
            said.append(say("ablation", "at_start", at_start=at_start, n=len(self.card["temperatures"])))
        return " ".join(said)

    @property
    def beside_connectivity(self) -> str:
        """What attention shows beside connectivity of the same blocks; nothing where that was not measured.

        What other predictors and other labels give, ``assets/studies/attention_beside_connectivity.py`` found.
        """
        studied = {one["between"]: one for one in self.card.get("attention_study", ())}
        said = []
        for one in self.card.get("beside_connectivity", ()):
            pair, blocks = one["between"].replace(" - ", " and "), counted(one["blocks"], "module block")
            said.append(say("beside_connectivity", "pair", **{**one, "pair": pair, "blocks": blocks}))
            if one["correlation"] is not None:
                said.append(say("beside_connectivity", "correlation", correlation=signed(one["correlation"])))
            found = studied.get(one["between"])
            if found is None:
                continue
            said.append(say("beside_connectivity", "auc", **found))
            if None not in (found["map_correlation"], found["difference_correlation"]):
                values = {
                    "folds": counted(found["shuffled_folds"], "fold"),
                    "subjects": counted(found["shuffled_subjects"], "held-out subject"),
                    "maps": _alike(found["map_correlation"]),
                    "differences": _alike(found["difference_correlation"]),
                }
                said.append(say("beside_connectivity", "shuffled", **values))
        return " ".join([say("beside_connectivity", "opening"), *said]) if said else ""

    @property
    def beside_line(self) -> str:
        """The same in one line, over all pairs of groups."""
        found = self.card.get("beside_connectivity", ())
        if not found:
            return ""
        names = ("blocks", "attention", "given_connectivity")
        blocks, without, given = (sum(one[what] for one in found) for what in names)
        return say("beside_connectivity", "line", given=given, blocks=counted(blocks, "block"), without=without)

    @property
    def faithfulness(self) -> str:
        """How faithful attention is: deletion, randomisation and agreement, in full sentences; the verdict first."""
        found = self.card.get("faithfulness")
        if "readouts" in self.card or not found:
            return say("faithfulness", "on_readouts" if "readouts" in self.card else "not_measured")
        tenth = {one["order"]: one["deletion"] for one in found["removed"] if one["share"] == TOP}
        cells = {order: _moved(one) for order, one in tenth.items()}
        alone = {order: cell.partition(" ")[0] for order, cell in cells.items()}
        parts = [shown_share(one["correlation"]["value"]) for one in found["randomised"]]
        members, linear = found["agreement"]
        shuffled = shuffled_labels(self.card)
        said = [
            say("faithfulness", "verdict", much=_how_much(tenth, found["ahead"]), **alone),
            say("faithfulness", "orders", subjects=counted(found["n"], "held-out subject"), **cells),
            say(
                "faithfulness",
                "randomised",
                **dict(zip(("readout", "kernel", "both"), parts, strict=True)),
                shuffled=say("faithfulness", "shuffled", maps=_alike(shuffled[0]))
                if shuffled
                else say("faithfulness", "shuffled_not_measured"),
            ),
            say(
                "faithfulness",
                "agreement",
                map=shown_share(members["map"]["value"]),
                received=shown_share(members["received"]["value"]),
                top=percent(members["top"]["value"]),
                linear_received=shown_share(linear["received"]["value"]),
                linear_top=percent(linear["top"]["value"]),
            ),
        ]
        return " ".join(said)

    def likeness_rows(self) -> list[list[str]]:
        """How alike disorders' differences are, one row per pair, as text."""

        def number(value: float | None, digits: int) -> str:
            return signed(float("nan") if value is None else value, digits)

        return [
            [
                *(f"{one[which][1]} − {one[which][0]}" for which in ("first", "second")),
                *(number(one[key], 2) for key in ("r", "expected")),
                number(one["p"], 4),
            ]
            for one in self.card.get("likeness", ())
        ]

    @property
    def likeness(self) -> str:
        """What the numbers of :meth:`likeness_rows` are, what was adjusted for, and how many pairs stay."""
        found = self.card.get("likeness", ())
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

    @property
    def new_subjects(self) -> str:
        """What new subjects get, and what that is worth."""
        said = say("nested", "members", members=counted(len(self.card["temperatures"]), "ensemble member"))
        nested = self.card.get("nested")
        if not nested:
            return f"{said} {say('nested', 'not_measured')}"
        which = "all" if nested["outer_folds"] == nested["folds"] else f"{nested['outer_folds']} of"
        auc, accuracy = (with_interval(nested["mean"][name], 2) for name in ("auc", "accuracy"))
        return f"{said} {say('nested', 'measured', which=which, auc=auc, accuracy=accuracy, **nested)}"

    @property
    def members(self) -> str:
        """What members are, and whose probabilities are whose."""
        members = counted(len(self.card["temperatures"]), "member")
        return say("nested", "all_members", members=members, nested=self.new_subjects)

    @property
    def noise(self) -> str:
        """What happens to probabilities and calls when noise as strong as the signal is added."""
        answers = {one["sd"]: one for one in self.card.get("noise") or ()}
        if not answers:
            return say("noise", "not_measured")
        controls, group = self.card["groups"][0], self.card["groups"][-1]
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

    @property
    def corruption(self) -> str:
        """Which way corrupted scans lean, and how many changed and unchanged predictions carry a warning."""
        answers = self.card.get("corruption")
        if not answers:
            return say("corruption", "not_measured")
        away, back = (
            sum(round(one[key] * (one["n"] - one["refused"])) for one in answers)
            for key in ("to_patient", "to_control")
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
            controls=self.card["groups"][0],
            alarms=percent(self.card["noise"][0]["warned"]),
            ways=self._ways(answers),
        )

    def _ways(self, answers: Sequence[Mapping[str, Any]]) -> str:
        """How many of the changed predictions go to patients, by kind of corruption; nothing where few change."""
        controls, *others = self.card["groups"]
        to = {"controls": controls, "group": others[0] if len(others) == 1 else "another group"}
        found = [
            say("corruption", "way", kind=one["kind"], away=away, flips=one["flips"], **to)
            for one in answers
            if one["flips"] >= _FEWEST_FLIPS
            for away in [round(one["to_patient"] * (one["n"] - one["refused"]))]
        ]
        return say("corruption", "ways", found="; ".join(found)) if found else ""

    @property
    def motion(self) -> str:
        """What motion alone gives."""
        motion = self.card.get("motion")
        return str(motion["words"]) if motion else say("motion", "not_measured")

    @property
    def ranges(self) -> str:
        """Where the training subjects lie: whoever lies elsewhere is warned of."""
        ranges = self.card["familiarity"]
        shown = (
            ("mean_correlation", "mean correlation {} to {}", "{:.2f}"),
            ("strength", "mean |FC| {} to {}", "{:.2f}"),
            ("timepoints", "{} to {} time points (95 % of them)", "{:.0f}"),
            ("effective_timepoints", "worth {} to {} independent ones", "{:.0f}"),
        )
        return ", ".join(
            words.format(*(form.format(round(end, 2) + 0.0) for end in ranges[name]))  # + 0.0: no minus zero
            for name, words, form in shown
            if ranges.get(name)
        )

    @property
    def metrics(self) -> str:
        """What the less familiar metrics of a table mean, for two groups or more."""
        groups, f1 = self.card["groups"], say("metrics", "f1")
        bins, n = say("metrics", "bins", bins=CALIBRATION_BINS), len(groups)
        if n == 2:
            return say("metrics", "two", patients=groups[1], controls=groups[0], f1=f1, bins=bins)
        return say("metrics", "more", n=n, f1=f1, bins=bins, even=(n - 1) / n)

    @property
    def calibration(self) -> str:
        """What is known of the probabilities: how far off they are on average, and how well groups are told apart."""
        error, auc = (self.card["results"]["BioBGT"][name] for name in ("ece", "auc"))
        off = say("calibration", "not_known")
        if error["value"] is not None:
            off = say("calibration", "off", points=100 * error["value"])
            if error.get("by_chance") is not None:
                off += say("calibration", "by_chance", points=100 * error["by_chance"])
        said = say("calibration", "single", off=off)
        if auc["value"] is not None:
            interval = "" if auc["low"] is None else say("calibration", "interval", **auc)
            said += say("calibration", "auc", value=auc["value"], interval=interval)
        of_mean = (self.card.get("nested") or {"mean": {"ece": {}}})["mean"]["ece"]
        if of_mean.get("value") is None:
            return f"{said} {say('calibration', 'mean_not_measured')}"
        points, by_chance = 100 * of_mean["value"], 100 * of_mean["by_chance"]
        return f"{said} {say('calibration', 'mean', points=points, by_chance=by_chance)}"

    @property
    def evaluation(self) -> str:
        """How the table of evaluations on repeated splits was made, for the kinds of splits that it holds."""
        rows = self.card["evaluation"]
        kinds = dict.fromkeys(row["protocol"] for row in rows)
        spread = any(row["splits"] > 1 for row in rows)
        said = [say("evaluation", "single"), say("evaluation", "splits" if spread else "one_split")]
        return " ".join([*said, *(PROTOCOLS[kind].sentence for kind in kinds if kind in PROTOCOLS)])

    @property
    def preset(self) -> str:
        """Whose settings the preset's are."""
        name = self.card["preset"]["name"]
        if name == OWN_PRESET:
            return "BioBGT with this project's settings"
        return "BioBGT with the paper's settings" if name.startswith("paper-") else f"BioBGT with the settings '{name}'"

    @property
    def paper_note(self) -> str:
        """What to say of the paper's numbers beside a model's; nothing where they are not shown."""
        return say("paper", "note") if CardTables(self.card).paper else ""

    @property
    def readme(self) -> str:
        """The card as a page, of ``assets/card.md``, of which a line whose places are all empty is left out.

        Names are a user's, so nothing in them counts as markup.
        """
        card, data, shared = self.card, self.card["data"], "readouts" in self.card
        ratios = {group: "not defined" if one is None else f"{one:.2f}" for group, one in card["attention"].items()}
        people, recordings = data["subjects"], data.get("recordings", data["subjects"])
        subjects = ", ".join(f"{n} {group}" for group, n in people.items())
        if recordings != people:
            subjects += f" ({counted_people(sum(people.values()), sum(recordings.values()))})"
        plain = {
            "name": card["name"],
            "headline": card["headline"],
            "data": f"{data['title']}; {subjects}. {data['terms']} Cite {data['citation']}.",
            "protocol": card["protocol"],
            "contrast": ", ".join(f"{group} {ratio}" for group, ratio in ratios.items()),
        }
        limits, tables = list(card["limits"]), {}
        if shared:
            plain["likeness"] = self.likeness
            columns, rows = ["difference", "beside", "r", "r expected by chance", "p"], self.likeness_rows()
            tables["folders"] = listed([f"`{one['cohort']}/`" for one in card["readouts"]])
            tables["likeness_table"] = _table(columns, rows)
        else:
            plain |= {"paired": self._paired(), "nested": self.new_subjects, "noise": self.noise}
            plain |= {"corruption": self.corruption, "motion": self.motion, "faithfulness": self.faithfulness}
            limits += [self.ablation, self.beside_connectivity]
            results = [
                [model, *(with_interval(found[metric], 3) for metric in METRICS)]
                for model, found in card["results"].items()
            ]
            worse = CardTables(card).recordings()
            tables["results"] = _table(["out of fold", *METRICS], results)
            tables["recordings"] = _table(list(worse.columns), worse.to_numpy().tolist())
        values = {
            **{name: escape_markdown(words) for name, words in plain.items()},
            "command": _code_span(card["training"]["command"]),
            "seed": str(card["training"]["seed"]),
            "limits": "\n".join(f"- {escape_markdown(limit)}" for limit in limits if limit),
            **tables,
        }
        lines = asset("card.md").read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if all(values.get(place) for place in _PLACE.findall(line))]
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(line.format_map(values) for line in kept))
        return f"{self._hub_header()}{text}\n"

    def _paired(self) -> str:
        """How far the model is above or below each linear model, fold by fold; nothing where that was not measured."""
        found = [
            f"{model} " + "{difference:+.3f} [{low:+.3f}, {high:+.3f}]".format(**one).replace("-", "−")
            for model, one in self.card.get("paired", {}).items()
            if None not in one.values()
        ]
        return say("paired", "measured", found="; ".join(found)) if found else ""

    def _hub_header(self) -> str:
        """The YAML header by which model hubs know licence, library, tags, data and results, all of them the card's."""
        import yaml  # cards alone need it

        card = self.card
        tags = ["neuroscience", "fmri", "resting-state", "connectome", "brain-network", "graph-transformer"]
        header: dict[str, Any] = {
            "license": "other",
            "license_name": "research-use",  # the data's terms, which weights inherit, are no licence that hubs know
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


def _moved(change: Mapping[str, float | None]) -> str:
    """How far probabilities move, with the interval: three decimals, or two digits where that says more."""
    small = change["value"] is not None and change["value"] < _SMALL_CHANGE
    said = [
        f"{one:.2g}" if small else f"{one:.3f}" for end in ("value", "low", "high") if (one := change[end]) is not None
    ]
    return said[0] + (f" [{said[1]}, {said[2]}]" if len(said) == 3 else "") if said else "not defined"


def _how_much(tenth: Mapping[str, Mapping[str, float]], ahead: Mapping[str, float | None]) -> str:
    """Say how much more removing attended regions does than removing random ones."""
    low, attention, random = ahead["low"], tenth["attention"]["value"], tenth["random"]["value"]
    if low is None or low <= 0:
        return say("faithfulness", "no_more")
    if not random:
        return say("faithfulness", "more")
    times = attention / random
    return say("faithfulness", "hardly_more" if times < _HARDLY else "times", times=times)


def _change(effect: Mapping[str, Any]) -> str:
    largest, mean, calls = effect["largest_change"], effect["mean_change"], effect["changed_calls"]
    if largest <= _NEXT_TO_NOTHING:
        return say("ablation", "no_change", least=_NEXT_TO_NOTHING)
    return say(
        "ablation",
        "change",
        mean=f"{mean:.3f}" if mean >= _NEXT_TO_NOTHING / 2 else f"less than {_NEXT_TO_NOTHING:g}",
        largest=largest,
        alike="" if effect["correlation"] is None else f" ({_alike(effect['correlation'])})",
        calls=counted(calls, "subject") if calls else "no subject",
    )


def _alike(correlation: float) -> str:
    """A correlation of two sets of results, never rounded up to 1."""
    return "r > 0.9999" if correlation > 0.9999 else f"r = {math.floor(correlation * 1000) / 1000:.3f}"


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


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; nothing where it has no rows."""
    if not rows:
        return ""
    cells = [[escape_markdown(cell).replace("|", "\\|") for cell in row] for row in (columns, *rows)]
    head, *lines = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([head, "|" + "---|" * len(columns), *lines])


def with_interval(measured: Mapping[str, float | None], digits: int) -> str:
    """A metric with its interval, as far as they are defined.

    Parameters
    ----------
    measured : mapping
        ``value``, ``low`` and ``high``, as a card holds them.
    digits : int
    """
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "not defined"
    return f"{value:.{digits}f}" + ("" if low is None else f" [{low:.{digits}f}, {high:.{digits}f}]")


def _code_span(text: str) -> str:
    """Write text as code in Markdown, whatever stands in it, on one line.

    >>> print(_code_span("a"), _code_span("`b`"))
    `a` `` `b` ``
    """
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if "`" in text else ""
    return f"{fence}{space}{' '.join(text.split())}{space}{fence}"
