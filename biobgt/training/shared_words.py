"""The card of a network that several cohorts share, in words: what each readout is worth, and how groups compare."""

from collections.abc import Mapping, Sequence
from typing import Any

from biobgt.covariate_words import covariate_words
from biobgt.false_discoveries import FDR, discovery_rates, passes
from biobgt.training.card_words import contrast_line, table_lines
from biobgt.training.cohort_stories import STORIES
from biobgt.training.hub_header import hub_header
from biobgt.wording import code_span, counted, listed, plain_markdown, signed

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
    lines = [f"# {plain_markdown(card['name'])}", "", plain_markdown(card["headline"]), ""]
    said = f"{data['title']}; {subjects}. {data['terms']} Cite {data['citation']}."
    lines += [f"- Data: {plain_markdown(said)}"]
    lines += [f"- Protocol: {plain_markdown(card['protocol'])}"]
    lines += [f"- Made by {code_span(card['training']['command'])}, seed {card['training']['seed']}."]
    folders = listed([f"`{one['cohort']}/`" for one in card["readouts"]])
    lines += [f"- Results of each readout, beside linear models on the same folds, are in {folders}.", ""]
    lines += [contrast_line(card), ""]
    if rows := likeness_rows(card):
        columns = ["difference", "beside", "r", "r expected by chance", "p"]
        lines += [plain_markdown(likeness_words(card)), "", *table_lines(columns, rows), ""]
    lines += ["Limits:", "", *(f"- {plain_markdown(limit)}" for limit in card["limits"])]
    return hub_header(card) + "\n".join(lines) + "\n"


def _difference(between: Sequence[str]) -> str:
    return f"{between[1]} − {between[0]}"


def _number(value: float | None, digits: int) -> str:
    return signed(float("nan") if value is None else value, digits)
