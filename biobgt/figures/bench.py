"""Power of every measure to find a planted lesion: the study that ships, and the drawing of a user's own bench."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from biobgt.base.colours import BLUE, LINE_GREY, VERMILION
from biobgt.base.options import Options, option
from biobgt.base.wording import capitalised
from biobgt.bench.measures import BENCH_MEASURES
from biobgt.data.lesions import LESIONS, Lesion, LesionKind
from biobgt.figures.drawing import Axis, Band, Curve, Drawing, Mark, Panel, Rule
from biobgt.figures.register import figure
from biobgt.inference.effects import ALPHA
from biobgt.results.studies import study_table

if TYPE_CHECKING:
    import pandas as pd

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.results.measured import Measured

_FOUND, _CLEAREST = "found", "clearest finding is where the lesion is"
_COHORTS = {"abide": "controls of ABIDE, CC200", "demo": "simulated controls of the demo, CC200"}
_IN_A_ROW = 4
_ASPECT = 0.28  # of a row of as many
_NARROW_MM = 120.0  # up to this width panels of ten measures stand two in a row
_UNIT = (-0.03, 1.03)


@dataclass(frozen=True)
class _BenchFigureOptions(Options):
    """Which lesion of the study is shown, and in whom it was planted."""

    lesion: LesionKind = option("network", title="Lesion", help="What was planted.", shown=LESIONS)
    cohort: Literal["abide", "demo"] = option("abide", title="Controls", help="In whom.", shown=_COHORTS)


@figure("bench_power", "Power to find a planted lesion", takes=_BenchFigureOptions, of_subject=False, of_graph=False)
def bench_power(measured: "Measured", options: _BenchFigureOptions) -> Drawing:
    """How often each measure finds a known lesion, over people, in the study that ships."""
    whole = study_table("bench")
    own = whole[(whole["cohort"] == options.cohort) & (whole["lesion"] == options.lesion)].fillna({"place": ""})
    lesion = Lesion(options.lesion, str(own["place"].iloc[0]), ())
    whom = f"{int(own['controls'].iloc[0])} {_COHORTS[options.cohort]}"
    return power_drawing(own, lesion, whom, simulated=True)


def power_drawing(table: "pd.DataFrame", lesion: Lesion, whom: str, *, simulated: bool) -> Drawing:
    """Power of every measure over people, or over sizes of the lesion where the number of people is one.

    Parameters
    ----------
    table : DataFrame
        See :func:`biobgt.bench.power.power_table`.
    lesion : Lesion
    whom : str
        In whom it was planted, in words.
    simulated : bool
    """
    largest = float(table["size"].max())
    over_people = len(set(table["people"])) > 1 or len(set(table["size"])) == 1
    shown = table[table["size"] == largest] if over_people else table
    x = Axis(title="People of each half", log=True) if over_people else Axis(title="Size of the lesion")
    column = "people" if over_people else "size"
    if over_people:
        x = replace(x, ticks=sorted(shown["people"].unique().tolist()))
    panels = [
        _panel(shown[shown["measure"] == key].sort_values(column), column, x)
        for key in BENCH_MEASURES
        if (shown["measure"] == key).any()
    ]
    n = int(shown["repetitions"].iloc[0])
    size = lesion.words(largest) if over_people else LESIONS[lesion.kind].lower()
    people = "" if over_people else f", {int(shown['people'].iloc[0])} people with and as many without"
    said = f"How often each measure finds that {size}{people}"
    screen = Drawing(
        title=f"{LESIONS[lesion.kind]}: what finds it?",
        simulated=simulated,
        panels=panels,
        columns=_IN_A_ROW,
        caption=(
            f"{said}. The lesion is simulated, in {whom}; people with and without were drawn and compared {n} times. "
            "Bands are 95 % intervals (Wilson) of the share of comparisons in which a measure finds a difference at a "
            "family-wise level of 5 %, which the dotted line marks. Broken lines: of these findings, the share whose "
            "clearest region, edge or block is where the lesion is, where more is found than by chance; numbers of the "
            "whole brain cannot say where."
        ),
        line=capitalised(said),
        numbers=lambda: table.reset_index(drop=True),
        methods=_methods(lesion, n),
        legend="above",
        height=110 + 190 * -(-len(panels) // _IN_A_ROW),
        aspect=_ASPECT,
    )

    def on_paper(style: "PaperStyle") -> Drawing:
        columns = 2 if style.width_mm < _NARROW_MM else _IN_A_ROW
        return replace(screen, columns=columns, aspect=_ASPECT * _IN_A_ROW / columns)

    return replace(screen, on_paper=on_paper)


def _panel(own: "pd.DataFrame", column: str, x: Axis) -> Panel:
    """Power of one measure with its interval, and where its findings are."""
    at, power, clearest = (own[name].to_numpy(float) for name in (column, "power", "strongest"))
    low, high = own["power_low"].to_numpy(float), own["power_high"].to_numpy(float)
    texts = [f"{100 * one:.0f} % [{100 * a:.0f}, {100 * b:.0f}]" for one, a, b in zip(power, low, high, strict=True)]
    about: dict[str, Any] = {"symbol": "circle", "hover": "%{x:g}\n%{text}", "texts": texts}
    marks: list[Mark] = [
        Rule(y=ALPHA, colour=LINE_GREY, dash="dot"),
        Band(name=_FOUND, colour=BLUE, x=at, low=low, high=high),
        Curve(name=_FOUND, colour=BLUE, x=at, y=power, **about),
    ]
    clearest = np.where(low > ALPHA, clearest, np.nan)  # of findings by chance alone it says nothing
    if np.isfinite(clearest).any():
        marks.append(Curve(name=_CLEAREST, colour=VERMILION, dash="dash", x=at, y=clearest, symbol="diamond"))
    return Panel(
        marks=marks, title=str(own["title"].iloc[0]), x=x, y=Axis(title="Comparisons", limits=_UNIT, percent=True)
    )


def _methods(lesion: Lesion, n: int) -> tuple[str, ...]:
    how = {
        "network": "a part of the variance of the network's regions was replaced by noise of the same spectrum",
        "hub": "a part of the variance of the region was replaced by noise of the same spectrum",
        "segregation": "series were mixed with noise of which all regions share as much as their mean correlation",
    }[lesion.kind]
    return (
        f"A known lesion was planted in people who have none: {how}; in matrices, correlations were multiplied or "
        f"mixed accordingly. In each of {n} repetitions different people with and without the lesion were compared by "
        "permutations of Welch's t [@freedman1983], family-wise over the features of a measure, and edges by NBS "
        "[@zalesky2010].",
    )
