"""Figures of how good a trained model is: ROC, reliability, noise, results beside others, a subject beside groups.

What is of a model's card is out of fold: every subject was seen by a member that had not met it. What is of a cohort
is of other people, and usually of few.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biobgt.base.colours import BLUE, MODULE_COLOURS, RED
from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.base.wording import NOT_A_DIAGNOSIS, counted, listed, percent
from biobgt.figures.drawing import DASHES, Axis, Curve, Drawing, Mark, Panel, Points, Rule
from biobgt.figures.register import NoOptions, figure, model_figure
from biobgt.figures.which_model import (
    ONE_MEMBER,
    OTHER_COLOUR,
    ChosenModelOptions,
    asked_model,
    group_colour,
    groups_of,
    known_group,
    model_drawing,
    model_methods,
    model_of,
    model_opening,
    subject_methods,
)
from biobgt.model.pretrained import InstalledModel
from biobgt.model.systems import BASELINES, benchmark_systems, kinds_of_baselines

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.data.cohort import Cohort
    from biobgt.results.measured import Measured
    from biobgt.training.tables import CohortResults

_OWN_MODEL, _OWN_COLOUR = "BioBGT", BLUE  # beside other models
OBSERVED = "observed, 95 % interval"
HERE, PAPER = "here, 95 % interval", "the paper, another selection of subjects"
BENCHMARKED = "abide-cc200"  # the model of the subjects on which the benchmark was run
_OF_CARD, _OF_COHORT = "card", "this cohort"
_BINS = 20
_SQUARE: dict[str, Any] = {"legend": "above", "height": 460, "square_mm": 70.0}
_UNIT = (-0.01, 1.01)  # axes of shares
_METRICS: Mapping[str, str] = {"auc": "AUC", "accuracy": "Accuracy"}
_LONG = 50  # characters of a name that fit beside the marks of a narrow page; two lines in a row would overlap
_ROC = "sensitivity against 1 − specificity over all thresholds"


def _roc_of(curves: "Mapping[str, pd.DataFrame]") -> dict[str, Any]:
    """ROC curves with the line of chance, as a drawing takes them.

    Parameters
    ----------
    curves : mapping of str to DataFrame
        ``false_positive_rate`` and ``true_positive_rate``, by name.
    """
    marks = [
        Curve(
            name=name,
            colour=MODULE_COLOURS[i % len(MODULE_COLOURS)],
            x=curve["false_positive_rate"].to_numpy(),
            y=curve["true_positive_rate"].to_numpy(),
            steps=True,
            hover="1 − specificity %{x:.2f}\nsensitivity %{y:.2f}",
        )
        for i, (name, curve) in enumerate(curves.items())
    ]
    x, y = Axis(title="1 − specificity", limits=_UNIT), Axis(title="Sensitivity", limits=_UNIT)
    panel = Panel(marks=[_diagonal("chance"), *marks], x=x, y=y)
    return {"panels": [panel], "numbers": lambda: _stacked("curve", curves), **_SQUARE}


def _diagonal(name: str) -> Curve:
    return Curve(name=name, colour=OTHER_COLOUR, x=[0, 1], y=[0, 1], dash="dot", thin=True)


def _stacked(column: str, tables: "Mapping[str, pd.DataFrame]") -> "pd.DataFrame":
    """Tables below each other, with a column that says which rows are of which."""
    import pandas as pd

    return pd.concat([one.assign(**{column: name}) for name, one in tables.items()], ignore_index=True)


def _card_curves(model: InstalledModel) -> "Mapping[str, pd.DataFrame]":
    from biobgt.training.tables import group_curves

    return group_curves(model.groups.labels, model.groups.probabilities, model.group_names)


def _model_with_results(measured: "Measured", figure: str) -> InstalledModel:
    """The model whose cohort was measured, if its card has results: of a shared network, each readout's card does."""
    model = model_of(measured, figure)
    if model.readouts:
        named = listed([f"model:{model.name}/{cohort}" for cohort in model.readouts])
        raise InputError(
            f"Model {model.name} has no results of its own: several cohorts share it, and each has its own in "
            f"{named}. Name one of these."
        )
    return model


@model_figure("roc", "ROC curves")
def roc(measured: "Measured", options: NoOptions) -> Drawing:
    """ROC curves of a model, of probabilities out of fold."""
    model = _model_with_results(measured, "roc")
    auc = model.card["results"][_OWN_MODEL]["auc"]
    value, low, high = (auc[key] for key in ("value", "low", "high"))
    area = "not defined" if value is None else f"{value:.2f}"
    reach = f" (95 % interval {low:.2f} to {high:.2f})" if low is not None and high is not None else ""
    return model_drawing(
        model,
        f"{_ROC}, in {len(model.groups.labels):,} subjects, with probabilities from {ONE_MEMBER}. Area under the curve "
        f"{area}{reach}; the dotted line is chance.",
        title=f"ROC, {model.name}",
        **_roc_of(_card_curves(model)),
    )


def _reliability_of(event: str, *shares: Points) -> dict[str, Any]:
    """Observed shares against claimed probabilities, with the line on which they are equal, as a drawing takes them.

    Parameters
    ----------
    event : str
        What is claimed, such as ``ASD``.
    *shares : Points
        Of :func:`_observed_shares`.
    """
    x = Axis(title=f"Claimed probability of {event}", limits=_UNIT)
    y = Axis(title=f"Observed share of {event}", limits=_UNIT)
    return {"panels": [Panel(marks=[_diagonal("as claimed"), *shares], x=x, y=y)], **_SQUARE}


def _observed_shares(name: str, curve: "pd.DataFrame", colour: str, **look: Any) -> Points:
    """What was observed where a probability was claimed, with Wilson intervals.

    Parameters
    ----------
    name : str
    curve : DataFrame
        ``predicted``, ``observed``, ``observed_low``, ``observed_high`` and ``n``, one row per bin.
    colour : str
    **look
        Further attributes of :class:`Points`.
    """
    x, y, low, high = (
        curve[column].to_numpy() for column in ("predicted", "observed", "observed_low", "observed_high")
    )
    return Points(
        name=name,
        colour=colour,
        x=x,
        y=y,
        low=np.minimum(low, y),  # rounding may leave a bound a hair on the wrong side
        high=np.maximum(high, y),
        size=8,
        hover="claimed %{x:.0%}\nobserved %{y:.0%}\n%{text} subjects",
        texts=[str(n) for n in curve["n"]],
        **look,
    )


def _card_reliability(model: InstalledModel) -> "pd.DataFrame":
    from biobgt.training.metrics import reliability_curve

    return reliability_curve(model.groups.labels, model.groups.probabilities)


def _claim_words(event: str) -> str:
    """What is observed against what is claimed, for captions."""
    from biobgt.training.tables import MOST_PROBABLE

    if event == MOST_PROBABLE:
        return "how often the most probable group was the true one, against its probability"
    return f"how often subjects were {event}, against the claimed probability of {event}"


@model_figure("reliability", "Reliability of probabilities")
def reliability(measured: "Measured", options: NoOptions) -> Drawing:
    """Observed shares against claimed probabilities of a model, out of fold."""
    from biobgt.training.tables import CardTables

    model = _model_with_results(measured, "reliability")
    curve, event = _card_reliability(model), CardTables(model.card).claimed_event
    off = model.card["results"][_OWN_MODEL]["ece"]["value"]
    away = "" if off is None else f" Mean distance from the dotted line {100 * off:.1f} percentage points."
    return model_drawing(
        model,
        f"{_claim_words(event)}, in {len(curve)} bins of {int(curve['n'].sum()):,} subjects, with 95 % Wilson "
        f"intervals.{away} Probabilities are out of fold, each from {ONE_MEMBER}. New subjects get the mean log-odds "
        "of all members instead, so for them this curve holds only approximately.",
        title=f"Reliability, {model.name}",
        numbers=lambda: curve,
        **_reliability_of(event, _observed_shares(OBSERVED, curve, _OWN_COLOUR, joined=True)),
    )


@figure("cohort_roc", "ROC curves in a cohort", takes=ChosenModelOptions, of_subject=False, of_graph=False)
def cohort_roc(measured: "Measured", options: ChosenModelOptions) -> Drawing:
    """ROC curves of a cohort whose groups are known, beside those of the model's card."""
    from biobgt.training.tables import group_curves

    model = asked_model(options, "cohort_roc")
    found = _results_of(measured, model)
    own = group_curves(found.labels, found.probabilities, found.groups)
    curves = {f"{name}, {_OF_CARD}": curve for name, curve in _card_curves(model).items()}
    curves |= {f"{name}, {_OF_COHORT}": curve for name, curve in own.items()}
    return Drawing(
        title=f"ROC in this cohort, {model.name}",
        simulated=measured.cohort.simulated or model.simulated,
        caption=_beside_card(measured, model, found, f"{_ROC},", "; the dotted line is chance."),
        **_roc_of(curves),
        methods=_cohort_methods(model, found),
    )


@figure(
    "cohort_reliability",
    "Reliability of probabilities in a cohort",
    takes=ChosenModelOptions,
    of_subject=False,
    of_graph=False,
)
def cohort_reliability(measured: "Measured", options: ChosenModelOptions) -> Drawing:
    """Observed shares against claimed probabilities of a cohort, beside those of the model's card."""
    from biobgt.training.metrics import reliability_curve
    from biobgt.training.tables import CardTables

    model = asked_model(options, "cohort_reliability")
    found, event = _results_of(measured, model), CardTables(model.card).claimed_event
    card, own = _card_reliability(model), reliability_curve(found.labels, found.probabilities)
    marks = [
        _observed_shares(f"{_OF_CARD}: {OBSERVED}", card, _OWN_COLOUR, joined=True),
        _observed_shares(f"{_OF_COHORT}: {OBSERVED}", own, MODULE_COLOURS[1], symbol="diamond"),
    ]
    right = ", with 95 % Wilson intervals. The dotted line is a probability that is right as often as it claims."
    return Drawing(
        title=f"Reliability in this cohort, {model.name}",
        simulated=measured.cohort.simulated or model.simulated,
        caption=_beside_card(measured, model, found, f"{_claim_words(event)},", right),
        numbers=lambda: _stacked("of", {_OF_CARD: card, _OF_COHORT: own}),
        **_reliability_of(event, *marks),
        methods=_cohort_methods(model, found),
    )


def _results_of(measured: "Measured", model: InstalledModel) -> "CohortResults":
    """What the model says of the cohort's subjects of known group; refused where it does not fit, or they are few."""
    from biobgt.training.tables import CohortResults

    cohort = measured.cohort
    if refusal := model.refusal(cohort):
        raise InputError(refusal)
    said = [measured.of(subject).prediction(model) for subject in cohort.ids]
    found = CohortResults.of(cohort, model.group_names, said)
    if not found.is_enough:
        raise InputError(too_few_words(cohort, model))
    return found


def too_few_words(cohort: "Cohort", model: InstalledModel) -> str:
    """Say how many subjects of known group it takes."""
    from biobgt.training.tables import FEWEST_PER_GROUP

    return (
        f"To compare cohort '{cohort.name}' with the card of model {model.name}, {FEWEST_PER_GROUP} subjects of every "
        f"group of the model are needed ({', '.join(model.group_names)})."
    )


def _beside_card(measured: "Measured", model: InstalledModel, found: "CohortResults", what: str, drawn: str) -> str:
    """Whose the curves or points are."""
    subject = "simulated subject" if measured.cohort.simulated else "subject"
    return (
        f"{model_opening(model)}: {what} in {counted(len(found.labels), subject)} of this cohort "
        f"({measured.cohort.name}) and in the {len(model.groups.labels):,} subjects of the model's card, out of fold"
        f"{drawn} If subjects of the cohort were among those that the model was trained on, the cohort's curve is too "
        f"good. {NOT_A_DIAGNOSIS}"
    )


def _cohort_methods(model: InstalledModel, found: "CohortResults") -> tuple[str, ...]:
    """Methods, with the sentence on whom the model was asked about."""
    sizes = [f"{int((found.labels == k).sum())} {group}" for k, group in enumerate(found.groups)]
    others = counted(found.n_left_out, "other")
    left_out = f"; {others} had no prediction or no such group" if found.n_left_out else ""
    asked = (
        f"The model {model.name} was asked about {counted(len(found.labels), 'subject')} of known group "
        f"({listed(sizes)}){left_out}. Its card's results are of subjects left out of training."
    )
    return (*subject_methods(model), asked)


def _noise_panel(points: "pd.DataFrame") -> Panel:
    """The mean probability of each group, and the share of subjects with a warning, at every level of noise.

    Parameters
    ----------
    points : DataFrame
        ``noise``, ``group``, ``probability`` and ``warned``.
    """
    levels, groups = (list(dict.fromkeys(points[column])) for column in ("noise", "group"))

    def curve(name: str, column: str, group: str, **look: Any) -> Curve:
        rows = points[points["group"] == group]
        places = [levels.index(level) for level in rows["noise"]]
        return Curve(name=name, x=places, y=rows[column].to_numpy(), hover=f"{name}\n%{{x}}: %{{y:.2f}}", **look)

    marks = [
        curve(group, "probability", group, colour=group_colour(group), dash=DASHES[k % len(DASHES)], symbol="circle")
        for k, group in enumerate(groups)
    ]
    warned = curve("share with a warning", "warned", groups[0], colour=OTHER_COLOUR, dash="dashdot", symbol="square")
    added = Axis(title="White noise added to z-scored series", names=[str(level) for level in levels])
    return Panel(marks=[*marks, warned], x=added, y=Axis(title="Mean probability", limits=_UNIT))


@model_figure("noise_response", "Answers to noise")
def noise_response(measured: "Measured", options: NoOptions) -> Drawing:
    """How a trained model answers to noise, where its card has it."""
    from biobgt.training.card_text import CardText
    from biobgt.training.tables import CardTables

    model = model_of(measured, "noise_response")
    points, simulated = CardTables(model.card).noise_points(), model.simulates(model.group_names)
    if points.empty:
        raise InputError(f"The card of model {model.name} has no noise response; `biobgt card` measures it.")
    return Drawing(
        title=f"Noise, {model.name}",
        simulated=simulated,
        panels=[_noise_panel(points)],
        caption=(
            f"Model {model.name}{', simulated patients' if simulated else ''}: answers to noise. "
            f"{CardText(model.card).noise} Lines are mean probabilities; the grey line is the share of subjects who "
            "carry a warning or cannot be predicted."
        ),
        numbers=lambda: points,
        legend="above",
        methods=model_methods(model),
    )


def _results_panels(points: "pd.DataFrame", chance: Mapping[str, float]) -> list[Panel]:
    """A model's results beside those of other models, with intervals, one panel per metric.

    Parameters
    ----------
    points : DataFrame
        ``metric``, ``model``, ``value``, ``low`` and ``high`` (NaN for none).
    chance : mapping of str to float
        What guessing gives, by metric.
    """
    metrics, models = (list(dict.fromkeys(points[column])) for column in ("metric", "model"))
    names = Axis(names=[name.replace(" (", "\n(").replace(", ", ",\n", 1) for name in models], reversed=True)

    def results(metric: str, rows: "pd.DataFrame", colour: str, symbol: str) -> Points:
        return Points(
            name=_METRICS.get(metric, metric),
            colour=colour,
            symbol=symbol,
            size=11,
            x=rows["value"].to_numpy(),
            y=[models.index(model) for model in rows["model"]],
            low=rows["low"].to_numpy(),
            high=rows["high"].to_numpy(),
            across="x",
            hover="%{y}\n%{x:.3f}",
        )

    def marks(metric: str) -> list[Mark]:
        rows = points[points["metric"] == metric]
        own = rows["model"] == _OWN_MODEL
        guess = [Rule(x=chance[metric], colour=OTHER_COLOUR, dash="dot")] if metric in chance else []
        others = results(metric, rows[~own], OTHER_COLOUR, "circle")
        return [*guess, results(metric, rows[own], _OWN_COLOUR, "diamond"), others]

    return [Panel(marks=marks(metric), title=_METRICS.get(metric, metric), y=names) for metric in metrics]


@model_figure("model_results", "Results beside other models", least_mm=55)
def model_results(measured: "Measured", options: NoOptions) -> Drawing:
    """A trained model's results, as its card has them, beside those of other models."""
    from biobgt.training.card_text import CardText
    from biobgt.training.tables import CardTables

    model = _model_with_results(measured, "model_results")
    tables = CardTables(model.card)
    points, chance = tables.results_points(), tables.chance_level
    shown = [baseline for baseline in BASELINES.values() if baseline.title in set(points["model"])]
    cited = dict.fromkeys(citation for baseline in shown for citation in baseline.citations)
    panels = _results_panels(points, chance)
    return model_drawing(
        model,
        _results_words(points, CardText(model.card).paper_note),
        citations=tuple(cited),
        title=f"{model.name} beside other models",
        panels=panels,
        numbers=lambda: points.assign(chance=points["metric"].map(chance)),
        columns=len(panels),
        legend="none",
        height=150 + 44 * points["model"].nunique(),
    )


def _results_words(points: "pd.DataFrame", note: str) -> str:
    """How the model stands beside others."""
    auc = points[points["metric"] == "auc"]
    values = "; ".join(f"{row.model} {row.value:.2f}" for row in auc.itertuples())
    return (
        f"out-of-fold results beside {kinds_of_baselines(auc['model'])} on the same folds. AUC: {values}. Bars are "
        f"95 % bootstrap intervals over subjects; dotted lines are chance level.{f' {note}' if note else ''}"
    )


def _benchmark_panel(rows: "pd.DataFrame") -> Panel:
    """AUC of every row that was run or that the paper has, with intervals over splits.

    Parameters
    ----------
    rows : DataFrame
        Of :func:`biobgt.training.tables.BenchmarkTables.beside_paper`.
    """
    about = zip(rows["title"], rows["state"], rows["splits"], strict=True)
    names = [f"{title} ({state or counted(splits, 'split')})" for title, state, splits in about]
    places = np.arange(len(rows))
    ours = Points(
        name=HERE,
        colour=_OWN_COLOUR,
        size=9,
        x=rows["auc"].to_numpy(),
        y=places,
        low=rows["auc_low"].to_numpy(),
        high=rows["auc_high"].to_numpy(),
        across="x",
        hover="%{y}\n%{x:.3f}",
    )
    papers = Points(
        name=PAPER,
        colour=OTHER_COLOUR,
        size=9,
        hollow=True,
        x=rows["paper_auc"].to_numpy(),
        y=places,
        hover="%{y}\nthe paper: %{x:.3f}",
    )
    in_lines = [name.replace(", ", ",\n", 1) if len(name) > _LONG else name for name in names]
    chance = Rule(x=0.5, colour=OTHER_COLOUR, dash="dot")
    return Panel(marks=[chance, ours, papers], x=Axis(title="AUC"), y=Axis(names=in_lines, reversed=True))


@model_figure("benchmark_results", "The paper's comparison, done again", least_mm=80, example_of=BENCHMARKED)
def benchmark_results(measured: "Measured", options: NoOptions) -> Drawing:
    """How well every system of the benchmark tells the groups of ABIDE apart, beside what the paper reports."""
    from biobgt.results.studies import study_table
    from biobgt.training.tables import FEWEST_SPLITS, OTHER_SUBJECTS, PAPERS, BenchmarkTables

    model = model_of(measured, "benchmark_results")
    if model.name != BENCHMARKED:
        raise InputError(f"The benchmark was run on the subjects of model {BENCHMARKED} only: choose it.")
    results = study_table("benchmark_abide")
    tables = BenchmarkTables(results)
    rows = tables.beside_paper
    rows = rows[rows["auc"].notna() | rows["paper_auc"].notna()].reset_index(drop=True)
    systems = benchmark_systems()
    cited = dict.fromkeys(one for key in rows["model"] for one in systems[key].citations)
    columns = ["model", "title", "state", "splits", "auc", "auc_low", "auc_high"]
    columns += [*(name for name in PAPERS if name != "auc"), *(f"paper_{name}" for name in PAPERS)]
    return Drawing(
        title="The paper's comparison on ABIDE, done again",
        simulated=model.simulates(model.group_names),
        panels=[_benchmark_panel(rows)],
        caption=(
            "AUC of each system on the test subjects of random splits of ABIDE. Filled marks are means over splits "
            f"with 95 % intervals corrected for overlapping training sets; fewer than {FEWEST_SPLITS} splits have "
            "none, and rows with different splits are not strictly comparable. Hollow marks are the paper's numbers; "
            f"the dotted line is chance level. {tables.words()} {OTHER_SUBJECTS}"
        ),
        numbers=lambda: rows[columns],
        methods=(
            "Systems were compared on the same random splits of the subjects into 80 % for training, 10 % for "
            "validation and 10 % for testing, stratified by site and group. The epoch and one temperature of each "
            "were chosen on the validation subjects. Intervals over splits are corrected for overlapping training "
            "sets [@nadeau2003].",
        ),
        citations=tuple(cited),
        legend="above",
        height=130 + 25 * len(rows),
    )


@dataclass(frozen=True)
class SubjectProbabilityOptions(ChosenModelOptions):
    """Which model, and the probability of which group."""

    group: str = option(
        "",
        title="Probability of",
        help="The group whose probability is shown; by default the last one, the patients.",
        choices_of=groups_of,
        default_of=lambda cohort: groups_of(cohort)[-1],
        of_model=True,
        in_a_row=True,
        link="probability_of",
    )


@figure("subject_probability", "A subject among a model's groups", takes=SubjectProbabilityOptions, of_graph=False)
def subject_probability(measured: "Measured", options: SubjectProbabilityOptions) -> Drawing:
    """How a group's probability spreads over the subjects of each true group, and where one subject lies."""
    from biobgt.training.card_text import share_below

    subject, model = measured.subject, asked_model(options, "subject_probability")
    group = known_group(model, options.group or model.group_names[-1])
    said = measured.prediction(model)
    if not said["prediction"]:
        raise InputError(said["warning"])
    own = {name: float(said[f"p_{name}"]) for name in model.group_names}
    groups, value = model.groups, own[group]
    values = groups.probabilities[:, model.group_names.index(group)]
    shares = _group_shares(values, groups.labels, model.group_names)
    trained = ", with simulated patients" if model.simulated else ""
    whom = f"simulated subject {subject.id}" if subject.simulated else f"subject {subject.id}"
    doubt = f" Its probability may be meaningless: {said['warning']}." if said["warning"] else ""
    return Drawing(
        title=f"{subject.id} among the subjects of {model.name}",
        simulated=subject.simulated or model.simulated,
        panels=[_probability_panel(shares, subject.id, group, value)],
        caption=(
            f"Model {options.model}{trained}: probability of {group} for subjects of {', '.join(own)}, "
            f"out of fold, each from {ONE_MEMBER}. The more the curves overlap, the less a probability says. The line "
            f"is {whom}, given {percent(value)} by the mean of all members' log-odds: "
            f"{share_below(groups.labels, values, list(own), value)}{doubt} {NOT_A_DIAGNOSIS}"
        ),
        numbers=lambda: shares.assign(subject=subject.id, **{f"p_{name} of the subject": p for name, p in own.items()}),
        legend="above",
        aspect=0.5,
        methods=subject_methods(model, said["warning"]),
    )


def _probability_panel(shares: "pd.DataFrame", subject: str, group: str, value: float) -> Panel:
    """Each group's shares as steps, and the subject's probability.

    Parameters
    ----------
    shares : DataFrame
        Of :func:`_group_shares`.
    subject, group : str
        Whose probability of which group is marked.
    value : float
    """
    marks: list[Mark] = []
    for k, (name, rows) in enumerate(shares.groupby("group", sort=False)):
        marks.append(
            Curve(
                name=f"{name} (n = {rows['subjects'].sum():,})",
                colour=group_colour(str(name)),
                x=rows[["from", "to"]].to_numpy().ravel(),
                y=np.repeat(rows["share"].to_numpy(), 2),
                dash=DASHES[k % len(DASHES)],  # neighbours differ
                filled=True,
                hover="probability about %{x:.2f}\n%{y:.1%} of the group",
            )
        )
    marks.append(Rule(name=subject, x=value, colour=RED))
    claimed = Axis(title=f"Probability of {group}", limits=(0, 1))
    return Panel(marks=marks, x=claimed, y=Axis(title="Share of each group", limits=(0, None), percent=True))


def _group_shares(values: NDArray[np.float64], labels: NDArray[np.int64], groups: Sequence[str]) -> "pd.DataFrame":
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

    edges = np.linspace(0, 1, _BINS + 1)
    frames = []
    for k, name in enumerate(groups):
        found = np.histogram(values[labels == k], bins=edges)[0]
        share = found / max(1, found.sum())
        columns = {"group": name, "from": edges[:-1], "to": edges[1:], "subjects": found, "share": share}
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)
