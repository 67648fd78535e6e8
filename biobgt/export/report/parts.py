"""What a report is made of: headings, text, lists, tables, and figures with their numbers inside the file.

Text is text here, and becomes HTML in the template alone, which escapes it. Figures are SVG as matplotlib writes it.
"""

import base64
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from markupsafe import Markup

from biobgt.base.files import write_csv
from biobgt.base.options import Options
from biobgt.base.references import REFERENCES, Cited, Reference, cut
from biobgt.base.wording import counted
from biobgt.figures.drawing import Drawing
from biobgt.figures.paper.frame import save_figure
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import Figure
from biobgt.study.finished import FinishedStudy

STYLE = PaperStyle(width_mm=150, titles=True)
_MOST_BYTES = 2_000_000  # of a table inside the file; larger ones lie beside it
_MOST_ROWS = 40  # of a table that is read
_ID = re.compile(r'(\bid="|url\(#|href="#)')


@dataclass(frozen=True)
class Heading:
    """A heading within a section."""

    text: str
    kind: ClassVar[str] = "heading"


@dataclass(frozen=True)
class Run:
    """Some words; ``todo`` where only the authors know them."""

    text: str
    todo: bool = False


@dataclass(frozen=True)
class Text:
    """A paragraph; a ``note`` is what a reader must not overlook."""

    runs: tuple[Run, ...]
    note: bool = False
    kind: ClassVar[str] = "text"


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]
    kind: ClassVar[str] = "list"


@dataclass(frozen=True)
class _Column:
    title: str
    number: bool


@dataclass(frozen=True)
class Table:
    """A table with its title; ``left`` says what of it is not shown."""

    title: str
    columns: tuple[_Column, ...]
    rows: tuple[tuple[Run, ...], ...]
    left: str = ""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True)
class Shown:
    """A figure with its files as links that hold them."""

    number: int
    title: str
    caption: str
    file: str
    svg: Markup
    svg_link: str
    csv_link: str
    numbers_said: str
    kind: ClassVar[str] = "figure"


Part = Heading | Text | Bullets | Table | Shown


@dataclass(frozen=True)
class Section:
    """A section: its name in the address, its title, and what is in it."""

    key: str
    title: str
    parts: tuple[Part, ...]


def said(text: str, *, todo: str = "", note: bool = False) -> Text:
    """A paragraph of plain text, and behind it what the authors are to complete.

    Parameters
    ----------
    text, todo : str
    note : bool
        A reader must not overlook it.
    """
    runs = (Run(text), *([Run(f" [To complete: {todo}]", todo=True)] if todo else []))
    return Text(tuple(run for run in runs if run.text), note)


def table_of(title: str, rows: pd.DataFrame | Sequence[Mapping[str, Any]], *, most: int = _MOST_ROWS) -> Table:
    """A table of rows; numbers are written with three digits, and of many rows the first are shown.

    Parameters
    ----------
    title : str
    rows : DataFrame or sequence of mappings
    most : int
    """
    whole = pd.DataFrame(rows)
    shown = whole[:most]
    numeric = [pd.api.types.is_numeric_dtype(whole[name]) and whole[name].dtype != bool for name in whole]
    columns = tuple(_Column(str(name), number) for name, number in zip(whole.columns, numeric, strict=True))
    cells = tuple(tuple(Run(written(value)) for value in row) for row in shown.itertuples(index=False))
    left = f"The first {most} of {counted(len(whole), 'row')}." if len(whole) > most else ""
    return Table(f"{title}.", columns, cells, left)


def written(value: object) -> str:
    """A value as a table of a report writes it."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if isinstance(value, float | np.floating):
        number = float(value)
        if np.isnan(number):
            return "–"
        return f"{number:,.0f}" if number.is_integer() and abs(number) >= 1 else f"{number:.3g}".replace("-", "−")
    return "–" if value is None or value is pd.NA else str(value)


@dataclass
class Figures:
    """The figures of a report, numbered as they come; their files, and the sentences of the methods that they bring."""

    study: FinishedStudy
    methods: dict[str, None] = field(default_factory=dict)
    citations: dict[str, None] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    n: int = 0
    _numbers: dict[bytes, int] = field(default_factory=dict)

    def of(self, figure: Figure[Any], options: Options | None = None) -> Shown:
        """Draw a figure of the study, with its files.

        Parameters
        ----------
        figure : Figure
            Of the register.
        options : Options, optional
            By default its own.
        """
        drawn = figure(self.study, options or figure.takes()).for_paper(STYLE)
        self.n += 1
        self.methods |= dict.fromkeys(drawn.methods)
        self.citations |= dict.fromkeys(drawn.citations)
        name, (svg, written_svg) = f"{self.n:02d}_{figure.key}", _svg(drawn, self.n)
        self.files[f"{name}.svg"] = written_svg
        link = link_of("image/svg+xml", written_svg)
        return Shown(self.n, figure.name, drawn.caption, name, svg, link, *self._csv(drawn))

    def _csv(self, drawn: Drawing) -> tuple[str, str]:
        """A link that holds the numbers; the same are not held twice, nor more than a browser likes."""
        content = write_csv(drawn.numbers(), index=False, lineterminator="\n").encode()
        if content in self._numbers:
            return "", f"Numbers: those of Figure {self._numbers[content]}."
        self._numbers[content] = self.n
        if len(content) > _MOST_BYTES:
            return "", "Numbers: in the folder 'group' beside this file."
        return link_of("text/csv", content), ""


def _svg(drawn: Drawing, number: int) -> tuple[Markup, bytes]:
    """A drawing as SVG for the page, whose ids are those of no other figure, and as a file."""
    buffer = io.BytesIO()
    save_figure(draw_on_paper(drawn, STYLE), buffer, "svg", STYLE)
    text = buffer.getvalue().decode()
    inside = _ID.sub(rf"\g<1>f{number}-", text[text.index("<svg") :])
    label = Markup.escape(drawn.title)
    marked = inside.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return Markup(marked), buffer.getvalue()


def link_of(kind: str, content: bytes) -> str:
    """A link that holds a file."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def sentences(
    lines: Iterable[str], further: Mapping[str, Reference] | None = None
) -> tuple[Text, dict[str, Reference]]:
    """Sentences with their citations in words, as a paragraph, and the works that they name, by key.

    Parameters
    ----------
    lines : iterable of str
    further : mapping of str to Reference, optional
        Works beside those of the house.
    """
    runs: list[Run] = []
    works: dict[str, Reference] = {}
    for line in lines:
        for one in (*cut(line, {**REFERENCES, **(further or {})}), " "):
            runs.append(Run(one if isinstance(one, str) else one.text))
            works |= {work.key: work for work in one.works} if isinstance(one, Cited) else {}
    return Text(tuple(runs)), works


def references(works: Mapping[str, Reference]) -> Bullets:
    """Works as a list of references has them, by author."""
    return Bullets(tuple(works[key].entry for key in sorted(works)))
