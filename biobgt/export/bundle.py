"""The words of a bundle: captions, and how to read the rest."""

import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from string import ascii_lowercase
from typing import Any, BinaryIO

import biobgt
from biobgt.base.errors import InputError
from biobgt.base.files import TIMELESS, make_folder, write_csv
from biobgt.base.options import Options, option
from biobgt.base.references import Citation
from biobgt.base.wording import NOT_A_DIAGNOSIS, counted, escape_markdown, listed
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.export.making import MadeFigure, make_figure, options_in_full
from biobgt.export.methods import LIBRARY, METHODS, Methods, methods_of
from biobgt.export.request import NEWER, PANELS, CohortRef, FigureRequest, make_script
from biobgt.export.writers import methods_latex, methods_markdown, methods_word
from biobgt.figures.catalogue import FIGURES
from biobgt.figures.paper.composed import compose, fitting_columns, panel_widths_mm, width_needed_mm
from biobgt.figures.paper.saving import MM_PER_INCH, save_figure
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle
from biobgt.model.installed import installed_model
from biobgt.readers.project import PROJECT_SUFFIX, save_project
from biobgt.results.measured import Measured


def captions_text(figures: "Sequence[FigureFiles]", names: Sequence[str], panels: "PanelFiles | None" = None) -> str:
    """All captions, numbered; behind them that of the figure which has some of them as its panels.

    Parameters
    ----------
    figures : sequence of FigureFiles
    names : sequence of str
        Of their files.
    panels : PanelFiles, optional
    """
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


def readme_text(missing: Mapping[CohortRef, str]) -> str:
    """What is in the bundle, and how to make its figures again."""
    needed = "".join(
        f"\nThe subjects are not in this bundle. Put `{file}` beside the script before you run it: the project file of "
        f"'{escape_markdown(ref.name)}', as the page Subjects of the app saves it. Other subjects are refused.\n"
        for ref, file in missing.items()
    )
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


def has_simulated(ref: CohortRef, cohort: Cohort) -> bool:
    """Whether any subject of a cohort is simulated; of a model's subjects its card tells."""
    return installed_model(ref.name).simulated if ref.model else cohort.simulated


def is_simulated(request: FigureRequest, cohort: Cohort) -> bool:
    """Whether a figure shows anybody simulated: its subject, anyone of its groups, or those its model learned from."""
    if request.model and installed_model(request.model).simulated:
        return True
    return cohort.simulated if request.subject is None else cohort[request.subject].simulated


# One zip with all a paper needs of its figures: files, numbers, captions, methods, references, provenance, a script.
#
# The same requests of the same subjects give the same bytes: nothing in a bundle carries the time of its making.


PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "bctpy", "nilearn", "matplotlib", "networkx")
MODEL_PACKAGES = ("torch", "safetensors")
_SCRIPT = "make_figures.sh"


@dataclass(frozen=True, eq=False)
class FigureFiles:
    """One figure's files, by their path without a folder (``svg``, ``csv``), and its words."""

    request: FigureRequest
    pictures: Mapping[FileFormat, bytes]
    numbers: bytes
    caption: str
    methods: tuple[str, ...]
    citations: tuple[Citation, ...]

    @property
    def title(self) -> str:
        """What the figure is."""
        return FIGURES[self.request.figure].name


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
    made = make_figure(cohort, request, style)
    return files_of(request, made, {format: _picture(made, format, style) for format in formats})


def files_of(request: FigureRequest, made: MadeFigure, pictures: Mapping[FileFormat, bytes]) -> FigureFiles:
    """A made figure as files.

    Parameters
    ----------
    request : FigureRequest
    made : MadeFigure
    pictures : mapping of file format to bytes
    """
    numbers = write_csv(made.numbers, index=False, lineterminator="\n").encode()
    return FigureFiles(request, pictures, numbers, made.caption, made.methods, made.citations)


def write_files(files: FigureFiles, folder: Path, name: str) -> list[Path]:
    """Write one figure's files into ``figures/`` and ``numbers/`` of a folder, as a bundle has them.

    Parameters
    ----------
    files : FigureFiles
    folder : Path
    name : str
        Of the files, without suffix.
    """
    paths = []
    for path, content in _places(files, name).items():
        make_folder((folder / path).parent)
        (folder / path).write_bytes(content)
        paths.append(folder / path)
    return paths


def write_methods(methods: Methods, folder: Path, name: str) -> list[Path]:
    """Write the methods of one figure into ``methods/`` of a folder, as Markdown, Word and LaTeX with its BibTeX.

    Parameters
    ----------
    methods : Methods
    folder : Path
    name : str
        Of the files, without suffix.
    """
    make_folder(folder / METHODS)
    paths = []
    for file, content in methods_files(methods, name, name).items():
        paths.append(folder / METHODS / file)
        paths[-1].write_bytes(content)
    return paths


def write_bundle(
    figures: Sequence[FigureFiles],
    cohorts: Mapping[CohortRef, Cohort],
    stream: BinaryIO,
    *,
    style: PaperStyle,
    include_data: bool = False,
    panels: "PanelFiles | None" = None,
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
    requests = [one.request for one in figures]
    names, own = figure_names(requests), own_files(requests)
    content: dict[str, bytes] = {}
    for one, name in zip(figures, names, strict=True):
        content |= _places(one, name)
        content[f"requests/{name}.json"] = one.request.to_json().encode()
    if include_data:
        content |= {file: _project(cohorts[ref]) for ref, file in own.items()}
    if panels is not None:
        content |= {f"figures/{PANELS}.{format}": picture for format, picture in panels.pictures.items()}
        content[f"requests/{PANELS}.json"] = panels.request.to_json().encode()
    formats = list(figures[0].pictures)
    content["captions.md"] = captions_text(figures, names, panels).encode()
    methods = methods_of(figures, cohorts, versions(requests))
    content |= methods_files(methods, METHODS, LIBRARY)
    drawn = None if panels is None else panels.request.panels
    script = make_script(requests, names, own, style=style, formats=formats, included=include_data, panels=drawn)
    content[_SCRIPT] = script.encode()
    content["README.md"] = readme_text(own if not include_data else {}).encode()
    content["provenance.json"] = _provenance(requests, names, cohorts, style, content)
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in content.items():
            entry = zipfile.ZipInfo(path, TIMELESS)
            entry.external_attr = (0o755 if path == _SCRIPT else 0o644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)


def methods_files(methods: Methods, name: str, library: str) -> dict[str, bytes]:
    """A methods section as Markdown, Word and LaTeX with its BibTeX, by the names of the files.

    Parameters
    ----------
    methods : Methods
    name, library : str
        Of the text and of the BibTeX file, without suffix.
    """
    return {
        f"{name}.md": methods_markdown(methods).encode(),
        f"{name}.docx": methods_word(methods),
        f"{name}.tex": methods_latex(methods, library).encode(),
        f"{library}.bib": methods.bibliography.encode(),
    }


def figure_names(requests: Iterable[FigureRequest]) -> list[str]:
    """Names of the figures' files: their place in the paper and what they are."""
    return [f"{number:02d}_{request.figure}" for number, request in enumerate(requests, start=1)]


def own_files(requests: Iterable[FigureRequest]) -> dict[CohortRef, str]:
    """The project file of each of the user's own cohorts."""
    own = list(dict.fromkeys(request.cohort for request in requests if request.cohort.own))
    return {ref: f"subjects{'' if len(own) == 1 else f'_{i}'}{PROJECT_SUFFIX}" for i, ref in enumerate(own, start=1)}


def versions(requests: Iterable[FigureRequest]) -> dict[str, str]:
    """Versions of what the numbers depend on; what only a model needs is named where one is behind a figure."""
    packages = PACKAGES + (MODEL_PACKAGES if any(request.model for request in requests) else ())
    own = {"biobgt": biobgt.__version__, "python": platform.python_version()}
    return own | {name: version(name) for name in packages}  # as installed: importing torch would take seconds


def _picture(made: MadeFigure, format: FileFormat, style: PaperStyle) -> bytes:
    buffer = io.BytesIO()
    save_figure(made.figure, buffer, format, style)
    return buffer.getvalue()


def _places(files: FigureFiles, name: str) -> dict[str, bytes]:
    pictures = {f"figures/{name}.{format}": picture for format, picture in files.pictures.items()}
    return {**pictures, f"numbers/{name}.csv": files.numbers}


def _project(cohort: Cohort) -> bytes:
    stream = io.BytesIO()
    save_project(cohort, ConnectomeSettings(), {}, stream)
    return stream.getvalue()


def _provenance(
    requests: Sequence[FigureRequest],
    names: Sequence[str],
    cohorts: Mapping[CohortRef, Cohort],
    style: PaperStyle,
    content: Mapping[str, bytes],
) -> bytes:
    document = {
        "format": "biobgt-export",
        "version": 1,
        "versions": versions(requests),
        "style": asdict(style),
        "cohorts": [_inputs(ref, cohorts[ref]) for ref in dict.fromkeys(request.cohort for request in requests)],
        "figures": [
            {"name": name, "simulated": is_simulated(request, cohorts[request.cohort])}
            | {"options in full": options_in_full(request).as_dict(), **request.as_dict()}
            for name, request in zip(names, requests, strict=True)
        ],
        "sha256": {path: hashlib.sha256(data).hexdigest() for path, data in sorted(content.items())},
    }
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _inputs(ref: CohortRef, cohort: Cohort) -> dict[str, Any]:
    """What is known of where a cohort's numbers came from."""
    sources = [
        {"subject": subject.id, "file": source.file, "bytes": source.n_bytes, "sha256": source.sha256}
        | {"reader": source.reader, "options": dict(source.options)}
        for subject in cohort
        if (source := subject.source) is not None
    ]
    return {
        "reference": asdict(ref),
        "title": cohort.name,
        "simulated": has_simulated(ref, cohort),
        "subjects": len(cohort),
        "atlas": {"name": cohort.atlas.name, "title": cohort.atlas.title, "regions": cohort.atlas.n_regions},
        "connectivity": cohort.kind.key,
        "notes": list(cohort.notes),
        "sources": sources,
    }


# Several requested figures as the panels a, b, c … of one figure: how they are arranged, made, and asked for again.


FORMAT, VERSION = "biobgt-panels", 1
FEWEST_PANELS = 2
COLUMNS = (1, 2, 3, 4)


@dataclass(frozen=True)
class PanelOptions(Options):
    """How panels are arranged."""

    columns: int = option(
        2,
        title="Columns",
        help="Panels in a row, or as many as can be read side by side. Those of a last row that is not full share "
        "its width.",
        choices=COLUMNS,
    )
    letters: bool = option(True, title="Letters", help="The letters a, b, c … above the panels.")


@dataclass(frozen=True)
class PanelsRequest:
    """One figure of several panels: the request of each, in order, and how they are arranged."""

    panels: tuple[FigureRequest, ...]
    options: PanelOptions = field(default_factory=PanelOptions)

    def __post_init__(self) -> None:
        if len(self.panels) < FEWEST_PANELS:
            raise InputError(f"A figure of several panels needs at least {FEWEST_PANELS}: name more figures.")

    @property
    def columns(self) -> int:
        """Panels in a row as asked for: two panels never stand in three columns."""
        return min(self.options.columns, len(self.panels))

    def to_json(self) -> str:
        """Write as JSON; the same request is always the same text."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "options": self.options.as_dict(),
            "panels": [panel.as_dict() for panel in self.panels],
        }
        return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "PanelsRequest":
        """Read what :meth:`to_json` wrote; anything else ends with a sentence."""
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise InputError("This is no request of panels. Give requests/panels.json of an exported bundle.")
        if document.get("version") != VERSION:
            raise InputError(NEWER)
        try:
            panels = tuple(FigureRequest.from_json(json.dumps(panel)) for panel in document["panels"])
            options: dict[str, Any] = dict(document["options"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"The request of panels is damaged ({error}). Export the figure again.") from None
        return cls(panels, PanelOptions.from_plain(options, of="A figure of panels"))


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

    @property
    def numbers(self) -> dict[str, bytes]:
        """The numbers of each panel as CSV, by its letter."""
        return {letter: one.numbers for letter, one in zip(ascii_lowercase, self.panels, strict=False)}

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
    least = [style.needed_mm(FIGURES.named(panel.figure).least_mm) for panel in request.panels]
    columns = fitting_columns(least, request.columns, style.width_mm)
    widths = panel_widths_mm(len(request.panels), columns, style.width_mm)
    made = [
        make_figure(cohorts[panel.cohort], panel, replace(style, width_mm=width))
        for panel, width in zip(request.panels, widths, strict=True)
    ]
    whole = compose([one.figure for one in made], columns=columns, letters=request.options.letters, style=style)
    pictures: dict[FileFormat, bytes] = {}
    for format in formats:
        buffer = io.BytesIO()
        save_figure(whole, buffer, format, style)
        pictures[format] = buffer.getvalue()
    width, height = (float(inches) * MM_PER_INCH for inches in whole.get_size_inches())
    each = tuple(files_of(panel, one, {}) for panel, one in zip(request.panels, made, strict=True))
    needed = width_needed_mm(least, request.columns)
    return PanelFiles(request, pictures, each, (width, height), columns, needed)
