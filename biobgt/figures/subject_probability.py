"""Where a subject's probability lies among those of the subjects that a model was trained on, out of fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import NOT_A_DIAGNOSIS, percent
from biobgt.figures.curve import DASHES, Curve
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import LEGEND, Trace, layout, note_at_top, vertical_line
from biobgt.figures.model_figure import (
    ONE_MEMBER,
    AskedModelOptions,
    asked_model,
    group_colour,
    groups_of,
    known_group,
    subject_words,
)

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.data.cohort import Cohort
    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

MARKED_COLOUR = "#D0021B"
SHARE = "Share of each group"
BINS = 20
_MARKED = {"color": MARKED_COLOUR, "width": 2.5}


def _patients(cohort: "Cohort") -> str:
    return groups_of(cohort)[-1]


@dataclass(frozen=True)
class SubjectProbabilityOptions(AskedModelOptions):
    """Which model, and the probability of which group."""

    group: str = option(
        "",
        title="Probability of",
        help="The group whose probability is shown; by default the last one, the patients.",
        choices_of=groups_of,
        default_of=_patients,
        of_model=True,
        in_a_row=True,
        link="probability_of",
    )


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class SubjectProbability(Figure):
    """How a group's probability spreads over the subjects of each true group, and where one subject lies.

    Attributes
    ----------
    subject : str
    group : str
        Whose probability it is.
    probabilities : mapping of str to float
        The subject's, of every group.
    values : ndarray, shape (n_subjects,)
        Probability of ``group`` of the subjects that the model was trained on, out of fold.
    labels : ndarray of int, shape (n_subjects,)
        Their true groups, as positions in ``probabilities``.
    warning : str
        Why the subject's probability should not be believed; empty for no reason.
    subject_simulated, model_simulated : bool
    """

    key = "subject_probability"
    name = "A subject among a model's groups"
    takes = SubjectProbabilityOptions
    of_graph = False

    options: SubjectProbabilityOptions = field(default_factory=SubjectProbabilityOptions)
    subject: str
    group: str
    probabilities: Mapping[str, float]
    values: NDArray[np.float64]
    labels: NDArray[np.int64]
    warning: str = ""
    subject_simulated: bool = False
    model_simulated: bool = False

    @classmethod
    def of(cls, measured: "Measured", options: SubjectProbabilityOptions) -> Self:
        """Ask the model about the subject."""
        subject, model = measured.subject, asked_model(options, cls)
        group = known_group(model, options.group or model.group_names[-1])
        said = measured.prediction(model)
        if not said["prediction"]:
            raise InputError(said["warning"])
        return cls(
            **subject_words(model, said["warning"]),
            options=options,
            title=f"{subject.id} among the subjects of {model.name}",
            simulated=subject.simulated or model.simulated,
            subject=subject.id,
            group=group,
            probabilities={name: float(said[f"p_{name}"]) for name in model.group_names},
            values=model.groups.probabilities[:, model.group_names.index(group)],
            labels=model.groups.labels,
            warning=said["warning"],
            subject_simulated=subject.simulated,
            model_simulated=model.simulated,
        )

    @property
    def value(self) -> float:
        """The subject's probability."""
        return self.probabilities[self.group]

    @property
    def shares(self) -> "pd.DataFrame":
        """How many subjects of each true group were given a probability in each bin; see :func:`group_shares`."""
        return group_shares(self.values, self.labels, list(self.probabilities))

    @property
    def curves(self) -> list[Curve]:
        """Each group's shares as steps; neighbours differ in the dashes of their lines."""
        shares = self.shares
        found = []
        for k, name in enumerate(self.probabilities):
            own = shares[shares["group"] == name]
            x, y = own[["from", "to"]].to_numpy().ravel(), np.repeat(own["share"].to_numpy(), 2)
            title = f"{name} (n = {own['subjects'].sum():,})"
            found.append(Curve(title, x, y, group_colour(name), dash=DASHES[k % len(DASHES)]))
        return found

    @property
    def x_title(self) -> str:
        """What the axis of probabilities is called."""
        return f"Probability of {self.group}"

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per group and bin, with the subject's own probabilities."""
        own = {f"p_{name} of the subject": value for name, value in self.probabilities.items()}
        return self.shares.assign(subject=self.subject, **own)

    @property
    def caption(self) -> str:
        """Where the subject lies among those left out of a member's training."""
        from biobgt.training.card_text import share_below

        groups = list(self.probabilities)
        trained = ", with simulated patients" if self.model_simulated else ""
        whom = f"simulated subject {self.subject}" if self.subject_simulated else f"subject {self.subject}"
        doubt = f" Its probability may be meaningless: {self.warning}." if self.warning else ""
        return (
            f"Model {self.options.model}{trained}: probability of {self.group} for subjects of {', '.join(groups)}, "
            f"out of fold, each from {ONE_MEMBER}. The more the curves overlap, the less a probability says. The line "
            f"is {whom}, given {percent(self.value)} by the mean of all members' log-odds: "
            f"{share_below(self.labels, self.values, groups, self.value)}{doubt} {NOT_A_DIAGNOSIS}"
        )

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        traces = [_spread(curve) for curve in self.curves]
        anchor = "right" if self.value > 0.5 else "left"
        frame = {
            **layout(self.title, self.simulated, height=420, top=90),
            "xaxis": {"title": {"text": escape(self.x_title, quote=False)}, "range": [0, 1]},
            "yaxis": {"title": {"text": SHARE}, "tickformat": ".0%", "rangemode": "tozero"},
            "legend": LEGEND,
            "shapes": [vertical_line(self.value, _MARKED)],
            "annotations": [
                note_at_top(self.value, escape(self.subject, quote=False), anchor=anchor, font={"size": 13})
            ],
        }
        return go.Figure(traces, frame)

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.performance_drawings import draw_probability

        return draw_probability(self, style)


def _spread(curve: Curve) -> Trace:
    return {
        "type": "scatter",
        "x": curve.x,
        "y": curve.y,
        "mode": "lines",
        "fill": "tozeroy",
        "opacity": 0.8,
        "name": escape(curve.name, quote=False),
        "line": curve.line,
        "hovertemplate": "probability about %{x:.2f}<br>%{y:.1%} of the group<extra></extra>",
    }


def group_shares(values: NDArray[np.float64], labels: NDArray[np.int64], groups: Sequence[str]) -> "pd.DataFrame":
    """Count how many subjects of each true group were given a probability in each of twenty bins.

    Parameters
    ----------
    values : ndarray, shape (n_subjects,)
    labels : ndarray of int, shape (n_subjects,)
        True groups, as positions in ``groups``.
    groups : sequence of str

    Returns
    -------
    DataFrame
        ``group``, ``from``, ``to``, ``subjects`` and ``share`` of the group.
    """
    import pandas as pd

    edges = np.linspace(0, 1, BINS + 1)
    frames = []
    for k, name in enumerate(groups):
        found = np.histogram(values[labels == k], bins=edges)[0]
        share = found / max(1, found.sum())
        columns = {"group": name, "from": edges[:-1], "to": edges[1:], "subjects": found, "share": share}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)
