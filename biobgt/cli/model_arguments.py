"""The options that jobs on models share: which cohort, how it is prepared, with which seed and threads."""

from pathlib import Path
from typing import Annotated, Literal, get_args

import typer

from biobgt.model.presets import MOST_NOISE_DIRECTIONS

CohortKind = Literal["abide", "cni-adhd", "adsim", "adni", "folder"]
KindsOption = Annotated[
    list[str],  # typer takes no list of literals; the reader refuses a kind that it does not know
    typer.Option(
        "--cohort",
        metavar="|".join(get_args(CohortKind)),
        help="Kind of cohort; 'folder' is any folder with a table of groups. Several, each named by its own --cohort, "
        "train one network with a readout for each.",
    ),
]
KindOption = Annotated[
    CohortKind, typer.Option("--cohort", help="Kind of cohort; 'folder' is any folder with a table of groups.")
]
DataOption = Annotated[Path, typer.Option(help="Folder of the cohort's files.")]
PhenotypesOption = Annotated[Path | None, typer.Option(help="Table of groups, sites and covariates.")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, help="CPU threads. Default: all cores.")]
ShrinkageOption = Annotated[
    float | None,
    typer.Option(
        help="Shrinkage of correlations towards the identity before the matrix logarithm. Default: the preset's."
    ),
]
DirectionsOption = Annotated[
    int | None,
    typer.Option(
        "--noise-directions",
        help=f"Number of directions, 0 to {MOST_NOISE_DIRECTIONS}, in which white noise shifts all subjects, to remove "
        "from each subject. Default: the preset's.",
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of splits, initial weights and sampling.")]
ModelOption = Annotated[str, typer.Option(help="Name of a shipped model, or the folder of your own.")]
