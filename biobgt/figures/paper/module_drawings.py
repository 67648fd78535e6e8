"""Figures of modules, drawn for paper: the roles of regions, modules over the resolution, connectivity by module."""

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from biobgt.figures.module_sweep import MARK_COLOUR, ResolutionSweep
from biobgt.figures.paper.paper_frame import MARKERS, add_legend, finish, fit_height, new_figure, set_title
from biobgt.figures.paper.saving import drawing
from biobgt.figures.paper_style import PaperStyle
from biobgt.figures.role_map import HUB_LINE, HUBS_ABOVE, RoleMap
from biobgt.modules.measures import PARTICIPATION, REGION_MEASURES, WITHIN_Z


def draw_role_map(shown: RoleMap, style: PaperStyle) -> Figure:
    """Draw the regions, coloured by module; they are named on the screen only."""
    x, y = shown.roles[PARTICIPATION].to_numpy(), shown.roles[WITHIN_Z].to_numpy()
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        axes = figure.add_subplot()
        for module in shown.drawn:
            axes.scatter(
                x[module.members],
                y[module.members],
                s=12,
                color=style.colour(module.colour),
                marker=MARKERS[module.symbol],
                linewidths=0,
                label=module.name,
            )
        axes.axhline(shown.hub_z, color=HUB_LINE, linestyle=":", linewidth=0.8)
        axes.annotate(
            HUBS_ABOVE,
            (1, shown.hub_z),
            xycoords=axes.get_yaxis_transform(),
            xytext=(0, 2),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=style.tick_size,
        )
        axes.set_xlim(-0.03, 1)
        axes.set_xlabel(REGION_MEASURES[PARTICIPATION].short)
        axes.set_ylabel(REGION_MEASURES[WITHIN_Z].short)
        handles, entries = axes.get_legend_handles_labels()
        if handles:
            add_legend(figure, handles, entries, style)
        fit_height(figure, [axes], style, panel_mm=0.6 * min(style.width_mm, 140))
        return finish(figure, style)


def draw_resolution_sweep(shown: ResolutionSweep, style: PaperStyle) -> Figure:
    """Draw the number of modules, and below it Q, stability and agreement with functional labels."""
    sweep = shown.sweep.sort_values("resolution")
    with drawing(style):
        figure = new_figure(style)
        set_title(figure, shown.title, shown.simulated, style)
        panels = list(figure.subplots(2, sharex=True, height_ratios=[0.4, 0.6]))
        for curve in shown.curves:
            panels[curve.panel].plot(
                sweep["resolution"].to_numpy(),
                sweep[curve.column].to_numpy(float),
                color=style.colour(curve.colour),
                linestyle=":" if curve.dotted else "-",
                marker="o",
                markersize=2,
                label=curve.name,
            )
        for axes in panels:
            axes.axvline(shown.options.resolution, color=MARK_COLOUR, linestyle=":", linewidth=0.8, zorder=0)
        panels[0].set_ylim(bottom=0)
        panels[0].yaxis.set_major_locator(MaxNLocator(4, integer=True))
        panels[0].set_ylabel("Modules")
        panels[1].set_ylim(-0.03, 1.03)
        panels[1].set_ylabel("Q, AMI")
        panels[1].set_xlabel("Resolution")
        entries = [entry for axes in panels for entry in zip(*axes.get_legend_handles_labels(), strict=True)]
        add_legend(figure, [handle for handle, _ in entries], [label for _, label in entries], style)
        figure.align_ylabels(panels)
        fit_height(figure, panels, style, panel_mm=0.3 * min(style.width_mm, 140))
        return finish(figure, style)
