"""One zip with all a paper needs of its figures: files, numbers, captions, methods, references, provenance, a script.

The same requests of the same subjects give the same bytes: nothing in a bundle carries the time of its making.
"""

import hashlib
import io
import json
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any, BinaryIO

import biobgt
from biobgt.base.errors import InputError
from biobgt.base.files import zipped
from biobgt.base.wording import NOT_A_DIAGNOSIS, escape_markdown
from biobgt.data.cohort import Cohort
from biobgt.data.graph import ConnectomeSettings
from biobgt.export.making import FigureFiles, PanelFiles, options_in_full
from biobgt.export.methods import methods_files
from biobgt.export.request import PANELS, CohortRef, FigureRequest
from biobgt.figures.paper_style import PaperStyle
from biobgt.model.pretrained import installed_model
from biobgt.readers.project import PROJECT_SUFFIX, save_project

PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn", "bctpy", "nilearn", "matplotlib", "networkx")
_MODEL_PACKAGES = ("torch", "safetensors")
_SCRIPT, _REMADE = "make_figures.sh", "remade"


def write_bundle(
    figures: Sequence[FigureFiles],
    cohorts: Mapping[CohortRef, Cohort],
    stream: BinaryIO,
    *,
    style: PaperStyle,
    include_data: bool = False,
    panels: PanelFiles | None = None,
) -> None:
    """Write the zip.

    Parameters
    ----------
    figures : sequence of FigureFiles
        From :func:`biobgt.export.making.make_files`, all in the same style and formats, in the order of the paper.
    cohorts : mapping of CohortRef to Cohort
        Every cohort that the figures' requests name.
    stream : binary file
    style : PaperStyle
        The one that the figures were made in.
    include_data : bool
        Put a user's own subjects into the bundle, as a project file, so that its script runs as it is. Otherwise the
        script asks for that file and refuses other subjects.
    panels : PanelFiles, optional
        Some of the figures as the panels of one, which is written beside them.
    """
    if not figures:
        raise InputError("There is no figure to export yet: add one on the pages of the app.")
    requests = {f"{number:02d}_{one.request.figure}": one.request for number, one in enumerate(figures, start=1)}
    brought = list(dict.fromkeys(request.cohort for request in requests.values() if request.cohort.own))
    numbers = [""] if len(brought) == 1 else [f"_{i}" for i in range(1, len(brought) + 1)]
    own = {ref: f"subjects{number}{PROJECT_SUFFIX}" for ref, number in zip(brought, numbers, strict=True)}
    content: dict[str, bytes] = {}
    for one, (name, request) in zip(figures, requests.items(), strict=True):
        content |= one.files(name)
        content[f"requests/{name}.json"] = request.to_json().encode()
    for ref, file in own.items() if include_data else ():
        project = io.BytesIO()
        save_project(cohorts[ref], ConnectomeSettings(), {}, project)
        content[file] = project.getvalue()
    if panels is not None:
        content |= {f"figures/{PANELS}.{format}": picture for format, picture in panels.pictures.items()}
        content[f"requests/{PANELS}.json"] = panels.request.to_json().encode()
    content["captions.md"] = _captions_text(figures, requests, panels).encode()
    content |= methods_files(figures, cohorts, versions(requests.values()))
    look = [part for format in figures[0].pictures for part in ("--format", format)] + style.command_line()
    missing = {} if include_data else own
    content[_SCRIPT] = _script(requests, own, missing, look, panels).encode()
    content["README.md"] = _readme(missing).encode()
    content["provenance.json"] = _provenance(requests, cohorts, style, content)
    stream.write(zipped(content, {path: 0o755 if path == _SCRIPT else 0o644 for path in content}))


def _captions_text(figures: Sequence[FigureFiles], names: Iterable[str], panels: PanelFiles | None) -> str:
    """All captions, numbered; behind them that of the figure which has some of them as its panels."""
    parts = [
        f"**Figure {number}. {one.title}.** {escape_markdown(one.caption)}\n\n"
        f"Files: figures/{name}, numbers/{name}.csv\n"
        for number, (one, name) in enumerate(zip(figures, names, strict=True), start=1)
    ]
    if panels is not None:
        parts.append(
            f"**Several panels in one figure.** {escape_markdown(panels.caption)}\n\nFiles: figures/{PANELS}\n"
        )
    return "# Captions\n\n" + "\n".join(parts)


def versions(requests: Iterable[FigureRequest]) -> dict[str, str]:
    """Versions of what the numbers depend on; what only a model needs is named where one is behind a figure."""
    packages = PACKAGES + (_MODEL_PACKAGES if any(request.model for request in requests) else ())
    own = {"biobgt": biobgt.__version__, "python": platform.python_version()}
    return own | {name: version(name) for name in packages}  # as installed: importing torch would take seconds


def is_simulated(request: FigureRequest, cohort: Cohort) -> bool:
    """Whether a figure shows anybody simulated: its subject, anyone of its groups, or those its model learned from."""
    if request.model and installed_model(request.model).simulated:
        return True
    return cohort.simulated if request.subject is None else cohort[request.subject].simulated


def _script(
    requests: Mapping[str, FigureRequest],
    own: Mapping[CohortRef, str],
    missing: Mapping[CohortRef, str],
    look: Sequence[str],
    panels: PanelFiles | None,
) -> str:
    """The ``biobgt figure`` commands that make the same figures and numbers again."""
    lines = [
        "#!/bin/sh",
        f"# Makes the figures of this bundle and the numbers behind them again, in the folder '{_REMADE}'.",
        "# It needs BioBGT Explorer; provenance.json says which version the bundle was made with.",
        "set -eu",
        'cd "$(dirname "$0")"',
    ]
    for file in missing.values():
        said = f"Put the project file of the subjects beside this script, under the name {file}, and run it again."
        lines.append(f"[ -f {shlex.quote(file)} ] || {{ echo {shlex.quote(said)} >&2; exit 2; }}")

    asked = [(name, request.figure, request.cohort) for name, request in requests.items()]
    if panels is not None:
        refs = [panel.cohort for panel in panels.request.panels]
        asked.append((PANELS, PANELS, next((ref for ref in refs if ref.own), refs[0])))
    for name, figure, ref in asked:
        command = ["biobgt", "figure", figure, own.get(ref) or ref.place, "--request", f"requests/{name}.json"]
        lines.append(shlex.join([*command, "--out", _REMADE, "--name", name, *look]))
    return "\n".join(lines) + "\n"


def _readme(missing: Mapping[CohortRef, str]) -> str:
    """What is in the bundle, and how to make its figures again."""
    needed = "".join(
        f"\nThe subjects are not in this bundle. Put `{file}` beside the script before you run it: the project file of "
        f"'{escape_markdown(ref.name)}', as the page Subjects of the app saves it. Other subjects are refused.\n"
        for ref, file in missing.items()
    )
    return f"""# An export of BioBGT Explorer

- `figures/` the figures, `numbers/` the numbers behind each, `captions.md` what they show
- `methods.md`, `methods.docx` and `methods.tex` the methods section, with places to complete marked
- `references.bib` what it cites
- `provenance.json` inputs, seeds, settings, versions and the SHA-256 of every file
- `requests/` and `make_figures.sh` make the same figures and numbers again: run `sh make_figures.sh` where `biobgt` is
  installed; they go to the folder `remade/`
{needed}
{NOT_A_DIAGNOSIS}
"""


def _provenance(
    requests: Mapping[str, FigureRequest],
    cohorts: Mapping[CohortRef, Cohort],
    style: PaperStyle,
    content: Mapping[str, bytes],
) -> bytes:
    refs = dict.fromkeys(request.cohort for request in requests.values())
    document = {
        "format": "biobgt-export",
        "version": 1,
        "versions": versions(requests.values()),
        "style": asdict(style),
        "cohorts": [_inputs(ref, cohorts[ref]) for ref in refs],
        "figures": [
            {"name": name, "simulated": is_simulated(request, cohorts[request.cohort])}
            | {"options in full": options_in_full(request).as_dict(), **request.as_dict()}
            for name, request in requests.items()
        ],
        "sha256": {path: hashlib.sha256(data).hexdigest() for path, data in sorted(content.items())},
    }
    return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _inputs(ref: CohortRef, cohort: Cohort) -> dict[str, Any]:
    """What is known of where a cohort's numbers came from; whether a model's subjects are simulated, its card tells."""
    sources = [
        {"subject": subject.id, "file": source.file, "bytes": source.n_bytes, "sha256": source.sha256}
        | {"reader": source.reader, "options": dict(source.options)}
        for subject in cohort
        if (source := subject.source) is not None
    ]
    return {
        "reference": asdict(ref),
        "title": cohort.name,
        "simulated": installed_model(ref.name).simulated if ref.model else cohort.simulated,
        "subjects": len(cohort),
        "atlas": {"name": cohort.atlas.name, "title": cohort.atlas.title, "regions": cohort.atlas.n_regions},
        "connectivity": cohort.kind.key,
        "notes": list(cohort.notes),
        "sources": sources,
    }
