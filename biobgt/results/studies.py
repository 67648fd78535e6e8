"""Results on real cohorts that ship with the project, to be shown beside a user's own subject.

They are over subjects, never of one: means, spreads and intervals. ``assets/README.md`` names the commands that made
them, and ``docs/plausibility.md`` says what they mean.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import pandas as pd

from biobgt.base.files import asset
from biobgt.base.wording import listed
from biobgt.data.atlas import Atlas
from biobgt.data.cohort import Subject
from biobgt.data.graph import ESTIMATED, KINDS, ConnectivityKind, ConnectomeSettings, is_correlation
from biobgt.hubs.measures import DEFAULT_PERTURBATION
from biobgt.hubs.reliability import STUDY_ATLAS, STUDY_ATLAS_TITLE
from biobgt.modules.measures import ModuleOptions

_STUDY_REGIONS = 200  # of the study's atlas
_NEAR_RESOLUTION = 0.1  # modules found at a resolution this near are shown, and their resolution named
_PREPROCESSED = (
    "Their series are band-passed, with the global signal removed: subjects preprocessed differently may lie outside "
    "their range."
)


@dataclass(frozen=True, eq=False)
class _StudySweep:
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


@dataclass(frozen=True, eq=False)
class _StudyModules:
    """The modules of ABIDE's groups that a subject's modules can be compared with, or why none can.

    Attributes
    ----------
    measures : DataFrame or None
        The rows of ``abide_modules`` for graphs made like this.
    note : str
        Which subjects of the study these are, or why none is shown.
    with_defaults : bool
        Whether there would be some with the default settings.
    """

    measures: pd.DataFrame | None
    note: str
    with_defaults: bool = False


@cache
def study_table(name: str) -> pd.DataFrame:
    """A table of ``assets/studies``, not to be changed.

    Parameters
    ----------
    name : str
        ``abide_plausibility``: agreement of node entanglement with other measures, over γ, threshold and perturbation.
        ``abide_modules``: modules of NC and ASD, mean and SD of each measure at several resolutions; at resolution 1 of
        all subjects with the difference tested, elsewhere of fewer. ``benchmark_abide``: every system on random splits,
        one line per system and split. ``epoch_times``: processor seconds of an epoch of every network.
    """
    return pd.read_csv(asset("studies", f"{name}.csv"))


@cache
def abide_groups() -> Mapping[str, int]:
    """How many subjects of each group the ABIDE study has, controls first."""
    table = study_table("abide_plausibility")
    sizes = table[table["group"] != "all"].groupby("group", sort=False)["n_subjects"].max()
    return {str(group): int(n) for group, n in sizes.items()}


def citation_networks() -> tuple[pd.DataFrame, str]:
    """Networks that classify the papers of Cora and Citeseer: a table of texts, and what is said of it."""
    shown = json.loads(asset("studies", "citation_networks.json").read_text(encoding="utf-8"))
    return pd.DataFrame(shown["table"]), str(shown["words"])


def study_sweep(
    settings: ConnectomeSettings,
    atlas: Atlas,
    *,
    perturbation: str = DEFAULT_PERTURBATION,
    subject: Subject | None = None,
    kind: ConnectivityKind = KINDS[ESTIMATED],
) -> _StudySweep:
    """Find the ABIDE subjects whose graphs were made as these are.

    Parameters
    ----------
    settings : ConnectomeSettings
    atlas : Atlas
        Only the study's own has a norm: agreement over regions depends on how many there are and how large.
    perturbation : {"control", "remove"}
    subject : Subject, optional
        One loaded as a matrix that holds no correlations has no norm.
    kind : ConnectivityKind
        What its connectivity is; only functional connectivity has a norm.
    """
    if why := _another_kind(atlas, subject, kind):
        return _StudySweep(None, f"No norm is shown: {why}.")
    level, differences = _study_level(settings, sorted(study_table("abide_plausibility")["level"].unique()))
    if level is None:
        return _StudySweep(None, f"The ABIDE study has no graphs like these ({differences}), so no norm is shown.")
    return _sweep_at(level, perturbation)


@cache
def _sweep_at(level: float, perturbation: str) -> _StudySweep:
    """The norm at one of the study's thresholds."""
    rows = study_table("abide_plausibility").query(
        "group == 'all' and level == @level and perturbation == @perturbation and measure == 'spearman' and not signed"
    )
    n_subjects, fewest = int(rows["n_subjects"].max()), int(rows["n_subjects"].min())
    fewer = f" At some γ, ρ is defined in only {fewest} of them." if fewest < n_subjects else ""
    note = (
        f"In the background, mean ± 1 SD of {n_subjects} real ABIDE subjects ({STUDY_ATLAS_TITLE}, Pearson "
        f"correlation, positive connections of at least {level:g}, {perturbation}, |ΔS|).{fewer} {_PREPROCESSED}"
    )
    return _StudySweep(rows[["gamma", "reference", "mean", "sd"]].reset_index(drop=True), note)


def _another_kind(atlas: Atlas, subject: Subject | None, kind: ConnectivityKind) -> str:
    """Why ABIDE's norms do not apply to a subject at all, or nothing where they may."""
    if atlas.name != STUDY_ATLAS or atlas.n_regions != _STUDY_REGIONS:
        return (
            f"ABIDE was measured on the {_STUDY_REGIONS} regions of Craddock CC200, this subject has the "
            f"{atlas.n_regions} of {atlas.title}, and these measures depend on the number and size of regions"
        )
    given = None if subject is None else subject.connectivity
    if not kind.functional or (given is not None and not is_correlation(given)):
        return "ABIDE's connectivity is correlation, and this subject's matrix holds something else"
    return ""


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


def study_modules(
    settings: ConnectomeSettings,
    options: ModuleOptions,
    atlas: Atlas,
    *,
    subject: Subject | None = None,
    kind: ConnectivityKind = KINDS[ESTIMATED],
) -> _StudyModules:
    """Find the modules of the ABIDE subjects whose graphs and modules were made as these are.

    Parameters
    ----------
    settings : ConnectomeSettings
    options : ModuleOptions
        The study's are the best of ten runs, negative connections counted, at some resolutions: the nearest is taken
        and named.
    atlas : Atlas
        Only the study's own has a norm: the number of modules, Q and agreement with networks depend on the regions.
    subject : Subject, optional
        One loaded as a matrix that holds no correlations has no norm.
    kind : ConnectivityKind
        What its connectivity is; only functional connectivity has a norm.
    """
    if why := _another_kind(atlas, subject, kind):
        return _StudyModules(None, f"No real groups are shown for comparison: {why}.")
    graphs = {
        ConnectomeSettings(): "positive, at least 0.3",
        ConnectomeSettings(threshold="proportional", level=0.15): "positive, strongest 15 %",
    }.get(settings)
    if settings.sign == "signed" and settings.threshold == "none" and settings.estimator == "pearson":
        graphs = "signed, all" if options.signed else None
    table = study_table("abide_modules")
    known = table[table["graphs"] == graphs]
    # Of two that are equally near, the one nearer to 1.
    nearest = min(
        known["resolution"].unique(),
        key=lambda one: (round(abs(one - options.resolution), 6), abs(one - 1)),
        default=float("inf"),
    )
    if round(abs(nearest - options.resolution), 6) > _NEAR_RESOLUTION or options.runs != 10 or options.consensus:
        return _StudyModules(
            None,
            "The ABIDE study has no graphs like these, so no real groups are shown for comparison: it has Pearson "
            f"correlation with {_resolutions_measured(table)}, and the best of ten runs.",
            with_defaults=True,
        )
    rows = known[known["resolution"] == nearest].reset_index(drop=True)
    sizes = listed([f"{rows[f'n {group}'].iloc[0]} {group}" for group in abide_groups()])
    alike = "the same way" if nearest == options.resolution else "the same way otherwise"
    note = (
        f"Real groups: mean ± SD of {sizes} subjects of ABIDE on {STUDY_ATLAS_TITLE} at resolution {nearest:g}"
        f"{'' if nearest == options.resolution else f', the nearest measured to {options.resolution:g}'}, graphs made "
        f"{alike}. {_PREPROCESSED}"
    )
    return _StudyModules(rows, note)


def _resolutions_measured(table: pd.DataFrame) -> str:
    """The graphs of the study with their resolutions, for a sentence."""
    said = {
        "positive, at least 0.3": "positive connections of at least 0.3",
        "positive, strongest 15 %": "the strongest 15 % of them",
        "signed, all": "all connections",
    }
    spans = {graphs: own["resolution"] for graphs, own in table.groupby("graphs", sort=False)}
    return listed(
        [
            f"{said[str(graphs)]} (resolution {own.min():g}{'' if own.min() == own.max() else f' to {own.max():g}'})"
            for graphs, own in spans.items()
        ],
        "or",
    )
