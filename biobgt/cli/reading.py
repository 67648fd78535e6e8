"""The arguments by which every job that reads subjects says what to read and how."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from biobgt.cli.screen import progress_bar
from biobgt.cohort import Cohort
from biobgt.readers import ImageOptions, ReadOptions, read_cohort


def reads_cohort(job: Callable[..., None]) -> Callable[..., None]:
    """Turn a job that takes a cohort into a command that takes a path and the reading options."""
    reading = signature(_read).parameters
    own = [parameter for name, parameter in signature(job).parameters.items() if name != "cohort"]

    @wraps(job)
    def command(**values: Any) -> None:
        cohort = _read(**{name: values.pop(name) for name in reading})
        job(cohort, **values)

    parameters = sorted([*reading.values(), *own], key=lambda parameter: parameter.default is not Parameter.empty)
    command.__signature__ = Signature(  # type: ignore[attr-defined]  # Typer makes its options from it
        [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


def _read(
    path: Annotated[Path, typer.Argument(help="A file, a folder or a .zip of subjects.")],
    atlas: Annotated[str | None, typer.Option(help="Bundled atlas or region table. Default: recognised.")] = None,
    phenotypes: Annotated[Path | None, typer.Option(help="Table of groups: .csv, .tsv or .xlsx.")] = None,
    kind: Annotated[
        Literal["series", "connectivity"] | None, typer.Option(help="What the files hold, where they do not say.")
    ] = None,
    orientation: Annotated[
        Literal["time-region", "region-time"] | None, typer.Option(help="Rows by columns, where files do not say.")
    ] = None,
    variable: Annotated[str | None, typer.Option(help="Array to read of an .npz, .mat or .h5 file.")] = None,
    pattern: Annotated[str | None, typer.Option(help="Files of a folder to read, such as '*_cc200*'.")] = None,
    labels: Annotated[Path | None, typer.Option(help="Images: label image of the regions.")] = None,
    radius: Annotated[float, typer.Option(help="Images: radius in mm of spheres at the atlas's coordinates.")] = 5.0,
    tr: Annotated[float | None, typer.Option(help="Images: seconds between volumes. Default: the header's.")] = None,
    smoothing: Annotated[float | None, typer.Option(help="Images: smoothing, mm.")] = None,
    low_pass: Annotated[float | None, typer.Option(help="Images: low-pass limit, Hz.")] = None,
    high_pass: Annotated[float | None, typer.Option(help="Images: high-pass limit, Hz.")] = None,
    confounds: Annotated[
        Literal["simple", "scrubbing", "compcor", "ica_aroma"] | None,
        typer.Option(help="Images: nilearn strategy for fMRIPrep's confounds. Default: none."),
    ] = None,
) -> Cohort:
    image = ImageOptions(
        labels=labels,
        radius_mm=radius,
        tr=tr,
        smoothing_mm=smoothing,
        low_pass=low_pass,
        high_pass=high_pass,
        confounds=confounds,
    )
    options = ReadOptions(kind=kind, orientation=orientation, variable=variable, pattern=pattern, image=image)
    with progress_bar("Reading") as progress:
        return read_cohort(path, atlas=atlas, phenotypes=phenotypes, options=options, progress=progress)
