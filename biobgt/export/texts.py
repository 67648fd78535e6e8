"""The words of a bundle: captions, the methods paragraph with its references, and how to read the rest."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from biobgt.cohort import Cohort
from biobgt.export.requests import CohortRef, FigureRequest
from biobgt.model.pretrained import load_card, load_groups
from biobgt.people import counted_people
from biobgt.wording import counted, plain_markdown

if TYPE_CHECKING:
    from biobgt.export.bundle import FigureFiles


def captions_text(figures: "Sequence[FigureFiles]", names: Sequence[str]) -> str:
    """All captions, numbered."""
    parts = [
        f"**Figure {number}. {one.title}.** {plain_markdown(one.caption)}\n\n"
        f"Files: figures/{name}, numbers/{name}.csv\n"
        for number, (one, name) in enumerate(zip(figures, names, strict=True), start=1)
    ]
    return "# Captions\n\n" + "\n".join(parts)


def methods_text(
    figures: "Sequence[FigureFiles]", cohorts: Mapping[CohortRef, Cohort], versions: Mapping[str, str]
) -> str:
    """A methods paragraph: subjects, then what was computed, each sentence once, then versions."""
    refs = dict.fromkeys(one.request.cohort for one in figures)
    who = " ".join(_about(ref, cohorts[ref]) for ref in refs)
    # In the order of the figures; a sentence that several share stands where it first comes up.
    about: dict[str, list[int]] = {}
    for number, one in enumerate(figures, start=1):
        for sentence in one.methods:
            about.setdefault(sentence, []).append(number)
    what = " ".join(sentence + _figures(numbers, len(figures)) for sentence, numbers in about.items())
    listed = ", ".join(f"{name} {number}" for name, number in versions.items() if name not in ("biobgt", "python"))
    made = (
        f"Numbers and figures were made with BioBGT Explorer {versions['biobgt']} (Peng et al. 2025) on Python "
        f"{versions['python']} with {listed}; figures were drawn with matplotlib (Hunter 2007)."
    )
    text = f"# Methods\n\n{plain_markdown(f'{who} {what} {made}')}\n\nThe works named here are in references.bib.\n"
    if any(is_simulated(one.request, cohorts[one.request.cohort]) for one in figures):
        text += "\nSimulated subjects were measured on nobody: nothing found in them is evidence about people.\n"
    return text


def readme_text(missing: Mapping[CohortRef, str]) -> str:
    """What is in the bundle, and how to make its figures again."""
    needed = "".join(
        f"\nThe subjects are not in this bundle. Put `{file}` beside the script before you run it: the project file of "
        f"'{plain_markdown(ref.name)}', as the page Subjects of the app saves it. Other subjects are refused.\n"
        for ref, file in missing.items()
    )
    return f"""# An export of BioBGT Explorer

- `figures/` the figures, `numbers/` the numbers behind each, `captions.md` what they show
- `methods.md` a paragraph for the paper, `references.bib` what it cites
- `provenance.json` inputs, seeds, settings, versions and the SHA-256 of every file
- `requests/` and `make_figures.sh` make the same figures and numbers again: run `sh make_figures.sh` where `biobgt` is
  installed; they go to the folder `remade/`
{needed}
Research use only, not a diagnostic device.
"""


def has_simulated(ref: CohortRef, cohort: Cohort) -> bool:
    """Whether any subject of a cohort is simulated; of a model's subjects its card tells."""
    return bool(load_card(ref.name)["simulated"]) if ref.model else cohort.simulated


def is_simulated(request: FigureRequest, cohort: Cohort) -> bool:
    """Whether a figure shows anybody simulated: its subject, anyone of its groups, or those its model learned from."""
    if request.model and load_card(request.model)["simulated"]:
        return True
    return cohort.simulated if request.subject is None else cohort[request.subject].simulated


def _figures(numbers: Sequence[int], n_figures: int) -> str:
    """Say which figures a sentence is about, unless it is about all."""
    if len(numbers) == n_figures:
        return ""
    noun = "Figure" if len(numbers) == 1 else "Figures"
    return f" ({noun} {', '.join(map(str, numbers))}.)"


def _about(ref: CohortRef, cohort: Cohort) -> str:
    if ref.model:
        card, sizes = load_card(ref.name), load_groups(ref.name).n
        made = " Some of them are simulated." if card["simulated"] else ""
        listed = ", ".join(f"{size} {group}" for group, size in sizes.items())
        return f"The model {ref.name} was trained on {counted(sum(sizes.values()), 'subject')} ({listed}).{made}"
    groups = ", ".join(f"{size} {group}" for group, size in cohort.group_people.items())
    size = counted_people(len(set(cohort.persons)), len(cohort)) + (f" ({groups})" if groups else "")
    if ref.demo:
        return f"Subjects are simulated: {size} of the demo cohort '{ref.name}', drawn with seed {ref.seed}."
    drawn = "All are" if all(subject.simulated for subject in cohort) else "Some are"
    return f"Data are of {size}." + (f" {drawn} simulated." if cohort.simulated else "")
