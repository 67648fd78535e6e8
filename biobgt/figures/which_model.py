"""Which trained model a figure shows, and what the captions and methods of all such figures say.

A figure of a model's groups is made of the cohort that the model was trained on, ``model:NAME`` on the command line:
its group results are shipped, its subjects are not. A figure of what a model says of a subject is made of that
subject, and names the model among its options, with the SHA-256 of its weights, so that another model of that name is
refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from biobgt.base.beyond import GIVEN_FC, beyond_methods
from biobgt.base.colours import BLUE, LINE_GREY, ORANGE, PURPLE, VERMILION, WINE
from biobgt.base.errors import InputError
from biobgt.base.options import Options, option
from biobgt.base.references import in_brackets
from biobgt.base.wording import TRAINED_ON, is_trained_on
from biobgt.data.atlas import named_labelling
from biobgt.data.cohort import kind_of_group
from biobgt.figures.drawing import Drawing
from biobgt.model.attention import SIMPLER_THAN_BLOCKS
from biobgt.model.folder import pretrained_names, readout_names
from biobgt.model.pretrained import InstalledModel, installed_model

if TYPE_CHECKING:
    from biobgt.data.cohort import Cohort
    from biobgt.model.group_results import GroupSpread
    from biobgt.results.measured import Measured

ONE_MEMBER = "the one ensemble member that was not trained on that subject"
OTHER_COLOUR = LINE_GREY
_GROUP_COLOURS = {"NC": BLUE, "ASD": VERMILION, "ADHD": ORANGE, "MCI": PURPLE, "AD": WINE}
_TEST = (
    "with a linear model, with covariates and without, by permuting its residuals [@freedman1983]. The "
    "statistic is Welch's t, in which each group has its own variance. Overall connectivity (mean |FC|), from which "
    "attention is made, is one of the covariates where that is said, and the test without it stands beside"
)
_BLOCKS = (
    f"Groups were compared in each module block's mean attention over layers and heads {_TEST}. False discovery rates "
    "are over all blocks [@benjamini1995]."
)
_CONTRAST = (
    "Groups were compared in the ratio of mean attention within to between functional modules, over layers and heads, "
    f"{_TEST}."
)


def group_colour(group: str) -> str:
    """Colour of a group, the same in all figures."""
    return _GROUP_COLOURS.get(kind_of_group(group), OTHER_COLOUR)


def groups_of(cohort: "Cohort") -> tuple[str, ...]:
    """The groups of the model whose cohort this is, controls first."""
    return installed_model(cohort.name).group_names


def model_of(measured: "Measured", figure: str) -> InstalledModel:
    """The model whose cohort was measured."""
    if len(measured.cohort):
        raise InputError(f"The figure '{figure}' shows a model: name one, such as model:abide-cc200.")
    return installed_model(measured.cohort.name)


@dataclass(frozen=True)
class ChosenModelOptions(Options):
    """Which model is asked about a subject, or about all subjects of a cohort."""

    model: str = option("", title="Model", help="The trained model, by its name.")
    model_sha256: str = option(
        "", title="SHA-256 of the model", help="Of the model's weights; another model of that name is refused."
    )


def asked_model(options: ChosenModelOptions, figure: str) -> InstalledModel:
    """The model that the options name, if it is still the one that they mean."""
    if options.model not in (*pretrained_names(), *readout_names()):
        known = ", ".join(pretrained_names()) or "none"
        raise InputError(f"The figure '{figure}' needs a model, such as model=NAME. Installed: {known}.")
    model = installed_model(options.model)
    if options.model_sha256 not in ("", model.sha256):
        raise InputError(
            f"The model '{model.name}' that is installed here is not the one the figure was made with: the SHA-256 of "
            "its weights differs. Use the version of BioBGT Explorer that provenance.json names."
        )
    return model


def spread_of_model(model: InstalledModel) -> "GroupSpread":
    """How the people of a model's groups spread, if that was measured."""
    if model.spread is None:
        raise InputError(
            f"How people spread around the group means was not measured for model {model.name}; 'biobgt card' does it "
            "from the data that it was trained on."
        )
    return model.spread


def known_group(model: InstalledModel, group: str) -> str:
    """A group, if the model has it."""
    if group not in model.group_names:
        raise InputError(f"Model {model.name} has no group '{group}'; choose one of {', '.join(model.group_names)}.")
    return group


def model_opening(model: InstalledModel, groups: Sequence[str] = ()) -> str:
    """Whose figure it is, as the caption of one of a model's groups, of some or of all, opens."""
    simulated = model.simulates(groups or model.group_names)
    return f"Model {model.name}, with simulated patients" if simulated else f"Model {model.name}"


def model_methods(model: InstalledModel) -> tuple[str, ...]:
    """Methods of a figure of a model."""
    atlas = model.atlas
    return (
        f"Attention and probabilities are those of the model {model.name}, an ensemble of Biologically Plausible Brain "
        f"Graph Transformers [@peng2025] on the {atlas.n_regions} regions of {atlas.title}{in_brackets(atlas.cites)}. "
        f"{model.card['protocol']}",
    )


def compared_methods(model: InstalledModel, *, blocks: bool = True) -> tuple[str, ...]:
    """Methods of a figure of a model whose groups were compared, block by block or in one ratio."""
    named = named_labelling(next(iter(model.atlas.labels), ""))
    tested = _BLOCKS if blocks else _CONTRAST
    if blocks and f"q{GIVEN_FC}" in model.groups.tests:
        tested = f"{tested} {beyond_methods(SIMPLER_THAN_BLOCKS)}"
    return (*model_methods(model), f"Functional modules are {named}.", tested)


def model_drawing(
    model: InstalledModel, said: str, *, groups: Sequence[str] = (), methods: Sequence[str] = (), **about: Any
) -> Drawing:
    """The drawing of a model's groups, of some or of all: its caption opens with whose it is.

    Parameters
    ----------
    model : InstalledModel
    said : str
        The caption behind its opening.
    groups : sequence of str
        Whose it is; by default all.
    methods : sequence of str
        By default those of the model.
    **about
        Further attributes of :class:`~biobgt.figures.drawing.Drawing`.
    """
    caption, simulated = f"{model_opening(model, groups)}: {said}", model.simulates(groups or model.group_names)
    return Drawing(caption=caption, simulated=simulated, methods=methods or model_methods(model), **about)


def subject_methods(model: InstalledModel, warning: str = "") -> tuple[str, ...]:
    """Methods of a figure of what a model says of a subject, for whom the mean of all members is taken.

    Parameters
    ----------
    model : InstalledModel
    warning : str
        What the model's prediction is given with; whether it was trained on the subject is said there.
    """
    asked = "For a subject that it was not trained on, the model gives the mean over all ensemble members."
    if is_trained_on(warning):
        who = "The subject is one of" if TRAINED_ON in warning else "A subject of this id is among"
        asked = (
            f"{who} those that the model was trained on: what the mean over all ensemble members says of it is no "
            "evidence of what the model says of new subjects."
        )
    return (*model_methods(model), asked)
