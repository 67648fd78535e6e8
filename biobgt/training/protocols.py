"""How subjects are divided for training and test: one object per protocol, known by its key in tables and commands."""

from dataclasses import dataclass
from typing import Literal, get_args

from biobgt.model.training_settings import FOLDS
from biobgt.registry import Registry

Evaluated = Literal["random", "sites", "official", "nested"]  # what ``biobgt evaluate`` offers
RANDOM, SITES, OFFICIAL, NESTED = get_args(Evaluated)
CROSS_VALIDATION = "folds"


@dataclass(frozen=True)
class Protocol:
    """A way to divide the subjects of a cohort.

    Attributes
    ----------
    key : str
    help : str
        What it is, in few words, for the command line.
    title : str
        For a table of results; ``{n}`` is the number of splits. Empty where a single model is not trained per split.
    sentence : str
        What becomes of subjects, below that table.
    """

    key: str
    help: str
    title: str = ""
    sentence: str = ""


PROTOCOLS = Registry(
    "protocol",
    Protocol(
        RANDOM,
        "80/10/10 splits",
        "{n} random 80/10/10 splits",
        "A random split trains on 80 % of the subjects, validates on 10 % and tests on 10 %.",
    ),
    Protocol(
        SITES,
        "leave one site out",
        "one site left out, for each of {n} sites",
        "Where a site is left out, its subjects are tested by a model trained on no subject of that site.",
    ),
    Protocol(
        OFFICIAL,
        "the cohort's own split",
        "the cohort's own split",
        "The cohort's own split is the one that it was released with.",
    ),
    Protocol(NESTED, f"a whole ensemble for each of {FOLDS} folds"),
    Protocol(
        CROSS_VALIDATION,
        "cross-validation",
        "{n}-fold cross-validation",
        "In cross-validation every subject is tested once.",
    ),
)
