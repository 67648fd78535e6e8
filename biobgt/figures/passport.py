"""Figure of how far a subject's recording may be worse before a model calls it otherwise."""

from typing import TYPE_CHECKING

import numpy as np

from biobgt.base.colours import RED
from biobgt.base.wording import NOT_A_DIAGNOSIS, percent
from biobgt.data.corruptions import WORSENINGS
from biobgt.figures.drawing import Axis, Curve, Drawing, Mark, Panel, Points, Rule
from biobgt.figures.models import SubjectProbabilityOptions
from biobgt.figures.register import figure
from biobgt.figures.which_model import (
    OTHER_COLOUR,
    asked_model,
    group_colour,
    known_group,
    subject_methods,
)

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.model.passport import Limit
    from biobgt.results.measured import Measured

_METHODS = (
    "The subject's z-scored series were made worse step by step, and the model was asked about each: the end was left "
    "out; white noise, spikes of 5 SD or a common signal with the regions' mean spectrum was added; or the fastest "
    "frequencies were filtered out. A warning counts that the recording as it is does not carry."
)


@figure("prediction_passport", "What flips the call?", takes=SubjectProbabilityOptions, of_graph=False, least_mm=140)
def prediction_passport(measured: "Measured", options: SubjectProbabilityOptions) -> Drawing:
    """How a probability moves with a worse recording of the same subject, and where the call flips."""
    from biobgt.model.passport import limits_of, verdict

    subject, model = measured.subject, asked_model(options, "prediction_passport")
    group = known_group(model, options.group or model.group_names[-1])
    table = measured.passport(model)
    limits, p = {one.kind: one for one in limits_of(table)}, float(table[f"p_{group}"].iloc[0])
    whom = f"simulated subject {subject.id}" if subject.simulated else f"subject {subject.id}"
    call = table["prediction"].iloc[0]
    trained = ", with simulated patients" if model.simulated else ""
    return Drawing(
        title=f"What would flip the call of {subject.id}?",
        simulated=subject.simulated or model.simulated,
        panels=[_panel(kind, table, limits[kind], group, colour=group_colour(group)) for kind in WORSENINGS],
        caption=(
            f"{verdict(table)} Model {options.model}{trained}, {whom}: the probability of {group}, {percent(p)} as "
            f"recorded (called {call}), in worse recordings made of the same series. Hollow marks carry a warning that "
            "the recording itself does not; red lines are where the call flips first: "
            f"{_where(list(limits.values()))}. {NOT_A_DIAGNOSIS}"
        ),
        numbers=lambda: table.assign(subject=subject.id),
        columns=len(WORSENINGS),
        legend="none",
        height=280,
        aspect=0.3,
        methods=(*subject_methods(model, measured.prediction(model)["warning"]), _METHODS),
    )


def _where(limits: "list[Limit]") -> str:
    """Where every kind flips the call."""
    said = []
    for one in limits:
        if one.flips_at is None:
            said.append(f"{WORSENINGS[one.kind].name}: not by what was tried")
        else:
            warned = "without a warning" if one.unseen else "with a warning"
            said.append(f"{one.words} (to {one.to}, {warned})")
    return "; ".join(said)


def _panel(kind: str, table: "pd.DataFrame", limit: "Limit", group: str, *, colour: str) -> Panel:
    """A group's probability against the strength of one kind of corruption, in steps."""
    worsening, rows = WORSENINGS[kind], table[table["kind"] == kind]
    values = np.concatenate([table[f"p_{group}"].iloc[:1], rows[f"p_{group}"]]).astype(np.float64)
    names = ["0", *map(worsening.tick, worsening.strengths)]
    warned = np.array([False, *(rows["warning"] != "")])
    places = np.arange(len(names))
    hover = f"{worsening.title} %{{x}}\np({group}) %{{y:.2f}}"
    marks: list[Mark] = [Curve(colour=colour, x=places, y=values, thin=True)]
    for hollow in (False, True):
        own = (warned == hollow) & np.isfinite(values)
        if not own.any():
            continue
        marks.append(Points(colour=colour, x=places[own], y=values[own], hollow=hollow, size=8, hover=hover))
    if limit.flips_at is not None:
        marks.append(Rule(x=1 + worsening.strengths.index(limit.flips_at), colour=RED, thin=True))
    marks.append(Rule(y=0.5, colour=OTHER_COLOUR, dash="dot", thin=True))
    y = Axis(title=f"Probability of {group}", limits=(-0.01, 1.01))
    return Panel(marks=marks, x=Axis(title=worsening.title, names=names), y=y)
