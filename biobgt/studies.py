"""Results on real cohorts that ship with the project, to be shown beside a user's own subject.

They are over subjects, never of one: means, spreads and intervals. ``assets/README.md`` names the commands that made
them, and ``docs/plausibility.md`` says what they mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import pandas as pd

from biobgt.assets import asset
from biobgt.atlas import Atlas
from biobgt.graph import ConnectomeSettings

STUDY_ATLAS = "cc200"


@dataclass(frozen=True, eq=False)
class StudySweep:
    """The γ-sweep of the ABIDE study that fits a subject's graph, or why none does.

    Attributes
    ----------
    agreement : DataFrame or None
        ``gamma`` (in units of 1/mean(λ)), ``reference``, ``mean`` and ``sd`` of Spearman's ρ over subjects.
    note : str
        Which condition of the study this is and in what it differs, or that none fits; for the caption.
    """

    agreement: pd.DataFrame | None
    note: str


@cache
def _table(name: str) -> pd.DataFrame:
    return pd.read_csv(asset("studies", f"{name}.csv"))


def abide_plausibility(group: str = "all") -> pd.DataFrame:
    """Agreement of node entanglement with node efficiency and FC strength, over γ, threshold and perturbation.

    Parameters
    ----------
    group : {"all", "NC", "ASD"}

    Returns
    -------
    DataFrame
        One row for each ``level`` (absolute threshold), ``perturbation``, ``signed``, ``gamma`` (in units of
        1/mean(λ)), ``reference`` and ``measure``: ``mean``, ``sd``, ``low``, ``high`` and ``n_subjects``.
    """
    table = _table("abide_plausibility")
    return table[table["group"] == group].drop(columns="group").reset_index(drop=True)


def abide_modules() -> pd.DataFrame:
    """Louvain modules of NC and ASD: mean and SD of each measure, and their difference with covariates held."""
    return _table("abide_modules").copy()


def abide_consensus_modules() -> pd.DataFrame:
    """Agreement of each group's consensus modules with the functional labels, and with each other."""
    return _table("abide_modules_consensus").copy()


def study_sweep(settings: ConnectomeSettings, atlas: Atlas, *, perturbation: str = "control") -> StudySweep:
    """Find the ABIDE subjects whose graphs were made as these are.

    Parameters
    ----------
    settings : ConnectomeSettings
    atlas : Atlas
        Another atlas than the study's is let pass and named; any other way of making graphs is not.
    perturbation : {"control", "remove"}
    """
    study = abide_plausibility()
    levels = sorted(study["level"].unique())
    level, differences = _study_level(settings, levels)
    if level is None:
        return StudySweep(None, f"The ABIDE study has no graphs like these ({differences}), so none is shown behind.")
    chosen = (study["level"] == level) & (study["perturbation"] == perturbation) & (study["measure"] == "spearman")
    rows = study[chosen & ~study["signed"]]
    n_subjects, fewest = int(rows["n_subjects"].max()), int(rows["n_subjects"].min())
    fewer = f" At some γ ρ is defined in {fewest} of them only." if fewest < n_subjects else ""
    other_atlas = f" The study is on CC200, this subject on {atlas.title}." if atlas.name != STUDY_ATLAS else ""
    note = (
        f"Behind it, mean ± 1 SD of {n_subjects} real ABIDE subjects (CC200, Pearson correlation, positive connections "
        f"of at least {level:g}, {perturbation}, |ΔS|).{fewer}{other_atlas}"
    )
    return StudySweep(rows[["gamma", "reference", "mean", "sd"]].reset_index(drop=True), note)


def _study_level(settings: ConnectomeSettings, levels: Sequence[float]) -> tuple[float | None, str]:
    """Return the study's threshold that is this graph's, or None and what is different."""
    # All positive connections are those of at least 0.
    level = 0.0 if settings.threshold == "none" else settings.level
    has = ", ".join(f"{known:g}" for known in levels)
    differences = [
        sentence
        for differs, sentence in (
            (settings.estimator != "pearson", "it has Pearson correlation"),
            (settings.sign != "positive", "it has positive connections"),
            (settings.threshold == "proportional", "it has no proportional threshold"),
            (settings.threshold == "absolute" and level not in levels, f"it has thresholds {has}"),
            (settings.backbone, "it has no spanning tree"),
        )
        if differs
    ]
    return (None, ", ".join(differences)) if differences else (level, "")


def study_modules(settings: ConnectomeSettings, *, resolution: float = 1.0) -> pd.DataFrame | None:
    """Find the modules of the ABIDE subjects whose graphs were made as these are.

    Parameters
    ----------
    settings : ConnectomeSettings
    resolution : float
        The study's is 1.

    Returns
    -------
    DataFrame or None
        The rows of :func:`abide_modules` for graphs made like this, or None where the study has none.
    """
    graphs = {
        ConnectomeSettings(): "positive, at least 0.3",
        ConnectomeSettings(threshold="proportional", level=0.15): "positive, strongest 15 %",
    }.get(settings)
    if settings.sign == "signed" and settings.threshold == "none" and settings.estimator == "pearson":
        graphs = "signed, all"
    table = abide_modules()
    return None if graphs is None or resolution != 1 else table[table["graphs"] == graphs].reset_index(drop=True)
