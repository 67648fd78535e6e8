"""Recipes of how good a trained model is: results beside other models, ROC curves, reliability, answers to noise.

All numbers are the card's or out of fold: every subject was seen by a member that had not met it.
"""

from collections.abc import Mapping

import pandas as pd

from biobgt.errors import InputError
from biobgt.export.making import MadeFigure, Order, Recipe
from biobgt.export.model_recipes import model_of, model_words
from biobgt.figures.noise import noise_caption
from biobgt.figures.paper.noise import noise_response
from biobgt.figures.paper.performance import reliability, results_beside, roc_curves
from biobgt.figures.paper.style import PaperStyle
from biobgt.figures.performance_captions import reliability_caption, results_caption, roc_caption
from biobgt.training.card_views import chance_level, claimed_event, group_curves, paper_note, results_points
from biobgt.training.metrics import reliability_curve
from biobgt.training.robustness_views import noise_points, noise_words


def _results(order: Order, style: PaperStyle) -> MadeFigure:
    model = model_of(order)
    points, chance = results_points(model.card), chance_level(model.card)
    title = f"{model.name} beside other models"
    figure = results_beside(points, chance=chance, title=title, simulated=model.simulated, style=style)
    caption = results_caption(model.name, points, note=paper_note(model.card), simulated=model.simulated)
    numbers = points.assign(chance=points["metric"].map(chance))
    return MadeFigure(figure, numbers, caption, **model_words(order, model))


def _roc(order: Order, style: PaperStyle) -> MadeFigure:
    model = model_of(order)
    groups = model.groups
    curves = group_curves(groups.labels, groups.probabilities, model.card["groups"])
    figure = roc_curves(curves, title=f"ROC, {model.name}", simulated=model.simulated, style=style)
    numbers = pd.concat([curve.assign(curve=name) for name, curve in curves.items()], ignore_index=True)
    measured = model.card["results"]["BioBGT"]
    caption = roc_caption(model.name, measured["auc"], len(groups.labels), simulated=model.simulated)
    return MadeFigure(figure, numbers, caption, **model_words(order, model))


def _reliability(order: Order, style: PaperStyle) -> MadeFigure:
    model = model_of(order)
    event = claimed_event(model.card)
    curve = reliability_curve(model.groups.labels, model.groups.probabilities)
    title = f"Reliability, {model.name}"
    figure = reliability(curve, event=event, title=title, simulated=model.simulated, style=style)
    error = model.card["results"]["BioBGT"]["ece"]["value"]
    caption = reliability_caption(model.name, error, curve, event=event, simulated=model.simulated)
    return MadeFigure(figure, curve, caption, **model_words(order, model))


def _noise(order: Order, style: PaperStyle) -> MadeFigure:
    model = model_of(order)
    points = noise_points(model.card)
    if points.empty:
        raise InputError(f"The card of model {model.name} has no noise response; `biobgt card` measures it.")
    figure = noise_response(points, title=f"Noise, {model.name}", simulated=model.simulated, style=style)
    caption = noise_caption(model.name, noise_words(model.card), simulated=model.simulated)
    return MadeFigure(figure, points, caption, **model_words(order, model))


PERFORMANCE_FIGURES: Mapping[str, Recipe] = {
    "model_results": Recipe("Results beside other models", _results, {}, of_subject=False),
    "roc": Recipe("ROC curves", _roc, {}, of_subject=False),
    "reliability": Recipe("Reliability of probabilities", _reliability, {}, of_subject=False),
    "noise_response": Recipe("Answers to noise", _noise, {}, of_subject=False),
}
