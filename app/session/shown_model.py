"""Which trained model a page shows.

Models are read in :mod:`biobgt.model.installed`, once for all sessions. What a model says of a subject is kept with the
subject's cohort, like everything else that is measured.
"""

from biobgt import Cohort
from biobgt.model.installed import InstalledModel, fitting_model, installed_model, installed_models

FITTING = ""  # in place of a model: whichever fits the cohort


def chosen_model(name: str, cohort: Cohort) -> InstalledModel | None:
    """The model of this name, or the one that fits the cohort; None where none does."""
    found = name if name in installed_models() else fitting_model(cohort)
    return installed_model(found) if found else None


def network_shown() -> InstalledModel | None:
    """The first network that several cohorts share; None where there is none."""
    return next((model for model in installed_models().values() if model.readouts), None)


def model_shown(name: str, cohort: Cohort) -> InstalledModel | None:
    """The same, or the first of all; None where there is no model."""
    return chosen_model(name, cohort) or next(iter(installed_models().values()), None)
