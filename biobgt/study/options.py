"""What a study measures of every recording, at which levels, and what it tests: its options."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from biobgt.base.errors import InputError
from biobgt.base.options import option
from biobgt.data.graph import ConnectivityKind, ConnectomeSettings
from biobgt.hubs.measures import HUB_MEASURES, EntanglementOptions
from biobgt.modules.measures import REGION_MEASURES, ModuleOptions
from biobgt.study.design import DesignOptions

DENSITIES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # shares of pairs, over which the area under the curve is taken
ATTENTION = "attention_received"


@dataclass(frozen=True)
class RecordingOptions(EntanglementOptions, ModuleOptions):
    """What is measured of every recording. Results of the participant level depend on these options and no others."""

    levels: tuple[float, ...] = option(
        DENSITIES,
        title="Levels of the threshold",
        help="Shares of pairs that are kept (densities), or weights with --threshold absolute. Hubs, modules and "
        "networks are measured at each, and tested by the area under the curve. Repeat the option for several.",
        above=0.0,
        fewest=1,
        flag="--at",
    )
    measures: tuple[str, ...] = option(
        tuple(HUB_MEASURES),
        title="Hub measures",
        help="Hub measures that are taken of every region. Repeat the option for several.",
        choices=HUB_MEASURES,
        shown=lambda key: HUB_MEASURES[key].title,
        fewest=1,
        flag="--measure",
    )
    small_world: int = option(
        0,
        title="Null graphs for small-worldness",
        help="Random graphs, and as many lattices, that clustering and path length are compared with at each level. "
        "A second each at 200 regions. 0: small-worldness is not measured.",
        low=0,
    )
    model: str = option(
        "",
        title="Model",
        help="Model, by its name or folder, whose attention is measured: what each region receives from the others. "
        "It must know the atlas. By default attention is not measured.",
        flag="--model",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "levels", tuple(sorted(set(self.levels))))
        object.__setattr__(self, "measures", tuple(key for key in HUB_MEASURES if key in self.measures))

    @property
    def region_measures(self) -> tuple[str, ...]:
        """All that is measured of every region, by key."""
        return (*self.measures, *REGION_MEASURES, *((ATTENTION,) if self.model else ()))

    def settings_at_levels(self, settings: ConnectomeSettings) -> tuple[ConnectomeSettings, ...]:
        """How graphs are made, at each level."""
        return tuple(replace(settings, level=level) for level in self.levels)


@dataclass(frozen=True)
class StudyOptions(RecordingOptions, DesignOptions):
    """What a study measures, and what it tests."""

    seed: int = option(0, title="Seed", help="Seed of modules, null graphs and permutations.", low=0, link="seed")


def study_settings(kind: ConnectivityKind, chosen: Mapping[str, Any]) -> ConnectomeSettings:
    """How the graphs of a study are made, but for the level: proportional thresholds, unless others were chosen.

    Parameters
    ----------
    kind : ConnectivityKind
        Of the cohort.
    chosen : mapping of str to plain value
        The fields of :class:`biobgt.data.graph.ConnectomeSettings` that the user chose.
    """
    settings = ConnectomeSettings.usual(kind, **{"threshold": "proportional", **chosen})
    if "level" in chosen:
        raise InputError("A study is measured at several levels of the threshold. Name them with --at, and no --level.")
    if settings.threshold == "none":
        raise InputError("A study has levels of a threshold. To keep all connections, name the density 1: --at 1.")
    if settings.sign == "signed":
        raise InputError(
            "Hub measures are not defined for negative weights. Choose the sign rule positive or absolute."
        )
    if settings.estimator == "tangent":
        raise InputError(
            "The tangent space needs all recordings at once, and a study measures them one by one. Choose another "
            "estimator."
        )
    return settings
