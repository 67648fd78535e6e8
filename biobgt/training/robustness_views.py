"""What a card says of worse recordings, motion and the mean of members, as tables and sentences; without torch."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from biobgt.wording import counted, percent

NOT_MEASURED = "How the model answers to noise has not been measured."
NO_CORRUPTION = "What short, spiky or otherwise corrupted scans do to predictions has not been measured."
_NOISE_WORDS = {0: "as recorded", None: "noise alone"}


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


def recordings_table(card: Mapping[str, Any], *, probabilities: bool = True) -> pd.DataFrame:
    """What worse recordings do to predictions, as text: one row per level of noise and kind of corruption.

    Parameters
    ----------
    card : mapping
    probabilities : bool
        Whether mean probabilities are among them.
    """
    first, *others = card["groups"]
    rows = []
    for name, one in _recordings(card):
        flips = one.get("flips")  # not on cards made before it was counted
        row = {"Recording": name, "Subjects": str(one["n"])}
        if probabilities:
            row |= {f"Mean probability of {group}": _share(one["probability"][group]) for group in others}
        row |= {f"Changed from {first}": percent(one["to_patient"]), f"Changed to {first}": percent(one["to_control"])}
        row["Changed, with a warning"] = "–" if flips is None else f"{one['flips_warned']} of {flips}"
        row |= {"With a warning": percent(one["warned"]), "Not predicted": str(one["refused"])}
        rows.append(row)
    return pd.DataFrame(rows)


def corruption_words(card: Mapping[str, Any]) -> str:
    """Say which way corrupted scans lean, and how many changed and unchanged predictions carry a warning."""
    answers = card.get("corruption")
    if not answers:
        return NO_CORRUPTION
    first, quiet = card["groups"][0], card["noise"][0]
    flips, warned = (sum(one[key] for one in answers) for key in ("flips", "flips_warned"))
    away, back = (
        sum(round(one[key] * (one["n"] - one["refused"])) for one in answers) for key in ("to_patient", "to_control")
    )
    n = max(one["n"] for one in answers)
    return (
        f"Other corruptions ({len(answers)} kinds, up to {counted(n, 'held-out subject')} each): "
        f"{flips} predictions change, {away} from {first} to another group and {back} to {first}; {warned} of "
        f"the {flips} carry a warning. So do {percent(quiet['warned'])} of the scans as recorded (false alarms)."
    )


def _recordings(card: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Every kind of recording by its name in words, the unchanged one first."""
    noisy = [
        (_NOISE_WORDS.get(one["sd"], f"white noise, {noise_level(one['sd'])}"), one) for one in card.get("noise") or ()
    ]
    return noisy + [(one["kind"], one) for one in card.get("corruption") or ()]


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
        ("timepoints", "{} to {} time points (95 % of them)", "{:.0f}"),
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
