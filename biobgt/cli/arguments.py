"""Arguments that several jobs share: what to read, how to make graphs, where to run.

A job names what it wants, a cohort, settings or workers, and a decorator puts the arguments that make it in its place.
"""

import re
from collections.abc import Callable
from copy import copy
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import typer
from typer.models import OptionInfo

from biobgt.cli.screen import print_notice, progress_bar
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.graph import ConnectomeSettings
from biobgt.missing_regions import MISSING_RULES, MissingRule
from biobgt.options import Option, Options
from biobgt.readers import ImageOptions, ReadOptions, read_cohort
from biobgt.recordings import RECORDING_RULES, RecordingRule
from biobgt.registry import Registry

_DEVICES = re.compile(r"auto|cpu|mps|cuda(?::\d+)?")


def _known_device(name: str) -> str:
    if not _DEVICES.fullmatch(name):
        raise InputError(f"There is no device '{name}'. Choose auto, cpu or cuda.")
    return name


Job = Callable[..., None]
OutOption = Annotated[Path, typer.Option(help="Folder for the results; created if missing.")]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu or cuda.", callback=_known_device)]
AtlasOption = Annotated[
    str | None,
    typer.Option(help="Name of a bundled atlas, an atlas table, or 'unknown'. Default: recognised from the files."),
]
OrientationOption = Annotated[
    Literal["time-region", "region-time"] | None,
    typer.Option(help="What rows and columns are, where the files do not say."),
]


def takes(name: str, provider: Callable[..., Any], *, panel: str) -> Callable[[Job], Job]:
    """Replace a job's parameter by those of the function that provides its value.

    Parameters
    ----------
    name : str
        The job's parameter.
    provider : callable
    panel : str
        The heading under which ``--help`` lists the options of the provider.
    """

    def decorate(job: Job) -> Job:
        provided = {key: _under(panel, parameter) for key, parameter in signature(provider).parameters.items()}
        own = [parameter for key, parameter in signature(job).parameters.items() if key != name]

        @wraps(job)
        def command(**values: Any) -> None:
            value = provider(**{key: values.pop(key) for key in provided})
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


def _image(**about: Any) -> Any:
    return typer.Option(rich_help_panel="Images", **about)


def read_arguments(
    path: Annotated[Path, typer.Argument(help="A file, a folder, a .zip or a .biobgt project of subjects.")],
    atlas: AtlasOption = None,
    phenotypes: Annotated[
        Path | None, typer.Option(help="Table of groups (.csv, .tsv or .xlsx). Default: found with the data.")
    ] = None,
    kind: Annotated[
        Literal["series", "connectivity"] | None, typer.Option(help="What the files contain, where they do not say.")
    ] = None,
    orientation: OrientationOption = None,
    header: Annotated[
        Literal["yes", "no"] | None, typer.Option(help="Whether a table's first line is a header, where unclear.")
    ] = None,
    subject_axis: Annotated[
        Literal["first", "last"] | None, typer.Option(help="Axis of the subjects in a three-dimensional array.")
    ] = None,
    variable: Annotated[str | None, typer.Option(help="Array to read from an .npz, .mat or .h5 file.")] = None,
    pattern: Annotated[str | None, typer.Option(help="Which files of a folder to read, such as '*_cc200*'.")] = None,
    missing: Annotated[
        MissingRule,
        typer.Option(help="Where subjects lack regions: " + "; ".join(f"{k}: {v}" for k, v in MISSING_RULES.items())),
    ] = "gaps",
    recordings: Annotated[
        RecordingRule,
        typer.Option(
            help="Several sessions or runs of one person: " + "; ".join(f"{k}: {v}" for k, v in RECORDING_RULES.items())
        ),
    ] = "apart",
    run: Annotated[
        str | None, typer.Option(help="Which recordings to keep, such as run-1, ses-2 or ses-2_run-1. Default: all.")
    ] = None,
    labels: Annotated[
        str | None, _image(help="Label image of the regions, or a bundled one by its atlas's name (schaefer200).")
    ] = None,
    radius: Annotated[float, _image(help="Radius in mm of spheres at the atlas's coordinates.")] = 5.0,
    tr: Annotated[float | None, _image(help="Seconds between volumes. Default: the header's.")] = None,
    smoothing: Annotated[float | None, _image(help="Smoothing, mm.")] = None,
    low_pass: Annotated[float | None, _image(help="Low-pass limit, Hz.")] = None,
    high_pass: Annotated[float | None, _image(help="High-pass limit, Hz.")] = None,
    confounds: Annotated[
        Literal["simple", "scrubbing", "compcor", "ica_aroma"] | None,
        _image(help="Nilearn strategy for fMRIPrep's confounds. Default: none."),
    ] = None,
) -> Cohort:
    """Read the cohort that the arguments name."""
    image = ImageOptions(
        labels=labels,
        radius_mm=radius,
        tr=tr,
        smoothing_mm=smoothing,
        low_pass=low_pass,
        high_pass=high_pass,
        confounds=confounds,
    )
    options = ReadOptions(
        kind=kind,
        orientation=orientation,
        header=header,
        variable=variable,
        subject_axis=subject_axis,
        pattern=pattern,
        missing=missing,
        recordings=recordings,
        run=run,
        image=image,
    )
    with progress_bar("Reading") as progress:
        return read_cohort(path, atlas=atlas, phenotypes=phenotypes, options=options, progress=progress)


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
    declared, types = kind.declared(), get_type_hints(kind)

    def provide(**values: Any) -> Options:
        return kind(**{name: _value(declared[name], value) for name, value in values.items()})

    provide.__signature__ = Signature(  # type: ignore[attr-defined]  # :func:`takes` reads it
        [_parameter(one, types[one.name]) for one in declared.values()]
    )
    return takes(name, provide, panel=panel)


def _parameter(one: Option, type_: Any) -> Parameter:
    """An option of the command line; one that holds several values may be repeated, and a register is listed."""
    several = isinstance(one.default, tuple)
    flags = (one.flag,) if one.flag else ()
    help_ = f"{one.help} One of {', '.join(one.choices)}." if isinstance(one.choices, Registry) else one.help
    annotation: Any = Annotated[(list[str] | None) if several else type_, typer.Option(*flags, help=help_)]
    default = None if several else one.default
    return Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _value(one: Option, given: Any) -> Any:
    """What was given, as the option has it: several values are a tuple, and none of them the default."""
    return (tuple(given) if given else one.default) if isinstance(one.default, tuple) else given


def _where(
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes on this machine. Default: one per core.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on instead.")] = None,
) -> dict[str, Any]:
    return {"workers": workers, "scheduler": scheduler, "tell": print_notice}


reads_cohort = takes("cohort", read_arguments, panel="What to read")
takes_settings = takes_options("settings", ConnectomeSettings, panel="Brain graph")
takes_workers = takes("where", _where, panel="Where to run")
