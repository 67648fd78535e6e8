"""How models are trained, evaluated and compared: the protocols and the options of these commands."""

from dataclasses import dataclass, fields
from typing import Literal, get_args

from biobgt.base.options import Options, Registry, option
from biobgt.model.presets import FOLDS, MOST_NOISE_DIRECTIONS, OWN_PRESET, REFERENCE, Preset, PresetName, preset_named

CohortKind = Literal["abide", "cni-adhd", "adsim", "adni", "folder"]  # what models are trained on
ABIDE, CNI_ADHD, ADSIM, ADNI, FOLDER = get_args(CohortKind)

# How subjects are divided for training and test: one object per protocol, known by its key in tables and commands.


Evaluated = Literal["random", "sites", "official", "nested"]  # what ``biobgt evaluate`` offers
RANDOM, SITES, OFFICIAL, NESTED = get_args(Evaluated)
CROSS_VALIDATION = "folds"


@dataclass(frozen=True)
class _Protocol:
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
    _Protocol(
        RANDOM,
        "80/10/10 splits",
        "{n} random 80/10/10 splits",
        "A random split trains on 80 % of the subjects, validates on 10 % and tests on 10 %.",
    ),
    _Protocol(
        SITES,
        "leave one site out",
        "one site left out, for each of {n} sites",
        "Where a site is left out, its subjects are tested by a model trained on no subject of that site.",
    ),
    _Protocol(
        OFFICIAL,
        "the cohort's own split",
        "the cohort's own split",
        "The cohort's own split is the one that it was released with.",
    ),
    _Protocol(NESTED, f"a whole ensemble for each of {FOLDS} folds"),
    _Protocol(
        CROSS_VALIDATION,
        "cross-validation",
        "{n}-fold cross-validation",
        "In cross-validation every subject is tested once.",
    ),
)

# How models are trained, evaluated and compared: the options of these commands.


@dataclass(frozen=True)
class _SeedOptions(Options):
    """What random numbers are drawn with."""

    seed: int = option(0, title="Seed", help="Seed of splits, initial weights and sampling.", low=0)


@dataclass(frozen=True)
class _PresetOptions(Options):
    """Which preset, and what is changed of it; the preset refuses what it cannot be."""

    preset: PresetName = option(
        OWN_PRESET, title="Preset", help="How the model is built and trained.", choices=get_args(PresetName)
    )
    shrinkage: float | None = option(
        None,
        title="Shrinkage",
        help="Shrinkage of correlations towards the identity before the matrix logarithm. Default: the preset's.",
    )
    noise_directions: int | None = option(
        None,
        title="Directions of noise",
        help=f"Number of directions, 0 to {MOST_NOISE_DIRECTIONS}, in which white noise shifts all subjects, to remove "
        "from each subject. Default: the preset's.",
    )

    def changed_preset(self) -> Preset:
        """The preset, with those of its settings changed that are among these options and were named."""
        given = {one.name: getattr(self, one.name, None) for one in fields(Preset)}
        return preset_named(self.preset, **{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True)
class TrainingOptions(_SeedOptions, _PresetOptions):
    """How an ensemble is trained."""

    folds: int = option(FOLDS, title="Folds", help="Number of folds, each of which trains one ensemble member.", low=2)
    epochs: int | None = option(None, title="Epochs", help="Largest number of epochs. Default: the preset's.", low=1)


@dataclass(frozen=True)
class EvaluationOptions(_SeedOptions, _PresetOptions):
    """How a preset is evaluated."""

    protocol: Evaluated = option(
        RANDOM, title="Protocol", help=" ".join(f"{key}: {PROTOCOLS[key].help}." for key in get_args(Evaluated))
    )
    splits: int = option(
        FOLDS,
        title="Splits",
        help=f"Number of random splits; for nested, how many of the {FOLDS} folds to run now.",
        low=1,
    )
    linear: bool = option(True, title="Baselines", help="Also evaluate the baselines on the same splits.")


@dataclass(frozen=True)
class BenchmarkOptions(_SeedOptions):
    """On how many splits models are compared, and with which of them."""

    splits: int = option(FOLDS, title="Splits", help="How many random 80/10/10 splits.", low=1)
    reference: str = option(REFERENCE, title="Reference", help="Key of the model that all others are compared with.")
