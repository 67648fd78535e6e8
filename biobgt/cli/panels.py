"""``biobgt figure panels``: several figures as the panels of one, as the app's export arranges them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biobgt.base.files import make_folder
from biobgt.base.options import option
from biobgt.cli.arguments import folder_store, results_folder
from biobgt.cli.figures import find_cohort, request_of, request_text
from biobgt.cli.screen import print_line
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.export.bundle import PanelFiles, PanelOptions, PanelsRequest, make_panels, versions, write_methods
from biobgt.export.methods import methods_of
from biobgt.export.request import CohortRef, FigureRequest
from biobgt.figures.paper_style import FileFormat, PaperStyle
from biobgt.results.measured import Measured


@dataclass(frozen=True)
class NamedPanels(PanelOptions):
    """Which figures are the panels, and how they are arranged."""

    figures: tuple[str, ...] = option((), title="Figures", help="Names of figures, with commas between them.")


def panels_asked_for(
    reading: dict[str, Any],
    graph: dict[str, Any],
    *,
    subject: str | None,
    options: list[str] | None,
    request: Path | None,
) -> tuple[PanelsRequest, dict[CohortRef, Cohort]]:
    """Find what is to be drawn, from a request file or from names of figures, and the cohorts of all panels.

    Parameters
    ----------
    reading : dict
        What to read and how.
    graph : dict
        What was chosen of the settings of graphs, where there is no request file.
    subject : str or None
        By default the first.
    options : list of str or None
        As ``figures=hub_curves,module_brain`` and ``columns=1``.
    request : Path or None
        ``requests/panels.json`` of a bundle.
    """
    if request is not None:
        asked = PanelsRequest.from_json(request_text(request, subject, options))
        return asked, _cohorts_of(asked.panels, reading)
    cohort, ref = find_cohort(reading, None)
    given = dict(NamedPanels.read_text(text, of="A figure of panels") for text in options or ())
    chosen = NamedPanels.from_plain(given, of="A figure of panels")
    who = subject or next(iter(cohort.ids), None)
    settings = ConnectomeSettings.usual(cohort.kind, **graph)
    panels = tuple(request_of(figure, ref, who, settings) for figure in chosen.figures)
    return PanelsRequest(panels, chosen.part(PanelOptions)), {ref: cohort}


def write_panels(
    asked: PanelsRequest,
    cohorts: Mapping[CohortRef, Cohort],
    *,
    style: PaperStyle,
    formats: Sequence[FileFormat],
    out: Path,
    name: str,
    results: Path | None,
) -> None:
    """Make the figure and write it with the numbers of its panels, its caption and its methods.

    Parameters
    ----------
    asked : PanelsRequest
    cohorts : mapping of CohortRef to Cohort
        Of every panel.
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    out : Path
    name : str
        Of the files, without suffix.
    results : Path or None
        Folder that keeps measured results.
    """
    measured = {ref: Measured(cohort, folder_store(results, cohort)) for ref, cohort in cohorts.items()}
    made = make_panels(measured, asked, style=style, formats=formats)
    methods = methods_of(made.panels, cohorts, versions(asked.panels))
    with results_folder(out, job=f"figure {name}") as folder:
        written = [*_write_files(made, folder, name), *write_methods(methods, folder, name)]
        paths = [path.relative_to(folder) for path in written]
    print_line(f"{len(made.panels)} panels, {made.size}. {made.caption}")
    for path in paths:
        print_line(f"Written: {out / path}")


def _write_files(made: PanelFiles, folder: Path, name: str) -> list[Path]:
    content = {f"figures/{name}.{format}": picture for format, picture in made.pictures.items()}
    content |= {f"numbers/{name}_{letter}.csv": numbers for letter, numbers in made.numbers.items()}
    for path, data in content.items():
        make_folder((folder / path).parent)
        (folder / path).write_bytes(data)
    return [folder / path for path in content]


def _cohorts_of(panels: Sequence[FigureRequest], reading: dict[str, Any]) -> dict[CohortRef, Cohort]:
    """Read the user's own subjects, and draw demos and models, which need no file."""
    first = next((panel for panel in panels if panel.cohort.own), panels[0])
    cohort, _ = find_cohort(reading, first)
    found = {first.cohort: cohort}
    for ref in dict.fromkeys(panel.cohort for panel in panels):
        if ref not in found:
            found[ref] = ref.draw()
    return found
