"""The words of a bundle: captions, and how to read the rest."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from biobgt.cohort import Cohort
from biobgt.export.requests import PANELS, CohortRef, FigureRequest
from biobgt.model.installed import installed_model
from biobgt.wording import NOT_A_DIAGNOSIS, plain_markdown

if TYPE_CHECKING:
    from biobgt.export.bundle import FigureFiles
    from biobgt.export.panels import PanelFiles


def captions_text(figures: "Sequence[FigureFiles]", names: Sequence[str], panels: "PanelFiles | None" = None) -> str:
    """All captions, numbered; behind them that of the figure which has some of them as its panels.

    Parameters
    ----------
    figures : sequence of FigureFiles
    names : sequence of str
        Of their files.
    panels : PanelFiles, optional
    """
    parts = [
        f"**Figure {number}. {one.title}.** {plain_markdown(one.caption)}\n\n"
        f"Files: figures/{name}, numbers/{name}.csv\n"
        for number, (one, name) in enumerate(zip(figures, names, strict=True), start=1)
    ]
    if panels is not None:
        parts.append(f"**Several panels in one figure.** {plain_markdown(panels.caption)}\n\nFiles: figures/{PANELS}\n")
    return "# Captions\n\n" + "\n".join(parts)


def readme_text(missing: Mapping[CohortRef, str]) -> str:
    """What is in the bundle, and how to make its figures again."""
    needed = "".join(
        f"\nThe subjects are not in this bundle. Put `{file}` beside the script before you run it: the project file of "
        f"'{plain_markdown(ref.name)}', as the page Subjects of the app saves it. Other subjects are refused.\n"
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


def has_simulated(ref: CohortRef, cohort: Cohort) -> bool:
    """Whether any subject of a cohort is simulated; of a model's subjects its card tells."""
    return installed_model(ref.name).simulated if ref.model else cohort.simulated


def is_simulated(request: FigureRequest, cohort: Cohort) -> bool:
    """Whether a figure shows anybody simulated: its subject, anyone of its groups, or those its model learned from."""
    if request.model and installed_model(request.model).simulated:
        return True
    return cohort.simulated if request.subject is None else cohort[request.subject].simulated
