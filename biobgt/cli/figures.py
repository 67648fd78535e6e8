"""The job that makes one figure for the paper with the numbers behind it, as the app's export does."""

from collections.abc import Sequence
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from biobgt.base.errors import InputError
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
from biobgt.cli.screen import print_line
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.export.request import MODEL_PREFIX, PANELS, CohortRef, FigureRequest
from biobgt.figures.paper_style import FILE_FORMATS, FileFormat, PaperStyle
from biobgt.readers.fetch import COHORT_WORDS, DEMO_PREFIX

Reading = dict[str, Any]


NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="Which figure, such as hub_curves; panels for several in one.")
]
CohortArgument = Annotated[
    Path,
    typer.Argument(metavar="COHORT", help=f"{COHORT_WORDS} Of a model's results: model:NAME."),
]


def _reading(**arguments: Any) -> Reading:
    """Which figure, and what to read and how: the arguments of all jobs that read."""
    return arguments


_how_to_read = dict(signature(read_arguments).parameters)
_how_to_read["path"] = _how_to_read["path"].replace(annotation=CohortArgument)
_name = Parameter("figure_name", Parameter.POSITIONAL_OR_KEYWORD, annotation=NameArgument)
_reading.__signature__ = Signature([_name, *_how_to_read.values()])  # type: ignore[attr-defined]


@takes("reading", _reading, panel="What to read")
@takes("graph", chosen_settings, panel="Brain graph")
@takes_options("style", PaperStyle, panel="Look of the figure")
def figure(
    reading: Reading,
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
    from biobgt.export.bundle import make_files, versions, write_files, write_methods
    from biobgt.export.methods import methods_of
    from biobgt.results.measured import Measured

    figure_name = reading.pop("figure_name")
    formats: list[FileFormat] = list(dict.fromkeys(format or ["svg"]))  # type: ignore[arg-type]  # checked on writing
    if figure_name == PANELS:
        from biobgt.cli.panels import panels_asked_for, write_panels

        asked, cohorts = panels_asked_for(reading, graph, subject=subject, options=options, request=request)
        write_panels(asked, cohorts, style=style, formats=formats, out=out, name=name or PANELS, results=results)
        return
    wanted = _from_file(request, figure_name, subject, options) if request is not None else None
    cohort, ref = find_cohort(reading, wanted)
    if wanted is None:
        settings = ConnectomeSettings.usual(cohort.kind, **graph)
        wanted = request_of(figure_name, ref, subject or next(iter(cohort.ids), None), settings, options or [])
    made = make_files(Measured(cohort, folder_store(results, cohort)), wanted, style=style, formats=formats)
    name = name or wanted.figure
    methods = methods_of([made], {wanted.cohort: cohort}, versions([wanted]))
    with results_folder(out, job=f"figure {name}") as folder:
        paths = [*write_files(made, folder, name), *write_methods(methods, folder, name)]
        written = [path.relative_to(folder) for path in paths]
    for path in written:
        print_line(f"Written: {out / path}")


def request_text(path: Path, subject: str | None, options: list[str] | None) -> str:
    """Read a request file, which leaves nothing to be named beside it.

    Parameters
    ----------
    path : Path
    subject : str or None
    options : list of str or None
        What the command line names beside the request.
    """
    if subject is not None or options:
        raise InputError("A request already names subject and options: leave out --subject and --set.")
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"The request '{path}' cannot be read. Give a .json file of an exported bundle.") from None


def _from_file(path: Path, figure: str, subject: str | None, options: list[str] | None) -> FigureRequest:
    request = FigureRequest.from_json(request_text(path, subject, options))
    if request.figure != figure:
        raise InputError(f"The request '{path}' is for the figure '{request.figure}', not '{figure}'.")
    return request


def request_of(
    figure: str, cohort: CohortRef, subject: str | None, settings: ConnectomeSettings, options: Sequence[str] = ()
) -> FigureRequest:
    """Ask for a figure with the options that the command line names.

    Parameters
    ----------
    figure : str
    cohort : CohortRef
    subject : str or None
        Left out where the figure is of groups or of a model.
    settings : ConnectomeSettings
    options : sequence of str
        As ``name=value``.
    """
    from biobgt.figures.catalogue import FIGURES

    kind = FIGURES.named(figure)
    given = dict(kind.takes.read_text(text, of=f"The figure '{kind.name}'") for text in options)
    return FigureRequest(figure, cohort, subject if kind.of_subject else None, settings, given)


def find_cohort(reading: Reading, wanted: FigureRequest | None) -> tuple[Cohort, CohortRef]:
    """Draw a demo, with the request's parameters where there is one, or read files and check that they are the ones."""
    where = str(reading["path"])
    if where.startswith((DEMO_PREFIX, MODEL_PREFIX)):
        kind, _, name = where.partition(":")
        ref = CohortRef(name, demo=kind == "demo", model=kind == "model")
        if wanted is not None:
            if (wanted.cohort.demo, wanted.cohort.model, wanted.cohort.name) != (ref.demo, ref.model, ref.name):
                raise InputError(f"The request is for the cohort '{wanted.cohort.name}', not '{where}'.")
            ref = wanted.cohort
        return (read_arguments(**reading) if ref.demo and wanted is None else ref.draw()), ref
    if wanted is not None and not wanted.cohort.own:
        prefix = DEMO_PREFIX if wanted.cohort.demo else MODEL_PREFIX
        meant = f"{prefix}{wanted.cohort.name}"
        raise InputError(f"The request was made for {meant}, not for files: give {meant} instead of '{where}'.")
    cohort = read_arguments(**reading)
    if wanted is not None:
        wanted.cohort.check(cohort)
    return cohort, CohortRef(cohort.name)
