"""Figures for the paper, made as requests name them, and one zip with all that a paper needs of them.

A figure comes with its numbers and words, several also as the panels of one; the app shows the same objects, so that
the exported numbers are those on the screen. The zip holds files, numbers, captions, methods, references, provenance
and a script. The same requests of the same subjects give the same bytes: nothing carries the time of its making.
"""

import hashlib
import io
import json
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from string import ascii_lowercase
from typing import Any, BinaryIO

import pandas as pd
from threadpoolctl import threadpool_limits

import biobgt
from biobgt.base.errors import InputError
from biobgt.base.files import write_csv, zipped
from biobgt.base.wording import NOT_A_DIAGNOSIS, counted, escape_markdown, listed
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.export.methods import methods_files
from biobgt.export.request import PANELS, STUDY_PREFIX, CohortRef, FigureRequest, PanelsRequest
from biobgt.figures.paper.frame import (
    MM_PER_INCH,
    PaperFigure,
    compose,
    fitting_columns,
    panel_widths_mm,
    save_figure,
    width_needed_mm,
)
from biobgt.figures.paper.pen import draw_on_paper
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle
from biobgt.figures.register import all_figures
from biobgt.model.pretrained import installed_model
from biobgt.readers.project import PROJECT_SUFFIX, save_project
from biobgt.results.measured import Measured

PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "bctpy", "nilearn", "matplotlib", "networkx")
_MODEL_PACKAGES = ("torch", "safetensors")
_SCRIPT, _REMADE = "make_figures.sh", "remade"


# One figure, or several as the panels of one.


@dataclass(frozen=True, eq=False)
class _MadeFigure:
    """A figure for the paper with what goes with it.

    Attributes
    ----------
    figure : matplotlib Figure
    numbers : DataFrame
        What is drawn, one row per region, pair or step.
    caption : str
    methods : tuple of str
        Sentences on how it was computed; figures that share a sentence say it once.
    citations : tuple of str
    """

    figure: PaperFigure
    numbers: pd.DataFrame
    caption: str
    methods: tuple[str, ...]
    citations: tuple[str, ...]


def _make_figure(cohort: Cohort | Measured, request: FigureRequest, style: PaperStyle | None = None) -> _MadeFigure:
    """Make a figure for the paper.

    Parameters
    ----------
    cohort : Cohort or Measured
        The one that the request names; a measured one keeps what takes long for the next figure.
    request : FigureRequest
    style : PaperStyle, optional
    """
    figure, options = all_figures().named(request.figure), request.full_options()
    if figure.of_subject and request.subject is None:
        raise InputError(f"The figure '{request.figure}' is of one subject: name the subject.")
    style = style or PaperStyle()
    needed = style.needed_mm(figure.least_mm)
    if style.width_mm < needed:
        raise InputError(
            f"The figure '{figure.name}' cannot be read at a width of {style.width_mm:g} mm: with labels of "
            f"{style.font_size:g} points it needs {needed:.0f} mm. Choose a wider figure or smaller labels."
        )
    measured = cohort if isinstance(cohort, Measured) else Measured(cohort)
    with threadpool_limits(1, user_api="blas"):  # sums in one order, whatever the number of cores
        whom = measured.of(request.subject if figure.of_subject else None, request.settings)
        drawn = figure(whom, options).for_paper(style)
        picture, words = draw_on_paper(drawn, style), (tuple(drawn.methods), tuple(drawn.citations))
        return _MadeFigure(picture, drawn.numbers(), drawn.caption, *words)


@dataclass(frozen=True, eq=False)
class FigureFiles:
    """A figure written: its picture in every format, its numbers as CSV, and its words."""

    request: FigureRequest
    pictures: Mapping[FileFormat, bytes]
    numbers: bytes
    caption: str
    methods: tuple[str, ...]
    citations: tuple[str, ...]

    @property
    def title(self) -> str:
        """What the figure is."""
        return all_figures()[self.request.figure].name

    def files(self, name: str) -> dict[str, bytes]:
        """Its files by their paths, each called by the name."""
        return _picture_files(self.pictures, name) | {f"numbers/{name}.csv": self.numbers}


def make_files(
    cohort: Cohort | Measured, request: FigureRequest, *, style: PaperStyle, formats: Sequence[FileFormat]
) -> FigureFiles:
    """Make one figure and write it in every format, with its numbers as CSV.

    Parameters
    ----------
    cohort : Cohort or Measured
        The one that the request names.
    request : FigureRequest
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    if not formats:
        raise InputError(f"No format is chosen for the figures; choose at least one of {listed(FILE_FORMATS)}.")
    made = _make_figure(cohort, request, style)
    return _written(request, made, _pictures(made.figure, formats, style))


@dataclass(frozen=True, eq=False)
class PanelFiles:
    """A figure of several panels, written.

    Attributes
    ----------
    request : PanelsRequest
    pictures : mapping of file format to bytes
    panels : tuple of FigureFiles
        What was drawn, with its numbers and words; the pictures are of the whole alone.
    size_mm : (float, float)
        Width and height.
    columns : int
        Panels in a row: as many as were asked for, or fewer where these would be too narrow.
    needed_mm : float
        Width of the whole at which as many fit as were asked for.
    """

    request: PanelsRequest
    pictures: Mapping[FileFormat, bytes]
    panels: tuple[FigureFiles, ...]
    size_mm: tuple[float, float]
    columns: int
    needed_mm: float

    def files(self, name: str) -> dict[str, bytes]:
        """Its files by their paths: the pictures called by the name, the numbers of panels by name and letter."""
        numbers = zip(ascii_lowercase, self.panels, strict=False)
        return _picture_files(self.pictures, name) | {
            f"numbers/{name}_{letter}.csv": panel.numbers for letter, panel in numbers
        }

    @property
    def size(self) -> str:
        """How large the figure is, and what would fit where fewer panels stand in a row than were asked for."""
        width, height = self.size_mm
        said = f"{width:.1f} × {height:.1f} mm"
        asked = self.request.columns
        if self.columns == asked:
            return said
        return f"{said}, in {counted(self.columns, 'column')}: {asked} columns need {self.needed_mm:.0f} mm"

    @property
    def caption(self) -> str:
        """The captions of all panels, behind their letters where these are drawn."""
        captions = [one.caption.rstrip(". ") for one in self.panels]
        if self.request.options.letters:
            captions = [f"{letter}, {said}" for letter, said in zip(ascii_lowercase, captions, strict=False)]
        return "; ".join(captions) + "."


def make_panels(
    cohorts: Mapping[CohortRef, Cohort | Measured],
    request: PanelsRequest,
    *,
    style: PaperStyle,
    formats: Sequence[FileFormat],
) -> PanelFiles:
    """Make every panel for its width, arrange them and write the whole in every format.

    Parameters
    ----------
    cohorts : mapping of CohortRef to Cohort or Measured
        Of every panel.
    request : PanelsRequest
    style : PaperStyle
        Of the whole figure, whose height is that of its panels.
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    """
    if style.height_mm is not None:
        raise InputError("The height of a figure of several panels is that of its panels: leave the height out.")
    least = [style.needed_mm(all_figures().named(panel.figure).least_mm) for panel in request.panels]
    columns = fitting_columns(least, request.columns, style.width_mm)
    widths = panel_widths_mm(len(request.panels), columns, style.width_mm)
    made = [
        _make_figure(cohorts[panel.cohort], panel, replace(style, width_mm=width))
        for panel, width in zip(request.panels, widths, strict=True)
    ]
    whole = compose([one.figure for one in made], columns=columns, letters=request.options.letters, style=style)
    pictures = _pictures(whole, formats, style)
    width, height = (float(inches) * MM_PER_INCH for inches in whole.get_size_inches())
    each = tuple(_written(panel, one, {}) for panel, one in zip(request.panels, made, strict=True))
    needed = width_needed_mm(least, request.columns)
    return PanelFiles(request, pictures, each, (width, height), columns, needed)


def _pictures(figure: PaperFigure, formats: Sequence[FileFormat], style: PaperStyle) -> dict[FileFormat, bytes]:
    pictures: dict[FileFormat, bytes] = {}
    for format in formats:
        buffer = io.BytesIO()
        save_figure(figure, buffer, format, style)
        pictures[format] = buffer.getvalue()
    return pictures


def _written(request: FigureRequest, made: _MadeFigure, pictures: Mapping[FileFormat, bytes]) -> FigureFiles:
    numbers = write_csv(made.numbers, index=False, lineterminator="\n").encode()
    return FigureFiles(request, pictures, numbers, made.caption, made.methods, made.citations)


def _picture_files(pictures: Mapping[FileFormat, bytes], name: str) -> dict[str, bytes]:
    return {f"figures/{name}.{format}": picture for format, picture in pictures.items()}


# The zip.


def write_bundle(
    figures: Sequence[FigureFiles],
    cohorts: Mapping[CohortRef, Cohort],
    stream: BinaryIO,
    *,
    style: PaperStyle,
    include_data: bool = False,
    panels: PanelFiles | None = None,
) -> None:
    """Write the zip.

    Parameters
    ----------
    figures : sequence of FigureFiles
        From :func:`make_files`, all in the same style and formats, in the order of the paper.
    cohorts : mapping of CohortRef to Cohort
        Every cohort that the figures' requests name.
    stream : binary file
    style : PaperStyle
        The one that the figures were made in.
    include_data : bool
        Put a user's own subjects into the bundle, as a project file, so that its script runs as it is. Otherwise the
        script asks for that file and refuses other subjects.
    panels : PanelFiles, optional
        Some of the figures as the panels of one, which is written beside them.
    """
    if not figures:
        raise InputError("There is no figure to export yet: add one on the pages of the app.")
    requests = {f"{number:02d}_{one.request.figure}": one.request for number, one in enumerate(figures, start=1)}
    refs = dict.fromkeys(request.cohort for request in requests.values())
    own = _numbered([ref for ref in refs if ref.own], "subjects", PROJECT_SUFFIX)
    studies = _numbered([ref for ref in refs if ref.study], "study", "")
    content: dict[str, bytes] = {}
    for one, (name, request) in zip(figures, requests.items(), strict=True):
        content |= one.files(name)
        content[f"requests/{name}.json"] = request.to_json().encode()
    for ref, file in own.items() if include_data else ():
        project = io.BytesIO()
        save_project(cohorts[ref], ConnectomeSettings(), {}, project)
        content[file] = project.getvalue()
    if panels is not None:
        content |= {f"figures/{PANELS}.{format}": picture for format, picture in panels.pictures.items()}
        content[f"requests/{PANELS}.json"] = panels.request.to_json().encode()
    content["captions.md"] = _captions_text(figures, requests, panels).encode()
    content |= methods_files(figures, cohorts, versions(requests.values()))
    look = [part for format in figures[0].pictures for part in ("--format", format)] + style.command_line()
    missing = studies if include_data else own | studies
    content[_SCRIPT] = _script(requests, own | studies, missing, look, panels).encode()
    content["README.md"] = _readme(missing).encode()
    content["provenance.json"] = _provenance(requests, cohorts, style, content)
    stream.write(zipped(content, {path: 0o755 if path == _SCRIPT else 0o644 for path in content}))


def _numbered(refs: Sequence[CohortRef], name: str, suffix: str) -> dict[CohortRef, str]:
    """What lies beside the script, by whose it is: numbered where there are several."""
    numbers = [""] if len(refs) == 1 else [f"_{i}" for i in range(1, len(refs) + 1)]
    return {ref: f"{name}{number}{suffix}" for ref, number in zip(refs, numbers, strict=True)}


def _captions_text(figures: Sequence[FigureFiles], names: Iterable[str], panels: PanelFiles | None) -> str:
    """All captions, numbered; behind them that of the figure which has some of them as its panels."""
    parts = [
        f"**Figure {number}. {one.title}.** {escape_markdown(one.caption)}\n\n"
        f"Files: figures/{name}, numbers/{name}.csv\n"
        for number, (one, name) in enumerate(zip(figures, names, strict=True), start=1)
    ]
    if panels is not None:
        parts.append(
            f"**Several panels in one figure.** {escape_markdown(panels.caption)}\n\nFiles: figures/{PANELS}\n"
        )
    return "# Captions\n\n" + "\n".join(parts)


def versions(requests: Iterable[FigureRequest]) -> dict[str, str]:
    """Versions of what the numbers depend on; what only a model needs is named where one is behind a figure."""
    packages = PACKAGES + (_MODEL_PACKAGES if any(request.model for request in requests) else ())
    own = {"biobgt": biobgt.__version__, "python": platform.python_version()}
    return own | {name: version(name) for name in packages}  # as installed: importing torch would take seconds


def is_simulated(request: FigureRequest, cohort: Cohort) -> bool:
    """Whether a figure shows anybody simulated: its subject, anyone of its groups, or those its model learned from."""
    if request.model and installed_model(request.model).simulated:
        return True
    return cohort.simulated if request.subject is None else cohort[request.subject].simulated


def _script(
    requests: Mapping[str, FigureRequest],
    own: Mapping[CohortRef, str],
    missing: Mapping[CohortRef, str],
    look: Sequence[str],
    panels: PanelFiles | None,
) -> str:
    """The ``biobgt figure`` commands that make the same figures and numbers again."""
    lines = [
        "#!/bin/sh",
        f"# Makes the figures of this bundle and the numbers behind them again, in the folder '{_REMADE}'.",
        "# It needs BioBGT Explorer; provenance.json says which version the bundle was made with.",
        "set -eu",
        'cd "$(dirname "$0")"',
    ]
    for ref, file in missing.items():
        what = "folder that biobgt study wrote" if ref.study else "project file of the subjects"
        said = f"Put the {what} beside this script, under the name {file}, and run it again."
        lines.append(f"[ -e {shlex.quote(file)} ] || {{ echo {shlex.quote(said)} >&2; exit 2; }}")

    asked = [(name, request.figure, request.cohort) for name, request in requests.items()]
    if panels is not None:
        refs = [panel.cohort for panel in panels.request.panels]
        asked.append((PANELS, PANELS, next((ref for ref in refs if ref.own), refs[0])))
    for name, figure, ref in asked:
        where = f"{STUDY_PREFIX}{own[ref]}" if ref.study else own.get(ref) or ref.place
        command = ["biobgt", "figure", figure, where, "--request", f"requests/{name}.json"]
        lines.append(shlex.join([*command, "--out", _REMADE, "--name", name, *look]))
    return "\n".join(lines) + "\n"


def _readme(missing: Mapping[CohortRef, str]) -> str:
    """What is in the bundle, and how to make its figures again."""
    needed = "".join(f"\n{_wanted(ref, file)}\n" for ref, file in missing.items())
    return f"""# An export of BioBGT Explorer

- `figures/` the figures, `numbers/` the numbers behind each, `captions.md` what they show
- `methods.md`, `methods.docx` and `methods.tex` the methods section, with places to complete marked
- `references.bib` what it cites
- `provenance.json` inputs, seeds, settings, versions and the SHA-256 of every file
- `requests/` and `make_figures.sh` make the same figures and numbers again: run `sh make_figures.sh` where `biobgt` is
  installed; they go to the folder `remade/`
{needed}
{NOT_A_DIAGNOSIS}
"""


def _wanted(ref: CohortRef, file: str) -> str:
    """What a reader must put beside the script."""
    whose = f"of '{escape_markdown(ref.name)}'"
    if ref.study:
        return (
            f"The study is not in this bundle. Put its folder beside the script before you run it, under the name "
            f"`{file}`: the one that `biobgt study` wrote {whose}. Other findings are refused."
        )
    return (
        f"The subjects are not in this bundle. Put `{file}` beside the script before you run it: the project file "
        f"{whose}, as the page Subjects of the app saves it. Other subjects are refused."
    )


def _provenance(
    requests: Mapping[str, FigureRequest],
    cohorts: Mapping[CohortRef, Cohort],
    style: PaperStyle,
    content: Mapping[str, bytes],
) -> bytes:
    refs = dict.fromkeys(request.cohort for request in requests.values())
    document = {
        "format": "biobgt-export",
        "version": 1,
        "versions": versions(requests.values()),
        "style": asdict(style),
        "cohorts": [_inputs(ref, cohorts[ref]) for ref in refs],
        "figures": [
            {"name": name, "simulated": is_simulated(request, cohorts[request.cohort])}
            | {"options in full": request.full_options().as_dict(), **request.as_dict()}
            for name, request in requests.items()
        ],
        "sha256": {path: hashlib.sha256(data).hexdigest() for path, data in sorted(content.items())},
    }
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _inputs(ref: CohortRef, cohort: Cohort) -> dict[str, Any]:
    """What is known of where a cohort's numbers came from; whether a model's subjects are simulated, its card tells."""
    sources = [
        {"subject": subject.id, "file": source.file, "bytes": source.n_bytes, "sha256": source.sha256}
        | {"reader": source.reader, "options": dict(source.options)}
        for subject in cohort
        if (source := subject.source) is not None
    ]
    return {
        "reference": asdict(ref),
        "title": cohort.name,
        "simulated": installed_model(ref.name).simulated if ref.model else cohort.simulated,
        **({} if ref.study else {"subjects": len(cohort)}),
        "atlas": {"name": cohort.atlas.name, "title": cohort.atlas.title, "regions": cohort.atlas.n_regions},
        "connectivity": cohort.kind.key,
        "notes": list(cohort.notes),
        "sources": sources,
    }
