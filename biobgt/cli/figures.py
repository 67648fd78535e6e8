"""``biobgt figure``: a figure for the paper with its numbers, or several as its panels, as the app exports them."""

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biobgt.base.errors import InputError
from biobgt.base.files import make_folder
from biobgt.base.options import option
from biobgt.cli.arguments import (
    OutOption,
    ResultsOption,
    chosen_settings,
    folder_store,
    read_arguments,
    results_folder,
    takes,
    takes_options,
)
from biobgt.cli.main import print_line
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.export.request import (
    MODEL_PREFIX,
    PANELS,
    STUDY_PREFIX,
    CohortRef,
    FigureRequest,
    PanelOptions,
    PanelsRequest,
)
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle
from biobgt.readers.fetch import COHORT_WORDS, DEMO_PREFIX

if TYPE_CHECKING:
    from biobgt.results.measured import Measured

_Reading = dict[str, Any]


_NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Which figure, such as hub_curves; panels for several in one.")
]
_CohortArgument = Annotated[
    Path,
    typer.Argument(
        metavar="COHORT", help=f"{COHORT_WORDS} Of a model's results: model:NAME. Of a study: study:FOLDER."
    ),
]


def _reading(**arguments: Any) -> _Reading:
    """Which figure, and what to read and how: the arguments of all jobs that read."""
    return arguments


_how_to_read = dict(signature(read_arguments).parameters)
_how_to_read["path"] = _how_to_read["path"].replace(annotation=_CohortArgument)
_name = Parameter("figure_name", Parameter.POSITIONAL_OR_KEYWORD, annotation=_NameArgument)
_reading.__signature__ = Signature([_name, *_how_to_read.values()])  # type: ignore[attr-defined]


@takes("reading", _reading, panel="What to read")
@takes("graph", chosen_settings, panel="Brain graph")
@takes_options("style", PaperStyle, panel="Look of the figure")
def figure(
    reading: _Reading,
    graph: dict[str, Any],
    style: PaperStyle,
    out: OutOption,
    subject: Annotated[str | None, typer.Option(help="Subject to draw. Default: the first.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", help="An option of the figure, such as gamma=0.5; may be repeated.")
    ] = None,
    request: Annotated[
        Path | None,
        typer.Option(help="Request file (.json) of an exported bundle; it names subject, graph and options."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the files. Default: the name of the figure.")] = None,
    format: Annotated[list[str] | None, typer.Option(help=f"{', '.join(FILE_FORMATS)}; may be repeated.")] = None,
    results: ResultsOption = None,
) -> None:
    """Make one figure for the paper, the numbers behind it and its methods, as the app exports them.

    Examples
    --------
    biobgt figure module_brain study/ --subject sub-01 --format svg --width 85 --out figures
    biobgt figure panels demo:asd --set figures=hub_curves,module_brain --set columns=1 --out figures
    """
    from biobgt.export.bundle import make_files, make_panels, versions
    from biobgt.export.methods import METHODS, methods_files
    from biobgt.results.measured import Measured

    figure_name = reading.pop("figure_name")
    formats: list[FileFormat] = list(dict.fromkeys(format or ["svg"]))  # type: ignore[arg-type]  # checked on writing
    asked: FigureRequest | PanelsRequest
    if request is not None:
        if subject is not None or options:
            raise InputError("A request already names subject and options: leave out --subject and --set.")
        asked, cohorts = _from_file(request, figure_name, reading)
    else:
        asked, cohorts = _from_options(figure_name, reading, graph, subject, options or [])
    measured = {
        ref: one if isinstance(one, Measured) else Measured(one, folder_store(results, one))
        for ref, one in cohorts.items()
    }
    name = name or figure_name
    if isinstance(asked, PanelsRequest):
        whole = make_panels(measured, asked, style=style, formats=formats)
        shown, content = whole.panels, whole.files(name)
        said = f"{len(shown)} panels, {whole.size}. {whole.caption}"
    else:
        one = make_files(measured[asked.cohort], asked, style=style, formats=formats)
        shown, content, said = (one,), one.files(name), ""
    programs = versions(each.request for each in shown)
    people = {ref: one.cohort for ref, one in measured.items()}
    methods = methods_files(shown, people, programs, name=name, library=name)
    content |= {f"{METHODS}/{file}": data for file, data in methods.items()}
    with results_folder(out, job=f"figure {name}") as folder:
        for path, data in content.items():
            make_folder((folder / path).parent)
            (folder / path).write_bytes(data)
    for line in [*filter(None, [said]), *(f"Written: {out / path}" for path in content)]:
        print_line(line)


@dataclass(frozen=True)
class _NamedPanels(PanelOptions):
    """Which figures are the panels, and how they are arranged."""

    figures: tuple[str, ...] = option((), title="Figures", help="Names of figures, with commas between them.")


_Asked = tuple[FigureRequest | PanelsRequest, "dict[CohortRef, Cohort | Measured]"]


def _from_file(path: Path, figure: str, reading: _Reading) -> _Asked:
    """What a request file of a bundle asks for, and the cohorts of it; demos and models need no file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"The request '{path}' cannot be read. Give a .json file of an exported bundle.") from None
    asked = PanelsRequest.from_json(text) if figure == PANELS else FigureRequest.from_json(text)
    if isinstance(asked, FigureRequest) and asked.figure != figure:
        raise InputError(f"The request '{path}' is for the figure '{asked.figure}', not '{figure}'.")
    panels = (asked,) if isinstance(asked, FigureRequest) else asked.panels
    first = next((panel for panel in panels if panel.cohort.own), panels[0])
    others = dict.fromkeys(panel.cohort for panel in panels if panel.cohort != first.cohort)
    return asked, {first.cohort: _find_cohort(reading, first)[0]} | {ref: ref.draw() for ref in others}


def _from_options(
    figure: str, reading: _Reading, graph: dict[str, Any], subject: str | None, options: Sequence[str]
) -> _Asked:
    """What the command line asks for, of the first subject if it names none."""
    from biobgt.figures.register import all_figures

    cohort, ref = _find_cohort(reading, None)
    if ref.study:
        return _of_study(figure, cohort, ref, options)
    assert isinstance(cohort, Cohort)
    settings = ConnectomeSettings.usual(cohort.kind, **graph)
    who = subject or next(iter(cohort.ids), None)

    def request_of(name: str, given: Sequence[str] = ()) -> FigureRequest:
        kind = all_figures().named(name)
        named = dict(kind.takes.read_text(text, of=f"The figure '{kind.name}'") for text in given)
        return FigureRequest(name, ref, who if kind.of_subject else None, settings, named)

    if figure != PANELS:
        return request_of(figure, options), {ref: cohort}
    of = "A figure of panels"
    chosen = _NamedPanels.from_plain(dict(_NamedPanels.read_text(text, of=of) for text in options), of=of)
    return PanelsRequest(tuple(map(request_of, chosen.figures)), chosen.part(PanelOptions)), {ref: cohort}


def _of_study(figure: str, study: "Cohort | Measured", ref: CohortRef, options: Sequence[str]) -> _Asked:
    """One figure of a study; it has no panels of subjects."""
    from biobgt.figures.register import all_figures

    if figure == PANELS:
        raise InputError("Figures of a study become panels of one on the app's page Export. Name one figure.")
    kind = all_figures().named(figure)
    named = dict(kind.takes.read_text(text, of=f"The figure '{kind.name}'") for text in options)
    return FigureRequest(figure, ref, options=named), {ref: study}


def _find_cohort(reading: _Reading, wanted: FigureRequest | None) -> "tuple[Cohort | Measured, CohortRef]":
    """Draw a demo, with the request's parameters where there is one, or read files and check that they are the ones."""
    where = str(reading["path"])
    if where.startswith(STUDY_PREFIX):
        return _find_study(Path(where.removeprefix(STUDY_PREFIX)), wanted)
    if where.startswith((DEMO_PREFIX, MODEL_PREFIX)):
        kind, _, name = where.partition(":")
        ref = CohortRef(name, demo=kind == "demo", model=kind == "model")
        if wanted is not None:
            if (wanted.cohort.demo, wanted.cohort.model, wanted.cohort.name) != (ref.demo, ref.model, ref.name):
                raise InputError(f"The request is for the cohort '{wanted.cohort.name}', not '{where}'.")
            ref = wanted.cohort
        return (read_arguments(**reading) if ref.demo and wanted is None else ref.draw()), ref
    if wanted is not None and wanted.cohort.study:
        raise InputError(f"The request was made for the study of '{wanted.cohort.name}': give study:FOLDER.")
    if wanted is not None and not wanted.cohort.own:
        meant = wanted.cohort.place
        raise InputError(f"The request was made for {meant}, not for files: give {meant} instead of '{where}'.")
    cohort = read_arguments(**reading)
    if wanted is not None:
        wanted.cohort.check(cohort)
    return cohort, CohortRef(cohort.name)


def _find_study(folder: Path, wanted: FigureRequest | None) -> "tuple[Measured, CohortRef]":
    """Open the folder of a study, and check that its findings are those of the request."""
    from biobgt.study.finished import finished_study

    study = finished_study(folder)
    ref = CohortRef(study.cohort.name, study=True, sha256=study.sha256)
    if wanted is not None and wanted.cohort != ref:
        raise InputError(
            f"The study in '{folder}' is not the one that the figure was made of: names or findings differ. Give the "
            f"folder of the study of '{wanted.cohort.name}'."
        )
    return study, ref
