"""The gallery: every figure of the register, with the command that makes it, its options and its picture.

A figure is in the gallery because it is in the register; nothing has to be added here. Options that a cohort must name,
such as its groups, are taken from the cohort, and a figure that asks a model is given one.

``python -m docs.tools.gallery FOLDER`` draws all pictures and writes the page.
"""

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biobgt.base.options import Plain, to_text
from biobgt.data.cohort import Cohort
from biobgt.export.bundle import FigureFiles, make_files
from biobgt.export.request import CohortRef, FigureRequest
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.register import Figure, all_figures
from biobgt.results.measured import Measured
from biobgt.study.finished import FinishedStudy
from docs.tools.tables import options_table

PAGE, PICTURES = "gallery.md", "img/gallery"
STUDY = "study"  # the folder in which a reader's own would be
DPI = 150
WIDE_MM = 174.0
_NAMED = 8  # columns of a table that the page names
# Drawn across two columns of a journal: several panels side by side, or a curve over all regions.
WIDE = (
    "hub_curves",
    "group_means",
    "five_brains",
    "group_mean_brains",
    "group_module_brains",
    "region_attention_by_group",
    "own_region_attention",
    "attention_maps",
    "attention_systems",
    "attention_faithfulness",
    "subject_attention",
    "prediction_passport",
    "model_results",
    "benchmark_results",
    "specification_curve",
    "subject_specification_curve",
)


@dataclass(frozen=True)
class Shown:
    """Whom the gallery shows: a demo cohort, drawn once, a model of the same atlas, and a study.

    ``study`` opens what ``biobgt study`` wrote; without one, figures of studies are left out. ``options`` and
    ``demos`` are those of single figures, by their keys, where a figure shall not have its defaults or that demo.
    """

    demo: CohortRef
    model: str
    study: Callable[[], FinishedStudy] | None = None
    options: Mapping[str, Mapping[str, Plain]] = field(default_factory=dict, hash=False)
    demos: Mapping[str, CohortRef] = field(default_factory=dict, hash=False)
    measured: dict[CohortRef, Measured] = field(default_factory=dict, compare=False, repr=False)

    def cohort(self, kind: Figure[Any]) -> CohortRef:
        """The cohort that a figure is made of."""
        if kind.of_study:
            return CohortRef(STUDY, study=True)
        named = getattr(kind, "example_of", "") or self.model
        return CohortRef(named, model=True) if kind.of_model else self.demos.get(kind.key, self.demo)

    def of(self, ref: CohortRef) -> Measured:
        """A cohort, measured once for all figures."""
        if ref not in self.measured:
            self.measured[ref] = self.study() if ref.study and self.study else Measured(ref.draw())
        return self.measured[ref]


REAL = Shown(CohortRef("asd", demo=True), "abide-cc200")


@dataclass(frozen=True)
class Example:
    """A figure of the gallery: what is asked for, and the command that asks for it."""

    request: FigureRequest
    width_mm: float

    @property
    def command(self) -> str:
        """What a reader types."""
        words = ["biobgt", "figure", self.request.figure, self.request.cohort.place]
        words += [f"--set={name}={to_text(value)}" for name, value in self.request.options.items()]
        words += ["--width", f"{self.width_mm:g}"] if self.width_mm != PaperStyle().width_mm else []
        return shlex.join([*words, "--out", "figures"])


def examples(shown: Shown = REAL) -> Iterator[Example]:
    """Every registered figure, as the gallery shows it."""
    for kind in all_figures().values():
        if shown.study or not kind.of_study:
            yield example(kind, shown)


def example(kind: Figure[Any], shown: Shown = REAL) -> Example:
    """One figure of the first subject, the groups or the model that are shown."""
    ref = shown.cohort(kind)
    if kind.of_study:
        return Example(FigureRequest(kind.key, ref), _width(kind))
    cohort = shown.of(ref).cohort
    subject = cohort.ids[0] if kind.of_subject else None
    options = {**_needed(kind, cohort, shown.model), **shown.options.get(kind.key, {})}
    return Example(FigureRequest(kind.key, ref, subject, options=options), _width(kind))


def _width(kind: Figure[Any]) -> float:
    """One column of a journal in mm, or two, where the figure needs them."""
    style = PaperStyle()
    return WIDE_MM if kind.key in WIDE or style.needed_mm(kind.least_mm) > style.width_mm else style.width_mm


def _needed(kind: Figure[Any], cohort: Cohort, model: str) -> dict[str, Plain]:
    """Options without which the figure cannot be made: groups of the cohort, and the model that is asked."""
    declared = kind.takes.declared()
    needed = {name: declared[name].default_for(cohort) for name in ("first", "second") if name in declared}
    if kind.of_graph is False and "model" in declared:
        needed["model"] = model
    return {name: value for name, value in needed.items() if value != declared[name].default}


def make(one: Example, shown: Shown = REAL, *, dpi: int = DPI) -> FigureFiles:
    """Draw one figure as PNG, with its numbers and words.

    Parameters
    ----------
    one : Example
    shown : Shown
        Whose figures these are; cohorts are measured once.
    dpi : int
    """
    style = PaperStyle(width_mm=one.width_mm, dpi=dpi)
    return make_files(shown.of(one.request.cohort), one.request, style=style, formats=["png"])


_SECTIONS = ("One subject", "Two groups", "A study", "A trained model", "What a model says of subjects")


def _section(kind: Figure[Any]) -> str:
    """Where a figure stands on the page."""
    subject, groups, study, model, asked = _SECTIONS
    if kind.of_study:
        return study
    if kind.of_graph:
        return subject if kind.of_subject else groups
    return model if kind.of_model else asked


def page(made: dict[str, FigureFiles], shown: Shown = REAL) -> str:
    """Write the page of the gallery.

    Parameters
    ----------
    made : dict of str to FigureFiles
        By the figures' keys, from :func:`make`.
    shown : Shown
    """
    text = Path(__file__).with_name("gallery_head.txt").read_text(encoding="utf-8")
    for heading in _SECTIONS:
        text += f"\n## {heading}\n"
        for key, kind in all_figures().items():
            if _section(kind) == heading and key in made:
                text += _entry(kind, made[key], example(kind, shown))
    return text


def _entry(kind: Figure[Any], made: FigureFiles, one: Example) -> str:
    options = options_table(kind.takes, flags=False)
    folded = "".join(f"    {line}\n" for line in options.splitlines())
    hidden = f'\n??? note "Options, for `--set name=value`"\n\n{folded}' if options else ""
    columns = made.numbers.decode().partition("\n")[0].split(",")
    named = ", ".join(f"`{column}`" for column in columns[:_NAMED]) + (", …" if len(columns) > _NAMED else "")
    return (
        f"\n### {kind.name} {{#{kind.key}}}\n\n![{kind.name}]({PICTURES}/{kind.key}.png)\n\n{made.caption}\n"
        f"\n```sh\n{one.command}\n```\n\nNumbers: {named}.\n{hidden}"
    )


def write(folder: Path, shown: Shown = REAL, *, dpi: int = DPI) -> None:
    """Draw every figure into a folder and write the page beside.

    Parameters
    ----------
    folder : Path
    shown : Shown
    dpi : int
    """
    (folder / PICTURES).mkdir(parents=True, exist_ok=True)
    made = {}
    for one in examples(shown):
        key = one.request.figure
        made[key] = make(one, shown, dpi=dpi)
        (folder / PICTURES / f"{key}.png").write_bytes(made[key].pictures["png"])
        print(f"drawn: {key}", flush=True)
    (folder / PAGE).write_text(page(made, shown), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
