"""Arguments that several jobs share: what to read, how to make graphs, where to run.

A job names what it wants, a cohort, settings or workers, and a decorator puts the arguments that make it in its place.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from biobgt.cli.screen import print_notice, progress_bar
from biobgt.cohort import Cohort
from biobgt.fetch import COHORT_WORDS, find_cohort
from biobgt.graph import ConnectomeSettings
from biobgt.model.device import DEVICES, known_device
from biobgt.options import Option, Options
from biobgt.readers import ImageOptions, ReadOptions
from biobgt.readers.phenotypes import TABLE_SUFFIXES
from biobgt.readers.time_axis import Orientation
from biobgt.registry import Registry
from biobgt.wording import listed

if TYPE_CHECKING:
    from biobgt.result_store import FolderStore

Job = Callable[..., None]
OutOption = Annotated[Path, typer.Option(help="Folder for the results; created if missing.")]
DeviceOption = Annotated[str, typer.Option(help=f"{DEVICES}.", callback=known_device)]
AtlasOption = Annotated[
    str | None,
    typer.Option(help="Name of a bundled atlas, an atlas table, or 'unknown'. Default: recognised from the files."),
]
OrientationOption = Annotated[Orientation | None, typer.Option(help=ReadOptions.declared()["orientation"].help)]


def takes(name: str, provider: Callable[..., Any], *, panel: str) -> Callable[[Job], Job]:
    """Replace a job's parameter by those of the function that provides its value.

    Parameters
    ----------
    name : str
        The job's parameter.
    provider : callable
        What the job takes, too, such as the cohort, it is given and does not take away.
    panel : str
        The heading under which ``--help`` lists the options of the provider.
    """

    def decorate(job: Job) -> Job:
        wanted, jobs = signature(provider).parameters, signature(job).parameters
        provided = {key: _under(panel, parameter) for key, parameter in wanted.items() if key not in jobs}
        own = [parameter for key, parameter in jobs.items() if key != name]

        @wraps(job)
        def command(**values: Any) -> None:
            shared = {key: values[key] for key in wanted if key in jobs}
            value = provider(**shared, **{key: values.pop(key) for key in provided})
            job(**{name: value}, **values)

        # Arguments before options, as a signature must have them; each decorator keeps its own options together.
        parameters = sorted([*provided.values(), *own], key=lambda item: item.default is not Parameter.empty)
        command.__signature__ = Signature(  # type: ignore[attr-defined]  # Typer makes its options from it
            [item.replace(kind=Parameter.KEYWORD_ONLY) for item in parameters]
        )
        command.__annotations__ = {item.name: item.annotation for item in parameters}
        return command

    return decorate


def _under(panel: str, parameter: Parameter) -> Parameter:
    """List an option under a heading, unless it has one of its own."""
    type_, *about = get_args(parameter.annotation)
    headed = copy(about[0])
    if isinstance(headed, OptionInfo) and headed.rich_help_panel is None:
        headed.rich_help_panel = panel
    return parameter.replace(annotation=Annotated[type_, headed])


def read_arguments(
    path: Annotated[Path, typer.Argument(metavar="COHORT", help=COHORT_WORDS)],
    atlas: AtlasOption = None,
    phenotypes: Annotated[
        Path | None,
        typer.Option(help=f"Table of groups ({listed(TABLE_SUFFIXES, 'or')}). Default: found with the data."),
    ] = None,
    **chosen: Any,
) -> Cohort:
    """Read the cohort that the arguments name; what was chosen are options of reading, and of images."""
    image = ImageOptions(**{name: chosen.pop(name) for name in ImageOptions.declared()})
    options = ReadOptions(**chosen, image=image)
    with progress_bar("Reading") as progress:
        return find_cohort(path, atlas=atlas, phenotypes=phenotypes, options=options, progress=progress)


def takes_options(name: str, kind: type[Options], *, panel: str) -> Callable[[Job], Job]:
    """Replace a job's parameter, a group of options, by one command-line option for each of its fields.

    Parameters
    ----------
    name : str
        The job's parameter.
    kind : type of Options
    panel : str
        The heading under which ``--help`` lists them.
    """
    declared = kind.declared()

    def provide(**values: Any) -> Options:
        return kind(**{name: _value(declared[name], value) for name, value in values.items()})

    provide.__signature__ = Signature(_parameters(kind))  # type: ignore[attr-defined]  # :func:`takes` reads it
    return takes(name, provide, panel=panel)


def _parameters(kind: type[Options]) -> list[Parameter]:
    types = get_type_hints(kind)
    return [_parameter(one, types[name]) for name, one in kind.declared().items()]


def _parameter(one: Option, type_: Any) -> Parameter:
    """An option of the command line; one that holds several values may be repeated, and a register is listed."""
    several = isinstance(one.default, tuple)
    flags = (one.flag,) if one.flag else ()
    help_ = one.help or f"{one.title}."
    if one.choices is not None and (isinstance(one.choices, Registry) or type_ is str):  # Typer lists a Literal's
        help_ += f" One of {', '.join(map(str, one.choices))}."
    if len(one.types) > 1:  # Typer reads one type
        type_ = one.types[0] | None
    annotation: Any = Annotated[(list[str] | None) if several else type_, typer.Option(*flags, help=help_)]
    default = None if several else one.default
    return Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _value(one: Option, given: Any) -> Any:
    """What was given, as the option has it: several values are a tuple, and none of them the default."""
    return (tuple(given) if given else one.default) if isinstance(one.default, tuple) else given


ResultsOption = Annotated[
    Path | None,
    typer.Option(
        help="Folder of your own that keeps measured results for your next command; on a cluster, one that all its "
        "machines see. Default: none."
    ),
]


@dataclass(frozen=True)
class Where:
    """Where a job runs, and where its results are kept for the next one."""

    workers: int | None
    scheduler: str | None
    results: Path | None

    def of(self, cohort: Cohort) -> dict[str, Any]:
        """The same as arguments of :mod:`biobgt.cohort_tables`."""
        store = folder_store(self.results, cohort)
        return {"workers": self.workers, "scheduler": self.scheduler, "tell": print_notice, "store": store}


def _where(
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes on this machine. Default: one per core.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on instead.")] = None,
    results: ResultsOption = None,
) -> Where:
    return Where(workers, scheduler, results)


def chosen_settings(**chosen: Any) -> dict[str, Any]:
    """How graphs are to be made, as far as it was chosen: the rest follows from the cohort's kind of connectivity."""
    return {name: value for name, value in chosen.items() if value is not None}


def _settings_of(cohort: Cohort, **chosen: Any) -> ConnectomeSettings:
    return ConnectomeSettings.usual(cohort.kind, **chosen_settings(**chosen))


def folder_store(folder: Path | None, cohort: Cohort) -> "FolderStore | None":
    """The store of a cohort's results in a folder; None where none is named."""
    if folder is None:
        return None
    from biobgt.export.requests import cohort_sha256
    from biobgt.result_store import FolderStore

    return FolderStore(folder, cohort_sha256(cohort))


_first = [parameter for parameter in signature(read_arguments).parameters.values() if parameter.name != "chosen"]
_of_images = [_under("Images", parameter) for parameter in _parameters(ImageOptions)]
read_arguments.__signature__ = Signature(  # type: ignore[attr-defined]  # :func:`takes` reads it
    [*_first, *_parameters(ReadOptions), *_of_images]
)
reads_cohort = takes("cohort", read_arguments, panel="What to read")
_of_graphs = [
    parameter.replace(default=None) if ConnectomeSettings.declared()[parameter.name].default_of else parameter
    for parameter in _parameters(ConnectomeSettings)
]
chosen_settings.__signature__ = Signature(_of_graphs)  # type: ignore[attr-defined]  # :func:`takes` reads it
_settings_of.__signature__ = Signature([Parameter("cohort", Parameter.KEYWORD_ONLY), *_of_graphs])  # type: ignore[attr-defined]
takes_settings = takes("settings", _settings_of, panel="Brain graph")
takes_workers = takes("where", _where, panel="Where to run")
