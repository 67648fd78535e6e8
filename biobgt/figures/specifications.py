"""Would it survive? A finding in all the ways in which it was measured: estimates in order, and the choices below."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biobgt.base.colours import BLUE, LINE_GREY, ORANGE, VERMILION
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import adjusted_for, capitalised, percent
from biobgt.figures.connectivity import estimated_with
from biobgt.figures.drawing import Axis, Band, Drawing, Mark, Panel, Points, Rule
from biobgt.figures.register import figure
from biobgt.specifications.options import FindingKey, SurvivalOptions

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.results.measured import Measured
    from biobgt.specifications.curve import SpecificationCurve

_ROW, _CURVE, _AROUND = 19, 240, 150  # px
_LOOKS: dict[str, dict[str, Any]] = {
    "holds": {"colour": BLUE, "symbol": "circle"},
    "same sign, not clear": {"colour": LINE_GREY, "symbol": "circle", "hollow": True},
    "other sign": {"colour": ORANGE, "symbol": "square"},
    "other verdict": {"colour": ORANGE, "symbol": "square"},
}


@dataclass(frozen=True)
class _CohortSurvivalOptions(SurvivalOptions):
    """A finding of groups, or of all people."""

    finding: FindingKey = option("segregation", title="Finding", help="A finding of groups, a score, or all people.")


@figure(
    "specification_curve",
    "Would it survive, in people?",
    takes=_CohortSurvivalOptions,
    of_subject=False,
    least_mm=114,
)
def specification_curve(measured: "Measured", options: SurvivalOptions) -> Drawing:
    """A finding of people in all reasonable ways: its estimates in order with intervals, and the choices of each."""
    return _measured_curve(measured, options, of_subject=False)


@figure("subject_specification_curve", "Would it survive, in a subject?", takes=SurvivalOptions, least_mm=114)
def subject_specification_curve(measured: "Measured", options: SurvivalOptions) -> Drawing:
    """A finding of one subject in all reasonable ways: its estimates in order with intervals, and the choices."""
    return _measured_curve(measured, options, of_subject=True)


def _measured_curve(measured: "Measured", options: SurvivalOptions, *, of_subject: bool) -> Drawing:
    from biobgt.specifications.findings import FINDINGS
    from biobgt.specifications.run import specification_curve as measure

    if (FINDINGS[options.finding].whom == "subject") != of_subject:
        other = subject_specification_curve if not of_subject else specification_curve
        whose = "people" if of_subject else "one subject"
        raise InputError(f"The finding '{options.finding}' is one of {whose}. Take the figure '{other.key}'.")
    return curve_drawing(measured, measure(measured, options))


def curve_drawing(measured: "Measured", curve: "SpecificationCurve") -> Drawing:
    """The drawing of a curve.

    Parameters
    ----------
    measured : Measured
        Of the subject, or of the cohort.
    curve : SpecificationCurve
    """
    rows = curve.known.assign(reference=curve.known.index == 0)
    rows = rows.sort_values("estimate", kind="stable").reset_index(drop=True)
    n_values = sum(rows[key].nunique() for key in curve.titles)
    below = max(n_values, 1) * _ROW
    said = curve.sentence
    return Drawing(
        title=curve.words,
        simulated=curve.simulated,
        panels=[_estimates(curve, rows), _choices(curve, rows, below / _CURVE)],
        caption=_caption(curve),
        line=said,
        numbers=lambda: rows,
        legend="above",
        height=_AROUND + _CURVE + below,
        aspect=0.3,
        methods=_methods(curve),
        citations=estimated_with(measured),
    )


def _kinds(curve: "SpecificationCurve", rows: "pd.DataFrame") -> dict[str, np.ndarray]:
    """Which specifications hold, are not clear, and turn, by the name of their look."""
    holds, same = rows["holds"].to_numpy(bool), rows["same_sign"].to_numpy(bool)
    if curve.is_verdict:
        return {"holds": holds, "other verdict": ~holds}
    return {"holds": holds, "same sign, not clear": same & ~holds, "other sign": ~same}


def _estimates(curve: "SpecificationCurve", rows: "pd.DataFrame") -> Panel:
    """Estimates in order with their intervals, the settings given marked, and what chance gives."""
    places, values = np.arange(len(rows)), rows["estimate"].to_numpy(float)
    marks: list[Mark] = []
    if curve.joint is not None and len(curve.joint.curve_low) == len(rows):
        low, high = curve.joint.curve_low, curve.joint.curve_high
        marks.append(Band(name="by chance (95 %)", colour=LINE_GREY, x=places, low=low, high=high))
    marks.append(Rule(y=0, colour=LINE_GREY, dash="dot"))
    texts = [_hover(curve, row) for _, row in rows.iterrows()]
    for name, chosen in _kinds(curve, rows).items():
        if chosen.any():
            ends = {end: rows[end].to_numpy(float)[chosen] for end in ("low", "high")}
            known = np.isfinite(ends["low"]).all()
            marks.append(
                Points(
                    name=name,
                    x=places[chosen],
                    y=values[chosen],
                    size=6,
                    hover="%{text}",
                    texts=[text for text, its in zip(texts, chosen, strict=True) if its],
                    **(ends if known else {}),
                    **_LOOKS[name],
                )
            )
    own = rows["reference"].to_numpy(bool)
    if own.any():
        look: dict[str, Any] = {"name": "settings given", "colour": VERMILION, "symbol": "diamond", "size": 11}
        own_text = [text for text, its in zip(texts, own, strict=True) if its]
        marks.append(Points(x=places[own], y=values[own], hover="%{text}", texts=own_text, **look))
    return Panel(marks=marks, y=Axis(title=capitalised(curve.quantity).replace(" of ", "\nof ")))


def _hover(curve: "SpecificationCurve", row: "pd.Series[Any]") -> str:
    """A specification as the pointer tells it."""
    said = f"{curve.quantity} {row['estimate']:.2f}"
    if np.isfinite(row["low"]):
        said += f" [{row['low']:.2f}, {row['high']:.2f}]"
    if np.isfinite(row["p"]):
        said += f", p {row['p']:.2g}"
    return "\n".join([said, *(f"{title}: {row[key]}" for key, title in curve.titles.items())])


def _choices(curve: "SpecificationCurve", rows: "pd.DataFrame", height: float) -> Panel:
    """A row per value of a choice, with a dot where a specification has it."""
    names: list[str] = []
    beside: list[str] = []
    xs: list[np.ndarray] = []
    ys: list[np.ndarray] = []
    explained = curve.explained()
    for key, title in sorted(curve.titles.items(), key=lambda pair: -explained[pair[0]]):
        for number, value in enumerate(value for one, value in curve.where if one == key):
            own = np.flatnonzero(rows[key].to_numpy() == value)
            xs.append(own)
            ys.append(np.full(len(own), len(names)))
            names.append(f"{title}: {value}" if number == 0 else str(value))
            beside.append(percent(explained[key]) if number == 0 else "")
    x, y = (np.concatenate(parts) if parts else np.empty(0, int) for parts in (xs, ys))
    marks: list[Mark] = []
    for name, chosen in _kinds(curve, rows).items():
        own = chosen[x] if len(x) else np.zeros(0, bool)
        if own.any():
            marks.append(Points(name=name, x=x[own], y=y[own], size=6, **_LOOKS[name]))
    return Panel(
        marks=marks,
        height=height,
        x=Axis(title="Specifications, in order of their estimates", limits=(-1, len(rows)), whole=True),
        y=Axis(names=names, beside=beside, limits=(-0.6, max(len(names), 1) - 0.4), reversed=True),
    )


def _caption(curve: "SpecificationCurve") -> str:
    """What the figure shows, for paper and screen readers."""
    drawn = ""
    if len(curve.table) < curve.n_possible:
        drawn = f" {len(curve.table):,} of {curve.n_possible:,} ways were drawn with seed {curve.options.seed}."
    band = " The band is where the curve lies by chance (95 %)." if curve.joint is not None else ""
    shares = f"{percent(curve.same_sign)} of the ways have the sign of the settings given and {percent(curve.clear)}"
    clear = "" if curve.is_verdict else f" {shares} are clear, whatever their sign."
    simulated = " (simulated)" if curve.simulated else ""
    parts = [
        f"{curve.sentence} {curve.definition}{clear} Measured on {curve.whom}{simulated}.{drawn}",
        f"Above, the estimates of all ways in order with their 95 % intervals, as far as there are any.{band} The "
        f"diamond is the settings given ({curve.graph}). Below, the choices of each way; percentages are the share of "
        "the estimates' variance that a choice explains beyond the others.",
        curve.joint_words,
        *curve.notes,
    ]
    return " ".join(part for part in parts if part)


def _methods(curve: "SpecificationCurve") -> tuple[str, ...]:
    """How the curve was made, in sentences with citations."""
    values = {key: [value for one, value in curve.where if one == key] for key in curve.titles}
    choices = "; ".join(f"{title.lower()}: {', '.join(values[key])}" for key, title in curve.titles.items())
    said = [
        f"The finding was: {curve.words}. It was measured in {len(curve.table):,} ways (specifications), "
        f"{'all' if len(curve.table) == curve.n_possible else f'a random part of {curve.n_possible:,}'} combinations "
        f"of these choices [@simonsohn2020; @steegen2016]: {choices}.",
        f"At the settings given, connectivity and graphs were these: {curve.graph}.",
        curve.definition,
        "The share of the variance of the estimates that a choice explains is that of its main effect beyond those of "
        "all other choices (η²).",
    ]
    if curve.joint is not None:
        said.append(f"Every way was {adjusted_for(curve.covariates)}, and for what else the choices say.")
        said.append(
            "Each way was tested by permuting the residuals of the covariates after Freedman and Lane [@winkler2014], "
            "with the same permutations of people in all ways; the median estimate of the whole curve and the share of "
            "ways that are significant in one direction were compared with those of the same permutations "
            "[@simonsohn2020]."
        )
    return tuple(said)
