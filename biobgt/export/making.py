"""What a recipe is: a function that makes one figure with its numbers and words, and the options it takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from biobgt.cohort import Subject
from biobgt.errors import InputError
from biobgt.export.measured import MeasuredCohort
from biobgt.export.requests import FigureRequest, Plain
from biobgt.figures.paper.style import PaperStyle


@dataclass(frozen=True, eq=False)
class MadeFigure:
    """A figure for the paper with what goes with it.

    Attributes
    ----------
    figure : matplotlib Figure
    numbers : DataFrame
        What is drawn, one row a region, pair or step.
    caption : str
    methods : tuple of str
        Sentences on how it was computed; figures that share a sentence say it once.
    citations : tuple of str
        Keys of :data:`biobgt.export.references.REFERENCES`.
    """

    figure: Figure
    numbers: pd.DataFrame
    caption: str
    methods: tuple[str, ...]
    citations: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Order:
    """A request with its options filled in and checked, its subject found, and the cohort it is about."""

    measured: MeasuredCohort
    request: FigureRequest
    options: Mapping[str, Any]

    @property
    def subject(self) -> Subject:
        """The subject; recipes of a subject have one."""
        if self.request.subject is None:
            raise InputError(f"The figure '{self.request.figure}' is of one subject: name the subject.")
        return self.measured.cohort[self.request.subject]


@dataclass(frozen=True, eq=False)
class Recipe:
    """How one kind of figure is made.

    Attributes
    ----------
    title : str
        For lists.
    make : callable
    options : mapping of str to plain values
        Every option with its default, whose type is the option's.
    of_subject : bool
        Whether it shows one subject, rather than the cohort or its groups.
    """

    title: str
    make: Callable[[Order, PaperStyle], MadeFigure]
    options: Mapping[str, Plain]
    of_subject: bool = True

    def fill_in(self, given: Mapping[str, Plain]) -> dict[str, Any]:
        """All options, the given ones checked against the defaults' types."""
        for name, value in given.items():
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise InputError(f"The figure '{self.title}' has no option '{name}'. It has: {known}.")
            default = self.options[name]
            right = isinstance(value, int | float) if type(default) is float else type(value) is type(default)
            if not right or (type(default) is float and isinstance(value, bool)):
                raise InputError(f"The option '{name}' of '{self.title}' cannot be {value!r}; {default!r} would do.")
        return {**self.options, **given}

    def read_option(self, text: str) -> tuple[str, Plain]:
        """Read an option as the command line has it: ``gamma=0.5``, ``resolutions=0.5,1,1.5``."""
        name, equals, value = text.partition("=")
        if not equals or name not in self.options:
            known = ", ".join(f"{key}={_shown(default)}" for key, default in self.options.items()) or "none"
            raise InputError(f"'{text}' is no option of '{self.title}'. Its options and what they are else: {known}.")
        try:
            return name, _read(value, self.options[name])
        except ValueError:
            default = _shown(self.options[name])
            raise InputError(f"The option '{text}' cannot be read; {name}={default} would do.") from None


def _read(text: str, default: Plain) -> Plain:
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise ValueError(text)
        return text == "true"
    if isinstance(default, int | float):
        return type(default)(text)
    return tuple(float(part) for part in text.split(",")) if isinstance(default, tuple) else text


def _shown(value: Plain) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(f"{number:g}" for number in value) if isinstance(value, tuple) else str(value)
