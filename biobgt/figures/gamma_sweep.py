"""Whether node entanglement agrees with another hub measure in one subject, over γ."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from biobgt.errors import InputError
from biobgt.figures.curve import Curve
from biobgt.figures.figure import Figure, registered
from biobgt.figures.frame import GAMMA_TICKS, GAMMA_TITLE, LEGEND_BELOW, Trace, Values, layout, spread_band, whose
from biobgt.figures.hub_words import CHOSEN_COLOUR, hub_words, strength_remark
from biobgt.figures.shared_options import gammas_option
from biobgt.hubs.hub_options import EntanglementOptions
from biobgt.hubs.measures import COMPARED, FC_STRENGTH, HUB_MEASURES, NE
from biobgt.options import option
from biobgt.wording import listed, signed

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from matplotlib.figure import Figure as PaperFigure

    from biobgt.figures.paper_style import PaperStyle
    from biobgt.measured import Measured

AGREEMENT_TITLE = "Spearman's ρ with NE"


@dataclass(frozen=True)
class GammaSweepOptions(EntanglementOptions):
    """Over which diffusion times, and with which measures, node entanglement is compared."""

    measures: tuple[str, ...] = option(
        COMPARED[1:],
        title="Measures",
        help="Measures that NE is compared with; those that depend on γ themselves are left out.",
        choices=HUB_MEASURES,
        fewest=1,
    )
    gammas: tuple[float, ...] = gammas_option()


def steady_over_gamma(measures: Sequence[str]) -> tuple[str, ...]:
    """Those measures that do not depend on γ themselves, with which NE is compared over γ."""
    return tuple(key for key in measures if not HUB_MEASURES[key].depends_on_gamma)


@registered
@dataclass(frozen=True, eq=False, kw_only=True)
class GammaSweep(Figure):
    """How well node entanglement agrees with other measures, over diffusion times.

    Attributes
    ----------
    subject : str
    sweep : DataFrame
        ``reference`` (a measure's title), ``gamma`` (in units of 1/mean(λ)) and ``spearman``.
    study : DataFrame or None
        ``reference``, ``gamma``, ``mean`` and ``sd`` over the subjects of a study, drawn behind.
    study_note : str
        Which study is shown behind, or why none is.
    remark : str
        Ends the caption.
    """

    key = "gamma_sweep"
    name = "Agreement over γ"
    takes = GammaSweepOptions

    options: GammaSweepOptions = field(default_factory=GammaSweepOptions)
    subject: str = ""
    sweep: "pd.DataFrame"
    rhos: "dict[str, float]" = field(default_factory=dict)
    study: "pd.DataFrame | None" = None
    study_note: str = ""
    remark: str = ""

    @classmethod
    def of(cls, measured: "Measured", options: GammaSweepOptions) -> Self:
        """Correlate the subject's node entanglement with its other measures at every γ."""
        from biobgt.studies import study_sweep

        subject = measured.subject
        measures = steady_over_gamma(options.measures)
        if not measures:
            raise InputError(
                "Agreement over γ compares NE with measures that do not depend on γ, and none of those named is one. "
                f"Name another, such as {COMPARED[1]}."
            )
        study = study_sweep(
            measured.settings,
            measured.atlas,
            perturbation=options.perturbation,
            subject=subject,
            kind=measured.kind,
        )
        words = hub_words(measured, options, (NE, *measures))
        if study.agreement is not None:
            behind = "Mean and SD behind agreement over γ are of the subjects of ABIDE (Di Martino et al. 2014)."
            words = {"methods": (*words["methods"], behind), "citations": (*words["citations"], "dimartino2014")}
        return cls(
            options=options,
            title=f"Agreement over γ, {subject.id}",
            simulated=subject.simulated,
            subject=subject.id,
            sweep=measured.hub_sweep(options.perturbation, measures, options.gammas),
            rhos={key: measured.hub_correlation(options, key).rho for key in measures},
            study=study.agreement,
            study_note=study.note,
            remark=strength_remark(measured) if FC_STRENGTH in measures else "",
            **words,
        )

    @property
    def measures(self) -> list[str]:
        """The measures that NE is compared with, in their order."""
        known = set(self.sweep["reference"])
        return [key for key in self.options.measures if HUB_MEASURES[key].title in known]

    @property
    def numbers(self) -> "pd.DataFrame":
        """One row per measure and γ, of the subject and of the study behind."""
        import pandas as pd

        numbers = self.sweep.assign(of=self.subject)
        if self.study is None:
            return numbers
        behind = self.study.rename(columns={"mean": "spearman", "sd": "spearman SD"}).assign(of="ABIDE mean")
        return pd.concat([numbers, behind], ignore_index=True)

    @property
    def caption(self) -> str:
        """The agreement at the chosen γ, and what stands behind."""
        options = self.options
        found = " and ".join(
            f"{signed(rho)} with {HUB_MEASURES[key].in_words_of(self.kind).short}" for key, rho in self.rhos.items()
        )
        others = listed([f"with {HUB_MEASURES[key].in_words_of(self.kind).short}" for key in self.measures])
        return (
            f"{whose(self.subject, self.simulated)}: Spearman's ρ of NE ({options.perturbation}, |ΔS|) {others} over "
            f"regions, at diffusion times γ in units of 1/mean(λ). At the chosen γ = {options.gamma:g}, marked by the "
            f"dotted line, ρ is {found}. {self.study_note}{self.remark}"
        )

    def part(self, table: "pd.DataFrame", measure: str) -> "pd.DataFrame":
        """The rows of one measure."""
        return table[table["reference"] == HUB_MEASURES[measure].title]

    @property
    def mark_name(self) -> str:
        """What the legend calls the line at the chosen γ."""
        return f"γ = {self.options.gamma:g}"

    def curve(self, measure: str) -> Curve:
        """The subject's agreement with a measure."""
        about, rows = HUB_MEASURES[measure].in_words_of(self.kind), self.part(self.sweep, measure)
        return Curve(
            f"{about.short}, this subject", rows["gamma"].to_numpy(), rows["spearman"].to_numpy(), about.colour
        )

    def study_curve(self, measure: str) -> "tuple[Curve, Values] | None":
        """The study's mean agreement with a measure, and its SD, shape (n_gammas,); None where the study has none."""
        rows = None if self.study is None else self.part(self.study, measure)
        if rows is None or rows.empty:
            return None
        about, (gammas, mean, sd) = (
            HUB_MEASURES[measure].in_words_of(self.kind),
            (rows[name].to_numpy() for name in ("gamma", "mean", "sd")),
        )
        return Curve(f"{about.short}, ABIDE mean ± SD", gammas, mean, about.colour, dash="dash", thin=True), sd

    def plotly(self) -> "go.Figure":
        """Draw it for the screen."""
        import plotly.graph_objects as go

        chosen = self.options.gamma
        traces: list[Trace] = []
        for measure in self.measures:
            traces += self._study_band(measure)
        line = {"color": CHOSEN_COLOUR, "dash": "dot", "width": 2}
        marked = {"type": "scatter", "x": [chosen, chosen], "y": [-1, 1], "mode": "lines", "line": line}
        traces.append({**marked, "name": self.mark_name, "hoverinfo": "skip"})
        traces += [self._subject_trace(measure) for measure in self.measures]
        title = {"text": GAMMA_TITLE}
        gammas = {"type": "log", "tickvals": GAMMA_TICKS, "title": title, "zeroline": False}
        agreement = {"title": {"text": AGREEMENT_TITLE}, "range": [-1.02, 1.02], "zeroline": True}
        frame = layout(self.title, self.simulated, height=500)
        # Two groups of curves need two lines of legend at 800 px; below the plot they push nothing away.
        return go.Figure(traces, {**frame, "xaxis": gammas, "yaxis": agreement, "legend": LEGEND_BELOW})

    def matplotlib(self, style: "PaperStyle") -> "PaperFigure":
        """Draw it for paper."""
        from biobgt.figures.paper.hub_agreement_drawings import draw_gamma_sweep

        return draw_gamma_sweep(self, style)

    def _study_band(self, measure: str) -> list[Trace]:
        """Mean ± 1 SD as one closed outline, and the mean as a dashed line; nothing where the study has none."""
        found = self.study_curve(measure)
        if found is None:
            return []
        curve, sd = found
        short = HUB_MEASURES[measure].in_words_of(self.kind).short
        band = spread_band(curve.x, curve.y, sd, curve.colour, group=measure)
        middle = {
            "type": "scatter",
            "x": curve.x,
            "y": curve.y,
            "mode": "lines",
            "name": curve.name,
            "line": curve.line,
            "customdata": sd,
            "hovertemplate": f"ABIDE, {short}<br>γ %{{x}}: %{{y:.2f}} ± %{{customdata:.2f}}<extra></extra>",
            "legendgroup": measure,
        }
        return [band, middle]

    def _subject_trace(self, measure: str) -> Trace:
        about, curve = HUB_MEASURES[measure].in_words_of(self.kind), self.curve(measure)
        return {
            "type": "scatter",
            "x": curve.x,
            "y": curve.y,
            "mode": "lines+markers",
            "name": curve.name,
            "line": curve.line,
            "marker": {"symbol": about.symbol, "size": 6},
            "hovertemplate": f"This subject, {about.short}<br>γ %{{x}}: ρ = %{{y:.2f}}<extra></extra>",
        }
