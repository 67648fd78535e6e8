"""The job that makes one figure for the paper with the numbers behind it, as the app's export does."""

from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biobgt.cli.arguments import OutOption, read_arguments, takes, takes_settings
from biobgt.cli.results import results_folder
from biobgt.cli.screen import print_line
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.export.requests import DEMO_PREFIX, MODEL_PREFIX, CohortRef, FigureRequest
from biobgt.graph import ConnectomeSettings

if TYPE_CHECKING:  # matplotlib takes a second to import, and other jobs do not need it
    from biobgt.figures.paper.style import FileFormat

Reading = dict[str, Any]


NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Which figure, such as hub_curves.")]
CohortArgument = Annotated[
    Path,
    typer.Argument(metavar="COHORT", help="A file, a folder or a .zip of subjects; or demo:asd, model:NAME."),
]


def _reading(**arguments: Any) -> Reading:
    """Which figure, and what to read and how: the arguments of all jobs that read."""
    return arguments


_how_to_read = dict(signature(read_arguments).parameters)
_how_to_read["path"] = _how_to_read["path"].replace(annotation=CohortArgument)
_name = Parameter("figure_name", Parameter.POSITIONAL_OR_KEYWORD, annotation=NameArgument)
_reading.__signature__ = Signature([_name, *_how_to_read.values()])  # type: ignore[attr-defined]


@takes("reading", _reading)
@takes_settings
def figure(
    reading: Reading,
    settings: ConnectomeSettings,
    out: OutOption,
    subject: Annotated[str | None, typer.Option(help="Whose figure. Default: the first subject's.")] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", help="An option of the figure, such as gamma=0.5; may be repeated.")
    ] = None,
    request: Annotated[
        Path | None, typer.Option(help="Request of an exported bundle; it holds subject, graph and options.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the files. Default: the figure's.")] = None,
    format: Annotated[list[str] | None, typer.Option(help="svg, pdf, png or tiff; may be repeated.")] = None,
    width: Annotated[float, typer.Option(help="Width in mm; journals have 85, 114 or 174.")] = 85.0,
    height: Annotated[float | None, typer.Option(help="Height in mm. Default: what suits the figure.")] = None,
    font: Annotated[str, typer.Option(help="Name of an installed font.")] = "DejaVu Sans",
    font_size: Annotated[float, typer.Option(help="Size of labels, in points.")] = 7.0,
    dpi: Annotated[int, typer.Option(help="Dots per inch of PNG and TIFF.")] = 300,
    palette: Annotated[str, typer.Option(help="okabe-ito or tol-muted.")] = "okabe-ito",
) -> None:
    """Make one figure for the paper and the numbers behind it, as the app exports them."""
    from biobgt.export.bundle import make_files, write_files
    from biobgt.figures.paper.style import PaperStyle

    style = PaperStyle(width, height, font, font_size, dpi, palette)
    figure_name = reading.pop("figure_name")
    wanted = _from_file(request, figure_name, subject, options) if request is not None else None
    cohort, ref = _find_cohort(reading, wanted)
    if wanted is None:
        wanted = _from_options(figure_name, ref, subject or next(iter(cohort.ids), None), settings, options or [])
    formats: list[FileFormat] = list(dict.fromkeys(format or ["svg"]))  # type: ignore[arg-type]  # checked on writing
    made = make_files(cohort, wanted, style=style, formats=formats)
    name = name or wanted.figure
    with results_folder(out, job=f"figure {name}") as folder:
        written = [path.relative_to(folder) for path in write_files(made, folder, name)]
    for path in written:
        print_line(f"Written: {out / path}")


def _from_file(path: Path, figure: str, subject: str | None, options: list[str] | None) -> FigureRequest:
    if subject is not None or options:
        raise InputError("A request says whose figure it is and with which options: leave --subject and --set out.")
    try:
        request = FigureRequest.from_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise InputError(f"The request '{path}' cannot be read. Give a .json file of an exported bundle.") from None
    if request.figure != figure:
        raise InputError(f"The request '{path}' is of the figure '{request.figure}', not '{figure}'.")
    return request


def _from_options(
    figure: str, cohort: CohortRef, subject: str | None, settings: ConnectomeSettings, options: list[str]
) -> FigureRequest:
    from biobgt.export.recipes import recipe_of

    recipe = recipe_of(figure)
    given = dict(recipe.read_option(text) for text in options)
    return FigureRequest(figure, cohort, subject if recipe.of_subject else None, settings, given)


def _find_cohort(reading: Reading, wanted: FigureRequest | None) -> tuple[Cohort, CohortRef]:
    """Draw a demo, with the request's parameters where there is one, or read files and check that they are the ones."""
    where = str(reading["path"])
    if where.startswith((DEMO_PREFIX, MODEL_PREFIX)):
        kind, _, name = where.partition(":")
        ref = CohortRef(name, demo=kind == "demo", model=kind == "model")
        if wanted is not None:
            if (wanted.cohort.demo, wanted.cohort.model, wanted.cohort.name) != (ref.demo, ref.model, ref.name):
                raise InputError(f"The request is of the cohort '{wanted.cohort.name}', not of '{where}'.")
            ref = wanted.cohort
        return ref.draw(), ref
    if wanted is not None and not wanted.cohort.own:
        prefix = DEMO_PREFIX if wanted.cohort.demo else MODEL_PREFIX
        raise InputError(f"The request is of no files: give {prefix}{wanted.cohort.name} instead of '{where}'.")
    cohort = read_arguments(**reading)
    if wanted is not None:
        wanted.cohort.check(cohort)
    return cohort, CohortRef(cohort.name)
