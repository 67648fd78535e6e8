"""One zip with all a paper needs of its figures: files, numbers, captions, methods, references, provenance, a script.

The same requests of the same subjects give the same bytes: nothing in a bundle carries the time of its making.
"""

import hashlib
import io
import json
import platform
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import biobgt
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.export.latex_methods import methods_latex
from biobgt.export.making import MadeFigure, make_figure, options_in_full
from biobgt.export.markdown_methods import methods_markdown
from biobgt.export.methods import LIBRARY, METHODS, Methods, methods_of
from biobgt.export.requests import PANELS, CohortRef, FigureRequest
from biobgt.export.script import make_script
from biobgt.export.texts import captions_text, has_simulated, is_simulated, readme_text
from biobgt.export.word_methods import methods_word
from biobgt.figures.catalogue import FIGURES
from biobgt.figures.paper.saving import save_figure
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle
from biobgt.graph import ConnectomeSettings
from biobgt.measured import MeasuredCohort
from biobgt.output import TIMELESS, make_folder
from biobgt.project import PROJECT_SUFFIX, save_project
from biobgt.references import Citation
from biobgt.spreadsheets import write_csv
from biobgt.wording import listed

if TYPE_CHECKING:
    from biobgt.export.panels import PanelFiles

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
    cohort: Cohort | MeasuredCohort, request: FigureRequest, *, style: PaperStyle, formats: Sequence[FileFormat]
) -> FigureFiles:
    """Make one figure and write it in every format, with its numbers as CSV.

    Parameters
    ----------
    cohort : Cohort or MeasuredCohort
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
