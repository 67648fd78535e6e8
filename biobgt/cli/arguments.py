"""Arguments that several jobs share: what to read, how to make graphs, where to run.

A job names what it wants, a cohort, settings or workers, and a decorator puts the arguments that make it in its place.
"""

import re
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from biobgt.analysis import ModuleOptions
from biobgt.cli.screen import print_notice, progress_bar
from biobgt.cohort import Cohort
from biobgt.errors import InputError
from biobgt.graph import ConnectomeSettings, Estimator, SignRule, ThresholdRule
from biobgt.hubs.perturbation import Perturbation
from biobgt.readers import ImageOptions, ReadOptions, read_cohort

_DEVICES = re.compile(r"auto|cpu|mps|cuda(?::\d+)?")


def _known_device(name: str) -> str:
    if not _DEVICES.fullmatch(name):
        raise InputError(f"There is no device '{name}'. Choose auto, cpu or cuda.")
    return name


Job = Callable[..., None]
OutOption = Annotated[Path, typer.Option(help="Folder for the results; made when it is not there.")]
GammaOption = Annotated[float, typer.Option(help="Diffusion time of NE, in units of 1/mean eigenvalue.")]
DeviceOption = Annotated[str, typer.Option(help="auto, cpu or cuda.", callback=_known_device)]
AtlasOption = Annotated[
    str | None, typer.Option(help="Bundled atlas, region table, or unknown. Default: as the files say.")
]
OrientationOption = Annotated[
    Literal["time-region", "region-time"] | None, typer.Option(help="Rows by columns, where files do not say.")
]
PerturbationOption = Annotated[Perturbation, typer.Option(help="How NE perturbs a region.")]


def takes(name: str, provider: Callable[..., Any]) -> Callable[[Job], Job]:
    """Replace a job's parameter by those of the function that provides its value."""

    def decorate(job: Job) -> Job:
        provided = signature(provider).parameters
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


def read_arguments(
    path: Annotated[Path, typer.Argument(help="A file, a folder, a .zip or a .biobgt project of subjects.")],
    atlas: AtlasOption = None,
    phenotypes: Annotated[
        Path | None, typer.Option(help="Table of groups, .csv, .tsv or .xlsx. Default: found.")
    ] = None,
    kind: Annotated[
        Literal["series", "connectivity"] | None, typer.Option(help="What the files hold, where they do not say.")
    ] = None,
    orientation: OrientationOption = None,
    header: Annotated[
        Literal["yes", "no"] | None, typer.Option(help="Whether a table's first line is a header, where unclear.")
    ] = None,
    subject_axis: Annotated[
        Literal["first", "last"] | None, typer.Option(help="Axis of the subjects in an array of three dimensions.")
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
        image=image,
    )
    with progress_bar("Reading") as progress:
        return read_cohort(path, atlas=atlas, phenotypes=phenotypes, options=options, progress=progress)


def _settings(
    estimator: Annotated[Estimator, typer.Option(help="How connectivity is estimated.")] = "pearson",
    sign: Annotated[SignRule, typer.Option(help="Which connections count.")] = "positive",
    threshold: Annotated[ThresholdRule, typer.Option(help="How weak connections are dropped.")] = "absolute",
    level: Annotated[float, typer.Option(help="Weight, or share of pairs, of the threshold.")] = 0.3,
    backbone: Annotated[bool, typer.Option(help="Always keep the maximum spanning tree.")] = False,
) -> ConnectomeSettings:
    return ConnectomeSettings(estimator, sign, threshold, level, backbone)


def _module_options(
    resolution: Annotated[float, typer.Option(help="Louvain resolution.")] = 1.0,
    runs: Annotated[int, typer.Option(help="Louvain runs a subject.")] = 10,
    consensus: Annotated[
        bool, typer.Option("--consensus/--best-run", help="Of all runs, what they agree on, or the one of highest Q.")
    ] = False,
    signed: Annotated[
        bool,
        typer.Option(
            "--signed/--unsigned", help="With --sign signed: negative weights count against a module, or not."
        ),
    ] = True,
    hub_z: Annotated[float, typer.Option(help="Within-module z from which a region is a hub.")] = 2.5,
    seed: Annotated[int, typer.Option(help="Seed of Louvain, and of the shuffles of a comparison.")] = 0,
) -> ModuleOptions:
    return ModuleOptions(resolution=resolution, runs=runs, hub_z=hub_z, seed=seed, consensus=consensus, signed=signed)


def _where(
    workers: Annotated[int | None, typer.Option(min=1, help="Processes on this machine. Default: one a core.")] = None,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler to run on instead.")] = None,
) -> dict[str, Any]:
    return {"workers": workers, "scheduler": scheduler, "tell": print_notice}


reads_cohort = takes("cohort", read_arguments)
takes_settings = takes("settings", _settings)
takes_workers = takes("where", _where)
takes_module_options = takes("options", _module_options)
