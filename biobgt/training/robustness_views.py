"""What a card says of noise, motion and the mean of members, as tables and sentences; nothing here needs torch."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from biobgt.wording import counted, percent

NOT_MEASURED = "How the model answers to noise has not been measured."


def noise_level(sd: float | None) -> str:
    """A level of noise in words."""
    if sd is None:
        return "noise alone"
    return "none" if sd == 0 else f"SD {sd:g}"


def noise_points(card: Mapping[str, Any]) -> pd.DataFrame:
    """The noise response: one row per level and group.

    Returns
    -------
    DataFrame
        ``noise`` in words, ``group``, mean ``probability``, share ``called`` so and share ``warned``; without rows
        where it was not measured.
    """
    rows = [
        (noise_level(one["sd"]), group, one["probability"][group], one["called"][group], one["warned"])
        for one in card.get("noise") or ()
        for group in card["groups"]
    ]
    table = pd.DataFrame(rows, columns=["noise", "group", "probability", "called", "warned"])
    return table.astype({"probability": float, "called": float})


def noise_table(card: Mapping[str, Any]) -> pd.DataFrame:
    """The same as text, one row per level."""
    rows = []
    for one in card.get("noise") or ():
        row = {"Noise added": noise_level(one["sd"])}
        row |= {f"Mean probability of {group}": _share(one["probability"][group]) for group in card["groups"]}
        row |= {f"Called {group}": _share(one["called"][group], in_percent=True) for group in card["groups"]}
        row |= {"With a warning": _share(one["warned"], in_percent=True), "Not predicted": str(one["refused"])}
        rows.append(row)
    return pd.DataFrame(rows)


def noise_words(card: Mapping[str, Any]) -> str:
    """Say what happens to probabilities and calls when noise as strong as the signal is added."""
    answers = card.get("noise")
    if not answers:
        return NOT_MEASURED
    last = card["groups"][-1]
    quiet, equal = answers[0], _at(answers, 1.0)
    said = (
        f"White noise on z-scored series of {counted(quiet['n'], 'subject')}, each subject predicted by the ensemble "
        f"member not trained on it. Without noise the mean probability of {last} is "
        f"{_share(quiet['probability'][last])}"
    )
    if equal is not None:
        said += (
            f", with noise as strong as the signal (SD 1) {_share(equal['probability'][last])}: "
            f"{percent(equal['to_patient'])} of subjects change from {card['groups'][0]} to another group, "
            f"{percent(equal['to_control'])} change to {card['groups'][0]}"
        )
    pure = _at(answers, None)
    if pure is not None and pure["probability"][last] is not None:
        said += (
            f". Noise alone gets {_share(pure['probability'][last])}, and {percent(pure['warned'])} of such subjects "
            "carry a warning or are not predicted"
        )
    return f"{said}."


def range_words(card: Mapping[str, Any]) -> str:
    """Where the training subjects lie: whoever lies elsewhere is warned of."""
    ranges = card["familiarity"]
    shown = (
        ("mean_correlation", "mean correlation {} to {}", "{:.2f}"),
        ("strength", "mean |FC| {} to {}", "{:.2f}"),
        ("timepoints", "{} to {} time points", "{:.0f}"),
        ("effective_timepoints", "worth {} to {} independent ones", "{:.0f}"),
    )
    known = [(words, form, ranges[name]) for name, words, form in shown if ranges.get(name)]
    # + 0.0: no minus zero
    return ", ".join(words.format(*(form.format(round(end, 2) + 0.0) for end in ends)) for words, form, ends in known)


def motion_words(card: Mapping[str, Any]) -> str:
    """Say what motion alone gives."""
    motion = card.get("motion")
    return "What motion alone gives has not been measured." if not motion else str(motion["words"])


def nested_words(card: Mapping[str, Any]) -> str:
    """Say what new subjects get, and what that is worth."""
    said = f"New subjects get the mean log-odds of the {counted(len(card['temperatures']), 'ensemble member')}."
    nested = card.get("nested")
    if not nested:
        return f"{said} The accuracy of this mean has not been measured."
    auc, accuracy, single = nested["mean"]["auc"], nested["mean"]["accuracy"], nested["single"]
    which = "all" if nested["outer_folds"] == nested["folds"] else f"{nested['outer_folds']} of"
    return (
        f"{said} Nested folds ({which} {nested['folds']}, {nested['n']} subjects, an ensemble trained without each of "
        f"them): AUC {_interval(auc)}, accuracy {_interval(accuracy)}, Brier score "
        f"{nested['mean']['brier']['value']:.3f}, calibration error {nested['mean']['ece']['value']:.3f} "
        f"({nested['mean']['ece']['by_chance']:.3f} by chance); a single member on the same subjects: AUC "
        f"{single['auc']['value']:.2f}, accuracy {single['accuracy']['value']:.2f}."
    )


def _at(answers: Sequence[Mapping[str, Any]], sd: float | None) -> Mapping[str, Any] | None:
    return next((one for one in answers if one["sd"] == sd), None)


def _interval(measured: Mapping[str, float | None]) -> str:
    value, low, high = (measured[key] for key in ("value", "low", "high"))
    if value is None:
        return "not defined"
    return f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _share(value: float | None, *, in_percent: bool = False) -> str:
    if value is None:
        return "–"
    return percent(value) if in_percent else f"{value:.2f}"
