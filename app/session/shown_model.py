"""Which trained model a page shows.

Models are read in :mod:`biobgt.model.installed`, once for all sessions. What a model says of a subject is kept with the
subject's cohort, like everything else that is measured.
"""

from biobgt import Cohort
from biobgt.base.options import Option
from biobgt.model.installed import InstalledModel, fitting_model, installed_models

FITTING = ""  # in place of a model: whichever fits the cohort


def chosen_model(name: str, cohort: Cohort) -> InstalledModel | None:
    """The model of this name, or the one that fits the cohort; None where none does."""
    models = installed_models()
    return models.get(name if name in models else fitting_model(cohort, models))


def model_shown(name: str, cohort: Cohort) -> InstalledModel | None:
    """The model of this name, or else the one that fits the cohort, or the first; None where there is no model."""
    return chosen_model(name, cohort) or next(iter(installed_models().values()), None)


def cohort_behind(one: Option, name: str, cohort: Cohort) -> Cohort | None:
    """The cohort on which the choices of an option depend; None where that is a model's, and there is no model.

    Parameters
    ----------
    one : Option
    name : str
        Of the model.
    cohort : Cohort
    """
    if not one.of_model:
        return cohort
    model = model_shown(name, cohort)
    return None if model is None else model.cohort
