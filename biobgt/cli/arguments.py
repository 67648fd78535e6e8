"""What jobs share: what to read, how to make graphs, where to run, and what becomes of results."""

import shlex
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import pandas as pd
import typer
from typer.models import OptionInfo

from biobgt import __version__
from biobgt.base.arrays import KeepArray
from biobgt.base.files import make_folder, write_csv
from biobgt.base.folders import result_folder
from biobgt.base.options import Options, Registry
from biobgt.base.wording import counted, listed
from biobgt.cli.main import print_line, print_notice, progress_bar
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.model.presets import DEVICES, known_device
from biobgt.readers import ImageOptions, ReadOptions
from biobgt.readers.fetch import COHORT_WORDS, find_cohort
from biobgt.readers.phenotypes import TABLE_SUFFIXES

if TYPE_CHECKING:
    from biobgt.results.store import FolderStore

# A job names what it wants, a cohort, settings or workers, and a decorator puts the arguments that make it in its
# place.


Job = Callable[..., None]
OutOption = Annotated[Path, typer.Option(help="Folder for the results; created if missing.")]
DeviceOption = Annotated[str, typer.Option(help=f"{DEVICES}.", callback=known_device)]
ModelOption = Annotated[str, typer.Option(help="Name of an installed model, or the folder of any other.")]
AtlasOption = Annotated[
    str | None,
    typer.Option(help="Name of a bundled atlas, an atlas table, or 'unknown'. Default: recognised from the files."),
]


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
    keep: KeepArray = lambda values: values,
    **chosen: Any,
) -> Cohort:
    """Read the cohort that the arguments name; what was chosen are options of reading, and of images."""
    image = ImageOptions(**{name: chosen.pop(name) for name in ImageOptions.declared()})
    options = ReadOptions(**chosen, image=image)
    with progress_bar("Reading") as progress:
        return find_cohort(path, atlas=atlas, phenotypes=phenotypes, options=options, progress=progress, keep=keep)


def _parameters(kind: type[Options]) -> list[Parameter]:
    """Options of the command line; one that holds several values may be repeated, and a register is listed."""
    found, types = [], get_type_hints(kind)
    for name, one in kind.declared().items():
        type_, several = types[name], isinstance(one.default, tuple)
        help_ = one.help or f"{one.title}."
        if one.choices is not None and (isinstance(one.choices, Registry) or type_ is str):  # Typer lists a Literal's
            help_ += f" One of {', '.join(map(str, one.choices))}."
        if several:
            type_ = list[one.types[0]] | None  # type: ignore[name-defined]
        elif len(one.types) > 1:  # Typer reads one type
            type_ = one.types[0] | None
        annotation: Any = Annotated[type_, typer.Option(*((one.flag,) if one.flag else ()), help=help_)]
        default = None if several else one.default
        found.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
    return found


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
        for key, given in values.items():
            if isinstance(declared[key].default, tuple):  # several values are a tuple, and none of them the default
                values[key] = tuple(given) if given else declared[key].default
        return kind(**values)

    provide.__signature__ = Signature(_parameters(kind))  # type: ignore[attr-defined]  # :func:`takes` reads it
    return takes(name, provide, panel=panel)


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

    workers: Annotated[int | None, typer.Option(min=1, help="Processes on this machine. Default: one per core.")] = None
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on instead.")] = None
    results: ResultsOption = None

    def of(self, cohort: Cohort) -> dict[str, Any]:
        """The same as arguments of :mod:`biobgt.results.tables`."""
        store = folder_store(self.results, cohort)
        return {"workers": self.workers, "scheduler": self.scheduler, "tell": print_notice, "store": store}


takes_workers = takes("where", Where, panel="Where to run")


def chosen_settings(**chosen: Any) -> dict[str, Any]:
    """How graphs are to be made, as far as it was chosen: the rest follows from the cohort's kind of connectivity."""
    return {name: value for name, value in chosen.items() if value is not None}


def _settings_of(cohort: Cohort, **chosen: Any) -> ConnectomeSettings:
    return ConnectomeSettings.usual(cohort.kind, **chosen_settings(**chosen))


def folder_store(folder: Path | None, cohort: Cohort) -> "FolderStore | None":
    """The store of a cohort's results in a folder; None where none is named."""
    if folder is None:
        return None
    from biobgt.export.request import cohort_sha256
    from biobgt.results.store import FolderStore

    return FolderStore(folder, cohort_sha256(cohort))


_first = [
    parameter for parameter in signature(read_arguments).parameters.values() if parameter.name not in ("keep", "chosen")
]
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

# What jobs write: results that appear whole or not at all, and beside them how the subjects were read.


def results_folder(out: Path, *, job: str, manifest: bool = True) -> AbstractContextManager[Path]:
    """Give a folder to write in that becomes ``out``, with a manifest, when the job is done, and vanishes when not.

    Results of other jobs in it stay, and so do a user's files: see :mod:`biobgt.base.folders`.

    Parameters
    ----------
    out : Path
    job : str
        Whose earlier results are replaced.
    manifest : bool
        Write ``manifest.json``, which names the files.
    """
    about = {"command": typed_command(sys.argv[1:]), "version": __version__}
    return result_folder(out, job=job, about=about, manifest=manifest)


def typed_command(arguments: list[str]) -> str:
    """What was typed, without what belongs to a machine or changes no number: folders of data and runs, threads."""
    kept = ["biobgt"]
    words = iter([part for word in arguments for part in (word.split("=", 1) if word.startswith("--") else [word])])
    for word in words:
        if word in ("--runs", "--threads", "--device"):
            next(words, None)
        elif word == "--data":
            next(words, None)
            kept += [word, "DATA"]
        elif word != "--resume":
            kept.append(Path(word).name if Path(word).is_absolute() else word)
    return shlex.join(kept).encode("utf-8", "backslashreplace").decode()  # names of files need not be UTF-8


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as CSV, with numbers to eight digits, in a folder that is made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_csv(frame, path, index=False, float_format="%.8g")


def write_settings(cohort: Cohort, settings: ConnectomeSettings, options: dict[str, Any], path: Path) -> None:
    """Write how a result was made, one row per setting.

    Parameters
    ----------
    cohort : Cohort
    settings : ConnectomeSettings
    options : dict
        Those of the job.
    path : Path
    """
    rows = {
        "cohort": cohort.name,
        "simulated": cohort.simulated,
        "atlas": cohort.atlas.name,
        "connectivity": cohort.kind.key,
        **settings.as_dict(),
        **options,
    }
    if not cohort.kind.functional:
        rows["estimator"] = "none"
    if settings.threshold == "none":
        rows["level"] = ""
    write_table(pd.DataFrame({"setting": list(rows), "value": list(rows.values())}), path)


def write_reading(cohort: Cohort, folder: Path) -> None:
    """Write where every subject came from and what was refused, and say so if anything was."""
    sources = [
        {
            "subject": subject.id,
            "file": source.file,
            "bytes": source.n_bytes,
            "sha256": source.sha256,
            "reader": source.reader,
            "options": "; ".join(f"{key}={value}" for key, value in source.options.items()),
        }
        for subject in cohort
        if (source := subject.source) is not None
    ]
    make_folder(folder)
    write_csv(pd.DataFrame(sources), folder / "sources.csv", index=False)
    write_csv(refusals(cohort), folder / "refused.csv", index=False)
    if cohort.refused:
        first = cohort.refused[0]
        print_line(
            f"Refused: {counted(len(cohort.refused), 'file')}; refused.csv says why. "
            f"The first, {first.file}: {first.reason}"
        )
    if cohort.unmatched_subjects:
        print_line(f"Without a row in the phenotype table: {counted(len(cohort.unmatched_subjects), 'subject')}.")


def print_settings(cohort: Cohort, settings: ConnectomeSettings) -> None:
    """Say whether subjects are simulated, how graphs were made, and whose connectivity was not estimated."""
    print_simulated(cohort)
    print_line(settings.describe(cohort.kind))
    n_matrices = sum(subject.kind == "connectivity" for subject in cohort)
    if n_matrices:
        print_line(f"{cohort.kind.title} taken from the files, not estimated: {counted(n_matrices, 'subject')}.")


def print_simulated(cohort: Cohort) -> None:
    """Say that subjects are simulated, where they are."""
    if cohort.simulated:
        n_simulated = sum(subject.simulated for subject in cohort)
        print_line(f"SIMULATED: {n_simulated} of the subjects are not real people.")


def refusals(cohort: Cohort) -> pd.DataFrame:
    """One row per file that was refused."""
    return pd.DataFrame([{"file": item.file, "why": item.reason} for item in cohort.refused], columns=["file", "why"])
