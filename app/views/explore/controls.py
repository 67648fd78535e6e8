"""What stands above the tiles to be chosen: the mode of the screen, the model, and options of the figures."""

from dataclasses import dataclass
from typing import Any, Literal

from biobgt.base.options import Option, Plain
from biobgt.data.graph import levels_of
from biobgt.model.pretrained import fitting_model, installed_models
from session.view import FITTING, LEVEL_KEYS, MODEL, PageOptions, View, usable


@dataclass(frozen=True)
class Control:
    """Something to choose above the tiles; the browser tells the place of a value among all.

    Attributes
    ----------
    name : str
        Under which the session keeps the choice.
    title, help : str
    values : tuple of plain values
    texts : tuple of str
        What each is called.
    at : int
        The place of the chosen one.
    live : bool
        Whether the browser answers by itself.
    kind : {"list", "slider", "segments"}
    """

    name: str
    title: str
    help: str
    values: tuple[Plain, ...]
    texts: tuple[str, ...]
    at: int
    live: bool = False
    kind: Literal["list", "slider", "segments"] = "list"

    @classmethod
    def of(cls, view: View, kind: type[Any], name: str, title: str = "", *, live: bool = False) -> "Control":
        """One for an option that links name.

        Parameters
        ----------
        view : View
        kind : type of Options
            The group of the option.
        name : str
            Of its field.
        title : str
            In place of the option's own.
        live : bool
            Whether the browser answers by itself.
        """
        one: Option = kind.declared()[name]
        behind = view.cohort_behind(one)
        cohort = view.cohort if behind is None else behind  # a model's has no subjects, but is one
        values = tuple(one.offered(cohort))
        chosen = usable(one, view.choices.get(one.link, one.default_for(cohort)), cohort)
        texts = tuple(cohort.kind.named(one.text(value)) for value in values)
        at = values.index(chosen) if chosen in values else 0
        look: Literal["list", "slider"] = "list" if one.steps is None else "slider"
        return cls(one.link, title or one.title, one.help, values, texts, at, live, look)

    @property
    def contents(self) -> dict[str, Any]:
        """What the browser is told."""
        about = {"name": self.name, "title": self.title, "help": self.help, "choices": list(self.texts)}
        return {**about, "value": self.at, "live": self.live, "kind": self.kind}


def mode_control(view: View) -> Control:
    """Whether the screen is about a subject, about a model's groups, or about the difference of two groups."""
    return _segments(view, "explore_mode")


def whose_control(view: View) -> Control:
    """Whether groups of the cohort stand beside those of the model."""
    return _segments(view, "explore_whose")


def _segments(view: View, name: str) -> Control:
    one = PageOptions.declared()[name]
    values = tuple(one.offered(view.cohort))
    at = values.index(getattr(view.options(PageOptions), name))
    return Control(one.link, one.title, one.help, values, tuple(map(one.text, values)), at, kind="segments")


def model_control(view: View) -> Control:
    """The model, with what each says of the cohort's atlas: that it fits, or that it is of another one."""
    models = installed_models()
    fitting = fitting_model(view.cohort, models)
    chosen = view.chosen_model
    fits = {name: "fits" if not model.refusal(view.cohort) else model.atlas.title for name, model in models.items()}
    first = f"{fitting} (fits best)" if fitting else "none fits the atlas"
    why = "" if chosen is None else chosen.refusal(view.cohort)
    texts = (first, *(f"{name} ({said})" for name, said in fits.items()))
    values = (FITTING, *models)
    at = values.index(view.model) if view.model in values else 0
    return Control(MODEL, "Model", why or "The trained model that is asked about attention.", values, texts, at)


def threshold_control(view: View) -> list[Control]:
    """The level of the threshold, where it has an upper end; else nothing."""
    rule = view.settings.threshold
    if rule not in LEVEL_KEYS or (level := levels_of(view.cohort.kind)[rule]).high > 1:
        return []
    n_steps = round((level.high - level.low) / level.step)
    values = tuple(round(level.low + step * level.step, 6) for step in range(n_steps + 1))
    texts = tuple(f"{value:.0%}" if level.in_percent else f"{value:g}" for value in values)
    at = min(range(len(values)), key=lambda i: abs(values[i] - view.settings.level))
    return [Control(LEVEL_KEYS[rule], level.title, "", values, texts, at, kind="slider")]
