"""The options that jobs on models share: which cohort, of which files, which model, how many threads."""

from pathlib import Path
from typing import Annotated, get_args

import typer

from biobgt.training.cohort_stories import CohortKind

_KIND = "Kind of cohort; 'folder' is any folder with a table of groups."
KindsOption = Annotated[
    list[str],  # typer takes no list of literals; the reader refuses a kind that it does not know
    typer.Option(
        "--cohort",
        metavar="|".join(get_args(CohortKind)),
        help=f"{_KIND} Several, each named by its own --cohort, train one network with a readout for each.",
    ),
]
KindOption = Annotated[CohortKind, typer.Option("--cohort", help=_KIND)]
DataOption = Annotated[Path, typer.Option(help="Folder of the cohort's files.")]
PhenotypesOption = Annotated[Path | None, typer.Option(help="Table of groups, sites and covariates.")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, help="CPU threads. Default: all cores.")]
ModelOption = Annotated[str, typer.Option(help="Name of a shipped model, or the folder of your own.")]
