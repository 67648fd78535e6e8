"""The script of a bundle: ``biobgt figure`` commands that make the same figures and numbers again."""

import shlex
from collections.abc import Mapping, Sequence

from biobgt.export.requests import MODEL_PREFIX, PANELS, CohortRef, FigureRequest
from biobgt.fetch import DEMO_PREFIX
from biobgt.figures.paper_style import FileFormat, PaperStyle

REMADE = "remade"


def make_script(
    requests: Sequence[FigureRequest],
    names: Sequence[str],
    own: Mapping[CohortRef, str],
    *,
    style: PaperStyle,
    formats: Sequence[FileFormat],
    included: bool,
    panels: Sequence[FigureRequest] | None = None,
) -> str:
    """Write the script.

    Parameters
    ----------
    requests : sequence of FigureRequest
    names : sequence of str
        Of the figures' files.
    own : mapping of CohortRef to str
        The project file of each cohort that is no demo.
    style : PaperStyle
    formats : sequence of {"svg", "pdf", "png", "tiff"}
    included : bool
        Whether the project files are in the bundle.
    panels : sequence of FigureRequest, optional
        Those that are the panels of one figure, too.
    """
    lines = [
        "#!/bin/sh",
        f"# Makes the figures of this bundle and the numbers behind them again, in the folder '{REMADE}'.",
        "# It needs BioBGT Explorer; provenance.json says which version the bundle was made with.",
        "set -eu",
        'cd "$(dirname "$0")"',
    ]
    if not included:
        for file in own.values():
            said = f"Put the project file of the subjects beside this script, under the name {file}, and run it again."
            lines.append(f"[ -f {shlex.quote(file)} ] || {{ echo {shlex.quote(said)} >&2; exit 2; }}")
    look = shlex.join(_look(style, formats))
    for request, name in zip(requests, names, strict=True):
        lines.append(f"{_command(request.figure, _where(request.cohort, own), name)} {look}")
    if panels:
        ref = next((panel.cohort for panel in panels if panel.cohort.own), panels[0].cohort)
        lines.append(f"{_command(PANELS, _where(ref, own), PANELS)} {look}")
    return "\n".join(lines) + "\n"


def _where(ref: CohortRef, own: Mapping[CohortRef, str]) -> str:
    return own[ref] if ref.own else f"{DEMO_PREFIX if ref.demo else MODEL_PREFIX}{ref.name}"


def _command(figure: str, cohort: str, name: str) -> str:
    what = ["biobgt", "figure", figure, cohort, "--request", f"requests/{name}.json"]
    return shlex.join([*what, "--out", REMADE, "--name", name])


def _look(style: PaperStyle, formats: Sequence[FileFormat]) -> list[str]:
    return [*(part for format in formats for part in ("--format", format)), *style.command_line()]
